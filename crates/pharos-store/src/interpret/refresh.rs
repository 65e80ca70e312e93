//! Refresh policies (网页重访策略): when a stored page is visited again.
//!
//! The policy is consulted after every conclusive visit. The uniform policy is implemented; policies that learn the
//! change rate of a page can implement the same trait.

mod uniform;

use std::time::Duration;

use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;

use super::status::StatusMeaning;
pub(crate) use uniform::UniformPolicy;

/// Chooses the interval between two visits.
pub(crate) trait RefreshPolicy {
    /// Returns the wait until the next visit, or `None` for never.
    fn interval(&self, visit: &ConclusiveVisit) -> Option<Duration>;
}

/// A conclusive visit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConclusiveVisit {
    pub(crate) class: RefreshClass,
    pub(crate) meaning: StatusMeaning,
}

/// Classes of pages that change at different rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshClass {
    /// The home page of a site.
    Home,
    /// A page that mostly consists of links: new pages of a site appear here first.
    Hub,
    /// A sitemap or a feed.
    Feed,
    /// Any other page.
    #[default]
    Page,
}

impl RefreshClass {
    /// Returns the class of a page by its URL, where its content gives no better one.
    pub fn of_url(url: &PageUrl) -> Self {
        if url.path_and_query() == "/" { Self::Home } else { Self::Page }
    }
}

/// Returns the configured policy.
pub(crate) fn policy(config: &CrawlConfig) -> impl RefreshPolicy {
    UniformPolicy {
        home: config.refresh_home,
        hub: config.refresh_hub,
        feed: config.refresh_feed,
        page: config.refresh,
        shortest: config.refresh_at_most_every,
    }
}
