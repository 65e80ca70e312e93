//! Selects a version of a stored page, checks whether it may be shown, and sanitises it.
//!
//! `noarchive` in the latest version applies to all versions, `noarchive` in an older one to that version.

use std::fs;
use std::sync::Arc;

use pharos_core::work::WorkExceeded;
use pharos_core::{LibraryPosition, PageId, PageObject, Timestamp};
use pharos_engine::status::page_versions::{DistinctVersion, PageVersions};
use pharos_html::cached_page::{
    COLOURS, CachedPage, HighlightOptions, is_displayable, sanitise_cleaned, sanitise_page,
};
use pharos_html::{ExtractOptions, RuleSet, TermWeighting, robots_directives};
use pharos_query::IndexedPage;
use pharos_store::catalog::PageProblem;
use pharos_store::{DerivedReader, Library, PageState, RawResponse, StoreError};

use super::renderer::{RenderedView, Rendering, View, ViewKey, ViewKind};
use super::{AppState, Service, ServiceError};
use crate::server::visitor::Visitor;

/// A request for a cached page.
pub(crate) struct CachedPageRequest {
    pub(crate) id: PageId,
    /// The version at this time; the current one if `None`.
    pub(crate) at: Option<Timestamp>,
    pub(crate) view: PageView,
    /// Words to highlight.
    pub(crate) query: String,
    /// Label of the links to the next occurrence.
    pub(crate) next: &'static str,
    /// Maximum number of versions listed.
    pub(crate) versions: usize,
}

/// A view of a cached page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum PageView {
    /// The original layout, as far as it is safe.
    #[default]
    Layout,
    /// The main content, which is searched.
    Text,
}

/// Result of looking up a cached page.
pub(crate) enum CachedPageLookup {
    Missing,
    /// The page has no version of that time.
    NoVersion(IndexedPage),
    /// The author does not allow copies.
    Withheld(IndexedPage),
    Copy(Box<CachedCopy>),
}

/// A sanitised stored page.
pub(crate) struct CachedCopy {
    pub(crate) indexed: IndexedPage,
    /// Words of the query, at most as many as there are colours.
    pub(crate) words: Vec<String>,
    /// Content of `<body>` with highlighted words, and their counts.
    pub(crate) shown: Arc<RenderedView>,
    /// When the content was stored, and when it was last seen unchanged.
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
    /// The newest versions, newest first.
    pub(crate) versions: Vec<ListedVersion>,
    /// Total number of versions.
    pub(crate) of_versions: usize,
    /// Time at which the server was found to have the page no longer, if so.
    pub(crate) gone_since: Option<Timestamp>,
}

/// A version in the list.
pub(crate) struct ListedVersion {
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
    /// The content is stored.
    pub(crate) is_kept: bool,
    /// The version is the one being shown.
    pub(crate) is_shown: bool,
}

impl AppState {
    /// Returns `true` if a page is in the library alone, because its server no longer has it.
    pub(crate) async fn is_gone_page(&self, id: PageId) -> Result<bool, ServiceError> {
        self.run_blocking(move |service| Ok(find_gone_page(service, id)?.is_some())).await
    }

    /// Returns the cached page.
    pub(crate) async fn cached_page(
        &self,
        visitor: &Visitor,
        request: CachedPageRequest,
    ) -> Result<CachedPageLookup, ServiceError> {
        let source = &visitor.client.source;
        self.render(source, move |service, rendering| find_cached_page(service, rendering, &request)).await
    }
}

/// Finds a cached page and sanitises it.
fn find_cached_page(
    service: &Service,
    rendering: &Rendering,
    request: &CachedPageRequest,
) -> Result<CachedPageLookup, ServiceError> {
    let (indexed, gone_since) = match service.search.processor().page(request.id)? {
        Some(indexed) => (indexed, None),
        None => match find_gone_page(service, request.id)? {
            Some((page, at)) => (page, Some(at)),
            None => return Ok(CachedPageLookup::Missing),
        },
    };
    if !indexed.archive {
        return Ok(CachedPageLookup::Withheld(indexed));
    }
    let url = &indexed.url;
    let versions = PageVersions::load(&service.stores, url).unwrap_or_else(|error| {
        tracing::warn!(%error, %url, "cannot list the versions of a page");
        PageVersions::default()
    });
    let library = &*service.library;
    let current = read_response(library, indexed.position)?.filter(|_| !versions.is_removed);
    let Some(current) = current else { return Ok(CachedPageLookup::Missing) };
    let agent = &service.config.crawl.agent;
    if !allows_copies(&current, agent) {
        return Ok(CachedPageLookup::Withheld(indexed));
    }
    let Some(selected) = SelectedVersion::select(&versions, &indexed, request.at, library) else {
        return Ok(CachedPageLookup::NoVersion(indexed));
    };
    let is_current = selected.position == indexed.position;
    let response = if is_current { Some(current) } else { read_response(library, selected.position)? };
    let Some(response) = response else { return Ok(CachedPageLookup::NoVersion(indexed)) };
    let words = query_words(service, &request.query);
    let key = ViewKey {
        page: request.id,
        position: selected.position,
        kind: ViewKind::CachedPage(request.view),
        query: words.join("\n"),
        label: request.next,
    };
    let is_gone = gone_since.is_some();
    let stored =
        StoredVersion { response: &response, indexed: &indexed, position: selected.position, is_gone };
    let shown = rendering.view(key, || stored.render(service, rendering, request, &words))?;
    let View::Shown(shown) = shown else { return Ok(CachedPageLookup::Withheld(indexed)) };
    let (listed, of_versions) = list_versions(&versions, selected.since, request.versions, library);
    Ok(CachedPageLookup::Copy(Box::new(CachedCopy {
        indexed,
        words,
        shown,
        since: selected.since,
        until: selected.until,
        versions: listed,
        of_versions,
        gone_since,
    })))
}

/// Returns a page that its server no longer has, with its newest stored version and the time of the last visit. Pages that
/// were removed, or that a rule forbids, are not returned.
fn find_gone_page(service: &Service, id: PageId) -> Result<Option<(IndexedPage, Timestamp)>, ServiceError> {
    let Some(catalog) = service.stores.catalog()? else { return Ok(None) };
    let Some(page) = catalog
        .page(id)?
        .filter(|page| page.state == PageState::Stored && page.problem == Some(PageProblem::NotFound))
    else {
        return Ok(None);
    };
    let versions = PageVersions::load(&service.stores, &page.url)?;
    let library = &*service.library;
    let newest = versions.iter().find_map(|version| Some((version.until, version.position(library)?)));
    let Some((fetched, position)) = newest else { return Ok(None) };
    let (title, lang) = (String::new(), String::new());
    let gone = IndexedPage { url: page.url, title, lang, fetched, position, archive: true };
    Ok(Some((gone, page.visited_at.unwrap_or(fetched))))
}

/// The selected version.
struct SelectedVersion {
    position: LibraryPosition,
    since: Timestamp,
    until: Timestamp,
}

impl SelectedVersion {
    /// Selects the version of a time, or the indexed one.
    fn select(
        versions: &PageVersions,
        indexed: &IndexedPage,
        at: Option<Timestamp>,
        library: &dyn Library,
    ) -> Option<Self> {
        let current = versions.holding(indexed.position);
        let (version, position) = match at {
            None => (current, indexed.position),
            Some(at) => match versions.at(at, library) {
                // Same content as the indexed version, whose index entry can be used.
                Some((version, _)) if Some(version) == current => (current, indexed.position),
                Some((version, position)) => (Some(version), position),
                None if current.is_none() && indexed.fetched.seconds() <= at.seconds() => {
                    (None, indexed.position)
                }
                None => return None,
            },
        };
        let (since, until) =
            version.map_or((indexed.fetched, indexed.fetched), |version| (version.since, version.until));
        Some(Self { position, since, until })
    }
}

/// Returns the newest versions and their total number. Of versions with the same start second only the newest is listed.
fn list_versions(
    versions: &PageVersions,
    shown: Timestamp,
    limit: usize,
    library: &dyn Library,
) -> (Vec<ListedVersion>, usize) {
    let mut distinct: Vec<&DistinctVersion> = versions.iter().collect();
    distinct.dedup_by_key(|version| version.since.seconds());
    let listed = distinct.iter().take(limit).map(|version| ListedVersion {
        since: version.since,
        until: version.until,
        is_kept: version.position(library).is_some(),
        is_shown: version.since == shown,
    });
    (listed.collect(), distinct.len())
}

/// Reads the response at a position; `None` if it is no longer stored or unreadable.
pub(super) fn read_response(
    library: &dyn Library,
    position: LibraryPosition,
) -> Result<Option<RawResponse>, ServiceError> {
    match library.response(position) {
        Ok(response) => Ok(Some(response)),
        Err(StoreError::NoRecord(_)) => Ok(None),
        Err(error @ StoreError::Damaged { .. }) => {
            tracing::warn!(%error, "a stored page is unreadable");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns `true` if the response headers allow `agent` to show copies.
pub(crate) fn allows_copies(response: &RawResponse, agent: &str) -> bool {
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let robots = robots_directives(tags.map(|(_, value)| value.as_str()), agent);
    !PageObject { robots, ..PageObject::default() }.no_archive()
}

fn query_words(service: &Service, query: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in service.search.processor().words(query) {
        if words.len() < COLOURS && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// The stored response of a version.
struct StoredVersion<'a> {
    response: &'a RawResponse,
    indexed: &'a IndexedPage,
    position: LibraryPosition,
    /// The page is in the library alone, so that its directives must be read from the stored response.
    is_gone: bool,
}

impl StoredVersion<'_> {
    fn render(
        &self,
        service: &Service,
        rendering: &Rendering,
        request: &CachedPageRequest,
        words: &[String],
    ) -> Result<View, ServiceError> {
        let body = self.response.content(service.config.crawl.body_limit.bytes());
        let (url, content_type) = (&self.indexed.url, self.response.header("content-type"));
        let run = Budgeted { rendering, position: self.position, view: request.view, bytes: body.len() };
        let mut title = self.indexed.title.clone();
        if !self.is_current() {
            let is_html = pharos_html::is_html_like(content_type, &body);
            let parsed = run.within_budget(|| match is_html {
                true => pharos_html::skim(url, content_type, &body),
                false => PageObject::default(),
            })?;
            let is_hidden = parsed.no_archive() || (self.is_gone && parsed.no_index());
            if is_hidden || !allows_copies(self.response, &service.config.crawl.agent) {
                return Ok(View::Withheld);
            }
            title = if parsed.title.trim().is_empty() { title } else { parsed.title };
        }
        let has_layout = is_displayable(content_type, &body);
        let text = match request.view {
            PageView::Layout if has_layout => None,
            _ => self.main_content(service, &run, content_type, &body)?,
        };
        let marking = HighlightOptions { terms: words, next_label: request.next };
        let (view, CachedPage { html, counts }) = run.within_budget(|| match text {
            Some(page) => (PageView::Text, sanitise_cleaned(url, &page, &marking)),
            None => (PageView::Layout, sanitise_page(url, content_type, &body, &marking)),
        })?;
        Ok(View::Shown(Arc::new(RenderedView { title, html, counts, view, has_layout })))
    }

    /// Returns `true` if this is the indexed version.
    fn is_current(&self) -> bool {
        self.position == self.indexed.position && !self.is_gone
    }

    /// Returns the main content. HTML is cleaned here. For other documents the stored page object is used, or the text in the
    /// index for the indexed version: their parsers do not run in a serving process.
    fn main_content(
        &self,
        service: &Service,
        run: &Budgeted<'_>,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Result<Option<PageObject>, ServiceError> {
        let url = &self.indexed.url;
        if pharos_html::is_html_like(content_type, body) {
            let config = &service.config.clean;
            let rules = RuleSet::named(&config.rules, |path| fs::read_to_string(path))?;
            let options = ExtractOptions {
                rules: &rules,
                term_weighting: TermWeighting::from(config),
                html: true,
                ..ExtractOptions::default()
            };
            let page =
                run.within_budget(|| pharos_html::extract_page_with(url, content_type, body, &options))?;
            return Ok(Some(page));
        }
        let derived = DerivedReader::open(&service.data.library(), pharos_html::VERSION);
        if let Some(stored) = derived.page_without_links(self.position)?.filter(|stored| stored.url == *url) {
            return Ok(Some(stored.page));
        }
        if !self.is_current() {
            return Ok(None);
        }
        let page = service.search.processor().page_with_text(url.id())?;
        Ok(page.map(|(page, text)| PageObject { title: page.title, text, ..PageObject::default() }))
    }
}

/// The budget of a stored version.
struct Budgeted<'a> {
    rendering: &'a Rendering,
    position: LibraryPosition,
    view: PageView,
    bytes: usize,
}

impl Budgeted<'_> {
    fn within_budget<T>(&self, computation: impl FnOnce() -> T) -> Result<T, WorkExceeded> {
        self.rendering.run(self.position, ViewKind::CachedPage(self.view), self.bytes, computation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_tags_apply_to_all_agents_or_to_the_named_one() {
        let allowed = |tags: &[&str]| {
            let headers = tags.iter().map(|tag| ("X-Robots-Tag".to_string(), tag.to_string())).collect();
            allows_copies(&RawResponse { headers, ..RawResponse::default() }, "Pharos")
        };
        assert!(allowed(&[]));
        assert!(allowed(&["noindex, nofollow", "unavailable_after: 25 Jun 2030 15:00:00 PST"]));
        assert!(!allowed(&["noindex, NOARCHIVE"]));
        assert!(!allowed(&["all", "none"]));
        assert!(!allowed(&["pharos: noarchive"]));
        assert!(!allowed(&["pharos: nofollow, noarchive"]));
        assert!(allowed(&["otherbot: nofollow, noarchive"]));
        assert!(!allowed(&["otherbot: noarchive", "noarchive"]));
        assert!(!allowed(&["max-snippet: 20, noarchive"]));
    }
}
