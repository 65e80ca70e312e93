//! PageRank (Brin & Page 1998), personalised PageRank and TrustRank by power iteration.
//!
//! # Scales
//! 《走进搜索引擎》§3.5.3 defines PR(A) = (1 − d) + d · Σ PR(T)/C(T), with a mean of 1; d is the *damping*, the probability of
//! following a link. §7.2.2 gives PR(u) = α/N + (1 − α) · Σ PR(v)/U(v), which sums to one; α is the teleport
//! probability, so α = 1 − d. If the rank of dangling pages is distributed like teleports, the first is N times the
//! second. [`RankScale`] selects the scale; [`PageRankOptions::jump_probability`] takes α.
//!
//! # Error bound
//! A round reduces the L1 distance of any two distributions by the factor d. After a round that changes the ranks by c,
//! the distance to the solution is therefore at most c · d/(1 − d). With the rounding error added, this is
//! [`RankVector::error_bound`]. Iteration stops when c is at most ε, not after a fixed number of rounds. Most rounds
//! propagate only the last change, in `f32`; the last round, which gives the bound, is always a full round in `f64`.

mod power_iteration;

use rayon::prelude::*;

use self::power_iteration::PowerIteration;
use crate::GraphError;
use crate::summation::{GATHER_ROUNDINGS, sum};
use crate::web::{Graph, GraphOptions, PageSites, site_graph};

/// The scale of rank values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankScale {
    /// Values sum to one.
    #[default]
    Probability,
    /// Values sum to the number of pages, as in the formula without division by N.
    PerPage,
}

/// Options for computing PageRank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRankOptions {
    /// d: the probability of following a link. Brin & Page use 0.85, the example of 《走进搜索引擎》§3.5.3 uses 0.5.
    pub damping: f64,
    /// ε: iteration stops when the L1 change of a round is at most this.
    pub tolerance: f64,
    /// Maximum number of rounds. With d = 0.85, 150 rounds reach 1e-10 on any graph.
    pub max_rounds: u32,
    pub scale: RankScale,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-10, max_rounds: 200, scale: RankScale::Probability }
    }
}

impl PageRankOptions {
    /// Returns the options with damping 1 − α for the teleport probability α.
    pub fn jump_probability(self, alpha: f64) -> Self {
        Self { damping: 1.0 - alpha, ..self }
    }

    /// Checks that ranks can be computed with these options.
    pub(crate) fn check(self) -> Result<(), GraphError> {
        if !(0.0..1.0).contains(&self.damping) {
            let allowed = "at least 0 and below 1";
            return Err(GraphError::InvalidOption { option: "damping", value: self.damping, allowed });
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            let allowed = "finite and not negative";
            return Err(GraphError::InvalidOption { option: "tolerance", value: self.tolerance, allowed });
        }
        Ok(())
    }
}

/// The target distribution of teleports and of steps from dangling pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Teleport<'seeds> {
    /// Uniform over all pages.
    Everywhere,
    /// These pages, by weight: the interests of a user (personalised PageRank), or trusted pages (TrustRank; Gyöngyi,
    /// Garcia-Molina & Pedersen 2004). Weights of repeated pages add up.
    Seeds(&'seeds [(u32, f64)]),
}

/// Ranks and their accuracy.
#[derive(Clone, Debug, PartialEq)]
pub struct RankVector {
    /// Rank of every page.
    pub values: Vec<f64>,
    /// Number of rounds.
    pub rounds: u32,
    /// L1 change of the last round, on the probability scale.
    pub change: f64,
    /// Upper bound on the L1 distance to the exact solution, on the probability scale.
    pub error_bound: f64,
    /// `true` if the change of the last round is within the tolerance.
    pub converged: bool,
}

/// Computes the PageRank of every page.
///
/// `start` may hold the ranks of an earlier generation, on any scale: good starting values save rounds. Entries that
/// are not positive numbers count as 0.
pub fn page_rank(
    graph: &Graph,
    options: &PageRankOptions,
    teleport: Teleport<'_>,
    start: Option<&[f64]>,
) -> Result<RankVector, GraphError> {
    options.check()?;
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
    let mut iteration = PowerIteration::new(graph, jumps, start);
    let (rounds, change) = iteration.run(options.damping, options.tolerance, options.max_rounds);
    let mut values = iteration.ranks;
    let total = sum(values.iter().copied());
    let scale = match options.scale {
        RankScale::Probability => 1.0,
        RankScale::PerPage => pages as f64,
    } / total;
    values.par_iter_mut().for_each(|value| *value *= scale);
    // The distance of two distributions is at most 2; without a round nothing better is known.
    let change = change.min(2.0);
    let rounding = GATHER_ROUNDINGS * f64::EPSILON / (1.0 - options.damping);
    let left = if rounds == 0 { 2.0 } else { change * options.damping / (1.0 - options.damping) };
    // Normalising the sum to one moves the ranks once more.
    let error_bound = left + rounding + (total - 1.0).abs();
    Ok(RankVector { values, rounds, change, error_bound, converged: change <= options.tolerance })
}

/// Computes the PageRank of every site over links between domains, with one link per pair of sites. The number of pages
/// of a site and their internal links have no effect.
pub fn site_rank(
    graph: &Graph,
    page_sites: PageSites<'_>,
    options: &PageRankOptions,
    build: GraphOptions,
) -> Result<RankVector, GraphError> {
    page_rank(&site_graph(graph, page_sites, build)?, options, Teleport::Everywhere, None)
}

/// Returns the starting distribution. Without given values it is the teleport distribution, so that pages that no seed
/// reaches have rank 0 from the first round on, not only in the limit.
fn start_values(
    start: Option<&[f64]>,
    jumps: &TeleportDistribution,
    pages: usize,
) -> Result<Vec<f64>, GraphError> {
    let teleported = || (0..pages).map(|page| jumps.to(page)).collect();
    let Some(start) = start else { return Ok(teleported()) };
    if start.len() != pages {
        return Err(GraphError::TableLength { table: "starting ranks", found: start.len(), expected: pages });
    }
    let clean = |&value: &f64| if value.is_finite() && value > 0.0 { value } else { 0.0 };
    // Divided by the maximum first: the sum of huge values would overflow.
    let largest = start.iter().map(clean).fold(0.0, f64::max);
    if largest == 0.0 {
        return Ok(teleported());
    }
    let total = sum(start.iter().map(|value| clean(value) / largest));
    Ok(start.iter().map(|value| clean(value) / largest / total).collect())
}

/// The teleport distribution.
enum TeleportDistribution {
    Uniform(f64),
    ByPage(Vec<f64>),
}

impl TeleportDistribution {
    fn new(teleport: Teleport<'_>, pages: usize) -> Result<Self, GraphError> {
        let Teleport::Seeds(seeds) = teleport else { return Ok(Self::Uniform(1.0 / pages as f64)) };
        let mut by_page = vec![0.0; pages];
        for &(page, weight) in seeds {
            let Some(total) = by_page.get_mut(page as usize) else {
                return Err(GraphError::NoSuchPage { page, pages: pages as u32 });
            };
            if !(weight.is_finite() && weight >= 0.0) {
                let allowed = "finite and not negative";
                return Err(GraphError::InvalidOption { option: "seed weight", value: weight, allowed });
            }
            *total += weight;
        }
        let total = sum(by_page.iter().copied());
        if !(total.is_normal()) && pages > 0 {
            let allowed = "positive and finite";
            return Err(GraphError::InvalidOption { option: "total seed weight", value: total, allowed });
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
