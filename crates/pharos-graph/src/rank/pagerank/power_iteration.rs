//! Power iteration with full rounds in `f64` and delta rounds in `f32`.
//!
//! A round is affine: two rounds differ by the links applied to the difference of their inputs. After a *full* round in
//! `f64`, a *delta* round propagates only the last change along the links, in `f32`, and adds the result to the ranks.
//! Half the bytes at random addresses take nearly half the time. The error of a delta round is one rounding of the
//! change, not of the ranks. The next full round starts from the ranks alone and removes it (iterative refinement;
//! Wilkinson 1963).

use std::ops::Range;

use rayon::prelude::*;

use super::TeleportDistribution;
use crate::summation::{CompensatedSum, gather, gather_f32, sum};
use crate::web::{Direction, Graph, split_table};

/// Reduction of the change by delta rounds after which their rounding errors are about as large as the change.
const MAX_DELTA_GAIN: f64 = 1e-5;

/// Changes of a round in one range of pages: at all pages, and at dangling pages. Ranges are short enough for plain
/// sums.
#[derive(Clone, Copy, Default)]
struct Totals {
    change: f64,
    dangling: f64,
}

/// The state between two rounds.
pub(super) struct PowerIteration<'graph> {
    graph: &'graph Graph,
    jumps: TeleportDistribution,
    parts: Vec<Range<usize>>,
    pub(super) ranks: Vec<f64>,
    /// Rank of each page divided by its out-degree, for full rounds.
    shares: Vec<f64>,
    /// Inverse out-degree of each page, 0 for dangling pages. Delta rounds need neither division nor branch.
    inverse_links: Vec<f32>,
    /// Like `shares`, for the change of the last round.
    changed_shares: Vec<f32>,
    next_changed_shares: Vec<f32>,
    /// Change of the last round summed over dangling pages.
    changed_dangling: f64,
    /// Change of the last round, of the round before it, and of the last full round.
    change: f64,
    change_before: f64,
    exact_change: f64,
}

impl<'graph> PowerIteration<'graph> {
    pub(super) fn new(graph: &'graph Graph, jumps: TeleportDistribution, ranks: Vec<f64>) -> Self {
        let pages = ranks.len();
        let inverse = |page| match graph.links_from(page).len() {
            0 => 0.0,
            links => 1.0 / links as f32,
        };
        Self {
            graph,
            jumps,
            parts: graph.parts(Direction::Backward),
            ranks,
            shares: vec![0.0; pages],
            inverse_links: (0..graph.pages()).map(inverse).collect(),
            changed_shares: vec![0.0; pages],
            next_changed_shares: vec![0.0; pages],
            changed_dangling: 0.0,
            change: f64::INFINITY,
            change_before: f64::INFINITY,
            exact_change: f64::INFINITY,
        }
    }

    /// Iterates until a full round changes no more than the tolerance, or for `max_rounds` rounds, of which the last is
    /// full. Returns the number of rounds and the change of the last one.
    pub(super) fn run(&mut self, damping: f64, tolerance: f64, max_rounds: u32) -> (u32, f64) {
        let mut is_exact = false;
        for round in 0..max_rounds {
            if is_exact && self.change <= tolerance {
                return (round, self.change);
            }
            is_exact = round + 1 == max_rounds || self.needs_full_round(tolerance);
            let change = if is_exact { self.full_round(damping) } else { self.delta_round(damping) };
            self.change_before = std::mem::replace(&mut self.change, change);
            if is_exact {
                self.exact_change = change;
            }
        }
        (max_rounds, self.change)
    }

    /// Returns `true` if there is no previous round, delta rounds have reached their accuracy, or the next round may be
    /// the last.
    fn needs_full_round(&self, tolerance: f64) -> bool {
        let shrinks_by = if self.change_before.is_finite() { self.change / self.change_before } else { 1.0 };
        !self.change.is_finite()
            || self.change <= self.exact_change * MAX_DELTA_GAIN
            || self.change * shrinks_by <= tolerance
    }

    /// Computes one synchronous round in `f64`. Every page pulls from its in-links, so that each entry has one writer.
    fn full_round(&mut self, damping: f64) -> f64 {
        let dangling = self.update_shares();
        let Self { graph, jumps, parts, ranks, shares, inverse_links, next_changed_shares, .. } = self;
        let jumping = (1.0 - damping) + damping * dangling;
        let totals =
            each_page(graph, parts, inverse_links, ranks, next_changed_shares, |page, row, before| {
                let rank = jumping * jumps.to(page) + damping * gather(row, shares);
                (rank, rank - before)
            });
        self.finish_round(totals)
    }

    /// Computes one synchronous round that propagates only the last change, in `f32`.
    fn delta_round(&mut self, damping: f64) -> f64 {
        let Self { graph, jumps, parts, ranks, inverse_links, changed_shares, next_changed_shares, .. } =
            self;
        let jumping = damping * self.changed_dangling;
        let totals =
            each_page(graph, parts, inverse_links, ranks, next_changed_shares, |page, row, before| {
                let change = jumping * jumps.to(page) + damping * gather_f32(row, changed_shares);
                // Rounding may subtract more than the rank.
                let rank = (before + change).max(0.0);
                (rank, if rank > 0.0 { change } else { -before })
            });
        self.finish_round(totals)
    }

    /// Updates the shares of all pages. Returns the total rank of dangling pages.
    fn update_shares(&mut self) -> f64 {
        let Self { graph, parts, ranks, shares, .. } = self;
        let work: Vec<_> = parts.iter().cloned().zip(split_table(shares, parts, 1)).collect();
        let dangling: Vec<f64> = work
            .into_par_iter()
            .map(|(part, shares)| {
                let mut dangling = CompensatedSum::default();
                for (page, share) in part.zip(shares) {
                    let links = graph.links_from(page as u32).len();
                    if links == 0 {
                        dangling.add(ranks[page]);
                    }
                    *share = if links == 0 { 0.0 } else { ranks[page] / links as f64 };
                }
                dangling.value()
            })
            .collect();
        sum(dangling)
    }

    fn finish_round(&mut self, totals: Vec<Totals>) -> f64 {
        std::mem::swap(&mut self.changed_shares, &mut self.next_changed_shares);
        self.changed_dangling = sum(totals.iter().map(|part| part.dangling));
        sum(totals.iter().map(|part| part.change))
    }
}

/// Sets the rank of every page to the result of `update`, which gets the page, its in-links and its previous rank, and
/// stores the share of the change.
fn each_page(
    graph: &Graph,
    parts: &[Range<usize>],
    inverse_links: &[f32],
    ranks: &mut [f64],
    changed_shares: &mut [f32],
    update: impl Fn(usize, &[u32], f64) -> (f64, f64) + Sync,
) -> Vec<Totals> {
    let work: Vec<_> = parts
        .iter()
        .cloned()
        .zip(split_table(ranks, parts, 1))
        .zip(split_table(changed_shares, parts, 1))
        .collect();
    work.into_par_iter()
        .map(|((part, ranks), changed_shares)| {
            let mut totals = Totals::default();
            let inverse_links = &inverse_links[part.clone()];
            let pages = part.clone().zip(graph.rows_to(part));
            for (((page, rank), changed_share), &inverse) in
                pages.zip(ranks).zip(changed_shares).zip(inverse_links)
            {
                let change;
                (*rank, change) = update(page.0, page.1, *rank);
                totals.change += change.abs();
                totals.dangling += if inverse == 0.0 { change } else { 0.0 };
                *changed_share = change as f32 * inverse;
            }
            totals
        })
        .collect()
}
