//! The extension dictionary (扩展词典) of the hybrid index (混合索引): long names as single terms.
//!
//! **Input:** names, and texts that may contain them. **Output:** their occurrences.
//!
//! The base dictionary must not grow carelessly, or segmentation gets worse. But users search for a name such
//! as 国家图书馆 as a whole, and reading two long posting lists is slower than reading one short list. Names are
//! therefore stored separately, each as a sequence of base words. A second pass over a text emits every name
//! as an additional term `/2国家图书馆`: the sign `/`, the number of base words, and the name. The base words
//! remain, so that 图书馆 still finds the page; a query for the whole name reads the posting list of the name
//! alone.
//!
//! The second pass works on the *lattice* of the text, all base words that begin at each position, not on its
//! segmentation. The context of a name can change how the name is segmented, and such a page would be missed.
//! Where a name begins or ends with letters and digits, that boundary must also be a boundary of the text;
//! between Han characters any position is a boundary. Source: 《搜索引擎——原理、技术与系统》§8.3 (the tree of figure 8-5,
//! the concurrent tasks of figure 8-6).
//!
//! `cd bench && cargo run --release -p bench-words -- PAGES.jsonl` measures index size and query time with
//! names.

mod lattice;
mod trie;

use std::borrow::Cow;

use pharos_core::work::spend_work;

pub(crate) use self::lattice::{MAX_PIECE_BYTES, base_word_ends};
use self::lattice::{NameLattice, is_letter};
use self::trie::{MAX_CODES, NameTrie, ROOT};
use crate::dictionary::Dictionary;

/// Minimum number of base words in a name.
pub const MIN_WORDS: usize = 2;
/// Maximum number of base words in a name.
pub const MAX_WORDS: usize = MAX_CODES;

/// Returns the term of a name of `words` base words: `/2国家图书馆`.
pub fn extension_term(words: usize, name: &str) -> String {
    format!("/{words}{name}")
}

/// The names of an installation, matched along texts.
pub struct Extension {
    lattice: NameLattice,
    trie: NameTrie,
    prefixes: NamePrefixFilter,
    len: usize,
}

/// An occurrence of a name in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// Number of base words in the name: part of its term, and the same in every context.
    pub words: usize,
}

impl Occurrence {
    /// Returns the term, given the text in which the name was found.
    pub fn term(&self, text: &str) -> String {
        extension_term(self.words, text.get(self.start..self.end).unwrap_or_default())
    }
}

/// A piece of a text in the second pass: a segmented word, or a name that covers several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HybridPiece {
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// Index of the first segmented word that it covers.
    pub first: usize,
    /// Number of segmented words that it covers.
    pub covers: usize,
    /// Number of base words in the name; 0 for a segmented word.
    pub words: usize,
}

impl HybridPiece {
    /// Returns the term, given the text in which the piece was found.
    pub fn term<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = text.get(self.start..self.end).unwrap_or_default();
        if self.words == 0 { text.into() } else { extension_term(self.words, text).into() }
    }
}

/// The concurrent match tasks (记分牌), reused from text to text.
#[derive(Default)]
pub struct Scoreboard {
    /// Ring buffer of tasks by position. No piece is longer than the ring, so that positions never share a
    /// slot.
    pending: Vec<Vec<MatchTask>>,
    live: usize,
    working: Vec<MatchTask>,
    edges: Vec<(usize, u32)>,
    hits: Vec<Occurrence>,
}

/// A partially matched name.
#[derive(Clone, Copy)]
struct MatchTask {
    begin: usize,
    node: u32,
    words: usize,
}

impl Scoreboard {
    fn clear(&mut self) {
        self.hits.clear();
        if self.live > 0 || self.pending.is_empty() {
            self.pending.resize_with(MAX_PIECE_BYTES + 1, Vec::new);
            self.pending.iter_mut().for_each(Vec::clear);
            self.live = 0;
        }
    }

    fn slot(&mut self, at: usize) -> &mut Vec<MatchTask> {
        &mut self.pending[at % (MAX_PIECE_BYTES + 1)]
    }
}

impl Extension {
    /// Builds the extension dictionary from normalised names. Names that do not have two to six base words,
    /// or are longer than a term, are ignored.
    pub fn new<'n>(base: &'static Dictionary, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut lattice = NameLattice::new(base);
        let mut prefixes = Vec::new();
        let mut sequences = Vec::new();
        for name in names {
            let ends = base_word_ends(base, name);
            if !(MIN_WORDS..=MAX_WORDS).contains(&ends.len()) {
                continue;
            }
            sequences.push(lattice.codes(name, &ends));
            let mut chars = name.chars();
            prefixes.extend(chars.next().zip(chars.next()));
        }
        let trie = NameTrie::new(sequences, base.len());
        Self { lattice, len: trie.entries(), trie, prefixes: NamePrefixFilter::new(prefixes) }
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no names.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns every occurrence of every name in `text`, overlapping or not, sorted by start. The index
    /// stores these.
    ///
    /// Time is linear in the text: of the tasks at one position, no two have the same start, because the base
    /// words of a name are those of its prefixes.
    pub fn occurrences<'b>(&self, text: &str, board: &'b mut Scoreboard) -> &'b [Occurrence] {
        board.clear();
        if self.is_empty() {
            return &[];
        }
        let mut before = ' ';
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let may_begin = chars.peek().is_some_and(|(_, next)| self.prefixes.may_contain(c, *next));
            let has_tasks = board.live > 0 && !board.slot(at).is_empty();
            // Checked last: most positions have no task.
            if (may_begin || has_tasks) && !(is_letter(before) && is_letter(c)) {
                self.advance_tasks(text, at, may_begin, board);
            }
            before = c;
        }
        board.hits.sort_unstable();
        &board.hits
    }

    /// Advances all tasks at this position, and a new one, by all pieces that begin here.
    fn advance_tasks(&self, text: &str, at: usize, may_begin: bool, board: &mut Scoreboard) {
        let mut working = std::mem::take(&mut board.working);
        working.append(board.slot(at));
        board.live -= working.len();
        if may_begin {
            working.push(MatchTask { begin: at, node: ROOT, words: 0 });
        }
        let mut edges = std::mem::take(&mut board.edges);
        self.lattice.edges(text, at, &mut edges);
        spend_work((1 + working.len() * edges.len()) as u64);
        for task in working.drain(..) {
            for (end, code) in &edges {
                let Some(node) = self.trie.child(task.node, *code) else { continue };
                let task = MatchTask { node, words: task.words + 1, ..task };
                if self.trie.is_entry(node) {
                    board.hits.push(Occurrence { start: task.begin, end: *end, words: task.words });
                }
                if self.trie.has_children(node) {
                    board.slot(*end).push(task);
                    board.live += 1;
                }
            }
        }
        edges.clear();
        (board.working, board.edges) = (working, edges);
    }

    /// Applies forward maximum matching to a segmentation, given by the ends of its words. From left to right
    /// it takes the longest name that begins and ends at word boundaries, else the word. Queries use this;
    /// words covered by a name are skipped.
    pub fn forward_maximum(&self, text: &str, ends: &[usize], board: &mut Scoreboard) -> Vec<HybridPiece> {
        let hits = self.occurrences(text, board);
        let mut out = Vec::with_capacity(ends.len());
        let (mut first, mut start, mut hit) = (0, 0, 0);
        while let Some(word_end) = ends.get(first) {
            while hits.get(hit).is_some_and(|h| h.start < start) {
                hit += 1;
            }
            let here = hits[hit..].iter().take_while(|h| h.start == start);
            let between_words = here.filter_map(|h| Some((h, ends[first..].binary_search(&h.end).ok()?)));
            // Names with the same start are sorted by length: the last is the longest.
            let (end, covers, words) = match between_words.last() {
                Some((name, last)) => (name.end, last + 1, name.words),
                None => (*word_end, 1, 0),
            };
            out.push(HybridPiece { start, end, first, covers, words });
            (first, start) = (first + covers, end);
        }
        out
    }
}

/// Bloom filter of the first two characters of all names: one lookup skips most positions of most texts.
struct NamePrefixFilter {
    bits: Vec<u64>,
    shift: u32,
}

impl NamePrefixFilter {
    fn new(mut pairs: Vec<(char, char)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        // Sixteen bits per pair, at least eight kilobytes: at most one false positive in sixteen.
        let log = (16 * pairs.len()).next_power_of_two().ilog2().clamp(16, 26);
        let mut prefixes = Self { bits: vec![0; 1 << (log - 6)], shift: u64::BITS - log };
        for (first, second) in pairs {
            let bit = prefixes.bit(first, second);
            prefixes.bits[bit / 64] |= 1 << (bit % 64);
        }
        prefixes
    }

    #[inline]
    fn may_contain(&self, first: char, second: char) -> bool {
        let bit = self.bit(first, second);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns the bit of a pair. Multiplicative hashing by the golden ratio (Knuth) mixes the upper bits well.
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
    use crate::dictionary::DictionaryEntry;

    /// Dictionaries live as long as the process.
    fn dictionary(words: &[&str]) -> &'static Dictionary {
        let entries: Vec<_> =
            words.iter().map(|word| DictionaryEntry { word, frequency: 1, tag: "n" }).collect();
        Box::leak(Box::new(Dictionary::new(&entries)))
    }

    /// Segmentation by forward maximum matching.
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
        assert_eq!(pieces[1], HybridPiece { start: 6, end: 21, first: 1, covers: 2, words: 2 });
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
        // Not at word boundaries: the query uses the words.
        assert_eq!(terms_of_query(&extension, base, "研究生命题"), ["研究生", "命题"]);
    }

    #[test]
    fn words_of_letters_match_only_as_wholes() {
        let base = dictionary(&["旗舰版", "t恤"]);
        let extension = Extension::new(base, ["win7旗舰版", "旗舰版win7", "t恤旗舰版"]);
        let found = |text: &str| extension.occurrences(text, &mut Scoreboard::default()).len();
        assert_eq!(found("win7旗舰版win7 t恤旗舰版"), 3);
        assert_eq!(found("xwin7旗舰版win78 at恤旗舰版"), 0);
        assert_eq!(found(&"win7旗舰版 ".repeat(1000)), 1000);
        assert_eq!(found(&"w".repeat(100_000)), 0);
    }

    /// Returns the occurrences of a name found by string search, if it is a name at all.
    fn by_search(text: &str, base: &Dictionary, name: &str) -> Vec<Occurrence> {
        let words = base_word_ends(base, name).len();
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
        fn exactly_the_occurrences_of_a_name_are_reported(
            words in prop::collection::vec("[长春市药𠮷a]{1,4}", 1..12),
            names in prop::collection::btree_set("[长春市药店𠮷a1·]{1,9}", 1..12),
            text in "[长春市药店𠮷a1·]{0,40}",
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let base = dictionary(&words);
            let extension = Extension::new(base, names.iter().map(String::as_str));
            let mut board = Scoreboard::default();
            // A used scoreboard gives the same results as a new one.
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
        fn any_text_can_be_searched(name in "\\PC{2,12}", before in "(?s).{0,20}", after in "(?s).{0,20}") {
            let extension = Extension::new(Dictionary::base(), [name.as_str()]);
            let text = format!("{before}{name}{after}");
            for occurrence in extension.occurrences(&text, &mut Scoreboard::default()) {
                prop_assert_eq!(&text[occurrence.start..occurrence.end], name.as_str());
            }
        }
    }
}
