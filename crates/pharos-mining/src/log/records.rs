//! What is written down: one JSON object a line, a file for each kind and day.
//!
//! The fields are those of the literature: who asked what, when, from where and how (query log, 查询日志), what was shown
//! (impression, 展现), what was clicked, in which order and for how long (click log, 点击日志), and how the system fared
//! (system log, 系统日志). Fields that nobody knows are left out when writing; unknown ones are skipped when reading.

use std::collections::BTreeMap;
use std::fmt;

use pharos_core::Timestamp;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::access::AccessRecord;
use crate::privacy::{path_of, site_of};
use crate::system::SystemRecord;

/// Which log a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// What was asked.
    Queries,
    /// What was shown.
    Impressions,
    /// What was clicked.
    Clicks,
    /// How the system fared.
    System,
    /// Requests, one by one.
    Access,
}

impl Kind {
    /// All of them, in the order in which a day is told.
    pub const ALL: [Kind; 5] = [Kind::Queries, Kind::Impressions, Kind::Clicks, Kind::System, Kind::Access];

    /// The name of its files before the day.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Queries => "queries",
            Kind::Impressions => "impressions",
            Kind::Clicks => "clicks",
            Kind::System => "system",
            Kind::Access => "access",
        }
    }

    /// By name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that is written down.
pub trait Record: Serialize + DeserializeOwned {
    /// Its log.
    const KIND: Kind;
    /// When it happened, which decides the file.
    fn at(&self) -> Timestamp;
    /// Every text that a person typed, and every text that may hold one.
    fn typed(&mut self) -> Vec<&mut String>;
    /// Cuts addresses that may hold what was asked elsewhere down to the place.
    fn keep_places_only(&mut self) {}
}

/// How a query came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Typed.
    #[default]
    Typed,
    /// Picked from the suggestions.
    Suggested,
    /// A related query was clicked.
    Related,
    /// The correction was clicked.
    Corrected,
    /// Picked from the hot list.
    Hot,
    /// A link from elsewhere.
    Link,
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// The cache of answers.
    Hit,
    /// Some of its parts.
    Partly,
    /// The index.
    Miss,
}

/// The class of a terminal (桌面设备、手持设备).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// A computer with a screen.
    Desktop,
    /// A telephone or tablet.
    Handheld,
    /// No person: a program or a robot.
    Program,
    /// Nothing is known.
    #[default]
    #[serde(other)]
    Unknown,
}

/// A query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryRecord {
    /// Names it; what was shown for it has the same.
    #[serde(default)]
    pub id: String,
    /// When it came.
    #[serde(with = "moment")]
    pub at: Timestamp,
    /// Who asked: a keyed hash that means nothing once its key is gone ([`Visits`](crate::Visits)).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub visit: String,
    /// The site that the visit came from (来源站点).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub referrer: String,
    /// The first page of ours that the visit saw.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub entry: String,
    /// With what.
    #[serde(default)]
    pub device: Device,
    /// The words.
    pub query: String,
    /// Typed, or picked from something.
    #[serde(default)]
    pub source: Source,
    /// The search product, such as `web` or `api`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub product: String,
    /// The page of results, from 1.
    #[serde(default)]
    pub page: u32,
    /// What was chosen beside the words, such as `lang` and `site`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filters: BTreeMap<String, String>,
    /// The order of results, where it is not the usual one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sort: String,
    /// How much was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Where the answer came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheState>,
    /// How long it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// The generation of the index that answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub generation: String,
}

/// What was shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImpressionRecord {
    /// That of the query.
    pub id: String,
    /// When.
    #[serde(with = "moment")]
    pub at: Timestamp,
    /// A page of results, or suggestions while typing.
    #[serde(default)]
    pub kind: Shown,
    /// The words.
    #[serde(default)]
    pub query: String,
    /// The results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ShownResult>,
    /// The related queries, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
    /// The correction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
    /// The suggestions, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
}

/// What kind of thing was shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shown {
    /// A page of results.
    #[default]
    Results,
    /// Suggestions while typing.
    Suggestions,
    /// A page of results was looked at by a browser that tells clicks. Clicks on a page of results of which this is not told
    /// are not told either, however many there were.
    Seen,
}

/// A result that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownResult {
    /// Its place over all pages of results, from 1.
    pub rank: u32,
    /// Its address.
    pub url: String,
}

/// A click, or the end of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClickRecord {
    /// When.
    #[serde(with = "moment")]
    pub at: Timestamp,
    /// Names the impression that was clicked on.
    #[serde(default)]
    pub impression: String,
    /// Who clicked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub visit: String,
    /// On what.
    pub kind: Clicked,
    /// The query of the impression, where whoever writes knows it; otherwise the impression's name leads to it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asked: String,
    /// The place of what was clicked, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Which click on this impression it was, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// The address that was clicked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The query that was clicked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// How long it was looked at (驻留时间), in milliseconds. Where that becomes known later, a second record of kind
    /// `leave` with the same impression and rank tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dwell_ms: Option<u64>,
}

/// What was clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clicked {
    /// A result.
    Result,
    /// The snapshot of a result.
    Snapshot,
    /// A related query.
    Related,
    /// The correction.
    Corrected,
    /// A suggestion.
    Suggestion,
    /// A filter.
    Filter,
    /// An order of results.
    Sort,
    /// Another search product.
    Product,
    /// Nothing more: the visitor left, or came back from a result.
    Leave,
}

impl Record for QueryRecord {
    const KIND: Kind = Kind::Queries;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn typed(&mut self) -> Vec<&mut String> {
        self.filters.values_mut().chain([&mut self.query]).collect()
    }
    fn keep_places_only(&mut self) {
        self.referrer = site_of(&self.referrer).to_string();
        self.entry = path_of(&self.entry).to_string();
    }
}

impl Record for ImpressionRecord {
    const KIND: Kind = Kind::Impressions;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn typed(&mut self) -> Vec<&mut String> {
        let lists = self.related.iter_mut().chain(&mut self.suggestions);
        lists.chain(&mut self.corrected).chain([&mut self.query]).collect()
    }
}

impl Record for ClickRecord {
    const KIND: Kind = Kind::Clicks;
    fn at(&self) -> Timestamp {
        self.at
    }
    fn typed(&mut self) -> Vec<&mut String> {
        self.query.iter_mut().chain([&mut self.asked]).collect()
    }
}

/// A record of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyRecord {
    /// What was asked.
    Query(QueryRecord),
    /// What was shown.
    Impression(ImpressionRecord),
    /// What was clicked.
    Click(ClickRecord),
    /// How the system fared.
    System(SystemRecord),
    /// A request.
    Access(AccessRecord),
}

impl AnyRecord {
    /// From a line of a log of that kind.
    pub fn parse(kind: Kind, line: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            Kind::Queries => Self::Query(serde_json::from_slice(line)?),
            Kind::Impressions => Self::Impression(serde_json::from_slice(line)?),
            Kind::Clicks => Self::Click(serde_json::from_slice(line)?),
            Kind::System => Self::System(serde_json::from_slice(line)?),
            Kind::Access => Self::Access(serde_json::from_slice(line)?),
        })
    }

    /// When it happened.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Query(record) => record.at(),
            Self::Impression(record) => record.at(),
            Self::Click(record) => record.at(),
            Self::System(record) => record.at(),
            Self::Access(record) => record.at(),
        }
    }

    /// The query that it is about, where it is about one.
    pub fn query(&self) -> Option<&str> {
        match self {
            Self::Query(record) => Some(&record.query),
            Self::Impression(record) => Some(&record.query),
            Self::Click(record) => Some(record.asked.as_str()).filter(|asked| !asked.is_empty()),
            Self::System(_) | Self::Access(_) => None,
        }
    }
}

/// A new name for a query: 96 random bits, which tell nothing.
pub fn new_id() -> String {
    let mut bits = [0; 12];
    // Without randomness there is no name, and clicks are not traced to what they were on.
    match SystemRandom::new().fill(&mut bits) {
        Ok(()) => data_encoding::HEXLOWER.encode(&bits),
        Err(_) => String::new(),
    }
}

/// Moments as people and other programs read them: `2026-01-31T12:00:00.123Z`.
pub(crate) mod moment {
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
            serde::de::Error::custom(format!("`{text}` is no moment such as 2026-01-31T12:00:00.123Z"))
        })
    }
}
