//! Replay of a query log through caches of every policy and size (《搜索引擎——原理、技术与系统》§9.3, table 9-2).

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::time::Instant;

use foldhash::fast::FixedState;
use serde::Serialize;

use super::policy::{PolicyKind, eta};
use crate::request::collapse_whitespace;

/// Tm/Td: the literature assumes that the disk is tens of times slower than memory.
const MEMORY_TIME_RATIO: f64 = 1.0 / 50.0;

/// The queries of a log in order, as hashes.
#[derive(Clone, Debug, Default)]
pub struct ReplayLog {
    queries: Vec<u64>,
    hasher: FixedState,
}

impl ReplayLog {
    /// Appends a query. Empty texts are ignored.
    pub fn push(&mut self, query: &str) {
        let query = collapse_whitespace(query);
        if !query.is_empty() {
            self.queries.push(self.hasher.hash_one(query));
        }
    }

    /// Returns the statistics of the log.
    pub fn statistics(&self) -> LogStatistics {
        let mut times: HashMap<u64, usize, FixedState> = HashMap::default();
        self.queries.iter().for_each(|query| *times.entry(*query).or_default() += 1);
        let mut times: Vec<usize> = times.into_values().collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let queries = self.queries.len();
        let of_all = |part: usize| part as f64 / queries.max(1) as f64;
        LogStatistics {
            queries,
            different: times.len(),
            top_share: of_all(times[..times.len().div_ceil(5)].iter().sum()),
            most_hits: of_all(queries - times.len()),
        }
    }

    /// Replays the log through a cache of every policy and size.
    pub fn replay(&self, sizes: &[usize], decay: f64) -> Vec<ReplayResult> {
        let each = PolicyKind::all(decay).into_iter().flat_map(|kind| sizes.iter().map(move |s| (kind, *s)));
        each.map(|(kind, size)| self.replay_policy(kind, size)).collect()
    }

    fn replay_policy(&self, kind: PolicyKind, size: usize) -> ReplayResult {
        let mut cache = kind.cache::<u64, ()>(size);
        let (mut hits, started) = (0usize, Instant::now());
        for query in &self.queries {
            if cache.get(query).is_some() {
                hits += 1;
            } else {
                cache.put(*query, ());
            }
        }
        let hit_rate = hits as f64 / self.queries.len().max(1) as f64;
        ReplayResult {
            policy: kind.name(),
            size,
            hit_rate,
            eta: eta(hit_rate, MEMORY_TIME_RATIO),
            missed: eta(hit_rate, 0.0),
            queries_per_second: self.queries.len() as f64 / started.elapsed().as_secs_f64().max(1e-9),
        }
    }
}

/// The statistics of a query log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LogStatistics {
    /// Number of queries.
    pub queries: usize,
    /// Number of distinct queries.
    pub different: usize,
    /// Share of the most frequent fifth of the distinct queries in all queries.
    pub top_share: f64,
    /// Hit rate of an unbounded cache.
    pub most_hits: f64,
}

/// The result of replaying a log through one cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayResult {
    pub policy: &'static str,
    /// Number of entries.
    pub size: usize,
    /// Hit rate (p).
    pub hit_rate: f64,
    /// η by (9-11), if a cached response takes a fiftieth of the time.
    pub eta: f64,
    /// η by (9-12): 1 − p.
    pub missed: f64,
    /// Number of queries that the policy itself handles per second.
    pub queries_per_second: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_replayed() {
        let mut log = ReplayLog::default();
        for text in ["a", " a", "b", "", "a ", "c", "\u{3000}"] {
            log.push(text);
        }
        let figures = log.statistics();
        assert_eq!((figures.queries, figures.different), (5, 3));
        assert_eq!((figures.top_share, figures.most_hits), (0.6, 0.4));
        let replayed = log.replay(&[1, 100], 0.998);
        assert_eq!(replayed.len(), 8);
        let lru = |size| replayed.iter().find(|r| r.policy == "LRU" && r.size == size).unwrap();
        assert_eq!((lru(1).hit_rate, lru(100).hit_rate), (0.2, 0.4));
        assert!((lru(100).eta - 0.608).abs() < 1e-12 && lru(100).missed == 0.6);
        assert_eq!(ReplayLog::default().replay(&[5], 0.5)[0].hit_rate, 0.0);
    }
}
