//! One fetch task from start to end: sends the request, turns the response into a record and hands the record on.

use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{Clock, PageUrl, Timestamp};
use pharos_store::{Content, DuePage, Event, Record, Response, RobotsState};
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use crate::absorb::{redirect_target, retry_after};
use crate::fetch::{Ask, Fetcher};
use crate::fetch_error::FetchError;
use crate::frontier::RobotsErrand;
use crate::monitor::{Ending, Reply};
use crate::robots::{ROBOTS_LIMIT, is_robots_txt, robots_state};

/// Maximum number of redirects followed for a robots.txt (RFC 9309 §2.3.1.2: at least five).
const ROBOTS_REDIRECTS: u32 = 5;

/// Executes fetch tasks; cheap to clone.
#[derive(Clone)]
pub(crate) struct Messenger {
    pub(crate) fetcher: Fetcher,
    pub(crate) config: Arc<CrawlConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) records: Sender<Record>,
}

/// One unit of fetching work: a due page or a robots.txt.
#[derive(Clone, Debug)]
pub(crate) enum Errand {
    Page(DuePage),
    Robots(RobotsErrand),
}

/// Result of a fetch task. Its record has already been sent.
pub(crate) struct Report {
    pub(crate) ended: Timestamp,
    /// Input for the site monitor. The crawl loop adds the `Crawl-delay`.
    pub(crate) ending: Ending,
    pub(crate) came: Came,
}

impl Errand {
    /// Returns the URL that is requested.
    pub(crate) fn asked(&self) -> &PageUrl {
        match self {
            Self::Page(page) => &page.url,
            Self::Robots(robots) => &robots.ask,
        }
    }

    /// Builds the record of a request without a response.
    pub(crate) fn failure(&self, reason: String, at: Timestamp) -> Record {
        match self {
            Self::Page(page) => record(page, at, Content::Event(Event::Failed { reason })),
            Self::Robots(robots) => {
                let content = Content::Event(Event::Failed { reason });
                Record { hops: robots.hops, attempt: 1, ..Record::new(robots.origin.clone(), at, content) }
            }
        }
    }

    /// Returns the outcome of a request without a response.
    pub(crate) fn nothing(&self, reason: String) -> Came {
        match self {
            Self::Page(_) => Came::Nothing(reason),
            Self::Robots(_) => Came::Robots(RobotsState::Unreachable, Some(reason)),
        }
    }
}

/// Outcome of a fetch task.
pub(crate) enum Came {
    /// A response to a page request.
    Page { bytes: usize },
    /// The server's robots.txt state, and the reason if it is unreachable.
    Robots(RobotsState, Option<String>),
    /// The robots.txt redirects to this URL.
    Moved(PageUrl),
    /// No response, with the reason.
    Nothing(String),
    /// A response with an unwanted media type. The record contains the refusal.
    Unwanted,
    /// The request was not permitted without a contact address. No record is written.
    NoContact(FetchError),
    /// The record channel is closed.
    Closed,
}

impl Messenger {
    pub(crate) async fn run(self, errand: Errand) -> Report {
        let (began, stopwatch) = (self.clock.now(), Instant::now());
        let answer = match &errand {
            Errand::Page(page) => {
                let validators = Some(&page.validators).filter(|v| page.visited && !v.is_empty());
                let types = Some(self.config.types.as_slice()).filter(|_| !is_listing(&page.url));
                self.fetcher.fetch(Ask { validators, types, ..Ask::page(&page.url) }).await
            }
            Errand::Robots(robots) => {
                let ask = Ask { body_limit: Some(ROBOTS_LIMIT), ..Ask::page(&robots.ask) };
                self.fetcher.fetch(ask).await
            }
        };
        let ended = self.clock.now();
        count(&answer, stopwatch.elapsed());
        let ending = Ending { took: stopwatch.elapsed(), ..self.ending(&answer, ended) };
        let (record, came) = match (&errand, answer) {
            (_, Err(error @ FetchError::NoContact { .. })) => (None, Came::NoContact(error)),
            (Errand::Page(page), Ok(response)) => self.page_answered(page, response, began),
            (Errand::Robots(robots), Ok(response)) => {
                robots_answered(robots, response, began, self.config.robots_forbidden_is_allowed)
            }
            (Errand::Page(page), Err(error @ FetchError::UnwantedType(_))) => {
                let event = Event::Refused { reason: error.to_string() };
                (Some(record(page, ended, Content::Event(event))), Came::Unwanted)
            }
            (errand, Err(error)) => {
                let reason = error.to_string();
                (Some(errand.failure(reason.clone(), ended)), errand.nothing(reason))
            }
        };
        let delivered = match record {
            Some(record) => self.records.send(record).await.is_ok(),
            None => true,
        };
        Report { ended, ending, came: if delivered { came } else { Came::Closed } }
    }

    fn ending(&self, answer: &Result<Response, FetchError>, ended: Timestamp) -> Ending {
        match answer {
            Ok(response) => Ending {
                reply: match response.status {
                    429 | 503 => Reply::Overloaded(self.asked_to_wait(response, ended)),
                    _ => Reply::Answered,
                },
                address: response.address,
                bytes: response.body.len() as u64,
                ..Ending::default()
            },
            Err(error) => {
                let reply = if error.is_servers_fault() { Reply::Silent } else { Reply::Answered };
                Ending { reply, ..Ending::default() }
            }
        }
    }

    fn asked_to_wait(&self, response: &Response, ended: Timestamp) -> Option<Duration> {
        response.header("Retry-After").and(retry_after(&self.config, ended, response))
    }

    fn page_answered(&self, page: &DuePage, response: Response, began: Timestamp) -> (Option<Record>, Came) {
        let bytes = response.body.len();
        (Some(record(page, began, Content::Response(response))), Came::Page { bytes })
    }
}

/// Updates the request metrics: responses by status, and request duration.
fn count(answer: &Result<Response, FetchError>, took: Duration) {
    let status = answer.as_ref().map_or("none".to_string(), |response| response.status.to_string());
    metrics::counter!("pharos_crawl_requests_total", "status" => status).increment(1);
    metrics::histogram!("pharos_crawl_request_seconds").record(took);
}

/// Returns `true` if the URL looks like a sitemap. Sitemaps are read whatever media types are configured.
fn is_listing(url: &PageUrl) -> bool {
    let path = url.as_url().path();
    path.contains("sitemap") && [".xml", ".xml.gz", ".txt", ".gz"].iter().any(|end| path.ends_with(end))
}

/// Builds a record about a page.
pub(crate) fn record(page: &DuePage, at: Timestamp, content: Content) -> Record {
    let attempt = page.attempts.saturating_add(1);
    let (depth, hops, origin) = (page.depth, page.hops, page.origin.clone());
    let again = page.there;
    Record { depth, hops, attempt, again, origin, ..Record::new(page.url.clone(), at, content) }
}

/// Interprets the response to a robots.txt request.
///
/// The final response is recorded under the server's own robots.txt URL, wherever it came from. An intermediate
/// redirect is recorded only if its URL is itself a robots.txt; under any other URL it would be taken for a page.
fn robots_answered(
    robots: &RobotsErrand,
    response: Response,
    at: Timestamp,
    forbidden_is_allowed: bool,
) -> (Option<Record>, Came) {
    let moved = redirect_target(&robots.ask, &response).filter(|_| robots.hops < ROBOTS_REDIRECTS);
    let (url, came) = match (moved, robots_state(&response, forbidden_is_allowed)) {
        (Some(target), _) => (&robots.ask, Came::Moved(target)),
        (None, Some(state)) => {
            let failed = (state == RobotsState::Unreachable).then(|| format!("status {}", response.status));
            (&robots.origin, Came::Robots(state, failed))
        }
        // A redirect loop, or a redirect without a valid target: unavailable, which is not the same as unreachable.
        (None, None) => (&robots.ask, Came::Robots(RobotsState::Missing, None)),
    };
    let content = Content::Response(response);
    let record = Record { hops: robots.hops, attempt: 1, ..Record::new(url.clone(), at, content) };
    (Some(record).filter(|r| is_robots_txt(&r.url)), came)
}
