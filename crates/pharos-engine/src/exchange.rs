//! Exchange with other programs: import, export and data feeds.

pub mod data_feed;
pub mod export;
pub mod import;
