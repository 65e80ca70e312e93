//! One fetch task from start to end: sends the request, turns the response into a record and hands the record on.

use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{Clock, PageUrl, Timestamp};
use pharos_store::catalog::RobotsState;
use pharos_store::interpret::redirect_target;
use pharos_store::interpret::robots::{ROBOTS_LIMIT, robots_state, unreachable_reason};
use pharos_store::interpret::schedule::retry_after;
use pharos_store::interpret::status::StatusMeaning;
use pharos_store::{DuePage, LibraryEvent, LibraryRecord, RawResponse, RecordContent, RecordKind};
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use crate::fetch::FetchError;
use crate::fetch::{FetchRequest, Fetcher};
use crate::frontier::RobotsTask;
use crate::politeness::site_monitor::{CompletedRequest, ServerHealth};

/// Maximum number of redirects followed for a robots.txt (RFC 9309 §2.3.1.2: at least five).
const ROBOTS_REDIRECTS: u32 = 5;

/// Maximum size of an icon in bytes. A longer one is truncated and not shown.
const ICON_LIMIT: usize = 64 << 10;

/// Executes fetch tasks; cheap to clone.
#[derive(Clone)]
pub(crate) struct FetchWorker {
    pub(crate) fetcher: Fetcher,
    pub(crate) config: Arc<CrawlConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) records: Sender<LibraryRecord>,
}

/// One unit of fetching work: a due page or a robots.txt.
#[derive(Clone, Debug)]
pub(crate) enum FetchTask {
    Page(DuePage),
    Robots(RobotsTask),
}

/// Result of a fetch task. Its record has already been sent.
pub(crate) struct FetchReport {
    pub(crate) ended: Timestamp,
    /// Input for the site monitor. The crawl loop adds the `Crawl-delay`.
    pub(crate) request: CompletedRequest,
    pub(crate) outcome: FetchOutcome,
}

impl FetchTask {
    /// Returns the URL that is requested.
    pub(crate) fn url(&self) -> &PageUrl {
        match self {
            Self::Page(page) => &page.url,
            Self::Robots(robots) => &robots.url,
        }
    }

    /// Builds the record of a request without a response.
    pub(crate) fn failure_record(&self, reason: String, at: Timestamp) -> LibraryRecord {
        match self {
            Self::Page(page) => page_record(page, at, RecordContent::Event(LibraryEvent::Failed { reason })),
            Self::Robots(robots) => {
                let content = RecordContent::Event(LibraryEvent::Failed { reason });
                LibraryRecord {
                    hops: robots.hops,
                    attempt: 1,
                    ..LibraryRecord::new(robots.origin.clone(), at, content)
                }
            }
        }
    }

    /// Returns the outcome of a request without a response.
    pub(crate) fn failure_outcome(&self, reason: String) -> FetchOutcome {
        match self {
            Self::Page(_) => FetchOutcome::Failed(reason),
            Self::Robots(_) => FetchOutcome::Robots(RobotsState::Unreachable, Some(reason)),
        }
    }
}

/// Outcome of a fetch task.
pub(crate) enum FetchOutcome {
    /// A response to a page request.
    Page { bytes: usize, status: u16 },
    /// The server's robots.txt state, and the reason if it is unreachable.
    Robots(RobotsState, Option<String>),
    /// The robots.txt redirects to this URL.
    RobotsMoved(PageUrl),
    /// No response, with the reason.
    Failed(String),
    /// A response with an unwanted media type. The record contains the refusal.
    UnwantedType,
    /// The request was not permitted without a contact address. No record is written.
    NoContact(FetchError),
    /// The record channel is closed.
    Closed,
}

impl FetchWorker {
    pub(crate) async fn execute(self, task: FetchTask) -> FetchReport {
        let (began, stopwatch) = (self.clock.now(), Instant::now());
        let response = match &task {
            FetchTask::Page(page) => {
                let validators = Some(&page.validators).filter(|v| page.visited && !v.is_empty());
                let kind = RecordKind::of_url(&page.url);
                // Sitemaps and icons are read whatever media types are configured.
                let has_type_limit = !matches!(kind, RecordKind::Sitemap | RecordKind::Icon);
                let types = has_type_limit.then_some(self.config.types.as_slice());
                let body_limit = (kind == RecordKind::Icon).then_some(ICON_LIMIT);
                let request = FetchRequest { validators, types, body_limit, ..FetchRequest::new(&page.url) };
                self.fetcher.fetch(request).await
            }
            FetchTask::Robots(robots) => {
                let request =
                    FetchRequest { body_limit: Some(ROBOTS_LIMIT), ..FetchRequest::new(&robots.url) };
                self.fetcher.fetch(request).await
            }
        };
        let ended = self.clock.now();
        count_request(&response, stopwatch.elapsed());
        let request =
            CompletedRequest { took: stopwatch.elapsed(), ..self.completed_request(&response, ended) };
        let (record, outcome) = match (&task, response) {
            (_, Err(error @ FetchError::NoContact { .. })) => (None, FetchOutcome::NoContact(error)),
            (FetchTask::Page(page), Ok(response)) => self.page_outcome(page, response, began),
            (FetchTask::Robots(robots), Ok(response)) => {
                robots_outcome(robots, response, began, self.config.robots_forbidden_is_allowed)
            }
            (FetchTask::Page(page), Err(error @ FetchError::UnwantedType(_))) => {
                let event = LibraryEvent::Refused { reason: error.to_string() };
                (Some(page_record(page, ended, RecordContent::Event(event))), FetchOutcome::UnwantedType)
            }
            (task, Err(error)) => {
                let reason = error.to_string();
                (Some(task.failure_record(reason.clone(), ended)), task.failure_outcome(reason))
            }
        };
        let delivered = match record {
            Some(record) => self.records.send(record).await.is_ok(),
            None => true,
        };
        FetchReport { ended, request, outcome: if delivered { outcome } else { FetchOutcome::Closed } }
    }

    fn completed_request(
        &self,
        response: &Result<RawResponse, FetchError>,
        ended: Timestamp,
    ) -> CompletedRequest {
        match response {
            Ok(response) => CompletedRequest {
                health: if StatusMeaning::from_status(response.status).is_overload() {
                    ServerHealth::Overloaded(self.requested_wait(response, ended))
                } else {
                    ServerHealth::Answered
                },
                address: response.address,
                bytes: response.body.len() as u64,
                ..CompletedRequest::default()
            },
            Err(error) => {
                let health =
                    if error.is_server_fault() { ServerHealth::Unresponsive } else { ServerHealth::Answered };
                CompletedRequest { health, ..CompletedRequest::default() }
            }
        }
    }

    fn requested_wait(&self, response: &RawResponse, ended: Timestamp) -> Option<Duration> {
        response.header("Retry-After").and(retry_after(&self.config, ended, response))
    }

    fn page_outcome(
        &self,
        page: &DuePage,
        response: RawResponse,
        began: Timestamp,
    ) -> (Option<LibraryRecord>, FetchOutcome) {
        let outcome = FetchOutcome::Page { bytes: response.body.len(), status: response.status };
        (Some(page_record(page, began, RecordContent::Response(response))), outcome)
    }
}

/// Updates the request metrics: responses by status, and request duration.
fn count_request(response: &Result<RawResponse, FetchError>, took: Duration) {
    let status = response.as_ref().map_or("none".to_string(), |response| response.status.to_string());
    metrics::counter!("pharos_crawl_requests_total", "status" => status).increment(1);
    metrics::histogram!("pharos_crawl_request_seconds").record(took);
}

/// Builds a record about a page.
pub(crate) fn page_record(page: &DuePage, at: Timestamp, content: RecordContent) -> LibraryRecord {
    let attempt = page.attempts.saturating_add(1);
    let (depth, hops, origin) = (page.depth, page.hops, page.origin.clone());
    let is_refetch = page.exists;
    LibraryRecord {
        depth,
        hops,
        attempt,
        is_refetch,
        origin,
        ..LibraryRecord::new(page.url.clone(), at, content)
    }
}

/// Interprets the response to a robots.txt request.
///
/// The final response is recorded under the server's own robots.txt URL, wherever it came from. An intermediate
/// redirect is recorded only if its URL is itself a robots.txt; under any other URL it would be taken for a page.
fn robots_outcome(
    robots: &RobotsTask,
    response: RawResponse,
    at: Timestamp,
    forbidden_is_allowed: bool,
) -> (Option<LibraryRecord>, FetchOutcome) {
    let moved = redirect_target(&robots.url, &response).filter(|_| robots.hops < ROBOTS_REDIRECTS);
    let (url, outcome) = match (moved, robots_state(&response, forbidden_is_allowed)) {
        (Some(target), _) => (&robots.url, FetchOutcome::RobotsMoved(target)),
        (None, Some(state)) => {
            let failed = (state == RobotsState::Unreachable).then(|| unreachable_reason(&response));
            (&robots.origin, FetchOutcome::Robots(state, failed))
        }
        // A redirect loop, or a redirect without a valid target: unavailable, which is not the same as unreachable.
        (None, None) => (&robots.url, FetchOutcome::Robots(RobotsState::Missing, None)),
    };
    let content = RecordContent::Response(response);
    let record =
        LibraryRecord { hops: robots.hops, attempt: 1, ..LibraryRecord::new(url.clone(), at, content) };
    (Some(record).filter(|record| record.kind == RecordKind::Robots), outcome)
}
