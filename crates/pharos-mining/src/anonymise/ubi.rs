//! Export in the field names of OpenSearch User Behavior Insights (UBI 1.x): documents of the indexes `ubi_queries` and
//! `ubi_events`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::log::records::{AnyRecord, ClickKind, ClickRecord, ImpressionRecord, QueryRecord};

/// Name of the application in the documents.
const APPLICATION: &str = "pharos";
/// Field of a document that identifies a result.
const OBJECT_ID_FIELD: &str = "url";

/// A document and the index that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UbiDocument {
    pub index: &'static str,
    pub document: Value,
}

/// Converts a query with the results shown for it.
pub fn query_document(record: &QueryRecord, shown: Option<&ImpressionRecord>) -> UbiDocument {
    let hits: Vec<&str> =
        shown.iter().flat_map(|shown| &shown.results).map(|result| result.url.as_str()).collect();
    let mut attributes = Map::new();
    let mut add = |name: &str, value: Value| {
        attributes.insert(name.into(), value);
    };
    add("page", json!(record.page.max(1)));
    if let Some(total) = record.total {
        add("result_count", json!(total));
    }
    if let Some(took) = record.took_ms {
        add("took_ms", json!(took));
    }
    for (name, value) in &record.filters {
        add(&format!("filter_{name}"), json!(value));
    }
    let document = json!({
        "application": APPLICATION,
        "query_id": record.id,
        "client_id": record.visit,
        "timestamp": record.at.to_precise(),
        "user_query": record.query,
        "object_id_field": OBJECT_ID_FIELD,
        "query_response_hit_ids": hits,
        "query_attributes": attributes,
    });
    UbiDocument { index: "ubi_queries", document }
}

/// Converts a click, or the end of a visit to a result.
pub fn click_document(record: &ClickRecord) -> UbiDocument {
    let action = match record.kind {
        ClickKind::Result => "click",
        ClickKind::Snapshot => "cached_page",
        ClickKind::Leave => "dwell",
        ClickKind::Related => "related_query",
        ClickKind::Corrected => "correction",
        ClickKind::Suggestion => "suggestion",
        ClickKind::Filter => "filter",
        ClickKind::Sort => "sort",
        ClickKind::Product => "product",
    };
    let mut attributes = Map::new();
    if let Some(url) = &record.url {
        attributes.insert("object".into(), json!({ "object_id": url, "object_id_field": OBJECT_ID_FIELD }));
    }
    if let Some(rank) = record.rank {
        attributes.insert("position".into(), json!({ "ordinal": rank }));
    }
    if let Some(dwell) = record.dwell_ms {
        attributes.insert("dwell_ms".into(), json!(dwell));
    }
    let document = json!({
        "application": APPLICATION,
        "action_name": action,
        "query_id": record.impression,
        "client_id": record.visit,
        "timestamp": record.at.to_precise(),
        "message_type": "INFO",
        "message": record.query.as_deref().unwrap_or_default(),
        "user_query": record.searched,
        "event_attributes": attributes,
    });
    UbiDocument { index: "ubi_events", document }
}

/// Converts a record, if UBI has a form for it. Results shown are part of the queries.
pub fn document(record: &AnyRecord, shown: Option<&ImpressionRecord>) -> Option<UbiDocument> {
    match record {
        AnyRecord::Query(record) => Some(query_document(record, shown)),
        AnyRecord::Click(record) => Some(click_document(record)),
        AnyRecord::Impression(_) | AnyRecord::System(_) | AnyRecord::Access(_) => None,
    }
}
