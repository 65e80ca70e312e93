//! One request from beginning to end: ask, make a record of what came, hand it on.

use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{Clock, PageUrl, Timestamp};
use pharos_store::{Content, DuePage, Event, Record, Response, RobotsState};
use tokio::sync::mpsc::Sender;

use crate::absorb::{redirect_target, retry_after};
use crate::fetch::{FetchError, Fetcher};
use crate::frontier::RobotsErrand;
use crate::robots::{ROBOTS_LIMIT, is_robots_txt, robots_state};

/// Redirects of a robots.txt that are followed (RFC 9309 §2.3.1.2: at least five).
const ROBOTS_REDIRECTS: u32 = 5;

/// What every request needs; cheap to clone.
#[derive(Clone)]
pub(crate) struct Messenger {
    pub(crate) fetcher: Fetcher,
    pub(crate) config: Arc<CrawlConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) records: Sender<Record>,
}

/// What a request was for.
#[derive(Clone, Debug)]
pub(crate) enum Errand {
    Page(DuePage),
    Robots(RobotsErrand),
}

/// How a request ended, its record handed on already.
pub(crate) struct Report {
    pub(crate) ended: Timestamp,
    pub(crate) came: Came,
}

impl Errand {
    /// The address that is asked.
    pub(crate) fn asked(&self) -> &PageUrl {
        match self {
            Self::Page(page) => &page.url,
            Self::Robots(robots) => &robots.ask,
        }
    }

    /// The record of a request that gave no answer.
    pub(crate) fn failure(&self, reason: String, at: Timestamp) -> Record {
        match self {
            Self::Page(page) => record(page, at, Content::Event(Event::Failed { reason })),
            Self::Robots(robots) => {
                let content = Content::Event(Event::Failed { reason });
                Record { hops: robots.hops, attempt: 1, ..Record::new(robots.origin.clone(), at, content) }
            }
        }
    }

    /// What it means that no answer came.
    pub(crate) fn nothing(&self, reason: String) -> Came {
        match self {
            Self::Page(_) => Came::Nothing(reason),
            Self::Robots(_) => Came::Robots(RobotsState::Unreachable, Some(reason)),
        }
    }
}

/// What came of a request.
pub(crate) enum Came {
    /// An answer to a page.
    Page { bytes: usize, asked_to_wait: Option<Duration> },
    /// A server's rules, and why there are none if it did not answer.
    Robots(RobotsState, Option<String>),
    /// A robots.txt is elsewhere.
    Moved(PageUrl),
    /// No answer.
    Nothing(String),
    /// We may not ask there; there is no record of it.
    NoContact(FetchError),
    /// Nobody takes records any more.
    Closed,
}

impl Messenger {
    pub(crate) async fn run(self, errand: Errand) -> Report {
        let began = self.clock.now();
        let answer = match &errand {
            Errand::Page(page) => self.fetcher.get(&page.url).await,
            Errand::Robots(robots) => self.fetcher.get_up_to(&robots.ask, ROBOTS_LIMIT).await,
        };
        let ended = self.clock.now();
        let (record, came) = match (&errand, answer) {
            (_, Err(error @ FetchError::NoContact(_))) => (None, Came::NoContact(error)),
            (Errand::Page(page), Ok(response)) => self.page_answered(page, response, began, ended),
            (Errand::Robots(robots), Ok(response)) => robots_answered(robots, response, began),
            (errand, Err(error)) => {
                let reason = error.to_string();
                (Some(errand.failure(reason.clone(), ended)), errand.nothing(reason))
            }
        };
        let delivered = match record {
            Some(record) => self.records.send(record).await.is_ok(),
            None => true,
        };
        Report { ended, came: if delivered { came } else { Came::Closed } }
    }

    fn page_answered(
        &self,
        page: &DuePage,
        response: Response,
        began: Timestamp,
        ended: Timestamp,
    ) -> (Option<Record>, Came) {
        let bytes = response.body.len();
        let asked_to_wait = response.header("Retry-After").and(retry_after(&self.config, ended, &response));
        (Some(record(page, began, Content::Response(response))), Came::Page { bytes, asked_to_wait })
    }
}

/// A record about a page.
pub(crate) fn record(page: &DuePage, at: Timestamp, content: Content) -> Record {
    let attempt = page.attempts.saturating_add(1);
    let (depth, hops, origin) = (page.depth, page.hops, page.origin.clone());
    Record { depth, hops, attempt, origin, ..Record::new(page.url.clone(), at, content) }
}

/// The last answer stands under the server's own robots.txt, wherever it came from. A redirect on the way is recorded
/// where it is itself a robots.txt; under another address it would be taken for a page.
fn robots_answered(robots: &RobotsErrand, response: Response, at: Timestamp) -> (Option<Record>, Came) {
    let moved = redirect_target(&robots.ask, &response).filter(|_| robots.hops < ROBOTS_REDIRECTS);
    let (url, came) = match (moved, robots_state(&response)) {
        (Some(target), _) => (&robots.ask, Came::Moved(target)),
        (None, Some(state)) => {
            let failed = (state == RobotsState::Unreachable).then(|| format!("status {}", response.status));
            (&robots.origin, Came::Robots(state, failed))
        }
        // Redirected without end or without aim: unavailable, which is not unreachable.
        (None, None) => (&robots.ask, Came::Robots(RobotsState::Missing, None)),
    };
    let content = Content::Response(response);
    let record = Record { hops: robots.hops, attempt: 1, ..Record::new(url.clone(), at, content) };
    (Some(record).filter(|r| is_robots_txt(&r.url)), came)
}
