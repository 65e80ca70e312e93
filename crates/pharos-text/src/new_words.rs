//! New-word discovery (新词): words of pages and queries that are not in the dictionary.
//!
//! **Input:** texts of pages with their fields, segmented by any segmenter; or queries with their days.
//! **Output:** candidates with their statistics. The caller decides what to do with them: a candidate of kind
//! `base` takes part in segmentation, one of kind `extension` becomes a term of its own (see
//! [`vocabulary`](crate::vocabulary)).
//!
//! # From pages
//! The segmenter splits an unknown word into parts. [`NewWordDiscovery`] counts the sequences of two to six
//! adjacent parts, by the rules of 《搜索引擎——原理、技术与系统》§8.3, and keeps those that
//! 1. contain no character that rarely forms words (的, 得, 在, 把 …),
//! 2. are frequent, on several pages,
//! 3. are cohesive: the mutual information (互信息) of every split into two parts is high,
//! 4. occur in varied contexts: the entropy of the left and right neighbours is high (border entropy, 左右熵),
//! 5. do not occur (almost) only inside a longer candidate.
//!
//! # From queries
//! [`from_queries`] takes the strings between operators and English in a query log and drops those that are
//! long, rare or known. Strings composed of known words, or queried day after day, are proposed as names
//! (§10.2 and §8.3 of the same book).

mod grams;
mod prune;
mod queries;
mod selection;

use self::grams::Grams;
pub use self::queries::{QueryRules, QueryWord, QueryWordReport, from_queries};
use crate::dictionary::Dictionary;
use crate::is_han;
use crate::segment::hybrid::{self, MAX_WORDS, MIN_WORDS};
use crate::segment::{Segmenter, SegmenterBuffers};
use crate::vocabulary::WordKind;

/// The field of a page that a text comes from. Writers introduce new words in prominent fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageField {
    /// The title of the page, or the anchor text of a link to it.
    Title,
    Heading,
    Emphasis,
    /// A short delimited string: a link of a navigation bar, an option of a select box, a table cell.
    Short,
    /// Running text.
    Body,
}

/// Criteria for candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveryRules {
    /// Number of parts of a candidate, 2 to 6.
    pub parts: std::ops::RangeInclusive<usize>,
    /// Accepts a single character only beside another one. Off by default: it would reject 爱心 + 社.
    pub singles_only_together: bool,
    /// Requires at least one single character. Off by default: it would reject 国家 + 图书馆.
    pub needs_single: bool,
    /// Segmented words that no candidate contains: characters that rarely form words, and similar words.
    pub function_words: Vec<String>,
    /// Segmented words that no candidate ends with: words of place, time or number.
    pub never_last: Vec<String>,
    /// Minimum number of occurrences.
    pub min_frequency: u32,
    /// Minimum number of pages.
    pub min_pages: u32,
    /// Minimum mutual information in nats.
    pub min_information: f64,
    /// Minimum entropy of each border in nats.
    pub min_entropy: f64,
    /// A candidate is dropped if this share of its occurrences, or more, is inside one longer candidate.
    pub max_inside: f64,
    /// Weight of an occurrence by field; 0 excludes the field. Running text is excluded by default.
    pub weights: FieldWeights,
    /// Maximum number of distinct sequences. Beyond it, rare ones are pruned.
    pub max_grams: usize,
}

/// Weight of an occurrence by [`PageField`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldWeights {
    pub title: u32,
    pub heading: u32,
    pub emphasis: u32,
    pub short: u32,
    pub body: u32,
}

impl FieldWeights {
    fn weight(self, field: PageField) -> u32 {
        match field {
            PageField::Title => self.title,
            PageField::Heading => self.heading,
            PageField::Emphasis => self.emphasis,
            PageField::Short => self.short,
            PageField::Body => self.body,
        }
    }
}

/// Characters that rarely form words, followed by words that connect others.
const FUNCTION_WORDS: &str = "的 得 地 在 把 了 着 是 和 与 及 或 也 都 就 而 但 却 被 让 使 给 对 从 向 到 于 以 为 由 将 因 \
     所 其 之 此 该 这 那 哪 我 你 他 她 它 您 谁 吗 呢 吧 啊 呀 么 嘛 很 太 更 最 还 又 再 不 没 有 能 会 可 要 想 说 个 些 等 \
     第 几 多 年 月 日 号 时 岁 已 曾 据 均 仅 各 每 某 只 才 便 则 并 且 若 请 像 跟 比 \
     我们 你们 他们 她们 它们 自己 这个 那个 这些 那些 这样 那样 这么 那么 什么 怎么 怎么样 怎样 如何 为什么 为何 哪里 \
     哪个 哪些 哪儿 多少 几个 一个 一种 一下 一些 可以 可能 应该 没有 不是 不能 不会 就是 还是 还有 以及 或者 而且 但是 \
     因为 所以 如果 虽然 关于 对于 由于 根据 按照 通过 为了 已经 正在 之间 之后 之前 以后 以前 以上 以下 是否 能否 \
     是什么 有没有 有哪些 需要 请问";

const NEVER_LAST: &str = "上 下 中 里 内 外 前 后 间 起 来 去 们 起来 下来 出来 上来 下去 时候 期间";

impl Default for DiscoveryRules {
    fn default() -> Self {
        Self {
            parts: MIN_WORDS..=MAX_WORDS,
            singles_only_together: false,
            needs_single: false,
            function_words: FUNCTION_WORDS.split_whitespace().map(str::to_string).collect(),
            never_last: NEVER_LAST.split_whitespace().map(str::to_string).collect(),
            min_frequency: 5,
            min_pages: 3,
            min_information: 3.0,
            min_entropy: 1.2,
            max_inside: 0.8,
            weights: FieldWeights { title: 1, heading: 1, emphasis: 1, short: 1, body: 0 },
            max_grams: 2_000_000,
        }
    }
}

/// A candidate for a new word.
#[derive(Clone, Debug, PartialEq)]
pub struct NewWordCandidate {
    /// Normalised form.
    pub word: String,
    /// Suggested kind.
    pub kind: WordKind,
    /// Number of parts in the segmentation.
    pub parts: usize,
    /// Number of occurrences, weighted by field.
    pub frequency: u32,
    /// Number of pages.
    pub pages: u32,
    /// Mutual information of the least cohesive split into two parts, in nats.
    pub information: f64,
    /// Entropy of the preceding words, in nats.
    pub left_entropy: f64,
    /// Entropy of the following words, in nats.
    pub right_entropy: f64,
}

/// Result of a discovery.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveryResult {
    /// Sorted by descending frequency.
    pub candidates: Vec<NewWordCandidate>,
    /// Number of pages examined.
    pub pages: u32,
    /// Number of words counted, weighted by field.
    pub words: u64,
    /// `None` unless sequences were pruned for lack of memory. A frequency may be too low by the pruned frequency
    /// for each time.
    pub pruned: Option<PrunedCounts>,
}

/// Sequences that were pruned for lack of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrunedCounts {
    /// Number of prunings.
    pub times: u32,
    /// Highest frequency that was pruned.
    pub frequency: u32,
}

impl PrunedCounts {
    fn add(so_far: &mut Option<Self>, frequency: u32) {
        let before = so_far.unwrap_or(Self { times: 0, frequency: 0 });
        *so_far = Some(Self { times: before.times + 1, frequency: before.frequency.max(frequency) });
    }
}

/// Finds new words in pages.
pub struct NewWordDiscovery<'a> {
    segmenter: &'a dyn Segmenter,
    base: &'a Dictionary,
    normalise: &'a dyn Fn(&str) -> String,
    rules: DiscoveryRules,
    grams: Grams,
    work: SegmenterBuffers,
    ends: Vec<usize>,
    run: Vec<u32>,
}

impl<'a> NewWordDiscovery<'a> {
    /// Creates a discovery without any pages.
    pub fn new(
        segmenter: &'a dyn Segmenter,
        base: &'a Dictionary,
        normalise: &'a dyn Fn(&str) -> String,
        rules: DiscoveryRules,
    ) -> Self {
        let longest = (*rules.parts.end()).clamp(MIN_WORDS, MAX_WORDS);
        let grams = Grams::new(longest, rules.max_grams, &rules.function_words);
        Self {
            segmenter,
            base,
            normalise,
            rules,
            grams,
            work: SegmenterBuffers::default(),
            ends: Vec::new(),
            run: Vec::new(),
        }
    }

    /// Adds the texts of one page.
    pub fn add_page<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = (T, PageField)>) {
        self.grams.begin_page();
        for (text, field) in texts {
            let weight = self.rules.weights.weight(field);
            if weight > 0 {
                for line in (self.normalise)(text.as_ref()).lines() {
                    self.add_line(line, weight);
                }
            }
        }
    }

    /// Adds a line. Non-Han text ends a run, and counts as an open border of a candidate.
    fn add_line(&mut self, line: &str, weight: u32) {
        self.ends.clear();
        self.segmenter.segment(line, &mut self.work, &mut self.ends);
        let mut start = 0;
        let mut after_number = false;
        for end in &self.ends {
            let word = &line[std::mem::replace(&mut start, *end)..*end];
            // The character after a number is a measure word (3集, 18岁) and begins no word.
            let is_measure = std::mem::take(&mut after_number) && word.chars().nth(1).is_none();
            if is_measure || !word.chars().all(is_han) {
                after_number = word.ends_with(char::is_numeric);
                self.grams.add_run(&self.run, weight);
                self.run.clear();
            } else if self.base.contains(word) {
                self.run.push(self.grams.number(word));
            } else {
                // Words guessed by the segmenter are split: guesses for the same word differ by context.
                let parts = hybrid::base_word_ends(self.base, word);
                if parts.is_empty() {
                    self.grams.add_run(&self.run, weight);
                    self.run.clear();
                }
                let mut part_start = 0;
                for part_end in parts {
                    let part = &word[std::mem::replace(&mut part_start, part_end)..part_end];
                    self.run.push(self.grams.number(part));
                }
            }
        }
        self.grams.add_run(&self.run, weight);
        self.run.clear();
    }

    /// Returns the candidates. `is_known` excludes words in addition to those of the base dictionary.
    pub fn finish(self, is_known: &dyn Fn(&str) -> bool) -> DiscoveryResult {
        let base = self.base;
        let candidates = selection::select_candidates(&self.grams, &self.rules, base, &|word| {
            base.contains(word) || is_known(word)
        });
        DiscoveryResult {
            candidates,
            pages: self.grams.pages(),
            words: self.grams.words(),
            pruned: self.grams.forgotten(),
        }
    }
}

#[cfg(test)]
mod tests;
