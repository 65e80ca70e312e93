//! What the library holds: answers and events.

use std::net::IpAddr;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use serde::{Deserialize, Serialize};

use crate::CrawlRules;

/// One thing that happened to one URL.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The URL it is about. Events about the whole engine stand under their first seed.
    pub url: PageUrl,
    /// When.
    pub at: Timestamp,
    /// Clicks from a seed, as known when it was asked for.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u32,
    /// Which try in a row this was, from 1; 0 where nothing was tried.
    pub attempt: u32,
    /// What.
    pub content: Content,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A server answered, with whatever status.
    Response(Response),
    /// Something without an answer: a failure, a refusal, a decision.
    Event(Event),
}

/// A server's answer as it is stored: the body with its Content-Encoding as received, without chunking.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Header fields in the order received, without those that described the transfer only.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The server's address.
    pub address: Option<IpAddr>,
    /// Whether the body is incomplete, and why.
    pub truncated: Option<Truncated>,
}

impl Response {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// Why a body is incomplete; the words of WARC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// Longer than the limit.
    Length,
    /// Took longer than the limit.
    Time,
    /// The connection broke.
    Disconnect,
}

impl Truncated {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
        }
    }

    pub(crate) fn from_str(text: &str) -> Self {
        match text {
            "length" => Self::Length,
            "time" => Self::Time,
            _ => Self::Disconnect,
        }
    }
}

/// Something that happened without an answer from a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An operator started a crawl with these seeds and rules.
    CrawlStarted {
        /// Where it starts.
        seeds: Vec<PageUrl>,
        /// What it may follow.
        rules: CrawlRules,
    },
    /// No answer came.
    Failed {
        /// Why, for a person.
        reason: String,
    },
    /// We did not ask, because a rule forbids it.
    Refused {
        /// Which rule.
        reason: String,
    },
}

/// A record and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// Its own position.
    pub position: LibraryPosition,
    /// The position after it: what a store has absorbed once it knows this record.
    pub next: LibraryPosition,
    /// The record.
    pub record: Record,
}
