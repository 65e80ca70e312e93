//! Limits the influence of one client: a visit has at most one vote a day for a page and query, however often it clicks.

use std::collections::HashSet;
use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;

/// Maximum number of votes remembered. When there are more, all are forgotten.
const MAX_VOTES: usize = 2_000_000;

/// The votes of the current day.
#[derive(Debug, Default)]
pub struct VoteLimit {
    day: String,
    votes: HashSet<u64, RandomState>,
    hasher: RandomState,
}

impl VoteLimit {
    /// Returns `true` if this is the first vote of a visit for a page and query on a day. A later day clears the votes.
    pub fn admit(&mut self, visit: &str, query: &str, page: &str, day: &str) -> bool {
        if self.day.as_str() < day || self.votes.len() >= MAX_VOTES {
            self.day = day.to_string();
            self.votes.clear();
        }
        self.votes.insert(self.hasher.hash_one((visit, query, page, day)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_votes_once_a_day_for_a_page_and_query() {
        let mut votes = VoteLimit::default();
        let admitted = (0..10_000).filter(|_| votes.admit("a", "tea", "http://x/", "2026-01-31")).count();
        assert_eq!(admitted, 1);
        assert!(votes.admit("b", "tea", "http://x/", "2026-01-31"));
        assert!(votes.admit("a", "tea", "http://y/", "2026-01-31"));
        assert!(votes.admit("a", "coffee", "http://x/", "2026-01-31"));
        assert!(votes.admit("a", "tea", "http://x/", "2026-02-01"));
        assert!(!votes.admit("a", "tea", "http://x/", "2026-02-01"));
    }
}
