//! Counting with bounded memory: when the limit is reached, the rare half is pruned.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// Removes the rarest entries until half of `capacity` is free, and returns the highest frequency removed.
///
/// Lossy counting (Manku & Motwani 2002) with a bound on memory instead of one on the error.
pub(super) fn prune_rare<K: Eq + Hash, V, S: BuildHasher>(
    counts: &mut HashMap<K, V, S>,
    capacity: usize,
    frequency: impl Fn(&V) -> u32,
) -> u32 {
    let mut frequencies: Vec<u32> = counts.values().map(&frequency).collect();
    let keep = capacity / 2;
    if keep >= frequencies.len() {
        return 0;
    }
    // At most `keep` are more frequent than this one.
    let (_, limit, _) = frequencies.select_nth_unstable_by(keep, |a, b| b.cmp(a));
    let limit = *limit;
    counts.retain(|_, value| frequency(value) > limit);
    limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rare_half_goes() {
        let mut counts: HashMap<u32, u32> = (1..=10).map(|n| (n, n)).collect();
        assert_eq!(prune_rare(&mut counts, 8, |n| *n), 6);
        assert_eq!(counts.len(), 4);
        assert_eq!(prune_rare(&mut counts, 8, |n| *n), 0);
        let mut equal: HashMap<u32, u32> = (1..=10).map(|n| (n, 1)).collect();
        assert_eq!(prune_rare(&mut equal, 8, |n| *n), 1);
        assert!(equal.is_empty());
    }
}
