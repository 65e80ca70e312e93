//! The stages of the pipeline: append to the library, analyse, apply to the stores.

pub(crate) mod analyse;
pub(crate) mod analysis_pool;
pub(crate) mod append_stage;
pub(crate) mod apply_stage;
pub(crate) mod carry_over;
pub(crate) mod crawl_log;
pub(crate) mod document;
pub mod ingest;
pub(crate) mod listing_url;
pub(crate) mod record_appender;
pub(crate) mod refresh_planner;
pub(crate) mod user_interest;
