//! The K most frequent queries of today, nearly in real time.
//!
//! The literature's way over an open stream: a query is hashed into one of many buckets, each small enough to be sorted,
//! and counted there; every so often each bucket is sorted, its first K go into a heap; until the next time the heap
//! serves as a cache: a query that is in it is counted there, too, and the heap put in order again. What rises into the
//! first K of its bucket between two builds is seen at the next. At the start of a day everything begins anew.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::FixedState;
use pharos_core::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// Counts queries and knows the most frequent.
pub struct TopK {
    k: usize,
    interval: Duration,
    bucket_limit: usize,
    buckets: Vec<HashMap<Arc<str>, u64>>,
    /// A heap with the most frequent first; `places` knows where each query is in it.
    heap: Vec<(u64, Arc<str>)>,
    places: HashMap<Arc<str>, usize>,
    day: i64,
    built: Option<Timestamp>,
    dropped: u64,
}

impl TopK {
    /// Remembers `max_queries` different queries in `buckets`, of which each hands `k` to the heap every `interval`.
    pub fn new(k: usize, buckets: usize, interval: Duration, max_queries: usize) -> Self {
        let buckets = buckets.max(1);
        Self {
            k: k.max(1),
            interval,
            bucket_limit: (max_queries / buckets).max(2 * k.max(1)),
            buckets: vec![HashMap::new(); buckets],
            heap: Vec::new(),
            places: HashMap::new(),
            day: i64::MIN,
            built: None,
            dropped: 0,
        }
    }

    /// Counts a query of this moment. Those of days that are over are not counted.
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
        if let Some(&place) = self.places.get(query) {
            self.heap[place].0 += 1;
            self.sift_up(place);
        }
    }

    /// Begins a new day, or builds the heap anew, if it is time.
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
            self.places.clear();
            self.built = None;
        }
    }

    /// Sorts each bucket and makes a heap of the first K of each.
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
        self.places =
            self.heap.iter().enumerate().map(|(place, (_, query))| (query.clone(), place)).collect();
    }

    fn sift_up(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if order(&self.heap[place], &self.heap[parent]).is_ge() {
                break;
            }
            self.heap.swap(place, parent);
            self.places.insert(self.heap[place].1.clone(), place);
            place = parent;
        }
        self.places.insert(self.heap[place].1.clone(), place);
    }

    /// The most frequent of today, by the heap, the first of which satisfy `wanted`.
    pub fn top(&self, n: usize, wanted: impl Fn(&str) -> bool) -> Vec<(Arc<str>, u64)> {
        let mut top = Vec::new();
        // From the root downwards, the best of those whose parents were taken.
        let mut next = BinaryHeap::new();
        let entry = |place: usize| self.heap.get(place).map(|(count, query)| (*count, Reverse(query), place));
        next.extend(entry(0));
        while top.len() < n.min(self.k)
            && let Some((count, Reverse(query), place)) = next.pop()
        {
            if wanted(query) {
                top.push((query.clone(), count));
            }
            next.extend([2 * place + 1, 2 * place + 2].into_iter().filter_map(entry));
        }
        top
    }

    /// Queries that were forgotten today and before because there were too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// The more frequent first.
fn order(a: &(u64, Arc<str>), b: &(u64, Arc<str>)) -> Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}

/// Forgets the less frequent half. Says how many.
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
            // Between builds what is in the heap is counted and stays in order.
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
    fn memory_is_bounded_and_what_is_frequent_survives() {
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
