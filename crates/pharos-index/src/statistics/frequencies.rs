//! Term frequencies by rank.
//!
//! A vocabulary may have millions of terms, but few different frequencies: k different ones need at least 1 + 2 + … +
//! k occurrences, so there are at most √(2·T). Counting the terms of each frequency keeps every rank exact. The terms
//! themselves are kept for the first ranks, and one for each frequency.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Serialize;

/// Number of first ranks that keep their own term. Further ranks share one term per frequency.
pub(crate) const NAMED_RANKS: usize = 1_000;

/// Number of rank bins per factor of ten.
const BINS_PER_DECADE: f64 = 10.0;

/// Rounding error of the sum of squared differences of equal logarithms.
const ROUNDING: f64 = 1e-20;

/// A rank of the vocabulary, sorted by descending frequency; equal frequencies are sorted by term.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrequencyRank {
    /// Starts at 1.
    pub rank: u64,
    /// The term; beyond the first 1,000 ranks, the first one with this frequency.
    pub term: String,
    /// Number of occurrences, or of documents.
    pub frequency: u64,
    /// The frequency as a share of the total.
    pub share: f64,
    /// Number of terms with the same frequency.
    pub shared_by: u64,
}

/// A fit of Zipf's law to frequencies by rank: log f = log C + slope · log rank.
///
/// Ranks are grouped into bins, ten per factor of ten, so that the many rare terms do not dominate. Each bin is one
/// point: the mean logarithm of its ranks and of their frequencies. The line is fitted by least squares over all
/// bins, including the flat tail of terms that occur once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZipfFit {
    /// −1 for an exact Zipf distribution.
    pub slope: f64,
    /// C: value of the line at rank 1, as a share of the total.
    pub constant: f64,
    /// R²: share of the variance explained by the line; 1 if all points are on it.
    pub r_squared: f64,
    /// Number of points (bins).
    pub points: usize,
}

/// The terms with at least a given frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrequencyClass {
    /// Minimum TF, as a share of all occurrences.
    pub at_least: f64,
    /// Number of terms.
    pub terms: u64,
    /// Their share of all occurrences.
    pub share: f64,
}

/// A frequency with its term. A higher frequency is greater; for equal frequencies, the first term in the dictionary
/// is.
type RankedTerm = (u64, Reverse<Box<[u8]>>);

/// A counter of term frequencies.
#[derive(Default)]
pub(crate) struct FrequencyCounter {
    groups: HashMap<u64, FrequencyGroup>,
    top: BinaryHeap<Reverse<RankedTerm>>,
    pub(crate) terms: u64,
    pub(crate) total: u64,
}

/// The terms of one frequency.
struct FrequencyGroup {
    terms: u64,
    first: Box<[u8]>,
}

impl FrequencyCounter {
    /// Adds a term. Terms must be added in dictionary order, each once.
    pub(crate) fn add(&mut self, frequency: u64, term: &[u8]) {
        self.terms += 1;
        self.total += frequency;
        self.groups
            .entry(frequency)
            .or_insert_with(|| FrequencyGroup { terms: 0, first: term.into() })
            .terms += 1;
        // For equal frequencies, the earlier terms are kept.
        let full = self.top.len() >= NAMED_RANKS;
        if !full || self.top.peek().is_some_and(|Reverse((least, _))| frequency > *least) {
            if full {
                self.top.pop();
            }
            self.top.push(Reverse((frequency, Reverse(term.into()))));
        }
    }

    /// Returns the number of terms with exactly this frequency.
    pub(crate) fn terms_with(&self, frequency: u64) -> u64 {
        self.groups.get(&frequency).map_or(0, |group| group.terms)
    }

    /// Returns the frequencies with their numbers of terms, most frequent first.
    pub(crate) fn frequency_runs(&self) -> Vec<(u64, u64)> {
        let mut runs: Vec<_> =
            self.groups.iter().map(|(frequency, group)| (*frequency, group.terms)).collect();
        runs.sort_unstable_by_key(|run| Reverse(*run));
        runs
    }

    /// Returns the ranks 1, 2, 5, 10, … up to `last`. Shares are relative to `all`.
    pub(crate) fn ranks(&self, last: u64, all: u64, name: impl Fn(&[u8]) -> String) -> Vec<FrequencyRank> {
        let mut top: Vec<_> = self.top.iter().map(|Reverse(ranked)| ranked).collect();
        top.sort_unstable_by(|a, b| b.cmp(a));
        let runs = self.frequency_runs();
        let mut runs = runs.iter();
        let (mut covered, mut run) = (0, (0, 0));
        let mut ranks = Vec::new();
        for rank in rank_series().take_while(|rank| *rank <= last.min(self.terms)) {
            while covered < rank {
                let Some(next) = runs.next() else { return ranks };
                run = *next;
                covered += run.1;
            }
            let (frequency, shared_by) = run;
            let term = match top.get(rank as usize - 1) {
                Some((_, Reverse(term))) => name(term),
                None => self.groups.get(&frequency).map_or_else(String::new, |group| name(&group.first)),
            };
            ranks.push(FrequencyRank { rank, term, frequency, share: share(frequency, all), shared_by });
        }
        ranks
    }

    /// Returns the number of terms above given frequencies, for the limits of the comparison of English words and
    /// Chinese characters in 《搜索引擎——原理、技术与系统》§8.2, table 8-1.
    pub(crate) fn frequency_classes(&self) -> Vec<FrequencyClass> {
        let runs = self.frequency_runs();
        let class = |at_least: f64| {
            let inside =
                runs.iter().take_while(|(frequency, _)| *frequency as f64 >= at_least * self.total as f64);
            let (terms, occurrences) =
                inside.fold((0, 0), |(terms, all), (frequency, more)| (terms + more, all + frequency * more));
            FrequencyClass { at_least, terms, share: share(occurrences, self.total) }
        };
        [0.01, 0.001, 0.000_5, 0.000_1, 0.000_05, 0.000_01].map(class).into()
    }

    /// Fits Zipf's law. Returns `None` if there are too few ranks.
    pub(crate) fn fit_zipf(&self) -> Option<ZipfFit> {
        zipf_fit(&self.frequency_runs(), self.total)
    }
}

pub(crate) fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Returns 1, 2, 5, 10, 20, 50, …
fn rank_series() -> impl Iterator<Item = u64> {
    (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)))
}

/// Returns the first ranks of the bins: the distinct rounded powers of 10^(1/10).
fn bins(last: u64) -> Vec<u64> {
    let bound = |bin: i32| 10f64.powf(f64::from(bin) / BINS_PER_DECADE).round() as u64;
    let mut bounds: Vec<u64> = (0..).map(bound).take_while(|bound| *bound <= last).collect();
    bounds.dedup();
    bounds
}

fn zipf_fit(runs: &[(u64, u64)], total: u64) -> Option<ZipfFit> {
    let last: u64 = runs.iter().map(|(_, terms)| terms).sum();
    let firsts = bins(last);
    let mut runs = runs.iter().copied();
    let (mut frequency, mut left) = (0, 0);
    let mut points = Vec::with_capacity(firsts.len());
    for (at, first) in firsts.iter().enumerate() {
        let end = firsts.get(at + 1).map_or(last, |next| next - 1);
        let width = end - first + 1;
        let (mut missing, mut logarithms) = (width, 0.0);
        while missing > 0 {
            if left == 0 {
                (frequency, left) = runs.next()?;
            }
            let taken = missing.min(left);
            logarithms += taken as f64 * (frequency as f64).ln();
            missing -= taken;
            left -= taken;
        }
        points.push((mean_logarithm(*first, end), logarithms / width as f64));
    }
    let (slope, intercept, r_squared) = least_squares(&points)?;
    let constant = intercept.exp() / total as f64;
    Some(ZipfFit { slope, constant, r_squared, points: points.len() })
}

/// Returns the mean of ln r over the ranks from `first` to `last`.
fn mean_logarithm(first: u64, last: u64) -> f64 {
    let width = (last - first + 1) as f64;
    if last - first < 1_000 {
        return (first..=last).map(|rank| (rank as f64).ln()).sum::<f64>() / width;
    }
    let integral = |x: f64| x * x.ln() - x;
    (integral(last as f64 + 0.5) - integral(first as f64 - 0.5)) / width
}

/// Returns slope, intercept and R² of the least-squares line. Returns `None` for fewer than three points, which fit
/// any line.
fn least_squares(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    if points.len() < 3 {
        return None;
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| f(x - mean_x, y - mean_y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    let slope = xy / xx;
    // If all points are equal in y, the line is horizontal and passes through each.
    let r_squared = if yy > ROUNDING { xy * xy / (xx * yy) } else { 1.0 };
    Some((slope, mean_y - slope * mean_x, r_squared))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(terms: &[(&str, u64)]) -> FrequencyCounter {
        let mut frequencies = FrequencyCounter::default();
        terms.iter().for_each(|(term, frequency)| frequencies.add(*frequency, term.as_bytes()));
        frequencies
    }

    fn text(term: &[u8]) -> String {
        String::from_utf8_lossy(term).into_owned()
    }

    #[test]
    fn ranks_are_exact_and_equals_are_sorted() {
        let found = counted(&[("a", 3), ("b", 7), ("c", 3), ("d", 1), ("e", 3), ("f", 1)]);
        let ranks = found.ranks(u64::MAX, 18, text);
        let seen: Vec<_> = ranks.iter().map(|r| (r.rank, &*r.term, r.frequency, r.shared_by)).collect();
        assert_eq!(seen, [(1, "b", 7, 1), (2, "a", 3, 3), (5, "d", 1, 2)]);
        assert_eq!(ranks[0].share, 7.0 / 18.0);
        assert_eq!(found.ranks(2, 18, text).len(), 2);
        assert_eq!((found.terms, found.total, found.terms_with(3), found.terms_with(2)), (6, 18, 3, 0));
        assert!(counted(&[]).ranks(10, 0, text).is_empty());
    }

    #[test]
    fn beyond_the_named_ranks_one_term_stands_for_its_frequency() {
        let terms: Vec<(String, u64)> = (0..3_000).map(|n| (format!("{n:04}"), 1 + n % 2)).collect();
        let terms: Vec<(&str, u64)> = terms.iter().map(|(term, n)| (term.as_str(), *n)).collect();
        let found = counted(&terms);
        let ranks = found.ranks(u64::MAX, found.total, text);
        let of = |rank: u64| {
            ranks.iter().find(|r| r.rank == rank).map(|r| (r.term.as_str(), r.frequency)).unwrap()
        };
        assert_eq!((of(1), of(1_000), of(2_000)), (("0001", 2), ("1999", 2), ("0000", 1)));
    }

    #[test]
    fn a_line_is_found_in_zipfs_frequencies() {
        for exponent in [0.8, 1.0, 1.2] {
            let mut runs: Vec<(u64, u64)> = Vec::new();
            for rank in 1..=100_000u32 {
                let frequency = (1e12 / f64::from(rank).powf(exponent)).round() as u64;
                match runs.last_mut() {
                    Some(run) if run.0 == frequency => run.1 += 1,
                    _ => runs.push((frequency, 1)),
                }
            }
            let total = runs.iter().map(|(frequency, terms)| frequency * terms).sum();
            let fit = zipf_fit(&runs, total).unwrap();
            assert!((fit.slope + exponent).abs() < 1e-4 && fit.r_squared > 0.999_999, "{fit:?}");
            assert!((fit.constant * total as f64 / 1e12 - 1.0).abs() < 1e-3, "{fit:?}");
        }
        assert_eq!(zipf_fit(&[(5, 2)], 10), None);
        let level = zipf_fit(&[(5, 100)], 500).unwrap();
        assert!(level.slope.abs() < 1e-12 && level.r_squared == 1.0, "{level:?}");
    }

    #[test]
    fn frequent_terms_are_counted_with_their_share() {
        let found = counted(&[("a", 9_900), ("b", 90), ("c", 9), ("d", 1)]);
        let classes = found.frequency_classes();
        let terms: Vec<u64> = classes.iter().map(|class| class.terms).collect();
        assert_eq!(terms, [1, 2, 3, 4, 4, 4]);
        assert_eq!((classes[0].share, classes[5].share), (0.99, 1.0));
    }
}
