//! TextRank (Mihalcea & Tarau 2004): a word is important if important words occur near it.

use super::NONE;

/// d of the paper: the share of a vertex's score that comes from its neighbours.
const DAMPING: f32 = 0.85;

/// Convergence threshold.
const THRESHOLD: f32 = 1e-4;

/// Maximum number of iterations. The paper reports convergence after 20 to 30.
const MAX_ITERATIONS: usize = 50;

/// Returns the score of each candidate. `positions` holds the candidate at each position. Two candidates are
/// neighbours if they occur within a window of `window` words; the edge weight is the number of such
/// co-occurrences: WS(Vi) = (1 − d) + d · Σj wji / Σk wjk · WS(Vj).
pub(super) fn rank(positions: &[u32], candidates: usize, window: usize) -> Vec<f32> {
    let edges = edges(positions, window.clamp(2, 10));
    let mut strength = vec![0.0_f32; candidates];
    for &(from, _, weight) in &edges {
        strength[from as usize] += weight;
    }
    let mut scores = vec![1.0_f32; candidates];
    for _ in 0..MAX_ITERATIONS {
        let mut next = vec![1.0 - DAMPING; candidates];
        for &(from, to, weight) in &edges {
            let share = weight / strength[from as usize];
            next[to as usize] += DAMPING * share * scores[from as usize];
        }
        let change = scores.iter().zip(&next).map(|(old, new)| (old - new).abs()).fold(0.0, f32::max);
        scores = next;
        if change < THRESHOLD {
            break;
        }
    }
    scores
}

/// Returns the edges (from, to, count) in both directions, sorted.
fn edges(positions: &[u32], window: usize) -> Vec<(u32, u32, f32)> {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for (at, &one) in positions.iter().enumerate().filter(|(_, one)| **one != NONE) {
        let near = positions[at + 1..].iter().take(window - 1);
        for &other in near.filter(|other| **other != NONE && **other != one) {
            pairs.push((one, other));
            pairs.push((other, one));
        }
    }
    pairs.sort_unstable();
    pairs.chunk_by(|a, b| a == b).map(|same| (same[0].0, same[0].1, same.len() as f32)).collect()
}
