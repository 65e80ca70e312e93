//! Evaluation of an engine on a whole collection: the mean of every measure, and the values per query for
//! comparisons.
//!
//! ```
//! use pharos_learn::collection::{Collection, TestQuery};
//! use pharos_learn::report::{Measure, evaluate, format_table};
//! use pharos_learn::run::Rankings;
//!
//! let judged = [("a".to_owned(), 1)].into();
//! let query = TestQuery { id: "1".into(), text: "lighthouse".into(), judged, candidates: None };
//! let collection = Collection { queries: vec![query], ..Collection::default() };
//! let found = Rankings::from([("1".to_owned(), vec!["b".to_owned(), "a".to_owned()])]);
//! let report = evaluate(&collection, &found, 1);
//! assert_eq!(report.means[&Measure::ReciprocalRank], 0.5);
//! println!("{}", format_table(&[("pharos", &report)]));
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::collection::{Collection, TestQuery};
use crate::compare::{CompareError, PairedTest, paired_t_test};
use crate::metrics::{Discount, Ranking};
use crate::run::Rankings;

/// Largest depth N of a measure that is found by its name.
const MAX_DEPTH: usize = 1000;

/// A measure of a report, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Measure {
    /// P@N.
    Precision(usize),
    /// AP of a query, MAP as a mean.
    AveragePrecision,
    /// RR of a query, MRR as a mean.
    ReciprocalRank,
    /// S@N.
    Success(usize),
    /// nDCG@N.
    Ndcg(Discount, usize),
    /// ERR.
    Err,
}

impl Measure {
    /// Returns every measure of a report.
    pub fn all() -> Vec<Self> {
        const DEPTHS: [usize; 5] = [1, 3, 5, 10, 20];
        let mut all = DEPTHS.map(Self::Precision).to_vec();
        all.extend([Self::AveragePrecision, Self::ReciprocalRank, Self::Success(10)]);
        for discount in [Discount::Letor, Discount::Log] {
            all.extend(DEPTHS.map(|n| Self::Ndcg(discount, n)));
        }
        all.push(Self::Err);
        all
    }

    /// Computes the measure of one ranking. `max_grade` is the highest grade of the whole collection.
    pub fn compute(self, ranking: &Ranking<'_>, max_grade: u32) -> f64 {
        match self {
            Self::Precision(n) => ranking.precision_at(n),
            Self::AveragePrecision => ranking.average_precision(),
            Self::ReciprocalRank => ranking.reciprocal_rank(),
            Self::Success(n) => ranking.success_at(n),
            Self::Ndcg(discount, n) => ranking.ndcg_at(n, discount),
            Self::Err => ranking.err(max_grade),
        }
    }
}

impl fmt::Display for Measure {
    /// Formats the name of the mean.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Precision(n) => write!(f, "P@{n}"),
            Self::AveragePrecision => write!(f, "MAP"),
            Self::ReciprocalRank => write!(f, "MRR"),
            Self::Success(n) => write!(f, "S@{n}"),
            Self::Ndcg(Discount::Letor, n) => write!(f, "nDCG@{n} LETOR"),
            Self::Ndcg(Discount::Log, n) => write!(f, "nDCG@{n}"),
            Self::Err => write!(f, "ERR"),
        }
    }
}

/// Error for an unknown measure name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown measure `{name}`: use one of {}", names())]
pub struct UnknownMeasure {
    pub name: String,
}

fn names() -> String {
    Measure::all().iter().map(Measure::to_string).collect::<Vec<_>>().join(", ")
}

impl FromStr for Measure {
    type Err = UnknownMeasure;

    fn from_str(name: &str) -> Result<Self, UnknownMeasure> {
        let named = |measure: &Self| measure.to_string().eq_ignore_ascii_case(name);
        let depth = name.split(['@', ' ']).nth(1).and_then(|depth| depth.parse().ok());
        let at_depth = depth.filter(|depth| (1..=MAX_DEPTH).contains(depth)).map(|n| {
            [
                Self::Precision(n),
                Self::Success(n),
                Self::Ndcg(Discount::Letor, n),
                Self::Ndcg(Discount::Log, n),
            ]
        });
        let mut known = Self::all().into_iter().chain(at_depth.into_iter().flatten());
        known.find(named).ok_or_else(|| UnknownMeasure { name: name.to_owned() })
    }
}

impl From<Measure> for String {
    fn from(measure: Measure) -> Self {
        measure.to_string()
    }
}

impl TryFrom<String> for Measure {
    type Error = UnknownMeasure;

    fn try_from(name: String) -> Result<Self, UnknownMeasure> {
        name.parse()
    }
}

/// Evaluation of an engine on a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Number of queries in the means: those with a relevant document.
    pub queries: usize,
    /// The lowest grade that counts as relevant.
    pub relevant_from: u32,
    /// The highest grade of the collection.
    pub max_grade: u32,
    /// Mean of each measure over these queries; 0 without queries.
    pub means: BTreeMap<Measure, f64>,
    /// Query id → measures.
    pub per_query: BTreeMap<String, BTreeMap<Measure, f64>>,
}

impl EvaluationReport {
    /// Returns the values of a measure for each query, in the order of the query ids.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        self.per_query.values().filter_map(|figures| figures.get(&measure).copied()).collect()
    }

    /// Tests whether `self` and `other` differ significantly by this measure.
    pub fn compare(&self, other: &Self, measure: Measure) -> Result<PairedTest, CompareError> {
        if !self.per_query.keys().eq(other.per_query.keys()) {
            return Err(CompareError::OtherQueries);
        }
        paired_t_test(&self.values(measure), &other.values(measure))
    }
}

/// Evaluates the rankings for the queries of a collection.
///
/// A query without a ranking counts as an empty result. If the query has candidates, those missing from the ranking
/// are appended in their given order. A document retrieved twice counts at its first position.
pub fn evaluate(collection: &Collection, rankings: &Rankings, relevant_from: u32) -> EvaluationReport {
    let measures = Measure::all();
    let max_grade = collection.max_grade();
    let mut per_query = BTreeMap::new();
    for query in collection.queries_with_relevant(relevant_from) {
        let grades = grades_in_order(query, rankings.get(&query.id).map_or(&[], Vec::as_slice));
        let judged: Vec<u32> = query.judged.values().copied().collect();
        let ranking = Ranking { grades: &grades, judged: &judged, relevant_from };
        let figures: BTreeMap<_, _> =
            measures.iter().map(|&each| (each, each.compute(&ranking, max_grade))).collect();
        per_query.insert(query.id.clone(), figures);
    }
    let queries = per_query.len();
    let mut report =
        EvaluationReport { queries, relevant_from, max_grade, means: BTreeMap::new(), per_query };
    for measure in measures {
        let sum: f64 = report.values(measure).iter().sum();
        report.means.insert(measure, sum / queries.max(1) as f64);
    }
    report
}

fn grades_in_order(query: &TestQuery, found: &[String]) -> Vec<u32> {
    let mut seen = HashSet::new();
    let candidates = query.candidates.iter().flatten();
    let documents = found.iter().chain(candidates).filter(|document| seen.insert(document.as_str()));
    documents.map(|document| query.judged.get(document).copied().unwrap_or(0)).collect()
}

/// Formats reports side by side, with one line per measure.
pub fn format_table(reports: &[(&str, &EvaluationReport)]) -> String {
    let mut rows = vec![row("", reports, |name, _| name.to_owned())];
    rows.push(row("queries", reports, |_, report| report.queries.to_string()));
    rows.extend(Measure::all().into_iter().map(|measure| {
        row(&measure.to_string(), reports, |_, report| match report.means.get(&measure) {
            Some(mean) => format!("{mean:.4}"),
            None => "-".to_owned(),
        })
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=reports.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        text.push_str(&format!("{:<width$}", row[0], width = widths[0]));
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text.push_str("discount of nDCG at position j: 1/log2(1+j); LETOR: 1 at 1 and 2, then 1/log2(j)\n");
    text
}

/// Builds a row of a label and one cell per report.
fn row(
    label: &str,
    reports: &[(&str, &EvaluationReport)],
    cell: impl Fn(&str, &EvaluationReport) -> String,
) -> Vec<String> {
    let cells = reports.iter().map(|(name, report)| cell(name, report));
    [label.to_owned()].into_iter().chain(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(id: &str, judged: &[(&str, u32)], candidates: Option<&[&str]>) -> TestQuery {
        TestQuery {
            id: id.to_owned(),
            text: "lighthouse".to_owned(),
            judged: judged.iter().map(|&(document, grade)| (document.to_owned(), grade)).collect(),
            candidates: candidates.map(|ids| ids.iter().map(|&id| id.to_owned()).collect()),
        }
    }

    fn rankings(found: &[(&str, &str)]) -> Rankings {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        found.iter().map(|&(query, documents)| (query.to_owned(), words(documents))).collect()
    }

    fn collection() -> Collection {
        let queries = vec![
            query("1", &[("a", 1), ("b", 2), ("c", 0)], None),
            query("2", &[("a", 2)], None),
            query("none", &[("a", 0)], None),
        ];
        Collection { queries, ..Collection::default() }
    }

    #[test]
    fn means_over_queries_that_have_an_answer() {
        let report = evaluate(&collection(), &rankings(&[("1", "c b c a"), ("other", "a")]), 1);
        assert_eq!((report.queries, report.max_grade), (2, 2));
        assert_eq!(report.values(Measure::ReciprocalRank), [0.5, 0.0], "query 2 was not answered");
        // The second c does not count, so a is third.
        assert_eq!(report.means[&Measure::AveragePrecision], (0.5 + 2.0 / 3.0) / 2.0 / 2.0);
        assert_eq!(report.means[&Measure::Precision(5)], 0.2);
        assert_eq!(report.means[&Measure::Success(10)], 0.5);
        let strict = evaluate(&collection(), &rankings(&[("1", "a b")]), 2);
        assert_eq!(strict.values(Measure::ReciprocalRank), [0.5, 0.0]);
    }

    #[test]
    fn missing_candidates_are_appended_in_order() {
        let listed = query("1", &[("a", 0), ("b", 1), ("c", 3)], Some(&["a", "b", "c"]));
        assert_eq!(grades_in_order(&listed, &[]), [0, 1, 3]);
        assert_eq!(grades_in_order(&listed, &["c".to_owned()]), [3, 0, 1]);
        assert_eq!(grades_in_order(&listed, &["c".to_owned(), "z".to_owned(), "b".to_owned()]), [3, 0, 1, 0]);
    }

    #[test]
    fn a_report_is_kept_as_json() {
        let report = evaluate(&collection(), &rankings(&[("1", "b a")]), 1);
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.contains("\"nDCG@10 LETOR\":0.5"), "{json}");
        assert_eq!(serde_json::from_str::<EvaluationReport>(&json).unwrap(), report);
    }

    #[test]
    fn measures_are_found_by_their_names() {
        assert_eq!("ndcg@10".parse(), Ok(Measure::Ndcg(Discount::Log, 10)));
        assert_eq!("map".parse(), Ok(Measure::AveragePrecision));
        assert_eq!("P@7".parse(), Ok(Measure::Precision(7)));
        assert_eq!("ndcg@2 letor".parse(), Ok(Measure::Ndcg(Discount::Letor, 2)));
        assert!("P@0".parse::<Measure>().is_err() && "P@1001".parse::<Measure>().is_err());
        let error = "F1".parse::<Measure>().unwrap_err().to_string();
        assert!(error.starts_with("unknown measure `F1`: use one of P@1, P@3, "), "{error}");
    }

    #[test]
    fn only_the_same_queries_are_compared() {
        let good = evaluate(&collection(), &rankings(&[("1", "b a"), ("2", "a")]), 1);
        let bad = evaluate(&collection(), &rankings(&[]), 1);
        let test = good.compare(&bad, Measure::Success(10)).unwrap();
        assert_eq!((test.mean_difference, test.is_significant()), (1.0, true));
        let other = evaluate(&Collection::default(), &Rankings::new(), 1);
        assert_eq!(good.compare(&other, Measure::Success(10)), Err(CompareError::OtherQueries));
        assert_eq!(other.means[&Measure::Err], 0.0);
    }

    #[test]
    fn the_table_is_aligned() {
        let good = evaluate(&collection(), &rankings(&[("1", "b a"), ("2", "a")]), 1);
        let bad = evaluate(&collection(), &rankings(&[]), 1);
        let text = format_table(&[("ours", &good), ("another engine", &bad)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "                 ours  another engine");
        assert_eq!(lines[1], "queries             2               2");
        assert_eq!(lines[2], "P@1            1.0000          0.0000");
        assert_eq!(lines.len(), 2 + Measure::all().len() + 1);
    }
}
