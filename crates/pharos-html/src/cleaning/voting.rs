//! Selection of body lines: rules score every line and the scores are summed (投票算法).
//!
//! Source: the voting algorithm of 《走进搜索引擎》§3.2.3, in which each rule scores each text block and the blocks with the
//! highest sums are the body. Rules are data ([`rules`]) over the features of a line ([`features`]).
//!
//! The book does not define a threshold. If the scores are log-odds, the threshold is chosen per page
//! ([`BodyThreshold::Expected`]) to maximise the expected F1. If every line is clear, it is a probability of one half; on
//! pages without clear lines, it is lower.

pub(crate) mod features;
mod first_pass;
pub(crate) mod genre;
pub(crate) mod page_clues;
mod page_context;
mod prose;
mod rules;
pub(crate) mod title_similarity;
pub(crate) mod word_finder;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::blocks::Blocks;
use features::Features;
use genre::{GENRES, GenreScorers, PageGenre};
use page_clues::PageClues;
use page_context::PageContext;
use prose::NameRoles;
use rules::RuleScorer;
pub use rules::RulesError;
use word_finder::WordFinder;

/// Built-in rule files.
const WORDS: &str = include_str!("../../rules/words.toml");
const PHAROS: &str = include_str!("../../rules/pharos.toml");
const SCORE_TABLES: &str = include_str!("../../rules/score_tables.toml");

/// A rule set (规则集): word lists, the rules that use them, and the threshold of the body.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    pub(crate) names: WordFinder,
    pub(crate) phrases: WordFinder,
    pub(crate) kinds: WordKinds,
    name_roles: NameRoles,
    genres: GenreScorers,
    first_pass: RuleScorer,
    rules: RuleScorer,
    threshold: BodyThreshold,
}

/// The kinds of words, in the order of their bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordKinds {
    pub(crate) names: Vec<String>,
    pub(crate) phrases: Vec<String>,
}

impl Default for BodyThreshold {
    fn default() -> Self {
        BodyThreshold::Fixed(f32::INFINITY)
    }
}

/// Threshold for body lines.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum BodyThreshold {
    /// Scores are log-odds; the threshold is chosen per page between these two probabilities.
    Expected { lowest: f32, highest: f32 },
    /// The same score for every page.
    Fixed(f32),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    cut: BodyThreshold,
    #[serde(default)]
    start: f32,
    rules: Vec<String>,
    /// Rules whose result the other rules use, see [`first_pass`].
    #[serde(default)]
    first_pass: ScoresFile,
    /// Rules for each of the [`GENRES`].
    #[serde(default)]
    genres: BTreeMap<String, ScoresFile>,
    words: Option<WordsFile>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScoresFile {
    start: f32,
    rules: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsFile {
    /// Kinds of names that are meaningful even on blocks that contain nearly the whole page.
    holding_body: Vec<String>,
    /// Kinds of names of blocks that are never body.
    #[serde(default)]
    never_body: Vec<String>,
    names: toml::Table,
    phrases: toml::Table,
}

impl RuleSet {
    /// Returns the built-in default rule set.
    pub fn pharos() -> &'static RuleSet {
        &BUILT_IN.0
    }

    /// Returns the two score tables of 《走进搜索引擎》§3.2.3: length and position.
    pub fn score_tables() -> &'static RuleSet {
        &BUILT_IN.1
    }

    /// Returns the rule set with this name, as in `clean.rules`: a built-in set, or a file that `read` loads.
    pub fn named(
        name: &str,
        read: impl FnOnce(&str) -> io::Result<String>,
    ) -> Result<Cow<'static, RuleSet>, RulesError> {
        let failed = |problem: String| RulesError::File { path: name.into(), problem };
        match name {
            "pharos" => Ok(Cow::Borrowed(Self::pharos())),
            // `thesis` is the name in release 0.1.
            "score-tables" | "thesis" => Ok(Cow::Borrowed(Self::score_tables())),
            path => {
                let text = read(path).map_err(|error| failed(error.to_string()))?;
                Self::from_toml(&text).map(Cow::Owned).map_err(|error| failed(error.to_string()))
            }
        }
    }

    /// Parses a rule set; without word lists of its own, it uses the built-in ones.
    pub fn from_toml(text: &str) -> Result<RuleSet, RulesError> {
        let file: RulesFile = toml::from_str(text)?;
        let words = match file.words {
            Some(words) => words,
            None => toml::from_str(WORDS)?,
        };
        let (names, phrases) = (word_lists(&words.names), word_lists(&words.phrases));
        let bit =
            |kind: &String| names.iter().position(|(known, _)| known == kind).map_or(0, |at| 1 << (at % 32));
        let bits = |kinds: &[String]| kinds.iter().map(bit).fold(0, |all, bit| all | bit);
        let kinds = WordKinds {
            names: names.iter().map(|(kind, _)| kind.clone()).collect(),
            phrases: phrases.iter().map(|(kind, _)| kind.clone()).collect(),
        };
        if let Some(unknown) = file.genres.keys().find(|name| !GENRES.contains(&name.as_str())) {
            return Err(RulesError::Genre(unknown.clone()));
        }
        let scorer = |scores: &ScoresFile| RuleScorer::new(scores.start, &scores.rules, &kinds);
        let mut genres = GenreScorers::default();
        for (name, scores) in &file.genres {
            if let Some(at) = GENRES.iter().position(|known| known == name) {
                genres[at] = scorer(scores)?;
            }
        }
        Ok(RuleSet {
            names: rules::finder(&names)?,
            phrases: rules::finder(&phrases)?,
            name_roles: NameRoles {
                holding_body: bits(&words.holding_body),
                never_body: bits(&words.never_body),
                reply_phrases: kinds.phrases.iter().position(|kind| kind == "comment").unwrap_or(usize::MAX),
            },
            genres,
            first_pass: scorer(&file.first_pass)?,
            rules: RuleScorer::new(file.start, &file.rules, &kinds)?,
            kinds,
            threshold: file.cut,
        })
    }

    /// Returns the features of every line that need no rules, and the context they were computed in.
    pub(crate) fn line_features(&self, blocks: &Blocks, clues: &PageClues) -> (Vec<Features>, PageContext) {
        features::features(blocks, clues, &self.phrases, self.name_roles)
    }

    /// Determines the genre of the page, scores every line of `blocks` in two passes, and determines the threshold.
    pub(crate) fn score_lines(&self, blocks: &Blocks, clues: &PageClues) -> LineScores {
        let (mut features, context) = self.line_features(blocks, clues);
        let genres = genre::genre_probabilities(&self.genres, &features);
        features.iter_mut().for_each(|f| f.genres = genres);
        first_pass::fill(&self.first_pass, &mut features, blocks, &context);
        let mut left = Vec::new();
        let scores: Vec<f32> = features.iter().map(|f| self.rules.score(&f.values(), &mut left)).collect();
        let threshold = match self.threshold {
            BodyThreshold::Fixed(threshold) => threshold,
            BodyThreshold::Expected { lowest, highest } => {
                log_odds(best_f1_probability(blocks, &scores).clamp(lowest, highest))
            }
        };
        LineScores { features, scores, threshold, genre: genre::best_genre(&genres) }
    }

    /// Returns the scores of all rules for one line as `(rule number, score)`, the greatest effect first.
    pub(crate) fn reasons(&self, features: &Features) -> Vec<(usize, f32)> {
        let mut left = Vec::new();
        let mut scores: Vec<_> = self.rules.rule_scores(&features.values(), &mut left).enumerate().collect();
        scores.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        scores
    }

    /// Returns the names of all features that rules can use.
    pub fn feature_names(&self) -> Vec<String> {
        features::all_feature_names(&self.kinds)
    }
}

static BUILT_IN: LazyLock<(RuleSet, RuleSet)> = LazyLock::new(|| {
    // A test parses both. If they were ever broken, no line would be body, but the program would still run.
    let read = |text| RuleSet::from_toml(text).unwrap_or_default();
    (read(PHAROS), read(SCORE_TABLES))
});

/// Scores of the lines of a page.
#[derive(Debug)]
pub(crate) struct LineScores {
    pub(crate) features: Vec<Features>,
    /// Score of each line.
    pub(crate) scores: Vec<f32>,
    /// Minimum score of a body line.
    pub(crate) threshold: f32,
    pub(crate) genre: PageGenre,
}

impl LineScores {
    /// Returns `true` if this line is body.
    pub(crate) fn is_body(&self, line: usize) -> bool {
        self.scores.get(line).is_some_and(|score| *score >= self.threshold)
    }
}

/// Returns the probability threshold that maximises the expected F1 of the page.
///
/// With the lines in descending order of their probabilities p and n terms each, keeping the first k gives an
/// expected F1 of 2 Σp·n / (Σn of the kept + Σp·n of all). The best k ends where p falls below half of the best F1.
fn best_f1_probability(blocks: &Blocks, scores: &[f32]) -> f32 {
    let mut lines: Vec<(f32, f32)> =
        scores.iter().zip(&blocks.lines).map(|(s, line)| (probability(*s), line.measure.terms())).collect();
    lines.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    let all: f64 = lines.iter().map(|(p, n)| f64::from(p * n)).sum();
    let (mut right, mut kept, mut best) = (0.0, 0.0, 0.0f64);
    for (p, n) in lines {
        right += f64::from(p * n);
        kept += f64::from(n);
        best = best.max(2.0 * right / (kept + all));
    }
    (best / 2.0) as f32
}

fn probability(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

fn log_odds(chance: f32) -> f32 {
    (chance / (1.0 - chance)).ln()
}

fn word_lists(table: &toml::Table) -> Vec<(String, Vec<String>)> {
    let strings = |v: &toml::Value| {
        v.as_array().into_iter().flatten().filter_map(|w| w.as_str().map(str::to_string)).collect()
    };
    table.iter().map(|(kind, words)| (kind.clone(), strings(words))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(features: &Features) -> Vec<f32> {
        RuleSet::score_tables().rules.rule_scores(&features.values(), &mut Vec::new()).collect()
    }

    #[test]
    fn the_sets_that_come_with_the_program_can_be_read() {
        for set in [PHAROS, SCORE_TABLES] {
            let set = RuleSet::from_toml(set).unwrap();
            assert!(
                set.kinds.names.len() <= features::NAME_KINDS
                    && set.kinds.phrases.len() <= features::PHRASE_KINDS
            );
        }
    }

    #[test]
    fn the_score_tables_keep_their_former_name() {
        for name in ["score-tables", "thesis"] {
            let set = RuleSet::named(name, |_| Err(io::ErrorKind::NotFound.into())).unwrap();
            assert!(matches!(set.threshold, BodyThreshold::Fixed(15.0)), "{name}");
        }
    }

    #[test]
    fn length_scores_of_the_literature() {
        let score = |chars| scores(&Features { chars, ..Features::default() })[0];
        assert_eq!([9.0, 30.0, 100.0, 251.0].map(score), [0.0, 5.0, 8.0, 10.0]);
    }

    #[test]
    fn position_scores_of_the_literature() {
        let score = |position| scores(&Features { position, ..Features::default() })[1];
        assert_eq!([0.0, 1.0, 2.0, 3.0].map(score), [0.0, 3.0, 5.0, 10.0]);
    }

    #[test]
    fn the_sum_decides() {
        let sum = |chars, position| {
            scores(&Features { chars, position, ..Features::default() }).iter().sum::<f32>()
        };
        assert_eq!((sum(300.0, 3.0), sum(40.0, 0.0)), (20.0, 5.0));
    }

    #[test]
    fn custom_rules_need_no_recompilation() {
        let set =
            RuleSet::from_toml("cut = { fixed = 1.0 }\nrules = [\"phrase.share < 1 ? 2 : 0\"]").unwrap();
        let dom = crate::dom::Dom::parse("<p>Share this<p>All else");
        let blocks = Blocks::build(&dom, &set.names);
        let scores = set.score_lines(&blocks, &PageClues::default());
        assert_eq!((scores.is_body(0), scores.is_body(1)), (false, true));
        assert!(RuleSet::from_toml("rules = 1").is_err());
    }
}
