//! Helpers shared by the tests of this crate.

use pharos_core::Timestamp;

use crate::log::records::ClickKind;
use crate::{ClickRecord, QueryRecord};

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// Returns a query at noon of a day.
pub(crate) fn query_on(query: &str, day: &str) -> QueryRecord {
    query_at(query, "v", at(&format!("{day}T12:00:00Z")))
}

pub(crate) fn query_at(query: &str, visit: &str, at: Timestamp) -> QueryRecord {
    QueryRecord { at, query: query.into(), visit: visit.into(), page: 1, ..QueryRecord::default() }
}

/// Returns a click on the first result.
pub(crate) fn click_at(impression: &str, query: &str, url: &str, at: Timestamp) -> ClickRecord {
    ClickRecord {
        at,
        impression: impression.into(),
        visit: String::new(),
        kind: ClickKind::Result,
        searched: query.into(),
        rank: Some(1),
        page_size: None,
        order: None,
        url: Some(url.into()),
        query: None,
        dwell_ms: None,
    }
}
