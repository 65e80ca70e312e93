//! Maintenance of a data directory: backup and restore, checks and repairs, rebuilds, compaction, rollback.

pub mod backup;
pub mod doctor;
pub mod rebuild;
pub mod retention;
pub mod rollback;
