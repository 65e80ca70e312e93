//! Training of any model by the name of its algorithm.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::RankingError;
use super::aggregation::Aggregation;
use super::data::{RankingData, normalise::Normalisation, split_queries};
use super::evaluate::mean_of;
use super::listwise::structural_svm::{self, StructuralLoss};
use super::listwise::{adarank, coordinate_ascent, lambdamart, listmle, listnet};
use super::model::{RankingModel, Scorer, TrainingSize};
use super::pairwise::{frank, rankboost, ranking_svm, ranknet};
use super::parameters::{Parameter, Parameters};
use super::pointwise::{gbdt, large_margin, mcrank, prank, regression};
use super::trees::tree_parameters;
use crate::metrics::Discount;
use crate::report::Measure;

/// A training algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    LambdaMart,
    Gbdt,
    Linear,
    Ridge,
    McRank,
    PRank,
    LargeMargin,
    RankingSvm,
    RankSvmStruct,
    RankBoost,
    FRank,
    RankNet,
    ListNet,
    ListMle,
    AdaRankNdcg,
    AdaRankMap,
    SvmMap,
    CoordinateAscent,
    Borda,
    MedianRank,
    ReciprocalRank,
    Condorcet,
}

/// Name, kind and source of an algorithm.
pub struct AlgorithmInfo {
    pub algorithm: Algorithm,
    pub name: &'static str,
    /// pointwise, pairwise, listwise or aggregation.
    pub kind: &'static str,
    pub source: &'static str,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: &[AlgorithmInfo] = &[
        info(Self::LambdaMart, "lambdamart", "listwise", "Burges 2010; Ke et al. 2017"),
        info(Self::Gbdt, "gbdt", "pointwise", "Friedman 2001; Ke et al. 2017"),
        info(Self::Linear, "linear", "pointwise", "Fuhr 1989; Cossock & Zhang 2006"),
        info(Self::Ridge, "ridge", "pointwise", "Hoerl & Kennard 1970"),
        info(Self::McRank, "mcrank", "pointwise", "Li, Burges & Wu 2007"),
        info(Self::PRank, "prank", "pointwise", "Crammer & Singer 2002"),
        info(Self::LargeMargin, "large-margin", "pointwise", "Shashua & Levin 2002"),
        info(Self::RankingSvm, "ranking-svm", "pairwise", "Herbrich et al. 2000; Joachims 2002"),
        info(Self::RankSvmStruct, "ranksvm-struct", "pairwise", "Joachims 2006"),
        info(Self::RankBoost, "rankboost", "pairwise", "Freund et al. 2003"),
        info(Self::FRank, "frank", "pairwise", "Tsai et al. 2007"),
        info(Self::RankNet, "ranknet", "pairwise", "Burges et al. 2005"),
        info(Self::ListNet, "listnet", "listwise", "Cao et al. 2007"),
        info(Self::ListMle, "listmle", "listwise", "Xia et al. 2008"),
        info(Self::AdaRankNdcg, "adarank-ndcg", "listwise", "Xu & Li 2007"),
        info(Self::AdaRankMap, "adarank-map", "listwise", "Xu & Li 2007"),
        info(Self::SvmMap, "svm-map", "listwise", "Yue et al. 2007"),
        info(Self::CoordinateAscent, "coordinate-ascent", "listwise", "Metzler & Croft 2007"),
        info(Self::Borda, "borda", "aggregation", "de Borda 1781; Aslam & Montague 2001"),
        info(Self::MedianRank, "median-rank", "aggregation", "Fagin, Kumar & Sivakumar 2003"),
        info(Self::ReciprocalRank, "reciprocal-rank", "aggregation", "Cormack, Clarke & Büttcher 2009"),
        info(Self::Condorcet, "condorcet", "aggregation", "Copeland 1951; Montague & Aslam 2002"),
    ];

    /// Returns name and source.
    pub fn info(self) -> &'static AlgorithmInfo {
        Self::ALL.iter().find(|info| info.algorithm == self).unwrap_or(&Self::ALL[0])
    }

    /// Returns the parameters.
    pub fn parameters(self) -> Vec<Parameter> {
        let with_trees = |own: &[Parameter]| [&tree_parameters::PARAMETERS, own].concat();
        match self {
            Self::LambdaMart => with_trees(&lambdamart::PARAMETERS),
            Self::Gbdt => with_trees(&gbdt::PARAMETERS),
            Self::McRank => with_trees(&[]),
            Self::Ridge => regression::RIDGE_PARAMETERS.to_vec(),
            Self::PRank => prank::PARAMETERS.to_vec(),
            Self::LargeMargin => large_margin::PARAMETERS.to_vec(),
            Self::RankingSvm => ranking_svm::PARAMETERS.to_vec(),
            Self::RankSvmStruct | Self::SvmMap => structural_svm::PARAMETERS.to_vec(),
            Self::RankBoost => rankboost::PARAMETERS.to_vec(),
            Self::FRank => frank::PARAMETERS.to_vec(),
            Self::RankNet => ranknet::PARAMETERS.to_vec(),
            Self::ListNet | Self::ListMle => listnet::PARAMETERS.to_vec(),
            Self::AdaRankNdcg | Self::AdaRankMap => adarank::PARAMETERS.to_vec(),
            Self::CoordinateAscent => coordinate_ascent::PARAMETERS.to_vec(),
            Self::Linear | Self::Borda | Self::MedianRank | Self::ReciprocalRank | Self::Condorcet => {
                Vec::new()
            }
        }
    }

    /// Returns the parameter that limits the number of rounds, if validation data selects the best number.
    pub fn rounds_parameter(self) -> Option<&'static str> {
        ["trees", "rounds"]
            .into_iter()
            .find(|name| self.parameters().iter().any(|parameter| parameter.name == *name))
    }

    fn fit(
        self,
        data: &RankingData,
        training: &Training<'_>,
        parameters: &Parameters,
        watch: &mut Watch<'_>,
    ) -> Result<Scorer, RankingError> {
        let relevant_from = training.relevant_from;
        match self {
            Self::LambdaMart => lambdamart::train(data, parameters, watch),
            Self::Gbdt => gbdt::train(data, parameters, watch),
            Self::Linear => regression::train_linear(data),
            Self::Ridge => regression::train_ridge(data, parameters),
            Self::McRank => mcrank::train(data, parameters, watch),
            Self::PRank => prank::train(data, parameters, watch),
            Self::LargeMargin => large_margin::train(data, parameters, watch),
            Self::RankingSvm => ranking_svm::train(data, parameters, watch),
            Self::RankSvmStruct => {
                structural_svm::train(data, parameters, StructuralLoss::Pairs, relevant_from, watch)
            }
            Self::SvmMap => structural_svm::train(
                data,
                parameters,
                StructuralLoss::AveragePrecision,
                relevant_from,
                watch,
            ),
            Self::RankBoost => rankboost::train(data, parameters, watch),
            Self::FRank => frank::train(data, parameters, watch),
            Self::RankNet => ranknet::train(data, parameters, watch),
            Self::ListNet => listnet::train(data, parameters, watch),
            Self::ListMle => listmle::train(data, parameters, watch),
            Self::AdaRankNdcg => adarank::train(data, parameters, Measure::Ndcg(Discount::Log, 10), watch),
            Self::AdaRankMap => adarank::train(data, parameters, Measure::AveragePrecision, watch),
            Self::CoordinateAscent => {
                coordinate_ascent::train(data, parameters, training.measure, relevant_from, watch)
            }
            Self::Borda => Ok(Scorer::Aggregation(Aggregation::Borda)),
            Self::MedianRank => Ok(Scorer::Aggregation(Aggregation::MedianRank)),
            Self::ReciprocalRank => Ok(Scorer::Aggregation(Aggregation::ReciprocalRank)),
            Self::Condorcet => Ok(Scorer::Aggregation(Aggregation::Condorcet)),
        }
    }
}

const fn info(
    algorithm: Algorithm,
    name: &'static str,
    kind: &'static str,
    source: &'static str,
) -> AlgorithmInfo {
    AlgorithmInfo { algorithm, name, kind, source }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
        let found = Self::ALL.iter().find(|info| plain(info.name) == plain(name));
        found.map(|info| info.algorithm).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|info| info.name).collect();
            format!("unknown model `{name}`: use one of {}", names.join(", "))
        })
    }
}

/// Settings of a training.
#[derive(Clone)]
pub struct Training<'a> {
    /// Parameters by name; the others have their defaults.
    pub parameters: BTreeMap<String, f64>,
    pub normalisation: Normalisation,
    /// Measure that selects the number of rounds.
    pub measure: Measure,
    /// The lowest grade that counts as relevant.
    pub relevant_from: u32,
    /// Rounds without a better figure after which training ends.
    pub patience: usize,
    /// Share of queries that select the number of rounds if there is no validation data; the model is then trained again
    /// on all queries. 0 to use all rounds.
    pub holdout: f64,
    /// Seed of the selection of these queries.
    pub seed: u64,
    /// Receives rounds done, their largest number, and the figure on validation data. Training ends when it returns
    /// `false`.
    pub progress: &'a dyn Fn(usize, usize, Option<f64>) -> bool,
}

impl Default for Training<'_> {
    fn default() -> Self {
        Self {
            parameters: BTreeMap::new(),
            normalisation: Normalisation::None,
            measure: Measure::Ndcg(Discount::Log, 10),
            relevant_from: 1,
            patience: 50,
            holdout: 0.2,
            seed: 1,
            progress: &|_, _, _| true,
        }
    }
}

/// A trained model.
#[derive(Clone, Debug)]
pub struct Trained {
    pub model: RankingModel,
    /// Rounds of the model; 0 for algorithms without rounds.
    pub rounds: usize,
    /// Figure on the validation data, or on the queries held out.
    pub validation: Option<f64>,
}

/// Fewest queries with a relevant document of which a share is held out.
const HOLDOUT_FROM: usize = 30;

/// Trains a model.
///
/// Validation data selects the best number of rounds. Without it, a share of the queries does so first.
pub fn train(
    algorithm: Algorithm,
    training: &Training<'_>,
    data: &RankingData,
    valid: Option<&RankingData>,
) -> Result<Trained, RankingError> {
    let parameters = Parameters::new(&algorithm.parameters(), &training.parameters)?;
    check_grades(data)?;
    let normalised = |data: &RankingData| {
        let mut data = data.clone();
        training.normalisation.apply(&mut data);
        data
    };
    let owned =
        (training.normalisation != Normalisation::None).then(|| (normalised(data), valid.map(normalised)));
    let (rows, valid) = match &owned {
        Some((rows, valid)) => (rows, valid.as_ref()),
        None => (data, valid),
    };
    let mut given = training.parameters.clone();
    let mut holdout_figure = None;
    if let (Some(rounds), None) = (algorithm.rounds_parameter(), valid)
        && training.holdout > 0.0
        && useful_queries(rows) >= HOLDOUT_FROM
    {
        let parts = split_queries(rows, (1.0 / training.holdout).round().max(2.0) as usize, training.seed);
        let held_out = rows.select(parts[0].iter().copied());
        let mut others: Vec<usize> = parts[1..].concat();
        others.sort_unstable();
        let mut watch = Watch::new(training, Some(&held_out));
        algorithm.fit(&rows.select(others), training, &parameters, &mut watch)?;
        given.insert(rounds.to_owned(), watch.best_round().max(1) as f64);
        holdout_figure = watch.best_figure();
    }
    let parameters = Parameters::new(&algorithm.parameters(), &given)?;
    let mut watch = Watch::new(training, valid);
    let scorer = algorithm.fit(rows, training, &parameters, &mut watch)?;
    let mut validation = watch.best_figure().or(holdout_figure);
    if let (None, Some(valid)) = (validation, valid) {
        validation = Some(mean_of(valid, &scorer.score(valid), training.measure, training.relevant_from));
    }
    let model = RankingModel {
        algorithm: algorithm.to_string(),
        normalisation: training.normalisation,
        parameters: parameters.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        trained_on: TrainingSize { queries: data.queries().len(), rows: data.len() },
        validation: validation.map(|figure| (training.measure.to_string(), figure)),
        scorer,
    };
    model.validate().map_err(|problem| RankingError::Data(format!("training failed: {problem}")))?;
    Ok(Trained { model, rounds: watch.best_round(), validation })
}

/// Returns the number of queries with results of different grades, which alone teach an order.
fn useful_queries(data: &RankingData) -> usize {
    let differs =
        |rows: std::ops::Range<usize>| data.grades()[rows].windows(2).any(|pair| pair[0] != pair[1]);
    data.queries().iter().filter(|query| differs(query.rows.clone())).count()
}

fn check_grades(data: &RankingData) -> Result<(), RankingError> {
    if useful_queries(data) == 0 {
        return Err(RankingError::Data(format!(
            "nothing to learn: no query of {} has results of different grades",
            data.queries().len()
        )));
    }
    Ok(())
}

/// Follows the rounds of a training: evaluates validation data, remembers the best round, and stops when there is no
/// further improvement or the caller wishes so.
pub(crate) struct Watch<'a> {
    training: &'a Training<'a>,
    valid: Option<&'a RankingData>,
    /// Scores of the validation data.
    scores: Vec<f64>,
    rounds: usize,
    round: usize,
    best: Option<(usize, f64)>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(training: &'a Training<'a>, valid: Option<&'a RankingData>) -> Self {
        Self { training, valid, scores: Vec::new(), rounds: 0, round: 0, best: None }
    }

    /// Begins with these scores.
    pub(crate) fn begin(&mut self, rounds: usize, base: f64) {
        self.rounds = rounds;
        self.scores = vec![base; self.valid.map_or(0, RankingData::len)];
    }

    /// Adds the change of a round to the scores of the validation data.
    pub(crate) fn add_scores(&mut self, add: impl FnOnce(&RankingData, &mut [f64])) {
        if let Some(valid) = self.valid {
            add(valid, &mut self.scores);
        }
    }

    /// Replaces the scores of the validation data.
    pub(crate) fn set_scores(&mut self, score: impl Fn(&RankingData, usize) -> f64) {
        if let Some(valid) = self.valid {
            self.scores = (0..valid.len()).map(|row| score(valid, row)).collect();
        }
    }

    /// Returns `true` if the last round has the best figure so far, or without validation data.
    pub(crate) fn is_best(&self) -> bool {
        self.best_round() == self.round
    }

    /// Ends a round. Returns `true` if it was the last.
    pub(crate) fn is_done(&mut self) -> Result<bool, RankingError> {
        self.round += 1;
        let Training { measure, relevant_from, patience, .. } = *self.training;
        let figure = self.valid.map(|valid| mean_of(valid, &self.scores, measure, relevant_from));
        if let Some(figure) = figure
            && self.best.is_none_or(|(_, best)| figure > best)
        {
            self.best = Some((self.round, figure));
        }
        if !(self.training.progress)(self.round, self.rounds, figure) {
            return Err(RankingError::Stopped);
        }
        Ok(self.round >= self.rounds || self.best.is_some_and(|(best, _)| self.round >= best + patience))
    }

    /// Returns the round of the best figure, or the last round without validation data.
    pub(crate) fn best_round(&self) -> usize {
        self.best.map_or(self.round, |(round, _)| round)
    }

    pub(crate) fn best_figure(&self) -> Option<f64> {
        self.best.map(|(_, figure)| figure)
    }
}
