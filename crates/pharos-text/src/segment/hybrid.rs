//! The extension dictionary (扩展词典) of the hybrid index (混合索引): long names as one term.
//!
//! **In:** names, and texts that may hold them. **Out:** where they stand.
//!
//! The base dictionary must not grow carelessly, or cutting gets worse; yet a name such as 国家图书馆 is asked for
//! as a whole, and two long posting lists are read where one short list would do. So names are kept apart, each as
//! a sequence of base words, and a second pass over a text gives every name it holds as a further term, `/2国家图书馆`:
//! the sign `/`, how many base words it has, and the name. The base words stay, so that 图书馆 still finds the page;
//! a query for the whole name reads the list of the name alone.
//!
//! The second pass does not look at the cut of the text but at its *lattice*: all base words that begin at each
//! place. What stands around a name can change how the name is cut, and a page whose context was cut otherwise
//! would be missed. Where a name begins and ends in a word of letters and digits, that border must be one of the
//! text too; inside Han characters any place is a border. Source: 《搜索引擎—原理、技术与系统》 §8.3 (the tree of
//! figure 8-5, the concurrent tasks of figure 8-6).
//!
//! With the 1,000 names that 2,814 pages of manuals use most, the index grows by 2 % and a query for one of them reads one
//! list in place of 2.2, in 1.9 µs in place of 8.8 (`cd bench && cargo run --release -p bench-words -- PAGES.jsonl`).

mod lattice;
mod trie;

use std::borrow::Cow;

use self::lattice::{Lattice, is_letter};
pub(crate) use self::lattice::{MAX_PIECE_BYTES, pieces};
use self::trie::{MAX_CODES, ROOT, Trie};
use crate::dictionary::Dictionary;

/// A name has so many base words at least …
pub const MIN_WORDS: usize = 2;
/// … and so many at most.
pub const MAX_WORDS: usize = MAX_CODES;

/// The term of a name of `words` base words: `/2国家图书馆`.
pub fn extension_term(words: usize, name: &str) -> String {
    format!("/{words}{name}")
}

/// The names of an installation, found along texts.
pub struct Extension {
    lattice: Lattice,
    trie: Trie,
    openings: Openings,
    len: usize,
}

/// A name where it stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// How many base words the name has: part of its term, and the same wherever it stands.
    pub words: usize,
}

impl Occurrence {
    /// The term, of the text in which it was found.
    pub fn term(&self, text: &str) -> String {
        extension_term(self.words, text.get(self.start..self.end).unwrap_or_default())
    }
}

/// A part of a text in the second pass: a word of the cut, or a name that covers several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// The first word of the cut that it covers.
    pub first: usize,
    /// How many words of the cut it covers.
    pub covers: usize,
    /// How many base words the name has; 0 for a word of the cut.
    pub words: usize,
}

impl Piece {
    /// The term, of the text in which it was found.
    pub fn term<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = text.get(self.start..self.end).unwrap_or_default();
        if self.words == 0 { text.into() } else { extension_term(self.words, text).into() }
    }
}

/// The concurrent match tasks (记分牌), kept from one text to the next.
#[derive(Default)]
pub struct Scoreboard {
    /// By the place where they stand. No piece is longer than the ring, so that places never meet in a slot.
    waiting: Vec<Vec<Task>>,
    live: usize,
    working: Vec<Task>,
    edges: Vec<(usize, u32)>,
    hits: Vec<Occurrence>,
}

/// A name that began and may go on.
#[derive(Clone, Copy)]
struct Task {
    begin: usize,
    node: u32,
    words: usize,
}

impl Scoreboard {
    fn clear(&mut self) {
        self.hits.clear();
        if self.live > 0 || self.waiting.is_empty() {
            self.waiting.resize_with(MAX_PIECE_BYTES + 1, Vec::new);
            self.waiting.iter_mut().for_each(Vec::clear);
            self.live = 0;
        }
    }

    fn slot(&mut self, at: usize) -> &mut Vec<Task> {
        &mut self.waiting[at % (MAX_PIECE_BYTES + 1)]
    }
}

impl Extension {
    /// The extension dictionary of these names, in normalised form. Those that are not two to six base words long,
    /// or longer than a term may be, are left out.
    pub fn new<'n>(base: &'static Dictionary, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut lattice = Lattice::new(base);
        let mut openings = Vec::new();
        let mut sequences = Vec::new();
        for name in names {
            let ends = pieces(base, name);
            if !(MIN_WORDS..=MAX_WORDS).contains(&ends.len()) {
                continue;
            }
            sequences.push(lattice.codes(name, &ends));
            let mut chars = name.chars();
            openings.extend(chars.next().zip(chars.next()));
        }
        let trie = Trie::new(sequences, base.len());
        Self { lattice, len: trie.entries(), trie, openings: Openings::new(openings) }
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Every name wherever it stands in `text`, overlapping or not, in the order of their starts: what an index
    /// stores.
    ///
    /// Time is linear in the text: of tasks that stand at one place, no two began at the same, for the base words
    /// of a name are those of its beginnings.
    pub fn occurrences<'b>(&self, text: &str, board: &'b mut Scoreboard) -> &'b [Occurrence] {
        board.clear();
        if self.is_empty() {
            return &[];
        }
        let mut before = ' ';
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let begins = chars.peek().is_some_and(|(_, next)| self.openings.may_be(c, *next));
            let stands = board.live > 0 && !board.slot(at).is_empty();
            // Asked last: most places have nothing to go on with.
            if (begins || stands) && !(is_letter(before) && is_letter(c)) {
                self.go_on(text, at, begins, board);
            }
            before = c;
        }
        board.hits.sort_unstable();
        &board.hits
    }

    /// All tasks that stand at this place, and a new one, try all pieces that begin here.
    fn go_on(&self, text: &str, at: usize, begins: bool, board: &mut Scoreboard) {
        let mut working = std::mem::take(&mut board.working);
        working.append(board.slot(at));
        board.live -= working.len();
        if begins {
            working.push(Task { begin: at, node: ROOT, words: 0 });
        }
        let mut edges = std::mem::take(&mut board.edges);
        self.lattice.edges(text, at, &mut edges);
        for task in working.drain(..) {
            for (end, code) in &edges {
                let Some(node) = self.trie.child(task.node, *code) else { continue };
                let task = Task { node, words: task.words + 1, ..task };
                if self.trie.is_entry(node) {
                    board.hits.push(Occurrence { start: task.begin, end: *end, words: task.words });
                }
                if self.trie.goes_on(node) {
                    board.slot(*end).push(task);
                    board.live += 1;
                }
            }
        }
        edges.clear();
        (board.working, board.edges) = (working, edges);
    }

    /// Forward maximum matching over the words of a cut, given by their ends: from left to right the longest name
    /// that begins and ends where words do, else the word. What a query reads; words that a name covers are
    /// skipped.
    pub fn forward_maximum(&self, text: &str, ends: &[usize], board: &mut Scoreboard) -> Vec<Piece> {
        let hits = self.occurrences(text, board);
        let mut out = Vec::with_capacity(ends.len());
        let (mut first, mut start, mut hit) = (0, 0, 0);
        while let Some(word_end) = ends.get(first) {
            while hits.get(hit).is_some_and(|h| h.start < start) {
                hit += 1;
            }
            let here = hits[hit..].iter().take_while(|h| h.start == start);
            let between_words = here.filter_map(|h| Some((h, ends[first..].binary_search(&h.end).ok()?)));
            // Names that begin at one place come by their length: the last is the longest.
            let (end, covers, words) = match between_words.last() {
                Some((name, last)) => (name.end, last + 1, name.words),
                None => (*word_end, 1, 0),
            };
            out.push(Piece { start, end, first, covers, words });
            (first, start) = (first + covers, end);
        }
        out
    }
}

/// The first two characters of all names, as a bit each: most places of most texts are passed over by one look.
struct Openings {
    bits: Vec<u64>,
    shift: u32,
}

impl Openings {
    fn new(mut pairs: Vec<(char, char)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        // Sixteen bits a pair and eight kilobytes at least: one wrong look in sixteen, or next to none.
        let log = (16 * pairs.len()).next_power_of_two().ilog2().clamp(16, 26);
        let mut openings = Self { bits: vec![0; 1 << (log - 6)], shift: u64::BITS - log };
        for (first, second) in pairs {
            let bit = openings.bit(first, second);
            openings.bits[bit / 64] |= 1 << (bit % 64);
        }
        openings
    }

    #[inline]
    fn may_be(&self, first: char, second: char) -> bool {
        let bit = self.bit(first, second);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Multiplication by the golden ratio (Knuth): the upper bits are well mixed.
    #[inline]
    fn bit(&self, first: char, second: char) -> usize {
        let pair = u64::from(u32::from(first)) << 32 | u64::from(u32::from(second));
        (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::Entry;

    /// Dictionaries live as long as the program.
    fn dictionary(words: &[&str]) -> &'static Dictionary {
        let entries: Vec<_> = words.iter().map(|word| Entry { word, frequency: 1, tag: "n" }).collect();
        Box::leak(Box::new(Dictionary::new(&entries)))
    }

    /// A cut by forward maximum matching.
    fn ends(base: &Dictionary, text: &str) -> Vec<usize> {
        let mut ends = Vec::new();
        while ends.last() != Some(&text.len()) && !text.is_empty() {
            let at = ends.last().copied().unwrap_or_default();
            let one = text[at..].chars().next().map_or(0, char::len_utf8);
            ends.push(at + base.words_at(&text[at..]).last().map_or(one, |(len, _)| len));
        }
        ends
    }

    fn terms_of_page(extension: &Extension, base: &Dictionary, text: &str) -> Vec<String> {
        let mut start = 0;
        let words =
            ends(base, text).into_iter().map(|end| text[std::mem::replace(&mut start, end)..end].to_string());
        let mut board = Scoreboard::default();
        words.chain(extension.occurrences(text, &mut board).iter().map(|o| o.term(text))).collect()
    }

    fn terms_of_query(extension: &Extension, base: &Dictionary, text: &str) -> Vec<String> {
        let pieces = extension.forward_maximum(text, &ends(base, text), &mut Scoreboard::default());
        pieces.iter().map(|piece| piece.term(text).into_owned()).collect()
    }

    #[test]
    fn the_national_library_is_one_term_and_stays_a_library() {
        let base = dictionary(&["国家", "图书馆", "图书", "参观"]);
        let extension = Extension::new(base, ["国家图书馆"]);
        let page = terms_of_page(&extension, base, "国家图书馆");
        assert_eq!(page, ["国家", "图书馆", "/2国家图书馆"]);
        assert_eq!(terms_of_query(&extension, base, "国家图书馆"), ["/2国家图书馆"]);
        assert_eq!(terms_of_query(&extension, base, "图书馆"), ["图书馆"]);
        assert!(page.contains(&"图书馆".to_string()));

        let text = "参观国家图书馆";
        let pieces = extension.forward_maximum(text, &ends(base, text), &mut Scoreboard::default());
        assert_eq!(pieces[1], Piece { start: 6, end: 21, first: 1, covers: 2, words: 2 });
    }

    #[test]
    fn the_longest_name_wins_in_queries_and_all_are_in_the_index() {
        let base = dictionary(&["北京", "大学", "图书馆", "附属", "中学"]);
        let extension =
            Extension::new(base, ["北京大学", "北京大学图书馆", "大学图书馆", "附属中学", "北京"]);
        assert_eq!(extension.len(), 4);
        assert_eq!(
            terms_of_query(&extension, base, "北京大学图书馆附属中学"),
            ["/3北京大学图书馆", "/2附属中学"]
        );
        assert_eq!(terms_of_query(&extension, base, "北京大学附属"), ["/2北京大学", "附属"]);
        let page = terms_of_page(&extension, base, "北京大学图书馆");
        assert_eq!(page[3..], ["/2北京大学", "/3北京大学图书馆", "/2大学图书馆"]);
    }

    #[test]
    fn context_never_hides_a_name() {
        let base = dictionary(&["研究", "研究生", "生命", "命题"]);
        let extension = Extension::new(base, ["研究生命"]);
        assert_eq!(terms_of_page(&extension, base, "研究生命题"), ["研究生", "命题", "/2研究生命"]);
        // Not between words of the cut: the words are asked for.
        assert_eq!(terms_of_query(&extension, base, "研究生命题"), ["研究生", "命题"]);
    }

    #[test]
    fn words_of_letters_are_met_whole() {
        let base = dictionary(&["旗舰版", "t恤"]);
        let extension = Extension::new(base, ["win7旗舰版", "旗舰版win7", "t恤旗舰版"]);
        let found = |text: &str| extension.occurrences(text, &mut Scoreboard::default()).len();
        assert_eq!(found("win7旗舰版win7 t恤旗舰版"), 3);
        assert_eq!(found("xwin7旗舰版win78 at恤旗舰版"), 0);
        assert_eq!(found(&"win7旗舰版 ".repeat(1000)), 1000);
        assert_eq!(found(&"w".repeat(100_000)), 0);
    }

    /// Where a name stands as a string, if it is a name at all.
    fn by_search(text: &str, base: &Dictionary, name: &str) -> Vec<Occurrence> {
        let words = pieces(base, name).len();
        let border = |at: usize| {
            let before = text[..at].chars().next_back().is_some_and(is_letter);
            !(before && text[at..].chars().next().is_some_and(is_letter))
        };
        let places = text.char_indices().filter(|(at, _)| text[*at..].starts_with(name));
        places
            .map(|(start, _)| Occurrence { start, end: start + name.len(), words })
            .filter(|o| (MIN_WORDS..=MAX_WORDS).contains(&o.words) && border(o.start) && border(o.end))
            .collect()
    }

    proptest! {
        #[test]
        fn a_name_is_reported_where_it_stands_and_nowhere_else(
            words in prop::collection::vec("[长春市药𠮷a]{1,4}", 1..12),
            names in prop::collection::btree_set("[长春市药店𠮷a1·]{1,9}", 1..12),
            text in "[长春市药店𠮷a1·]{0,40}",
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let base = dictionary(&words);
            let extension = Extension::new(base, names.iter().map(String::as_str));
            let mut board = Scoreboard::default();
            // A board that was used before is as good as a new one.
            let _ = extension.occurrences(&text[..text.floor_char_boundary(text.len() / 2)], &mut board);
            let mut expected: Vec<_> = names.iter().flat_map(|name| by_search(&text, base, name)).collect();
            expected.sort_unstable();
            prop_assert_eq!(extension.occurrences(&text, &mut board), expected.as_slice());

            let ends = ends(base, &text);
            let pieces = extension.forward_maximum(&text, &ends, &mut board);
            prop_assert_eq!(pieces.iter().map(|p| p.covers).sum::<usize>(), ends.len());
            prop_assert!(pieces.windows(2).all(|p| p[0].end == p[1].start));
        }

        #[test]
        fn any_text_can_be_looked_through(name in "\\PC{2,12}", before in "(?s).{0,20}", after in "(?s).{0,20}") {
            let extension = Extension::new(Dictionary::base(), [name.as_str()]);
            let text = format!("{before}{name}{after}");
            for occurrence in extension.occurrences(&text, &mut Scoreboard::default()) {
                prop_assert_eq!(&text[occurrence.start..occurrence.end], name.as_str());
            }
        }
    }
}
