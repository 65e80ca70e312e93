//! TextRank (Mihalcea & Tarau 2004): a word is important if important words stand near it.

use super::NONE;

/// d of the paper: how much of a vertex's score comes from its neighbours.
const DAMPING: f32 = 0.85;

/// Scores that change less are final.
const THRESHOLD: f32 = 1e-4;

/// The paper sees convergence after 20 to 30.
const MAX_ITERATIONS: usize = 50;

/// The score of each candidate. `places` says which candidate stands where; two are neighbours if they stand
/// together in a window of that many words, as strongly as they do so often: WS(Vi) = (1 − d) + d · Σj wji /
/// Σk wjk · WS(Vj).
pub(super) fn rank(places: &[u32], candidates: usize, window: usize) -> Vec<f32> {
    let edges = edges(places, window.clamp(2, 10));
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

/// (from, to, how often), both directions, in order.
fn edges(places: &[u32], window: usize) -> Vec<(u32, u32, f32)> {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for (at, &one) in places.iter().enumerate().filter(|(_, one)| **one != NONE) {
        let near = places[at + 1..].iter().take(window - 1);
        for &other in near.filter(|other| **other != NONE && **other != one) {
            pairs.push((one, other));
            pairs.push((other, one));
        }
    }
    pairs.sort_unstable();
    pairs.chunk_by(|a, b| a == b).map(|same| (same[0].0, same[0].1, same.len() as f32)).collect()
}
