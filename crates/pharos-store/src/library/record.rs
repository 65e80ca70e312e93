//! What the library holds: answers and events.

use std::net::IpAddr;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{CrawlRules, Removal};

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
    /// Whether the page had answered before, and not that it is not there.
    pub again: bool,
    /// The address that was asked first, where redirects led here from it.
    pub origin: Option<String>,
    /// How the source spelt the URL, where it is not our normal form; only imports have it.
    pub spelling: Option<String>,
    /// What.
    pub content: Content,
}

impl Record {
    /// A record about a URL that no crawl led to.
    pub fn new(url: PageUrl, at: Timestamp, content: Content) -> Self {
        Self { url, at, depth: 0, hops: 0, attempt: 0, again: false, origin: None, spelling: None, content }
    }

    /// Bytes of the body it carries.
    pub fn body_size(&self) -> usize {
        match &self.content {
            Content::Response(response) => response.body.len(),
            Content::Revisit(_) | Content::Event(_) => 0,
        }
    }

    /// Would compressing it be in vain?
    pub(super) fn is_dense(&self) -> bool {
        matches!(&self.content, Content::Response(response) if response.is_dense())
    }

    /// The status of the answer, where there was one.
    pub fn status(&self) -> Option<u16> {
        match &self.content {
            Content::Response(response) => Some(response.status),
            Content::Revisit(revisit) => Some(revisit.status),
            Content::Event(_) => None,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A server answered, with whatever status.
    Response(Response),
    /// A server answered with what an earlier record holds already.
    Revisit(Revisit),
    /// Something without an answer: a failure, a refusal, a decision.
    Event(Event),
}

/// A server's answer as it is stored: the body with its Content-Encoding as received, without chunking.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Status line and header exactly as they came, where that is more than `status` and `headers` tell: an imported
    /// page goes out as it came in.
    pub head: Option<Vec<u8>>,
    /// The head of the request. It is kept for people and other programs; it does not come back when the record is
    /// read.
    pub request: Option<String>,
}

impl Response {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// An answer whose content stands in an earlier record.
#[derive(Clone, Debug, PartialEq)]
pub struct Revisit {
    /// HTTP status: that of the earlier answer, or 304.
    pub status: u16,
    /// Header fields of this answer.
    pub headers: Vec<(String, String)>,
    /// The server's address.
    pub address: Option<IpAddr>,
    /// The record with the content; never a revisit itself.
    pub of: LibraryPosition,
    /// When that was fetched.
    pub of_at: Timestamp,
    /// The digest of the body it has in common with that record, as WARC writes it.
    pub digest: String,
}

impl Revisit {
    /// The whole answer: the content of the earlier one under the header of this. A 304 tells only the fields that it
    /// wants changed (RFC 9111 §3.2), and nothing about the content.
    pub(crate) fn with(self, earlier: Response) -> Response {
        let told: Vec<_> =
            self.headers.into_iter().filter(|(name, _)| self.status != 304 || !is_of_content(name)).collect();
        let is_told = |name: &str| told.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut headers: Vec<_> = earlier.headers.into_iter().filter(|(name, _)| !is_told(name)).collect();
        headers.extend(told);
        Response { headers, address: self.address.or(earlier.address), head: None, ..earlier }
    }
}

/// Does a header field describe the bytes of the body?
fn is_of_content(name: &str) -> bool {
    name.len() > 8 && name.as_bytes()[..8].eq_ignore_ascii_case(b"content-")
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
    /// An operator took a page or a site out, for good.
    Removed {
        /// What.
        what: Removal,
    },
    /// A feed said that the page is gone. It may come back.
    Deleted,
    /// The site that this is the home page of turned out to be a copy of another.
    Alias {
        /// The home page of the original.
        of: PageUrl,
    },
    /// Somebody proposed this page.
    Submitted,
    /// An operator decided on a page that was proposed.
    Decided {
        /// Accepted or refused.
        accepted: bool,
    },
    /// An operator wants this page fetched again, or all known pages of its site.
    Recrawl {
        /// Whether all of the site is meant.
        whole_site: bool,
    },
    /// A version of the page stood here until the retention rule let it go.
    Dropped {
        /// The HTTP status it had.
        status: u16,
        /// The hash of its content.
        digest: u64,
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
