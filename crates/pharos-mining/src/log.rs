//! The logs: daily files of JSON lines, one series per record type.
//!
//! Records are scrubbed of personal data ([`privacy`]), written asynchronously ([`LogWriter`]) or synchronously
//! ([`LogAppender`]), read back ([`reader`], [`scan`], [`Follower`]), compressed after their day and removed when
//! they are old ([`apply_retention`]).

mod access;
mod appender;
mod day_files;
pub mod files;
mod follower;
mod handle;
pub mod privacy;
pub mod reader;
pub mod records;
mod retention;
pub mod scan;
mod writer;

pub use self::access::AccessRecord;
pub use self::appender::LogAppender;
pub use self::day_files::AppendError;
pub use self::follower::Follower;
pub use self::handle::Logs;
pub use self::retention::{RetentionReport, apply_retention};
pub use self::writer::LogWriter;
