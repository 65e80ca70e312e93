//! The control law of the paper's policy (a refresh strategy based on the Poisson process, §3 and §4): the share of
//! new links shortens or lengthens the interval of each page.
//!
//! The source leaves the thresholds and factors open; they are settings here. The law for lengthening is ours: it needs
//! two misses in a row below a second, lower threshold (hysteresis).

use pharos_core::config::InsertedVisit;

use super::demand::IntervalBounds;
use super::insertion::inserted_share;

/// Factor of a shortened interval.
const SHORTENING: f64 = 0.7;

/// Factor of a lengthened interval.
const LENGTHENING: f64 = 1.4;

/// Number of regular visits in a row below the lower threshold that lengthen the interval.
const MISSES: u8 = 2;

/// Settings of the control law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitControl {
    /// Share of new links above which a visit is a hit (v1).
    pub v1: f64,
    /// Share of new links below which a visit is a miss (v0).
    pub v0: f64,
    pub inserted_visit: InsertedVisit,
    pub bounds: IntervalBounds,
}

/// State of the control law for one page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VisitRhythm {
    /// Interval between regular visits, in days; 0 before the first visit.
    pub interval: f32,
    /// The last regular visit was a hit, and none before it.
    pub is_hit: bool,
    /// Regular visits in a row that were misses.
    pub misses: u8,
    /// The next visit is an inserted one.
    pub is_inserted: bool,
    /// The last visit was an inserted one.
    pub is_after_inserted: bool,
    /// The inserted visit of this interval was a hit.
    pub was_inserted_hit: bool,
}

impl VisitControl {
    /// Updates the state after a visit that found this share of new links. Returns the days until the next visit.
    pub fn next_visit(&self, rhythm: &mut VisitRhythm, new_links: f64) -> f64 {
        let interval = f64::from(rhythm.interval);
        if rhythm.is_inserted {
            rhythm.is_inserted = false;
            rhythm.is_after_inserted = true;
            rhythm.was_inserted_hit = new_links > self.v1;
            return self.wait(rhythm);
        }
        rhythm.is_after_inserted = false;
        let is_hit = new_links > self.v1 || rhythm.was_inserted_hit;
        rhythm.was_inserted_hit = false;
        let factor = if is_hit && rhythm.is_hit {
            SHORTENING
        } else if !is_hit && new_links < self.v0 && rhythm.misses + 1 >= MISSES {
            LENGTHENING
        } else {
            1.0
        };
        let is_first_hit = is_hit && !rhythm.is_hit;
        rhythm.is_hit = is_first_hit;
        let is_miss = !is_hit && new_links < self.v0 && factor == 1.0;
        rhythm.misses = if is_miss { rhythm.misses + 1 } else { 0 };
        let interval = self.bounds.apply(interval * factor);
        rhythm.interval = interval as f32;
        rhythm.is_inserted =
            is_first_hit && interval * inserted_share(self.inserted_visit) >= self.bounds.shortest;
        self.wait(rhythm)
    }

    /// Returns the days from the last visit to the next.
    pub fn wait(&self, rhythm: &VisitRhythm) -> f64 {
        let (interval, share) = (f64::from(rhythm.interval), inserted_share(self.inserted_visit));
        match (rhythm.is_inserted, rhythm.is_after_inserted) {
            (true, _) => interval * share,
            (false, true) => interval * (1.0 - share),
            (false, false) => interval,
        }
    }
}

/// Returns the share of new links (formula 1 of the source): the links that were unknown among all links of a page.
pub fn new_link_share(new: u32, all: u32) -> f64 {
    if all == 0 { 0.0 } else { f64::from(new.min(all)) / f64::from(all) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CONTROL: VisitControl = VisitControl {
        v1: 0.1,
        v0: 0.02,
        inserted_visit: InsertedVisit::Midpoint,
        bounds: IntervalBounds { shortest: 1.0, longest: 40.0 },
    };

    fn visit(shares: &[f64]) -> (Vec<f64>, VisitRhythm) {
        let mut rhythm = VisitRhythm { interval: 20.0, ..VisitRhythm::default() };
        let waits = shares.iter().map(|share| CONTROL.next_visit(&mut rhythm, *share)).collect();
        (waits, rhythm)
    }

    #[test]
    fn ninety_known_links_of_a_hundred_leave_ten_percent() {
        assert_eq!(new_link_share(10, 100), 0.1);
        assert_eq!((new_link_share(0, 0), new_link_share(9, 3)), (0.0, 1.0));
    }

    #[test]
    fn one_hit_inserts_a_visit_and_keeps_the_interval() {
        let (waits, rhythm) = visit(&[0.5, 0.0]);
        assert_eq!((waits, rhythm.interval), (vec![10.0, 10.0], 20.0));
    }

    #[test]
    fn two_hits_in_a_row_shorten_the_interval() {
        let (waits, rhythm) = visit(&[0.5, 0.5, 0.5]);
        assert_eq!(waits[..2], [10.0, 10.0]);
        assert!((waits[2] - 14.0).abs() < 1e-5 && (rhythm.interval - 14.0).abs() < 1e-5);
        assert_eq!(visit(&[0.5, 0.0, 0.05]).1.interval, 20.0, "the second visit was no hit");
    }

    #[test]
    fn two_misses_in_a_row_lengthen_the_interval() {
        assert_eq!(visit(&[0.0, 0.0]).1.interval, 28.0);
        assert_eq!(visit(&[0.0, 0.05, 0.0]).1.interval, 20.0, "between the thresholds nothing changes");
    }

    proptest! {
        #[test]
        fn every_adjustment_stays_within_the_bounds(shares in prop::collection::vec(any::<f64>(), 1..200)) {
            let mut rhythm = VisitRhythm { interval: 20.0, ..VisitRhythm::default() };
            for share in shares {
                let wait = CONTROL.next_visit(&mut rhythm, share);
                prop_assert!((1.0..=40.0).contains(&rhythm.interval), "{rhythm:?}");
                prop_assert!((0.99..=40.0).contains(&wait), "{wait}");
            }
        }
    }
}
