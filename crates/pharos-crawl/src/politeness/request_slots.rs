//! Request slots: limits the request rate to a resource shared by many sites, such as a domain or an IP address.
//!
//! A request occupies one slot. When it ends, the slot stays closed for the wait of its own site, so a resource with
//! N slots is requested at most N times as fast as one site. A site that finds no free slot gets a time at which to
//! try again, and each site gets a different time. Thousands of waiting sites therefore cost one check each and never
//! check simultaneously.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use pharos_core::Timestamp;

/// Minimum interval between two assigned retry times.
const MIN_STEP: Duration = Duration::from_millis(10);
/// Factor by which retry times outnumber expected free slots, so that slots do not wait for sites.
const OVERBOOKING: u32 = 4;
/// Weight of the newest request in the moving average of slot occupation: 1/8.
const SMOOTHING: u32 = 8;

/// The slots of one shared resource.
#[derive(Debug, Default)]
pub(crate) struct RequestSlots {
    /// Requests in progress.
    in_progress: usize,
    /// Reopening times of closed slots. Past times are removed.
    closed: BinaryHeap<Reverse<Timestamp>>,
    /// The latest retry time assigned so far.
    last_assigned: Timestamp,
    /// Moving average of how long a slot is occupied, including its closed time.
    occupied_for: Duration,
}

impl RequestSlots {
    /// Tries to reserve a slot. On failure returns the time to try again.
    ///
    /// `promised` is the retry time assigned to the site earlier; a new one is stored there if the site has to wait.
    /// No site overtakes a site with an earlier retry time.
    pub(crate) fn try_reserve(
        &mut self,
        count: usize,
        promised: &mut Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(), Timestamp> {
        if let Some(moment) = promised.filter(|moment| *moment > now) {
            return Err(moment);
        }
        self.reopen_slots(now);
        let is_free = self.in_progress + self.closed.len() < count.max(1);
        if is_free && (promised.is_some() || self.last_assigned <= now) {
            return Ok(());
        }
        let slots = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        let step = (self.occupied_for / slots / OVERBOOKING).max(MIN_STEP);
        let next_free = match self.closed.peek() {
            Some(Reverse(until)) if !is_free => *until,
            _ => now,
        };
        let moment = self.last_assigned.max(now).plus(step).max(next_free);
        self.last_assigned = moment;
        *promised = Some(moment);
        Err(moment)
    }

    pub(crate) fn request_started(&mut self) {
        self.in_progress += 1;
    }

    /// Records the end of a request.
    pub(crate) fn request_ended(&mut self) {
        self.in_progress = self.in_progress.saturating_sub(1);
    }

    /// Closes a slot until `until`, after a request to this resource that took `took`.
    pub(crate) fn close_slot(&mut self, now: Timestamp, took: Duration, until: Timestamp) {
        self.reopen_slots(now);
        let occupied_for = took.saturating_add(until.since(now));
        self.occupied_for = match self.occupied_for.is_zero() {
            true => occupied_for,
            false => self.occupied_for - self.occupied_for / SMOOTHING + occupied_for / SMOOTHING,
        };
        if until > now {
            self.closed.push(Reverse(until));
        }
    }

    fn reopen_slots(&mut self, now: Timestamp) {
        while self.closed.peek().is_some_and(|Reverse(until)| *until <= now) {
            self.closed.pop();
        }
    }

    /// Returns `true` if there is no state to keep.
    pub(crate) fn is_empty(&self, now: Timestamp) -> bool {
        self.in_progress == 0
            && self.last_assigned <= now
            && self.closed.iter().all(|Reverse(until)| *until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_slot_stays_closed_after_each_request() {
        let mut slots = RequestSlots::default();
        for _ in 0..2 {
            assert_eq!(slots.try_reserve(2, &mut None, at(0)), Ok(()));
            slots.request_started();
        }
        assert!(slots.try_reserve(2, &mut None, at(0)).is_err(), "both slots are occupied");
        let ended = |slots: &mut RequestSlots| {
            slots.request_ended();
            slots.close_slot(at(100), Duration::from_millis(100), at(1100));
        };
        ended(&mut slots);
        assert!(slots.try_reserve(2, &mut None, at(1099)).is_err());
        ended(&mut slots);
        assert!(!slots.is_empty(at(1099)));
        assert_eq!(slots.try_reserve(2, &mut None, at(5000)), Ok(()));
    }

    /// 5,000 subdomains, 8 slots, 1 s each: 8 requests per second get through, and each site checks only a few times.
    #[test]
    fn thousands_of_waiting_sites_check_rarely_and_get_through() {
        let mut slots = RequestSlots::default();
        let mut waiting: BinaryHeap<Reverse<(Timestamp, usize)>> =
            (0..5000).map(|site| Reverse((at(0), site))).collect();
        let mut promised = vec![None; 5000];
        let (mut checks, mut under_way, mut last) = (0, BinaryHeap::new(), at(0));
        while let Some(Reverse((now, site))) = waiting.pop() {
            while let Some(Reverse(end)) = under_way.peek().copied().filter(|Reverse(end)| *end <= now) {
                under_way.pop();
                slots.request_ended();
                slots.close_slot(end, Duration::from_millis(50), end.plus(SECOND));
            }
            checks += 1;
            match slots.try_reserve(8, &mut promised[site], now) {
                Ok(()) => {
                    slots.request_started();
                    under_way.push(Reverse(now.plus(Duration::from_millis(50))));
                    last = now;
                }
                Err(moment) => {
                    assert!(moment > now);
                    waiting.push(Reverse((moment, site)));
                }
            }
        }
        let ideal = 5000 / 8 * 1050;
        assert!(checks < 5000 * 8, "{checks} checks");
        assert!(last.millis() >= ideal - 1050 && last.millis() < ideal * 104 / 100, "{last:?}");
    }
}
