//! New words from the queries of this installation, added to its vocabulary at every build (《搜索引擎——原理、技术与系统》§10.2).
//!
//! ```text
//! queries of days, at least k visits ─▶ new_words::from_queries ─▶ models/words.tsv, source `learnt`
//! ```
//!
//! A word is added when enough visits have asked for it, and removed when fewer than k visits of the logs that are kept ask
//! for it, so that removing records removes what was learnt from them. Operators can revoke a word; it is not learnt again.
//! Words that operators have added are never changed.

use std::collections::HashMap;
use std::io;

use pharos_core::Config;
use pharos_store::DataDir;
use pharos_text::dictionary::Dictionary;
use pharos_text::new_words::{QueryRules, QueryWord, from_queries};
use pharos_text::vocabulary::VocabularyEditor;
use pharos_text::{is_han, normalise};
use serde::Serialize;

use crate::clicks::days::StoredDays;
use crate::refusals::{Refusal, Refusals};

/// Source of learnt words in the vocabulary.
pub const LEARNT: &str = "learnt";

/// Words added to the vocabulary and removed from it by one build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LearntWords {
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

/// Criteria for learnt words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearningRules {
    /// Least number of visits of a query that is used (k).
    pub k: u32,
    /// Least number of visits that asked for a word; 0 learns none.
    pub visits: u32,
}

impl LearningRules {
    /// Returns the rules of the settings.
    pub fn from_config(config: &Config) -> Self {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self { k: number(config.log.k).max(1), visits: number(config.clicks.learn_words) }
    }
}

/// Brings the learnt words of the vocabulary up to date with the queries of days. Called by builds, before they segment
/// pages.
///
/// # Errors
/// Fails if the queries of days, the vocabulary or the rejections cannot be read, or the vocabulary cannot be written.
pub fn update_vocabulary(data: &DataDir, rules: &LearningRules) -> io::Result<LearntWords> {
    let found = if rules.visits == 0 { Vec::new() } else { words_of_queries(data, rules)? };
    let mut change = LearntWords::default();
    if found.is_empty() && !data.words().exists() {
        return Ok(change);
    }
    let refused = Refusals::load(&data.models())?;
    let mut vocabulary = VocabularyEditor::open(data.words(), Dictionary::base(), normalise)?;
    let supported: HashMap<&str, &QueryWord> = found.iter().map(|word| (word.word.as_str(), word)).collect();
    let learnt = vocabulary.words().iter().filter(|(_, known)| &*known.source == LEARNT);
    let obsolete = learnt.filter(|(word, _)| !supported.contains_key(word)).map(|(word, _)| word.to_string());
    for word in obsolete.collect::<Vec<_>>() {
        if vocabulary.remove(&word) {
            change.removed.push(word);
        }
    }
    let frequent = found.iter().filter(|word| word.frequency >= rules.visits.max(rules.k));
    for word in frequent.filter(|word| !refused.contains(&Refusal::Word(word.word.clone()))) {
        // Known words are refused and keep their frequency, so that the index stays valid.
        if vocabulary.add(&word.word, Some(word.kind), Some(word.frequency), LEARNT).is_ok() {
            change.added.push(word.word.clone());
        }
    }
    if change != LearntWords::default() {
        vocabulary.save()?;
    }
    Ok(change)
}

/// Finds strings of queries that the base dictionary lacks and that at least k visits asked for.
fn words_of_queries(data: &DataDir, rules: &LearningRules) -> io::Result<Vec<QueryWord>> {
    let days = StoredDays::list(data)?;
    let visits = days.visits();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut queries = Vec::new();
    days.for_each(&mut |day, query| {
        let is_frequent = visits.get(query.query.as_str()).is_some_and(|visits| *visits >= rules.k);
        if is_frequent && query.query.chars().any(is_han) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let day = *numbers.entry(day.to_string()).or_insert(next);
            queries.push((query.query, day, query.visits));
        }
    });
    let query_rules = QueryRules { min_frequency: rules.k, ..QueryRules::default() };
    Ok(from_queries(queries, Dictionary::base(), &|_| false, &normalise, &query_rules).words)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pharos_core::config::LogConfig;
    use pharos_text::vocabulary::WordKind;

    use super::*;
    use crate::LogAppender;
    use crate::anonymise::purge::purge_visit;
    use crate::clicks::days;
    use crate::testing::{at, query_at};

    const RULES: LearningRules = LearningRules { k: 3, visits: 5 };

    fn ask(data: &DataDir, query: &str, visits: std::ops::Range<usize>) {
        let mut log = LogAppender::open(data, &LogConfig::default());
        for visit in visits {
            log.append(query_at(query, &format!("v{visit}"), at("2026-01-31T12:00:00Z"))).unwrap();
        }
        log.finish().unwrap();
    }

    fn build(data: &DataDir, rules: LearningRules) -> (Vec<String>, Vec<String>) {
        days::update(data, at("2026-02-01T12:00:00Z")).unwrap();
        let LearntWords { added, removed } = update_vocabulary(data, &rules).unwrap();
        (added, removed)
    }

    fn editor(data: &DataDir) -> VocabularyEditor {
        VocabularyEditor::open(data.words(), Dictionary::base(), normalise).unwrap()
    }

    #[test]
    fn words_of_enough_visits_are_learnt_and_kept_while_k_visits_remain() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        assert_eq!(build(&data, RULES), (vec![], vec![]));
        assert!(!data.words().exists());
        ask(&data, "爱心社", 0..4);
        ask(&data, "爱心社 招新", 0..2);
        assert_eq!(build(&data, RULES).0.len(), 0, "the second query has too few visits to be used at all");
        ask(&data, "爱心社", 4..5);
        assert_eq!(build(&data, RULES), (vec!["爱心社".to_string()], vec![]));
        assert_eq!(build(&data, RULES), (vec![], vec![]), "nothing changes");
        let vocabulary = editor(&data);
        let word = vocabulary.words().get("爱心社").unwrap();
        assert_eq!((word.kind, word.frequency, &*word.source), (WordKind::Base, 5, LEARNT));
        drop(vocabulary);
        for visit in ["v0", "v1"] {
            purge_visit(&data.logs(), visit).unwrap();
        }
        assert_eq!(build(&data, RULES), (vec![], vec![]));
        purge_visit(&data.logs(), "v2").unwrap();
        assert_eq!(build(&data, RULES), (vec![], vec!["爱心社".to_string()]));
    }

    #[test]
    fn revoked_words_are_not_learnt_again_and_words_of_operators_stay() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut by_hand = editor(&data);
        by_hand.add("微澜阁", None, None, "desk").unwrap();
        by_hand.save().unwrap();
        for word in ["爱心社", "搜虎", "微澜阁"] {
            ask(&data, word, 0..6);
        }
        Refusals::add(&data.models(), [Refusal::Word("搜虎".into())]).unwrap();
        assert_eq!(build(&data, RULES), (vec!["爱心社".to_string()], vec![]));
        let off = LearningRules { visits: 0, ..RULES };
        assert_eq!(build(&data, off), (vec![], vec!["爱心社".to_string()]));
        assert!(fs::read_to_string(data.words()).unwrap().contains("微澜阁"));
    }
}
