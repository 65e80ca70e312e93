//! Limits how often the same kind of refusal is written to the action log.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Burst size, and time for one more.
const BURST: u32 = 30;
const INTERVAL: Duration = Duration::from_secs(3);

/// One budget per action name; the names are constants of this crate.
#[derive(Default)]
pub(super) struct RefusalLimiter(Mutex<HashMap<&'static str, RefusalBudget>>);

struct RefusalBudget {
    left: u32,
    since: Instant,
    omitted: u64,
}

impl RefusalLimiter {
    /// Takes one entry from the budget of an action. Returns how many entries were dropped before it, or `None`.
    pub(super) fn allow(&self, action: &'static str, now: Instant) -> Option<u64> {
        let mut budgets = self.0.lock();
        let budget = budgets.entry(action).or_insert(RefusalBudget { left: BURST, since: now, omitted: 0 });
        let refilled = now.saturating_duration_since(budget.since).as_secs() / INTERVAL.as_secs();
        if refilled > 0 {
            budget.left = budget.left.saturating_add(u32::try_from(refilled).unwrap_or(u32::MAX)).min(BURST);
            budget.since = now;
        }
        if budget.left == 0 {
            budget.omitted += 1;
            return None;
        }
        budget.left -= 1;
        Some(std::mem::take(&mut budget.omitted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_refusals_are_counted_in_the_next_entry() {
        let (limiter, start) = (RefusalLimiter::default(), Instant::now());
        assert!((0..BURST).all(|_| limiter.allow("login", start) == Some(0)));
        assert!((0..7).all(|_| limiter.allow("login", start).is_none()));
        assert_eq!(limiter.allow("setup", start), Some(0), "each action has its own budget");
        assert_eq!(limiter.allow("login", start + INTERVAL), Some(7));
        assert_eq!(limiter.allow("login", start + INTERVAL), None);
        assert_eq!(limiter.allow("login", start + 1000 * INTERVAL), Some(1));
        assert_eq!(
            (0..1000).filter(|_| limiter.allow("login", start + 1000 * INTERVAL).is_some()).count(),
            29
        );
    }
}
