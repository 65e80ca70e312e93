//! Status and metrics of the engine, the index, pages and the machine.

pub mod crawl_policy;
pub mod data_dir;
pub mod engine_status;
pub mod index_status;
pub mod machine;
pub mod page_report;
pub mod page_versions;
pub(crate) mod stage_metrics;
