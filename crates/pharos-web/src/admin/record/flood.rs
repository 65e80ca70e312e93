//! How often the same refusal is written down.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many at once, and then one in this time.
const AT_ONCE: u32 = 30;
const EVERY: Duration = Duration::from_secs(3);

/// What was let through lately, by the name of the action: those are ours, and few.
#[derive(Default)]
pub(super) struct Flood(Mutex<HashMap<&'static str, Gauge>>);

struct Gauge {
    left: u32,
    since: Instant,
    left_out: u64,
}

impl Flood {
    /// May one more be written down? Gives how many before it were not.
    pub(super) fn passes(&self, action: &'static str, now: Instant) -> Option<u64> {
        let mut gauges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gauge = gauges.entry(action).or_insert(Gauge { left: AT_ONCE, since: now, left_out: 0 });
        let grown = now.saturating_duration_since(gauge.since).as_secs() / EVERY.as_secs();
        if grown > 0 {
            gauge.left = gauge.left.saturating_add(u32::try_from(grown).unwrap_or(u32::MAX)).min(AT_ONCE);
            gauge.since = now;
        }
        if gauge.left == 0 {
            gauge.left_out += 1;
            return None;
        }
        gauge.left -= 1;
        Some(std::mem::take(&mut gauge.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_counted_and_told_with_the_next() {
        let (flood, start) = (Flood::default(), Instant::now());
        assert!((0..AT_ONCE).all(|_| flood.passes("login", start) == Some(0)));
        assert!((0..7).all(|_| flood.passes("login", start).is_none()));
        assert_eq!(flood.passes("setup", start), Some(0), "each has its own");
        assert_eq!(flood.passes("login", start + EVERY), Some(7));
        assert_eq!(flood.passes("login", start + EVERY), None);
        assert_eq!(flood.passes("login", start + 1000 * EVERY), Some(1));
        assert_eq!((0..1000).filter(|_| flood.passes("login", start + 1000 * EVERY).is_some()).count(), 29);
    }
}
