//! The state shared by all handlers, and the calls to search, library and cleaning.
//!
//! Those calls block and use CPU time, so they run on the worker pool, a bounded number at once.

use std::fs;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pharos_core::config::CleanConfig;
use pharos_core::{Config, PageId, PageObject, PageUrl};
use pharos_engine::{Builds, EngineError};
use pharos_html::snapshot::{Marking, safe_html};
use pharos_html::{Explanation, RuleSet, RulesError, Weighing, Wish};
use pharos_mining::Memory;
use pharos_query::{Answer, Card, QueryError, Request, Search, Suggestion};
use pharos_store::{DataDir, Library, Response as StoredResponse, StoreError};
use thiserror::Error;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinError;

use crate::admin::{Desk, DeskError};
use crate::api;
use crate::learning::{Learning, Shared};
use crate::metrics::{Metrics, QUERY_SECONDS, SHED, STAGE_SECONDS, SUGGEST_SECONDS};
use crate::pool::Pool;
use crate::rate::Rates;
use crate::settings::SettingsSource;
use crate::stored::{self, Lookup, Wanted, allows_copies};
use crate::unsent::Unsent;

/// Pages with more lines are cleaned without an explanation, which takes 12 KB of memory per line.
const MAX_EXPLAINED_LINES: usize = 5_000;

/// Delay before a request is rejected because the queue is full.
const SHED_AFTER: Duration = Duration::from_secs(1);

/// Maximum size of the HTML of a cleaned page.
const MAX_CLEANED_BYTES: usize = 1 << 20;

/// Dependencies of the web server.
#[derive(Clone)]
pub struct Service {
    /// The data directory.
    pub data: DataDir,
    /// Query execution.
    pub search: Arc<Search>,
    /// Stored pages.
    pub library: Arc<dyn Library>,
    /// Settings at start.
    pub config: Arc<Config>,
    /// Logging and learning.
    pub learning: Arc<Learning>,
    /// Handle of the metrics recorder; see [`install_metrics`](crate::install_metrics).
    pub metrics: Metrics,
    /// Source of the settings, for the operator's desk.
    pub settings: SettingsSource,
    /// Index builds started by operators.
    pub builds: Arc<Builds>,
}

/// Internal errors. The client gets a generic message, the log the error.
#[derive(Debug, Error)]
pub(crate) enum ServiceError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Desk(#[from] DeskError),
    #[error("a stored page has the invalid URL `{0}`")]
    Address(String),
    #[error("a worker panicked")]
    Broken(#[from] RecvError),
    #[error(transparent)]
    Stopped(#[from] JoinError),
    #[error("the query queue is full")]
    Busy,
}

impl IntoResponse for ServiceError {
    fn into_response(self) -> Response {
        if matches!(self, Self::Busy | Self::Desk(DeskError::Busy)) {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        tracing::error!(error = %self, "request failed");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
}

/// Result of looking up a stored copy.
pub(crate) enum Stored<T> {
    Missing,
    /// The author does not allow copies.
    Withheld(Card),
    Copy(T),
}

impl<T> Stored<T> {
    fn map<U>(self, make: impl FnOnce(T) -> U) -> Stored<U> {
        match self {
            Stored::Missing => Stored::Missing,
            Stored::Withheld(found) => Stored::Withheld(found),
            Stored::Copy(copy) => Stored::Copy(make(copy)),
        }
    }
}

/// A page as its server sent it.
pub(crate) struct RawCopy {
    found: Card,
    pub(crate) url: PageUrl,
    pub(crate) response: StoredResponse,
}

/// A stored page with its main content.
pub(crate) struct CleanedCopy {
    pub(crate) found: Card,
    /// Stored size in bytes.
    pub(crate) bytes: usize,
    /// `None` if the page is not HTML.
    pub(crate) cleaned: Option<Cleaned>,
}

/// A page after cleaning.
pub(crate) struct Cleaned {
    /// Its `html` is not sanitised; use the field `html` below for display.
    pub(crate) page: PageObject,
    /// Main content, sanitised like a cached page.
    pub(crate) html: String,
    /// Classification of each line; `None` if the page is too large.
    pub(crate) explanation: Option<Explanation>,
}

/// State shared by all handlers.
#[derive(Clone)]
pub(crate) struct Rooms(Arc<Inside>);

struct Inside {
    service: Service,
    rates: Rates,
    /// Worker threads for blocking and CPU-bound work.
    pool: Pool,
    api: api::Kept,
    desk: Arc<Desk>,
    unsent: Arc<Unsent>,
    /// Cached number of searchable pages.
    pages: Remembered<u64>,
    /// `true` once the server shuts down.
    closing: watch::Sender<bool>,
}

impl Rooms {
    pub(crate) fn new(service: Service) -> io::Result<Self> {
        // Twice the number of CPUs, as some jobs wait for a disk.
        let at_once = 2 * available_parallelism().map_or(2, usize::from);
        let pool = Pool::start(at_once, service.config.web.waiting)?;
        let desk = Desk::open(&service.config, &service.data)?;
        desk.count_queries(pool.waiting());
        Ok(Self(Arc::new(Inside {
            rates: Rates::of(&service.config.web),
            api: api::Kept::new(&service.config),
            desk,
            pool,
            service,
            unsent: Arc::default(),
            pages: Remembered::default(),
            closing: watch::Sender::new(false),
        })))
    }

    pub(crate) fn service(&self) -> &Service {
        &self.0.service
    }

    /// Signals shutdown, which ends open streams.
    pub(crate) fn close(&self) {
        self.0.closing.send_replace(true);
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.0.closing.borrow()
    }

    /// Waits for shutdown.
    pub(crate) async fn closing(&self) {
        let _ = self.0.closing.subscribe().wait_for(|closing| *closing).await;
    }

    pub(crate) fn unsent(&self) -> &Arc<Unsent> {
        &self.0.unsent
    }

    pub(crate) fn rates(&self) -> &Rates {
        &self.0.rates
    }

    pub(crate) fn api(&self) -> &api::Kept {
        &self.0.api
    }

    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.0.desk
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.service.config
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.service.metrics
    }

    /// Answers a query, from the cache or through the queue.
    pub(crate) async fn run(&self, request: Request) -> Result<Answer, ServiceError> {
        let start = Instant::now();
        let service = &self.0.service;
        let mut answer = match service.search.known(&request)? {
            Some(known) => known,
            None => self.search(request).await?,
        };
        let learning = &service.learning.shared;
        learning.answered(start.elapsed(), answer.cache);
        answer.suggestions = learning.related(&answer.query);
        Ok(answer)
    }

    async fn search(&self, request: Request) -> Result<Answer, ServiceError> {
        self.blocking(move |service| {
            let start = Instant::now();
            let answer = service.search.run(&request);
            metrics::histogram!(QUERY_SECONDS).record(start.elapsed());
            Ok(answer.inspect_err(|_| service.learning.shared.failed())?)
        })
        .await
    }

    /// Returns pages similar to one.
    pub(crate) async fn similar(&self, url: PageUrl, size: usize) -> Result<Answer, ServiceError> {
        self.blocking(move |service| {
            let answer = service.search.similar(&url, size)?;
            // The query was not typed by a user: there is nothing to correct.
            Ok(Answer { corrected: None, ..answer })
        })
        .await
    }

    /// Completes a partial query.
    pub(crate) fn suggest(&self, typed: &str, count: usize) -> Vec<Suggestion> {
        let start = Instant::now();
        let suggestions = self.0.service.search.help().suggest(typed, count);
        metrics::histogram!(SUGGEST_SECONDS).record(start.elapsed());
        suggestions
    }

    /// Returns the learning state.
    pub(crate) fn learning(&self) -> &Shared {
        &self.0.service.learning.shared
    }

    /// Reads from the memory of past queries.
    pub(crate) async fn recall<T: Default + Send + 'static>(
        &self,
        recall: impl FnOnce(&Memory) -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        self.blocking(move |service| Ok(service.learning.shared.recall(recall))).await
    }

    /// Returns the number of searchable pages, possibly cached.
    pub(crate) async fn pages(&self) -> Result<u64, ServiceError> {
        // Under overload a stale number is better than an error.
        if let Some(pages) = self.0.pages.recall(self.is_crowded()) {
            return Ok(pages);
        }
        let pages = self.blocking(|service| Ok(service.search.pages()?)).await?;
        self.0.pages.remember(pages);
        Ok(pages)
    }

    /// Returns the current number of searchable pages, without going through the query queue.
    pub(crate) async fn pages_aside(&self) -> Result<u64, ServiceError> {
        let search = Arc::clone(&self.0.service.search);
        Ok(tokio::task::spawn_blocking(move || search.pages()).await??)
    }

    /// Returns `true` if the query queue is full.
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.pool.is_full()
    }

    /// Returns the index entry of a page.
    pub(crate) async fn page(&self, url: PageUrl) -> Result<Option<Card>, ServiceError> {
        self.blocking(move |service| Ok(service.search.page(url.id())?)).await
    }

    /// Returns the cached page.
    pub(crate) async fn stored(&self, wanted: Wanted) -> Result<Lookup, ServiceError> {
        self.blocking(move |service| stored::look_up(service, &wanted)).await
    }

    /// Returns the stored copy of a page before and after cleaning.
    pub(crate) async fn cleaned(&self, id: PageId) -> Result<Stored<CleanedCopy>, ServiceError> {
        self.blocking(move |service| {
            // The rules of the engine, so that the view shows the text that is searched.
            let rules = RuleSet::named(&service.config.clean.rules, |path| fs::read_to_string(path))?;
            Ok(raw_copy(service, id)?.map(|raw| cleaned_copy(service, raw, &rules)))
        })
        .await
    }

    /// Runs blocking or CPU-bound work on the worker pool.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let start = Instant::now();
        let service = self.0.service.clone();
        let (tell, told) = oneshot::channel();
        let put = self.0.pool.put(move || {
            metrics::histogram!(STAGE_SECONDS, "stage" => "wait").record(start.elapsed());
            // The client has disconnected.
            if !tell.is_closed() {
                let _ = tell.send(work(&service));
            }
        });
        if put.is_err() {
            metrics::counter!(SHED).increment(1);
            // Delays clients that retry immediately.
            tokio::time::sleep(SHED_AFTER).await;
            return Err(ServiceError::Busy);
        }
        told.await?
    }
}

/// A cached value with a short lifetime.
#[derive(Default)]
pub(crate) struct Remembered<T>(Mutex<Option<(Instant, T)>>);

/// Lifetime of the value.
const REMEMBERED_FOR: Duration = Duration::from_millis(500);

impl<T: Clone> Remembered<T> {
    /// Returns the cached value, if it is fresh or `however_old` is set.
    pub(crate) fn recall(&self, however_old: bool) -> Option<T> {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, value) = remembered.as_ref()?;
        (however_old || since.elapsed() < REMEMBERED_FOR).then(|| value.clone())
    }

    pub(crate) fn remember(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), value));
    }
}

pub(crate) fn raw_copy(service: &Service, id: PageId) -> Result<Stored<RawCopy>, ServiceError> {
    let Some(found) = service.search.page(id)? else { return Ok(Stored::Missing) };
    if !found.archive {
        return Ok(Stored::Withheld(found));
    }
    let response = match service.library.response(found.position) {
        Err(StoreError::NoRecord(_)) => return Ok(Stored::Missing),
        response => response?,
    };
    let url = PageUrl::parse(&found.url).map_err(|_| ServiceError::Address(found.url.clone()))?;
    if !allows_copies(&response, &service.config.crawl.agent) {
        return Ok(Stored::Withheld(found));
    }
    Ok(Stored::Copy(RawCopy { found, url, response }))
}

/// Cleans a copy. Documents other than HTML are not parsed in a serving process.
fn cleaned_copy(service: &Service, raw: RawCopy, rules: &RuleSet) -> CleanedCopy {
    let RawCopy { found, url, response } = raw;
    let content_type = response.header("content-type");
    let body = response.content(service.config.crawl.body_limit.bytes());
    let is_html = pharos_html::is_html_like(content_type, &body);
    let cleaned = is_html.then(|| clean(&url, content_type, &body, rules, &service.config.clean));
    CleanedCopy { found, bytes: body.len(), cleaned }
}

fn clean(
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    rules: &RuleSet,
    config: &CleanConfig,
) -> Cleaned {
    let wish = Wish { rules, weighing: Weighing::from(config), html: true, blocks: true, ..Wish::default() };
    let page = pharos_html::understand_as(url, content_type, body, &wish);
    let lines: usize =
        page.blocks.iter().filter_map(|block| Some(block["text"].as_str()?.lines().count())).sum();
    let explanation =
        (lines <= MAX_EXPLAINED_LINES).then(|| pharos_html::explain(url, content_type, body, rules));
    let shown = &page.html[..page.html.floor_char_boundary(MAX_CLEANED_BYTES)];
    // The cleaned HTML is sanitised once more, so that the same allow-list of elements and attributes, and the same treatment
    // of links, apply as for cached pages.
    let marking = Marking::default();
    let shown = safe_html(url, Some("text/html; charset=utf-8"), shown.as_bytes(), &marking);
    Cleaned { page, html: shown.html, explanation }
}
