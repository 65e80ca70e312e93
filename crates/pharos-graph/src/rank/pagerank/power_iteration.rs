//! Rounds over all pages: exact ones, and light ones that carry on what the last one changed.
//!
//! A round is linear but for the jumps, which are always the same: two rounds differ by what the links make of the
//! difference between their starts. So after one *exact* round, in doubles, a *light* one moves only the last change
//! along the links, in singles, and adds what comes out to the ranks. Half the bytes at random places are nearly half the
//! time. A light round is off by one rounding of the change, not of the ranks, and the next exact one starts from the
//! ranks alone, so that nothing of it stays (iterative refinement; Wilkinson 1963).

use std::ops::Range;

use rayon::prelude::*;

use super::TeleportDistribution;
use crate::summation::{CompensatedSum, gather, gather_f32, sum};
use crate::web::{Direction, Graph, split_table};

/// After light rounds have made the change smaller by this factor, their own errors are about as large.
const MAX_DELTA_GAIN: f64 = 1e-5;

/// What a round changed in a part of the pages: at all of them, and at those without links. Parts are small enough for
/// plain sums.
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
    /// What each page gives to every page it links to: its rank by its number of links. For exact rounds.
    shares: Vec<f64>,
    /// One by the number of links of each page, 0 where there are none. For light rounds: nothing to divide or to ask.
    inverse_links: Vec<f32>,
    /// As `shares`, of what the last round changed.
    changed_shares: Vec<f32>,
    next_changed_shares: Vec<f32>,
    /// What the last round changed at pages without links, in all.
    changed_dangling: f64,
    /// What the last two rounds changed, the last one first, and what the last exact one did.
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

    /// Rounds until an exact one changes no more than the tolerance, or there were `max_rounds`, of which the last is
    /// exact, too. Gives the number of rounds and what the last one changed.
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

    /// Is there no round to carry on from, no more to be gained, or will the next round be the last?
    fn needs_full_round(&self, tolerance: f64) -> bool {
        let shrinks_by = if self.change_before.is_finite() { self.change / self.change_before } else { 1.0 };
        !self.change.is_finite()
            || self.change <= self.exact_change * MAX_DELTA_GAIN
            || self.change * shrinks_by <= tolerance
    }

    /// One synchronous round. Every page pulls from those that link to it, so that no two threads write to one place.
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

    /// One synchronous round that moves only what the last one changed.
    fn delta_round(&mut self, damping: f64) -> f64 {
        let Self { graph, jumps, parts, ranks, inverse_links, changed_shares, next_changed_shares, .. } =
            self;
        let jumping = damping * self.changed_dangling;
        let totals =
            each_page(graph, parts, inverse_links, ranks, next_changed_shares, |page, row, before| {
                let change = jumping * jumps.to(page) + damping * gather_f32(row, changed_shares);
                // Rounded changes may take away more than is there.
                let rank = (before + change).max(0.0);
                (rank, if rank > 0.0 { change } else { -before })
            });
        self.finish_round(totals)
    }

    /// Writes the shares of all ranks, and gives the rank of all pages without links.
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

/// Gives every page the rank that `update` makes of its number, the pages that link to it and its rank before, and shares
/// out the change that goes with it.
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
