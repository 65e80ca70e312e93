//! Evaluation of rankings, comparison of engines, and learning to rank.
//!
//! **Input:** a [test collection](collection) (documents, queries and human relevance judgements), and the results of
//! an engine for each query. **Output:** the [measures](metrics) of the literature, a [report] of their means, and a
//! statistical [comparison](compare) of two engines.
//!
//! ```
//! use pharos_learn::metrics::{Discount, Ranking};
//!
//! // Three results with the grades 3, 0 and 1 of at most 3; a fourth document with grade 2 was not retrieved.
//! let ranking = Ranking { grades: &[3, 0, 1], judged: &[3, 2, 1, 0], relevant_from: 1 };
//! assert_eq!(ranking.precision_at(5), 0.4);
//! assert_eq!(ranking.reciprocal_rank(), 1.0);
//! assert!(ranking.ndcg_at(3, Discount::Log) < 1.0);
//! ```
//!
//! # Invariants
//! * Every measure is a number from 0 to 1, and 0 for a query without relevant documents.
//! * A collection is read completely or not at all; errors name the file and the line.
//! * Results depend neither on time nor on global random state: random selections use the seed of their parameters.
//!
//! # Modules
//! * [`collection`]: readers for test collections. [`run`]: rankings and TREC run files.
//! * [`metrics`]: measures of one ranking. [`report`]: evaluation of a whole collection.
//! * [`classify`]: text classification. [`categories`]: categories of pages.
//! * [`topics`]: topic models.
//! * [`compare`]: paired t-test and error rate, with `student_t` for the distribution.
//! * [`ranking`]: models that learn to rank from judged results.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failing step must abort the test"))]

pub mod categories;
pub mod classify;
pub mod collection;
pub mod compare;
mod error;
pub mod information;
pub mod metrics;
mod random;
pub mod ranking;
pub mod report;
pub mod run;
mod student_t;
pub mod topics;

pub use error::CollectionError;
