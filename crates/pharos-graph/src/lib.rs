//! What the web says about a page: who links to it, and how much that is worth.
//!
//! **In:** links between pages that are plain numbers, and tables that say which site a page and which domain a site
//! belongs to. **Out:** the [graph](web) of pages and of sites, its [statistics], and per page
//! [PageRank](pagerank), [in-links from other domains](link_counts), [harmonic centrality](balls), the books'
//! [link weight](link_weight), and for the results of one query [hubs and authorities](hits).
//!
//! ```
//! use pharos_graph::pagerank::{RankRules, Teleport, page_rank};
//! use pharos_graph::web::{BuildRules, Graph};
//!
//! // A links to B and C, B to C, C to A.
//! let graph = Graph::from_links(3, [(0, 1), (0, 2), (1, 2), (2, 0)], BuildRules::default())?;
//! let ranks = page_rank(&graph, &RankRules::default(), Teleport::Everywhere, None)?;
//! assert!(ranks.values[2] > ranks.values[1]);
//! # Ok::<(), pharos_graph::GraphError>(())
//! ```
//!
//! # Invariants
//! * A page is a number below [`Graph::pages`](web::Graph::pages). A number beyond is refused when the graph is
//!   built, and has no links when it is asked for.
//! * Sorting links takes no more memory than its budget, whatever comes in; the finished graph takes 4 bytes for each
//!   link and direction, and 16 bytes for each page.
//! * Every value is finite. Ranks in the probability form sum to one, unless there is no page.
//! * Nothing depends on the number of threads: the same graph gives the same figures, bit for bit.
//! * No loop is deeper than its limit in the rules, and nothing recurses.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod anchors;
pub mod balls;
pub mod duplicates;
mod error;
pub mod farm;
pub mod hits;
pub mod link_counts;
pub mod link_weight;
pub mod pagerank;
pub mod relations;
pub mod statistics;
mod sum;
pub mod web;

pub use error::GraphError;
pub use relations::Relations;
