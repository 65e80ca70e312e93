//! Status of one page: index, catalog and library combined, as far as it may be published.

use std::fs;

use pharos_core::work::WorkExceeded;
use pharos_core::{PageObject, PageUrl};
use pharos_engine::status::page_report::{PageReport, recent_page_report};
use pharos_html::{ExtractOptions, RuleSet, TermWeighting, robots_directives};
use pharos_query::IndexedPage;
use pharos_store::{PageState, StoreError};

use super::cleaned_copy::{CopyLookup, raw_copy};
use super::renderer::{Rendering, ViewKind};
use super::{AppState, Service, ServiceError};
use crate::server::visitor::Visitor;

/// Maximum number of versions reported; each of them is read.
pub(crate) const MAX_VERSIONS: usize = 20;

/// Status of a page.
pub(crate) struct PageStatus {
    pub(crate) url: PageUrl,
    /// Index entry, if the page is searchable.
    pub(crate) indexed: Option<IndexedPage>,
    /// Catalog and library records; `None` if the index was built elsewhere.
    pub(crate) report: Option<PageReport>,
    /// The stored page has `noindex`.
    pub(crate) is_noindex: bool,
}

impl PageStatus {
    /// Returns the path of the cached page, if it may be shown.
    pub(crate) fn cached_page_path(&self) -> Option<String> {
        self.indexed
            .as_ref()
            .filter(|indexed| indexed.archive)
            .map(|_| format!("/snapshot/{}", self.url.id()))
    }
}

impl AppState {
    /// Returns the status of a page; `None` if it is unknown or was removed.
    pub(crate) async fn page_status(
        &self,
        visitor: &Visitor,
        url: PageUrl,
    ) -> Result<Option<PageStatus>, ServiceError> {
        self.render(&visitor.client.source, move |service, rendering| {
            let report =
                recent_page_report(&service.stores, &url, MAX_VERSIONS, || rendering.may_continue())?;
            if report.as_ref().is_some_and(|report| report.page.state == PageState::Removed) {
                return Ok(None);
            }
            let indexed = service.search.processor().page(url.id())?;
            if report.is_none() && indexed.is_none() {
                return Ok(None);
            }
            let is_noindex = match &report {
                Some(report) if indexed.is_none() => is_noindex(service, rendering, report)?,
                _ => false,
            };
            Ok(Some(PageStatus { url, indexed, report, is_noindex }))
        })
        .await
    }

    /// Returns the page object of the stored copy; `None` if the copy may not be shown or is not HTML. Parsers of other
    /// formats do not run in a serving process.
    pub(crate) async fn page_object(
        &self,
        visitor: &Visitor,
        url: PageUrl,
    ) -> Result<Option<PageObject>, ServiceError> {
        self.render(&visitor.client.source, move |service, rendering| {
            let CopyLookup::Copy(copy) = raw_copy(service, url.id())? else { return Ok(None) };
            let rules = RuleSet::named(&service.config.clean.rules, |path| fs::read_to_string(path))?;
            let content_type = copy.response.header("content-type");
            let body = copy.response.content(service.config.crawl.body_limit.bytes());
            if !pharos_html::is_html_like(content_type, &body) {
                return Ok(None);
            }
            let term_weighting = TermWeighting::from(&service.config.clean);
            let options =
                ExtractOptions { rules: &rules, term_weighting, html: true, ..ExtractOptions::default() };
            let (url, position) = (&copy.found.url, copy.found.position);
            let page = rendering.run(position, ViewKind::Object, body.len(), || {
                pharos_html::extract_page_with(url, content_type, &body, &options)
            })?;
            Ok(Some(page))
        })
        .await
    }
}

/// Returns `true` if a stored page that is not indexed asks for that with `noindex`, rather than being empty.
pub(crate) fn is_noindex(
    service: &Service,
    rendering: &Rendering,
    report: &PageReport,
) -> Result<bool, ServiceError> {
    let page = &report.page;
    let Some(position) = page.position.filter(|_| page.state == PageState::Stored && !page.indexable) else {
        return Ok(false);
    };
    let response = match service.library.response(position) {
        Err(StoreError::NoRecord(_)) => return Ok(false),
        response => response?,
    };
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let robots = robots_directives(tags.map(|(_, value)| value.as_str()), &service.config.crawl.agent);
    if (PageObject { robots, ..PageObject::default() }).no_index() {
        return Ok(true);
    }
    let content_type = response.header("content-type");
    let body = response.content(service.config.crawl.body_limit.bytes());
    if !pharos_html::is_html_like(content_type, &body) {
        return Ok(false);
    }
    let parsed = rendering
        .run(position, ViewKind::Robots, body.len(), || pharos_html::skim(&page.url, content_type, &body));
    match parsed {
        Ok(parsed) => Ok(parsed.no_index()),
        // The rest of the report is useful without it.
        Err(WorkExceeded::Steps | WorkExceeded::Time) => Ok(false),
        Err(cancelled) => Err(cancelled.into()),
    }
}
