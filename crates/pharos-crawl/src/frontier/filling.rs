//! Refills site queues from the catalog.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use pharos_core::{PageId, SiteId};
use pharos_store::{DueOrder, DuePage};

use super::lines::Lines;
use super::strategy::{Lane, Overtaking, Queued, interleave};
use super::{Draw, Frontier, Next};

/// Maximum number of queued pages of all sites; beyond it a refill gets one page at a time.
pub(super) const OVERALL: usize = 65_536;
/// Maximum number of sites per refill.
pub(super) const FILLED_AT_ONCE: usize = 64;
/// Number of pages returned after which an empty site is refilled although others have pages.
const PATIENCE: usize = 64;
/// Maximum number of skipped due pages of one site; the search for admitted pages ends there.
const MAX_PASSED_OVER: usize = 4_096;

impl Frontier {
    /// Adds due pages of a site to its queue, one list per sub-queue. Returns the number of pages.
    pub(crate) fn fill(&mut self, id: SiteId, drawn: Vec<Vec<DuePage>>) -> usize {
        let mut passed_over = 0;
        let mut chosen = HashSet::<PageId, RandomState>::default();
        let several = drawn.len() > 1;
        let mut lanes = Vec::with_capacity(drawn.len());
        for due in drawn {
            let mut lane = Vec::with_capacity(due.len());
            for queued in due.into_iter().map(Queued::from) {
                if self.held.contains(&queued.id) || (several && !chosen.insert(queued.id)) {
                    continue;
                }
                if self.admission.admits(&queued.page) && self.lines.strategy.admits(&queued.page) {
                    lane.push(queued);
                } else {
                    passed_over += 1;
                }
            }
            self.lines.strategy.reorder(&mut lane);
            lanes.push(lane);
        }
        let mut new = interleave(lanes, self.lines.strategy.lanes());
        let site = self.sites.get(id);
        new.truncate(site.room);
        let count = new.len();
        // Skipped pages may hide admitted ones; the next refill reads more.
        let look_further = passed_over > site.passed_over && passed_over < MAX_PASSED_OVER;
        site.passed_over = passed_over;
        site.waits = false;
        site.stale = false;
        site.dry = count == 0 && !look_further;
        let replaced = std::mem::replace(&mut site.pages, new).len();
        self.queued = self.queued + count - replaced;
        self.lines.line_up(id, site);
        count
    }

    /// Returns `true` if a refill is due: no site is ready, enough sites wait, one waited long enough, or it might
    /// overtake.
    pub(super) fn is_time_to_fill(&self) -> bool {
        !self.lines.hungry.is_empty()
            && (self.lines.nobody_is_ready()
                || self.lines.hungry.len() >= FILLED_AT_ONCE
                || self.given_since_fill >= PATIENCE
                || self.lines.overtaking != Overtaking::Nothing)
    }

    pub(super) fn draw(&mut self) -> Next {
        self.given_since_fill = 0;
        self.fills = self.fills.wrapping_add(1);
        let Lines { strategy, hungry, .. } = &mut self.lines;
        let lanes = strategy.lanes();
        let shares = lanes.iter().map(|lane| lane.share).sum::<usize>().max(1);
        let room = OVERALL.saturating_sub(self.queued) / hungry.len().max(1);
        let room = room.clamp(1, strategy.chunk().max(1)).max(lanes.len());
        let count = hungry.len().min(FILLED_AT_ONCE);
        let draws = hungry.drain(..count).map(|id| {
            let site = self.sites.get(id);
            site.room = room;
            // The catalog still lists pages in progress, parked pages and skipped pages as due.
            let besides = site.unabsorbed + site.parked.len() + 2 * site.passed_over.min(MAX_PASSED_OVER);
            let lane = |lane: &Lane| {
                let order = match lane.order {
                    DueOrder::Random(start) => DueOrder::Random(start.wrapping_add(self.fills)),
                    order => order,
                };
                (order, (room * lane.share / shares).max(1) + besides)
            };
            Draw { site: id, lanes: lanes.iter().map(lane).collect() }
        });
        Next::Fill(draws.collect())
    }
}
