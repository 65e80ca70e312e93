//! Rules as data: feature tests and their scores.
//!
//! A rule is one line of text, a condition with two branches, each a score or another condition:
//!
//! ```text
//! link_share < 0.33 ? (terms < 12 ? 0.1 : 0.6) : -0.5
//! ```
//!
//! Every rule scores every line and the scores are summed. Rules are stored in a TOML file, so they can be read,
//! changed and extended without recompiling.

use pharos_core::work::spend_work;
use thiserror::Error;

use super::WordKinds;
use super::features::{COUNT, FeatureValues, feature_index};
use super::word_finder::WordFinder;

/// Maximum nesting depth of a rule.
const MAX_DEPTH: usize = 12;

/// Maximum number of scores of one rule: one bit of a word each, with one spare.
const MAX_SCORES: usize = 31;

/// Error in a rule set.
#[derive(Debug, Error)]
pub enum RulesError {
    /// The file is not valid TOML or has unknown keys.
    #[error("invalid rule file: {0}")]
    Toml(#[from] toml::de::Error),
    /// A rule is malformed.
    #[error("invalid rule `{rule}`: {reason}")]
    Rule { rule: String, reason: String },
    /// A rule file has rules for a genre that does not exist.
    #[error("unknown genre `{0}`")]
    Genre(String),
    /// A rule file cannot be used.
    #[error("cannot load rules from `{path}` (`--rules` or `clean.rules`): {problem}")]
    File { path: String, problem: String },
    /// A word list cannot be compiled.
    #[error("invalid word list: {0}")]
    Words(String),
}

/// A set of rules whose scores are summed.
///
/// Scoring uses QuickScorer (Lucchese et al. 2015), which was designed for ranking with tree ensembles. The
/// conditions of all rules are sorted by feature and threshold. Each condition that is false for a line eliminates
/// the scores of its rule that can no longer be reached; the first one left is the score. No condition is a branch
/// that the processor could mispredict.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleScorer {
    start: f32,
    conditions: Vec<RuleCondition>,
    /// Index of the first condition of each feature, followed by their total number.
    by_feature: Vec<u32>,
    /// Scores of all rules; those of one rule are in the order of its text.
    scores: Vec<f32>,
    /// Index of the first score of each rule.
    rules: Vec<u32>,
}

/// The condition `feature < threshold`, and its effect if it is false.
#[derive(Clone, Copy, Debug)]
struct RuleCondition {
    threshold: f32,
    rule: u32,
    /// Mask of the scores that remain if the condition is false.
    left: u32,
}

impl RuleScorer {
    pub(super) fn new(start: f32, rules: &[String], kinds: &WordKinds) -> Result<RuleScorer, RulesError> {
        let mut scorer = RuleScorer { start, ..RuleScorer::default() };
        let mut conditions: Vec<(u16, RuleCondition)> = Vec::new();
        for (number, text) in rules.iter().enumerate() {
            let wrong = |reason: String| RulesError::Rule { rule: text.clone(), reason };
            let number = u32::try_from(number).map_err(|_| wrong("too many rules".into()))?;
            let mut parser = RuleParser {
                rest: text,
                rule: number,
                kinds,
                scores: Vec::new(),
                conditions: &mut conditions,
            };
            parser.rule(0).map_err(wrong)?;
            if !parser.rest.trim().is_empty() {
                return Err(wrong(format!("unexpected `{}` after the rule", parser.rest.trim())));
            }
            scorer.rules.push(scorer.scores.len() as u32);
            scorer.scores.append(&mut parser.scores);
        }
        conditions.sort_by(|(a, q), (b, r)| a.cmp(b).then(q.threshold.total_cmp(&r.threshold)));
        let ends =
            (0..COUNT).map(|f| conditions.partition_point(|(feature, _)| usize::from(*feature) < f) as u32);
        scorer.by_feature = ends.chain([conditions.len() as u32]).collect();
        scorer.conditions = conditions.into_iter().map(|(_, condition)| condition).collect();
        Ok(scorer)
    }

    /// Returns `true` if there are no rules.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the sum of all scores. `left` is scratch space that callers reuse for many lines.
    pub(crate) fn score(&self, values: &FeatureValues, left: &mut Vec<u32>) -> f32 {
        self.start + self.rule_scores(values, left).sum::<f32>()
    }

    /// Returns the score of each rule, in the order of the file.
    pub(crate) fn rule_scores<'a>(
        &'a self,
        values: &FeatureValues,
        left: &'a mut Vec<u32>,
    ) -> impl Iterator<Item = f32> + 'a {
        spend_work(16);
        left.clear();
        left.resize(self.rules.len(), u32::MAX);
        for (value, bounds) in values.iter().zip(self.by_feature.windows(2)) {
            for condition in &self.conditions[bounds[0] as usize..bounds[1] as usize] {
                if *value < condition.threshold {
                    break;
                }
                left[condition.rule as usize] &= condition.left;
            }
        }
        self.rules
            .iter()
            .zip(&*left)
            .map(|(first, left)| self.scores[(first + left.trailing_zeros()) as usize])
    }
}

struct RuleParser<'a> {
    rest: &'a str,
    rule: u32,
    kinds: &'a WordKinds,
    scores: Vec<f32>,
    conditions: &'a mut Vec<(u16, RuleCondition)>,
}

impl<'a> RuleParser<'a> {
    /// Parses `feature < number ? rule : rule`, or a number.
    fn rule(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("nested too deeply".into());
        }
        self.rest = self.rest.trim_start();
        if let Some(inside) = self.rest.strip_prefix('(') {
            self.rest = inside;
            self.rule(depth + 1)?;
            return self.expect(")");
        }
        let word = self.word();
        if let Ok(score) = word.parse::<f32>() {
            self.scores.push(score);
            return if self.scores.len() > MAX_SCORES { Err("too many scores".into()) } else { Ok(()) };
        }
        let feature = feature_index(word, self.kinds).ok_or_else(|| format!("unknown feature `{word}`"))?;
        self.expect("<")?;
        let word = self.word();
        let threshold = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
        self.expect("?")?;
        let from = self.scores.len();
        self.rule(depth + 1)?;
        let eliminated = (1u32 << self.scores.len()) - (1 << from);
        self.expect(":")?;
        self.rule(depth + 1)?;
        self.conditions.push((feature, RuleCondition { threshold, rule: self.rule, left: !eliminated }));
        Ok(())
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| c.is_whitespace() || "()<?:".contains(c)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        word
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        self.rest = self
            .rest
            .trim_start()
            .strip_prefix(sign)
            .ok_or_else(|| format!("expected `{sign}` before `{}`", self.rest.trim()))?;
        Ok(())
    }
}

/// Compiles the words of a rule file, in the order of their kinds.
pub(super) fn finder(words: &[(String, Vec<String>)]) -> Result<WordFinder, RulesError> {
    let all =
        words.iter().enumerate().flat_map(|(kind, (_, words))| words.iter().map(move |w| (kind, w.as_str())));
    WordFinder::new(all).map_err(|e| RulesError::Words(e.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cleaning::voting::features::Features;

    fn score(rules: &[&str], features: &Features) -> Result<f32, RulesError> {
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        Ok(RuleScorer::new(0.0, &rules, &WordKinds::default())?.score(&features.values(), &mut Vec::new()))
    }

    #[test]
    fn rules_are_followed_and_summed() {
        let rules =
            ["terms < 10 ? (chars < 5 ? 1 : 2) : chars < 50 ? 4 : 8", "link_share < 0.5 ? 16 : 32", "64"];
        let score = |terms, chars, link_share| {
            score(&rules, &Features { terms, chars, link_share, ..Features::default() }).unwrap()
        };
        assert_eq!(score(9.0, 4.0, 0.0), 1.0 + 16.0 + 64.0);
        assert_eq!(score(9.0, 5.0, 0.5), 2.0 + 32.0 + 64.0);
        assert_eq!(score(10.0, 4.0, 0.0), 4.0 + 16.0 + 64.0);
        assert_eq!(score(10.0, 50.0, 0.0), 8.0 + 16.0 + 64.0);
    }

    #[test]
    fn invalid_rules_are_reported() {
        let wrong = |rule: &str| score(&[rule], &Features::default()).unwrap_err().to_string();
        assert!(wrong("colour < 1 ? 2 : 3").contains("unknown feature `colour`"));
        assert!(wrong("terms < x ? 2 : 3").contains("`x` is not a number"));
        assert!(wrong("terms < 1 ? 2").contains("expected `:`"));
        assert!(wrong("1 2").contains("unexpected `2`"));
        assert!(wrong(&format!("{}1", "(".repeat(1_000))).contains("too deeply"));
        assert!(wrong(&format!("{}1", "terms < 1 ? (terms < 1 ? 1 : 1) : ".repeat(20))).contains("too"));
    }

    proptest! {
        #[test]
        fn any_rule_is_read_or_refused(rule in "(terms|chars|[0-9]|<|\\?|:|\\(|\\)| ){0,40}") {
            let _ = score(&[&rule], &Features::default());
        }
    }
}
