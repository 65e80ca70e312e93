//! Rank aggregation (排序聚合): combines the rankings of several rankers without training.
//!
//! Each feature holds the rank that one ranker gives a result: 1 for the first. A missing value means that the ranker does
//! not list the result, as in the aggregation sets of LETOR 4.0.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::data::RankingData;

/// A rule of combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// Number of results ranked behind, summed over the rankers (de Borda 1781; Aslam & Montague 2001). Results that a
    /// ranker does not list share the points that are left.
    Borda,
    /// Minus the median rank (Fagin, Kumar & Sivakumar 2003); results that are not listed follow the last.
    MedianRank,
    /// Sum of 1 / (60 + rank) (Cormack, Clarke & Büttcher 2009).
    ReciprocalRank,
    /// Number of other results that a majority of the rankers listing both rank behind (Copeland 1951; Condorcet fusion,
    /// Montague & Aslam 2002).
    Condorcet,
}

/// Constant k of reciprocal rank fusion.
const RRF_K: f64 = 60.0;

/// Largest number of results of a query that are compared in pairs.
const MAX_COMPARED: usize = 2000;

impl Aggregation {
    /// Returns the score of each row.
    pub(crate) fn score(self, data: &RankingData) -> Vec<f64> {
        let rankers: Vec<usize> = (0..data.features())
            .filter(|&feature| data.column(feature).any(|rank| rank.is_nan() || rank != 0.0))
            .collect();
        data.queries().iter().flat_map(|query| self.score_query(data, &rankers, query.rows.clone())).collect()
    }

    fn score_query(self, data: &RankingData, rankers: &[usize], rows: Range<usize>) -> Vec<f64> {
        let ranks: Vec<Vec<f32>> =
            rankers.iter().map(|&ranker| rows.clone().map(|row| data.row(row)[ranker]).collect()).collect();
        match self {
            Self::Borda => {
                let mut scores = vec![0.0; rows.len()];
                for ranks in &ranks {
                    scores.iter_mut().zip(borda_points(ranks)).for_each(|(score, points)| *score += points);
                }
                scores
            }
            Self::MedianRank => (0..rows.len())
                .map(|row| {
                    let mut of_row: Vec<f32> = ranks
                        .iter()
                        .map(|ranks| if ranks[row].is_nan() { f32::MAX } else { ranks[row] })
                        .collect();
                    of_row.sort_unstable_by(f32::total_cmp);
                    -f64::from(of_row.get(of_row.len().saturating_sub(1) / 2).copied().unwrap_or(0.0))
                })
                .collect(),
            Self::ReciprocalRank => (0..rows.len())
                .map(|row| {
                    let listed = ranks.iter().map(|ranks| ranks[row]).filter(|rank| !rank.is_nan());
                    listed.map(|rank| 1.0 / (RRF_K + f64::from(rank).max(0.0))).sum()
                })
                .collect(),
            Self::Condorcet => {
                let compared = rows.len().min(MAX_COMPARED);
                (0..rows.len())
                    .map(|row| (0..compared).filter(|&other| is_preferred(&ranks, row, other)).count() as f64)
                    .collect()
            }
        }
    }
}

/// Returns the points of one ranker: for the r-th of n results n − r; results not listed share the rest equally.
fn borda_points(ranks: &[f32]) -> Vec<f64> {
    let count = ranks.len();
    let mut listed: Vec<usize> = (0..count).filter(|&row| !ranks[row].is_nan()).collect();
    listed.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
    let unlisted = count - listed.len();
    let mut points = vec![unlisted.saturating_sub(1) as f64 / 2.0; count];
    for (place, row) in listed.into_iter().enumerate() {
        points[row] = (count - 1 - place) as f64;
    }
    points
}

/// Returns `true` if more rankers prefer the first of two results than the second. A listed result is preferred to one that
/// is not.
fn is_preferred(ranks: &[Vec<f32>], first: usize, second: usize) -> bool {
    let votes: i64 = ranks
        .iter()
        .map(|ranks| match (ranks[first].is_nan(), ranks[second].is_nan()) {
            (true, true) => 0,
            (true, false) => -1,
            (false, true) => 1,
            (false, false) => {
                i64::from(ranks[first] < ranks[second]) - i64::from(ranks[first] > ranks[second])
            }
        })
        .sum();
    votes > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> RankingData {
        // Rankers: a b c · a c (b not listed) · b a c
        let text = "0 qid:1 1:1 2:1 3:2\n0 qid:1 1:2 2:NULL 3:1\n0 qid:1 1:3 2:2 3:3\n";
        RankingData::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn borda_counts_the_results_behind() {
        assert_eq!(Aggregation::Borda.score(&data()), [2.0 + 2.0 + 1.0, 1.0 + 0.0 + 2.0, 0.0 + 1.0 + 0.0]);
        assert_eq!(borda_points(&[1.0, f32::NAN, f32::NAN, 2.0]), [3.0, 0.5, 0.5, 2.0]);
    }

    #[test]
    fn medians_fusion_and_majorities() {
        assert_eq!(Aggregation::MedianRank.score(&data()), [-1.0, -2.0, -3.0]);
        assert_eq!(Aggregation::Condorcet.score(&data()), [2.0, 1.0, 0.0]);
        let fused = Aggregation::ReciprocalRank.score(&data());
        assert!((fused[0] - (2.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-12);
        assert!(fused[0] > fused[2] && fused[2] > fused[1], "b is listed by two rankers only");
    }
}
