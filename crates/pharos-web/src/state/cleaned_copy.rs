//! Stored copies of pages as sent by their servers, and their cleaning for display.

use std::fs;
use std::sync::Arc;

use pharos_core::config::CleanConfig;
use pharos_core::{PageId, PageObject, PageUrl};
use pharos_html::cached_page::{HighlightOptions, sanitise_page};
use pharos_html::{CleaningExplanation, ExtractOptions, RuleSet, TermWeighting};
use pharos_query::IndexedPage;
use pharos_store::{RawResponse as StoredResponse, StoreError};

use super::cached_copy::allows_copies;
use super::renderer::{RenderedView, Rendering, View, ViewKey, ViewKind};
use super::{AppState, Service, ServiceError};
use crate::server::visitor::Visitor;

/// Pages with more lines are cleaned without an explanation, which takes 12 KB of memory per line.
const MAX_EXPLAINED_LINES: usize = 5_000;

/// Maximum size of the HTML of a cleaned page.
const MAX_CLEANED_BYTES: usize = 1 << 20;

/// Result of looking up a stored copy.
pub(crate) enum CopyLookup<T> {
    Missing,
    /// The author does not allow copies.
    Withheld(IndexedPage),
    Copy(T),
}

/// A page as its server sent it.
pub(crate) struct RawCopy {
    pub(crate) found: IndexedPage,
    pub(crate) response: StoredResponse,
}

/// The cleaned view of a stored page.
pub(crate) struct CleanedCopy {
    pub(crate) found: IndexedPage,
    /// `None` if the page is not HTML.
    pub(crate) shown: Option<Arc<RenderedView>>,
}

/// A page after cleaning.
pub(crate) struct Cleaned {
    /// Stored size in bytes.
    pub(crate) bytes: usize,
    /// Its `html` is not sanitised; use the field `html` below for display.
    pub(crate) page: PageObject,
    /// Main content, sanitised like a cached page.
    pub(crate) html: String,
    /// Classification of each line; `None` if the page is too large.
    pub(crate) explanation: Option<CleaningExplanation>,
}

impl AppState {
    /// Returns the stored copy of a page before and after cleaning, as the HTML that `write` returns. Its result must depend
    /// only on the page, `query` and the language of the visitor.
    pub(crate) async fn cleaned_copy(
        &self,
        visitor: &Visitor,
        id: PageId,
        query: String,
        write: impl FnOnce(&IndexedPage, Cleaned) -> Result<String, askama::Error> + Send + 'static,
    ) -> Result<CopyLookup<CleanedCopy>, ServiceError> {
        let label = visitor.lang.code();
        self.render(&visitor.client.source, move |service, rendering| {
            let RawCopy { found, response } = match raw_copy(service, id)? {
                CopyLookup::Copy(raw) => raw,
                CopyLookup::Missing => return Ok(CopyLookup::Missing),
                CopyLookup::Withheld(found) => return Ok(CopyLookup::Withheld(found)),
            };
            let key = ViewKey { page: id, position: found.position, kind: ViewKind::Cleaned, query, label };
            let view =
                rendering.view(key, || render_cleaned(service, rendering, &found, &response, write))?;
            let shown = match view {
                View::Shown(shown) => Some(shown),
                View::None | View::Withheld => None,
            };
            Ok(CopyLookup::Copy(CleanedCopy { found, shown }))
        })
        .await
    }
}

/// Reads the stored copy of an indexed page.
pub(crate) fn raw_copy(service: &Service, id: PageId) -> Result<CopyLookup<RawCopy>, ServiceError> {
    let Some(found) = service.search.processor().page(id)? else { return Ok(CopyLookup::Missing) };
    if !found.archive {
        return Ok(CopyLookup::Withheld(found));
    }
    let response = match service.library.response(found.position) {
        Err(StoreError::NoRecord(_)) => return Ok(CopyLookup::Missing),
        response => response?,
    };
    if !allows_copies(&response, &service.config.crawl.agent) {
        return Ok(CopyLookup::Withheld(found));
    }
    Ok(CopyLookup::Copy(RawCopy { found, response }))
}

/// Cleans a copy. Documents other than HTML are not parsed in a serving process.
fn render_cleaned(
    service: &Service,
    rendering: &Rendering,
    found: &IndexedPage,
    response: &StoredResponse,
    write: impl FnOnce(&IndexedPage, Cleaned) -> Result<String, askama::Error>,
) -> Result<View, ServiceError> {
    let content_type = response.header("content-type");
    let body = response.content(service.config.crawl.body_limit.bytes());
    if !pharos_html::is_html_like(content_type, &body) {
        return Ok(View::None);
    }
    let config = &service.config.clean;
    // The rules of the engine, so that the view shows the text that is searched.
    let rules = RuleSet::named(&config.rules, |path| fs::read_to_string(path))?;
    let html = rendering.run(found.position, ViewKind::Cleaned, body.len(), || {
        write(found, clean(&found.url, content_type, &body, &rules, config))
    })??;
    Ok(View::Shown(Arc::new(RenderedView { html, ..RenderedView::default() })))
}

fn clean(
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    rules: &RuleSet,
    config: &CleanConfig,
) -> Cleaned {
    let options = ExtractOptions {
        rules,
        term_weighting: TermWeighting::from(config),
        html: true,
        blocks: true,
        ..ExtractOptions::default()
    };
    let page = pharos_html::extract_page_with(url, content_type, body, &options);
    let lines: usize =
        page.blocks.iter().filter_map(|block| Some(block["text"].as_str()?.lines().count())).sum();
    let explanation =
        (lines <= MAX_EXPLAINED_LINES).then(|| pharos_html::explain_cleaning(url, content_type, body, rules));
    let shown = &page.html[..page.html.floor_char_boundary(MAX_CLEANED_BYTES)];
    // The cleaned HTML is sanitised once more, so that the same allow-list of elements and attributes, and the same treatment
    // of links, apply as for cached pages.
    let marking = HighlightOptions::default();
    let shown = sanitise_page(url, Some("text/html; charset=utf-8"), shown.as_bytes(), &marking);
    Cleaned { bytes: body.len(), page, html: shown.html, explanation }
}
