//! Status and metrics of the engine, its threads, the index and pages.

pub mod calendar;
pub mod collection;
pub mod crawl_policy;
pub mod data_dir;
pub mod depth_limit;
pub mod engine_status;
pub mod index_status;
pub mod page_report;
pub mod page_versions;
pub mod refresh;
pub mod remedy;
pub(crate) mod stage_metrics;
pub mod stage_threads;
