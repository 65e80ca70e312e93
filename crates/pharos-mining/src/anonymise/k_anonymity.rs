//! k-anonymity of a log: the number of visits with the same queries (Sweeney 2002; Cooper 2008).
//!
//! Two measures. A query asked by fewer than k visits points to few people, who may have typed their own names. A visit
//! whose set of queries it shares with fewer than k visits can be recognised by someone who knows these queries.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::Serialize;

use crate::search_log::SearchLog;

/// A query that too few visits have asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RareQuery {
    pub query: String,
    pub visits: u32,
    pub searches: u64,
}

/// The anonymity of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KAnonymity {
    /// The required number (k).
    pub k: u32,
    pub queries: u64,
    /// Queries asked by fewer than k visits.
    pub rare_queries: u64,
    /// Searches for them.
    pub rare_searches: u64,
    /// Visits of the rarest query: the k that the queries of the log have.
    pub least_visits: u32,
    pub visits: u64,
    /// Visits whose set of queries fewer than k visits share.
    pub distinct_visits: u64,
    /// Size of the smallest group of visits with the same set of queries: the k that the visits of the log have.
    pub least_group: u32,
    /// The rarest queries.
    pub rarest: Vec<RareQuery>,
}

impl KAnonymity {
    /// Returns `true` if every query and every visit has enough others.
    pub fn is_fulfilled(&self) -> bool {
        self.rare_queries == 0 && self.distinct_visits == 0
    }
}

/// Measures the anonymity of a log and lists at most `listed` of the queries that break it.
pub fn measure(log: &SearchLog, k: u32, listed: usize) -> KAnonymity {
    let visits = log.visits_by_query();
    let mut searches = vec![0_u64; log.queries.len()];
    let mut sets: Vec<(u32, u32)> = Vec::new();
    for search in &log.searches {
        searches[search.query as usize] += 1;
        sets.extend(search.visit.map(|visit| (visit, search.query)));
    }
    sets.sort_unstable();
    sets.dedup();
    let mut by_set: HashMap<Vec<u32>, u32, RandomState> = HashMap::default();
    let mut names = 0;
    for visit in sets.chunk_by(|a, b| a.0 == b.0) {
        names += 1;
        *by_set.entry(visit.iter().map(|(_, query)| *query).collect()).or_default() += 1;
    }
    let mut rare: Vec<u32> =
        (0..log.queries.len() as u32).filter(|query| visits[*query as usize] < k).collect();
    rare.sort_by_key(|query| (visits[*query as usize], std::cmp::Reverse(searches[*query as usize]), *query));
    let entry = |query: &u32| RareQuery {
        query: log.queries.text(*query).to_string(),
        visits: visits[*query as usize],
        searches: searches[*query as usize],
    };
    KAnonymity {
        k,
        queries: log.queries.len() as u64,
        rare_queries: rare.len() as u64,
        rare_searches: rare.iter().map(|query| searches[*query as usize]).sum(),
        least_visits: visits.iter().copied().min().unwrap_or(0),
        visits: names,
        distinct_visits: by_set.values().filter(|count| **count < k).map(|count| u64::from(*count)).sum(),
        least_group: by_set.values().copied().min().unwrap_or(0),
        rarest: rare.iter().take(listed).map(entry).collect(),
    }
}
