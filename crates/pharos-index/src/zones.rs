//! Where in a page a word stands, and how much that counts.
//!
//! All words of a page are terms of one field: pruning works on one list of postings a word, and a phrase is looked for in
//! one place. The position of a word tells where it stood, because every zone begins at a position of its own; so what a
//! word was marked with (its carrier, 载体信息) costs no byte beside the position. What counts for more than the body is
//! written several times at one position: the frequency of a term is the sum of the weights of its places.
//!
//! The pieces of a page go through tantivy as one text, because only one value of a field may say where its positions
//! begin: a line that tells zone, weight and length of each piece, then the pieces.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use pharos_core::PageUrl;
use pharos_text::Analyser;

use crate::Document;

/// A place of a word on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Zone {
    /// The title.
    Title,
    /// The address.
    Url,
    /// What other pages call it.
    Anchor,
    /// A heading.
    Heading,
    /// Bold, marked or otherwise emphasised; the same words are in the body.
    Emphasis,
    /// The text.
    Body,
}

/// Before a term: it was written in capitals. `^who` is the organisation, or somebody shouts.
pub const CAPITALS: char = '^';

impl Zone {
    /// All of them, in the order of their positions.
    pub const ALL: [Zone; 6] =
        [Zone::Title, Zone::Url, Zone::Anchor, Zone::Heading, Zone::Emphasis, Zone::Body];

    /// Where the zones begin. What does not fit into a zone is left out of it; the first four hold what a reader takes in
    /// at a glance, and a body that begins at 512 costs one bit a position.
    const BEGINS: [u32; 6] = [0, 96, 128, 256, 384, 512];

    /// The first position of the zone.
    pub fn begin(self) -> u32 {
        Self::BEGINS[self as usize]
    }

    /// The first position behind what may be used: one is left free, so that no phrase goes on in the next zone.
    fn end(self) -> u32 {
        Self::BEGINS.get(self as usize + 1).map_or(u32::MAX, |next| next - 1)
    }

    /// The positions that belong to it.
    pub fn positions(self) -> std::ops::Range<u32> {
        self.begin()..self.end()
    }

    /// The zone of a position.
    pub fn of(position: u32) -> Zone {
        let behind = Self::BEGINS.partition_point(|begin| *begin <= position);
        Self::ALL[behind.saturating_sub(1)]
    }

    /// How much a word counts here, beside a word of the body. An anchor counts once for each vote.
    pub fn weight(self) -> u8 {
        match self {
            Zone::Title => 3,
            _ => 1,
        }
    }
}

/// More votes for an anchor are not counted.
pub const MAX_VOTES: u8 = 4;

/// The words of a document as one text for [`for_each_term`].
pub(crate) fn write(document: &Document, body: &str) -> String {
    let address = address_words(&document.url);
    let mut pieces = vec![(Zone::Title, 1, document.title.as_str()), (Zone::Url, 1, &address)];
    pieces.extend(
        document.anchors.iter().map(|a| (Zone::Anchor, a.votes.clamp(1, MAX_VOTES), a.text.as_str())),
    );
    pieces.extend(document.headings.iter().map(|heading| (Zone::Heading, 1, heading.as_str())));
    pieces.extend(document.emphasised.iter().map(|words| (Zone::Emphasis, 1, words.as_str())));
    // A position holds at least a byte: what lies further back is beyond the zone.
    let mut room = Zone::ALL.map(|zone| (zone.end() - zone.begin()) as usize * PIECE_BYTES);
    let mut fitting: Vec<(Zone, u8, &str)> = Vec::with_capacity(pieces.len() + 1);
    for (zone, votes, piece) in pieces {
        let room = &mut room[zone as usize];
        let piece = &piece[..piece.floor_char_boundary(*room)];
        *room -= piece.len();
        if !piece.is_empty() {
            fitting.push((zone, zone.weight() * votes, piece));
        }
    }
    fitting.push((Zone::Body, Zone::Body.weight(), body));
    let bytes: usize = fitting.iter().map(|(.., piece)| piece.len()).sum();
    let mut text = String::with_capacity(bytes + fitting.len() * 8);
    for (zone, weight, piece) in &fitting {
        let _ = write!(text, "{} {weight} {};", *zone as u8, piece.len());
    }
    text.push('\n');
    fitting.iter().for_each(|(.., piece)| text.push_str(piece));
    text
}

/// Bytes of a piece that are looked at for each position it may take: most words are shorter.
const PIECE_BYTES: usize = 16;

/// The zones, weights and pieces that [`write`] wrote. Anything else is taken for a body.
fn read(text: &str) -> Vec<(Zone, u8, &str)> {
    let parse = || {
        let (head, mut rest) = text.split_once('\n')?;
        let mut pieces = Vec::new();
        for piece in head.split_terminator(';') {
            let mut numbers = piece.split(' ').map(|number| number.parse::<usize>().ok());
            let (zone, weight, length) = (numbers.next()??, numbers.next()??, numbers.next()??);
            let (piece, behind) = rest.split_at_checked(length)?;
            rest = behind;
            pieces.push((*Zone::ALL.get(zone)?, u8::try_from(weight).ok()?, piece));
        }
        rest.is_empty().then_some(pieces)
    };
    parse().unwrap_or_else(|| vec![(Zone::Body, 1, text)])
}

/// Gives every term of a text that [`write`] wrote, with its position and how often it counts there.
pub(crate) fn for_each_term(text: &str, analyser: &Analyser, mut f: impl FnMut(&str, u32, u8)) {
    let mut used = Zone::ALL.map(Zone::begin);
    let mut capitals = String::new();
    for (zone, weight, piece) in read(text) {
        let (begin, mut behind) = (used[zone as usize], used[zone as usize]);
        if begin >= zone.end() {
            continue;
        }
        analyser.for_each_index_token(piece, |term, from, to, position| {
            let at = begin.saturating_add(u32::try_from(position).unwrap_or(u32::MAX));
            if at >= zone.end() {
                return;
            }
            f(term, at, weight);
            behind = behind.max(at + 1);
            if piece.get(from..to).is_some_and(|written| is_in_capitals(written, term)) {
                capitals.clear();
                capitals.push(CAPITALS);
                capitals.push_str(term);
                f(&capitals, at, 1);
            }
        });
        // A gap, so that no phrase goes on in the next piece.
        used[zone as usize] = behind + 1;
    }
}

/// Is the word itself, not its stem or its like, written in capitals?
fn is_in_capitals(written: &str, term: &str) -> bool {
    written.len() > 1 && written.bytes().all(|b| b.is_ascii_uppercase()) && written.eq_ignore_ascii_case(term)
}

/// The words of an address: its host without `www`, its path without marks of the machine.
pub(crate) fn address_words(url: &PageUrl) -> String {
    let site = url.site();
    let host = site.host();
    let path = percent_decode_str(url.path_and_query()).decode_utf8().unwrap_or_default();
    let mut words = String::with_capacity(host.len() + path.len() + 1);
    words.push_str(host.strip_prefix("www.").unwrap_or(host));
    words.push(' ');
    words.push_str(&path);
    // Signs that join words elsewhere (at-large, a_b, 1.2) part them in addresses.
    words.replace(|c: char| !c.is_alphanumeric(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Anchor;

    fn terms(document: &Document) -> Vec<(String, u32, u8)> {
        let mut terms = Vec::new();
        for_each_term(&write(document, &document.body), Analyser::shared(), |term, at, weight| {
            terms.push((term.to_string(), at, weight));
        });
        terms
    }

    #[test]
    fn the_position_of_a_word_tells_its_zone() {
        let document = Document {
            title: "Red tower".into(),
            headings: vec!["The lamp".into(), "The rock".into()],
            emphasised: vec!["WHO".into()],
            anchors: vec![Anchor { text: "beacon".into(), votes: 3 }, "harbour light".into()],
            body: "A red lamp.".into(),
            ..Document::new(PageUrl::parse("http://www.sea.example/north-coast/%E7%81%AF").unwrap())
        };
        let terms = terms(&document);
        let places = |word: &str| -> Vec<(Zone, u32, u8)> {
            let found = terms.iter().filter(|(term, ..)| term == word);
            found.map(|(_, at, weight)| (Zone::of(*at), at - Zone::of(*at).begin(), *weight)).collect()
        };
        assert_eq!(places("red"), [(Zone::Title, 0, 3), (Zone::Body, 1, 1)]);
        assert_eq!(places("sea"), [(Zone::Url, 0, 1)]);
        assert_eq!(places("coast").len() + places("灯").len(), 2);
        assert_eq!(places("beacon"), [(Zone::Anchor, 0, 3)]);
        assert_eq!(places("light"), [(Zone::Anchor, 3, 1)], "with a gap before the next anchor");
        assert_eq!(places("rock"), [(Zone::Heading, 4, 1)]);
        assert_eq!(places("^who"), [(Zone::Emphasis, 0, 1)]);
        assert_eq!(places("^red"), []);
    }

    #[test]
    fn no_zone_grows_into_the_next() {
        let long = "word ".repeat(500);
        let document = Document {
            title: long.clone(),
            headings: vec![long.clone(); 50],
            anchors: vec![Anchor { text: long.clone(), votes: 200 }; 50],
            emphasised: vec![long.clone(); 50],
            body: "last".into(),
            ..Document::new(PageUrl::parse("http://www.sea.example/").unwrap())
        };
        let terms = terms(&document);
        assert!(terms.iter().all(|(term, at, weight)| {
            (*weight <= MAX_VOTES)
                && *at < Zone::of(*at).end()
                && term.ends_with("last") == (Zone::of(*at) == Zone::Body)
        }));
        assert!(terms.iter().is_sorted_by_key(|(_, at, _)| at));
    }

    #[test]
    fn what_was_not_written_so_is_a_body() {
        for text in ["", "\n", "0 1 5;\nabc", "9 1 1;\na", "x", "0 1 99999999999999999999;\n", "5 1 2;\n灯塔"]
        {
            assert_eq!(read(text).len(), usize::from(text != "\n"), "{text:?}");
        }
    }
}
