//! Ranking by links: PageRank and TrustRank, HITS, harmonic centrality, in-link counts, link weight, and the effect of a
//! link farm on them.

pub mod hits;
pub mod hyperball;
pub mod link_counts;
pub mod link_farm;
pub mod link_weight;
pub mod pagerank;
