//! Reading a stored record: bytes become a page object, the page object becomes facts for the catalog and a document
//! for the index. Pure work, done on all cores; a page that panics is set aside with its reason.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pharos_core::config::Config;
use pharos_core::{Link, PageObject};
use pharos_index::{Change, Document};
use pharos_store::{Content, Record, Response, StoredRecord};
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

/// Anchor texts that say nothing about where they lead.
const EMPTY_ANCHORS: &[&str] =
    &["click here", "here", "more", "read more", "link", "next", "previous", "home", "点击这里", "更多", "阅读全文", "详细", "首页", "上一页", "下一页"];

/// A record that has been read.
pub(crate) struct Read {
    pub(crate) stored: StoredRecord,
    /// What the page says; `None` for everything but pages that were answered with success.
    pub(crate) page: Option<PageFacts>,
}

/// What the catalog and the index want to know of a page.
pub(crate) struct PageFacts {
    /// Links to follow.
    pub(crate) links: Vec<Link>,
    /// A hash of the body.
    pub(crate) digest: u64,
    /// The page for the index, where it may be found.
    pub(crate) document: Option<Box<Document>>,
}

/// Reads a record.
pub(crate) fn read(stored: StoredRecord, config: &Config) -> Read {
    let page = match &stored.record.content {
        Content::Response(response) if is_page(&stored.record, response) => {
            let outcome = catch_unwind(AssertUnwindSafe(|| facts(&stored, response, config)));
            outcome.unwrap_or_else(|_| {
                warn!(url = %stored.record.url, position = %stored.position, "this page cannot be read and is set aside");
                None
            })
        }
        _ => None,
    };
    Read { stored, page }
}

/// A successful answer that is not robots.txt.
fn is_page(record: &Record, response: &Response) -> bool {
    (200..300).contains(&response.status) && record.url.path_and_query() != "/robots.txt"
}

fn facts(stored: &StoredRecord, response: &Response, config: &Config) -> Option<PageFacts> {
    let body = response.content(config.crawl.body_limit.bytes());
    let digest = xxh3_64(&body);
    let page = understand(stored, response, &body);
    let links = page.followed_links().cloned().collect();
    let found = !page.no_index() && (!page.text.is_empty() || !page.title.is_empty());
    let document = found.then(|| Box::new(document(stored, page)));
    Some(PageFacts { links, digest, document })
}

/// The page object, with the directives of the HTTP header joined to those of the page.
fn understand(stored: &StoredRecord, response: &Response, body: &[u8]) -> PageObject {
    let mut page = pharos_html::understand(&stored.record.url, response.header("Content-Type"), body);
    for (_, value) in response.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case("X-Robots-Tag")) {
        // `otherbot: noindex` is not for us; a directive without a name is for everybody.
        let directives = match value.split_once(':') {
            Some((agent, rest)) if agent.trim().eq_ignore_ascii_case("pharos") => rest,
            Some((agent, _)) if !agent.trim().eq_ignore_ascii_case("unavailable_after") => continue,
            _ => value,
        };
        if !page.robots.is_empty() {
            page.robots.push_str(", ");
        }
        page.robots.push_str(directives.trim());
    }
    page
}

fn document(stored: &StoredRecord, page: PageObject) -> Document {
    let archive = !page.no_archive();
    let title = if page.title.trim().is_empty() { page.content_title } else { page.title };
    Document {
        url: stored.record.url.clone(),
        title,
        body: page.text,
        anchors: Vec::new(),
        lang: page.lang,
        date: page.published.or(page.modified).map(|d| d.chars().take(10).collect()),
        fetched: stored.record.at,
        position: stored.position,
        archive,
    }
}

/// Does an anchor say something about its target?
pub(crate) fn is_telling(anchor: &str) -> bool {
    let anchor = anchor.trim().to_lowercase();
    !anchor.is_empty() && !EMPTY_ANCHORS.contains(&anchor.as_str())
}

impl Read {
    /// What this record means for the index; `None` where it means nothing (robots.txt, a failure that may pass).
    pub(crate) fn index_change(&mut self) -> Option<Change> {
        let record = &self.stored.record;
        if record.url.path_and_query() == "/robots.txt" {
            return None;
        }
        let Content::Response(response) = &record.content else { return None };
        if let Some(document) = self.page.as_mut().and_then(|p| p.document.take()) {
            return Some(Change::Put(document));
        }
        match response.status {
            // Not there, moved, or not to be found: whatever stood there before is not the page any more.
            200..400 | 404 | 410 => Some(Change::Gone(record.url.id())),
            _ => None,
        }
    }
}
