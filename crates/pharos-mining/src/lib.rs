//! Logs, and what is learnt from them.
//!
//! **In:** what those who answer queries hand over: queries, what was shown for them, what was clicked, how the system
//! fares; and logs of other engines. **Out:** files of JSON lines, a file for each kind and day; and a [`Memory`] of the
//! last days: hot queries and rising ones, related queries, phrases for suggestions, clicks for ranking.
//!
//! ```
//! use std::sync::Arc;
//! use pharos_core::{Clock, Config, SystemClock};
//! use pharos_mining::{Log, Memory, QueryRecord, Visits, Window, new_id};
//! use pharos_store::DataDir;
//!
//! # let dir = tempfile::tempdir().unwrap();
//! let (data, config, clock) = (DataDir::at(dir.path()), Config::default(), Arc::new(SystemClock));
//! let log = Log::open(&data, &config.log, clock.clone());
//! let visits = Visits::open(&data, &config.log, clock.clone());
//! for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
//!     log.query(QueryRecord {
//!         id: new_id(),
//!         at: clock.now(),
//!         visit: visits.name(address, "Firefox"),
//!         query: "灯塔 13800138000".into(),
//!         page: 1,
//!         ..QueryRecord::default()
//!     });
//! }
//! log.flush();
//! let memory = Memory::open(&data, &config, clock.now()).unwrap();
//! assert_eq!(memory.top(Window::Day, 10)[0].query, "灯塔");
//! ```
//!
//! # The way of a record
//! ```text
//! Log::query ──▶ cleaned (privacy) ──▶ queue ──▶ one thread ──▶ logs/queries-2026-01-31.jsonl ──▶ .jsonl.zst ──▶ removed
//!                                      full: lost, counted          │      (append)                  (keep)
//! imports ─────▶ LogAppender ───────────────────────────────────────┤
//!                                                                   ▼
//!                                   Follower ──▶ Memory: TopK, Frequency, Related          read, scan ──▶ pharos log
//! ```
//!
//! The logs are the only way from what happens to what is learnt: [`Memory`] follows the files, also for what its own
//! process wrote. So processes on one data directory agree, and a restart changes nothing.
//!
//! # Whose data this is
//! Addresses are never written. A visit is named by a [keyed hash](Visits) whose key is thrown away every day; long digit
//! strings are [deleted](privacy::scrub) from whatever people typed; logs are removed after `log.keep_for`; nobody is shown
//! a query that fewer than `hot.min_visits` visits asked. What remains can still tell about people, as words can: treat
//! logs as you would letters.
//!
//! # Invariants
//! * Handing over a record takes microseconds, never waits for a disk and never fails. What is lost is counted.
//! * Every line of a log is one record, whoever else writes, except at most one where a writer was killed, or the disk
//!   was full, while others wrote to the same file. A kill loses the last second at most.
//! * A record is in the file of its own day, however the clock jumps. What is packed is never changed.
//! * Whatever bytes are in a log, reading goes on with the next line. Reading takes no lock.
//! * All that is remembered is bounded, and what had to be forgotten is counted.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod access;
mod append;
pub mod click_log;
mod device;
pub mod files;
mod follower;
pub mod frequency;
pub mod import;
pub mod impressions;
mod keep;
mod log_appender;
mod memory;
mod moments;
pub mod privacy;
pub mod query_log;
pub mod reader;
pub mod record;
pub mod related;
pub mod scan;
mod slots;
pub mod system;
#[cfg(test)]
mod testing;
pub mod top_k;
mod visits;
mod writer;

pub use access::AccessRecord;
pub use append::AppendError;
pub use device::device_of;
pub use files::{Days, LogFile};
pub use follower::Follower;
pub use import::{Form, ImportOptions, Imported, import};
pub use keep::{House, keep_house};
pub use log_appender::LogAppender;
pub use memory::{ClickedResult, Memory, News};
pub use moments::{Zone, parse_date};
pub use reader::{BrokenLine, Flaw, read};
pub use record::{AnyRecord, ClickRecord, ImpressionRecord, Kind, QueryRecord, Record, new_id};
pub use slots::Window;
pub use system::{SystemRecord, SystemSlots};
pub use visits::{VisitKey, Visits};
pub use writer::Log;
