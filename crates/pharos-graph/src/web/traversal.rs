//! Walks along links, level by level.

use super::Graph;

/// Which way links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a page to those it links to.
    Forward,
    /// From a page to those that link to it.
    Backward,
    /// As if links had no direction.
    Both,
}

impl Graph {
    /// The neighbours of a page in this direction: one or two rows.
    pub(crate) fn neighbours(&self, page: u32, direction: Direction) -> impl Iterator<Item = u32> + '_ {
        let (first, second) = match direction {
            Direction::Forward => (self.links_from(page), [].as_slice()),
            Direction::Backward => (self.links_to(page), [].as_slice()),
            Direction::Both => (self.links_from(page), self.links_to(page)),
        };
        first.iter().chain(second).copied()
    }
}

/// The distance of a page that cannot be reached.
pub const UNREACHED: u32 = u32::MAX;

/// How many links each page is away from `start` (breadth-first, 宽度优先); [`UNREACHED`] where no path leads.
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
                let known = &mut distance[neighbour as usize];
                if *known == UNREACHED {
                    *known = depth;
                    next.push(neighbour);
                }
            }
        }
        level = next;
    }
    distance
}

/// Every page that a path leads to from one of the pages marked in `marked`, marked, too.
pub(crate) fn mark_reachable(graph: &Graph, mut marked: Vec<bool>, direction: Direction) -> Vec<bool> {
    let mut waiting: Vec<u32> =
        (0..graph.pages()).zip(&marked).filter_map(|(page, &start)| start.then_some(page)).collect();
    while let Some(page) = waiting.pop() {
        for neighbour in graph.neighbours(page, direction) {
            if !std::mem::replace(&mut marked[neighbour as usize], true) {
                waiting.push(neighbour);
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
