//! The K most frequent queries of today, nearly in real time (《走进搜索引擎》§6.3.2).
//!
//! Over an unbounded stream: a query is hashed into one of many buckets, each small enough to be sorted, and
//! counted there. At intervals each bucket is sorted, and its first K go into a heap. Until the next build
//! the heap serves as a cache: a query that is in it is counted there too, and the heap order is restored. A
//! query that rises into the first K of its bucket between two builds appears at the next build. All counts
//! are cleared at the start of a day.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::FixedState;
use pharos_core::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// Counts queries and maintains the most frequent ones.
pub struct TopK {
    k: usize,
    interval: Duration,
    bucket_limit: usize,
    buckets: Vec<HashMap<Arc<str>, u64>>,
    /// A heap with the most frequent query first; `positions` maps each query to its index.
    heap: Vec<(u64, Arc<str>)>,
    positions: HashMap<Arc<str>, usize>,
    day: i64,
    built: Option<Timestamp>,
    dropped: u64,
}

impl TopK {
    /// Creates a counter of at most `max_queries` distinct queries in `buckets`, each of which contributes
    /// `k` queries to the heap every `interval`.
    pub fn new(k: usize, buckets: usize, interval: Duration, max_queries: usize) -> Self {
        let buckets = buckets.max(1);
        Self {
            k: k.max(1),
            interval,
            bucket_limit: (max_queries / buckets).max(2 * k.max(1)),
            buckets: vec![HashMap::new(); buckets],
            heap: Vec::new(),
            positions: HashMap::new(),
            day: i64::MIN,
            built: None,
            dropped: 0,
        }
    }

    /// Counts a query. Queries of past days are ignored.
    pub fn add(&mut self, query: &str, at: Timestamp) {
        self.begin(at);
        if at.millis().div_euclid(DAY_MILLIS) < self.day {
            return;
        }
        let number = FixedState::default().hash_one(query) as usize % self.buckets.len();
        let bucket = &mut self.buckets[number];
        match bucket.get_mut(query) {
            Some(count) => *count += 1,
            None => {
                if bucket.len() >= self.bucket_limit {
                    self.dropped += drop_coldest(bucket);
                }
                bucket.insert(query.into(), 1);
            }
        }
        if let Some(&position) = self.positions.get(query) {
            self.heap[position].0 += 1;
            self.sift_up(position);
        }
    }

    /// Begins a new day, or rebuilds the heap if it is due.
    pub fn refresh(&mut self, now: Timestamp) {
        self.begin(now);
        let old = |built: Timestamp| built > now || now.since(built) >= self.interval;
        if self.built.is_none_or(old) {
            self.build();
            self.built = Some(now);
        }
    }

    fn begin(&mut self, now: Timestamp) {
        let day = now.millis().div_euclid(DAY_MILLIS);
        if day > self.day {
            self.day = day;
            self.buckets.iter_mut().for_each(HashMap::clear);
            self.heap.clear();
            self.positions.clear();
            self.built = None;
        }
    }

    /// Sorts each bucket and builds a heap of the first K of each.
    pub fn build(&mut self) {
        self.heap.clear();
        for bucket in &self.buckets {
            let mut sorted: Vec<(u64, Arc<str>)> =
                bucket.iter().map(|(query, count)| (*count, query.clone())).collect();
            sorted.sort_unstable_by(order);
            self.heap.extend(sorted.into_iter().take(self.k));
        }
        // A sorted list is a heap.
        self.heap.sort_unstable_by(order);
        self.positions =
            self.heap.iter().enumerate().map(|(position, (_, query))| (query.clone(), position)).collect();
    }

    fn sift_up(&mut self, mut position: usize) {
        while position > 0 {
            let parent = (position - 1) / 2;
            if order(&self.heap[position], &self.heap[parent]).is_ge() {
                break;
            }
            self.heap.swap(position, parent);
            self.positions.insert(self.heap[position].1.clone(), position);
            position = parent;
        }
        self.positions.insert(self.heap[position].1.clone(), position);
    }

    /// Returns the most frequent queries of today that satisfy `wanted`.
    pub fn top(&self, n: usize, wanted: impl Fn(&str) -> bool) -> Vec<(Arc<str>, u64)> {
        let mut top = Vec::new();
        // Best-first from the root: the children of the entries taken are the next candidates.
        let mut next = BinaryHeap::new();
        let entry = |position: usize| {
            self.heap.get(position).map(|(count, query)| (*count, Reverse(query), position))
        };
        next.extend(entry(0));
        while top.len() < n.min(self.k)
            && let Some((count, Reverse(query), position)) = next.pop()
        {
            if wanted(query) {
                top.push((query.clone(), count));
            }
            next.extend([2 * position + 1, 2 * position + 2].into_iter().filter_map(entry));
        }
        top
    }

    /// Returns the number of queries dropped for lack of memory, today and before.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Orders more frequent queries first.
fn order(a: &(u64, Arc<str>), b: &(u64, Arc<str>)) -> Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}

/// Drops the less frequent half and returns its size.
fn drop_coldest(bucket: &mut HashMap<Arc<str>, u64>) -> u64 {
    let mut counts: Vec<(u64, Arc<str>)> =
        bucket.iter().map(|(query, count)| (*count, query.clone())).collect();
    let half = counts.len() / 2;
    counts.select_nth_unstable(half);
    counts.truncate(half);
    for (_, query) in &counts {
        bucket.remove(query);
    }
    half as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;
    use std::collections::BTreeMap;

    fn top(top_k: &TopK, n: usize) -> Vec<(String, u64)> {
        top_k.top(n, |_| true).into_iter().map(|(query, count)| (query.to_string(), count)).collect()
    }

    fn exact(queries: &[String], n: usize) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
        queries.iter().for_each(|query| *counts.entry(query).or_default() += 1);
        let mut counts: Vec<(String, u64)> = counts.into_iter().map(|(q, n)| (q.clone(), n)).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts.truncate(n);
        counts
    }

    proptest::proptest! {
        #[test]
        fn after_a_build_it_is_exact_counting(
            queries in proptest::collection::vec("[a-f]{1,2}", 0..300),
            later in proptest::collection::vec("[a-f]{1,2}", 0..300),
            k in 1_usize..20,
            buckets in 1_usize..9,
        ) {
            let now = at("2026-01-31T12:00:00Z");
            let mut top_k = TopK::new(k, buckets, Duration::from_secs(10), 10_000);
            queries.iter().for_each(|query| top_k.add(query, now));
            top_k.refresh(now);
            proptest::prop_assert_eq!(top(&top_k, k), exact(&queries, k));
            // Between builds, queries in the heap are counted and stay in order.
            later.iter().for_each(|query| top_k.add(query, now));
            let all = [&queries[..], &later].concat();
            let served = top(&top_k, k);
            let truth: BTreeMap<String, u64> = exact(&all, usize::MAX).into_iter().collect();
            proptest::prop_assert!(served.iter().all(|(query, count)| truth[query] == *count));
            proptest::prop_assert!(served.is_sorted_by_key(|(_, count)| Reverse(*count)));
            top_k.refresh(now.plus(Duration::from_secs(10)));
            proptest::prop_assert_eq!(top(&top_k, k), exact(&all, k));
        }
    }

    #[test]
    fn a_new_day_begins_at_nothing_and_yesterday_is_not_counted() {
        let mut top_k = TopK::new(10, 4, Duration::from_secs(10), 1000);
        top_k.add("old", at("2026-01-31T23:59:59Z"));
        top_k.refresh(at("2026-01-31T23:59:59Z"));
        assert_eq!(top(&top_k, 10), [("old".to_string(), 1)]);
        top_k.refresh(at("2026-02-01T00:00:00Z"));
        assert!(top(&top_k, 10).is_empty());
        top_k.add("new", at("2026-02-01T00:00:01Z"));
        top_k.add("late", at("2026-01-31T23:59:59Z"));
        assert!(top(&top_k, 10).is_empty());
        top_k.refresh(at("2026-02-01T00:00:10Z"));
        assert_eq!(top(&top_k, 10), [("new".to_string(), 1)]);
    }

    #[test]
    fn memory_is_bounded_and_frequent_queries_survive() {
        let now = at("2026-01-31T12:00:00Z");
        let mut top_k = TopK::new(10, 4, Duration::from_secs(10), 400);
        for n in 0..100_000 {
            top_k.add(&format!("rare {n}"), now);
            if n % 10 == 0 {
                top_k.add("灯塔", now);
            }
        }
        top_k.refresh(now);
        assert_eq!(top(&top_k, 1), [("灯塔".to_string(), 10_000)]);
        assert!(top_k.buckets.iter().map(HashMap::len).sum::<usize>() <= 400);
        assert!(top_k.dropped() > 99_000);
    }
}
