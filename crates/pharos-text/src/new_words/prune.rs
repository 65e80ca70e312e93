//! Counting with bounded memory: when there is no more room, the rare half goes.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// Forgets the rarest until half of `room` is free, and says up to which frequency they went.
///
/// Lossy counting (Manku & Motwani 2002) with a bound on memory in place of one on the error.
pub(super) fn forget_rare<K: Eq + Hash, V, S: BuildHasher>(
    counts: &mut HashMap<K, V, S>,
    room: usize,
    frequency: impl Fn(&V) -> u32,
) -> u32 {
    let mut frequencies: Vec<u32> = counts.values().map(&frequency).collect();
    let keep = room / 2;
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
        assert_eq!(forget_rare(&mut counts, 8, |n| *n), 6);
        assert_eq!(counts.len(), 4);
        assert_eq!(forget_rare(&mut counts, 8, |n| *n), 0);
        let mut equal: HashMap<u32, u32> = (1..=10).map(|n| (n, 1)).collect();
        assert_eq!(forget_rare(&mut equal, 8, |n| *n), 1);
        assert!(equal.is_empty());
    }
}
