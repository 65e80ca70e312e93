//! The access log (访问日志): one record per HTTP request, with the route and the response, without the query and
//! the IP address.

use pharos_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::log::records::{Device, LogKind, LogRecord, timestamp};

/// An HTTP request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccessRecord {
    #[serde(with = "timestamp")]
    pub at: Timestamp,
    /// Visit identifier, as in the query log.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub visit: String,
    #[serde(default)]
    pub device: Device,
    #[serde(default)]
    pub method: String,
    /// The route, such as `/snapshot/{id}`; `other` if there is none.
    #[serde(default)]
    pub route: String,
    /// `HTTP/1.1` or `HTTP/2.0`.
    #[serde(default)]
    pub protocol: String,
    #[serde(default)]
    pub status: u16,
    /// Size of the response in bytes before compression, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Response time in milliseconds.
    #[serde(default)]
    pub took_ms: f64,
}

impl LogRecord for AccessRecord {
    const KIND: LogKind = LogKind::Access;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn user_texts(&mut self) -> Vec<&mut String> {
        Vec::new()
    }
}
