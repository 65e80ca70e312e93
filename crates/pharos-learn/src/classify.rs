//! Text classification (文本分类): 《搜索引擎——原理、技术与系统》 ch. 11.
//!
//! **Input:** texts with their classes. **Output:** a [`ClassifierModel`], which assigns classes with a confidence to other
//! texts. The four factors of quality can be chosen and measured apart: training texts, [feature selection](features),
//! [algorithm](algorithms) and [threshold strategy](thresholds).
//!
//! ```
//! use pharos_learn::classify::dataset::{ClassColumn, Dataset};
//! use pharos_learn::classify::{ClassifierModel, TrainingOptions};
//!
//! let tsv = "cheap flights to Rome\ttravel\nhotel near the beach\ttravel\nstock prices fall\tfinance\nbank profit\tfinance\n";
//! let data = Dataset::read(tsv.as_bytes(), ClassColumn::Detect, &[])?;
//! let model = ClassifierModel::train(&data, &TrainingOptions::default())?;
//! let classes = model.classify("flights and hotel");
//! assert_eq!(model.classes()[classes[0].class as usize], "travel");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Flow
//! [`dataset`]: tab-separated texts and classes → [`features`]: terms, vocabulary, selection, weighted vectors →
//! [`algorithms`]: a score per class → [`thresholds`]: assigned classes → [`evaluation`]: micro and macro F1.
//! [`validation`] repeats this on parts of the texts. [`taxonomy`] puts classes in a tree.

pub mod algorithms;
pub mod dataset;
pub mod evaluation;
pub mod features;
mod fitting;
mod model;
mod model_file;
mod options;
pub mod taxonomy;
pub mod thresholds;
pub mod validation;

pub use model::{ClassifierModel, DecisiveTerm, Prediction, TrainingError, TrainingSummary};
pub use model_file::ModelFileError;
pub use options::{Algorithm, ThresholdStrategy, TrainingOptions};
