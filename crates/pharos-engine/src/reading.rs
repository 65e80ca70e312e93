//! Reading a stored record: bytes become a page object, the page object becomes facts for the catalog and a document
//! for the index. Pure work, done on all cores; a page that panics is set aside with its reason.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::UNIX_EPOCH;

use pharos_core::config::Config;
use pharos_core::{Link, PageObject, PageType, PageUrl, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_crawl::{PageKind, sketch};
use pharos_graph::duplicates::{MinHashSignature, signature};
use pharos_html::Feed;
use pharos_index::Change;
use pharos_store::{Analysed, Content, Event, Library, Record, Removal, Response, StoredRecord, Version};
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

use crate::documents::document;
use crate::readers::Understanding;

/// How closely pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// What the catalog wants to know.
    Links,
    /// What an index and the derived stores want to know too.
    Everything,
}

/// A record that has been read.
pub(crate) struct Read {
    pub(crate) stored: StoredRecord,
    /// What the page says; `None` for everything but pages that were answered with success.
    pub(crate) page: Option<Box<PageFacts>>,
}

/// What catalog, index and derived stores want to know of a page.
pub(crate) struct PageFacts {
    /// What it says.
    pub(crate) page: PageObject,
    /// The links to follow.
    pub(crate) follow: Vec<Link>,
    /// What a sitemap or a feed lists.
    pub(crate) listed: Vec<(PageUrl, Option<Timestamp>)>,
    /// What kind of page it is.
    pub(crate) kind: PageKind,
    /// A hash of the body.
    pub(crate) digest: u64,
    /// A hash of the text; 0 where there is none.
    pub(crate) text: u64,
    /// A sketch of the text, by which traps are known.
    pub(crate) sketch: Option<u64>,
    /// A signature of the text, by which copies are known.
    pub(crate) signature: Option<MinHashSignature>,
}

/// Reads a record. A revisit takes its content from the record it refers to.
pub(crate) fn read(
    mut stored: StoredRecord,
    library: &dyn Library,
    config: &Config,
    understanding: &Understanding,
    wanted: Wanted,
) -> Read {
    if matches!(stored.record.content, Content::Revisit(_)) {
        match library.with_content(stored.clone()) {
            Ok(response) => stored.record.content = Content::Response(response),
            Err(error) => {
                warn!(url = %stored.record.url, position = %stored.position, %error, "an unchanged page has lost its content");
            }
        }
    }
    let page = match &stored.record.content {
        Content::Response(response) if is_page(&stored.record, response) => {
            let outcome =
                catch_unwind(AssertUnwindSafe(|| facts(&stored, response, config, understanding, wanted)));
            outcome.map(|facts| Some(Box::new(facts))).unwrap_or_else(|_| {
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

fn facts(
    stored: &StoredRecord,
    response: &Response,
    config: &Config,
    understanding: &Understanding,
    wanted: Wanted,
) -> PageFacts {
    let body = response.content(config.crawl.body_limit.bytes());
    if let Some(feed) = feed(&stored.record.url, response, &body) {
        return list(stored, feed, &body);
    }
    let (url, content_type) = (&stored.record.url, response.header("Content-Type"));
    let mut page = match wanted {
        Wanted::Links => pharos_html::skim(url, content_type, &body),
        Wanted::Everything => understanding.page(url, content_type, &body),
    };
    join_header(&mut page, response, &config.crawl.agent);
    let follow = page.followed_links().cloned().collect();
    let kind = match PageKind::of(&stored.record.url) {
        PageKind::Page if page.page_type == PageType::Hub => PageKind::Hub,
        kind => kind,
    };
    let text = text_hash(&page.text, wanted);
    let sketch = sketch(&page.text);
    let signature = if wanted == Wanted::Everything { signature(&page.text) } else { None };
    PageFacts { page, follow, listed: Vec::new(), kind, digest: xxh3_64(&body), text, sketch, signature }
}

/// A hash of a text, 0 only where there is none. Its lowest bit says how the page was read.
pub(crate) fn text_hash(text: &str, wanted: Wanted) -> u64 {
    if text.is_empty() {
        return 0;
    }
    (xxh3_64(text.as_bytes()) & !1).max(2) | u64::from(wanted == Wanted::Everything)
}

/// A sitemap or a news feed, where the server does not call it HTML.
fn feed(url: &PageUrl, response: &Response, body: &[u8]) -> Option<Feed> {
    let kind = response.header("Content-Type");
    let is_html = kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    if is_html { None } else { pharos_html::feed(url, kind, body) }
}

/// What a list of pages says: where they are. It is not to be found itself.
fn list(stored: &StoredRecord, feed: Feed, body: &[u8]) -> PageFacts {
    let page = PageObject {
        url: stored.record.url.to_string(),
        robots: "noindex".into(),
        links: feed.links(),
        page_type: PageType::Hub,
        ..PageObject::default()
    };
    let listed = feed.entries.into_iter().map(|entry| (entry.url, entry.modified)).collect();
    let (kind, digest) = (PageKind::Feed, xxh3_64(body));
    PageFacts { page, follow: Vec::new(), listed, kind, digest, text: digest, sketch: None, signature: None }
}

/// Joins what the HTTP header says to what the page says.
fn join_header(page: &mut PageObject, response: &Response, agent: &str) {
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("X-Robots-Tag"));
    let header = pharos_html::robots_tag(tags.map(|(_, value)| value.as_str()), agent);
    page.robots = [page.robots.as_str(), &header]
        .iter()
        .filter(|r| !r.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    page.modified = page.modified.take().or_else(|| last_modified(response));
}

/// Is the page to be found by searching?
pub(crate) fn is_searchable(page: &PageObject) -> bool {
    !page.no_index() && (!page.text.is_empty() || !page.title.is_empty())
}

/// The day of the `Last-Modified` header.
fn last_modified(response: &Response) -> Option<String> {
    let date = httpdate::parse_http_date(response.header("Last-Modified")?).ok()?;
    Some(Timestamp::EPOCH.plus(date.duration_since(UNIX_EPOCH).ok()?).date())
}

/// Does an answer settle what the page says now? Overload, faults of the server and closed doors do not, nor does a
/// page that is missing for the first time: it may be back tomorrow.
pub(crate) fn settles(record: &Record) -> bool {
    match record.status() {
        Some(200..400 | 410) => true,
        Some(404) => !record.again,
        _ => false,
    }
}

/// The version, newest first, that tells what the page says now.
pub(crate) fn settled(versions: &[Version]) -> Option<&Version> {
    let mut answers = versions.iter().filter(|v| matches!(v.status, 200..400 | 404 | 410)).peekable();
    while let Some(version) = answers.next() {
        // Missing twice is gone; missing once, after it was there, is not.
        if version.status != 404 || answers.peek().is_none_or(|before| before.status == 404) {
            return Some(version);
        }
    }
    None
}

impl Read {
    /// What this record means for the index; `None` where it means nothing (robots.txt, a failure that may pass).
    pub(crate) fn index_change(&self) -> Option<Change> {
        let record = &self.stored.record;
        match &record.content {
            Content::Event(Event::Removed { what: Removal::Page(url) }) => {
                return Some(Change::Gone(url.id()));
            }
            Content::Response(_) if !is_robots_txt(&record.url) => {}
            _ => return None,
        }
        if let Some(facts) = self.page.as_ref().filter(|facts| is_searchable(&facts.page)) {
            let body = facts.page.text.clone();
            let mut document = document(&record.url, record.at, self.stored.position, &facts.page, body);
            document.signature = facts.signature.as_ref().map(|signature| signature.to_bytes().into());
            return Some(Change::Put(Box::new(document)));
        }
        // Not there, moved, or not to be found: whatever stood there before is not the page any more.
        settles(record).then(|| Change::Gone(record.url.id()))
    }

    /// What the derived stores keep of it.
    pub(crate) fn analysed(self) -> Analysed {
        let StoredRecord { position, next, record } = self.stored;
        Analysed { position, next, at: record.at, url: record.url, page: self.page.map(|facts| facts.page) }
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::LibraryPosition;
    use pharos_store::DiskLibrary;

    use super::*;

    fn stored(path: &str, status: u16, headers: &[(&str, &str)], body: &str) -> StoredRecord {
        let headers = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let response = Response { status, headers, body: body.into(), ..Response::default() };
        let url = PageUrl::parse(&format!("http://example.org{path}")).unwrap();
        StoredRecord {
            position: LibraryPosition { file: 1, offset: 5 },
            next: LibraryPosition { file: 1, offset: 9 },
            record: Record::new(url, Timestamp::EPOCH, Content::Response(response)),
        }
    }

    fn read_alone(stored: StoredRecord) -> Read {
        let empty = DiskLibrary::open_reader("no such folder".as_ref()).unwrap();
        let config = Config::default();
        read(stored, &empty, &config, &Understanding::of(&config).unwrap(), Wanted::Everything)
    }

    fn change(stored: StoredRecord) -> Option<Change> {
        read_alone(stored).index_change()
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
        let read = read_alone(stored("/", 200, &[], PAGE));
        assert_eq!(read.page.unwrap().follow[0].url.as_str(), "http://example.org/next");
        assert!(matches!(read.stored.record.content, Content::Response(r) if r.body.is_empty()));
    }
}
