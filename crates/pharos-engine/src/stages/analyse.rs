//! Analysis of a stored record: extracts the page object, and from it the data for catalog, derived stores and index.
//!
//! Pure computation, run on all cores. A page whose analysis exceeds its budget of work or time, or panics, is
//! quarantined: the catalog records it with the reason, and it is not searchable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::UNIX_EPOCH;

use pharos_core::config::Config;
use pharos_core::work::WorkExceeded;
use pharos_core::{PageObject, PageType, PageUrl, Timestamp};
use pharos_crawl::rules::budget::compute_sketch;
use pharos_graph::duplicates::{MinHashSignature, min_hash_signature};
use pharos_html::{Feed, FeedKind};
use pharos_index::IndexDocument;
use pharos_learn::categories::PageClassifier;
use pharos_store::derived::DerivedRecord;
use pharos_store::interpret::PageSummary;
use pharos_store::interpret::is_searchable;
use pharos_store::interpret::page_list::PageList;
use pharos_store::interpret::refresh::RefreshClass;
use pharos_store::interpret::status::is_success;
use pharos_store::{Library, RawResponse, RecordContent, RecordKind, StoredRecord};
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

use crate::categories::assignment::PageCategories;
use crate::stages::analysis_pool::Extractor;
use crate::stages::document::index_document;

/// Depth of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnalysisDepth {
    /// Links and text only, for the catalog.
    Links,
    /// Everything, for index and derived stores.
    Everything,
}

/// A record with its analysis.
pub(crate) struct AnalysedRecord {
    pub(crate) stored: StoredRecord,
    /// `None` unless the record is a successful response.
    pub(crate) page: Option<Box<AnalysedPage>>,
}

/// Analysis of a page for catalog, derived stores and index.
pub(crate) struct AnalysedPage {
    pub(crate) summary: PageSummary,
    /// Sketch of the text, for crawler trap detection.
    pub(crate) sketch: Option<u64>,
    /// Signature of the text, for near-duplicate detection.
    signature: Option<MinHashSignature>,
    categories: PageCategories,
}

/// Analyses a record. A revisit takes its content from the record it refers to. Returns `None` if the analysis was
/// cancelled.
pub(crate) fn analyse(
    mut stored: StoredRecord,
    library: &dyn Library,
    config: &Config,
    extractor: &Extractor,
    depth: AnalysisDepth,
    cancelled: &Arc<AtomicBool>,
) -> Option<AnalysedRecord> {
    if matches!(stored.record.content, RecordContent::Revisit(_)) {
        match library.with_content(stored.clone()) {
            Ok(response) => stored.record.content = RecordContent::Response(response),
            Err(error) => {
                warn!(url = %stored.record.url, position = %stored.position, %error, "the content of an unchanged page is missing");
            }
        }
    }
    let page = match &stored.record.content {
        RecordContent::Response(response) if stored.record.kind.is_page() && is_success(response.status) => {
            let body = response.content(config.crawl.body_limit.bytes());
            let budget = pharos_html::work_budget(body.len())
                .with_time(config.engine.page_time)
                .with_cancellation(Arc::clone(cancelled));
            let work = || budget.run(|| summarise(&stored, response, &body, config, extractor, depth));
            let reason = match catch_unwind(AssertUnwindSafe(work)) {
                Ok(Ok(analysed)) => Ok(analysed),
                Ok(Err(WorkExceeded::Cancelled)) => return None,
                Ok(Err(exceeded)) => Err(format!("analysis abandoned: {exceeded}")),
                Err(_) => Err("analysis failed because of a defect in pharos".into()),
            };
            Some(Box::new(reason.unwrap_or_else(|reason| quarantine(&stored, &body, reason))))
        }
        _ => None,
    };
    // The body is not needed any more, and many pages may be queued.
    if page.is_some()
        && let RecordContent::Response(response) = &mut stored.record.content
    {
        response.body = Vec::new();
    }
    Some(AnalysedRecord { stored, page })
}

/// Returns the summary of a page whose analysis was abandoned.
fn quarantine(stored: &StoredRecord, body: &[u8], reason: String) -> AnalysedPage {
    warn!(url = %stored.record.url, position = %stored.position, reason, "a page is quarantined");
    let digest = xxh3_64(body);
    let summary = PageSummary { digest, quarantine: Some(reason), ..PageSummary::default() };
    AnalysedPage { summary, sketch: None, signature: None, categories: PageCategories::default() }
}

fn summarise(
    stored: &StoredRecord,
    response: &RawResponse,
    body: &[u8],
    config: &Config,
    extractor: &Extractor,
    depth: AnalysisDepth,
) -> AnalysedPage {
    if stored.record.kind == RecordKind::Icon {
        return summarise_icon(stored, body);
    }
    if let Some(feed) = feed(&stored.record.url, response, body) {
        return summarise_feed(stored, feed, body);
    }
    let (url, content_type) = (&stored.record.url, response.header("Content-Type"));
    let mut page = match depth {
        AnalysisDepth::Links => pharos_html::skim(url, content_type, body),
        AnalysisDepth::Everything => extractor.extract(url, content_type, body),
    };
    merge_headers(&mut page, response, &config.crawl.agent);
    let links = page.followed_links().cloned().collect();
    let class = match RefreshClass::of_url(&stored.record.url) {
        RefreshClass::Page if page.page_type == PageType::Hub => RefreshClass::Hub,
        class => class,
    };
    let text = text_hash(&page.text, depth);
    let sketch = compute_sketch(&page.text);
    let signature = if depth == AnalysisDepth::Everything { min_hash_signature(&page.text) } else { None };
    let digest = xxh3_64(body);
    let summary = PageSummary { page, links, list: None, class, digest, text, quarantine: None };
    AnalysedPage { summary, sketch, signature, categories: PageCategories::default() }
}

/// Returns a hash of the text, 0 only if it is empty. The lowest bit encodes the depth of the analysis.
pub(crate) fn text_hash(text: &str, depth: AnalysisDepth) -> u64 {
    if text.is_empty() {
        return 0;
    }
    (xxh3_64(text.as_bytes()) & !1).max(2) | u64::from(depth == AnalysisDepth::Everything)
}

/// Parses a sitemap or news feed, unless the server declares it as HTML.
fn feed(url: &PageUrl, response: &RawResponse, body: &[u8]) -> Option<Feed> {
    let kind = response.header("Content-Type");
    let is_html = kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    if is_html { None } else { pharos_html::parse_feed(url, kind, body) }
}

/// Summarises a sitemap or feed: its URLs are listed, and it is not searchable itself.
fn summarise_feed(stored: &StoredRecord, feed: Feed, body: &[u8]) -> AnalysedPage {
    let page = PageObject {
        url: stored.record.url.to_string(),
        robots: "noindex".into(),
        links: feed.links(),
        page_type: PageType::Hub,
        ..PageObject::default()
    };
    let list = PageList {
        is_index: feed.kind == FeedKind::SitemapIndex,
        entries: feed.entries.into_iter().map(|entry| (entry.url, entry.modified)).collect(),
        bytes: body.len() as u64,
    };
    let (class, digest) = (RefreshClass::Feed, xxh3_64(body));
    let (links, list) = (Vec::new(), Some(list));
    let summary = PageSummary { page, links, list, class, digest, text: digest, quarantine: None };
    AnalysedPage { summary, sketch: None, signature: None, categories: PageCategories::default() }
}

/// Summarises the icon of a site: it is shown beside results, and not searchable itself.
fn summarise_icon(stored: &StoredRecord, body: &[u8]) -> AnalysedPage {
    let url = stored.record.url.to_string();
    let page = PageObject { url, robots: "noindex".into(), ..PageObject::default() };
    let summary = PageSummary { page, digest: xxh3_64(body), ..PageSummary::default() };
    AnalysedPage { summary, sketch: None, signature: None, categories: PageCategories::default() }
}

/// Merges HTTP headers into the page object.
fn merge_headers(page: &mut PageObject, response: &RawResponse, agent: &str) {
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("X-Robots-Tag"));
    let header = pharos_html::robots_directives(tags.map(|(_, value)| value.as_str()), agent);
    page.robots = [page.robots.as_str(), &header]
        .iter()
        .filter(|r| !r.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    page.modified = page.modified.take().or_else(|| last_modified(response));
}

/// Returns the date of the `Last-Modified` header.
fn last_modified(response: &RawResponse) -> Option<String> {
    let date = httpdate::parse_http_date(response.header("Last-Modified")?).ok()?;
    Some(Timestamp::EPOCH.plus(date.duration_since(UNIX_EPOCH).ok()?).date())
}

impl AnalysedPage {
    pub(crate) fn is_quarantined(&self) -> bool {
        self.summary.quarantine.is_some()
    }
}

impl AnalysedRecord {
    /// Returns `true` for a sitemap or feed.
    pub(crate) fn is_list(&self) -> bool {
        self.page.as_ref().is_some_and(|analysed| analysed.summary.list.is_some())
    }

    /// Gives the page its categories, if it may be searchable.
    pub(crate) fn classify(&mut self, classifier: &PageClassifier) {
        let Some(analysed) = self.page.as_mut().filter(|analysed| !analysed.is_quarantined()) else { return };
        let page = &analysed.summary.page;
        if is_searchable(page) {
            let assigned = classifier.assign(&self.stored.record.url, page);
            analysed.categories = PageCategories::new(&assigned, classifier);
        }
    }

    /// Returns the index document of the page, if the record has one.
    pub(crate) fn document(&self) -> Option<IndexDocument> {
        let (record, analysed) = (&self.stored.record, self.page.as_ref()?);
        let page = &analysed.summary.page;
        let (body, other) = (page.text.clone(), page.other.clone());
        let mut document = index_document(&record.url, record.at, self.stored.position, page, body, other);
        document.signature = analysed.signature.as_ref().map(|signature| signature.to_bytes().into());
        analysed.categories.clone().write_to(&mut document);
        Some(document)
    }

    /// Returns the part that the derived stores keep.
    pub(crate) fn analysed(self) -> DerivedRecord {
        let StoredRecord { position, next, record } = self.stored;
        DerivedRecord {
            position,
            next,
            at: record.at,
            url: record.url,
            page: self.page.filter(|page| !page.is_quarantined()).map(|analysed| analysed.summary.page),
        }
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::LibraryPosition;
    use pharos_core::config::CrawlConfig;
    use pharos_store::interpret::{CrawlScope, IndexEffect, RemovedPages, interpret};
    use pharos_store::{CrawlRules, DataDir, LibraryRecord};

    use super::*;
    use crate::stores::test_stores;

    fn stored(path: &str, status: u16, headers: &[(&str, &str)], body: &str) -> StoredRecord {
        let headers = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let response = RawResponse { status, headers, body: body.into(), ..RawResponse::default() };
        let url = PageUrl::parse(&format!("http://example.org{path}")).unwrap();
        StoredRecord {
            position: LibraryPosition::new(1, 5),
            next: LibraryPosition::new(1, 9),
            record: LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response)),
        }
    }

    fn analyse_alone(stored: StoredRecord) -> AnalysedRecord {
        let empty = test_stores(&DataDir::at("no such folder")).library().unwrap();
        let config = Config::default();
        analyse_with(stored, &*empty, &config, false).unwrap()
    }

    fn analyse_with(
        stored: StoredRecord,
        library: &dyn Library,
        config: &Config,
        cancelled: bool,
    ) -> Option<AnalysedRecord> {
        let extractor = Extractor::from_config(config).unwrap();
        let cancelled = Arc::new(AtomicBool::new(cancelled));
        analyse(stored, library, config, &extractor, AnalysisDepth::Everything, &cancelled)
    }

    fn effect(stored: StoredRecord) -> IndexEffect {
        let read = analyse_alone(stored);
        let summary = read.page.as_ref().map(|analysed| &analysed.summary);
        interpret(&mut CrawlScope::new(CrawlRules::default()), &CrawlConfig::default(), &read.stored, summary)
            .index
    }

    const PAGE: &str = "<title>Tower</title><p>It stands. <a href=/next>On</a>";

    #[test]
    fn a_page_becomes_a_document_with_its_date() {
        let document = |date: &str| {
            analyse_alone(stored("/", 200, &[("last-modified", date)], PAGE)).document().unwrap()
        };
        let tower = document("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!((tower.title.as_str(), tower.date.as_deref()), ("Tower", Some("1994-11-06")));
        assert!(tower.archive && tower.body.contains("It stands."));
        assert_eq!(document("yesterday").date, None);
    }

    #[test]
    fn what_an_answer_means_for_the_index() {
        let gone = IndexEffect::Remove(RemovedPages::Page(stored("/", 0, &[], "").record.url.id()));
        assert!([301, 404, 410].iter().all(|status| effect(stored("/", *status, &[], PAGE)) == gone));
        assert!(
            [403, 429, 500, 503].iter().all(|s| effect(stored("/", *s, &[], PAGE)) == IndexEffect::Keep),
            "it may pass"
        );
        let tagged = |tag| effect(stored("/", 200, &[("X-Robots-Tag", tag)], PAGE));
        assert_eq!(tagged("noindex, max-snippet:9"), gone);
        assert_eq!(tagged("otherbot: noindex"), IndexEffect::Replace);
        assert_eq!(effect(stored("/robots.txt", 200, &[], "User-agent: *")), IndexEffect::Keep);
        let icon = stored("/favicon.ico", 200, &[("Content-Type", "text/html")], PAGE);
        let removed = IndexEffect::Remove(RemovedPages::Page(icon.record.url.id()));
        assert_eq!(effect(icon), removed, "whatever it contains");
    }

    #[test]
    fn a_page_that_exceeds_its_budget_is_quarantined() {
        let long = stored("/", 200, &[], &"<p>Too long for no time at all.".repeat(20_000));
        let library = test_stores(&DataDir::at("no such folder")).library().unwrap();
        let mut config = Config::default();
        assert!(analyse_with(long.clone(), &*library, &config, true).is_none(), "cancelled");
        config.engine.page_time = std::time::Duration::ZERO;
        let read = analyse_with(long, &*library, &config, false).unwrap();
        let summary = &read.page.as_ref().unwrap().summary;
        assert_eq!(summary.quarantine.as_deref(), Some("analysis abandoned: took too long"));
        assert!(summary.digest != 0 && summary.links.is_empty());
        assert!(read.analysed().page.is_none());
    }

    #[test]
    fn followed_links_are_extracted_and_the_body_is_dropped() {
        let read = analyse_alone(stored("/", 200, &[], PAGE));
        assert_eq!(read.page.unwrap().summary.links[0].url.as_str(), "http://example.org/next");
        assert!(matches!(read.stored.record.content, RecordContent::Response(r) if r.body.is_empty()));
    }
}
