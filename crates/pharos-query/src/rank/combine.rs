//! Combination of the parts of a score (综合统计优先序; 《搜索引擎——原理、技术与系统》§10.3).
//!
//! Every part is between 0 and 1, and the weights (k) sum to 1. With the sum, the default, no part contributes more
//! than its weight, whatever manipulation it is subject to. With the product, each part multiplies all others; it
//! exists for comparison. The score of a page that lacks words is multiplied by a power of the share of the words that it
//! has, the score of a listing by a constant.

use pharos_core::config::{ScoreCombination, ScoreWeights};
use serde::Serialize;
use utoipa::ToSchema;

/// Exponent of the share of the words on a page that lacks some. These add nothing to the other parts, so the exponent is
/// small: it keeps pages with all words ahead of others that are about equally good.
const COVERAGE_EXPONENT: f64 = 0.3;

/// The parts of the score of a page, each between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoreParts {
    pub(crate) words: f64,
    pub(crate) near: f64,
    pub(crate) title: f64,
    pub(crate) links: f64,
    pub(crate) home: f64,
    /// `None` if there are no clicks for this query.
    pub(crate) clicks: Option<f64>,
    pub(crate) fresh: f64,
    /// Share of the query found only outside the main content.
    pub(crate) other: f64,
    /// Boost set by the operator.
    pub(crate) boost: f64,
    /// Share of the required words that the page contains, by their weights.
    pub(crate) coverage: f64,
    /// Factor of a listing; 1 for other pages.
    pub(crate) listing: f64,
}

impl Default for ScoreParts {
    /// The parts of a page that contains all words, which count nothing.
    fn default() -> Self {
        Self {
            words: 0.0,
            near: 0.0,
            title: 0.0,
            links: 0.0,
            home: 0.0,
            clicks: None,
            fresh: 0.0,
            other: 0.0,
            boost: 0.0,
            coverage: 1.0,
            listing: 1.0,
        }
    }
}

/// The contribution of one part to a score.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Contribution {
    /// Name of the part.
    pub part: &'static str,
    /// Value of the part for the page, between 0 and 1.
    pub value: f64,
    /// Weight of the part (k).
    pub weight: f64,
    /// Contribution: the product of value and weight.
    pub gives: f64,
}

impl ScoreParts {
    /// Returns the values in the order of [`ScoreWeights::NAMES`].
    fn values(&self) -> [f64; 8] {
        let Self { words, near, title, links, home, clicks, fresh, other, .. } = *self;
        [words, near, title, links, home, clicks.unwrap_or_default(), fresh, other]
    }

    /// Returns the factor for missing words.
    fn coverage_factor(&self) -> f64 {
        self.coverage.powf(COVERAGE_EXPONENT)
    }

    /// Returns the score.
    pub(crate) fn score(&self, weights: &ScoreWeights, combine: ScoreCombination) -> f64 {
        let sum = |of: &[f64], by: &[f64]| of.iter().zip(by).map(|(value, k)| value * k).sum::<f64>();
        let (values, k) = (self.values(), weights.values());
        let score = match combine {
            ScoreCombination::Sum => sum(&values, &k),
            ScoreCombination::Product => {
                // Words, links and clicks are multiplied (WB·WL·WU). The other parts belong to the words.
                let of_words = |all: [f64; 8]| [all[0], all[1], all[2], all[4], all[6], all[7]];
                let all: f64 = of_words(k).iter().sum();
                let words = sum(&of_words(values), &of_words(k)) / all.max(f64::EPSILON);
                let links = if weights.links > 0.0 { self.links } else { 1.0 };
                words * links * self.clicks.unwrap_or(1.0)
            }
        };
        score * self.coverage_factor() * self.listing + self.boost
    }

    /// Returns the contribution of each part.
    pub(crate) fn contributions(&self, weights: &ScoreWeights) -> Vec<Contribution> {
        let parts = ScoreWeights::NAMES.into_iter().zip(self.values()).zip(weights.values());
        let mut all: Vec<Contribution> = parts
            .filter(|(_, weight)| *weight > 0.0)
            .map(|((part, value), weight)| Contribution { part, value, weight, gives: value * weight })
            .collect();
        let factors = [("missing words", self.coverage_factor()), ("listing", self.listing)];
        for (part, value) in factors.into_iter().filter(|(_, value)| *value < 1.0) {
            let lost = all.iter().map(|part| part.gives).sum::<f64>() * (value - 1.0);
            all.push(Contribution { part, value, weight: 1.0, gives: lost });
        }
        if self.boost != 0.0 {
            all.push(Contribution { part: "boost", value: 1.0, weight: self.boost, gives: self.boost });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::config::RankConfig;

    use super::*;

    /// The most clicked page, with little else, against a page that matches the query.
    #[test]
    fn the_sum_bounds_what_clicks_gain_and_the_product_does_not() {
        let weights = RankConfig::default().ordinary;
        let clicked = ScoreParts { words: 0.2, links: 0.1, clicks: Some(1.0), ..ScoreParts::default() };
        let before = ScoreParts { clicks: Some(0.0), ..clicked };
        let good = ScoreParts {
            words: 0.7,
            near: 0.5,
            title: 0.5,
            links: 0.2,
            clicks: Some(0.02),
            ..ScoreParts::default()
        };
        let gain =
            clicked.score(&weights, ScoreCombination::Sum) - before.score(&weights, ScoreCombination::Sum);
        assert!(gain <= weights.clicks + 1e-12, "{gain}");
        assert!(good.score(&weights, ScoreCombination::Sum) > clicked.score(&weights, ScoreCombination::Sum));
        assert!(
            good.score(&weights, ScoreCombination::Product)
                < clicked.score(&weights, ScoreCombination::Product)
        );
    }

    #[test]
    fn contributions_sum_to_the_score() {
        let weights = RankConfig::default().site;
        let parts = ScoreParts { words: 0.3, near: 1.0, home: 0.5, boost: 0.2, ..ScoreParts::default() };
        let sum: f64 = parts.contributions(&weights).iter().map(|part| part.gives).sum();
        assert!((sum - parts.score(&weights, ScoreCombination::Sum)).abs() < 1e-12);
        assert!(parts.contributions(&weights).iter().any(|part| part.part == "boost"));
    }

    #[test]
    fn without_clicks_they_weigh_nothing() {
        let weights = RankConfig::default().ordinary;
        let (a, b) = (
            ScoreParts { words: 0.3, links: 0.5, ..ScoreParts::default() },
            ScoreParts { words: 0.2, links: 0.5, ..ScoreParts::default() },
        );
        for combine in [ScoreCombination::Sum, ScoreCombination::Product] {
            assert!(a.score(&weights, combine) > b.score(&weights, combine));
        }
    }
}
