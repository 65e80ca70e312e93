//! Referrer and entry page of current visits, logged with each of their queries.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Idle time after which a visit ends.
const IDLE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Maximum number of visits; the oldest are evicted.
const CAPACITY: usize = 10_000;

/// The start of a visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionStart {
    /// Referring URL; may be empty.
    pub(crate) referrer: String,
    /// Path of the first page.
    pub(crate) entry: String,
}

#[derive(Default)]
pub(crate) struct VisitSessions(Mutex<SessionTable>);

#[derive(Default)]
struct SessionTable {
    visits: HashMap<String, (SessionStart, Instant)>,
    order: VecDeque<String>,
}

impl VisitSessions {
    /// Registers a request of a visit and returns how the visit started.
    pub(crate) fn touch(&self, visit: &str, entry: SessionStart, now: Instant) -> SessionStart {
        let mut table = self.0.lock();
        if let Some((start, seen)) = table.visits.get_mut(visit)
            && now.saturating_duration_since(*seen) < IDLE_LIMIT
        {
            *seen = now;
            return start.clone();
        }
        if table.visits.insert(visit.to_string(), (entry.clone(), now)).is_none() {
            table.order.push_back(visit.to_string());
        }
        if table.order.len() > CAPACITY
            && let Some(oldest) = table.order.pop_front()
        {
            table.visits.remove(&oldest);
        }
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
        (0..2 * CAPACITY).for_each(|n| drop(sessions.touch(&n.to_string(), start("/"), now)));
        assert!(sessions.0.lock().visits.len() <= CAPACITY);
    }
}
