//! A log of queries, asked once more of caches of every policy and size (《搜索引擎——原理、技术与系统》 §9.4, table 9-2).

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::time::Instant;

use foldhash::fast::FixedState;
use serde::Serialize;

use super::answers::tidy;
use super::policy::{PolicyKind, eta};

/// The literature calls the disk tens of times slower than memory.
const MEMORY: f64 = 1.0 / 50.0;

/// The queries of a log in their order, each as a number.
#[derive(Clone, Debug, Default)]
pub struct Log {
    queries: Vec<u64>,
    hasher: FixedState,
}

impl Log {
    /// The next query. Texts without a word are none.
    pub fn push(&mut self, query: &str) {
        let query = tidy(query);
        if !query.is_empty() {
            self.queries.push(self.hasher.hash_one(query));
        }
    }

    /// How queries recur.
    pub fn figures(&self) -> LogFigures {
        let mut times: HashMap<u64, usize, FixedState> = HashMap::default();
        self.queries.iter().for_each(|query| *times.entry(*query).or_default() += 1);
        let mut times: Vec<usize> = times.into_values().collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let queries = self.queries.len();
        let of_all = |part: usize| part as f64 / queries.max(1) as f64;
        LogFigures {
            queries,
            different: times.len(),
            top_share: of_all(times[..times.len().div_ceil(5)].iter().sum()),
            most_hits: of_all(queries - times.len()),
        }
    }

    /// Asks everything of a cache of every policy and size.
    pub fn replay(&self, sizes: &[usize], decay: f64) -> Vec<Replayed> {
        let each = PolicyKind::all(decay).into_iter().flat_map(|kind| sizes.iter().map(move |s| (kind, *s)));
        each.map(|(kind, size)| self.replay_one(kind, size)).collect()
    }

    fn replay_one(&self, kind: PolicyKind, size: usize) -> Replayed {
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
        Replayed {
            policy: kind.name(),
            size,
            hit_rate,
            eta: eta(hit_rate, MEMORY),
            missed: eta(hit_rate, 0.0),
            queries_per_second: self.queries.len() as f64 / started.elapsed().as_secs_f64().max(1e-9),
        }
    }
}

/// What a log is like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LogFigures {
    /// Queries.
    pub queries: usize,
    /// Different ones.
    pub different: usize,
    /// The share of the most frequent fifth of these in all queries.
    pub top_share: f64,
    /// What a cache without bounds would hit.
    pub most_hits: f64,
}

/// What a cache made of a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// By which policy.
    pub policy: &'static str,
    /// Entries.
    pub size: usize,
    /// The part of queries that were there (p).
    pub hit_rate: f64,
    /// η by (9-11), where an answer from memory takes a fiftieth.
    pub eta: f64,
    /// η by (9-12), 1 − p.
    pub missed: f64,
    /// How many queries the policy itself handles in a second.
    pub queries_per_second: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_replayed() {
        let mut log = Log::default();
        for text in ["a", " a", "b", "", "a ", "c", "\u{3000}"] {
            log.push(text);
        }
        let figures = log.figures();
        assert_eq!((figures.queries, figures.different), (5, 3));
        assert_eq!((figures.top_share, figures.most_hits), (0.6, 0.4));
        let replayed = log.replay(&[1, 100], 0.998);
        assert_eq!(replayed.len(), 8);
        let lru = |size| replayed.iter().find(|r| r.policy == "LRU" && r.size == size).unwrap();
        assert_eq!((lru(1).hit_rate, lru(100).hit_rate), (0.2, 0.4));
        assert!((lru(100).eta - 0.608).abs() < 1e-12 && lru(100).missed == 0.6);
        assert_eq!(Log::default().replay(&[5], 0.5)[0].hit_rate, 0.0);
    }
}
