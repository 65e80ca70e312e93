//! How often each query is asked (查询词频统计): by window, rising, hour by hour: the hot list (风云榜).
//!
//! What rises fastest (查询量上升最快) is what is asked most beyond what the window before lets expect:
//!
//! ```text
//! growth = (now + s) / (before · T/T₀ + s)
//! ```
//!
//! with `now` and `before` the counts of the query in this window and the one before, T and T₀ those of all queries (so
//! that the morning does not make everything rise), and s the smoothing (so that one query after none is nothing).
//!
//! Others are shown only what enough different visits asked. Of each query a few hashed visits are kept, up to that
//! number, and no more: who asked what cannot be read from it. A person's visits of different days have different names
//! and count as different.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use pharos_core::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::slots::{Slots, Window, slot};

/// No list of visits is longer, whatever is configured.
const MAX_VISITS: usize = 64;

/// A query and how often it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct HotQuery {
    /// The words.
    pub query: String,
    /// How often they were asked.
    pub count: u64,
}

/// A query that is asked more than before.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RisingQuery {
    /// The words.
    pub query: String,
    /// How often they were asked.
    pub count: u64,
    /// How often in the window before.
    pub before: u64,
    /// How many times as much as was to be expected.
    pub growth: f64,
}

/// Counts queries over time.
pub struct Frequency {
    queries: HashMap<Box<str>, Asked>,
    all: Slots,
    max_queries: usize,
    min_visits: usize,
    days: u32,
    aged: u32,
    dropped: u64,
}

struct Asked {
    /// As it was typed first.
    text: Box<str>,
    slots: Slots,
    visits: Vec<u64>,
    found: bool,
}

impl Frequency {
    /// Remembers `max_queries` queries over `days`; shows those of at least `min_visits`.
    pub fn new(max_queries: usize, min_visits: usize, days: u32) -> Self {
        Self {
            queries: HashMap::new(),
            all: Slots::default(),
            max_queries: max_queries.max(1),
            min_visits: min_visits.min(MAX_VISITS),
            days: days.max(1),
            aged: 0,
            dropped: 0,
        }
    }

    /// Counts a query: `key` is what spellings have in common, `found` whether there were results.
    pub fn add(&mut self, key: &str, text: &str, visit: &str, found: bool, at: Timestamp) {
        if !self.queries.contains_key(key) {
            if self.queries.len() >= self.max_queries {
                self.drop_coldest();
            }
            let asked =
                Asked { text: text.into(), slots: Slots::default(), visits: Vec::new(), found: false };
            self.queries.insert(key.into(), asked);
        }
        let Some(asked) = self.queries.get_mut(key) else { return };
        asked.slots.add(slot(at));
        asked.found |= found;
        if asked.visits.len() < self.min_visits && !visit.is_empty() {
            let visit = FixedState::default().hash_one(visit);
            if !asked.visits.contains(&visit) {
                asked.visits.push(visit);
            }
        }
        self.all.add(slot(at));
    }

    fn drop_coldest(&mut self) {
        let quarter = self.queries.len().div_ceil(4);
        let mut heat: Vec<(u64, u32)> = self.queries.values().map(Asked::heat).collect();
        let (_, limit, _) = heat.select_nth_unstable(quarter - 1);
        let (limit, before) = (*limit, self.queries.len());
        self.queries.retain(|_, asked| asked.heat() > limit);
        self.dropped += (before - self.queries.len()) as u64;
    }

    /// Forgets what is too old; once an hour that is some work.
    pub fn age(&mut self, now: Timestamp) {
        let now = slot(now);
        if now / 12 == self.aged / 12 {
            return;
        }
        self.aged = now;
        self.all.age(now, self.days);
        self.queries.retain(|_, asked| {
            asked.slots.age(now, self.days);
            !asked.slots.is_empty()
        });
    }

    /// May others see this query?
    pub fn is_shown(&self, key: &str) -> bool {
        self.queries.get(key).is_some_and(|asked| self.may_show(asked))
    }

    fn may_show(&self, asked: &Asked) -> bool {
        asked.visits.len() >= self.min_visits
    }

    /// As it was typed.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.queries.get(key).map(|asked| &*asked.text)
    }

    fn shown(&self) -> impl Iterator<Item = &Asked> {
        self.queries.values().filter(|asked| self.may_show(asked))
    }

    /// The most asked queries of a window.
    pub fn top(&self, window: Window, now: Timestamp, n: usize) -> Vec<HotQuery> {
        let now = slot(now);
        let counted = self.shown().map(|asked| (asked.slots.in_window(window, now).0, &*asked.text));
        let counted =
            counted.filter(|(count, _)| *count > 0).map(|(count, text)| (count as f64, count, text));
        let hot = |(_, count, text): (f64, u64, &str)| HotQuery { query: text.to_string(), count };
        best(counted.collect(), n, |entry| (entry.0, entry.2)).into_iter().map(hot).collect()
    }

    /// The queries that rise fastest in a window.
    pub fn rising(&self, window: Window, now: Timestamp, n: usize, smoothing: f64) -> Vec<RisingQuery> {
        let now = slot(now);
        let (all, all_before) = self.all.in_window(window, now);
        let pace = if all_before == 0 { 1.0 } else { all as f64 / all_before as f64 };
        let smoothing = smoothing.max(f64::MIN_POSITIVE);
        let rising = self.shown().map(|asked| {
            let (count, before) = asked.slots.in_window(window, now);
            let growth = (count as f64 + smoothing) / (before as f64 * pace + smoothing);
            RisingQuery { query: asked.text.to_string(), count, before, growth }
        });
        let rising = rising.filter(|query| query.growth > 1.0 && query.count > 0).collect();
        best(rising, n, |query| (query.growth, &query.query))
    }

    /// How often a query was asked in each of the last 24 hours, the present one last. Nothing where it may not be shown.
    pub fn hourly(&self, key: &str, now: Timestamp) -> Option<Vec<u64>> {
        let asked = self.queries.get(key).filter(|asked| self.may_show(asked))?;
        Some(asked.slots.hourly(slot(now)))
    }

    /// All queries of each of the last 24 hours.
    pub fn hourly_of_all(&self, now: Timestamp) -> Vec<u64> {
        self.all.hourly(slot(now))
    }

    /// Often and lately asked, whoever asked: for caches, not for eyes. A query weighs half as much a day later.
    pub fn frequent(&self, now: Timestamp, n: usize) -> Vec<String> {
        let now = slot(now);
        let faded = self.queries.values().map(|asked| (asked.slots.fading(now), &*asked.text)).collect();
        best(faded, n, |entry| *entry).into_iter().map(|(_, text)| text.to_string()).collect()
    }

    /// What may be proposed to others: asked by enough visits, and there were results.
    pub fn phrases(&self) -> Vec<(String, u64)> {
        let found = self.shown().filter(|asked| asked.found);
        let mut phrases: Vec<_> = found.map(|asked| (asked.text.to_string(), asked.slots.total())).collect();
        phrases.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        phrases
    }

    /// Queries that were forgotten because there were too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Asked {
    fn heat(&self) -> (u64, u32) {
        (self.slots.total(), self.slots.last())
    }
}

/// The `n` with the highest score, in order; those with the same by their text.
fn best<T>(mut all: Vec<T>, n: usize, score: impl Fn(&T) -> (f64, &str)) -> Vec<T> {
    let order = |a: &T, b: &T| {
        let (a, b) = (score(a), score(b));
        b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1))
    };
    if n < all.len() {
        all.select_nth_unstable_by(n, order);
        all.truncate(n);
    }
    all.sort_by(order);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;
    use std::time::Duration;

    /// Asks a query from so many visits.
    fn ask(frequency: &mut Frequency, query: &str, visits: usize, when: &str) {
        for visit in 0..visits {
            frequency.add(query, query, &visit.to_string(), true, at(when));
        }
    }

    #[test]
    fn windows_count_and_order() {
        let mut frequency = Frequency::new(1000, 3, 7);
        let now = at("2026-01-31T12:30:00Z");
        ask(&mut frequency, "茶", 5, "2026-01-31T12:10:00Z");
        ask(&mut frequency, "灯塔", 4, "2026-01-31T12:20:00Z");
        ask(&mut frequency, "灯塔", 4, "2026-01-31T03:20:00Z");
        ask(&mut frequency, "old", 9, "2026-01-29T03:20:00Z");
        ask(&mut frequency, "secret of two", 2, "2026-01-31T12:20:00Z");
        let top = |window| {
            let hot = frequency.top(window, now, 10);
            hot.into_iter().map(|hot| (hot.query, hot.count)).collect::<Vec<_>>()
        };
        assert_eq!(top(Window::Hour), [("茶".to_string(), 5), ("灯塔".into(), 4)]);
        assert_eq!(top(Window::Day), [("灯塔".to_string(), 8), ("茶".into(), 5)]);
        let hours = frequency.hourly("灯塔", now).unwrap();
        assert_eq!((hours.len(), hours[23], hours[14], hours.iter().sum::<u64>()), (24, 4, 4, 8));
        assert_eq!(frequency.hourly("secret of two", now), None);
        assert_eq!(frequency.hourly_of_all(now)[23], 11);
        assert_eq!(frequency.frequent(now, 2), ["灯塔", "茶"]);
        assert!(frequency.frequent(now, 9).contains(&"secret of two".to_string()));
    }

    #[test]
    fn what_rises_rises_beyond_what_all_do() {
        let mut frequency = Frequency::new(1000, 3, 7);
        let now = at("2026-01-31T12:30:00Z");
        // Everything doubles; one thing does more, one is new, one is new and rare.
        for (query, before, after) in
            [("steady", 50, 100), ("faster", 10, 60), ("new", 0, 30), ("rare", 0, 3)]
        {
            ask(&mut frequency, query, before, "2026-01-31T11:10:00Z");
            ask(&mut frequency, query, after, "2026-01-31T12:10:00Z");
        }
        let rising = frequency.rising(Window::Hour, now, 10, 5.0);
        let names: Vec<&str> = rising.iter().map(|rising| rising.query.as_str()).collect();
        assert_eq!(names, ["new", "faster", "rare"]);
        assert!((rising[0].growth - 35.0 / 5.0).abs() < 1e-9);
        assert_eq!((rising[1].count, rising[1].before), (60, 10));
    }

    #[test]
    fn only_what_enough_visits_asked_and_found_is_proposed() {
        let mut frequency = Frequency::new(1000, 3, 7);
        let when = at("2026-01-31T12:00:00Z");
        for _ in 0..100 {
            frequency.add("one person", "One Person", "v", true, when);
            frequency.add("nobody known", "nobody known", "", true, when);
        }
        for visit in ["a", "b", "c"] {
            frequency.add("found nothing", "found nothing", visit, false, when);
            frequency.add("tea", "Tea", visit, visit == "c", when);
        }
        assert_eq!(frequency.phrases(), [("Tea".to_string(), 3)]);
        assert!(frequency.is_shown("tea") && !frequency.is_shown("one person"));
        let mut open = Frequency::new(1000, 0, 7);
        open.add("a", "a", "", true, when);
        assert!(open.is_shown("a"));
    }

    #[test]
    fn memory_is_bounded_in_queries_and_in_time() {
        let mut frequency = Frequency::new(100, 0, 7);
        let start = at("2026-01-01T00:00:00Z");
        for n in 0..5_000_u64 {
            let when = start.plus(Duration::from_secs(n));
            frequency.add(&format!("rare {n}"), "rare", "", true, when);
            frequency.add("hot", "hot", "", true, when);
        }
        assert!(frequency.queries.len() <= 100 && frequency.dropped() > 4_000);
        assert_eq!(frequency.top(Window::Day, start.plus(Duration::from_secs(5_000)), 1)[0].count, 5_000);
        frequency.age(start.plus(Duration::from_secs(30 * 86_400)));
        assert!(frequency.queries.is_empty() && frequency.all.is_empty());
    }
}
