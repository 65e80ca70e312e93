//! Smoothing of counts, so that unseen events are not impossible: simple Good-Turing (Gale & Sampson 1995),
//! Katz back-off (Katz 1987), and add-one (Laplace) as the baseline.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use thiserror::Error;

/// Method of estimating the probability of word pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Smoothing {
    /// Adds one to every count (Laplace).
    AddOne,
    /// Adjusted counts; all unseen pairs of a word share the remaining probability equally.
    GoodTuring,
    /// Discounts small counts; unseen pairs share the rest in proportion to the probability of the second
    /// word.
    #[default]
    Katz,
}

/// Error: no smoothing method has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown smoothing `{0}`: expected add-one, good-turing or katz")]
pub struct UnknownSmoothing(String);

impl Smoothing {
    /// All methods.
    pub const ALL: [Smoothing; 3] = [Smoothing::AddOne, Smoothing::GoodTuring, Smoothing::Katz];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Smoothing::AddOne => "add-one",
            Smoothing::GoodTuring => "good-turing",
            Smoothing::Katz => "katz",
        }
    }
}

impl Display for Smoothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Smoothing {
    type Err = UnknownSmoothing;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| UnknownSmoothing(name.to_string()))
    }
}

/// Frequencies of frequencies: count → number of events with that count.
pub type CountsOfCounts = BTreeMap<u32, u32>;

/// Returns the frequencies of frequencies; zero counts are ignored.
pub fn counts_of_counts(counts: impl IntoIterator<Item = u32>) -> CountsOfCounts {
    let mut table = CountsOfCounts::new();
    for count in counts.into_iter().filter(|count| *count > 0) {
        *table.entry(count).or_default() += 1;
    }
    table
}

/// Maximum probability of all unseen events, even if every event was seen just once.
const MAX_UNSEEN: f64 = 0.5;

/// Simple Good-Turing (Gale & Sampson 1995): r* = (r+1)·n_{r+1}/n_r for small r. For larger r, where the n_r
/// are too small to be reliable, n_r is taken from a line fitted to their logarithms.
#[derive(Clone, Debug)]
pub struct GoodTuring {
    unseen: f64,
    adjusted: BTreeMap<u32, f64>,
}

impl GoodTuring {
    /// Fits the estimate to frequencies of frequencies.
    pub fn fit(table: &CountsOfCounts) -> Self {
        let total: f64 = table.iter().map(|(r, n)| f64::from(*r) * f64::from(*n)).sum();
        let once = f64::from(table.get(&1).copied().unwrap_or_default());
        let unseen = if total > 0.0 { (once / total).min(MAX_UNSEEN) } else { MAX_UNSEEN };
        let line = LogLine::through(&averaged(table));
        let mut trust_line = false;
        let mut adjusted = BTreeMap::new();
        for (r, n) in table {
            let (count, things) = (f64::from(*r), f64::from(*n));
            let smooth =
                line.as_ref().map_or(count, |line| (count + 1.0) * line.at(count + 1.0) / line.at(count));
            let next = table.get(&(r.saturating_add(1))).map(|next| f64::from(*next));
            let turing = next.map_or(smooth, |next| (count + 1.0) * next / things);
            let spread = next.map_or(0.0, |next| {
                1.96 * ((count + 1.0).powi(2) * next / things.powi(2) * (1.0 + next / things)).sqrt()
            });
            // Once the line is as good, it is used for all larger counts.
            trust_line |= next.is_none() || (turing - smooth).abs() <= spread;
            adjusted.insert(*r, if trust_line { smooth } else { turing });
        }
        // The seen events share the probability that the unseen ones leave.
        let sum: f64 =
            adjusted.iter().map(|(r, a)| a * f64::from(table.get(r).copied().unwrap_or_default())).sum();
        let scale = if sum > 0.0 { (1.0 - unseen) * total / sum } else { 1.0 };
        adjusted.values_mut().for_each(|a| *a *= scale);
        Self { unseen, adjusted }
    }

    /// Returns the total probability of all unseen events.
    pub fn unseen(&self) -> f64 {
        self.unseen
    }

    /// Returns r*, the adjusted count.
    pub fn adjusted(&self, count: u32) -> f64 {
        self.adjusted.get(&count).copied().unwrap_or(f64::from(count))
    }
}

/// Returns Z_r: each n_r averaged over the gap to its neighbours, as logarithms.
fn averaged(table: &CountsOfCounts) -> Vec<(f64, f64)> {
    let rows: Vec<(f64, f64)> = table.iter().map(|(r, n)| (f64::from(*r), f64::from(*n))).collect();
    let gap = |nth: usize| {
        let (r, _) = rows[nth];
        let before = nth.checked_sub(1).map_or(0.0, |before| rows[before].0);
        let after = rows.get(nth + 1).map_or(2.0 * r - before, |after| after.0);
        after - before
    };
    rows.iter().enumerate().map(|(nth, (r, n))| (r.ln(), (2.0 * n / gap(nth)).ln())).collect()
}

/// log n_r = a + b·log r.
struct LogLine {
    slope: f64,
    height: f64,
}

impl LogLine {
    /// Fits by least squares. Returns `None` if the line does not fall as fast as Good-Turing requires.
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let many = points.len() as f64;
        let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / many;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let (mut together, mut squares) = (0.0, 0.0);
        for point in points {
            together += (point.0 - x) * (point.1 - y);
            squares += (point.0 - x).powi(2);
        }
        let slope = together / squares;
        (slope < -1.0).then_some(LogLine { slope, height: y - slope * x })
    }

    fn at(&self, r: f64) -> f64 {
        (self.height + self.slope * r.ln()).exp()
    }
}

/// Largest count that Katz back-off discounts.
const KATZ_LIMIT: u32 = 5;

/// Discount factors of Katz back-off: d_r for r = 1 … 5. Larger counts are not discounted.
#[derive(Clone, Debug)]
pub struct KatzDiscounts([f64; KATZ_LIMIT as usize]);

impl KatzDiscounts {
    /// Computes d_r = (r*/r − A) / (1 − A), A = (k+1)·n_{k+1}/n_1, bounded where the counts are too small.
    pub fn fit(table: &CountsOfCounts) -> Self {
        let n = |r: u32| f64::from(table.get(&r).copied().unwrap_or_default());
        let share = f64::from(KATZ_LIMIT + 1) * n(KATZ_LIMIT + 1) / n(1).max(1.0);
        let mut discounts = [0.0; KATZ_LIMIT as usize];
        for (r, discount) in (1..).zip(discounts.iter_mut()) {
            let turing = f64::from(r + 1) * n(r + 1) / n(r).max(1.0) / f64::from(r);
            let katz = (turing - share) / (1.0 - share);
            *discount = if katz.is_finite() { katz.clamp(0.1, 0.95) } else { 0.5 };
        }
        Self(discounts)
    }

    /// Returns the discounted count.
    pub fn apply(&self, count: u32) -> f64 {
        let discount = (count as usize).checked_sub(1).and_then(|nth| self.0.get(nth));
        f64::from(count) * discount.copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_good_turing_gives_the_published_figures() {
        // Gale & Sampson's example of prosodic patterns: r and n_r; then every r that was seen once.
        let several = "1 120 2 40 3 24 4 13 5 15 6 5 7 11 8 2 9 2 12 3 14 2 17 3 20 3 21 2 23 3 24 3 25 3 26 2 27 2 \
                       31 2 32 2 34 2 36 2 41 3 45 3";
        let once = "10 15 16 19 28 33 43 46 47 50 71 84 101 105 121 124 146 162 193 199 224 226 254 257 339 421 456 481 \
                    483 1140 1256 1322 1530 2131 2395 6925 7846";
        let numbers = |text: &str| text.split(' ').map(|n| n.parse().unwrap()).collect::<Vec<u32>>();
        let mut table: CountsOfCounts = numbers(several).chunks(2).map(|pair| (pair[0], pair[1])).collect();
        table.extend(numbers(once).into_iter().map(|r| (r, 1)));
        let total: u32 = table.iter().map(|(r, n)| r * n).sum();
        assert_eq!(total, 30902);
        let fitted = GoodTuring::fit(&table);
        assert!((fitted.unseen() - 0.003883).abs() < 1e-6);
        assert!((fitted.adjusted(1) - 0.7628).abs() < 1e-3, "{}", fitted.adjusted(1));
        let sum: f64 = table.iter().map(|(r, n)| fitted.adjusted(*r) * f64::from(*n)).sum();
        assert!((sum / 30902.0 + fitted.unseen() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_counts_are_no_trouble() {
        for table in [vec![], vec![1], vec![1, 1, 1], vec![7], vec![1, 2, 3, 4], vec![u32::MAX, 1]] {
            let table = counts_of_counts(table);
            let fitted = GoodTuring::fit(&table);
            assert!((0.0..=MAX_UNSEEN).contains(&fitted.unseen()));
            let katz = KatzDiscounts::fit(&table);
            for r in table.keys() {
                assert!(fitted.adjusted(*r).is_finite() && fitted.adjusted(*r) > 0.0);
                assert!(katz.apply(*r) > 0.0 && katz.apply(*r) <= f64::from(*r));
            }
        }
        assert_eq!("katz".parse(), Ok(Smoothing::Katz));
        assert!("magic".parse::<Smoothing>().unwrap_err().to_string().contains("good-turing"));
    }
}
