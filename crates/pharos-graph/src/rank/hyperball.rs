//! Harmonic centrality, mean distance and effective diameter by HyperBall (Boldi & Vigna 2013).
//!
//! The ball of radius r around a page is the set of pages within r links, kept as a HyperLogLog counter (Flajolet et
//! al. 2007). The counter of radius r + 1 is the union of the neighbours' counters of radius r. Memory is twice
//! 2^[`HyperBallOptions::register_bits`] bytes for each page; the standard error of a count is 1.04 / √registers.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::GraphError;
use crate::summation::{CompensatedSum, sum};
use crate::web::{Direction, Graph, split_table};

/// Options for HyperBall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HyperBallOptions {
    /// Base-2 logarithm of the registers per counter, 4 to 12: 6 gives an error of 13 %, 8 of 6.5 %.
    pub register_bits: u32,
    /// Maximum radius. Longer paths are ignored.
    pub max_radius: u32,
    /// Bytes that all counters may take.
    pub memory: u64,
    /// Seed of the hash function.
    pub seed: u64,
}

impl Default for HyperBallOptions {
    fn default() -> Self {
        Self { register_bits: 6, max_radius: 100, memory: 1 << 30, seed: 0 }
    }
}

/// Estimates derived from the balls of all pages.
#[derive(Clone, Debug, PartialEq)]
pub struct HyperBallResult {
    /// Harmonic centrality of every page: Σ 1/distance over all pages in its ball. With [`Direction::Backward`] it
    /// measures how close the page is to the pages that lead to it.
    pub harmonic: Vec<f64>,
    /// Number of pages in the largest ball of every page, including the page itself.
    pub reached: Vec<f64>,
    /// Number of pairs of pages within 0, 1, 2 … links (the neighbourhood function).
    pub pairs: Vec<f64>,
    /// `true` if all balls stopped growing before the maximum radius.
    pub complete: bool,
}

impl HyperBallResult {
    /// Returns the mean distance of two distinct connected pages, or 0 if there are none.
    pub fn mean_distance(&self) -> f64 {
        let steps = self.pairs.windows(2).enumerate();
        let weighted = sum(steps.map(|(radius, pair)| (radius + 1) as f64 * (pair[1] - pair[0])));
        let pairs = self.pairs.last().unwrap_or(&0.0) - self.pairs.first().unwrap_or(&0.0);
        if pairs > 0.0 { weighted / pairs } else { 0.0 }
    }

    /// Returns the smallest radius that contains this share of all connected pairs, interpolated between integers. The
    /// *effective diameter* is the value for 0.9.
    pub fn effective_distance(&self, share: f64) -> f64 {
        let wanted = share.clamp(0.0, 1.0) * self.pairs.last().unwrap_or(&0.0);
        let Some(radius) = self.pairs.iter().position(|&pairs| pairs >= wanted) else { return 0.0 };
        let Some(before) = radius.checked_sub(1).map(|before| self.pairs[before]) else { return 0.0 };
        radius as f64 - (self.pairs[radius] - wanted) / (self.pairs[radius] - before)
    }
}

/// Grows the balls of all pages until none grows. [`Direction::Forward`] counts the pages that a page reaches,
/// [`Direction::Backward`] the pages that reach it.
pub fn hyperball(
    graph: &Graph,
    direction: Direction,
    options: HyperBallOptions,
) -> Result<HyperBallResult, GraphError> {
    if !(4..=12).contains(&options.register_bits) {
        let (option, value) = ("register_bits", f64::from(options.register_bits));
        return Err(GraphError::InvalidOption { option, value, allowed: "from 4 to 12" });
    }
    let pages = graph.pages() as usize;
    let width = 1 << options.register_bits;
    let needed = 2 * pages as u64 * width as u64;
    if needed > options.memory {
        return Err(GraphError::Memory { computation: "HyperBall", needed, budget: options.memory });
    }

    let parts = graph.parts(direction);
    let mut counters = vec![0u8; pages * width];
    for (page, counter) in counters.chunks_exact_mut(width).enumerate() {
        insert_hash(
            counter,
            xxh3_64_with_seed(&(page as u32).to_le_bytes(), options.seed),
            options.register_bits,
        );
    }
    let mut next = counters.clone();
    let mut grew = vec![true; pages];
    let mut reached = vec![1.0; pages];
    let mut harmonic = vec![0.0; pages];
    let mut pairs = vec![pages as f64];
    let mut complete = pages == 0;
    for radius in 1..=options.max_radius {
        let mut grew_next = vec![false; pages];
        let work: Vec<_> = parts
            .iter()
            .cloned()
            .zip(split_table(&mut next, &parts, width))
            .zip(split_table(&mut grew_next, &parts, 1))
            .zip(split_table(&mut reached, &parts, 1).into_iter().zip(split_table(&mut harmonic, &parts, 1)))
            .collect();
        let sums: Vec<(f64, bool)> = work
            .into_par_iter()
            .map(|(((part, next), grew_next), (reached, harmonic))| {
                let mut total = CompensatedSum::default();
                next.copy_from_slice(&counters[part.start * width..part.end * width]);
                for (index, page) in part.enumerate() {
                    let counter = &mut next[index * width..(index + 1) * width];
                    for neighbour in graph.neighbours(page as u32, direction) {
                        let neighbour = neighbour as usize;
                        if grew[neighbour] {
                            let other = &counters[neighbour * width..(neighbour + 1) * width];
                            grew_next[index] |= union_into(counter, other);
                        }
                    }
                    if grew_next[index] {
                        // Estimates may decrease where linear counting ends; a ball never shrinks.
                        let size = estimate_cardinality(counter).max(reached[index]);
                        harmonic[index] += (size - reached[index]) / f64::from(radius);
                        reached[index] = size;
                    }
                    total.add(reached[index]);
                }
                (total.value(), grew_next.contains(&true))
            })
            .collect();
        complete = !sums.iter().any(|&(_, grew)| grew);
        if complete {
            break;
        }
        pairs.push(sum(sums.iter().map(|&(total, _)| total)));
        std::mem::swap(&mut counters, &mut next);
        grew = grew_next;
    }
    Ok(HyperBallResult { harmonic, reached, pairs, complete })
}

fn insert_hash(counter: &mut [u8], hash: u64, bits: u32) {
    let register = (hash >> (64 - bits)) as usize;
    let rank = ((hash << bits) | 1 << (bits - 1)).leading_zeros() as u8 + 1;
    counter[register] = counter[register].max(rank);
}

/// Merges `other` into `counter`. Returns `true` if `counter` changed.
fn union_into(counter: &mut [u8], other: &[u8]) -> bool {
    let mut changed = 0;
    for (register, &value) in counter.iter_mut().zip(other) {
        let largest = (*register).max(value);
        changed |= largest ^ *register;
        *register = largest;
    }
    changed != 0
}

fn estimate_cardinality(counter: &[u8]) -> f64 {
    let registers = counter.len() as f64;
    let alpha = match counter.len() {
        16 => 0.673,
        32 => 0.697,
        64 => 0.709,
        _ => 0.7213 / (1.0 + 1.079 / registers),
    };
    let inverse: f64 = counter.iter().map(|&register| 0.5f64.powi(i32::from(register))).sum();
    let raw = alpha * registers * registers / inverse;
    let empty = counter.iter().filter(|&&register| register == 0).count();
    // Linear counting while some registers are empty.
    if raw <= 2.5 * registers && empty > 0 { registers * (registers / empty as f64).ln() } else { raw }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::{GraphOptions, UNREACHED, bfs_distances};

    fn exact() -> HyperBallOptions {
        HyperBallOptions { register_bits: 12, ..HyperBallOptions::default() }
    }

    #[test]
    fn harmonic_centrality_is_near_the_sum_over_distances() {
        let links: Vec<(u32, u32)> =
            (0..600u32).flat_map(|i| [(i, i * 7 % 601), (i, i * i % 599), (i, i / 2)]).collect();
        let graph = Graph::from_links(601, links, GraphOptions::default()).unwrap();
        let found = hyperball(&graph, Direction::Backward, exact()).unwrap();
        assert!(found.complete);
        for page in (0..601).step_by(50) {
            let exact: f64 = bfs_distances(&graph, page, Direction::Backward)
                .into_iter()
                .filter(|&distance| distance != 0 && distance != UNREACHED)
                .map(|distance| 1.0 / f64::from(distance))
                .sum();
            let estimate = found.harmonic[page as usize];
            assert!((estimate - exact).abs() <= 0.1 * exact + 0.1, "{estimate} for {exact}");
        }
    }

    #[test]
    fn distances_of_a_ring_and_of_nothing() {
        let ring =
            Graph::from_links(20, (0..20).map(|i| (i, (i + 1) % 20)), GraphOptions::default()).unwrap();
        let found = hyperball(&ring, Direction::Forward, exact()).unwrap();
        assert!((found.mean_distance() - 10.0).abs() < 0.2, "{}", found.mean_distance());
        assert!((found.effective_distance(0.9) - 17.0).abs() < 0.3, "{}", found.effective_distance(0.9));
        let nothing = Graph::from_links(0, [], GraphOptions::default()).unwrap();
        assert_eq!(hyperball(&nothing, Direction::Forward, exact()).unwrap().mean_distance(), 0.0);
        let apart = Graph::from_links(3, [], GraphOptions::default()).unwrap();
        let apart = hyperball(&apart, Direction::Both, exact()).unwrap();
        assert_eq!((apart.mean_distance(), apart.effective_distance(0.9)), (0.0, 0.0));
    }

    #[test]
    fn a_long_chain_and_a_small_budget_end() {
        let chain =
            Graph::from_links(5_000, (0..4_999).map(|i| (i, i + 1)), GraphOptions::default()).unwrap();
        let options = HyperBallOptions { max_radius: 10, ..HyperBallOptions::default() };
        let found = hyperball(&chain, Direction::Forward, options).unwrap();
        assert!(!found.complete && found.pairs.len() == 11);
        let refused = hyperball(&chain, Direction::Forward, HyperBallOptions { memory: 1_000, ..options });
        assert!(matches!(refused, Err(GraphError::Memory { .. })));
    }
}
