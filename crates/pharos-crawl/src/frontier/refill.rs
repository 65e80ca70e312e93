//! Refills site queues from the catalog.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use pharos_core::{PageId, SiteId};
use pharos_store::DuePage;
use pharos_store::catalog::DueOrder;

use super::strategy::{Preemption, QueuedPage, SubQueue, interleave};
use super::wait_queues::WaitQueues;
use super::{Frontier, NextAction, RefillRequest};

/// Maximum number of queued pages of all sites; beyond it a refill gets one page at a time.
pub(super) const MAX_QUEUED: usize = 65_536;
/// Maximum number of sites per refill.
pub(super) const MAX_SITES_PER_REFILL: usize = 64;
/// Number of pages returned after which an empty site is refilled although others have pages.
const MAX_PAGES_BETWEEN_REFILLS: usize = 64;
/// Maximum number of skipped due pages of one site; the search for admitted pages ends there.
const MAX_SKIPPED: usize = 4_096;

impl Frontier {
    /// Adds due pages of a site to its queue, one list per sub-queue. Returns the number of pages.
    pub(crate) fn refill(&mut self, id: SiteId, drawn: Vec<Vec<DuePage>>) -> usize {
        let mut skipped = 0;
        let mut chosen = HashSet::<PageId, RandomState>::default();
        let several = drawn.len() > 1;
        let mut sub_queues = Vec::with_capacity(drawn.len());
        for due in drawn {
            let mut sub_queue = Vec::with_capacity(due.len());
            for queued in due.into_iter().map(QueuedPage::from) {
                if self.in_progress.contains(&queued.id) || (several && !chosen.insert(queued.id)) {
                    continue;
                }
                if self.admission.admits(&queued.page) && self.queues.strategy.admits(&queued.page) {
                    sub_queue.push(queued);
                } else {
                    skipped += 1;
                }
            }
            self.queues.strategy.reorder(&mut sub_queue);
            sub_queues.push(sub_queue);
        }
        let mut new = interleave(sub_queues, self.queues.strategy.sub_queues());
        let site = self.sites.get(id);
        new.truncate(site.capacity);
        let count = new.len();
        // Skipped pages may hide admitted ones; the next refill reads more.
        let look_further = skipped > site.skipped && skipped < MAX_SKIPPED;
        site.skipped = skipped;
        site.is_queued = false;
        site.stale = false;
        site.exhausted = count == 0 && !look_further;
        let replaced = std::mem::replace(&mut site.pages, new).len();
        self.queued = self.queued + count - replaced;
        self.queues.enqueue_site(id, site);
        count
    }

    /// Returns `true` if a refill is due: no site is ready, enough sites wait, one waited long enough, or it might
    /// overtake.
    pub(super) fn is_refill_due(&self) -> bool {
        !self.queues.to_refill.is_empty()
            && (self.queues.has_no_ready_site()
                || self.queues.to_refill.len() >= MAX_SITES_PER_REFILL
                || self.returned_since_refill >= MAX_PAGES_BETWEEN_REFILLS
                || self.queues.preemption != Preemption::Nothing)
    }

    pub(super) fn request_refill(&mut self) -> NextAction {
        self.returned_since_refill = 0;
        self.refills = self.refills.wrapping_add(1);
        let WaitQueues { strategy, to_refill, .. } = &mut self.queues;
        let sub_queues = strategy.sub_queues();
        let shares = sub_queues.iter().map(|sub_queue| sub_queue.share).sum::<usize>().max(1);
        let capacity = MAX_QUEUED.saturating_sub(self.queued) / to_refill.len().max(1);
        let capacity = capacity.clamp(1, strategy.batch_size().max(1)).max(sub_queues.len());
        let count = to_refill.len().min(MAX_SITES_PER_REFILL);
        let requests = to_refill.drain(..count).map(|id| {
            let site = self.sites.get(id);
            site.capacity = capacity;
            // The catalog still lists pages in progress, parked pages and skipped pages as due.
            let besides = site.unapplied + site.parked.len() + 2 * site.skipped.min(MAX_SKIPPED);
            let sub_queue = |sub_queue: &SubQueue| {
                let order = match sub_queue.order {
                    DueOrder::Random(start) => DueOrder::Random(start.wrapping_add(self.refills)),
                    order => order,
                };
                (order, (capacity * sub_queue.share / shares).max(1) + besides)
            };
            RefillRequest { site: id, sub_queues: sub_queues.iter().map(sub_queue).collect() }
        });
        NextAction::Refill(requests.collect())
    }
}
