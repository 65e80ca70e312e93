//! When a page that is stored is visited again (网页重访策略).
//!
//! A policy is asked after every visit that settled what the page says. The uniform one is there; laws that learn from
//! how often a page changed stand behind the same trait.

mod uniform;

use std::time::Duration;

use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;

pub(crate) use uniform::Uniform;

/// Decides how long a page is left alone.
pub(crate) trait RefreshPolicy {
    /// The wait until the next visit; `None`: never again.
    fn interval(&self, visit: &Visit) -> Option<Duration>;
}

/// A visit that has just happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    /// What kind of page it was.
    pub(crate) kind: PageKind,
    /// HTTP status.
    pub(crate) status: u16,
}

/// Kinds of pages that change at different rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageKind {
    /// The first page of a site.
    Home,
    /// A page that mostly leads elsewhere: what is new on a site shows here first.
    Hub,
    /// A sitemap or a news feed, made for being asked again.
    Feed,
    /// Everything else.
    #[default]
    Page,
}

impl PageKind {
    /// The kind of a page by its address, where its content says nothing special.
    pub fn of(url: &PageUrl) -> Self {
        if url.path_and_query() == "/" { Self::Home } else { Self::Page }
    }
}

/// The policy that a configuration asks for.
pub(crate) fn policy(config: &CrawlConfig) -> impl RefreshPolicy {
    Uniform {
        home: config.refresh_home,
        hub: config.refresh_hub,
        feed: config.refresh_feed,
        page: config.refresh,
        shortest: config.refresh_at_most_every,
    }
}
