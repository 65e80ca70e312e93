//! Clicks: patterns of impressions, preferences between results, and the click graph with what follows from it.
//!
//! ```text
//! logs ─▶ DayClicks (one file per day) ─▶ ClickGraph ─▶ similarity, walk, propagation, clusters
//!                                                     └▶ LearntClicks: click words, related queries, similar pages
//! ```

pub mod click_graph;
pub mod click_words;
pub mod clusters;
pub mod days;
pub mod discounting;
pub mod learnt;
pub mod patterns;
pub mod preferences;
pub mod propagation;
pub mod similarity;
pub mod votes;
pub mod walk;

pub use self::click_graph::{ClickGraph, ClickGraphBuilder};
