//! Logs, and what is learnt from them.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

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
mod slots;
pub mod system;
#[cfg(test)]
mod testing;
pub mod top_k;
mod visits;
mod writer;

pub use append::AppendError;
pub use device::device_of;
pub use files::{Days, LogFile};
pub use follower::Follower;
pub use import::{Form, ImportOptions, Imported, import};
pub use keep::{House, keep_house};
pub use log_appender::LogAppender;
pub use memory::{ClickedResult, Memory};
pub use moments::{Zone, parse_date};
pub use reader::{BrokenLine, Flaw, read};
pub use record::{AnyRecord, ClickRecord, ImpressionRecord, Kind, QueryRecord, Record, new_id};
pub use slots::Window;
pub use system::{SystemRecord, SystemSlots};
pub use visits::{VisitKey, Visits};
pub use writer::Log;
