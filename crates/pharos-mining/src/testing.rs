//! What tests of this room share.

use pharos_core::Timestamp;

use crate::QueryRecord;

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// A query at noon of a day.
pub(crate) fn asked(query: &str, day: &str) -> QueryRecord {
    asked_at(query, "v", at(&format!("{day}T12:00:00Z")))
}

pub(crate) fn asked_at(query: &str, visit: &str, at: Timestamp) -> QueryRecord {
    QueryRecord { at, query: query.into(), visit: visit.into(), page: 1, ..QueryRecord::default() }
}
