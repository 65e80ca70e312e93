//! A book of phrases that people may mean, looked up while they type.
//!
//! **In:** titles, anchors, words, queries, each with how often it was seen. **Out:** for what was typed so far, the phrases
//! that begin with it, heaviest first: as written, in full pinyin (`beij`), in initials (`bjdx`), in both scripts at once
//! (`北京da`), and phrases with a word in the middle that begins so.
//!
//! ```
//! use pharos_text::phrasebook::Writer;
//!
//! let mut writer = Writer::default();
//! for (phrase, times) in [("北京大学", 9.0), ("北京天气", 5.0), ("The Lighthouse", 3.0)] {
//!     writer.add(phrase, times);
//! }
//! let book = writer.finish(1_000);
//! let complete = |typed| book.complete(typed, 10).into_iter().map(|found| found.text).collect::<Vec<_>>();
//! assert_eq!(complete("北京"), ["北京大学", "北京天气"]);
//! assert_eq!(complete("beijingt"), ["北京天气"]);
//! assert_eq!(complete("bjdx"), ["北京大学"]);
//! assert_eq!(complete("北京da"), ["北京大学"]);
//! assert_eq!(complete("light"), ["The Lighthouse"]);
//! ```
//!
//! # How
//! The literature keeps for every prefix its K most frequent queries (an inverted index by prefix, 查询词提示). A million
//! phrases have tens of millions of prefixes, so this keeps phrases by descending weight instead, and beside them lists of
//! their numbers in the order of each way to write them: a prefix is a stretch of such a list, the best of it are
//! its smallest numbers, and the least number of every 64 (and of every 64 of these) finds those without looking at the
//! others. What the lists are ordered by is never stored: keys are made again from the phrase while searching.
//!
//! A million phrases of 27 bytes, half of them Chinese, take 62 MB (`cd bench && cargo run --release -p bench-suggest`, two
//! cores, busy with other work); times in µs for prefixes of one to eight characters:
//!
//! | | p50 | p99 |
//! |---|---|---|
//! | as written | 189 | 554 |
//! | pinyin | 225 | 634 |
//! | initials | 241 | 483 |
//! | a word in the middle | 251 | 487 |
//! | an FST of the same phrases, as written | 75 | 56,649 |

mod filter;
mod image;
mod order;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use self::filter::Filter;
pub use self::image::ImageError;
use self::order::{Ascending, Order};
use crate::{Analyser, is_han, normalise, pinyin};

/// Longer phrases, in bytes, are left out: nobody types them, and a place in a phrase is told by one byte.
pub const MAX_PHRASE: usize = 240;
/// Phrases at most: a number has three bytes.
pub const MAX_PHRASES: usize = 1 << 24;

/// What a phrase counts that is found by …
const BY_BEGINNING: f32 = 1.0;
const BY_PINYIN: f32 = 0.9;
const BY_INITIALS: f32 = 0.7;
const BY_MIDDLE: f32 = 0.5;
const BY_PINYIN_OF_MIDDLE: f32 = 0.4;

/// Phrases that are looked at for letters typed behind Han characters.
const LOOKED_AT: usize = 500;

/// Takes phrases in.
#[derive(Debug, Default)]
pub struct Writer {
    known: HashMap<u64, u32>,
    phrases: Vec<(Box<str>, f32)>,
}

impl Writer {
    /// Adds to what a phrase weighs: how often it was seen, times how much that means.
    pub fn add(&mut self, phrase: &str, weight: f32) {
        let phrase = tidy(phrase);
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
        match self.known.entry(xxh3_64(key.as_bytes())) {
            std::collections::hash_map::Entry::Occupied(known) => {
                self.phrases[*known.get() as usize].1 += weight;
            }
            std::collections::hash_map::Entry::Vacant(place) if self.phrases.len() < 4 * MAX_PHRASES => {
                place.insert(next);
                self.phrases.push((phrase.into(), weight));
            }
            std::collections::hash_map::Entry::Vacant(_) => {}
        }
    }

    /// The book of the `most` heaviest.
    pub fn finish(self, most: usize) -> Phrasebook {
        let Self { known, mut phrases } = self;
        drop(known);
        phrases.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        phrases.truncate(most.min(MAX_PHRASES));
        let mut pages = Pages::default();
        for (text, weight) in &phrases {
            pages.texts.push_str(text);
            pages.ends.push(pages.texts.len() as u32);
            pages.weights.push(*weight);
        }
        drop(phrases);
        Phrasebook::of(pages)
    }
}

/// One line, one space between words.
fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The phrases by descending weight.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pages {
    texts: String,
    ends: Vec<u32>,
    weights: Vec<f32>,
}

impl Pages {
    fn text(&self, phrase: u32) -> &str {
        let phrase = phrase as usize;
        let start = if phrase == 0 { 0 } else { self.ends[phrase - 1] as usize };
        &self.texts[start..self.ends[phrase] as usize]
    }

    /// What a list is ordered by, of the phrase from a place in it on.
    fn key(&self, place: Place, way: Way) -> String {
        let text = &self.text(place.phrase())[place.offset()..];
        let spelled = normalise(text);
        match way {
            Way::Written => spelled,
            Way::Pinyin => without_spaces(&pinyin::spell(&spelled)),
            Way::Initials => without_spaces(&pinyin::initials(&spelled)),
        }
    }
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A phrase and a byte in it where a word begins: the lower, the heavier the phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place(u32);

impl Place {
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

/// How a phrase is written by who looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Written,
    Pinyin,
    Initials,
}

/// Phrases, heaviest first, and the orders they are looked up in. Cheap to ask, never changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phrasebook {
    pages: Pages,
    written: Order,
    written_middles: Order,
    sounds: Order,
    sound_middles: Order,
    initials: Order,
    /// What is written so and what sounds so, where that was made ready.
    filters: OnceLock<[Filter; 2]>,
}

/// A phrase that fits what was typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completion<'b> {
    /// The phrase.
    pub text: &'b str,
    /// How much it counts here.
    pub score: f32,
}

/// A phrase of the book.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phrase<'b> {
    /// As it is shown.
    pub text: &'b str,
    /// What it weighs.
    pub weight: f32,
}

impl Phrasebook {
    fn of(pages: Pages) -> Self {
        let (mut starts, mut middles) = (Vec::new(), Vec::new());
        let (mut han_starts, mut han_middles) = (Vec::new(), Vec::new());
        for phrase in 0..pages.ends.len() as u32 {
            let text = pages.text(phrase);
            let is_chinese = text.chars().any(is_han);
            starts.push(Place::new(phrase, 0));
            if is_chinese {
                han_starts.push(Place::new(phrase, 0));
            }
            let mut last = 0;
            Analyser::shared().for_each_index_token(text, |word, start, _, _| {
                // Each Han character is a token of its own; words are what people begin with.
                let is_word = word.chars().nth(1).is_some() || !word.starts_with(is_han);
                if start > last && is_word {
                    last = start;
                    middles.push(Place::new(phrase, start));
                    if is_chinese && text[start..].chars().any(is_han) {
                        han_middles.push(Place::new(phrase, start));
                    }
                }
            });
        }
        let order = |places: Vec<Place>, way| Order::sorted(places, |place| pages.key(place, way));
        let initials = order(han_starts.clone(), Way::Initials);
        let sounds = order(han_starts, Way::Pinyin);
        let sound_middles = order(han_middles, Way::Pinyin);
        let written = order(starts, Way::Written);
        let written_middles = order(middles, Way::Written);
        let filters = OnceLock::new();
        Self { pages, written, written_middles, sounds, sound_middles, initials, filters }
    }

    /// How many phrases it has.
    pub fn len(&self) -> usize {
        self.pages.ends.len()
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        let orders = self.orders().into_iter().map(|(order, _)| order.bytes()).sum::<usize>();
        let filters = self.filters.get().map_or(0, |filters| filters.iter().map(Filter::bytes).sum());
        self.pages.texts.len() + 4 * (self.pages.ends.len() + self.pages.weights.len()) + orders + filters
    }

    /// Makes [`weight`](Self::weight) and [`sounding`](Self::sounding) quick to say that there is nothing. Takes about as
    /// long as reading every phrase; they give the same without.
    pub fn prepare(&self) {
        self.filters.get_or_init(|| {
            [(&self.written, Way::Written), (&self.sounds, Way::Pinyin)].map(|(order, way)| {
                let places = order.places();
                Filter::of(places.len(), places.iter().map(|place| self.pages.key(*place, way)))
            })
        });
    }

    /// All phrases, heaviest first.
    pub fn phrases(&self) -> impl Iterator<Item = Phrase<'_>> {
        (0..self.len() as u32).map(|phrase| self.phrase(phrase))
    }

    /// The best `limit` phrases for what was typed so far.
    pub fn complete(&self, typed: &str, limit: usize) -> Vec<Completion<'_>> {
        // A space behind a word says that the word is complete.
        let ends_with_space = typed.ends_with(char::is_whitespace);
        let typed = tidy(&normalise(typed));
        if typed.is_empty() || typed.len() > MAX_PHRASE || limit == 0 {
            return Vec::new();
        }
        let is_complete = ends_with_space && !typed.ends_with(is_han);
        let prefix = format!("{typed}{}", if is_complete { " " } else { "" });
        let mut found = Gathered { book: self, typed: &typed, scores: HashMap::new() };
        found.gather(&self.written, Way::Written, &prefix, BY_BEGINNING, limit);
        found.gather(&self.written_middles, Way::Written, &prefix, BY_MIDDLE, limit);
        if let Some(letters) = &letters(&typed) {
            found.gather(&self.sounds, Way::Pinyin, letters, BY_PINYIN, limit);
            found.gather(&self.initials, Way::Initials, letters, BY_INITIALS, limit);
            found.gather(&self.sound_middles, Way::Pinyin, letters, BY_PINYIN_OF_MIDDLE, limit);
        }
        if let Some((written, letters)) = mixed(&typed) {
            let fitting = self.beginning_with(written).take(LOOKED_AT).filter(|place| {
                let rest = &normalise(self.pages.text(place.phrase()))[written.len()..];
                without_spaces(&pinyin::spell(rest)).starts_with(letters)
                    || without_spaces(&pinyin::initials(rest)).starts_with(letters)
            });
            fitting.take(limit).for_each(|place| found.take(place, BY_PINYIN));
        }
        found.best(limit)
    }

    /// What a phrase weighs; `None` where the book has it not.
    pub fn weight(&self, phrase: &str) -> Option<f32> {
        let key = tidy(&normalise(phrase));
        if self.filters.get().is_some_and(|[written, _]| !written.may_have(&key)) {
            return None;
        }
        let place = self.written.first_at_least(&key, |place| self.pages.key(place, Way::Written))?;
        (self.pages.key(place, Way::Written) == key).then(|| self.pages.weights[place.phrase() as usize])
    }

    /// Phrases read as these letters (full pinyin, no spaces), heaviest first.
    pub fn sounding<'b>(&'b self, letters: &str) -> impl Iterator<Item = Phrase<'b>> + use<'b> {
        let key = |place| self.pages.key(place, Way::Pinyin);
        let is_none = self.filters.get().is_some_and(|[_, sounds]| !sounds.may_have(letters));
        let range = if is_none { 0..0 } else { self.sounds.equal(letters, key) };
        self.sounds.ascending(range).map(|place| self.phrase(place.phrase()))
    }

    /// Phrases that begin with a text, heaviest first.
    pub fn beginning<'b>(&'b self, text: &str) -> impl Iterator<Item = Phrase<'b>> + use<'b> {
        self.beginning_with(&tidy(&normalise(text))).map(|place| self.phrase(place.phrase()))
    }

    /// Phrases that have this text from the beginning of a word on, but not from their own, heaviest first.
    pub fn containing<'b>(&'b self, text: &str) -> impl Iterator<Item = Phrase<'b>> + use<'b> {
        let key = |place| self.pages.key(place, Way::Written);
        let range = self.written_middles.beginning_with(&tidy(&normalise(text)), key);
        self.written_middles.ascending(range).map(|place| self.phrase(place.phrase()))
    }

    fn beginning_with<'b>(&'b self, key: &str) -> Ascending<'b> {
        let range = self.written.beginning_with(key, |place| self.pages.key(place, Way::Written));
        self.written.ascending(range)
    }

    fn phrase(&self, phrase: u32) -> Phrase<'_> {
        Phrase { text: self.pages.text(phrase), weight: self.pages.weights[phrase as usize] }
    }

    fn orders(&self) -> [(&Order, Way); 5] {
        [
            (&self.written, Way::Written),
            (&self.written_middles, Way::Written),
            (&self.sounds, Way::Pinyin),
            (&self.sound_middles, Way::Pinyin),
            (&self.initials, Way::Initials),
        ]
    }
}

/// Phrases found so far, each with the best of its scores.
struct Gathered<'b, 't> {
    book: &'b Phrasebook,
    typed: &'t str,
    scores: HashMap<u32, f32>,
}

impl<'b> Gathered<'b, '_> {
    fn gather(&mut self, order: &Order, way: Way, typed: &str, factor: f32, limit: usize) {
        let range = order.beginning_with(typed, |place| self.book.pages.key(place, way));
        let mut seen = HashSet::new();
        for place in order.ascending(range) {
            seen.insert(place.phrase());
            self.take(place, factor);
            // One more: what was typed itself is none.
            if seen.len() > limit {
                break;
            }
        }
    }

    fn take(&mut self, place: Place, factor: f32) {
        let weight = self.book.pages.weights[place.phrase() as usize];
        let score = factor * weight.ln_1p();
        let known = self.scores.entry(place.phrase()).or_insert(score);
        *known = known.max(score);
    }

    fn best(self, limit: usize) -> Vec<Completion<'b>> {
        let Self { book, typed, scores } = self;
        let mut scores: Vec<(u32, f32)> = scores.into_iter().collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let completions = scores.into_iter().map(|(phrase, score)| (book.pages.text(phrase), score));
        let completions = completions.filter(|(text, _)| normalise(text) != typed);
        completions.take(limit).map(|(text, score)| Completion { text, score }).collect()
    }
}

/// What was typed as letters of pinyin: nothing but ASCII letters and digits, apostrophes and spaces left out.
fn letters(typed: &str) -> Option<String> {
    let letters: String =
        typed.chars().filter(|c| !matches!(c, ' ' | '\'')).map(|c| if c == 'ü' { 'v' } else { c }).collect();
    let is_pinyin = letters.bytes().all(|b| b.is_ascii_alphanumeric())
        && letters.bytes().any(|b| b.is_ascii_alphabetic());
    is_pinyin.then_some(letters)
}

/// Han characters and the letters that were typed behind them.
fn mixed(typed: &str) -> Option<(&str, &str)> {
    let end = typed.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (written, letters) = typed.split_at(end);
    (written.ends_with(is_han) && !letters.is_empty()).then_some((written, letters))
}

#[cfg(test)]
mod tests;
