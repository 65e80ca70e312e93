//! Quality measures of one ranking: precision, average precision, reciprocal rank, success, nDCG and ERR.
//!
//! P@N, AP and nDCG as in LETOR (Qin et al. 2010), nDCG after Järvelin & Kekäläinen 2002 with the gain of Burges et
//! al. 2005, ERR after Chapelle et al. 2009.

use serde::{Deserialize, Serialize};

/// Highest allowed grade; gains grow as powers of two.
pub const MAX_GRADE: u32 = 30;

/// The judged results of one query, best result first.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// Grade of each result in ranking order; 0 for results without a judgement.
    pub grades: &'a [u32],
    /// All grades given for the query, retrieved or not, in any order. They include those of `grades`.
    pub judged: &'a [u32],
    /// The lowest grade that counts as relevant for binary measures; at least 1.
    pub relevant_from: u32,
}

/// Discount of a result at position j (from one) relative to the first.
///
/// The literature uses two discounts whose values are not comparable, so a report names the one it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Discount {
    /// 1 at positions 1 and 2, then 1/log2(j), as in the LETOR scripts.
    #[default]
    Letor,
    /// 1/log2(1+j), as in most other publications.
    Log,
}

impl Discount {
    /// Returns the factor at a position, counted from one.
    fn at(self, position: usize) -> f64 {
        match self {
            Discount::Letor if position <= 2 => 1.0,
            Discount::Letor => 1.0 / (position as f64).log2(),
            Discount::Log => 1.0 / (1.0 + position as f64).log2(),
        }
    }
}

impl Ranking<'_> {
    /// Returns the number of relevant documents, retrieved or not.
    pub fn relevant(&self) -> usize {
        self.judged.iter().filter(|&&grade| self.is_relevant(grade)).count()
    }

    /// Returns P@N: the share of relevant documents in the first `n`. Missing results count as irrelevant.
    pub fn precision_at(&self, n: usize) -> f64 {
        let found = self.first(n).filter(|&grade| self.is_relevant(grade)).count();
        if n == 0 { 0.0 } else { found as f64 / n as f64 }
    }

    /// Returns AP: the sum of the precision at each relevant result, divided by the number of relevant documents.
    pub fn average_precision(&self) -> f64 {
        let (mut found, mut sum) = (0_usize, 0.0);
        for (before, &grade) in self.grades.iter().enumerate() {
            if self.is_relevant(grade) {
                found += 1;
                sum += found as f64 / (before + 1) as f64;
            }
        }
        match self.relevant() {
            0 => 0.0,
            relevant => sum / relevant as f64,
        }
    }

    /// Returns the reciprocal rank: one divided by the position of the first relevant result; 0 if there is none.
    pub fn reciprocal_rank(&self) -> f64 {
        let first = self.grades.iter().position(|&grade| self.is_relevant(grade));
        first.map_or(0.0, |before| 1.0 / (before + 1) as f64)
    }

    /// Returns S@N: 1 if one of the first `n` results is relevant, otherwise 0.
    pub fn success_at(&self, n: usize) -> f64 {
        if self.first(n).any(|grade| self.is_relevant(grade)) { 1.0 } else { 0.0 }
    }

    /// Returns nDCG@N: the discounted gain of the first `n` results, divided by that of the ideal order.
    pub fn ndcg_at(&self, n: usize, discount: Discount) -> f64 {
        let mut ideal = self.judged.to_vec();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        let best = discounted_gain(ideal.into_iter().take(n), discount);
        if best > 0.0 { discounted_gain(self.first(n), discount) / best } else { 0.0 }
    }

    /// Returns ERR: the expected 1/j for a user who scans the list and stops at position j, satisfied, with probability
    /// `R_j` = (2^grade − 1) / 2^`max_grade`. `max_grade` is the highest grade of the whole collection.
    pub fn err(&self, max_grade: u32) -> f64 {
        let (mut still_reading, mut sum) = (1.0, 0.0);
        for (before, &grade) in self.grades.iter().enumerate() {
            let satisfied = gain(grade.min(max_grade)) / exp2(max_grade);
            sum += still_reading * satisfied / (before + 1) as f64;
            still_reading *= 1.0 - satisfied;
        }
        sum
    }

    fn is_relevant(&self, grade: u32) -> bool {
        grade >= self.relevant_from.max(1)
    }

    fn first(&self, n: usize) -> impl Iterator<Item = u32> {
        self.grades.iter().copied().take(n)
    }
}

fn discounted_gain(grades: impl Iterator<Item = u32>, discount: Discount) -> f64 {
    grades.zip(1..).map(|(grade, position)| gain(grade) * discount.at(position)).sum()
}

pub(crate) fn gain(grade: u32) -> f64 {
    exp2(grade) - 1.0
}

fn exp2(grade: u32) -> f64 {
    f64::from(grade.min(MAX_GRADE)).exp2()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const R1: [u32; 10] = [3, 4, 2, 0, 1, 3, 0, 1, 0, 1];
    const R2: [u32; 10] = [4, 2, 3, 0, 1, 3, 0, 1, 0, 1];
    const R3: [u32; 10] = [4, 2, 3, 3, 1, 0, 0, 1, 0, 1];

    fn ranking(grades: &[u32], relevant_from: u32) -> Ranking<'_> {
        Ranking { grades, judged: grades, relevant_from }
    }

    /// Compares with values printed with four digits.
    #[track_caller]
    fn assert_printed<const N: usize>(found: [f64; N], printed: [f64; N]) {
        for (found, printed) in found.iter().zip(printed) {
            assert!((found - printed).abs() <= 0.000_050_1, "{found} is not printed as {printed}");
        }
    }

    fn ndcg(grades: &[u32], discount: Discount) -> [f64; 5] {
        [1, 2, 3, 5, 10].map(|n| ranking(grades, 1).ndcg_at(n, discount))
    }

    #[test]
    fn precision_counts_the_relevant_among_the_first() {
        for grades in [R1, R2] {
            assert_eq!([1, 4, 5, 10].map(|n| ranking(&grades, 1).precision_at(n)), [1.0, 0.75, 0.8, 0.7]);
        }
        assert_eq!([1, 4, 5, 10].map(|n| ranking(&R3, 1).precision_at(n)), [1.0, 1.0, 1.0, 0.7]);
    }

    #[test]
    fn average_precision_of_the_three_rankings() {
        assert_printed([R1, R2, R3].map(|r| ranking(&r, 1).average_precision()), [0.8690, 0.8690, 0.9214]);
        assert_printed([R1, R2, R3].map(|r| ranking(&r, 2).average_precision()), [0.9167, 0.9167, 1.0]);
    }

    #[test]
    fn ndcg_of_the_three_rankings_as_letor_discounts() {
        assert_printed(ndcg(&R1, Discount::Letor), [0.4667, 1.0, 0.9045, 0.8581, 0.9510]);
        assert_printed(ndcg(&R2, Discount::Letor), [1.0, 0.8182, 0.8486, 0.8060, 0.9003]);
        assert_printed(ndcg(&R3, Discount::Letor), [1.0, 0.8182, 0.8486, 0.9294, 0.9275]);
    }

    #[test]
    fn ndcg_of_the_three_rankings_with_the_logarithm() {
        assert_printed(ndcg(&R1, Discount::Log), [0.4667, 0.8479, 0.7839, 0.7461, 0.8483]);
        assert_printed(ndcg(&R2, Discount::Log), [1.0, 0.8700, 0.8899, 0.8449, 0.9443]);
        assert_printed(ndcg(&R3, Discount::Log), [1.0, 0.8700, 0.8899, 0.9674, 0.9650]);
    }

    #[test]
    fn the_discount_changes_the_order_at_five() {
        let at_five = |discount| [R1, R2, R3].map(|r| ranking(&r, 1).ndcg_at(5, discount));
        let [first, second, third] = at_five(Discount::Letor);
        assert!(third > first && first > second);
        let [first, second, third] = at_five(Discount::Log);
        assert!(third > second && second > first);
    }

    #[test]
    fn expected_reciprocal_rank_of_the_three_rankings() {
        assert_printed([R1, R2, R3].map(|r| ranking(&r, 1).err(4)), [0.7059, 0.9533, 0.9543]);
    }

    #[test]
    fn binary_measures_ignore_grades() {
        let (first, second) = (ranking(&R1, 1), ranking(&R2, 1));
        assert!((1..=10).all(|n| first.precision_at(n) == second.precision_at(n)));
        assert_eq!(first.average_precision(), second.average_precision());
        assert!((1..=10).all(|n| first.ndcg_at(n, Discount::Log) != second.ndcg_at(n, Discount::Log)));
        assert!(first.err(4) < second.err(4));
    }

    #[test]
    fn without_relevant_documents_measures_are_zero() {
        for grades in [&[0, 0, 0][..], &[]] {
            let ranking = ranking(grades, 1);
            assert_eq!((ranking.average_precision(), ranking.err(4)), (0.0, 0.0));
            assert_eq!(
                (ranking.ndcg_at(10, Discount::Letor), ranking.ndcg_at(10, Discount::Log)),
                (0.0, 0.0)
            );
            assert_eq!((ranking.reciprocal_rank(), ranking.success_at(10)), (0.0, 0.0));
        }
    }

    #[test]
    fn missing_relevant_documents_count() {
        let ranking = Ranking { grades: &[0, 1], judged: &[1, 1, 1, 1, 0], relevant_from: 1 };
        assert_eq!((ranking.precision_at(10), ranking.precision_at(0)), (0.1, 0.0));
        assert_eq!(ranking.average_precision(), 0.5 / 4.0);
        assert_eq!(
            (ranking.reciprocal_rank(), ranking.success_at(1), ranking.success_at(2)),
            (0.5, 0.0, 1.0)
        );
        assert_eq!(ranking.ndcg_at(2, Discount::Letor), 0.5);
        assert_eq!(ranking.err(1), 0.25);
    }

    proptest! {
        #[test]
        fn measures_stay_between_zero_and_one(
            grades in proptest::collection::vec(any::<u32>(), 0..20),
            missed in proptest::collection::vec(0..5_u32, 0..5),
            relevant_from in 0..4_u32,
            n in 0..25_usize,
        ) {
            let judged = [&grades[..], &missed].concat();
            let ranking = Ranking { grades: &grades, judged: &judged, relevant_from };
            for value in [
                ranking.precision_at(n),
                ranking.average_precision(),
                ranking.reciprocal_rank(),
                ranking.success_at(n),
                ranking.ndcg_at(n, Discount::Letor),
                ranking.ndcg_at(n, Discount::Log),
                ranking.err(n as u32),
            ] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&value), "{value}");
            }
        }
    }
}
