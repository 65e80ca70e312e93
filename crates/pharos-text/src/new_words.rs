//! New words (新词): what pages and queries say that the dictionary does not know.
//!
//! **In:** texts of pages with their places, cut by any segmenter; or queries with their days. **Out:** candidates
//! with the figures that speak for them. What becomes of them is for others to say: a candidate of kind `base` joins
//! cutting, one of kind `extension` becomes a term of its own (see [`vocabulary`](crate::vocabulary)).
//!
//! # From pages
//! An unknown word comes out of the segmenter in parts. [`Discovery`] counts the sequences of two to six parts that
//! stand side by side, by the rules of 《搜索引擎—原理、技术与系统》 §8.3, and keeps those that
//! 1. hold no character that hardly forms words (的, 得, 在, 把 …),
//! 2. are frequent, on several pages,
//! 3. hold together: the mutual information (互信息) of every two parts they could be made of is high,
//! 4. stand freely: what comes before and after them varies (border entropy, 左右熵),
//! 5. do not occur (almost) only inside a longer candidate.
//!
//! # From queries
//! People ask for words. [`from_queries`] takes what stands between operators and English in a query log, drops what
//! is long, rare or known, and proposes what is composed of known words, or asked for day after day, as names
//! (same book §10.2 and §8.3).

mod grams;
mod prune;
mod queries;
mod sift;

use self::grams::Grams;
pub use self::queries::{QueryFindings, QueryRules, QueryWord, from_queries};
use crate::dictionary::Dictionary;
use crate::is_han;
use crate::segment::hybrid::{self, MAX_WORDS, MIN_WORDS};
use crate::segment::{Segmenter, Work};
use crate::vocabulary::Kind;

/// Where in a page a text stands. New words are introduced where a writer wants them to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The title of the page, or the anchor text of a link to it.
    Title,
    /// A heading.
    Heading,
    /// Emphasised text.
    Emphasis,
    /// A short string with natural ends: a link of a navigation bar, an option of a select box, a table cell.
    Short,
    /// Running text.
    Body,
}

/// What makes a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Parts of a candidate, 2 to 6.
    pub parts: std::ops::RangeInclusive<usize>,
    /// A single character is let in only beside another one. Off: it would refuse 爱心 + 社.
    pub singles_only_together: bool,
    /// A candidate has at least one single character. Off: it would refuse 国家 + 图书馆.
    pub needs_single: bool,
    /// Words of the cut that no candidate holds: characters that hardly form words, and words like them.
    pub function_words: Vec<String>,
    /// Words of the cut that no candidate ends with: what says where, when or how many.
    pub never_last: Vec<String>,
    /// How often a candidate is seen, at least.
    pub min_frequency: u32,
    /// On how many pages, at least.
    pub min_pages: u32,
    /// Least mutual information, in nats.
    pub min_information: f64,
    /// Least entropy of each border, in nats.
    pub min_entropy: f64,
    /// A candidate goes when this share of it, or more, stands inside one longer candidate.
    pub max_inside: f64,
    /// How often an occurrence counts, by place; 0 leaves the place out. Running text is left out.
    pub weights: Weights,
    /// How many different sequences are kept; beyond that the rare ones are forgotten.
    pub max_grams: usize,
}

/// How often an occurrence counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// In [`Place::Title`].
    pub title: u32,
    /// In [`Place::Heading`].
    pub heading: u32,
    /// In [`Place::Emphasis`].
    pub emphasis: u32,
    /// In [`Place::Short`].
    pub short: u32,
    /// In [`Place::Body`].
    pub body: u32,
}

impl Weights {
    fn of(self, place: Place) -> u32 {
        match place {
            Place::Title => self.title,
            Place::Heading => self.heading,
            Place::Emphasis => self.emphasis,
            Place::Short => self.short,
            Place::Body => self.body,
        }
    }
}

/// Characters that hardly form words, then words that join others without making one of them.
const FUNCTION_WORDS: &str = "的 得 地 在 把 了 着 是 和 与 及 或 也 都 就 而 但 却 被 让 使 给 对 从 向 到 于 以 为 由 将 因 \
     所 其 之 此 该 这 那 哪 我 你 他 她 它 您 谁 吗 呢 吧 啊 呀 么 嘛 很 太 更 最 还 又 再 不 没 有 能 会 可 要 想 说 个 些 等 \
     第 几 多 年 月 日 号 时 岁 已 曾 据 均 仅 各 每 某 只 才 便 则 并 且 若 请 像 跟 比 \
     我们 你们 他们 她们 它们 自己 这个 那个 这些 那些 这样 那样 这么 那么 什么 怎么 怎么样 怎样 如何 为什么 为何 哪里 \
     哪个 哪些 哪儿 多少 几个 一个 一种 一下 一些 可以 可能 应该 没有 不是 不能 不会 就是 还是 还有 以及 或者 而且 但是 \
     因为 所以 如果 虽然 关于 对于 由于 根据 按照 通过 为了 已经 正在 之间 之后 之前 以后 以前 以上 以下 是否 能否 \
     是什么 有没有 有哪些 需要 请问";

const NEVER_LAST: &str = "上 下 中 里 内 外 前 后 间 起 来 去 们 起来 下来 出来 上来 下去 时候 期间";

impl Default for Rules {
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
            weights: Weights { title: 1, heading: 1, emphasis: 1, short: 1, body: 0 },
            max_grams: 2_000_000,
        }
    }
}

/// A word that may be one.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// In normalised form.
    pub word: String,
    /// What it would be good for.
    pub kind: Kind,
    /// Its parts in the cut.
    pub parts: usize,
    /// How often it was seen, places weighted.
    pub frequency: u32,
    /// On how many pages.
    pub pages: u32,
    /// Mutual information of the two parts that hold together least, in nats.
    pub information: f64,
    /// How much varies what comes before it, in nats.
    pub left_entropy: f64,
    /// How much varies what comes after it, in nats.
    pub right_entropy: f64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The most frequent first.
    pub candidates: Vec<Candidate>,
    /// Pages that were looked at.
    pub pages: u32,
    /// Words that were counted, places weighted.
    pub words: u64,
    /// If memory ran short: sequences were forgotten when they had been seen so often or less. A frequency may be
    /// too low by as much for each time that happened.
    pub forgotten: Option<Forgotten>,
}

/// Sequences that there was no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// How many times rare sequences had to go.
    pub times: u32,
    /// The highest frequency that counted as rare.
    pub frequency: u32,
}

impl Forgotten {
    fn add(so_far: &mut Option<Self>, frequency: u32) {
        let before = so_far.unwrap_or(Self { times: 0, frequency: 0 });
        *so_far = Some(Self { times: before.times + 1, frequency: before.frequency.max(frequency) });
    }
}

/// Finds new words in pages.
pub struct Discovery<'a> {
    segmenter: &'a dyn Segmenter,
    base: &'a Dictionary,
    normalise: &'a dyn Fn(&str) -> String,
    rules: Rules,
    grams: Grams,
    work: Work,
    ends: Vec<usize>,
    run: Vec<u32>,
}

impl<'a> Discovery<'a> {
    /// Nothing seen yet.
    pub fn new(
        segmenter: &'a dyn Segmenter,
        base: &'a Dictionary,
        normalise: &'a dyn Fn(&str) -> String,
        rules: Rules,
    ) -> Self {
        let longest = (*rules.parts.end()).clamp(MIN_WORDS, MAX_WORDS);
        let grams = Grams::new(longest, rules.max_grams, &rules.function_words);
        Self {
            segmenter,
            base,
            normalise,
            rules,
            grams,
            work: Work::default(),
            ends: Vec::new(),
            run: Vec::new(),
        }
    }

    /// Takes the texts of one page.
    pub fn page<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = (T, Place)>) {
        self.grams.begin_page();
        for (text, place) in texts {
            let weight = self.rules.weights.of(place);
            if weight > 0 {
                for line in (self.normalise)(text.as_ref()).lines() {
                    self.line(line, weight);
                }
            }
        }
    }

    /// Whatever is not made of Han characters ends a run, and a candidate may stand freely beside it.
    fn line(&mut self, line: &str, weight: u32) {
        self.ends.clear();
        self.segmenter.cut(line, &mut self.work, &mut self.ends);
        let mut start = 0;
        let mut after_number = false;
        for end in &self.ends {
            let word = &line[std::mem::replace(&mut start, *end)..*end];
            // The character after a number says what was counted (3集, 18岁) and begins no word.
            let is_measure = std::mem::take(&mut after_number) && word.chars().nth(1).is_none();
            if is_measure || !word.chars().all(is_han) {
                after_number = word.ends_with(char::is_numeric);
                self.grams.take(&self.run, weight);
                self.run.clear();
            } else if self.base.contains(word) {
                self.run.push(self.grams.number(word));
            } else {
                // What the segmenter guessed is taken apart: guesses of the same word differ by their context.
                let parts = hybrid::pieces(self.base, word);
                if parts.is_empty() {
                    self.grams.take(&self.run, weight);
                    self.run.clear();
                }
                let mut part_start = 0;
                for part_end in parts {
                    let part = &word[std::mem::replace(&mut part_start, part_end)..part_end];
                    self.run.push(self.grams.number(part));
                }
            }
        }
        self.grams.take(&self.run, weight);
        self.run.clear();
    }

    /// The candidates; `is_known` tells words that need not be proposed beside those of the base dictionary.
    pub fn finish(self, is_known: &dyn Fn(&str) -> bool) -> Found {
        let base = self.base;
        let candidates =
            sift::candidates(&self.grams, &self.rules, base, &|word| base.contains(word) || is_known(word));
        Found {
            candidates,
            pages: self.grams.pages(),
            words: self.grams.words(),
            forgotten: self.grams.forgotten(),
        }
    }
}

#[cfg(test)]
mod tests;
