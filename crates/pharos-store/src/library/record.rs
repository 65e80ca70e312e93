//! Records of the library: responses and events.

use std::net::IpAddr;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use serde::{Deserialize, Serialize};

use crate::catalog::{CrawlRules, Removal};
use crate::interpret::status::StatusMeaning;

/// Subject of a record. It decides how the record is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A visit of a page: a response, a failure, a refusal, or the placeholder of a dropped version.
    Page,
    /// A visit of the robots.txt of a server, which is never a page.
    Robots,
    /// A visit of a page that is named like a sitemap. Only the choice of media types depends on the name: the content
    /// decides whether it is read as a sitemap.
    Sitemap,
    /// A visit of the icon of a site, which is never searchable.
    Icon,
    /// An event without a visit, such as an operator's decision.
    Event,
}

impl RecordKind {
    /// Returns the kind of the records of visits to a URL. No other code derives a kind from a URL.
    pub fn of_url(url: &PageUrl) -> Self {
        let path = url.as_url().path();
        let is_named_sitemap = || {
            path.contains("sitemap")
                && [".xml", ".xml.gz", ".txt", ".gz"].iter().any(|ending| path.ends_with(ending))
        };
        match path {
            "/robots.txt" => Self::Robots,
            "/favicon.ico" => Self::Icon,
            _ if is_named_sitemap() => Self::Sitemap,
            _ => Self::Page,
        }
    }

    fn of_record(url: &PageUrl, content: &RecordContent) -> Self {
        match content {
            RecordContent::Response(_)
            | RecordContent::Revisit(_)
            | RecordContent::Event(
                LibraryEvent::Failed { .. } | LibraryEvent::Refused { .. } | LibraryEvent::Dropped { .. },
            ) => Self::of_url(url),
            RecordContent::Event(_) => Self::Event,
        }
    }

    /// Returns `true` for a visit of a page, whatever its name. Icons are scheduled and stored like pages.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Page | Self::Sitemap | Self::Icon)
    }
}

/// A response or event concerning one URL.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryRecord {
    /// Derived from URL and content by [`LibraryRecord::new`].
    pub kind: RecordKind,
    /// URL of the page. Events that concern the whole engine are stored under their first seed.
    pub url: PageUrl,
    pub at: Timestamp,
    /// Link distance from a seed, at the time of the request.
    pub depth: u32,
    /// Number of consecutive redirects that led here.
    pub hops: u32,
    /// Number of this consecutive attempt, from 1; 0 if there was no request.
    pub attempt: u32,
    /// `true` if the page had an earlier response that showed that it exists.
    pub is_refetch: bool,
    /// First URL of the redirects that led here.
    pub origin: Option<String>,
    /// Spelling of the URL in the source if it differs from the normal form. Set by imports only.
    pub spelling: Option<String>,
    pub content: RecordContent,
}

impl LibraryRecord {
    /// Creates a record for a URL outside a crawl.
    pub fn new(url: PageUrl, at: Timestamp, content: RecordContent) -> Self {
        Self {
            kind: RecordKind::of_record(&url, &content),
            url,
            at,
            depth: 0,
            hops: 0,
            attempt: 0,
            is_refetch: false,
            origin: None,
            spelling: None,
            content,
        }
    }

    /// Returns the size of the body in bytes.
    pub fn body_size(&self) -> usize {
        match &self.content {
            RecordContent::Response(response) => response.body.len(),
            RecordContent::Revisit(_) | RecordContent::Event(_) => 0,
        }
    }

    /// Returns `true` if compression would not reduce the size.
    pub(super) fn is_precompressed(&self) -> bool {
        matches!(&self.content, RecordContent::Response(response) if response.is_precompressed())
    }

    /// Returns the HTTP status, if there was a response.
    pub fn status(&self) -> Option<u16> {
        match &self.content {
            RecordContent::Response(response) => Some(response.status),
            RecordContent::Revisit(revisit) => Some(revisit.status),
            RecordContent::Event(_) => None,
        }
    }
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordContent {
    /// A response of any status.
    Response(RawResponse),
    /// A response whose body is stored in an earlier record.
    Revisit(Revisit),
    /// An event without a response: a failure, a refusal, a decision.
    Event(LibraryEvent),
}

impl RecordContent {
    /// Returns the response, unless it is stored elsewhere.
    pub fn response(&self) -> Option<&RawResponse> {
        match self {
            Self::Response(response) => Some(response),
            Self::Revisit(_) | Self::Event(_) => None,
        }
    }
}

/// A server's response as stored: the body has its Content-Encoding as received, without chunked coding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawResponse {
    pub status: u16,
    /// Header fields in the order received, without those that only described the transfer.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// IP address of the server.
    pub address: Option<IpAddr>,
    /// Reason why the body is incomplete, if it is.
    pub truncated: Option<TruncationReason>,
    /// Status line and header exactly as received, if they contain more than `status` and `headers`. It allows
    /// imported pages to be exported unchanged.
    pub head: Option<Vec<u8>>,
    /// Request line and header. They are stored for users and other programs and are not returned when the record is
    /// read.
    pub request: Option<String>,
}

impl RawResponse {
    /// Returns the first header field with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// A response whose content is stored in an earlier record.
#[derive(Clone, Debug, PartialEq)]
pub struct Revisit {
    /// HTTP status: that of the earlier response, or 304.
    pub status: u16,
    /// Header fields of this response.
    pub headers: Vec<(String, String)>,
    /// IP address of the server.
    pub address: Option<IpAddr>,
    /// Position of the record with the content, which is never a revisit itself.
    pub refers_to: LibraryPosition,
    /// Time of that record.
    pub refers_to_at: Timestamp,
    /// Digest of the common body in WARC notation.
    pub digest: String,
}

impl Revisit {
    /// Returns `true` if the server sent no content because a conditional request found none to be new.
    pub(crate) fn is_not_modified(&self) -> bool {
        StatusMeaning::from_status(self.status) == StatusMeaning::NotModified
    }

    /// Returns the complete response: the content of the earlier response with the header of this one. A 304
    /// contains only the fields to update (RFC 9111 §3.2) and none that describe the content.
    pub(crate) fn resolve(self, earlier: RawResponse) -> RawResponse {
        let is_update = self.is_not_modified();
        let updated: Vec<_> =
            self.headers.into_iter().filter(|(name, _)| !is_update || !describes_content(name)).collect();
        let is_updated = |name: &str| updated.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut headers: Vec<_> = earlier.headers.into_iter().filter(|(name, _)| !is_updated(name)).collect();
        headers.extend(updated);
        RawResponse { headers, address: self.address.or(earlier.address), head: None, ..earlier }
    }
}

/// Returns `true` if a header field describes the bytes of the body.
fn describes_content(name: &str) -> bool {
    name.len() > 8 && name.as_bytes()[..8].eq_ignore_ascii_case(b"content-")
}

/// Reason why a body is incomplete, as defined by WARC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncationReason {
    /// The body exceeded the size limit.
    Length,
    /// The transfer exceeded the time limit.
    Time,
    /// The connection was closed.
    Disconnect,
}

impl TruncationReason {
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

/// An event without a response from a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LibraryEvent {
    /// An operator started a crawl with these seeds and rules.
    CrawlStarted { seeds: Vec<PageUrl>, rules: CrawlRules },
    /// No response was received.
    Failed {
        /// Human-readable reason.
        reason: String,
    },
    /// The page was not requested because a rule forbids it.
    Refused {
        /// The rule that applies.
        reason: String,
    },
    /// An operator removed a page or site permanently.
    Removed { what: Removal },
    /// A data feed reports the page as deleted. It may return later.
    Deleted,
    /// The site of this home page is a mirror of another site.
    Alias {
        /// Home page of the original.
        of: PageUrl,
    },
    /// A visitor submitted this page.
    Submitted,
    /// An operator's decision on a submitted page.
    Decided { accepted: bool },
    /// An operator's request to fetch this page, or all known pages of its site, again.
    Recrawl { whole_site: bool },
    /// A webmaster announced that these pages of the site changed, and proved to own it.
    Announced { pages: Vec<PageUrl> },
    /// Placeholder of a page version whose content was dropped by the retention rule.
    Dropped {
        /// HTTP status of the version.
        status: u16,
        /// Hash of its content.
        digest: u64,
    },
}

/// A record with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    pub position: LibraryPosition,
    /// Position after the record: the applied position of a store that has processed this record.
    pub next: LibraryPosition,
    pub record: LibraryRecord,
}
