//! Rules as data: which words tell something, and which answers score how much.
//!
//! A rule is one line of text, a question with two answers, each a score or another question:
//!
//! ```text
//! link_share < 0.33 ? (terms < 12 ? 0.1 : 0.6) : -0.5
//! ```
//!
//! Every rule scores every line and the scores are summed. Rules stand in a TOML file, so that they can be read,
//! changed and added without building anything.

use thiserror::Error;

use super::Kinds;
use super::features::{COUNT, Values, number_of_feature};
use super::words::Finder;

/// Rules nested deeper are refused.
const MAX_DEPTH: usize = 12;

/// Answers of one rule: a bit of a word each, and one to spare.
const MAX_ANSWERS: usize = 31;

/// What is wrong with a set of rules.
#[derive(Debug, Error)]
pub enum RulesError {
    /// The file is not TOML, or has other keys.
    #[error("cannot read the rules: {0}")]
    Toml(#[from] toml::de::Error),
    /// A rule does not say what it should.
    #[error("cannot understand the rule `{rule}`: {reason}")]
    Rule {
        /// The rule.
        rule: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of rules that cannot be used.
    #[error("the rules in {path} (`--rules` or `clean.rules`): {problem}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Words that cannot be searched for.
    #[error("cannot use the words of the rules: {0}")]
    Words(String),
}

/// Rules whose scores are summed.
///
/// Scored as QuickScorer does (Lucchese and others, 2015), which was made for ranking by forests of trees: the
/// questions of all rules are sorted by feature and threshold. Going through those that a line answers with "no",
/// each strikes out the answers of its rule that can no longer be reached; the first one left is the score. No
/// question is a branch that the processor could guess wrong.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stage {
    start: f32,
    questions: Vec<Question>,
    /// Where the questions about each feature begin, and at last where they end.
    by_feature: Vec<u32>,
    /// All answers of all rules, those of one rule in the order of its text.
    answers: Vec<f32>,
    /// Where the answers of each rule begin.
    rules: Vec<u32>,
}

/// `feature < threshold`, and what a "no" strikes out.
#[derive(Clone, Copy, Debug)]
struct Question {
    threshold: f32,
    rule: u32,
    /// The bits of the answers that a "no" leaves.
    left: u32,
}

impl Stage {
    pub(super) fn new(start: f32, rules: &[String], kinds: &Kinds) -> Result<Stage, RulesError> {
        let mut stage = Stage { start, ..Stage::default() };
        let mut asked: Vec<(u16, Question)> = Vec::new();
        for (number, text) in rules.iter().enumerate() {
            let wrong = |reason: String| RulesError::Rule { rule: text.clone(), reason };
            let number = u32::try_from(number).map_err(|_| wrong("there are too many rules".into()))?;
            let mut parser =
                Parser { rest: text, rule: number, kinds, answers: Vec::new(), asked: &mut asked };
            parser.rule(0).map_err(wrong)?;
            if !parser.rest.trim().is_empty() {
                return Err(wrong(format!("`{}` is left over", parser.rest.trim())));
            }
            stage.rules.push(stage.answers.len() as u32);
            stage.answers.append(&mut parser.answers);
        }
        asked.sort_by(|(a, q), (b, r)| a.cmp(b).then(q.threshold.total_cmp(&r.threshold)));
        let ends = (0..COUNT).map(|f| asked.partition_point(|(feature, _)| usize::from(*feature) < f) as u32);
        stage.by_feature = ends.chain([asked.len() as u32]).collect();
        stage.questions = asked.into_iter().map(|(_, question)| question).collect();
        Ok(stage)
    }

    /// The sum of all scores. `left` is a place to work in, best the same for many lines.
    pub(crate) fn score(&self, values: &Values, left: &mut Vec<u32>) -> f32 {
        self.start + self.votes(values, left).sum::<f32>()
    }

    /// What each rule gives, in the order of the file.
    pub(crate) fn votes<'a>(
        &'a self,
        values: &Values,
        left: &'a mut Vec<u32>,
    ) -> impl Iterator<Item = f32> + 'a {
        left.clear();
        left.resize(self.rules.len(), u32::MAX);
        for (value, bounds) in values.iter().zip(self.by_feature.windows(2)) {
            for question in &self.questions[bounds[0] as usize..bounds[1] as usize] {
                if *value < question.threshold {
                    break;
                }
                left[question.rule as usize] &= question.left;
            }
        }
        self.rules
            .iter()
            .zip(&*left)
            .map(|(first, left)| self.answers[(first + left.trailing_zeros()) as usize])
    }
}

struct Parser<'a> {
    rest: &'a str,
    rule: u32,
    kinds: &'a Kinds,
    answers: Vec<f32>,
    asked: &'a mut Vec<(u16, Question)>,
}

impl<'a> Parser<'a> {
    /// `feature < number ? rule : rule`, or a number.
    fn rule(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deeply".into());
        }
        self.rest = self.rest.trim_start();
        if let Some(inside) = self.rest.strip_prefix('(') {
            self.rest = inside;
            self.rule(depth + 1)?;
            return self.expect(")");
        }
        let word = self.word();
        if let Ok(score) = word.parse::<f32>() {
            self.answers.push(score);
            return if self.answers.len() > MAX_ANSWERS {
                Err("it has too many answers".into())
            } else {
                Ok(())
            };
        }
        let feature =
            number_of_feature(word, self.kinds).ok_or_else(|| format!("there is no feature `{word}`"))?;
        self.expect("<")?;
        let word = self.word();
        let threshold = word.parse().map_err(|_| format!("`{word}` is no number"))?;
        self.expect("?")?;
        let from = self.answers.len();
        self.rule(depth + 1)?;
        let struck_out = (1u32 << self.answers.len()) - (1 << from);
        self.expect(":")?;
        self.rule(depth + 1)?;
        self.asked.push((feature, Question { threshold, rule: self.rule, left: !struck_out }));
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
            .ok_or_else(|| format!("`{sign}` is missing before `{}`", self.rest.trim()))?;
        Ok(())
    }
}

/// The words of a rule file: kinds in their order, and what finds them.
pub(super) fn finder(words: &[(String, Vec<String>)]) -> Result<Finder, RulesError> {
    let all =
        words.iter().enumerate().flat_map(|(kind, (_, words))| words.iter().map(move |w| (kind, w.as_str())));
    Finder::new(all).map_err(|e| RulesError::Words(e.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::voting::features::Features;

    fn score(rules: &[&str], features: &Features) -> Result<f32, RulesError> {
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        Ok(Stage::new(0.0, &rules, &Kinds::default())?.score(&features.values(), &mut Vec::new()))
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
    fn a_wrong_rule_says_what_is_wrong() {
        let wrong = |rule: &str| score(&[rule], &Features::default()).unwrap_err().to_string();
        assert!(wrong("colour < 1 ? 2 : 3").contains("no feature `colour`"));
        assert!(wrong("terms < x ? 2 : 3").contains("`x` is no number"));
        assert!(wrong("terms < 1 ? 2").contains("`:` is missing"));
        assert!(wrong("1 2").contains("left over"));
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
