//! Breadth-first search and reachability.

use super::Graph;

/// The direction in which links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a page to the pages it links to.
    Forward,
    /// From a page to the pages that link to it.
    Backward,
    /// Both ways, as in an undirected graph.
    Both,
}

impl Graph {
    /// Returns the neighbours of a page in this direction.
    pub(crate) fn neighbours(&self, page: u32, direction: Direction) -> impl Iterator<Item = u32> + '_ {
        let (first, second) = match direction {
            Direction::Forward => (self.links_from(page), [].as_slice()),
            Direction::Backward => (self.links_to(page), [].as_slice()),
            Direction::Both => (self.links_from(page), self.links_to(page)),
        };
        first.iter().chain(second).copied()
    }
}

/// Distance of an unreachable page.
pub const UNREACHED: u32 = u32::MAX;

/// Returns the distance of every page from `start` in links, by breadth-first search (宽度优先). Pages without a path get
/// [`UNREACHED`].
pub fn bfs_distances(graph: &Graph, start: u32, direction: Direction) -> Vec<u32> {
    let mut distance = vec![UNREACHED; graph.pages() as usize];
    let Some(first) = distance.get_mut(start as usize) else { return distance };
    *first = 0;
    let mut level = vec![start];
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        let mut next = Vec::new();
        for page in level {
            for neighbour in graph.neighbours(page, direction) {
                let entry = &mut distance[neighbour as usize];
                if *entry == UNREACHED {
                    *entry = depth;
                    next.push(neighbour);
                }
            }
        }
        level = next;
    }
    distance
}

/// Marks every page that is reachable from a marked page.
pub(crate) fn mark_reachable(graph: &Graph, mut marked: Vec<bool>, direction: Direction) -> Vec<bool> {
    let mut pending: Vec<u32> =
        (0..graph.pages()).zip(&marked).filter_map(|(page, &start)| start.then_some(page)).collect();
    while let Some(page) = pending.pop() {
        for neighbour in graph.neighbours(page, direction) {
            if !std::mem::replace(&mut marked[neighbour as usize], true) {
                pending.push(neighbour);
            }
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::GraphOptions;

    #[test]
    fn distances_along_a_chain() {
        let graph = Graph::from_links(4, [(0, 1), (1, 2)], GraphOptions::default()).unwrap();
        assert_eq!(bfs_distances(&graph, 0, Direction::Forward), [0, 1, 2, UNREACHED]);
        assert_eq!(bfs_distances(&graph, 1, Direction::Backward), [1, 0, UNREACHED, UNREACHED]);
        assert_eq!(bfs_distances(&graph, 1, Direction::Both), [1, 0, 1, UNREACHED]);
        assert_eq!(bfs_distances(&graph, 9, Direction::Both), [UNREACHED; 4]);
    }
}
