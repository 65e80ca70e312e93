//! Referrer and entry page of current visits, logged with each of their queries.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use lru::LruCache;
use parking_lot::Mutex;

/// Idle time after which a visit ends.
const IDLE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Maximum number of visits; those idle for the longest time are evicted.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// The start of a visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionStart {
    /// Referring URL; may be empty.
    pub(crate) referrer: String,
    /// Path of the first page.
    pub(crate) entry: String,
}

pub(crate) struct VisitSessions(Mutex<LruCache<String, (SessionStart, Instant)>>);

impl Default for VisitSessions {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }
}

impl VisitSessions {
    /// Registers a request of a visit and returns how the visit started.
    pub(crate) fn touch(&self, visit: &str, entry: SessionStart, now: Instant) -> SessionStart {
        let mut visits = self.0.lock();
        if let Some((start, seen)) = visits.get_mut(visit)
            && now.saturating_duration_since(*seen) < IDLE_LIMIT
        {
            *seen = now;
            return start.clone();
        }
        visits.put(visit.to_string(), (entry.clone(), now));
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_keeps_its_start_until_it_ends() {
        let (sessions, now) = (VisitSessions::default(), Instant::now());
        let start = |entry: &str| SessionStart { referrer: "http://a.example/".into(), entry: entry.into() };
        assert_eq!(sessions.touch("v", start("/"), now), start("/"));
        assert_eq!(sessions.touch("v", start("/search"), now + IDLE_LIMIT / 2), start("/"));
        assert_eq!(sessions.touch("v", start("/search"), now + IDLE_LIMIT), start("/"), "active in between");
        assert_eq!(sessions.touch("v", start("/hot"), now + 3 * IDLE_LIMIT), start("/hot"));
        (0..2 * CAPACITY.get()).for_each(|n| drop(sessions.touch(&n.to_string(), start("/"), now)));
        assert_eq!(sessions.0.lock().len(), CAPACITY.get());
    }
}
