//! Proximity of the query words on a page (邻近度).
//!
//! Words that are adjacent in the query are compared in pairs, as in the sequential dependence model (Metzler & Croft
//! 2005). A pair scores 1 if it occurs as in the query, and less with growing distance.

/// A query word on a page: its position in the query, its weight, and its positions on the page.
pub(crate) struct PlacedWord<'a> {
    pub(crate) position: usize,
    pub(crate) weight: f64,
    /// In ascending order.
    pub(crate) positions: &'a [u32],
}

/// Returns the proximity of the words, between 0 and 1. A single word has no neighbours and scores `alone`.
pub(crate) fn nearness(words: &[PlacedWord<'_>], alone: f64) -> f64 {
    let (mut near, mut all) = (0.0, 0.0);
    for pair in words.windows(2) {
        let [a, b] = pair else { continue };
        let weight = a.weight.min(b.weight);
        all += weight;
        let distance = b.position.saturating_sub(a.position).max(1) as u32;
        if let Some(gap) = smallest_gap(a.positions, b.positions, distance) {
            near += weight / (1.0 + f64::from(gap));
        }
    }
    if all > 0.0 { near / all } else { alone }
}

/// Returns the smallest deviation of two words from their distance in the query. Reversed order counts as one more.
fn smallest_gap(a: &[u32], b: &[u32], distance: u32) -> Option<u32> {
    let mut smallest: Option<u32> = None;
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let gap = if y > x { (y - x).abs_diff(distance) } else { x - y + 1 };
        smallest = Some(smallest.map_or(gap, |smallest| smallest.min(gap)));
        if gap == 0 {
            break;
        }
        // Advance to the next pair that may be closer: the second word should follow `distance` after the first.
        if y > x && y - x >= distance { i += 1 } else { j += 1 }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(positions: &[&[u32]]) -> f64 {
        let words: Vec<PlacedWord<'_>> = (0..)
            .zip(positions)
            .map(|(position, positions)| PlacedWord { position, weight: 1.0, positions })
            .collect();
        nearness(&words, 0.5)
    }

    #[test]
    fn together_is_nearer_than_apart() {
        assert_eq!(near(&[&[10], &[11]]), 1.0);
        assert_eq!(near(&[&[3, 10, 80], &[1, 40, 81]]), 1.0);
        assert!(near(&[&[10], &[12]]) > near(&[&[10], &[20]]));
        assert!(near(&[&[10], &[12]]) > near(&[&[11], &[9]]), "the other order is a little worse");
        assert_eq!(near(&[&[10], &[]]), 0.0);
        assert_eq!(near(&[&[10]]), 0.5);
        assert_eq!(near(&[]), 0.5);
    }

    #[test]
    fn every_pair_counts() {
        let half = near(&[&[10], &[11], &[]]);
        assert_eq!(half, 0.5);
    }
}
