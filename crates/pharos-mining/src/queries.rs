//! Query statistics: frequencies in time windows, hot and rising queries, related queries.

pub mod frequency;
pub mod related;
mod time_slots;
pub mod top_k;

pub use self::time_slots::TimeWindow;
