//! Zones of a page: the part of the page that a word occurs in, encoded in its position.
//!
//! All words of a page are terms of one field, so each word has one posting list for pruning, and a phrase is
//! searched in one place. Every zone starts at its own position, so the position identifies the zone (索引词载体信息) at no
//! extra cost. Words that weigh more than body words are written several times at one position: the term frequency is
//! the sum of the weights.
//!
//! The other text of a page (menus, captions, comments, code) follows the body at a position that depends on the length
//! of the body and is a column of the document, so that a phrase is found there at no cost for the zones.
//!
//! tantivy allows only one value of a field to set its start position, so the pieces of a page are passed as one
//! text: a header line with zone, weight and length of each piece, then the pieces. The header of the other text has its
//! first position instead of a weight.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use pharos_core::PageUrl;
use pharos_text::Analyser;

use crate::IndexDocument;

/// A zone of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Zone {
    Title,
    Url,
    /// Anchor texts of links to the page.
    Anchor,
    Heading,
    /// Emphasised text; the body contains the same words.
    Emphasis,
    Body,
}

/// Prefix of the additional term for a word written in capitals: `^who` matches `WHO` only.
pub const CAPITALS: char = '^';

impl Zone {
    /// All zones in the order of their positions.
    pub const ALL: [Zone; 6] =
        [Zone::Title, Zone::Url, Zone::Anchor, Zone::Heading, Zone::Emphasis, Zone::Body];

    /// Start positions of the zones. Words beyond the end of a zone are dropped. The body starts at 512, which costs
    /// one bit per position.
    const BEGINS: [u32; 6] = [0, 96, 128, 256, 384, 512];

    /// Returns the first position of the zone.
    pub fn begin(self) -> u32 {
        Self::BEGINS[self as usize]
    }

    /// Returns the first position after the zone. One position stays free, so that no phrase extends into the next
    /// zone.
    fn end(self) -> u32 {
        Self::BEGINS.get(self as usize + 1).map_or(u32::MAX, |next| next - 1)
    }

    /// Returns the positions of the zone.
    pub fn positions(self) -> std::ops::Range<u32> {
        self.begin()..self.end()
    }

    /// Returns the zone of a position.
    pub fn of_position(position: u32) -> Zone {
        let next = Self::BEGINS.partition_point(|begin| *begin <= position);
        Self::ALL[next.saturating_sub(1)]
    }

    /// Returns the weight of a word relative to a body word. Anchors are also multiplied by their votes.
    pub fn weight(self) -> u8 {
        match self {
            Zone::Title => 3,
            _ => 1,
        }
    }
}

/// Maximum number of votes of an anchor.
pub const MAX_VOTES: u8 = 4;

/// Number of the other text in headers, where zones have theirs.
const OTHER: usize = Zone::ALL.len();

/// Returns the first position of the other text. A word and its separator take at least two bytes.
///
/// In a text with denser words, which no language has, the last words of the body count as other text.
pub(crate) fn other_begin(body: &str) -> u32 {
    Zone::Body.begin().saturating_add(u32::try_from(body.len() / 2 + 2).unwrap_or(u32::MAX))
}

/// Encodes the zones and the other text of a document as one text for [`for_each_term`].
pub(crate) fn encode(document: &IndexDocument, body: &str, other: &str) -> String {
    let address = url_words(&document.url);
    let mut pieces = vec![(Zone::Title, 1, document.title.as_str()), (Zone::Url, 1, &address)];
    pieces.extend(
        document.anchors.iter().map(|a| (Zone::Anchor, a.votes.clamp(1, MAX_VOTES), a.text.as_str())),
    );
    pieces.extend(document.headings.iter().map(|heading| (Zone::Heading, 1, heading.as_str())));
    pieces.extend(document.emphasised.iter().map(|words| (Zone::Emphasis, 1, words.as_str())));
    // Pieces that exceed the byte budget of their zone cannot get a position.
    let mut budget = Zone::ALL.map(|zone| (zone.end() - zone.begin()) as usize * PIECE_BYTES);
    let mut fitting: Vec<(Zone, u8, &str)> = Vec::with_capacity(pieces.len() + 1);
    for (zone, votes, piece) in pieces {
        let budget = &mut budget[zone as usize];
        let piece = &piece[..piece.floor_char_boundary(*budget)];
        *budget -= piece.len();
        if !piece.is_empty() {
            fitting.push((zone, zone.weight() * votes, piece));
        }
    }
    fitting.push((Zone::Body, Zone::Body.weight(), body));
    let bytes: usize = fitting.iter().map(|(.., piece)| piece.len()).sum();
    let mut text = String::with_capacity(bytes + other.len() + fitting.len() * 8 + 24);
    for (zone, weight, piece) in &fitting {
        let _ = write!(text, "{} {weight} {};", *zone as u8, piece.len());
    }
    if !other.is_empty() {
        let _ = write!(text, "{OTHER} {} {};", other_begin(body), other.len());
    }
    text.push('\n');
    fitting.iter().for_each(|(.., piece)| text.push_str(piece));
    text.push_str(other);
    text
}

/// Byte budget of a zone for each of its positions; most words are shorter.
const PIECE_BYTES: usize = 16;

/// Place of the words of a piece.
#[derive(Clone, Copy)]
enum Place {
    /// In a zone, with a weight.
    Zone(Zone, u8),
    /// In the other text, from this position on.
    Other(u32),
}

/// Decodes places and pieces written by [`encode`]. Any other text is treated as a body.
fn decode(text: &str) -> Vec<(Place, &str)> {
    let parse = || {
        let (head, mut rest) = text.split_once('\n')?;
        let mut pieces = Vec::new();
        for piece in head.split_terminator(';') {
            let mut numbers = piece.split(' ').map(|number| number.parse::<usize>().ok());
            let (place, number, length) = (numbers.next()??, numbers.next()??, numbers.next()??);
            let (piece, next) = rest.split_at_checked(length)?;
            rest = next;
            let place = match Zone::ALL.get(place) {
                Some(zone) => Place::Zone(*zone, u8::try_from(number).ok()?),
                None if place == OTHER => Place::Other(u32::try_from(number).ok()?),
                None => return None,
            };
            pieces.push((place, piece));
        }
        rest.is_empty().then_some(pieces)
    };
    parse().unwrap_or_else(|| vec![(Place::Zone(Zone::Body, 1), text)])
}

/// Calls `f` with every term of an encoded text, its position and its weight.
pub(crate) fn for_each_term(text: &str, analyser: &Analyser, mut f: impl FnMut(&str, u32, u8)) {
    let mut used = Zone::ALL.map(Zone::begin);
    let mut capitals = String::new();
    for (place, piece) in decode(text) {
        let (zone, weight) = match place {
            Place::Zone(zone, weight) => (zone, weight),
            Place::Other(begin) => {
                let body = &mut used[Zone::Body as usize];
                *body = begin.max(*body);
                (Zone::Body, 1)
            }
        };
        let (begin, mut next) = (used[zone as usize], used[zone as usize]);
        if begin >= zone.end() {
            continue;
        }
        analyser.for_each_index_token(piece, |term, from, to, position| {
            let at = begin.saturating_add(u32::try_from(position).unwrap_or(u32::MAX));
            if at >= zone.end() {
                return;
            }
            f(term, at, weight);
            next = next.max(at + 1);
            if piece.get(from..to).is_some_and(|written| is_uppercase_word(written, term)) {
                capitals.clear();
                capitals.push(CAPITALS);
                capitals.push_str(term);
                f(&capitals, at, 1);
            }
        });
        // A gap prevents phrases across pieces.
        used[zone as usize] = next + 1;
    }
}

/// Returns `true` if the word itself, not a stem or variant of it, is written in capitals.
fn is_uppercase_word(written: &str, term: &str) -> bool {
    written.len() > 1 && written.bytes().all(|b| b.is_ascii_uppercase()) && written.eq_ignore_ascii_case(term)
}

/// Returns the words of a URL: the host without `www`, and the decoded path.
pub(crate) fn url_words(url: &PageUrl) -> String {
    let site = url.site();
    let host = site.host();
    let path = percent_decode_str(url.path_and_query()).decode_utf8().unwrap_or_default();
    let mut words = String::with_capacity(host.len() + path.len() + 1);
    words.push_str(host.strip_prefix("www.").unwrap_or(host));
    words.push(' ');
    words.push_str(&path);
    // Characters that join words in text (at-large, a_b, 1.2) separate them in URLs.
    words.replace(|c: char| !c.is_alphanumeric(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Anchor;

    fn terms(document: &IndexDocument) -> Vec<(String, u32, u8)> {
        let mut terms = Vec::new();
        for_each_term(
            &encode(document, &document.body, &document.other),
            Analyser::shared(),
            |term, at, weight| {
                terms.push((term.to_string(), at, weight));
            },
        );
        terms
    }

    #[test]
    fn the_position_of_a_word_determines_its_zone() {
        let document = IndexDocument {
            title: "Red tower".into(),
            headings: vec!["The lamp".into(), "The rock".into()],
            emphasised: vec!["WHO".into()],
            anchors: vec![Anchor { text: "beacon".into(), votes: 3 }, "harbour light".into()],
            body: "A red lamp.".into(),
            ..IndexDocument::new(PageUrl::parse("http://www.sea.example/north-coast/%E7%81%AF").unwrap())
        };
        let terms = terms(&document);
        let places = |word: &str| -> Vec<(Zone, u32, u8)> {
            let found = terms.iter().filter(|(term, ..)| term == word);
            found
                .map(|(_, at, weight)| (Zone::of_position(*at), at - Zone::of_position(*at).begin(), *weight))
                .collect()
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
    fn the_other_text_follows_the_body() {
        for body in ["A red lamp.", "a b c d e f g", "灯塔在岩石上", "1-2-3-4-5-6", ""] {
            let document = IndexDocument {
                body: body.into(),
                other: "Harbour menu".into(),
                ..IndexDocument::new(PageUrl::parse("http://www.sea.example/").unwrap())
            };
            let (terms, begin) = (terms(&document), other_begin(body));
            let at = |word: &str| terms.iter().find(|(term, ..)| term == word).map(|(_, at, _)| *at);
            assert_eq!((at("harbour"), at("menu")), (Some(begin), Some(begin + 1)), "{body}");
            let last = terms.iter().map(|(_, at, _)| *at).filter(|at| *at < begin).max().unwrap_or_default();
            assert!(last + 1 < begin, "no phrase extends from the body into the other text: {body}");
        }
    }

    #[test]
    fn no_zone_grows_into_the_next() {
        let long = "word ".repeat(500);
        let document = IndexDocument {
            title: long.clone(),
            headings: vec![long.clone(); 50],
            anchors: vec![Anchor { text: long.clone(), votes: 200 }; 50],
            emphasised: vec![long.clone(); 50],
            body: "last".into(),
            ..IndexDocument::new(PageUrl::parse("http://www.sea.example/").unwrap())
        };
        let terms = terms(&document);
        assert!(terms.iter().all(|(term, at, weight)| {
            (*weight <= MAX_VOTES)
                && *at < Zone::of_position(*at).end()
                && term.ends_with("last") == (Zone::of_position(*at) == Zone::Body)
        }));
        assert!(terms.iter().is_sorted_by_key(|(_, at, _)| at));
    }

    #[test]
    fn what_was_not_written_so_is_a_body() {
        for text in [
            "",
            "\n",
            "0 1 5;\nabc",
            "9 1 1;\na",
            "x",
            "0 1 99999999999999999999;\n",
            "5 1 2;\n灯塔",
            "7 1 1;\na",
        ] {
            assert_eq!(decode(text).len(), usize::from(text != "\n"), "{text:?}");
        }
    }
}
