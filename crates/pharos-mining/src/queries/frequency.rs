//! Query frequencies (查询词频统计): by time window, rising, by hour. The source of the hot list (风云榜).
//!
//! The fastest rising queries (查询量上升最快) exceed most the count that the previous window predicts:
//!
//! ```text
//! growth = (now + s) / (before · T/T₀ + s)
//! ```
//!
//! `now` and `before` are the counts of the query in this window and the previous one. T and T₀ are the
//! counts of all queries, so that a daily peak does not make every query rise. s is the smoothing, so that
//! one query after none does not count.
//!
//! Only queries from enough different visits are shown to other users. For each query a few hashed visits are
//! stored, up to that number: they do not reveal the queries of a user. Visits of a user on different days
//! have different identifiers and count as different.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use pharos_core::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::queries::hot_words::QueryHeat;
use crate::queries::time_slots::{SlotCounts, TimeWindow, slot};

/// Maximum number of visits stored per query, whatever the configuration.
const MAX_VISITS: usize = 64;

/// A query with its frequency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct HotQuery {
    /// The query as first typed.
    pub query: String,
    /// Number of times it was searched for.
    pub count: u64,
}

/// A query with growing frequency.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RisingQuery {
    /// The query as first typed.
    pub query: String,
    /// Number of times it was searched for in the window.
    pub count: u64,
    /// Number of times in the previous window.
    pub before: u64,
    /// Ratio to the expected number.
    pub growth: f64,
}

/// Counts queries over time.
pub struct QueryFrequency {
    queries: HashMap<Box<str>, QueryCounts>,
    all: SlotCounts,
    max_queries: usize,
    min_visits: usize,
    days: u32,
    aged: u32,
    dropped: u64,
}

struct QueryCounts {
    /// The query as first typed.
    text: Box<str>,
    slots: SlotCounts,
    visits: Vec<u64>,
    found: bool,
}

impl QueryFrequency {
    /// Creates a counter of at most `max_queries` queries over `days`; queries from fewer than `min_visits`
    /// visits are hidden.
    pub fn new(max_queries: usize, min_visits: usize, days: u32) -> Self {
        Self {
            queries: HashMap::new(),
            all: SlotCounts::default(),
            max_queries: max_queries.max(1),
            min_visits: min_visits.min(MAX_VISITS),
            days: days.max(1),
            aged: 0,
            dropped: 0,
        }
    }

    /// Counts a query. `key` is its normalised form; `found` is `true` if there were results.
    pub fn add(&mut self, key: &str, text: &str, visit: &str, found: bool, at: Timestamp) {
        if !self.queries.contains_key(key) {
            if self.queries.len() >= self.max_queries {
                self.drop_coldest();
            }
            let counts = QueryCounts {
                text: text.into(),
                slots: SlotCounts::default(),
                visits: Vec::new(),
                found: false,
            };
            self.queries.insert(key.into(), counts);
        }
        let Some(counts) = self.queries.get_mut(key) else { return };
        counts.slots.add(slot(at));
        counts.found |= found;
        if counts.visits.len() < self.min_visits && !visit.is_empty() {
            let visit = FixedState::default().hash_one(visit);
            if !counts.visits.contains(&visit) {
                counts.visits.push(visit);
            }
        }
        self.all.add(slot(at));
    }

    fn drop_coldest(&mut self) {
        let quarter = self.queries.len().div_ceil(4);
        let mut heat: Vec<(u64, u32)> = self.queries.values().map(QueryCounts::heat).collect();
        let (_, limit, _) = heat.select_nth_unstable(quarter - 1);
        let (limit, before) = (*limit, self.queries.len());
        self.queries.retain(|_, counts| counts.heat() > limit);
        self.dropped += (before - self.queries.len()) as u64;
    }

    /// Drops counts that are too old. Does real work once an hour.
    pub fn age(&mut self, now: Timestamp) {
        let now = slot(now);
        if now / 12 == self.aged / 12 {
            return;
        }
        self.aged = now;
        self.all.age(now, self.days);
        self.queries.retain(|_, counts| {
            counts.slots.age(now, self.days);
            !counts.slots.is_empty()
        });
    }

    /// Returns `true` if the query may be shown to other users.
    pub fn is_shown(&self, key: &str) -> bool {
        self.queries.get(key).is_some_and(|counts| self.may_show(counts))
    }

    fn may_show(&self, counts: &QueryCounts) -> bool {
        counts.visits.len() >= self.min_visits
    }

    /// Returns the query as first typed.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.queries.get(key).map(|counts| &*counts.text)
    }

    fn shown(&self) -> impl Iterator<Item = &QueryCounts> {
        self.queries.values().filter(|counts| self.may_show(counts))
    }

    /// Returns the most frequent queries of a window.
    pub fn top(&self, window: TimeWindow, now: Timestamp, n: usize) -> Vec<HotQuery> {
        let now = slot(now);
        let counted = self.shown().map(|counts| (counts.slots.in_window(window, now).0, &*counts.text));
        let counted =
            counted.filter(|(count, _)| *count > 0).map(|(count, text)| (count as f64, count, text));
        let hot = |(_, count, text): (f64, u64, &str)| HotQuery { query: text.to_string(), count };
        best(counted.collect(), n, |entry| (entry.0, entry.2)).into_iter().map(hot).collect()
    }

    /// Returns the fastest rising queries of a window.
    pub fn rising(&self, window: TimeWindow, now: Timestamp, n: usize, smoothing: f64) -> Vec<RisingQuery> {
        let now = slot(now);
        let (all, all_before) = self.all.in_window(window, now);
        let pace = if all_before == 0 { 1.0 } else { all as f64 / all_before as f64 };
        let smoothing = smoothing.max(f64::MIN_POSITIVE);
        let rising = self.shown().map(|counts| {
            let (count, before) = counts.slots.in_window(window, now);
            let growth = (count as f64 + smoothing) / (before as f64 * pace + smoothing);
            RisingQuery { query: counts.text.to_string(), count, before, growth }
        });
        let rising = rising.filter(|query| query.growth > 1.0 && query.count > 0).collect();
        best(rising, n, |query| (query.growth, &query.query))
    }

    /// Returns the counts of a query in the last 24 hours, the current hour last. Returns `None` if it must
    /// not be shown.
    pub fn hourly(&self, key: &str, now: Timestamp) -> Option<Vec<u64>> {
        let counts = self.queries.get(key).filter(|counts| self.may_show(counts))?;
        Some(counts.slots.hourly(slot(now)))
    }

    /// Returns the counts of all queries in the last 24 hours.
    pub fn hourly_of_all(&self, now: Timestamp) -> Vec<u64> {
        self.all.hourly(slot(now))
    }

    /// Returns frequent and recent queries of any number of visits, for caches and not for display. Weights
    /// halve every day.
    pub fn frequent(&self, now: Timestamp, n: usize) -> Vec<String> {
        let now = slot(now);
        let faded = self.queries.values().map(|counts| (counts.slots.fading(now), &*counts.text)).collect();
        best(faded, n, |entry| *entry).into_iter().map(|(_, text)| text.to_string()).collect()
    }

    /// Returns the queries that may be shown with their decayed counts, which halve every day, and their growth against the
    /// previous day.
    pub fn heats(&self, now: Timestamp, smoothing: f64) -> Vec<QueryHeat<'_>> {
        let now = slot(now);
        let (all, all_before) = self.all.in_window(TimeWindow::Day, now);
        let pace = if all_before == 0 { 1.0 } else { all as f64 / all_before as f64 };
        let smoothing = smoothing.max(f64::MIN_POSITIVE);
        let heat = |counts: &'_ QueryCounts| {
            let (count, before) = counts.slots.in_window(TimeWindow::Day, now);
            let growth = (count as f64 + smoothing) / (before as f64 * pace + smoothing);
            (counts.slots.fading(now), growth)
        };
        let shown = self.shown().map(|counts| (heat(counts), &*counts.text));
        shown.map(|((count, growth), query)| QueryHeat { query, count, growth }).collect()
    }

    /// Returns the queries that may be suggested to others: from enough visits, and with results.
    pub fn phrases(&self) -> Vec<(String, u64)> {
        let found = self.shown().filter(|counts| counts.found);
        let mut phrases: Vec<_> =
            found.map(|counts| (counts.text.to_string(), counts.slots.total())).collect();
        phrases.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        phrases
    }

    /// Returns the number of queries dropped for lack of memory.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl QueryCounts {
    fn heat(&self) -> (u64, u32) {
        (self.slots.total(), self.slots.last())
    }
}

/// Returns the `n` items with the highest score, sorted; ties are broken by text.
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

    /// Adds a query from this many visits.
    fn ask(frequency: &mut QueryFrequency, query: &str, visits: usize, when: &str) {
        for visit in 0..visits {
            frequency.add(query, query, &visit.to_string(), true, at(when));
        }
    }

    #[test]
    fn windows_count_and_order() {
        let mut frequency = QueryFrequency::new(1000, 3, 7);
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
        assert_eq!(top(TimeWindow::Hour), [("茶".to_string(), 5), ("灯塔".into(), 4)]);
        assert_eq!(top(TimeWindow::Day), [("灯塔".to_string(), 8), ("茶".into(), 5)]);
        let hours = frequency.hourly("灯塔", now).unwrap();
        assert_eq!((hours.len(), hours[23], hours[14], hours.iter().sum::<u64>()), (24, 4, 4, 8));
        assert_eq!(frequency.hourly("secret of two", now), None);
        assert_eq!(frequency.hourly_of_all(now)[23], 11);
        assert_eq!(frequency.frequent(now, 2), ["灯塔", "茶"]);
        assert!(frequency.frequent(now, 9).contains(&"secret of two".to_string()));
    }

    #[test]
    fn rising_queries_grow_more_than_all_queries() {
        let mut frequency = QueryFrequency::new(1000, 3, 7);
        let now = at("2026-01-31T12:30:00Z");
        // Everything doubles; one query grows more, one is new, one is new and rare.
        for (query, before, after) in
            [("steady", 50, 100), ("faster", 10, 60), ("new", 0, 30), ("rare", 0, 3)]
        {
            ask(&mut frequency, query, before, "2026-01-31T11:10:00Z");
            ask(&mut frequency, query, after, "2026-01-31T12:10:00Z");
        }
        let rising = frequency.rising(TimeWindow::Hour, now, 10, 5.0);
        let names: Vec<&str> = rising.iter().map(|rising| rising.query.as_str()).collect();
        assert_eq!(names, ["new", "faster", "rare"]);
        assert!((rising[0].growth - 35.0 / 5.0).abs() < 1e-9);
        assert_eq!((rising[1].count, rising[1].before), (60, 10));
    }

    #[test]
    fn only_queries_of_enough_visits_with_results_are_suggested() {
        let mut frequency = QueryFrequency::new(1000, 3, 7);
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
        let mut open = QueryFrequency::new(1000, 0, 7);
        open.add("a", "a", "", true, when);
        assert!(open.is_shown("a"));
    }

    #[test]
    fn memory_is_bounded_in_queries_and_in_time() {
        let mut frequency = QueryFrequency::new(100, 0, 7);
        let start = at("2026-01-01T00:00:00Z");
        for n in 0..5_000_u64 {
            let when = start.plus(Duration::from_secs(n));
            frequency.add(&format!("rare {n}"), "rare", "", true, when);
            frequency.add("hot", "hot", "", true, when);
        }
        assert!(frequency.queries.len() <= 100 && frequency.dropped() > 4_000);
        assert_eq!(frequency.top(TimeWindow::Day, start.plus(Duration::from_secs(5_000)), 1)[0].count, 5_000);
        frequency.age(start.plus(Duration::from_secs(30 * 86_400)));
        assert!(frequency.queries.is_empty() && frequency.all.is_empty());
    }
}
