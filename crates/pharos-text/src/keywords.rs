//! Keywords (关键词): the words and short phrases that tell what a text is about.
//!
//! Two ways to weigh a word: how often and how early it stands here and how rare it is elsewhere
//! ([`Method::TfIdf`]), or how well it is connected to the other words of the same text
//! ([`Method::TextRank`], which needs no corpus). Heavy words that often stand side by side are joined into
//! phrases, as TextRank does. The words come as the caller's analyser cut them; memory is bounded by
//! [`MAX_WORDS`], and the same words give the same keywords in the same order.
//!
//! ```
//! use pharos_text::keywords::{Method, Options, keywords};
//!
//! let words = ["搜索", "引擎", "的", "索引", "，", "搜索", "引擎", "的", "排序"];
//! let found = keywords(&words, |_| 1.0, |word| word.chars().count() > 1, &Options::default());
//! assert_eq!(found[0].text, "搜索引擎");
//! ```

mod phrases;
mod text_rank;

use std::collections::{HashMap, HashSet};

use crate::dictionary::Dictionary;
use crate::stop_words::is_stop_word;
use crate::{Analyser, is_han};

/// Words of a text that are looked at: what a text is about stands at its beginning.
pub const MAX_WORDS: usize = 50_000;

/// How words are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// tf·idf (Salton & Buckley 1988) with the place of the first occurrence (KEA, Witten and others 1999)
    /// and the length of the word: tf · idf · (2 − first / n) · log2(1 + length), tf the share of the n words
    /// of the text, length in letters, a Han character counting as two.
    TfIdf,
    /// TextRank (Mihalcea & Tarau 2004) over the graph of candidates that stand at most `window` words apart.
    TextRank {
        /// N of the paper, 2 to 10.
        window: usize,
    },
}

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How words are weighed.
    pub method: Method,
    /// So many keywords at most.
    pub count: usize,
    /// Are words that stand side by side joined?
    pub phrases: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { method: Method::TfIdf, count: 10, phrases: true }
    }
}

/// A word or phrase and how heavy it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    /// The word; words of a phrase are joined as they are written, with spaces between those of an alphabet.
    pub text: String,
    /// Above 0; the heaviest of a text has 1.
    pub weight: f32,
}

/// A word that may become a keyword.
struct Candidate<'t> {
    text: &'t str,
    /// Where it stands first.
    first: usize,
    count: usize,
    weight: f32,
}

/// A keyword that may still be outweighed.
struct Found<'t> {
    words: Vec<&'t str>,
    first: usize,
    weight: f32,
}

/// In the list of places: no candidate stands here.
const NONE: u32 = u32::MAX;

/// The keywords of a text, cut by the analyser, with the base dictionary's frequencies for want of a corpus.
pub fn keywords_of(text: &str, options: &Options) -> Vec<Keyword> {
    let tokens = Analyser::shared().tokens(text);
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let base = Dictionary::base();
    let idf = |word: &str| {
        let frequency = base.code(word).map_or(1, |code| base.frequency(code)).max(1);
        (base.total() as f32 / frequency as f32).ln()
    };
    let is_candidate = |word: &str| {
        word.chars().nth(1).is_some() && !is_stop_word(word) && word.contains(char::is_alphabetic)
    };
    keywords(&words, idf, is_candidate, options)
}

/// The heaviest of `words`, heaviest first; among equals those that stand earlier.
///
/// `words` is the text in its order, with what keeps words apart (punctuation) between them. `idf` is the
/// inverse document frequency of a word, asked for by [`Method::TfIdf`] only; `is_candidate` leaves out stop
/// words, punctuation and whatever else is never a keyword. Both are asked once for each distinct word.
pub fn keywords(
    words: &[&str],
    idf: impl Fn(&str) -> f32,
    is_candidate: impl Fn(&str) -> bool,
    options: &Options,
) -> Vec<Keyword> {
    let words = &words[..words.len().min(MAX_WORDS)];
    let (mut candidates, places) = collect(words, is_candidate);
    match options.method {
        Method::TfIdf => weigh_by_tf_idf(&mut candidates, words.len(), idf),
        Method::TextRank { window } => {
            let weights = text_rank::rank(&places, candidates.len(), window);
            candidates.iter_mut().zip(weights).for_each(|(candidate, weight)| candidate.weight = weight);
        }
    }
    candidates.iter_mut().filter(|c| c.weight.is_nan()).for_each(|c| c.weight = 0.0);
    let mut alone: Vec<usize> = candidates.iter().map(|c| c.count).collect();
    let mut found = Vec::new();
    if options.phrases {
        let places = only_heavy(&candidates, places, options.count);
        found = phrases::join(&candidates, places, &mut alone);
    }
    // A word that stands in phrases as often as not is told by them.
    let singles = candidates.iter().zip(alone).filter(|(c, alone)| 2 * alone > c.count).map(|(c, _)| c);
    found.extend(singles.map(|c| Found { words: vec![c.text], first: c.first, weight: c.weight }));
    found.retain(|f| f.weight > 0.0);
    found.sort_by(|a, b| {
        b.weight.total_cmp(&a.weight).then(a.first.cmp(&b.first)).then(b.words.len().cmp(&a.words.len()))
    });
    let heaviest = found.first().map_or(1.0, |f| f.weight);
    let mut known: HashSet<String> = HashSet::new();
    let mut keywords = Vec::new();
    for f in &found {
        if keywords.len() >= options.count {
            break;
        }
        let text = written(&f.words);
        // A word in one place may be cut into a phrase in another.
        if known.insert(text.clone()) {
            keywords.push(Keyword { text, weight: f.weight / heaviest });
        }
    }
    keywords
}

/// The candidates in the order in which they come, and which of them stands at each place.
fn collect<'t>(words: &[&'t str], is_candidate: impl Fn(&str) -> bool) -> (Vec<Candidate<'t>>, Vec<u32>) {
    let mut candidates: Vec<Candidate<'t>> = Vec::new();
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut places = Vec::with_capacity(words.len());
    for (place, &word) in words.iter().enumerate() {
        let number = *numbers.entry(word).or_insert_with(|| {
            if word.is_empty() || !is_candidate(word) {
                return NONE;
            }
            candidates.push(Candidate { text: word, first: place, count: 0, weight: 0.0 });
            // Fewer than MAX_WORDS.
            candidates.len() as u32 - 1
        });
        places.push(number);
        if let Some(candidate) = candidates.get_mut(number as usize) {
            candidate.count += 1;
        }
    }
    (candidates, places)
}

fn weigh_by_tf_idf(candidates: &mut [Candidate<'_>], words: usize, idf: impl Fn(&str) -> f32) {
    /// No collection makes a word rarer; keeps products finite.
    const MAX_IDF: f32 = 1e6;
    for candidate in candidates {
        let tf = candidate.count as f32 / words as f32;
        let place = 2.0 - candidate.first as f32 / words as f32;
        let letters: usize = candidate.text.chars().map(|c| if is_han(c) { 2 } else { 1 }).sum();
        let length = (1.0 + letters as f32).log2();
        candidate.weight = tf * idf(candidate.text).clamp(0.0, MAX_IDF) * place * length;
    }
}

/// The places of the words that may be part of phrases: the heaviest third, as in the paper on TextRank, and
/// in short texts three times as many as keywords are wanted.
fn only_heavy(candidates: &[Candidate<'_>], mut places: Vec<u32>, wanted: usize) -> Vec<u32> {
    let kept = (candidates.len() / 3).max(wanted.saturating_mul(3));
    let mut by_weight: Vec<usize> = (0..candidates.len()).collect();
    by_weight.sort_by(|&a, &b| candidates[b].weight.total_cmp(&candidates[a].weight));
    let mut is_heavy = vec![false; candidates.len()];
    by_weight.iter().take(kept).for_each(|&number| is_heavy[number] = true);
    for place in &mut places {
        if !is_heavy.get(*place as usize).is_some_and(|heavy| *heavy) {
            *place = NONE;
        }
    }
    places
}

/// Words as they are written side by side.
fn written(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        let is_joined = text.ends_with(is_han) || word.starts_with(is_han);
        if !text.is_empty() && !is_joined {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RANKED: Options = Options { method: Method::TextRank { window: 3 }, count: 5, phrases: false };

    fn texts(found: &[Keyword]) -> Vec<&str> {
        found.iter().map(|keyword| keyword.text.as_str()).collect()
    }

    fn is_word(word: &str) -> bool {
        word.chars().count() > 1
    }

    #[test]
    fn frequent_rare_early_and_long_words_are_heavy() {
        let options = Options { phrases: false, ..Options::default() };
        let words = ["灯塔", "，", "海面", "，", "灯塔", "，", "我们", "，", "我们"];
        let idf = |word: &str| if word == "我们" { 0.5 } else { 5.0 };
        let found = keywords(&words, idf, is_word, &options);
        assert_eq!(texts(&found), ["灯塔", "海面", "我们"]);
        assert_eq!(found[0].weight, 1.0);
        // Equal but for one thing each.
        assert_eq!(texts(&keywords(&["aaa", "bbb"], |_| 1.0, is_word, &options)), ["aaa", "bbb"]);
        assert_eq!(
            texts(&keywords(&["aa", ".", "bbbbbbbbb"], |_| 1.0, is_word, &options)),
            ["bbbbbbbbb", "aa"]
        );
        assert_eq!(texts(&keywords(&["aa", "bb"], |_| f32::NAN, is_word, &options)), [""; 0]);
    }

    #[test]
    fn well_connected_words_are_heavy() {
        // A star: each other word stands beside "hub" only.
        let words = ["one", "hub", ".", ".", "hub", "two", ".", ".", "three", "hub", ".", ".", "hub", "four"];
        let found = keywords(&words, |_| 0.0, is_word, &RANKED);
        assert_eq!(texts(&found), ["hub", "one", "two", "three", "four"]);
        // WS(hub) = 0.15 + 0.85·4·WS(leaf), WS(leaf) = 0.15 + 0.85·WS(hub)/4.
        let (hub, leaf) = (0.66 / 0.2775, 0.2775_f32.recip() * (0.15 * 0.2775 + 0.85 * 0.66 / 4.0));
        assert!((found[1].weight - leaf / hub).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn words_that_stand_together_are_joined() {
        let words: Vec<&str> =
            "machine learning . we like machine learning and machine tools . 机器 学习 ， 机器 学习 的 机器 学习 方法"
                .split(' ')
                .collect();
        let is_candidate = |word: &str| is_word(word) && !["we", "and", "like"].contains(&word);
        for method in [Method::TfIdf, Method::TextRank { window: 2 }] {
            let found = keywords(&words, |_| 1.0, is_candidate, &Options { method, ..Options::default() });
            let found = texts(&found);
            assert!(found.contains(&"机器学习") && found.contains(&"machine learning"), "{found:?}");
            assert!(!found.contains(&"machine") && !found.contains(&"学习"), "{found:?}");
            assert!(found.contains(&"方法") && found.contains(&"tools"), "{found:?}");
        }
    }

    #[test]
    fn memory_is_bounded_for_any_text() {
        let many: Vec<String> = (0..200_000).map(|n| format!("word{}", n % 70_000)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let same = vec!["same"; 1 << 20];
        for words in [&many, &same] {
            for method in [Method::TfIdf, Method::TextRank { window: usize::MAX }] {
                let found = keywords(words, |_| 1.0, |_| true, &Options { method, ..Options::default() });
                assert!(!found.is_empty() && found.len() <= 10);
            }
        }
    }

    proptest! {
        #[test]
        fn any_words_give_ordered_keywords(
            words in proptest::collection::vec("[ab北京]{0,2}|\\PC{0,3}", 0..60),
            idf in any::<f32>(), count in 0usize..8, window in 0usize..12, ranked: bool, phrases: bool
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let method = if ranked { Method::TextRank { window } } else { Method::TfIdf };
            let options = Options { method, count, phrases };
            let found = keywords(&words, |_| idf, |word| word != "a", &options);
            prop_assert!(found.len() <= count);
            prop_assert!(found.iter().all(|k| k.weight > 0.0 && k.weight <= 1.0 && !k.text.is_empty()));
            prop_assert_eq!(texts(&found).iter().collect::<HashSet<_>>().len(), found.len());
            prop_assert!(found.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
            prop_assert_eq!(&found, &keywords(&words, |_| idf, |word| word != "a", &options));
        }
    }
}
