//! Referrer and entry page of current visits, logged with each of their queries.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Idle time after which a visit ends.
const LASTS: Duration = Duration::from_secs(30 * 60);

/// Maximum number of visits; the oldest are evicted.
const KNOWN: usize = 10_000;

/// The start of a visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Began {
    /// Referring URL; may be empty.
    pub(crate) referrer: String,
    /// Path of the first page.
    pub(crate) entry: String,
}

#[derive(Default)]
pub(crate) struct Sessions(Mutex<Known>);

#[derive(Default)]
struct Known {
    visits: HashMap<String, (Began, Instant)>,
    order: VecDeque<String>,
}

impl Sessions {
    /// Registers a request of a visit and returns how the visit started.
    pub(crate) fn at(&self, visit: &str, here: Began, now: Instant) -> Began {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((began, seen)) = known.visits.get_mut(visit)
            && now.saturating_duration_since(*seen) < LASTS
        {
            *seen = now;
            return began.clone();
        }
        if known.visits.insert(visit.to_string(), (here.clone(), now)).is_none() {
            known.order.push_back(visit.to_string());
        }
        if known.order.len() > KNOWN
            && let Some(oldest) = known.order.pop_front()
        {
            known.visits.remove(&oldest);
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_keeps_its_start_until_it_ends() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let began = |entry: &str| Began { referrer: "http://a.example/".into(), entry: entry.into() };
        assert_eq!(sessions.at("v", began("/"), now), began("/"));
        assert_eq!(sessions.at("v", began("/search"), now + LASTS / 2), began("/"));
        assert_eq!(sessions.at("v", began("/search"), now + LASTS), began("/"), "active in between");
        assert_eq!(sessions.at("v", began("/hot"), now + 3 * LASTS), began("/hot"));
        (0..2 * KNOWN).for_each(|n| drop(sessions.at(&n.to_string(), began("/"), now)));
        assert!(sessions.0.lock().unwrap().visits.len() <= KNOWN);
    }
}
