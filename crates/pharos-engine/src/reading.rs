//! Reading a stored record: bytes become a page object, the page object becomes facts for the catalog and a document
//! for the index. Pure work, done on all cores; a page that panics is set aside with its reason.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::UNIX_EPOCH;

use pharos_core::config::Config;
use pharos_core::{Link, PageObject, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_index::{Change, Document};
use pharos_store::{Content, Record, Response, StoredRecord};
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

/// Anchor texts that say nothing about where they lead.
const EMPTY_ANCHORS: &[&str] = &[
    "click here",
    "here",
    "more",
    "read more",
    "link",
    "next",
    "previous",
    "home",
    "点击这里",
    "更多",
    "阅读全文",
    "详细",
    "首页",
    "上一页",
    "下一页",
];

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
pub(crate) fn read(mut stored: StoredRecord, config: &Config) -> Read {
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
    // From here on nobody wants the body, and many pages may wait.
    if page.is_some()
        && let Content::Response(response) = &mut stored.record.content
    {
        response.body = Vec::new();
    }
    Read { stored, page }
}

/// A successful answer that is not robots.txt.
fn is_page(record: &Record, response: &Response) -> bool {
    (200..300).contains(&response.status) && !is_robots_txt(&record.url)
}

fn facts(stored: &StoredRecord, response: &Response, config: &Config) -> Option<PageFacts> {
    let body = response.content(config.crawl.body_limit.bytes());
    let digest = xxh3_64(&body);
    let page = understand(stored, response, &body, &config.crawl.agent);
    let links = page.followed_links().cloned().collect();
    let found = !page.no_index() && (!page.text.is_empty() || !page.title.is_empty());
    let document = found.then(|| Box::new(document(stored, response, page)));
    Some(PageFacts { links, digest, document })
}

/// The page object, with the directives of the HTTP header joined to those of the page.
fn understand(stored: &StoredRecord, response: &Response, body: &[u8], agent: &str) -> PageObject {
    let mut page = pharos_html::understand(&stored.record.url, response.header("Content-Type"), body);
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("X-Robots-Tag"));
    let header = pharos_html::robots_tag(tags.map(|(_, value)| value.as_str()), agent);
    page.robots = [page.robots.as_str(), &header]
        .iter()
        .filter(|r| !r.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    page
}

fn document(stored: &StoredRecord, response: &Response, page: PageObject) -> Document {
    let archive = !page.no_archive();
    let title = if page.title.trim().is_empty() { page.content_title } else { page.title };
    Document {
        url: stored.record.url.clone(),
        title,
        body: page.text,
        anchors: Vec::new(),
        lang: page.lang,
        date: page
            .published
            .or(page.modified)
            .map(|d| d.chars().take(10).collect())
            .or_else(|| last_modified(response)),
        fetched: stored.record.at,
        position: stored.position,
        archive,
    }
}

/// The day of the `Last-Modified` header.
fn last_modified(response: &Response) -> Option<String> {
    let date = httpdate::parse_http_date(response.header("Last-Modified")?).ok()?;
    Some(Timestamp::EPOCH.plus(date.duration_since(UNIX_EPOCH).ok()?).date())
}

/// Does an answer settle what the page says now? Overload, faults of the server and closed doors do not.
pub(crate) fn settles(response: &Response) -> bool {
    matches!(response.status, 200..400 | 404 | 410)
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
        if is_robots_txt(&record.url) {
            return None;
        }
        let Content::Response(response) = &record.content else { return None };
        if let Some(document) = self.page.as_mut().and_then(|p| p.document.take()) {
            return Some(Change::Put(document));
        }
        // Not there, moved, or not to be found: whatever stood there before is not the page any more.
        settles(response).then(|| Change::Gone(record.url.id()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::{LibraryPosition, PageUrl};

    fn stored(path: &str, status: u16, headers: &[(&str, &str)], body: &str) -> StoredRecord {
        let headers = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let response = Response { status, headers, body: body.into(), address: None, truncated: None };
        StoredRecord {
            position: LibraryPosition { file: 1, offset: 5 },
            next: LibraryPosition { file: 1, offset: 9 },
            record: Record {
                url: PageUrl::parse(&format!("http://example.org{path}")).unwrap(),
                at: Timestamp::EPOCH,
                depth: 0,
                hops: 0,
                attempt: 1,
                content: Content::Response(response),
            },
        }
    }

    fn change(stored: StoredRecord) -> Option<Change> {
        read(stored, &Config::default()).index_change()
    }

    const PAGE: &str = "<title>Tower</title><p>It stands. <a href=/next>On</a>";

    #[test]
    fn a_page_becomes_a_document_with_its_date() {
        let Some(Change::Put(document)) =
            change(stored("/", 200, &[("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")], PAGE))
        else {
            panic!("a page is put")
        };
        assert_eq!((document.title.as_str(), document.date.as_deref()), ("Tower", Some("1994-11-06")));
        assert!(document.archive && document.body.contains("It stands."));
        let Some(Change::Put(document)) = change(stored("/", 200, &[("last-modified", "yesterday")], PAGE))
        else {
            panic!("a page is put")
        };
        assert_eq!(document.date, None);
    }

    #[test]
    fn what_an_answer_means_for_the_index() {
        let gone = |status| matches!(change(stored("/", status, &[], PAGE)), Some(Change::Gone(_)));
        assert!(gone(301) && gone(404) && gone(410));
        assert!(
            [403, 429, 500, 503].iter().all(|s| change(stored("/", *s, &[], PAGE)).is_none()),
            "it may pass"
        );
        assert!(matches!(
            change(stored("/", 200, &[("X-Robots-Tag", "noindex, max-snippet:9")], PAGE)),
            Some(Change::Gone(_))
        ));
        assert!(matches!(
            change(stored("/", 200, &[("X-Robots-Tag", "otherbot: noindex")], PAGE)),
            Some(Change::Put(_))
        ));
        assert!(change(stored("/robots.txt", 200, &[], "User-agent: *")).is_none());
    }

    #[test]
    fn followed_links_are_read_and_the_body_is_let_go() {
        let read = read(stored("/", 200, &[], PAGE), &Config::default());
        assert_eq!(read.page.unwrap().links[0].url.as_str(), "http://example.org/next");
        assert!(matches!(read.stored.record.content, Content::Response(r) if r.body.is_empty()));
    }

    #[test]
    fn anchors_that_say_nothing() {
        assert!(is_telling("Lighthouses of the coast") && !is_telling(" Click here ") && !is_telling("更多"));
    }
}
