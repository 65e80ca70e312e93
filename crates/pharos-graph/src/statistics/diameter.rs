//! Diameter of the graph. Mean distance and effective diameter come from [`hyperball`](crate::rank::hyperball).

use crate::web::{Direction, Graph, UNREACHED, bfs_distances};

/// Returns the predicted diameter of a web of N pages, 0.35 + 2.06 · log₁₀ N (Albert, Jeong & Barabási 1999;
/// 《走进搜索引擎》§2.2.2): about 19 for 8 × 10⁸ pages.
pub fn predicted_diameter(pages: u64) -> f64 {
    if pages == 0 { 0.0 } else { 0.35 + 2.06 * (pages as f64).log10() }
}

/// Returns a lower bound of the longest shortest path around `start` and its two end pages, by repeated sweeps
/// (Magnien, Latapy & Habib 2009).
///
/// Each sweep starts at the page furthest from the previous start. Sweeps end when the distance no longer grows, after
/// at most `sweeps`. The result is exact on trees after two sweeps. With directed links, forward and backward sweeps
/// alternate.
pub fn longest_shortest_path(
    graph: &Graph,
    start: u32,
    direction: Direction,
    sweeps: u32,
) -> (u32, u32, u32) {
    let mut best = (0, start, start);
    let (mut from, mut direction) = (start, direction);
    for sweep in 0..sweeps {
        let (distance, furthest) = furthest(graph, from, direction);
        if distance <= best.0 && sweep > 1 {
            break;
        }
        if distance > best.0 {
            best = match direction {
                Direction::Backward => (distance, furthest, from),
                Direction::Forward | Direction::Both => (distance, from, furthest),
            };
        }
        from = furthest;
        direction = match direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
            Direction::Both => Direction::Both,
        };
    }
    best
}

fn furthest(graph: &Graph, start: u32, direction: Direction) -> (u32, u32) {
    let reached =
        (0..).zip(bfs_distances(graph, start, direction)).filter(|&(_, distance)| distance != UNREACHED);
    reached.map(|(page, distance)| (distance, page)).max().unwrap_or((0, start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::GraphOptions;

    #[test]
    fn the_diameter_of_a_tree_and_of_the_books_web() {
        // A chain of seven pages, entered in the middle, with a short branch.
        let links = [(3, 2), (2, 1), (1, 0), (3, 4), (4, 5), (5, 6), (3, 7)];
        let graph = Graph::from_links(9, links, GraphOptions::default()).unwrap();
        assert_eq!(longest_shortest_path(&graph, 7, Direction::Both, 4).0, 6);
        assert_eq!(longest_shortest_path(&graph, 3, Direction::Forward, 4), (3, 3, 6));
        assert_eq!(longest_shortest_path(&graph, 8, Direction::Forward, 4), (0, 8, 8));
        assert!((predicted_diameter(800_000_000) - 18.69).abs() < 0.005);
    }
}
