//! The log records: one JSON object per line, one file per log and day.
//!
//! The fields follow the literature: the query log (查询日志) holds visit, query, time and origin; the impression
//! log (展现) the results shown; the click log (点击日志) the clicks, their order and dwell time; the system log
//! (系统日志) the state of the system (《走进搜索引擎》§6.1.1). Unknown values are omitted when writing; unknown fields
//! are ignored when reading.

use std::collections::BTreeMap;
use std::fmt;

use pharos_core::Timestamp;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::log::AccessRecord;
use crate::log::privacy::{path_of, site_of};
use crate::system::SystemRecord;

/// The log that a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogKind {
    Queries,
    /// Result pages and suggestions shown.
    Impressions,
    Clicks,
    /// State of the system per time slot.
    System,
    /// HTTP requests.
    Access,
}

impl LogKind {
    /// All logs, in the order in which the files of a day are listed.
    pub const ALL: [LogKind; 5] =
        [LogKind::Queries, LogKind::Impressions, LogKind::Clicks, LogKind::System, LogKind::Access];

    /// Returns the file name prefix.
    pub const fn name(self) -> &'static str {
        match self {
            LogKind::Queries => "queries",
            LogKind::Impressions => "impressions",
            LogKind::Clicks => "clicks",
            LogKind::System => "system",
            LogKind::Access => "access",
        }
    }

    /// Returns the log with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for LogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A record of a log.
pub trait LogRecord: Serialize + DeserializeOwned {
    /// The log of the record type.
    const KIND: LogKind;
    /// Returns the time of the event, which determines the file.
    fn at(&self) -> Timestamp;
    /// Returns every text that a user typed, and every text that may contain such text.
    fn user_texts(&mut self) -> Vec<&mut String>;
    /// Truncates URLs that may contain a query typed elsewhere to their site or path.
    fn truncate_addresses(&mut self) {}
}

/// The origin of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuerySource {
    #[default]
    Typed,
    /// Selected from the suggestions.
    Suggested,
    /// A related query was clicked.
    Related,
    /// The correction was clicked.
    Corrected,
    /// Selected from the hot list.
    Hot,
    /// A link from another site.
    Link,
}

/// The use of the cache for a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheUse {
    /// The response was cached.
    Hit,
    /// The result list or the results of history were cached; at most latest was searched.
    Partly,
    /// Nothing was cached.
    #[default]
    Miss,
}

/// The class of a client device (桌面设备、手持设备).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    Desktop,
    /// A telephone or tablet.
    Handheld,
    /// A program or robot.
    Program,
    #[default]
    #[serde(other)]
    Unknown,
}

/// A query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryRecord {
    /// Identifier, shared with the impression of the query.
    #[serde(default)]
    pub id: String,
    #[serde(with = "timestamp")]
    pub at: Timestamp,
    /// Visit identifier: a keyed hash that cannot be linked once its key is deleted
    /// ([`VisitHasher`](crate::visits::VisitHasher)).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub visit: String,
    /// The site that the visit came from (来源站点).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub referrer: String,
    /// The first page of this engine in the visit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub entry: String,
    #[serde(default)]
    pub device: Device,
    /// The query as typed.
    pub query: String,
    #[serde(default)]
    pub source: QuerySource,
    /// The search product, such as `web` or `api`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub product: String,
    /// Number of the result page, from 1.
    #[serde(default)]
    pub page: u32,
    /// Filters such as `lang` and `site`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filters: BTreeMap<String, String>,
    /// The sort order, if it is not the default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sort: String,
    /// Number of matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheUse>,
    /// Response time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// The index generation that served the query.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub generation: String,
}

/// Results per page of a click that does not state it: from another engine, or logged before release 0.2.
const USUAL_PAGE_SIZE: u32 = 10;

/// An impression: the results or suggestions shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImpressionRecord {
    /// Identifier of the query.
    pub id: String,
    #[serde(with = "timestamp")]
    pub at: Timestamp,
    #[serde(default)]
    pub kind: ImpressionKind,
    /// The query as typed.
    #[serde(default)]
    pub query: String,
    /// Results per page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ShownResult>,
    /// Related queries in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
    /// Suggestions in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// The notice of an operator above the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// The type of an impression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImpressionKind {
    /// A result page.
    #[default]
    Results,
    /// Suggestions during typing.
    Suggestions,
    /// A result page was viewed in a browser that reports clicks. Without this record, the clicks on a result
    /// page are not reported either, whatever their number.
    Seen,
}

/// A result in an impression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownResult {
    /// Rank over all result pages, from 1.
    pub rank: u32,
    pub url: String,
}

/// A click, or the end of a visit to a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClickRecord {
    #[serde(with = "timestamp")]
    pub at: Timestamp,
    /// Identifier of the impression.
    #[serde(default)]
    pub impression: String,
    /// Visit identifier.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub visit: String,
    pub kind: ClickKind,
    /// The query of the impression, if the writer knows it. Otherwise it is found by the identifier of the
    /// impression.
    #[serde(default, rename = "asked", skip_serializing_if = "String::is_empty")]
    pub searched: String,
    /// Rank of the clicked item, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Results per page of the impression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    /// Number of the click on this impression, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// The clicked URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The clicked query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Dwell time (驻留时间) in milliseconds. If it becomes known later, it is logged in a second record of kind
    /// `leave` with the same impression and rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dwell_ms: Option<u64>,
}

impl ClickRecord {
    /// Returns the number of the result page that was clicked on, from 1.
    pub fn result_page(&self) -> u32 {
        let size = self.page_size.filter(|size| *size > 0).unwrap_or(USUAL_PAGE_SIZE);
        (self.rank.unwrap_or(1).max(1) - 1) / size + 1
    }
}

/// The clicked element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClickKind {
    Result,
    /// The cached page of a result.
    Snapshot,
    Related,
    Corrected,
    Suggestion,
    Filter,
    /// A sort order.
    Sort,
    /// Another search product.
    Product,
    /// No click: the user left, or returned from a result.
    Leave,
}

impl LogRecord for QueryRecord {
    const KIND: LogKind = LogKind::Queries;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn user_texts(&mut self) -> Vec<&mut String> {
        self.filters.values_mut().chain([&mut self.query]).collect()
    }
    fn truncate_addresses(&mut self) {
        self.referrer = site_of(&self.referrer).to_string();
        self.entry = path_of(&self.entry).to_string();
    }
}

impl LogRecord for ImpressionRecord {
    const KIND: LogKind = LogKind::Impressions;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn user_texts(&mut self) -> Vec<&mut String> {
        let lists = self.related.iter_mut().chain(&mut self.suggestions);
        lists.chain(&mut self.corrected).chain([&mut self.query]).collect()
    }
}

impl LogRecord for ClickRecord {
    const KIND: LogKind = LogKind::Clicks;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn user_texts(&mut self) -> Vec<&mut String> {
        self.query.iter_mut().chain([&mut self.searched]).collect()
    }
}

/// A record of any log.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyRecord {
    Query(QueryRecord),
    Impression(ImpressionRecord),
    Click(ClickRecord),
    System(SystemRecord),
    Access(AccessRecord),
}

impl AnyRecord {
    /// Parses a line of the log `kind`.
    pub fn parse(kind: LogKind, line: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            LogKind::Queries => Self::Query(serde_json::from_slice(line)?),
            LogKind::Impressions => Self::Impression(serde_json::from_slice(line)?),
            LogKind::Clicks => Self::Click(serde_json::from_slice(line)?),
            LogKind::System => Self::System(serde_json::from_slice(line)?),
            LogKind::Access => Self::Access(serde_json::from_slice(line)?),
        })
    }

    /// Writes the record as a JSON line, as in its log.
    ///
    /// # Errors
    /// Fails if `to` fails.
    pub fn write_line(&self, to: &mut dyn std::io::Write) -> std::io::Result<()> {
        match self {
            Self::Query(record) => serde_json::to_writer(&mut *to, record)?,
            Self::Impression(record) => serde_json::to_writer(&mut *to, record)?,
            Self::Click(record) => serde_json::to_writer(&mut *to, record)?,
            Self::System(record) => serde_json::to_writer(&mut *to, record)?,
            Self::Access(record) => serde_json::to_writer(&mut *to, record)?,
        }
        to.write_all(b"\n")
    }

    /// Returns the time of the event.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Query(record) => record.at(),
            Self::Impression(record) => record.at(),
            Self::Click(record) => record.at(),
            Self::System(record) => record.at(),
            Self::Access(record) => record.at(),
        }
    }

    /// Returns the query that the record refers to, if any.
    pub fn query(&self) -> Option<&str> {
        match self {
            Self::Query(record) => Some(&record.query),
            Self::Impression(record) => Some(&record.query),
            Self::Click(record) => Some(record.searched.as_str()).filter(|asked| !asked.is_empty()),
            Self::System(_) | Self::Access(_) => None,
        }
    }
}

/// Creates a query identifier: 96 random bits, which carry no information.
pub fn new_id() -> String {
    let mut bits = [0; 12];
    // Without randomness the identifier is empty, and clicks cannot be attributed to impressions.
    match SystemRandom::new().fill(&mut bits) {
        Ok(()) => data_encoding::HEXLOWER.encode(&bits),
        Err(_) => String::new(),
    }
}

/// Serialises timestamps as `2026-01-31T12:00:00.123Z`.
pub(crate) mod timestamp {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!(
            "{}.{:03}Z",
            at.to_string().trim_end_matches('Z'),
            at.millis().rem_euclid(1000)
        ))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "invalid time `{text}`: expected a form such as 2026-01-31T12:00:00.123Z"
            ))
        })
    }
}
