//! PageRank (Brin & Page 1998): how often a reader who follows links at random, and now and then starts anew, comes by.
//!
//! # One computation, two forms
//! 《走进搜索引擎》 §2.4 has PR(A) = (1 − d) + d · Σ PR(T)/C(T), with a value of 1 per page on average; d is the
//! *damping*, the probability to follow a link. Its other half has PR(u) = α/N + (1 − α) · Σ PR(v)/U(v), which sums to
//! one; α is the probability to *jump*, so that α = 1 − d. With the mass of pages without links spread as jumps are,
//! the first is N times the second: [`RankScale`] says which is wanted, and [`PageRankOptions::jump_probability`] takes the α.
//!
//! # Errors are bounded
//! A round brings any two distributions closer by the factor d, in the sum of absolute differences. A round that
//! changes the ranks by c therefore leaves them at most c · d/(1 − d) away from the solution; together with what
//! rounding can add, that is [`RankVector::error_bound`]. Rounds stop when c is at most ε, never after a fixed number. Most
//! rounds move only the last change, in singles; the last round, from which the bound comes, is always exact.

mod power_iteration;

use rayon::prelude::*;

use self::power_iteration::PowerIteration;
use crate::GraphError;
use crate::summation::{GATHER_ROUNDINGS, sum};
use crate::web::{Graph, GraphOptions, PageSites, site_graph};

/// The scale of the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankScale {
    /// Probabilities: they sum to one.
    #[default]
    Probability,
    /// The books' un-normalised form: they sum to the number of pages.
    PerPage,
}

/// How ranks are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRankOptions {
    /// d: the probability to follow a link rather than to jump. 0.85 in the original work, 0.5 in the books' example.
    pub damping: f64,
    /// ε: rounds end when one changes the probabilities by no more, summed over all pages.
    pub tolerance: f64,
    /// Rounds at most. With d = 0.85, 150 rounds reach 1e-10 on any graph.
    pub max_rounds: u32,
    /// The scale of the result.
    pub form: RankScale,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-10, max_rounds: 200, form: RankScale::Probability }
    }
}

impl PageRankOptions {
    /// The same rules with the damping that belongs to the probability α to jump.
    pub fn jump_probability(self, alpha: f64) -> Self {
        Self { damping: 1.0 - alpha, ..self }
    }

    /// Can ranks be computed by these rules?
    pub(crate) fn check(self) -> Result<(), GraphError> {
        if !(0.0..1.0).contains(&self.damping) {
            let allowed = "at least 0 and below 1";
            return Err(GraphError::InvalidOption { rule: "damping", value: self.damping, allowed });
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            let allowed = "finite and not negative";
            return Err(GraphError::InvalidOption { rule: "tolerance", value: self.tolerance, allowed });
        }
        Ok(())
    }
}

/// Where a jump leads, and where the reader goes from a page without links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Teleport<'seeds> {
    /// To any page alike.
    Everywhere,
    /// To these pages, by weight: the interests of a reader (personalised), or pages known to be good (TrustRank,
    /// Gyöngyi, Garcia-Molina & Pedersen 2004). A page may be named more than once.
    Seeds(&'seeds [(u32, f64)]),
}

/// RankVector, and how sure they are.
#[derive(Clone, Debug, PartialEq)]
pub struct RankVector {
    /// By page.
    pub values: Vec<f64>,
    /// Rounds it took.
    pub rounds: u32,
    /// What the last round changed, summed over all probabilities.
    pub change: f64,
    /// The distance to the exact solution is at most this, summed over all probabilities.
    pub error_bound: f64,
    /// Did the last round change no more than the tolerance?
    pub converged: bool,
}

/// PageRank of every page.
///
/// `start` may hold ranks of an earlier generation, on any scale: the nearer they are, the fewer rounds. What is not a
/// positive number in it counts as 0.
pub fn page_rank(
    graph: &Graph,
    rules: &PageRankOptions,
    teleport: Teleport<'_>,
    start: Option<&[f64]>,
) -> Result<RankVector, GraphError> {
    rules.check()?;
    let pages = graph.pages() as usize;
    let jumps = TeleportDistribution::new(teleport, pages)?;
    if pages == 0 {
        return Ok(RankVector {
            values: Vec::new(),
            rounds: 0,
            change: 0.0,
            error_bound: 0.0,
            converged: true,
        });
    }
    let start = start_values(start, &jumps, pages)?;
    let mut walk = PowerIteration::new(graph, jumps, start);
    let (rounds, change) = walk.run(rules.damping, rules.tolerance, rules.max_rounds);
    let mut values = walk.ranks;
    let total = sum(values.iter().copied());
    let scale = match rules.form {
        RankScale::Probability => 1.0,
        RankScale::PerPage => pages as f64,
    } / total;
    values.par_iter_mut().for_each(|value| *value *= scale);
    // No two distributions are further apart than 2: that is all that is known without a round.
    let change = change.min(2.0);
    let rounding = GATHER_ROUNDINGS * f64::EPSILON / (1.0 - rules.damping);
    let left = if rounds == 0 { 2.0 } else { change * rules.damping / (1.0 - rules.damping) };
    // Bringing the sum to one moves the ranks once more.
    let error_bound = left + rounding + (total - 1.0).abs();
    Ok(RankVector { values, rounds, change, error_bound, converged: change <= rules.tolerance })
}

/// PageRank of every site over the links between domains, each pair of sites counted once. How many pages a site has,
/// and how they link to each other, changes nothing.
pub fn site_rank(
    graph: &Graph,
    places: PageSites<'_>,
    rules: &PageRankOptions,
    build: GraphOptions,
) -> Result<RankVector, GraphError> {
    page_rank(&site_graph(graph, places, build)?, rules, Teleport::Everywhere, None)
}

/// Without ranks to start from, the reader has just jumped. That way a page to which no path leads from a seed has a rank
/// of 0 from the first round on, not merely in the limit.
fn start_values(
    start: Option<&[f64]>,
    jumps: &TeleportDistribution,
    pages: usize,
) -> Result<Vec<f64>, GraphError> {
    let after_jump = || (0..pages).map(|page| jumps.to(page)).collect();
    let Some(start) = start else { return Ok(after_jump()) };
    if start.len() != pages {
        return Err(GraphError::TableLength {
            table: "ranks to start from",
            found: start.len(),
            expected: pages,
        });
    }
    let clean = |&value: &f64| if value.is_finite() && value > 0.0 { value } else { 0.0 };
    // Divided by the largest first: the sum of huge values would not be finite.
    let largest = start.iter().map(clean).fold(0.0, f64::max);
    if largest == 0.0 {
        return Ok(after_jump());
    }
    let total = sum(start.iter().map(|value| clean(value) / largest));
    Ok(start.iter().map(|value| clean(value) / largest / total).collect())
}

/// The distribution of jumps.
enum TeleportDistribution {
    Uniform(f64),
    ByPage(Vec<f64>),
}

impl TeleportDistribution {
    fn new(teleport: Teleport<'_>, pages: usize) -> Result<Self, GraphError> {
        let Teleport::Seeds(seeds) = teleport else { return Ok(Self::Uniform(1.0 / pages as f64)) };
        let mut by_page = vec![0.0; pages];
        for &(page, weight) in seeds {
            let Some(place) = by_page.get_mut(page as usize) else {
                return Err(GraphError::NoSuchPage { page, pages: pages as u32 });
            };
            if !(weight.is_finite() && weight >= 0.0) {
                let allowed = "finite and not negative";
                return Err(GraphError::InvalidOption { rule: "weight of a seed", value: weight, allowed });
            }
            *place += weight;
        }
        let total = sum(by_page.iter().copied());
        if !(total.is_normal()) && pages > 0 {
            let allowed = "positive and finite";
            return Err(GraphError::InvalidOption {
                rule: "weight of all seeds together",
                value: total,
                allowed,
            });
        }
        by_page.iter_mut().for_each(|weight| *weight /= total);
        Ok(Self::ByPage(by_page))
    }

    fn to(&self, page: usize) -> f64 {
        match self {
            Self::Uniform(share) => *share,
            Self::ByPage(shares) => shares[page],
        }
    }
}

#[cfg(test)]
mod tests;
