//! Degree distributions.

use rayon::prelude::*;

use super::PowerLaw;
use crate::web::{Direction, Graph};

/// A degree distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DegreeDistribution {
    /// Every degree that occurs with its number of pages, by ascending degree.
    pub counts: Vec<(u64, u64)>,
}

impl DegreeDistribution {
    /// Computes the distribution of out-degrees (forward), in-degrees (backward) or their sum (both).
    pub fn of_graph(graph: &Graph, direction: Direction) -> Self {
        Self::of_pages(graph, direction, |_| true)
    }

    /// Computes the distribution over the pages for which `counts` returns `true`.
    pub fn of_pages(graph: &Graph, direction: Direction, counts: impl Fn(u32) -> bool + Sync) -> Self {
        let degree = |page| match direction {
            Direction::Forward => graph.links_from(page).len(),
            Direction::Backward => graph.links_to(page).len(),
            Direction::Both => graph.links_from(page).len() + graph.links_to(page).len(),
        };
        let pages = (0..graph.pages()).into_par_iter().filter(|page| counts(*page));
        let mut degrees: Vec<u64> = pages.map(|page| degree(page) as u64).collect();
        degrees.par_sort_unstable();
        let counts = degrees.chunk_by(|left, right| left == right).map(|same| (same[0], same.len() as u64));
        Self { counts: counts.collect() }
    }

    /// Returns the number of pages.
    pub fn pages(&self) -> u64 {
        self.counts.iter().map(|&(_, pages)| pages).sum()
    }

    /// Returns the mean degree, or 0 without pages.
    pub fn mean(&self) -> f64 {
        let links: u128 =
            self.counts.iter().map(|&(degree, pages)| u128::from(degree) * u128::from(pages)).sum();
        if self.counts.is_empty() { 0.0 } else { links as f64 / self.pages() as f64 }
    }

    /// Returns the largest degree.
    pub fn largest(&self) -> u64 {
        self.counts.last().map_or(0, |&(degree, _)| degree)
    }

    /// Returns the number of pages of degree 0.
    pub fn without_links(&self) -> u64 {
        self.counts.first().filter(|&&(degree, _)| degree == 0).map_or(0, |&(_, pages)| pages)
    }

    /// Fits a power law to the tail. Returns `None` if fewer than two degrees occur.
    pub fn power_law(&self) -> Option<PowerLaw> {
        PowerLaw::fit(&self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::GraphOptions;

    #[test]
    fn degrees_of_a_star() {
        let star = Graph::from_links(5, (1..4).map(|page| (page, 0)), GraphOptions::default()).unwrap();
        let into = DegreeDistribution::of_graph(&star, Direction::Backward);
        assert_eq!(into.counts, [(0, 4), (3, 1)]);
        assert_eq!((into.pages(), into.largest(), into.without_links()), (5, 3, 4));
        assert!((into.mean() - 0.6).abs() < 1e-12);
        assert_eq!(DegreeDistribution::of_graph(&star, Direction::Forward).counts, [(0, 2), (1, 3)]);
        let two = DegreeDistribution::of_pages(&star, Direction::Forward, |page| page > 2);
        assert_eq!(two.counts, [(0, 1), (1, 1)]);
        let nothing = Graph::from_links(0, [], GraphOptions::default()).unwrap();
        let nothing = DegreeDistribution::of_graph(&nothing, Direction::Both);
        assert_eq!((nothing.mean(), nothing.largest(), nothing.power_law()), (0.0, 0, None));
    }
}
