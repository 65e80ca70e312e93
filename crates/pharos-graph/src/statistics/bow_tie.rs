//! The bow-tie structure of the web (蝴蝶结; Broder et al. 2000): a core in which every page reaches every other, pages
//! that lead to it, pages that it leads to, and the rest.

use crate::web::{Direction, Graph, mark_reachable};

/// The region of the bow-tie that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BowTieRegion {
    /// The largest strongly connected component (SCC).
    Core,
    /// Pages that lead to the core (IN). Crawl seeds are best taken from here and from the core.
    In,
    /// Pages reachable from the core (OUT).
    Out,
    /// Pages on a path from IN to OUT that bypasses the core.
    Tube,
    /// Pages connected to the regions above in another way.
    Tendril,
    /// Pages not connected to the core.
    Disconnected,
}

/// The regions of all pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BowTie {
    /// Region of every page.
    pub parts: Vec<BowTieRegion>,
    /// Number of strongly connected components, including single pages.
    pub components: u32,
}

impl BowTie {
    /// Returns the number of pages in a region.
    pub fn pages(&self, part: BowTieRegion) -> usize {
        self.parts.iter().filter(|&&of_page| of_page == part).count()
    }
}

/// Computes the bow-tie. Of several largest components, the first found is the core.
pub fn bow_tie(graph: &Graph) -> BowTie {
    let (component_of, components) = strongly_connected_components(graph);
    let mut sizes = vec![0u32; components as usize];
    component_of.iter().for_each(|&component| sizes[component as usize] += 1);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let core = sizes.iter().position(|&size| size == largest).map(|component| component as u32);

    let in_core: Vec<bool> = component_of.iter().map(|&component| Some(component) == core).collect();
    let after = mark_reachable(graph, in_core.clone(), Direction::Forward);
    let before = mark_reachable(graph, in_core.clone(), Direction::Backward);
    let connected = mark_reachable(graph, in_core, Direction::Both);
    // Pages reachable from IN, and pages that reach OUT: a tube is both.
    let after_in = mark_reachable(graph, before.clone(), Direction::Forward);
    let before_out = mark_reachable(graph, after.clone(), Direction::Backward);
    let part_of = |page: usize| match (before[page], after[page]) {
        (true, true) => BowTieRegion::Core,
        (true, false) => BowTieRegion::In,
        (false, true) => BowTieRegion::Out,
        (false, false) if after_in[page] && before_out[page] => BowTieRegion::Tube,
        (false, false) if connected[page] => BowTieRegion::Tendril,
        (false, false) => BowTieRegion::Disconnected,
    };
    BowTie { parts: (0..component_of.len()).map(part_of).collect(), components }
}

const UNSEEN: u32 = u32::MAX;

/// Returns the strongly connected component of every page and the number of components (Tarjan 1972). An explicit stack
/// replaces recursion, because the web has paths longer than a thread's stack. A component has a smaller number than
/// the components that lead to it.
pub fn strongly_connected_components(graph: &Graph) -> (Vec<u32>, u32) {
    let pages = graph.pages() as usize;
    let mut component_of = vec![UNSEEN; pages];
    let mut components = 0;
    // Tarjan's `index` and `lowlink` of every page.
    let mut order = vec![UNSEEN; pages];
    let mut earliest = vec![UNSEEN; pages];
    let mut seen = 0;
    let mut open: Vec<u32> = Vec::new();
    // Depth-first path: each page with the number of its links followed so far.
    let mut path: Vec<(u32, usize)> = Vec::new();
    for start in 0..pages as u32 {
        if order[start as usize] != UNSEEN {
            continue;
        }
        path.push((start, 0));
        while let Some((page, followed)) = path.last_mut() {
            let here = *page as usize;
            if *followed == 0 && order[here] == UNSEEN {
                (order[here], earliest[here]) = (seen, seen);
                seen += 1;
                open.push(*page);
            }
            if let Some(&target) = graph.links_from(*page).get(*followed) {
                *followed += 1;
                let there = target as usize;
                if order[there] == UNSEEN {
                    path.push((target, 0));
                } else if component_of[there] == UNSEEN {
                    earliest[here] = earliest[here].min(order[there]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                let parent = parent as usize;
                earliest[parent] = earliest[parent].min(earliest[here]);
            }
            if earliest[here] == order[here] {
                while let Some(member) = open.pop() {
                    component_of[member as usize] = components;
                    if member as usize == here {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    (component_of, components)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::{GraphOptions, UNREACHED, bfs_distances};

    fn graph(pages: u32, links: &[(u32, u32)]) -> Graph {
        Graph::from_links(pages, links.iter().copied(), GraphOptions::default()).unwrap()
    }

    #[test]
    fn every_region_is_found() {
        // Core 0–2, IN 3, OUT 4, tube 5, tendrils 6 (from IN), 7 (to OUT) and 8 (to 6), isolated 9, a pair 10–11.
        let links =
            [(0, 1), (1, 2), (2, 0), (3, 0), (2, 4), (3, 5), (5, 4), (3, 6), (7, 4), (8, 6), (10, 11)];
        let found = bow_tie(&graph(12, &links));
        use BowTieRegion::{Core, Disconnected, In, Out, Tendril, Tube};
        let expected = [
            Core,
            Core,
            Core,
            In,
            Out,
            Tube,
            Tendril,
            Tendril,
            Tendril,
            Disconnected,
            Disconnected,
            Disconnected,
        ];
        assert_eq!(found.parts, expected);
        assert_eq!((found.components, found.pages(Core)), (10, 3));
        assert!(bow_tie(&graph(0, &[])).parts.is_empty());
    }

    #[test]
    fn a_chain_and_a_ring_of_a_million_pages_do_not_overflow() {
        let chain =
            Graph::from_links(1_000_000, (0..999_999).map(|i| (i, i + 1)), GraphOptions::default()).unwrap();
        assert_eq!(strongly_connected_components(&chain).1, 1_000_000);
        let ring = (0..1_000_000).map(|i| (i, (i + 1) % 1_000_000));
        let ring = Graph::from_links(1_000_000, ring, GraphOptions::default()).unwrap();
        assert_eq!(strongly_connected_components(&ring).1, 1);
    }

    proptest! {
        #[test]
        fn a_component_holds_what_reaches_each_other(
            links in prop::collection::vec((0u32..14, 0u32..14), 0..40),
        ) {
            let graph = graph(14, &links);
            let (component_of, _) = strongly_connected_components(&graph);
            let reached: Vec<Vec<u32>> = (0..14).map(|page| bfs_distances(&graph, page, Direction::Forward)).collect();
            for one in 0..14 {
                for other in 0..14 {
                    let mutual = reached[one][other] != UNREACHED && reached[other][one] != UNREACHED;
                    prop_assert_eq!(component_of[one] == component_of[other], mutual);
                    if reached[one][other] != UNREACHED {
                        prop_assert!(component_of[one] >= component_of[other]);
                    }
                }
            }
        }
    }
}
