//! How near each other the words of a query stand (邻近度): the first level of ranking.
//!
//! Words that follow on each other in the query are looked at in pairs, as in the sequential dependence model (Metzler &
//! Croft 2005). A pair counts 1 where a page has it as the query does, and less the more stands between.

/// A word of the query on a page: where the query has it, what it weighs, where the page has it.
pub(crate) struct Placed<'a> {
    pub(crate) position: usize,
    pub(crate) weight: f64,
    /// Ascending.
    pub(crate) places: &'a [u32],
}

/// How near the words stand, between 0 and 1. A single word has no neighbours: it counts what `alone` says.
pub(crate) fn nearness(words: &[Placed<'_>], alone: f64) -> f64 {
    let (mut near, mut all) = (0.0, 0.0);
    for pair in words.windows(2) {
        let [a, b] = pair else { continue };
        let weight = a.weight.min(b.weight);
        all += weight;
        let distance = b.position.saturating_sub(a.position).max(1) as u32;
        if let Some(gap) = smallest_gap(a.places, b.places, distance) {
            near += weight / (1.0 + f64::from(gap));
        }
    }
    if all > 0.0 { near / all } else { alone }
}

/// How far the nearest occurrences of two words are from standing as in the query; in the other order is one worse.
fn smallest_gap(a: &[u32], b: &[u32], distance: u32) -> Option<u32> {
    let mut least: Option<u32> = None;
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let gap = if y > x { (y - x).abs_diff(distance) } else { x - y + 1 };
        least = Some(least.map_or(gap, |least| least.min(gap)));
        if gap == 0 {
            break;
        }
        // The next pair that may be nearer: the second word is to stand `distance` behind the first.
        if y > x && y - x >= distance { i += 1 } else { j += 1 }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(places: &[&[u32]]) -> f64 {
        let words: Vec<Placed<'_>> =
            (0..).zip(places).map(|(position, places)| Placed { position, weight: 1.0, places }).collect();
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
