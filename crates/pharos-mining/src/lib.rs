//! Query, impression, click, system and access logs, and the statistics derived from them.
//!
//! ```text
//! LogWriter::query ─▶ scrub ─▶ queue ─▶ writer thread ─▶ logs/queries-2026-01-31.jsonl ─▶ .jsonl.zst ─▶ removed
//!                              full: dropped, counted        │                            (retention)
//! import ──▶ LogAppender ────────────────────────────────────┤
//!                                                            ▼
//!                            Follower ──▶ LogStatistics: TopK, QueryFrequency, RelatedQueries
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use pharos_core::{Clock, Config, SystemClock};
//! use pharos_mining::{LogStatistics, LogWriter, QueryRecord, TimeWindow, VisitHasher, new_id};
//! use pharos_store::DataDir;
//!
//! # let dir = tempfile::tempdir().unwrap();
//! let (data, config, clock) = (DataDir::at(dir.path()), Config::default(), Arc::new(SystemClock));
//! let log = LogWriter::open(&data, &config.log, clock.clone());
//! let visits = VisitHasher::open(&data, &config.log, clock.clone());
//! for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
//!     let (id, at, visit) = (new_id(), clock.now(), visits.name(address, "Firefox"));
//!     let query = "灯塔 13800138000".into();
//!     log.query(QueryRecord { id, at, visit, query, page: 1, ..QueryRecord::default() });
//! }
//! log.flush();
//! let statistics = LogStatistics::open(&data, &config.hot, clock.now()).unwrap();
//! assert_eq!(statistics.top(TimeWindow::Day, 10)[0].query, "灯塔");
//! ```
//!
//! # Invariants
//! * Statistics are computed from the log files alone: all processes agree, and a restart changes nothing.
//! * IP addresses are never written; visits are [keyed hashes](visits), long digit strings are [deleted](log::privacy).
//!   Queries from fewer than `hot.min_visits` visits are never shown. Logs are removed after `log.keep_for`.
//! * Logging a record takes microseconds, never waits for a disk and never fails. Lost records are counted.
//! * Every line is one record, except at most one per killed writer or full disk. A kill loses at most one second.
//! * A record is in the file of its own day. Compressed files are never modified. Invalid lines are skipped.
//! * Memory is bounded, and dropped entries are counted.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod anonymise;
pub mod behaviour;
pub mod clicks;
pub mod entities;
pub mod import;
pub mod learnt_words;
pub mod log;
mod log_statistics;
pub mod machine;
pub mod queries;
pub mod refusals;
pub mod search_log;
pub mod sessions;
pub mod synonyms;
pub mod system;
#[cfg(test)]
mod testing;
pub mod visits;

pub use import::{ImportFormat, ImportOptions, import};
pub use log::files::{DayRange, LogFile};
pub use log::reader::{InvalidLine, LineError, read};
pub use log::records::{
    AnyRecord, CacheUse, ClickRecord, ImpressionRecord, LogKind, LogRecord, QueryRecord, new_id,
};
pub use log::{LogAppender, LogWriter, Logs};
pub use log_statistics::{ClickedResult, LogStatistics, NewRecords};
pub use queries::TimeWindow;
pub use visits::VisitHasher;
