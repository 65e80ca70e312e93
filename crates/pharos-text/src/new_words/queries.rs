//! New words from query logs.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::prune::prune_rare;
use super::{FUNCTION_WORDS, PrunedCounts};
use crate::dictionary::Dictionary;
use crate::is_han;
use crate::segment::hybrid::{self, MAX_WORDS, MIN_WORDS};
use crate::vocabulary::{MAX_NAME_BYTES, WordKind};

/// Criteria for words from queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRules {
    /// A string that contains one of these is not a word, and is a name only if it is persistent.
    pub function_words: Vec<String>,
    /// Maximum length in characters. Longer strings are sentences.
    pub max_chars: usize,
    /// Minimum frequency. Rarer strings are accidental or misspelled (搜虎 for 搜狐).
    pub min_frequency: u32,
    /// Number of distinct days after which a string counts as persistent, and as a name whatever its parts
    /// are.
    pub lasting_days: u32,
    /// Maximum number of distinct strings. Beyond it, rare ones are pruned.
    pub max_strings: usize,
}

impl Default for QueryRules {
    fn default() -> Self {
        let function_words = FUNCTION_WORDS.split_whitespace().map(str::to_string).collect();
        Self { function_words, max_chars: 12, min_frequency: 10, lasting_days: 7, max_strings: 1_000_000 }
    }
}

/// A word that users search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWord {
    /// Normalised form.
    pub word: String,
    /// Suggested kind.
    pub kind: WordKind,
    /// Number of queries.
    pub frequency: u32,
    /// Number of distinct days, counted up to [`QueryRules::lasting_days`].
    pub days: u32,
    /// `true` if the word was queried on [`QueryRules::lasting_days`] days.
    pub lasting: bool,
}

/// New words of a query log, and the number of distinct strings dropped at each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryWordReport {
    /// Sorted by descending frequency.
    pub words: Vec<QueryWord>,
    /// Occurrences of strings that were too long. Counted each time, because such strings are not stored.
    pub too_long: u64,
    /// Number of strings that were too rare.
    pub rare: usize,
    /// Number of known words.
    pub known: usize,
    /// Number of strings that are neither a new word nor a name.
    pub refused: usize,
    /// Set if strings were pruned for lack of memory.
    pub pruned: Option<PrunedCounts>,
}

struct StringCount {
    frequency: u32,
    days: Vec<u32>,
}

/// Finds new words in a query log. Each item is a query, its day (any numbering) and its count on that day.
///
/// Follows 《搜索引擎——原理、技术与系统》§10.2 in order: operators and English are removed (also from mixed queries), then
/// strings that are too long, rare, or known. A string composed of known words is rejected for the base
/// dictionary and proposed as a name, and so is a string that was queried day after day (§8.3).
pub fn from_queries<Q: AsRef<str>>(
    queries: impl IntoIterator<Item = (Q, u32, u32)>,
    base: &Dictionary,
    is_known: &dyn Fn(&str) -> bool,
    normalise: &dyn Fn(&str) -> String,
    rules: &QueryRules,
) -> QueryWordReport {
    let mut report = QueryWordReport::default();
    let mut counts: HashMap<Box<str>, StringCount, RandomState> = HashMap::default();
    let capacity = rules.max_strings.max(2);
    for (query, day, count) in queries {
        let query = normalise(query.as_ref());
        // Operators, English, digits and punctuation separate the runs of Han characters.
        for part in query.split(|c| !is_han(c)).filter(|part| !part.is_empty()) {
            if part.chars().nth(rules.max_chars).is_some() || part.len() > MAX_NAME_BYTES {
                report.too_long += 1;
                continue;
            }
            if !counts.contains_key(part) {
                counts.insert(part.into(), StringCount { frequency: 0, days: Vec::new() });
            }
            if let Some(counts) = counts.get_mut(part) {
                counts.frequency = counts.frequency.saturating_add(count);
                if counts.days.len() < rules.lasting_days as usize && !counts.days.contains(&day) {
                    counts.days.push(day);
                }
            }
        }
        if counts.len() > capacity {
            let frequency = prune_rare(&mut counts, capacity, |counts| counts.frequency);
            PrunedCounts::add(&mut report.pruned, frequency);
        }
    }
    for (word, counts) in counts {
        if counts.frequency < rules.min_frequency {
            report.rare += 1;
        } else if base.contains(&word) || is_known(&word) {
            report.known += 1;
        } else {
            let lasting = counts.days.len() >= rules.lasting_days as usize;
            match word_kind(&word, lasting, base, rules) {
                None => report.refused += 1,
                Some(kind) => report.words.push(QueryWord {
                    word: word.into(),
                    kind,
                    frequency: counts.frequency,
                    days: counts.days.len() as u32,
                    lasting,
                }),
            }
        }
    }
    report.words.sort_unstable_by(|a, b| b.frequency.cmp(&a.frequency).then_with(|| a.word.cmp(&b.word)));
    report
}

/// Returns the kind of a string, or `None` if it is neither a word nor a name.
fn word_kind(word: &str, lasting: bool, base: &Dictionary, rules: &QueryRules) -> Option<WordKind> {
    let ends = hybrid::base_word_ends(base, word);
    let mut start = 0;
    let holds_function_word = ends.iter().any(|end| {
        let piece = &word[std::mem::replace(&mut start, *end)..*end];
        rules.function_words.iter().any(|function_word| function_word == piece)
    });
    let is_name = (MIN_WORDS..=MAX_WORDS).contains(&ends.len());
    match WordKind::suggest(word, base) {
        WordKind::Base if !holds_function_word && word.chars().nth(1).is_some() => Some(WordKind::Base),
        WordKind::Extension if is_name && (lasting || !holds_function_word) => Some(WordKind::Extension),
        WordKind::Base if is_name && lasting => Some(WordKind::Extension),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::DictionaryEntry;

    fn base() -> Dictionary {
        let words = ["计算机", "网络", "爱心", "社", "搜狐", "前半生", "我", "的", "搜", "虎", "北京"];
        Dictionary::new(&words.map(|word| DictionaryEntry { word, frequency: 5, tag: "" }))
    }

    fn find(queries: &[(&str, u32, u32)]) -> QueryWordReport {
        from_queries(queries.iter().copied(), &base(), &|_| false, &str::to_lowercase, &QueryRules::default())
    }

    fn kinds(report: &QueryWordReport) -> Vec<(&str, WordKind)> {
        report.words.iter().map(|found| (found.word.as_str(), found.kind)).collect()
    }

    #[test]
    fn slips_are_rare_and_composed_words_are_names() {
        let found = find(&[("搜虎", 1, 3), ("搜狐", 1, 90), ("计算机网络", 1, 50), ("爱心社", 1, 40)]);
        assert_eq!(kinds(&found), [("计算机网络", WordKind::Extension), ("爱心社", WordKind::Base)]);
        assert_eq!((found.rare, found.known, found.refused), (1, 1, 0));
    }

    #[test]
    fn operators_and_english_separate() {
        let found = find(&[
            ("爱心社 AND (site:pku.edu.cn OR 搜狐)", 1, 6),
            ("+爱心社 -\"download计算机网络free\"", 2, 6),
            (&"长".repeat(13), 1, 99),
        ]);
        assert_eq!(kinds(&found), [("爱心社", WordKind::Base)]);
        assert_eq!((found.words[0].frequency, found.words[0].days, found.too_long), (12, 2, 1));
    }

    #[test]
    fn strings_queried_day_after_day_are_names() {
        let days: Vec<_> = (0..7).map(|day| ("我的前半生", day, 2)).collect();
        let found = find(&days);
        assert_eq!(kinds(&found), [("我的前半生", WordKind::Extension)]);
        assert!(found.words[0].lasting);
        assert_eq!(find(&[("我的前半生", 3, 1000)]).refused, 1);
    }

    proptest! {
        #[test]
        fn any_queries_can_be_read(queries in prop::collection::vec(("(?s).{0,20}|[爱心社我的a +]{0,9}", any::<u32>(), any::<u32>()), 0..40)) {
            let rules = QueryRules { min_frequency: 1, lasting_days: 1, max_strings: 10, ..QueryRules::default() };
            let found = from_queries(queries, &base(), &|_| false, &str::to_lowercase, &rules);
            prop_assert!(found.words.iter().all(|found| found.word.chars().all(is_han) && found.frequency > 0));
        }
    }

    #[test]
    fn memory_is_bounded() {
        let queries = (0..5000u32).map(|n| {
            let strange = char::from_u32(0x4E00 + n).map(String::from).unwrap_or_default();
            (if n % 2 == 0 { strange } else { "爱心社".into() }, 1, 1)
        });
        let rules = QueryRules { max_strings: 100, ..QueryRules::default() };
        let found = from_queries(queries, &base(), &|_| false, &str::to_string, &rules);
        assert_eq!(kinds(&found), [("爱心社", WordKind::Base)]);
        assert!(found.pruned.is_some());
    }
}
