//! Categories of pages: a taxonomy, examples, trained models, and the decisions of operators.
//!
//! **Input:** a [taxonomy](crate::classify::taxonomy) and [examples]. **Output:** a [`PageClassifier`], which gives each page
//! its categories with a confidence.
//!
//! ```
//! use pharos_learn::categories::starter;
//!
//! let taxonomy = starter::taxonomy();
//! assert_eq!(taxonomy.get("astronomy").map(|category| category.zh.as_str()), Some("天文"));
//! assert!(starter::examples().len() > taxonomy.categories().len());
//! ```
//!
//! # Flow
//! [`examples`] name pages or texts → [`training`]: a classifier over [page texts](page_text) with its figures → [`store`]: a
//! version in `models/categories`, deployed or rolled back → [`PageClassifier`]: [overrides](decisions) win over the model.

pub mod decisions;
pub mod examples;
mod page_classifier;
pub mod page_text;
pub mod starter;
pub mod store;
pub mod training;

pub use decisions::{CategoryDecision, CategoryDecisions};
pub use examples::{CategoryExample, ExampleKind};
pub use page_classifier::{AssignedBy, AssignedCategory, ConsideredCategory, PageClassifier};
pub use store::{CategoryError, CategoryStore, ModelCard};
