//! Requests, one by one (访问日志): what kind of page was asked for and how it was answered, not what was asked and by whom.

use pharos_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::record::{Device, Kind, Record, moment};

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccessRecord {
    /// When it came.
    #[serde(with = "moment")]
    pub at: Timestamp,
    /// Who asked, as in the log of queries.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub visit: String,
    /// With what.
    #[serde(default)]
    pub device: Device,
    /// `GET`, mostly.
    #[serde(default)]
    pub method: String,
    /// The kind of page, as in `/snapshot/{id}`; `other` where there is none.
    #[serde(default)]
    pub route: String,
    /// `HTTP/1.1` or `HTTP/2.0`.
    #[serde(default)]
    pub protocol: String,
    /// How it was answered.
    #[serde(default)]
    pub status: u16,
    /// Bytes of the answer before it was compressed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub took_ms: f64,
}

impl Record for AccessRecord {
    const KIND: Kind = Kind::Access;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn typed(&mut self) -> Vec<&mut String> {
        Vec::new()
    }
}
