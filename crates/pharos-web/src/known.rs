//! What is known of one page, as far as anybody may know it: the index, the catalog and the library put together.

use std::fs;

use pharos_core::{PageObject, PageUrl};
use pharos_engine::{Story, recent_story};
use pharos_html::{RuleSet, Weighing, Wish, robots_tag};
use pharos_query::Card;
use pharos_store::{PageState, StoreError};

use crate::service::{Rooms, Service, ServiceError, Stored, raw_copy};

/// Versions of a page that are told of; each of them is read.
pub(crate) const MAX_VERSIONS: usize = 20;

/// What is known of a page.
pub(crate) struct Known {
    pub(crate) url: PageUrl,
    /// What can be searched of it.
    pub(crate) card: Option<Card>,
    /// What the catalog and the library say; nothing where the index was made elsewhere.
    pub(crate) story: Option<Story>,
    /// It was read, and asks not to be found.
    pub(crate) asks_not_to_be_found: bool,
}

impl Known {
    /// Where its snapshot is, if it may be shown.
    pub(crate) fn snapshot(&self) -> Option<String> {
        self.card.as_ref().filter(|card| card.archive).map(|_| format!("/snapshot/{}", self.url.id()))
    }
}

impl Rooms {
    /// What is known of a page; nothing of one that was taken out.
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

    /// The page object of the stored copy of a page; nothing where the copy may not be shown or is no HTML, whose readers
    /// are not for a process that serves visitors.
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

/// A page that answered well and is not to be found: did it ask for that, or is there nothing in it to be found by?
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
