//! How often terms occur, by rank.
//!
//! A vocabulary may have many millions of terms, but few different frequencies: k different ones need at least
//! 1 + 2 + … + k occurrences, so there are at most √(2·T) of them. Counting the terms of each frequency keeps every rank
//! exactly; terms themselves are kept for the first ranks, and one for each frequency.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Serialize;

/// So many of the first ranks have their own term; below, one of those with the same frequency stands for all.
pub(crate) const NAMED: usize = 1_000;

/// Bins of ranks in a factor of ten.
const BINS_PER_DECADE: f64 = 10.0;

/// What differences of equal logarithms may sum up to.
const ROUNDING: f64 = 1e-20;

/// A rank of a vocabulary sorted by falling frequency, equal ones by term.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rank {
    /// From 1.
    pub rank: u64,
    /// The term; beyond the first 1,000 ranks, the first of those with this frequency.
    pub term: String,
    /// How often it occurs, or in how many pages.
    pub frequency: u64,
    /// The same as a share of all.
    pub share: f64,
    /// How many terms have this very frequency.
    pub shared_by: u64,
}

/// Zipf's law fitted to frequencies by rank: log f = log C + slope · log rank.
///
/// Ranks are put into bins, ten to each factor of ten, so that the many rare terms do not outweigh all others; each bin
/// is one point, the mean logarithm of its ranks and of their frequencies, and the line through the points is that of
/// least squares. All ranks count, the flat end of terms that occur once too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZipfFit {
    /// −1 is Zipf's law.
    pub slope: f64,
    /// C: what the line has at rank 1, as a share of all.
    pub constant: f64,
    /// R²: the part of the points' variance that the line explains; 1 where they lie on it.
    pub r_squared: f64,
    /// How many points, that is bins, there are.
    pub points: usize,
}

/// Terms at least as frequent as this.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrequencyClass {
    /// TF, as a share of all occurrences.
    pub at_least: f64,
    /// How many terms are.
    pub terms: u64,
    /// Their share of all occurrences together.
    pub share: f64,
}

/// Frequencies as they are counted.
#[derive(Default)]
pub(crate) struct Frequencies {
    groups: HashMap<u64, Group>,
    top: BinaryHeap<Reverse<Ranked>>,
    pub(crate) terms: u64,
    pub(crate) total: u64,
}

/// A frequency and its term; of equal frequencies, the term that comes first is the greater one.
type Ranked = (u64, Reverse<Box<[u8]>>);

/// The terms of one frequency.
struct Group {
    terms: u64,
    first: Box<[u8]>,
}

impl Frequencies {
    /// Counts a term. Terms come in their order, each once.
    pub(crate) fn add(&mut self, frequency: u64, term: &[u8]) {
        self.terms += 1;
        self.total += frequency;
        self.groups.entry(frequency).or_insert_with(|| Group { terms: 0, first: term.into() }).terms += 1;
        // Of equal ones those that came first stay.
        let full = self.top.len() >= NAMED;
        if !full || self.top.peek().is_some_and(|Reverse((least, _))| frequency > *least) {
            if full {
                self.top.pop();
            }
            self.top.push(Reverse((frequency, Reverse(term.into()))));
        }
    }

    /// How many terms have exactly this frequency.
    pub(crate) fn with(&self, frequency: u64) -> u64 {
        self.groups.get(&frequency).map_or(0, |group| group.terms)
    }

    /// Frequencies with how many terms have them, most frequent first.
    pub(crate) fn runs(&self) -> Vec<(u64, u64)> {
        let mut runs: Vec<_> =
            self.groups.iter().map(|(frequency, group)| (*frequency, group.terms)).collect();
        runs.sort_unstable_by_key(|run| Reverse(*run));
        runs
    }

    /// Ranks 1, 2, 5, 10, … up to `last`. Shares are those of `all`.
    pub(crate) fn ranks(&self, last: u64, all: u64, name: impl Fn(&[u8]) -> String) -> Vec<Rank> {
        let mut top: Vec<_> = self.top.iter().map(|Reverse(ranked)| ranked).collect();
        top.sort_unstable_by(|a, b| b.cmp(a));
        let runs = self.runs();
        let mut runs = runs.iter();
        let (mut covered, mut run) = (0, (0, 0));
        let mut ranks = Vec::new();
        for rank in one_two_five().take_while(|rank| *rank <= last.min(self.terms)) {
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
            ranks.push(Rank { rank, term, frequency, share: share(frequency, all), shared_by });
        }
        ranks
    }

    /// How many terms are at least so frequent, for the limits of the book's comparison of English words and Chinese
    /// characters (《搜索引擎—原理、技术与系统》, table 8-1).
    pub(crate) fn classes(&self) -> Vec<FrequencyClass> {
        let runs = self.runs();
        let class = |at_least: f64| {
            let inside =
                runs.iter().take_while(|(frequency, _)| *frequency as f64 >= at_least * self.total as f64);
            let (terms, occurrences) =
                inside.fold((0, 0), |(terms, all), (frequency, more)| (terms + more, all + frequency * more));
            FrequencyClass { at_least, terms, share: share(occurrences, self.total) }
        };
        [0.01, 0.001, 0.000_5, 0.000_1, 0.000_05, 0.000_01].map(class).into()
    }

    /// The line of Zipf's law. `None` where there are too few ranks for one.
    pub(crate) fn zipf(&self) -> Option<ZipfFit> {
        zipf_fit(&self.runs(), self.total)
    }
}

pub(crate) fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// 1, 2, 5, 10, 20, 50, …
fn one_two_five() -> impl Iterator<Item = u64> {
    (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)))
}

/// The first ranks of bins: each power of 10^(1/10), rounded up, once.
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

/// The mean of ln r over ranks from `first` to `last`.
fn mean_logarithm(first: u64, last: u64) -> f64 {
    let width = (last - first + 1) as f64;
    if last - first < 1_000 {
        return (first..=last).map(|rank| (rank as f64).ln()).sum::<f64>() / width;
    }
    let integral = |x: f64| x * x.ln() - x;
    (integral(last as f64 + 0.5) - integral(first as f64 - 0.5)) / width
}

/// Slope, intercept and R² of the line through points. `None` for fewer than three, which fit any line.
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
    // All equally frequent: the line is level and passes through each.
    let r_squared = if yy > ROUNDING { xy * xy / (xx * yy) } else { 1.0 };
    Some((slope, mean_y - slope * mean_x, r_squared))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(terms: &[(&str, u64)]) -> Frequencies {
        let mut frequencies = Frequencies::default();
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
        assert_eq!((found.terms, found.total, found.with(3), found.with(2)), (6, 18, 3, 0));
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
        let classes = found.classes();
        let terms: Vec<u64> = classes.iter().map(|class| class.terms).collect();
        assert_eq!(terms, [1, 2, 3, 4, 4, 4]);
        assert_eq!((classes[0].share, classes[5].share), (0.99, 1.0));
    }
}
