//! How good a ranking is, and which of two is better.
//!
//! **In:** a [test collection](collection) (documents, queries, and people's judgements of which document answers
//! which query), and what an engine found for each query. **Out:** the [measures](metrics) of the literature, a
//! [report] of their means, and an honest [comparison](compare) of two engines.
//!
//! ```
//! use pharos_learn::metrics::{Discount, Ranking};
//!
//! // Three results judged 3, 0 and 1 of at most 3; a fourth document, judged 2, was not found.
//! let ranking = Ranking { grades: &[3, 0, 1], judged: &[3, 2, 1, 0], relevant_from: 1 };
//! assert_eq!(ranking.precision_at(5), 0.4);
//! assert_eq!(ranking.reciprocal_rank(), 1.0);
//! assert!(ranking.ndcg_at(3, Discount::Log) < 1.0);
//! ```
//!
//! # Invariants
//! * Every measure is a number from 0 to 1, and 0 for a query without relevant documents.
//! * A collection is read whole or not at all: what is wrong is told by file and line.
//! * Nothing depends on time or chance: where something is drawn, the rules carry the seed.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod collection;
pub mod compare;
mod error;
pub mod metrics;
pub mod report;
pub mod run;
mod student_t;

pub use error::CollectionError;
