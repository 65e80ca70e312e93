//! Query statistics: frequencies in time windows, hot and rising queries, related queries.

pub mod frequency;
pub mod hot_words;
pub mod related;
mod time_slots;
pub mod top_k;

pub use self::time_slots::TimeWindow;
