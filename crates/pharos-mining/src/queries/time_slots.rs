//! Counts by time slot: five minutes for the last hours, one hour for two days, one day before that.

use pharos_core::Timestamp;

const SLOT_MILLIS: i64 = 300_000;
const HOUR: u32 = 12;
const DAY: u32 = 24 * HOUR;

/// A time window up to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWindow {
    /// The last hour, with a resolution of five minutes.
    Hour,
    /// The last 24 hours, with a resolution of one hour.
    Day,
}

impl TimeWindow {
    /// Returns the first and last slot of this window at `now`, and of the previous window.
    fn ranges(self, now: u32) -> ((u32, u32), (u32, u32)) {
        let (end, length) = match self {
            TimeWindow::Hour => (now, HOUR),
            TimeWindow::Day => (now - now % HOUR + HOUR - 1, DAY),
        };
        let start = (end + 1).saturating_sub(length);
        ((start, end), (start.saturating_sub(length), start.saturating_sub(1)))
    }
}

/// Returns the five-minute slot of a timestamp.
pub(crate) fn slot(at: Timestamp) -> u32 {
    u32::try_from(at.millis().div_euclid(SLOT_MILLIS)).unwrap_or(0)
}

/// Counts by slot, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotCounts(Vec<(u32, u32)>);

impl SlotCounts {
    pub(crate) fn add(&mut self, slot: u32) {
        let place = self.0.partition_point(|(of, _)| *of < slot);
        match self.0.get_mut(place) {
            Some((of, count)) if *of == slot => *count = count.saturating_add(1),
            _ => self.0.insert(place, (slot, 1)),
        }
    }

    fn sum(&self, (first, last): (u32, u32)) -> u64 {
        self.0.iter().filter(|(of, _)| (first..=last).contains(of)).map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the counts in the window and in the previous one.
    pub(crate) fn in_window(&self, window: TimeWindow, now: u32) -> (u64, u64) {
        let (this, before) = window.ranges(now);
        (self.sum(this), self.sum(before))
    }

    /// Returns the counts of the last 24 hours, the current hour last.
    pub(crate) fn hourly(&self, now: u32) -> Vec<u64> {
        let hour = now / HOUR;
        let of = |hour: u32| self.sum((hour * HOUR, hour * HOUR + HOUR - 1));
        (0..24).rev().map(|ago| hour.checked_sub(ago).map_or(0, of)).collect()
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    pub(crate) fn last(&self) -> u32 {
        self.0.last().map_or(0, |(of, _)| *of)
    }

    /// Returns the sum of counts, each weighted by half per day of age.
    pub(crate) fn fading(&self, now: u32) -> f64 {
        let age = |of: u32| f64::from(now.saturating_sub(of)) / f64::from(DAY);
        self.0.iter().map(|(of, count)| f64::from(*count) * 0.5_f64.powf(age(*of))).sum()
    }

    /// Merges slots that need not be distinguished any more, and drops those older than `days`.
    pub(crate) fn age(&mut self, now: u32, days: u32) {
        let oldest = (now - now % DAY + DAY).saturating_sub(days.saturating_mul(DAY));
        let (day_before, hour_before) =
            ((now - now % HOUR).saturating_sub(2 * DAY), now.saturating_sub(3 * HOUR));
        self.0.retain(|(of, _)| *of >= oldest);
        for (of, _) in &mut self.0 {
            if *of < day_before {
                *of -= *of % DAY;
            } else if *of < hour_before {
                *of -= *of % HOUR;
            }
        }
        self.0.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 = if same { earlier.1.saturating_add(later.1) } else { earlier.1 };
            same
        });
        self.0.shrink_to_fit();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ageing_changes_no_window() {
        let now = 100 * DAY + 7 * HOUR + 5;
        let mut counts = SlotCounts::default();
        for ago in (0..9 * DAY).step_by(5) {
            counts.add(now - ago);
        }
        let windows = |counts: &SlotCounts| {
            let windows = [TimeWindow::Hour, TimeWindow::Day].map(|window| counts.in_window(window, now));
            (windows, counts.hourly(now))
        };
        let before = windows(&counts);
        counts.age(now, 7);
        assert_eq!(windows(&counts), before);
        assert!(counts.0.len() < 3 * 12 + 48 + 7, "{}", counts.0.len());
        assert_eq!(before.0[1].0, before.1.iter().sum::<u64>());
        assert_eq!(counts.total(), u64::from((6 * DAY + 7 * HOUR + 6).div_ceil(5)));
        counts.age(now + 9 * DAY, 7);
        assert!(counts.is_empty());
    }

    #[test]
    fn extreme_timestamps_do_no_harm() {
        let mut counts = SlotCounts::default();
        for millis in [i64::MIN, -1, 0, 1, i64::MAX] {
            counts.add(slot(Timestamp::from_millis(millis)));
        }
        assert_eq!(counts.in_window(TimeWindow::Hour, 3).0, 5);
        assert_eq!(counts.hourly(0).len(), 24);
        counts.age(2, 7);
        assert_eq!(counts.total(), 5);
    }
}
