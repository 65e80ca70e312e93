//! The phrase index: completes a partially typed query to known phrases (查询词提示).
//!
//! **Input:** titles, anchors, words, queries, each with a weight. **Output:** for a typed prefix, the
//! matching phrases, heaviest first. A phrase matches as written, in full pinyin (`beij`), in initials
//! (`bjdx`), in both scripts (`北京da`), or by a word in its middle.
//!
//! ```
//! use pharos_text::phrase_index::PhraseIndexBuilder;
//!
//! let mut builder = PhraseIndexBuilder::default();
//! for (phrase, times) in [("北京大学", 9.0), ("北京天气", 5.0), ("The Lighthouse", 3.0)] {
//!     builder.add(phrase, times);
//! }
//! let index = builder.finish(1_000);
//! let complete = |typed| index.complete(typed, 10).into_iter().map(|found| found.text).collect::<Vec<_>>();
//! assert_eq!(complete("北京"), ["北京大学", "北京天气"]);
//! assert_eq!(complete("beijingt"), ["北京天气"]);
//! assert_eq!(complete("bjdx"), ["北京大学"]);
//! assert_eq!(complete("北京da"), ["北京大学"]);
//! assert_eq!(complete("light"), ["The Lighthouse"]);
//! ```
//!
//! # Data structure
//! The literature stores the K most frequent queries for every prefix (an inverted index by prefix). A
//! million phrases have tens of millions of prefixes. This index stores phrases by descending weight instead,
//! and for each spelling a list of phrase numbers sorted by that spelling. A prefix is a range of such a
//! list, and its best phrases are the smallest numbers in the range. The minimum of every 64 entries (and of
//! every 64 minima) finds them without scanning the range. Sort keys are not stored: they are recomputed from
//! the phrase during the search. `cd bench && cargo run --release -p bench-suggest` measures memory and
//! latency.

mod filter;
mod image;
mod sorted_positions;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use self::filter::BloomFilter;
pub use self::image::PhraseIndexError;
use self::sorted_positions::{Ascending, SortedPositions};
use crate::{Analyser, is_han, normalise, pinyin};

/// Maximum length of a phrase in bytes. Users do not type longer ones, and an offset within a phrase is
/// stored in one byte.
pub const MAX_PHRASE: usize = 240;
/// Maximum number of phrases: a number has three bytes.
pub const MAX_PHRASES: usize = 1 << 24;

/// Factors applied to the weight of a phrase, by the way it matched.
const BY_BEGINNING: f32 = 1.0;
const BY_PINYIN: f32 = 0.9;
const BY_INITIALS: f32 = 0.7;
const BY_MIDDLE: f32 = 0.5;
const BY_PINYIN_OF_MIDDLE: f32 = 0.4;

/// Maximum number of phrases examined for letters typed after Han characters.
const MAX_MIXED_CANDIDATES: usize = 500;

/// Builds a [`PhraseIndex`].
#[derive(Debug, Default)]
pub struct PhraseIndexBuilder {
    numbers_by_key: HashMap<u64, u32>,
    phrases: Vec<(Box<str>, f32)>,
}

impl PhraseIndexBuilder {
    /// Adds to the weight of a phrase: the number of occurrences times their importance.
    pub fn add(&mut self, phrase: &str, weight: f32) {
        let phrase = collapse_spaces(phrase);
        let key = normalise(&phrase);
        let is_phrase = key.chars().any(char::is_alphanumeric) && !key.chars().any(char::is_control);
        if !is_phrase
            || phrase.len() > MAX_PHRASE
            || key.len() > MAX_PHRASE
            || weight.is_nan()
            || weight <= 0.0
        {
            return;
        }
        let next = self.phrases.len() as u32;
        match self.numbers_by_key.entry(xxh3_64(key.as_bytes())) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                self.phrases[*entry.get() as usize].1 += weight;
            }
            std::collections::hash_map::Entry::Vacant(entry) if self.phrases.len() < 4 * MAX_PHRASES => {
                entry.insert(next);
                self.phrases.push((phrase.into(), weight));
            }
            std::collections::hash_map::Entry::Vacant(_) => {}
        }
    }

    /// Builds the index of the `limit` heaviest phrases.
    pub fn finish(self, limit: usize) -> PhraseIndex {
        let Self { numbers_by_key, mut phrases } = self;
        drop(numbers_by_key);
        phrases.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        phrases.truncate(limit.min(MAX_PHRASES));
        let mut table = PhraseTable::default();
        for (text, weight) in &phrases {
            table.texts.push_str(text);
            table.ends.push(table.texts.len() as u32);
            table.weights.push(*weight);
        }
        drop(phrases);
        PhraseIndex::from_table(table)
    }
}

/// Reduces whitespace to single spaces.
fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The phrases by descending weight.
#[derive(Clone, Debug, Default, PartialEq)]
struct PhraseTable {
    texts: String,
    ends: Vec<u32>,
    weights: Vec<f32>,
}

impl PhraseTable {
    fn text(&self, phrase: u32) -> &str {
        let phrase = phrase as usize;
        let start = if phrase == 0 { 0 } else { self.ends[phrase - 1] as usize };
        &self.texts[start..self.ends[phrase] as usize]
    }

    /// Returns the sort key of the suffix of a phrase at a position.
    fn key(&self, position: PhrasePosition, spelling: Spelling) -> String {
        let text = &self.text(position.phrase())[position.offset()..];
        let spelled = normalise(text);
        match spelling {
            Spelling::Written => spelled,
            Spelling::Pinyin => without_spaces(&pinyin::spell(&spelled)),
            Spelling::Initials => without_spaces(&pinyin::initials(&spelled)),
        }
    }
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A phrase and the offset of a word in it. Smaller values have heavier phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PhrasePosition(u32);

impl PhrasePosition {
    fn new(phrase: u32, offset: usize) -> Self {
        Self(phrase << 8 | offset as u32)
    }

    fn phrase(self) -> u32 {
        self.0 >> 8
    }

    fn offset(self) -> usize {
        (self.0 & 0xff) as usize
    }
}

/// The spelling by which a phrase is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Written,
    Pinyin,
    Initials,
}

/// Phrases, heaviest first, with one sorted list per spelling. Immutable; lookups are cheap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhraseIndex {
    table: PhraseTable,
    written: SortedPositions,
    written_middles: SortedPositions,
    sounds: SortedPositions,
    sound_middles: SortedPositions,
    initials: SortedPositions,
    /// Filters of the written and the pinyin keys, once [`prepare`](Self::prepare) has been called.
    filters: OnceLock<[BloomFilter; 2]>,
}

/// A phrase that matches the typed text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completion<'b> {
    pub text: &'b str,
    /// Weight, scaled by the way the phrase matched.
    pub score: f32,
}

/// A phrase of the index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phrase<'b> {
    /// Display form.
    pub text: &'b str,
    pub weight: f32,
}

impl PhraseIndex {
    fn from_table(table: PhraseTable) -> Self {
        let (mut starts, mut middles) = (Vec::new(), Vec::new());
        let (mut han_starts, mut han_middles) = (Vec::new(), Vec::new());
        for phrase in 0..table.ends.len() as u32 {
            let text = table.text(phrase);
            let is_chinese = text.chars().any(is_han);
            starts.push(PhrasePosition::new(phrase, 0));
            if is_chinese {
                han_starts.push(PhrasePosition::new(phrase, 0));
            }
            let mut last = 0;
            Analyser::shared().for_each_index_token(text, |word, start, _, _| {
                // Each Han character is a token of its own; users begin with words.
                let is_word = word.chars().nth(1).is_some() || !word.starts_with(is_han);
                if start > last && is_word {
                    last = start;
                    middles.push(PhrasePosition::new(phrase, start));
                    if is_chinese && text[start..].chars().any(is_han) {
                        han_middles.push(PhrasePosition::new(phrase, start));
                    }
                }
            });
        }
        let order = |positions: Vec<PhrasePosition>, spelling| {
            SortedPositions::sort(positions, |position| table.key(position, spelling))
        };
        let initials = order(han_starts.clone(), Spelling::Initials);
        let sounds = order(han_starts, Spelling::Pinyin);
        let sound_middles = order(han_middles, Spelling::Pinyin);
        let written = order(starts, Spelling::Written);
        let written_middles = order(middles, Spelling::Written);
        let filters = OnceLock::new();
        Self { table, written, written_middles, sounds, sound_middles, initials, filters }
    }

    /// Returns the number of phrases.
    pub fn len(&self) -> usize {
        self.table.ends.len()
    }

    /// Returns `true` if the index has no phrases.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory used, in bytes.
    pub fn bytes(&self) -> usize {
        let orders = self.orders().into_iter().map(|(order, _)| order.bytes()).sum::<usize>();
        let filters = self.filters.get().map_or(0, |filters| filters.iter().map(BloomFilter::bytes).sum());
        self.table.texts.len() + 4 * (self.table.ends.len() + self.table.weights.len()) + orders + filters
    }

    /// Builds the filters that let [`weight`](Self::weight) and [`with_reading`](Self::with_reading) reject missing
    /// keys quickly. Takes about as long as reading every phrase. The results are the same without it.
    pub fn prepare(&self) {
        self.filters.get_or_init(|| {
            [(&self.written, Spelling::Written), (&self.sounds, Spelling::Pinyin)].map(|(order, spelling)| {
                let positions = order.positions();
                BloomFilter::new(
                    positions.len(),
                    positions.iter().map(|position| self.table.key(*position, spelling)),
                )
            })
        });
    }

    /// Returns all phrases, heaviest first.
    pub fn phrases(&self) -> impl Iterator<Item = Phrase<'_>> {
        (0..self.len() as u32).map(|phrase| self.phrase(phrase))
    }

    /// Returns the best `limit` completions of the typed text.
    pub fn complete(&self, typed: &str, limit: usize) -> Vec<Completion<'_>> {
        // A trailing space shows that the word is complete.
        let ends_with_space = typed.ends_with(char::is_whitespace);
        let typed = collapse_spaces(&normalise(typed));
        if typed.is_empty() || typed.len() > MAX_PHRASE || limit == 0 {
            return Vec::new();
        }
        let is_complete = ends_with_space && !typed.ends_with(is_han);
        let prefix = format!("{typed}{}", if is_complete { " " } else { "" });
        let mut found = CompletionCollector { index: self, typed: &typed, scores: HashMap::new() };
        found.collect(&self.written, Spelling::Written, &prefix, BY_BEGINNING, limit);
        found.collect(&self.written_middles, Spelling::Written, &prefix, BY_MIDDLE, limit);
        if let Some(letters) = &letters(&typed) {
            found.collect(&self.sounds, Spelling::Pinyin, letters, BY_PINYIN, limit);
            found.collect(&self.initials, Spelling::Initials, letters, BY_INITIALS, limit);
            found.collect(&self.sound_middles, Spelling::Pinyin, letters, BY_PINYIN_OF_MIDDLE, limit);
        }
        if let Some((written, letters)) = mixed(&typed) {
            let fitting = self.beginning_with(written).take(MAX_MIXED_CANDIDATES).filter(|position| {
                let rest = &normalise(self.table.text(position.phrase()))[written.len()..];
                without_spaces(&pinyin::spell(rest)).starts_with(letters)
                    || without_spaces(&pinyin::initials(rest)).starts_with(letters)
            });
            fitting.take(limit).for_each(|position| found.add(position, BY_PINYIN));
        }
        found.best(limit)
    }

    /// Returns the weight of a phrase, or `None` if the index does not contain it.
    pub fn weight(&self, phrase: &str) -> Option<f32> {
        let key = collapse_spaces(&normalise(phrase));
        if self.filters.get().is_some_and(|[written, _]| !written.may_contain(&key)) {
            return None;
        }
        let position =
            self.written.first_at_least(&key, |position| self.table.key(position, Spelling::Written))?;
        (self.table.key(position, Spelling::Written) == key)
            .then(|| self.table.weights[position.phrase() as usize])
    }

    /// Returns the phrases with this reading (full pinyin, no spaces), heaviest first.
    pub fn with_reading<'b>(&'b self, letters: &str) -> impl Iterator<Item = Phrase<'b>> + use<'b> {
        let key = |position| self.table.key(position, Spelling::Pinyin);
        let is_none = self.filters.get().is_some_and(|[_, sounds]| !sounds.may_contain(letters));
        let range = if is_none { 0..0 } else { self.sounds.equal(letters, key) };
        self.sounds.ascending(range).map(|position| self.phrase(position.phrase()))
    }

    /// Returns the phrases that begin with a text, heaviest first.
    pub fn with_prefix<'b>(&'b self, text: &str) -> impl Iterator<Item = Phrase<'b>> + use<'b> {
        self.beginning_with(&collapse_spaces(&normalise(text))).map(|position| self.phrase(position.phrase()))
    }

    /// Returns the phrases that contain the text at the beginning of a word other than their first, heaviest
    /// first.
    pub fn containing<'b>(&'b self, text: &str) -> impl Iterator<Item = Phrase<'b>> + use<'b> {
        let key = |position| self.table.key(position, Spelling::Written);
        let range = self.written_middles.beginning_with(&collapse_spaces(&normalise(text)), key);
        self.written_middles.ascending(range).map(|position| self.phrase(position.phrase()))
    }

    fn beginning_with<'b>(&'b self, key: &str) -> Ascending<'b> {
        let range = self.written.beginning_with(key, |position| self.table.key(position, Spelling::Written));
        self.written.ascending(range)
    }

    fn phrase(&self, phrase: u32) -> Phrase<'_> {
        Phrase { text: self.table.text(phrase), weight: self.table.weights[phrase as usize] }
    }

    fn orders(&self) -> [(&SortedPositions, Spelling); 5] {
        [
            (&self.written, Spelling::Written),
            (&self.written_middles, Spelling::Written),
            (&self.sounds, Spelling::Pinyin),
            (&self.sound_middles, Spelling::Pinyin),
            (&self.initials, Spelling::Initials),
        ]
    }
}

/// Completions found so far, each with its best score.
struct CompletionCollector<'b, 't> {
    index: &'b PhraseIndex,
    typed: &'t str,
    scores: HashMap<u32, f32>,
}

impl<'b> CompletionCollector<'b, '_> {
    fn collect(
        &mut self,
        order: &SortedPositions,
        spelling: Spelling,
        typed: &str,
        factor: f32,
        limit: usize,
    ) {
        let range = order.beginning_with(typed, |position| self.index.table.key(position, spelling));
        let mut seen = HashSet::new();
        for position in order.ascending(range) {
            seen.insert(position.phrase());
            self.add(position, factor);
            // One more, because the typed text itself is not a completion.
            if seen.len() > limit {
                break;
            }
        }
    }

    fn add(&mut self, position: PhrasePosition, factor: f32) {
        let weight = self.index.table.weights[position.phrase() as usize];
        let score = factor * weight.ln_1p();
        let best = self.scores.entry(position.phrase()).or_insert(score);
        *best = best.max(score);
    }

    fn best(self, limit: usize) -> Vec<Completion<'b>> {
        let Self { index, typed, scores } = self;
        let mut scores: Vec<(u32, f32)> = scores.into_iter().collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let completions = scores.into_iter().map(|(phrase, score)| (index.table.text(phrase), score));
        let completions = completions.filter(|(text, _)| normalise(text) != typed);
        completions.take(limit).map(|(text, score)| Completion { text, score }).collect()
    }
}

/// Returns the typed text as letters of pinyin: ASCII letters and digits only, without apostrophes and
/// spaces.
fn letters(typed: &str) -> Option<String> {
    let letters: String =
        typed.chars().filter(|c| !matches!(c, ' ' | '\'')).map(|c| if c == 'ü' { 'v' } else { c }).collect();
    let is_pinyin = letters.bytes().all(|b| b.is_ascii_alphanumeric())
        && letters.bytes().any(|b| b.is_ascii_alphabetic());
    is_pinyin.then_some(letters)
}

/// Returns the Han characters and the letters typed after them.
fn mixed(typed: &str) -> Option<(&str, &str)> {
    let end = typed.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (written, letters) = typed.split_at(end);
    (written.ends_with(is_han) && !letters.is_empty()).then_some((written, letters))
}

#[cfg(test)]
mod tests;
