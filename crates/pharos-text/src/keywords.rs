//! Keyword extraction (关键词): the words and short phrases that describe a text.
//!
//! Two weighting methods: frequency and early position in the text combined with rarity elsewhere
//! ([`KeywordMethod::TfIdf`]), or connectedness to the other words of the same text
//! ([`KeywordMethod::TextRank`], which needs no corpus). Heavy words that are often adjacent are joined into
//! phrases, as in TextRank. The caller segments the text. Memory is bounded by [`MAX_WORDS`]. The result is
//! deterministic.
//!
//! ```
//! use pharos_text::keywords::{KeywordOptions, keywords};
//!
//! let words = ["搜索", "引擎", "的", "索引", "，", "搜索", "引擎", "的", "排序"];
//! let found = keywords(&words, |_| 1.0, |word| word.chars().count() > 1, &KeywordOptions::default());
//! assert_eq!(found[0].text, "搜索引擎");
//! ```

mod phrases;
mod text_rank;

use std::collections::{HashMap, HashSet};

use crate::analyser::stop_words::is_stop_word;
use crate::dictionary::Dictionary;
use crate::{Analyser, is_han};

/// Maximum number of words that are examined. The subject of a text appears at its beginning.
pub const MAX_WORDS: usize = 50_000;

/// Weighting method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeywordMethod {
    /// tf·idf (Salton & Buckley 1988) with the position of the first occurrence (KEA, Witten et al. 1999) and
    /// the length of the word: tf · idf · (2 − first / n) · log2(1 + length). tf is the share of the n words
    /// of the text; length is counted in letters, a Han character as two.
    TfIdf,
    /// TextRank (Mihalcea & Tarau 2004) over the graph of candidates that co-occur within `window` words.
    TextRank {
        /// N of the paper, 2 to 10.
        window: usize,
    },
}

/// Options of [`keywords`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeywordOptions {
    pub method: KeywordMethod,
    /// Maximum number of keywords.
    pub count: usize,
    /// Joins adjacent words into phrases.
    pub phrases: bool,
}

impl Default for KeywordOptions {
    fn default() -> Self {
        KeywordOptions { method: KeywordMethod::TfIdf, count: 10, phrases: true }
    }
}

/// A word or phrase with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    /// The words of a phrase are joined as written, with spaces between words of an alphabet.
    pub text: String,
    /// Above 0; the heaviest keyword of a text has 1.
    pub weight: f32,
}

/// A word that may become a keyword.
struct KeywordCandidate<'t> {
    text: &'t str,
    /// Index of the first occurrence.
    first: usize,
    count: usize,
    weight: f32,
}

/// A weighted word or phrase before the final selection.
struct WeightedPhrase<'t> {
    words: Vec<&'t str>,
    first: usize,
    weight: f32,
}

/// Marks a position without a candidate.
const NONE: u32 = u32::MAX;

/// Returns the keywords of a text. The shared analyser segments the text, and the frequencies of the base
/// dictionary replace corpus statistics.
pub fn extract_keywords(text: &str, options: &KeywordOptions) -> Vec<Keyword> {
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

/// Returns the heaviest of `words`, heaviest first; among equals, earlier ones first.
///
/// `words` is the text in order, including the punctuation that separates words. `idf` returns the inverse
/// document frequency of a word and is called by [`KeywordMethod::TfIdf`] only. `is_candidate` excludes stop
/// words, punctuation and other words that are never keywords. Both are called once per distinct word.
pub fn keywords(
    words: &[&str],
    idf: impl Fn(&str) -> f32,
    is_candidate: impl Fn(&str) -> bool,
    options: &KeywordOptions,
) -> Vec<Keyword> {
    let words = &words[..words.len().min(MAX_WORDS)];
    let (mut candidates, positions) = collect_candidates(words, is_candidate);
    match options.method {
        KeywordMethod::TfIdf => weigh_by_tf_idf(&mut candidates, words.len(), idf),
        KeywordMethod::TextRank { window } => {
            let weights = text_rank::rank(&positions, candidates.len(), window);
            candidates.iter_mut().zip(weights).for_each(|(candidate, weight)| candidate.weight = weight);
        }
    }
    candidates.iter_mut().filter(|c| c.weight.is_nan()).for_each(|c| c.weight = 0.0);
    let mut alone: Vec<usize> = candidates.iter().map(|c| c.count).collect();
    let mut found = Vec::new();
    if options.phrases {
        let positions = keep_heavy(&candidates, positions, options.count);
        found = phrases::find_phrases(&candidates, positions, &mut alone);
    }
    // A word that occurs in phrases at least half of the time is represented by them.
    let singles = candidates.iter().zip(alone).filter(|(c, alone)| 2 * alone > c.count).map(|(c, _)| c);
    found.extend(singles.map(|c| WeightedPhrase { words: vec![c.text], first: c.first, weight: c.weight }));
    found.retain(|f| f.weight > 0.0);
    found.sort_by(|a, b| {
        b.weight.total_cmp(&a.weight).then(a.first.cmp(&b.first)).then(b.words.len().cmp(&a.words.len()))
    });
    let heaviest = found.first().map_or(1.0, |f| f.weight);
    let mut seen: HashSet<String> = HashSet::new();
    let mut keywords = Vec::new();
    for f in &found {
        if keywords.len() >= options.count {
            break;
        }
        let text = join_words(&f.words);
        // A word in one position may be segmented as a phrase in another.
        if seen.insert(text.clone()) {
            keywords.push(Keyword { text, weight: f.weight / heaviest });
        }
    }
    keywords
}

/// Returns the candidates in order of occurrence, and the candidate at each position.
fn collect_candidates<'t>(
    words: &[&'t str],
    is_candidate: impl Fn(&str) -> bool,
) -> (Vec<KeywordCandidate<'t>>, Vec<u32>) {
    let mut candidates: Vec<KeywordCandidate<'t>> = Vec::new();
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut positions = Vec::with_capacity(words.len());
    for (place, &word) in words.iter().enumerate() {
        let number = *numbers.entry(word).or_insert_with(|| {
            if word.is_empty() || !is_candidate(word) {
                return NONE;
            }
            candidates.push(KeywordCandidate { text: word, first: place, count: 0, weight: 0.0 });
            // Fewer than MAX_WORDS.
            candidates.len() as u32 - 1
        });
        positions.push(number);
        if let Some(candidate) = candidates.get_mut(number as usize) {
            candidate.count += 1;
        }
    }
    (candidates, positions)
}

fn weigh_by_tf_idf(candidates: &mut [KeywordCandidate<'_>], words: usize, idf: impl Fn(&str) -> f32) {
    /// Upper bound that keeps products finite.
    const MAX_IDF: f32 = 1e6;
    for candidate in candidates {
        let tf = candidate.count as f32 / words as f32;
        let place = 2.0 - candidate.first as f32 / words as f32;
        let letters: usize = candidate.text.chars().map(|c| if is_han(c) { 2 } else { 1 }).sum();
        let length = (1.0 + letters as f32).log2();
        candidate.weight = tf * idf(candidate.text).clamp(0.0, MAX_IDF) * place * length;
    }
}

/// Returns the positions of the words that may be part of phrases: the heaviest third, as in the TextRank
/// paper, and in short texts at least three times the number of keywords.
fn keep_heavy(candidates: &[KeywordCandidate<'_>], mut positions: Vec<u32>, wanted: usize) -> Vec<u32> {
    let kept = (candidates.len() / 3).max(wanted.saturating_mul(3));
    let mut by_weight: Vec<usize> = (0..candidates.len()).collect();
    by_weight.sort_by(|&a, &b| candidates[b].weight.total_cmp(&candidates[a].weight));
    let mut is_heavy = vec![false; candidates.len()];
    by_weight.iter().take(kept).for_each(|&number| is_heavy[number] = true);
    for place in &mut positions {
        if !is_heavy.get(*place as usize).is_some_and(|heavy| *heavy) {
            *place = NONE;
        }
    }
    positions
}

/// Joins words as they are written.
fn join_words(words: &[&str]) -> String {
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

    const RANKED: KeywordOptions =
        KeywordOptions { method: KeywordMethod::TextRank { window: 3 }, count: 5, phrases: false };

    fn texts(found: &[Keyword]) -> Vec<&str> {
        found.iter().map(|keyword| keyword.text.as_str()).collect()
    }

    fn is_word(word: &str) -> bool {
        word.chars().count() > 1
    }

    #[test]
    fn frequent_rare_early_and_long_words_are_heavy() {
        let options = KeywordOptions { phrases: false, ..KeywordOptions::default() };
        let words = ["灯塔", "，", "海面", "，", "灯塔", "，", "我们", "，", "我们"];
        let idf = |word: &str| if word == "我们" { 0.5 } else { 5.0 };
        let found = keywords(&words, idf, is_word, &options);
        assert_eq!(texts(&found), ["灯塔", "海面", "我们"]);
        assert_eq!(found[0].weight, 1.0);
        // Equal except for one property each.
        assert_eq!(texts(&keywords(&["aaa", "bbb"], |_| 1.0, is_word, &options)), ["aaa", "bbb"]);
        assert_eq!(
            texts(&keywords(&["aa", ".", "bbbbbbbbb"], |_| 1.0, is_word, &options)),
            ["bbbbbbbbb", "aa"]
        );
        assert_eq!(texts(&keywords(&["aa", "bb"], |_| f32::NAN, is_word, &options)), [""; 0]);
    }

    #[test]
    fn well_connected_words_are_heavy() {
        // A star: every other word is adjacent to "hub" only.
        let words = ["one", "hub", ".", ".", "hub", "two", ".", ".", "three", "hub", ".", ".", "hub", "four"];
        let found = keywords(&words, |_| 0.0, is_word, &RANKED);
        assert_eq!(texts(&found), ["hub", "one", "two", "three", "four"]);
        // WS(hub) = 0.15 + 0.85·4·WS(leaf), WS(leaf) = 0.15 + 0.85·WS(hub)/4.
        let (hub, leaf) = (0.66 / 0.2775, 0.2775_f32.recip() * (0.15 * 0.2775 + 0.85 * 0.66 / 4.0));
        assert!((found[1].weight - leaf / hub).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn adjacent_words_are_joined() {
        let words: Vec<&str> =
            "machine learning . we like machine learning and machine tools . 机器 学习 ， 机器 学习 的 机器 学习 方法"
                .split(' ')
                .collect();
        let is_candidate = |word: &str| is_word(word) && !["we", "and", "like"].contains(&word);
        for method in [KeywordMethod::TfIdf, KeywordMethod::TextRank { window: 2 }] {
            let found = keywords(
                &words,
                |_| 1.0,
                is_candidate,
                &KeywordOptions { method, ..KeywordOptions::default() },
            );
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
            for method in [KeywordMethod::TfIdf, KeywordMethod::TextRank { window: usize::MAX }] {
                let found = keywords(
                    words,
                    |_| 1.0,
                    |_| true,
                    &KeywordOptions { method, ..KeywordOptions::default() },
                );
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
            let method = if ranked { KeywordMethod::TextRank { window } } else { KeywordMethod::TfIdf };
            let options = KeywordOptions { method, count, phrases };
            let found = keywords(&words, |_| idf, |word| word != "a", &options);
            prop_assert!(found.len() <= count);
            prop_assert!(found.iter().all(|k| k.weight > 0.0 && k.weight <= 1.0 && !k.text.is_empty()));
            prop_assert_eq!(texts(&found).iter().collect::<HashSet<_>>().len(), found.len());
            prop_assert!(found.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
            prop_assert_eq!(&found, &keywords(&words, |_| idf, |word| word != "a", &options));
        }
    }
}
