//! Lanes: what many sites share, a domain or an address, is asked at the pace of a few sites.
//!
//! A request needs a free lane, holds it, and leaves it closed for as long as its own site has to wait. With N lanes
//! the whole is thus asked at most N times as fast as one site. Whoever finds no lane free is given a moment to come
//! back at, each a different one: thousands that wait cost one look each, and never all look at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use pharos_core::Timestamp;

/// Moments to come back at are at least this far apart.
const MIN_STEP: Duration = Duration::from_millis(10);
/// More are told to come than lanes become free, by this factor, or lanes would wait for them.
const CROWDING: u32 = 4;
/// How much of the estimate of a lane's time the newest request is: one part in so many.
const SMOOTHING: u32 = 8;

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Requests under way.
    busy: usize,
    /// When lanes that rest may be used again; past moments are free lanes and are taken out.
    resting: BinaryHeap<Reverse<Timestamp>>,
    /// The last moment that was given to anybody.
    last_given: Timestamp,
    /// How long a lane is taken, with its rest: an estimate.
    taken_for: Duration,
}

impl Lanes {
    /// May a request begin? `promised` is the moment the site was told to come back at; a new one is put there if
    /// it has to wait. Nobody overtakes those who were promised something earlier.
    pub(crate) fn turn(
        &mut self,
        count: usize,
        promised: &mut Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(), Timestamp> {
        if let Some(moment) = promised.filter(|moment| *moment > now) {
            return Err(moment);
        }
        self.open(now);
        let is_free = self.busy + self.resting.len() < count.max(1);
        if is_free && (promised.is_some() || self.last_given <= now) {
            return Ok(());
        }
        let lanes = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        let step = (self.taken_for / lanes / CROWDING).max(MIN_STEP);
        let next_free = match self.resting.peek() {
            Some(Reverse(until)) if !is_free => *until,
            _ => now,
        };
        let moment = self.last_given.max(now).plus(step).max(next_free);
        self.last_given = moment;
        *promised = Some(moment);
        Err(moment)
    }

    pub(crate) fn begun(&mut self) {
        self.busy += 1;
    }

    /// A request is over, wherever it went.
    pub(crate) fn released(&mut self) {
        self.busy = self.busy.saturating_sub(1);
    }

    /// A request that `took` so long went here: a lane rests until then.
    pub(crate) fn rests(&mut self, now: Timestamp, took: Duration, until: Timestamp) {
        self.open(now);
        let taken_for = took.saturating_add(until.since(now));
        self.taken_for = match self.taken_for.is_zero() {
            true => taken_for,
            false => self.taken_for - self.taken_for / SMOOTHING + taken_for / SMOOTHING,
        };
        if until > now {
            self.resting.push(Reverse(until));
        }
    }

    fn open(&mut self, now: Timestamp) {
        while self.resting.peek().is_some_and(|Reverse(until)| *until <= now) {
            self.resting.pop();
        }
    }

    /// Is there nothing to remember?
    pub(crate) fn is_empty(&self, now: Timestamp) -> bool {
        self.busy == 0 && self.last_given <= now && self.resting.iter().all(|Reverse(until)| *until <= now)
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
    fn a_lane_rests_after_each_request() {
        let mut lanes = Lanes::default();
        for _ in 0..2 {
            assert_eq!(lanes.turn(2, &mut None, at(0)), Ok(()));
            lanes.begun();
        }
        assert!(lanes.turn(2, &mut None, at(0)).is_err(), "both are taken");
        let ended = |lanes: &mut Lanes| {
            lanes.released();
            lanes.rests(at(100), Duration::from_millis(100), at(1100));
        };
        ended(&mut lanes);
        assert!(lanes.turn(2, &mut None, at(1099)).is_err());
        ended(&mut lanes);
        assert!(!lanes.is_empty(at(1099)));
        assert_eq!(lanes.turn(2, &mut None, at(5000)), Ok(()));
    }

    /// Five thousand subdomains, eight lanes, a second each: eight a second come through, and each looks only a few
    /// times.
    #[test]
    fn thousands_that_wait_look_seldom_and_get_through() {
        let mut lanes = Lanes::default();
        let mut waiting: BinaryHeap<Reverse<(Timestamp, usize)>> =
            (0..5000).map(|site| Reverse((at(0), site))).collect();
        let mut promised = vec![None; 5000];
        let (mut looks, mut under_way, mut last) = (0, BinaryHeap::new(), at(0));
        while let Some(Reverse((now, site))) = waiting.pop() {
            while let Some(Reverse(end)) = under_way.peek().copied().filter(|Reverse(end)| *end <= now) {
                under_way.pop();
                lanes.released();
                lanes.rests(end, Duration::from_millis(50), end.plus(SECOND));
            }
            looks += 1;
            match lanes.turn(8, &mut promised[site], now) {
                Ok(()) => {
                    lanes.begun();
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
        assert!(looks < 5000 * 8, "{looks} looks");
        assert!(last.millis() >= ideal - 1050 && last.millis() < ideal * 104 / 100, "{last:?}");
    }
}
