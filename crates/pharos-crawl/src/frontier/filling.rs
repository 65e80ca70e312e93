//! From the catalog into the queues: whose turn it is to be filled, what to read, and what is kept of it.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use pharos_core::{PageId, SiteId};
use pharos_store::{DueOrder, DuePage};

use super::lines::Lines;
use super::strategy::{Lane, Overtaking, Queued, interleave};
use super::{Draw, Frontier, Next};

/// Pages of all sites in memory; when full, a site still gets one at a time.
pub(super) const OVERALL: usize = 65_536;
/// Sites filled from the catalog in one go.
pub(super) const FILLED_AT_ONCE: usize = 64;
/// Pages given before a site that has none left is filled although others have some.
const PATIENCE: usize = 64;
/// Pages of one site that are due but not for this crawl; behind more of them we do not look.
const MAX_PASSED_OVER: usize = 4_096;

impl Frontier {
    /// Pages the catalog gave for a site that `next` asked to fill, lane by lane. Gives how many are new.
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
        // Behind pages that are not for us there may be some that are; the next draw is larger.
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

    /// A site without pages is filled when nobody else has any, when enough of them wait or one waited long enough;
    /// at once where it might overtake.
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
            // The catalog still calls those due that are held or not for us.
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
