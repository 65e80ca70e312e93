//! Evaluation of scores by the measures of the literature.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::data::RankingData;
use crate::metrics::{Discount, Ranking};
use crate::report::Measure;

/// Figure of a query without a relevant document, for which all rankings are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyQueries {
    /// 0, as in the scripts of LETOR.
    #[default]
    Zero,
    /// 1, as in LightGBM, XGBoost and CatBoost.
    One,
    /// The query does not count.
    LeaveOut,
}

impl FromStr for EmptyQueries {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "0" | "zero" => Ok(Self::Zero),
            "1" | "one" => Ok(Self::One),
            "out" | "leave-out" | "skip" => Ok(Self::LeaveOut),
            _ => Err(format!(
                "unknown treatment `{name}` of queries without a relevant document: use 0, 1 or out"
            )),
        }
    }
}

impl fmt::Display for EmptyQueries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "count as 0",
            Self::One => "count as 1",
            Self::LeaveOut => "are left out",
        })
    }
}

/// Figures of a model on a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankingReport {
    pub rows: usize,
    /// Queries of the data.
    pub queries: usize,
    /// Queries without a relevant document.
    pub empty_queries: usize,
    /// Their figure.
    pub empty: EmptyQueries,
    /// The lowest grade that counts as relevant for binary measures.
    pub relevant_from: u32,
    /// The highest grade, for ERR.
    pub max_grade: u32,
    /// Mean of each measure.
    pub means: BTreeMap<Measure, f64>,
    /// Measures of each query that counts.
    #[serde(skip)]
    pub per_query: Vec<QueryFigures>,
}

/// Measures of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryFigures {
    pub query: String,
    pub figures: BTreeMap<Measure, f64>,
}

impl RankingReport {
    /// Returns the mean of a measure by its name.
    pub fn mean(&self, name: &str) -> Option<f64> {
        name.parse().ok().and_then(|measure: Measure| self.means.get(&measure).copied())
    }

    /// Returns the values of a measure for each query that counts.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        self.per_query.iter().filter_map(|query| query.figures.get(&measure).copied()).collect()
    }
}

/// Returns the measures of a report: nDCG@1 to 10 with both discounts, P@1 to 10, MAP, MRR and ERR.
pub fn measures() -> Vec<Measure> {
    let depths = || 1..=10;
    let mut all: Vec<Measure> = depths().map(|n| Measure::Ndcg(Discount::Log, n)).collect();
    all.extend(depths().map(|n| Measure::Ndcg(Discount::Letor, n)));
    all.extend(depths().map(Measure::Precision));
    all.extend([Measure::AveragePrecision, Measure::ReciprocalRank, Measure::Err]);
    all
}

/// Evaluates the scores of all rows. Rows of equal score keep their order in the file, as in the scripts of LETOR.
pub fn evaluate(
    data: &RankingData,
    scores: &[f64],
    relevant_from: u32,
    empty: EmptyQueries,
) -> RankingReport {
    let measures = measures();
    let max_grade = data.max_grade();
    let mut per_query = Vec::with_capacity(data.queries().len());
    let mut empty_queries = 0;
    for (number, query) in data.queries().iter().enumerate() {
        let found = query_figures(data, number, scores, &measures, relevant_from, max_grade);
        let figures = match (found, empty) {
            (Some(figures), _) => figures,
            (None, kind) => {
                empty_queries += 1;
                let value = match kind {
                    EmptyQueries::Zero => 0.0,
                    EmptyQueries::One => 1.0,
                    EmptyQueries::LeaveOut => continue,
                };
                vec![value; measures.len()]
            }
        };
        let figures = measures.iter().copied().zip(figures).collect();
        per_query.push(QueryFigures { query: query.id.to_string(), figures });
    }
    let count = per_query.len().max(1) as f64;
    let mean = |measure: &Measure| per_query.iter().map(|query| query.figures[measure]).sum::<f64>() / count;
    RankingReport {
        rows: data.len(),
        queries: data.queries().len(),
        empty_queries,
        empty,
        relevant_from,
        max_grade,
        means: measures.iter().map(|measure| (*measure, mean(measure))).collect(),
        per_query,
    }
}

/// Returns the mean of one measure over the queries with a relevant document; 0 if there is none.
pub fn mean_of(data: &RankingData, scores: &[f64], measure: Measure, relevant_from: u32) -> f64 {
    let max_grade = data.max_grade();
    let (mut sum, mut count) = (0.0, 0_usize);
    for query in 0..data.queries().len() {
        if let Some(figures) = query_figures(data, query, scores, &[measure], relevant_from, max_grade) {
            sum += figures[0];
            count += 1;
        }
    }
    sum / count.max(1) as f64
}

/// Returns a measure of each query with a relevant document.
pub(crate) fn measure_per_query(data: &RankingData, scores: &[f64], measure: Measure) -> Vec<f64> {
    let max_grade = data.max_grade();
    (0..data.queries().len())
        .filter_map(|query| query_figures(data, query, scores, &[measure], 1, max_grade))
        .map(|figures| figures[0])
        .collect()
}

/// Returns the measures of a query, or `None` if it has no relevant document.
fn query_figures(
    data: &RankingData,
    query: usize,
    scores: &[f64],
    measures: &[Measure],
    relevant_from: u32,
    max_grade: u32,
) -> Option<Vec<f64>> {
    let rows = data.queries()[query].rows.clone();
    let judged = &data.grades()[rows.clone()];
    if !judged.iter().any(|&grade| grade >= relevant_from.max(1)) {
        return None;
    }
    let order = order_by_score(&scores[rows]);
    let grades: Vec<u32> = order.iter().map(|&place| judged[place]).collect();
    let ranking = Ranking { grades: &grades, judged, relevant_from };
    Some(measures.iter().map(|measure| measure.compute(&ranking, max_grade)).collect())
}

/// Returns the places of these scores, the greatest first; equal scores keep their order.
pub fn order_by_score(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}
