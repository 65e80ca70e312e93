//! Click models (点击模型): probabilities that a user examines, clicks and is satisfied by results, learnt from sessions.
//!
//! Chuklin, Markov & de Rijke 2015, "Click models for Web search". The attractiveness of a result for a query is a label
//! without the bias of positions; the examination of positions gives propensities for counterfactual learning (Joachims,
//! Swaminathan & Schnabel 2017).

mod chain;
mod examination;

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RankingError;

pub use chain::ChainModel;
pub use examination::ExaminationModel;

/// Largest number of results of a session that count.
pub const MAX_RESULTS: usize = 100;

/// Longest line of a session file.
const MAX_LINE: u64 = 1 << 16;

/// Largest number of sessions.
const MAX_SESSIONS: usize = 20_000_000;

/// Rounds of expectation maximisation.
const ROUNDS: usize = 50;

/// A line of a session file.
#[derive(Deserialize)]
struct SessionLine {
    query: String,
    results: Vec<String>,
    /// Positions of clicked results from 0.
    clicks: Vec<usize>,
}

/// Results shown for a query with the clicks on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Numbers of pairs of query and result, in the order shown.
    pub results: Vec<u32>,
    pub clicked: Vec<bool>,
}

/// Sessions with the names of their pairs of query and result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sessions {
    pub sessions: Vec<Session>,
    /// Query and result of each number.
    pub pairs: Vec<(String, String)>,
    numbers: HashMap<(String, String), u32>,
}

impl Sessions {
    /// Reads sessions, one JSON object per line: `{"query": "q", "results": ["a", "b"], "clicks": [0]}`. `clicks` holds
    /// positions from 0. The pairs of `self` keep their numbers, so that test sessions refer to those of training.
    pub fn read(&mut self, path: &Path, mut input: impl BufRead) -> Result<(), RankingError> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut line);
            if read.map_err(RankingError::io("read", path))? == 0 {
                break;
            }
            self.add_line(&line).map_err(|problem| RankingError::Line {
                path: path.to_path_buf(),
                line: number,
                problem,
            })?;
        }
        Ok(())
    }

    fn add_line(&mut self, line: &[u8]) -> Result<(), String> {
        if line.len() as u64 > MAX_LINE {
            return Err(format!("longer than {MAX_LINE} bytes"));
        }
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        if self.sessions.len() == MAX_SESSIONS {
            return Err(format!("more than {MAX_SESSIONS} sessions"));
        }
        let parsed: SessionLine = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if let Some(click) = parsed.clicks.iter().find(|&&click| click >= parsed.results.len()) {
            return Err(format!("click on position {click} of {} results", parsed.results.len()));
        }
        let shown = parsed.results.len().min(MAX_RESULTS);
        let mut clicked = vec![false; shown];
        parsed.clicks.iter().filter(|&&click| click < shown).for_each(|&click| clicked[click] = true);
        let results =
            parsed.results.into_iter().take(shown).map(|result| self.number(&parsed.query, result)).collect();
        self.sessions.push(Session { results, clicked });
        Ok(())
    }

    fn number(&mut self, query: &str, result: String) -> u32 {
        let pair = (query.to_owned(), result);
        if let Some(&number) = self.numbers.get(&pair) {
            return number;
        }
        let number = self.pairs.len() as u32;
        self.pairs.push(pair.clone());
        self.numbers.insert(pair, number);
        number
    }
}

/// Kind of click model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickModelKind {
    /// Position-based model (Richardson, Dominowska & Ragno 2007).
    Pbm,
    /// Cascade model (Craswell, Zoeter, Taylor & Ramsey 2008).
    Cascade,
    /// Dependent click model (Guo, Liu & Wang 2009).
    Dcm,
    /// Simplified dynamic Bayesian network (Chapelle & Zhang 2009).
    Sdbn,
    /// Dynamic Bayesian network (Chapelle & Zhang 2009).
    Dbn,
    /// User browsing model (Dupret & Piwowarski 2008).
    Ubm,
}

impl ClickModelKind {
    /// Names of all models.
    pub const NAMES: [(&str, Self); 6] = [
        ("pbm", Self::Pbm),
        ("cascade", Self::Cascade),
        ("dcm", Self::Dcm),
        ("sdbn", Self::Sdbn),
        ("dbn", Self::Dbn),
        ("ubm", Self::Ubm),
    ];
}

impl FromStr for ClickModelKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown click model `{name}`: use one of {}", names.join(", "))
        })
    }
}

/// A trained click model.
#[derive(Clone, Debug, PartialEq)]
pub enum ClickModel {
    /// Users read from top to bottom and stop.
    Chain(ChainModel),
    /// Users examine positions with a probability of their own.
    Examination(ExaminationModel),
}

impl ClickModel {
    /// Trains a model.
    pub fn train(kind: ClickModelKind, data: &Sessions) -> Self {
        match kind {
            ClickModelKind::Pbm => Self::Examination(ExaminationModel::train(data, false, ROUNDS)),
            ClickModelKind::Ubm => Self::Examination(ExaminationModel::train(data, true, ROUNDS)),
            ClickModelKind::Cascade => Self::Chain(ChainModel::train_cascade(data)),
            ClickModelKind::Dcm => Self::Chain(ChainModel::train_dcm(data)),
            ClickModelKind::Sdbn => Self::Chain(ChainModel::train_sdbn(data)),
            ClickModelKind::Dbn => Self::Chain(ChainModel::train_dbn(data, ROUNDS)),
        }
    }

    /// Returns the probability of a click on each result, given the clicks on the results before it.
    pub fn conditional(&self, session: &Session) -> Vec<f64> {
        match self {
            Self::Chain(model) => model.conditional(session),
            Self::Examination(model) => model.conditional(session),
        }
    }

    /// Returns the probability of a click on each result before anything is clicked.
    pub fn marginal(&self, results: &[u32]) -> Vec<f64> {
        match self {
            Self::Chain(model) => model.marginal(results),
            Self::Examination(model) => model.marginal(results),
        }
    }

    /// Returns the relevance of a pair of query and result: its attractiveness times, where the model has it, the
    /// probability that it satisfies.
    pub fn relevance(&self, pair: u32) -> f64 {
        match self {
            Self::Chain(model) => model.attractiveness(pair) * model.satisfaction(pair),
            Self::Examination(model) => model.attractiveness(pair),
        }
    }

    /// Returns the probability that each position is examined, relative to the first: of the position-based model its
    /// parameters, of other models means over the sessions.
    pub fn propensities(&self, data: &Sessions) -> Vec<f64> {
        let mut sums: Vec<(f64, f64)> = Vec::new();
        for session in &data.sessions {
            let examined = match self {
                Self::Chain(model) => model.examination(&session.results),
                Self::Examination(model) => model.examination(&session.results),
            };
            sums.resize(sums.len().max(examined.len()), (0.0, 0.0));
            for (sum, examined) in sums.iter_mut().zip(examined) {
                *sum = (sum.0 + examined, sum.1 + 1.0);
            }
        }
        let means: Vec<f64> = sums.iter().map(|(sum, count)| sum / count).collect();
        let first = means.first().copied().unwrap_or(1.0).max(1e-9);
        means.iter().map(|mean| (mean / first).min(1.0)).collect()
    }
}

/// Returns the weights of clicks for counterfactual learning: 1 / propensity, at most `limit`, which bounds the variance.
pub fn inverse_propensity_weights(propensities: &[f64], limit: f64) -> Vec<f64> {
    propensities.iter().map(|propensity| (1.0 / propensity.max(1e-9)).min(limit)).collect()
}

/// Quality of predictions of clicks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClickFigures {
    pub sessions: usize,
    /// Mean of ln P(clicks) of a session.
    pub log_likelihood: f64,
    /// 2^(mean of −log₂ of the probability of the observed click or skip): 1 is perfect, 2 a coin.
    pub perplexity: f64,
    /// The same for each position from the first.
    pub perplexity_at: Vec<f64>,
}

/// Evaluates a model. Probabilities are kept from 10⁻⁶ to 1 − 10⁻⁶, because some models exclude observed clicks.
pub fn evaluate_clicks(model: &ClickModel, data: &Sessions) -> ClickFigures {
    let chance = |probability: f64, clicked: bool| {
        let probability = probability.clamp(1e-6, 1.0 - 1e-6);
        if clicked { probability } else { 1.0 - probability }
    };
    let mut log_likelihood = 0.0;
    let mut at: Vec<(f64, f64)> = Vec::new();
    for session in &data.sessions {
        let pairs = model.conditional(session).into_iter().zip(&session.clicked);
        log_likelihood += pairs.map(|(probability, &clicked)| chance(probability, clicked).ln()).sum::<f64>();
        at.resize(at.len().max(session.results.len()), (0.0, 0.0));
        let marginal = model.marginal(&session.results);
        for ((sum, probability), &clicked) in at.iter_mut().zip(marginal).zip(&session.clicked) {
            *sum = (sum.0 - chance(probability, clicked).log2(), sum.1 + 1.0);
        }
    }
    let perplexity_at: Vec<f64> = at.iter().map(|(sum, count)| (sum / count).exp2()).collect();
    ClickFigures {
        sessions: data.sessions.len(),
        log_likelihood: log_likelihood / data.sessions.len().max(1) as f64,
        perplexity: perplexity_at.iter().sum::<f64>() / perplexity_at.len().max(1) as f64,
        perplexity_at,
    }
}

/// Successes and trials of a probability, with one of each added (Laplace).
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    successes: f64,
    trials: f64,
}

impl Share {
    fn add(&mut self, successes: f64, trials: f64) {
        self.successes += successes;
        self.trials += trials;
    }

    fn estimate(self) -> f64 {
        (self.successes + 1.0) / (self.trials + 2.0)
    }
}

fn estimates(shares: &[Share]) -> Vec<f64> {
    shares.iter().map(|share| share.estimate()).collect()
}

#[cfg(test)]
mod tests;
