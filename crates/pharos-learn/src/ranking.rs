//! Learning to rank (排序学习): models that order the results of a query by features, trained on judged results.
//!
//! **Input:** [`data`], rows of features with the grade of a result for a query. **Output:** a [`model`] that gives
//! every row a score. Only the order of scores within a query matters.
//!
//! ```
//! use pharos_learn::ranking::data::RankingData;
//! use pharos_learn::ranking::evaluate::{EmptyQueries, evaluate};
//! use pharos_learn::ranking::train::{Algorithm, Training, train};
//!
//! let text = "2 qid:1 1:0.9 2:0.1\n0 qid:1 1:0.2 2:0.3\n1 qid:2 1:0.6 2:0.2\n0 qid:2 1:0.1 2:0.9\n";
//! let data = RankingData::parse(text.as_bytes())?;
//! let model = train(Algorithm::Ridge, &Training::default(), &data, None)?.model;
//! let report = evaluate(&data, &model.score(&data), 1, EmptyQueries::Zero);
//! assert_eq!(report.mean("nDCG@10"), Some(1.0));
//! # Ok::<(), pharos_learn::ranking::RankingError>(())
//! ```
//!
//! # Invariants
//! * Training is deterministic: the same data, parameters and seed give the same model with any number of threads.
//! * Files of data and models are untrusted: bounded in size, and errors name the line.

pub mod aggregation;
pub mod clicks;
pub mod data;
mod error;
pub mod evaluate;
mod exact;
pub mod files;
pub mod grid;
mod linear;
pub mod listwise;
pub mod model;
mod pairs;
pub mod pairwise;
pub mod parameters;
pub mod pointwise;
pub mod train;
pub mod trees;

pub use error::RankingError;
