//! Limits how often the same kind of refusal is written to the action log.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Burst size, and time for one more.
const AT_ONCE: u32 = 30;
const EVERY: Duration = Duration::from_secs(3);

/// One budget per action name; the names are constants of this crate.
#[derive(Default)]
pub(super) struct Flood(Mutex<HashMap<&'static str, Gauge>>);

struct Gauge {
    left: u32,
    since: Instant,
    left_out: u64,
}

impl Flood {
    /// Takes one entry from the budget of an action. Returns how many entries were dropped before it, or `None`.
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
    fn dropped_refusals_are_counted_in_the_next_entry() {
        let (flood, start) = (Flood::default(), Instant::now());
        assert!((0..AT_ONCE).all(|_| flood.passes("login", start) == Some(0)));
        assert!((0..7).all(|_| flood.passes("login", start).is_none()));
        assert_eq!(flood.passes("setup", start), Some(0), "each action has its own budget");
        assert_eq!(flood.passes("login", start + EVERY), Some(7));
        assert_eq!(flood.passes("login", start + EVERY), None);
        assert_eq!(flood.passes("login", start + 1000 * EVERY), Some(1));
        assert_eq!((0..1000).filter(|_| flood.passes("login", start + 1000 * EVERY).is_some()).count(), 29);
    }
}
