//! Link analysis and duplicate detection: the link graph, ranks, anchors, duplicate groups and mirrors.
//!
//! [`RelationsBuilder`] reads pages, redirects, texts and links of a library. It writes [`Relations`] into `graph/`
//! in the data directory; the index build and the `pharos graph` and `pharos dedup` commands read them.
//!
//! 1. Pages, sites and domains get consecutive numbers ([`relations`]).
//! 2. Texts become signatures; duplicates are grouped and mirrors found ([`duplicates`]).
//! 3. Links, resolved through redirects and canonical URLs, become a [`Graph`] ([`web`]).
//! 4. Anchor texts are collected per target page ([`anchors`]).
//! 5. PageRank, site rank, in-link counts and link weights are computed ([`rank`]).
//! 6. All tables are written to a new directory, which replaces the old one by a rename.
//!
//! ```
//! use pharos_graph::{Graph, GraphOptions, PageRankOptions, Teleport, page_rank};
//!
//! // A links to B and C, B to C, C to A.
//! let graph = Graph::from_links(3, [(0, 1), (0, 2), (1, 2), (2, 0)], GraphOptions::default())?;
//! let ranks = page_rank(&graph, &PageRankOptions::default(), Teleport::Everywhere, None)?;
//! assert!(ranks.values[2] > ranks.values[1]);
//! # Ok::<(), pharos_graph::GraphError>(())
//! ```
//!
//! # Invariants
//! * A page is a number below [`Graph::pages`]. Building a graph with a larger number is an error; looking one up
//!   returns no links.
//! * Sorting links stays within its memory budget. The finished graph takes 4 bytes for each link and direction, and
//!   16 bytes for each page.
//! * Every value is finite. Ranks on the probability scale sum to one, unless there is no page.
//! * Results do not depend on the number of threads: the same graph gives the same values, bit for bit.
//! * No loop exceeds the limit in its options, and nothing recurses.
//!
//! # Modules
//! [`web`]: link graph · [`rank`]: PageRank, HITS, HyperBall, in-link counts, link farms · [`statistics`]: bow-tie,
//! degrees, distances, topical locality · [`duplicates`]: detectors, groups, mirrors · [`relations`]: stored tables.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failed unwrap fails the test"))]

pub mod anchors;
pub mod duplicates;
mod error;
pub mod rank;
pub mod relations;
pub mod statistics;
mod summation;
pub mod web;

pub use error::GraphError;
pub use rank::pagerank::{PageRankOptions, Teleport, page_rank};
pub use relations::{PageContent, Relations, RelationsBuilder, RelationsLookup, RelationsOptions};
pub use web::{Graph, GraphOptions};
