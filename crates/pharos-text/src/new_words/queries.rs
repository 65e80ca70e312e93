//! New words from query logs.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::prune::forget_rare;
use super::{FUNCTION_WORDS, Forgotten};
use crate::dictionary::Dictionary;
use crate::is_han;
use crate::segment::hybrid::{self, MAX_WORDS, MIN_WORDS};
use crate::vocabulary::{Kind, MAX_NAME_BYTES};

/// What makes a word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRules {
    /// What holds one of these is no word, and a name only if it lasts.
    pub function_words: Vec<String>,
    /// Longer strings are sentences.
    pub max_chars: usize,
    /// What was asked for less often is an accident, or a slip of the pen (搜虎 for 搜狐).
    pub min_frequency: u32,
    /// What was asked for on so many different days is lastingly frequent, and a name whatever it is made of.
    pub lasting_days: u32,
    /// How many different strings are kept; beyond that the rare ones are forgotten.
    pub max_strings: usize,
}

impl Default for QueryRules {
    fn default() -> Self {
        let function_words = FUNCTION_WORDS.split_whitespace().map(str::to_string).collect();
        Self { function_words, max_chars: 12, min_frequency: 10, lasting_days: 7, max_strings: 1_000_000 }
    }
}

/// A word that people ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWord {
    /// In normalised form.
    pub word: String,
    /// What it would be good for.
    pub kind: Kind,
    /// How often it was asked for.
    pub frequency: u32,
    /// On how many different days, counted up to [`QueryRules::lasting_days`].
    pub days: u32,
    /// Was it on as many?
    pub lasting: bool,
}

/// What came out of a query log, and how many different strings went at each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryFindings {
    /// The most frequent first.
    pub words: Vec<QueryWord>,
    /// Strings that were too long; counted each time, for they are not remembered.
    pub too_long: u64,
    /// Strings that were asked for too seldom.
    pub rare: usize,
    /// Words that are known.
    pub known: usize,
    /// Strings that are neither a new word nor a name.
    pub refused: usize,
    /// If memory ran short.
    pub forgotten: Option<Forgotten>,
}

struct Asked {
    frequency: u32,
    days: Vec<u32>,
}

/// New words of a query log: of each query, its day (any numbering) and how often it was asked that day.
///
/// 《搜索引擎—原理、技术与系统》 §10.2, in its order: operators and English go (also out of mixed queries), then what is
/// too long, rare, or known. What is composed of known words is refused for the base dictionary and proposed as a
/// name, and so is what was asked for day after day (§8.3).
pub fn from_queries<Q: AsRef<str>>(
    queries: impl IntoIterator<Item = (Q, u32, u32)>,
    base: &Dictionary,
    is_known: &dyn Fn(&str) -> bool,
    normalise: &dyn Fn(&str) -> String,
    rules: &QueryRules,
) -> QueryFindings {
    let mut findings = QueryFindings::default();
    let mut asked: HashMap<Box<str>, Asked, RandomState> = HashMap::default();
    let room = rules.max_strings.max(2);
    for (query, day, count) in queries {
        let query = normalise(query.as_ref());
        // Operators, English, digits and signs are all that stands between Han characters.
        for part in query.split(|c| !is_han(c)).filter(|part| !part.is_empty()) {
            if part.chars().nth(rules.max_chars).is_some() || part.len() > MAX_NAME_BYTES {
                findings.too_long += 1;
                continue;
            }
            if !asked.contains_key(part) {
                asked.insert(part.into(), Asked { frequency: 0, days: Vec::new() });
            }
            if let Some(asked) = asked.get_mut(part) {
                asked.frequency = asked.frequency.saturating_add(count);
                if asked.days.len() < rules.lasting_days as usize && !asked.days.contains(&day) {
                    asked.days.push(day);
                }
            }
        }
        if asked.len() > room {
            let frequency = forget_rare(&mut asked, room, |asked| asked.frequency);
            Forgotten::add(&mut findings.forgotten, frequency);
        }
    }
    for (word, asked) in asked {
        if asked.frequency < rules.min_frequency {
            findings.rare += 1;
        } else if base.contains(&word) || is_known(&word) {
            findings.known += 1;
        } else {
            let lasting = asked.days.len() >= rules.lasting_days as usize;
            match kind(&word, lasting, base, rules) {
                None => findings.refused += 1,
                Some(kind) => findings.words.push(QueryWord {
                    word: word.into(),
                    kind,
                    frequency: asked.frequency,
                    days: asked.days.len() as u32,
                    lasting,
                }),
            }
        }
    }
    findings.words.sort_unstable_by(|a, b| b.frequency.cmp(&a.frequency).then_with(|| a.word.cmp(&b.word)));
    findings
}

/// What a string that is asked for is good for, if for anything.
fn kind(word: &str, lasting: bool, base: &Dictionary, rules: &QueryRules) -> Option<Kind> {
    let ends = hybrid::pieces(base, word);
    let mut start = 0;
    let holds_function_word = ends.iter().any(|end| {
        let piece = &word[std::mem::replace(&mut start, *end)..*end];
        rules.function_words.iter().any(|function_word| function_word == piece)
    });
    let is_name = (MIN_WORDS..=MAX_WORDS).contains(&ends.len());
    match Kind::fitting(word, base) {
        Kind::Base if !holds_function_word && word.chars().nth(1).is_some() => Some(Kind::Base),
        Kind::Extension if is_name && (lasting || !holds_function_word) => Some(Kind::Extension),
        Kind::Base if is_name && lasting => Some(Kind::Extension),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::Entry;

    fn base() -> Dictionary {
        let words = ["计算机", "网络", "爱心", "社", "搜狐", "前半生", "我", "的", "搜", "虎", "北京"];
        Dictionary::new(&words.map(|word| Entry { word, frequency: 5, tag: "" }))
    }

    fn find(queries: &[(&str, u32, u32)]) -> QueryFindings {
        from_queries(queries.iter().copied(), &base(), &|_| false, &str::to_lowercase, &QueryRules::default())
    }

    fn kinds(findings: &QueryFindings) -> Vec<(&str, Kind)> {
        findings.words.iter().map(|found| (found.word.as_str(), found.kind)).collect()
    }

    #[test]
    fn slips_are_rare_and_composed_words_are_names() {
        let found = find(&[("搜虎", 1, 3), ("搜狐", 1, 90), ("计算机网络", 1, 50), ("爱心社", 1, 40)]);
        assert_eq!(kinds(&found), [("计算机网络", Kind::Extension), ("爱心社", Kind::Base)]);
        assert_eq!((found.rare, found.known, found.refused), (1, 1, 0));
    }

    #[test]
    fn operators_and_english_separate() {
        let found = find(&[
            ("爱心社 AND (site:pku.edu.cn OR 搜狐)", 1, 6),
            ("+爱心社 -\"download计算机网络free\"", 2, 6),
            (&"长".repeat(13), 1, 99),
        ]);
        assert_eq!(kinds(&found), [("爱心社", Kind::Base)]);
        assert_eq!((found.words[0].frequency, found.words[0].days, found.too_long), (12, 2, 1));
    }

    #[test]
    fn what_is_asked_for_day_after_day_is_a_name() {
        let days: Vec<_> = (0..7).map(|day| ("我的前半生", day, 2)).collect();
        let found = find(&days);
        assert_eq!(kinds(&found), [("我的前半生", Kind::Extension)]);
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
        assert_eq!(kinds(&found), [("爱心社", Kind::Base)]);
        assert!(found.forgotten.is_some());
    }
}
