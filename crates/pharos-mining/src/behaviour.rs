//! Statistics of user behaviour (用户行为分析) over a log, and the report that shows them.
//!
//! ```text
//! SearchLog ─▶ concentration, repetition, self_similarity, queries, clicks, visited_pages ─▶ BehaviourReport
//!                                                                  report ─▶ html (SVG plots), JSON
//! ```
//!
//! Each statistic is a small pure function beside its source. A statistic that a log cannot support says what is missing
//! instead of drawing an empty plot. The chapter on user behaviour of 《搜索引擎——原理、技术与系统》 (§9) is the main source.

pub mod clicks;
pub mod concentration;
pub mod html;
pub mod plot;
pub mod queries;
pub mod query_table;
pub mod repetition;
pub mod report;
pub mod self_similarity;
pub mod texts;
pub mod visited_pages;

pub use self::plot::Plot;
pub use self::report::{BehaviourReport, ReportInputs, Statistic, TermShare, build_report};
