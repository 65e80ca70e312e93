//! Status of one page: index, catalog and library combined, as far as it may be published.

use std::fs;

use pharos_core::{PageObject, PageUrl};
use pharos_engine::{Story, recent_story};
use pharos_html::{RuleSet, Weighing, Wish, robots_tag};
use pharos_query::Card;
use pharos_store::{PageState, StoreError};

use crate::service::{Rooms, Service, ServiceError, Stored, raw_copy};

/// Maximum number of versions reported; each of them is read.
pub(crate) const MAX_VERSIONS: usize = 20;

/// Status of a page.
pub(crate) struct Known {
    pub(crate) url: PageUrl,
    /// Index entry, if the page is searchable.
    pub(crate) card: Option<Card>,
    /// Catalog and library records; `None` if the index was built elsewhere.
    pub(crate) story: Option<Story>,
    /// The stored page has `noindex`.
    pub(crate) asks_not_to_be_found: bool,
}

impl Known {
    /// Returns the path of the cached page, if it may be shown.
    pub(crate) fn snapshot(&self) -> Option<String> {
        self.card.as_ref().filter(|card| card.archive).map(|_| format!("/snapshot/{}", self.url.id()))
    }
}

impl Rooms {
    /// Returns the status of a page; `None` if it is unknown or was removed.
    pub(crate) async fn known(&self, url: PageUrl) -> Result<Option<Known>, ServiceError> {
        self.blocking(move |service| {
            let story = recent_story(&service.data, &url, MAX_VERSIONS)?;
            if story.as_ref().is_some_and(|story| story.page.state == PageState::Removed) {
                return Ok(None);
            }
            let card = service.search.page(url.id())?;
            if story.is_none() && card.is_none() {
                return Ok(None);
            }
            let asks_not_to_be_found = match &story {
                Some(story) if card.is_none() => asks_not_to_be_found(service, story)?,
                _ => false,
            };
            Ok(Some(Known { url, card, story, asks_not_to_be_found }))
        })
        .await
    }

    /// Returns the page object of the stored copy; `None` if the copy may not be shown or is not HTML. Parsers of other
    /// formats do not run in a serving process.
    pub(crate) async fn object(&self, url: PageUrl) -> Result<Option<PageObject>, ServiceError> {
        self.blocking(move |service| {
            let Stored::Copy(copy) = raw_copy(service, url.id())? else { return Ok(None) };
            let rules = RuleSet::named(&service.config.clean.rules, |path| fs::read_to_string(path))?;
            let content_type = copy.response.header("content-type");
            let body = copy.response.content(service.config.crawl.body_limit.bytes());
            if !pharos_html::is_html_like(content_type, &body) {
                return Ok(None);
            }
            let weighing = Weighing::from(&service.config.clean);
            let wish = Wish { rules: &rules, weighing, html: true, ..Wish::default() };
            Ok(Some(pharos_html::understand_as(&copy.url, content_type, &body, &wish)))
        })
        .await
    }
}

/// Returns `true` if a stored page that is not indexed asks for that with `noindex`, rather than being empty.
pub(crate) fn asks_not_to_be_found(service: &Service, story: &Story) -> Result<bool, ServiceError> {
    let page = &story.page;
    let Some(position) = page.position.filter(|_| page.state == PageState::Stored && !page.indexable) else {
        return Ok(false);
    };
    let response = match service.library.response(position) {
        Err(StoreError::NoRecord(_)) => return Ok(false),
        response => response?,
    };
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let robots = robots_tag(tags.map(|(_, value)| value.as_str()), &service.config.crawl.agent);
    if (PageObject { robots, ..PageObject::default() }).no_index() {
        return Ok(true);
    }
    let content_type = response.header("content-type");
    let body = response.content(service.config.crawl.body_limit.bytes());
    Ok(pharos_html::is_html_like(content_type, &body)
        && pharos_html::understand(&page.url, content_type, &body).no_index())
}
