//! The rooms behind the pages: the only file here, with `stored.rs`, that searches, reads the library or cleans a page.
//!
//! Those calls block and take processor time, so they run on threads of their own (`pool.rs`), a bounded number at once.

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

/// Pages with more lines are cleaned without saying why: what there is to say of a line takes 12 KB of memory.
const MAX_EXPLAINED_LINES: usize = 5_000;

/// After so long they are told to come back for whom there is no place in the queue.
const SHED_AFTER: Duration = Duration::from_secs(1);

/// The HTML of a cleaned page ends here.
const MAX_CLEANED_BYTES: usize = 1 << 20;

/// What the web needs to answer requests.
#[derive(Clone)]
pub struct Service {
    /// Where everything is kept.
    pub data: DataDir,
    /// Answers queries.
    pub search: Arc<Search>,
    /// Holds the stored pages.
    pub library: Arc<dyn Library>,
    /// Limits and sizes.
    pub config: Arc<Config>,
    /// What is written down and learnt.
    pub learning: Arc<Learning>,
    /// What `/metrics` prints; see [`install_metrics`](crate::install_metrics).
    pub metrics: Metrics,
    /// Where the settings come from, for the operator's desk.
    pub settings: SettingsSource,
    /// Builds of the index that operators ask for.
    pub builds: Arc<Builds>,
}

/// Why the rooms could not answer; the visitor sees "something went wrong", the log sees this.
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
    #[error("a stored page has the address `{0}`, which is none")]
    Address(String),
    #[error("work stopped half-way")]
    Broken(#[from] RecvError),
    #[error(transparent)]
    Stopped(#[from] JoinError),
    #[error("too many queries wait for their turn")]
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

/// What the library has of a page.
pub(crate) enum Stored<T> {
    /// Nothing.
    Missing,
    /// A copy that the page's author does not want to be shown.
    Withheld(Card),
    /// A copy.
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

/// A stored page and what is left of it after cleaning.
pub(crate) struct CleanedCopy {
    pub(crate) found: Card,
    /// Bytes of the page as it was stored.
    pub(crate) bytes: usize,
    /// Nothing where it is no HTML.
    pub(crate) cleaned: Option<Cleaned>,
}

/// A page after cleaning.
pub(crate) struct Cleaned {
    /// Its `html` is not for showing: that is the next field.
    pub(crate) page: PageObject,
    /// What is left of it, made harmless as a snapshot is.
    pub(crate) html: String,
    /// Why each line stayed or went; nothing where the page is too large for that.
    pub(crate) explanation: Option<Explanation>,
}

/// The service and the queue in front of it, shared by all handlers.
#[derive(Clone)]
pub(crate) struct Rooms(Arc<Inside>);

struct Inside {
    service: Service,
    rates: Rates,
    /// Where work that takes processor time or blocks is done, as much at once as there are processors for.
    pool: Pool,
    /// What the API keeps from one request to the next.
    api: api::Kept,
    /// What the operator's desk keeps.
    desk: Arc<Desk>,
    /// Long answers on their way.
    unsent: Arc<Unsent>,
    /// How many pages can be searched, looked up now and then.
    pages: Remembered<u64>,
    /// The doors close: what goes on by itself ends.
    closing: watch::Sender<bool>,
}

impl Rooms {
    pub(crate) fn new(service: Service) -> io::Result<Self> {
        // As many as there are processors for, and a few that wait for a disk.
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

    /// Ends what goes on by itself, so that nobody waits for it.
    pub(crate) fn close(&self) {
        self.0.closing.send_replace(true);
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.0.closing.borrow()
    }

    /// Comes back when the doors close.
    pub(crate) async fn closing(&self) {
        let _ = self.0.closing.subscribe().wait_for(|closing| *closing).await;
    }

    pub(crate) fn unsent(&self) -> &Arc<Unsent> {
        &self.0.unsent
    }

    pub(crate) fn rates(&self) -> &Rates {
        &self.0.rates
    }

    /// What the API keeps from one request to the next.
    pub(crate) fn api(&self) -> &api::Kept {
        &self.0.api
    }

    /// What the operator's desk keeps.
    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.0.desk
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.service.config
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.service.metrics
    }

    /// Answers a query: from memory at once, else in its turn.
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

    /// Pages like one.
    pub(crate) async fn similar(&self, url: PageUrl, size: usize) -> Result<Answer, ServiceError> {
        self.blocking(move |service| {
            let answer = service.search.similar(&url, size)?;
            // Nobody typed this: there is nothing to correct.
            Ok(Answer { corrected: None, ..answer })
        })
        .await
    }

    /// What a query that begins so may become.
    pub(crate) fn suggest(&self, typed: &str, count: usize) -> Vec<Suggestion> {
        let start = Instant::now();
        let suggestions = self.0.service.search.help().suggest(typed, count);
        metrics::histogram!(SUGGEST_SECONDS).record(start.elapsed());
        suggestions
    }

    /// What is written down and learnt.
    pub(crate) fn learning(&self) -> &Shared {
        &self.0.service.learning.shared
    }

    /// What was learnt from the logs.
    pub(crate) async fn recall<T: Default + Send + 'static>(
        &self,
        recall: impl FnOnce(&Memory) -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        self.blocking(move |service| Ok(service.learning.shared.recall(recall))).await
    }

    /// How many pages can be searched.
    pub(crate) async fn pages(&self) -> Result<u64, ServiceError> {
        // Who looks in at the door is not sent away for a number that may be a little old.
        if let Some(pages) = self.0.pages.recall(self.is_crowded()) {
            return Ok(pages);
        }
        let pages = self.blocking(|service| Ok(service.search.pages()?)).await?;
        self.0.pages.remember(pages);
        Ok(pages)
    }

    /// How many pages can be searched now, for who must not wait in line to ask.
    pub(crate) async fn pages_aside(&self) -> Result<u64, ServiceError> {
        let search = Arc::clone(&self.0.service.search);
        Ok(tokio::task::spawn_blocking(move || search.pages()).await??)
    }

    /// Is the queue full?
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.pool.is_full()
    }

    /// What can be searched of the page at an address.
    pub(crate) async fn page(&self, url: PageUrl) -> Result<Option<Card>, ServiceError> {
        self.blocking(move |service| Ok(service.search.page(url.id())?)).await
    }

    /// The stored copy of a page as it is wanted.
    pub(crate) async fn stored(&self, wanted: Wanted) -> Result<Lookup, ServiceError> {
        self.blocking(move |service| stored::look_up(service, &wanted)).await
    }

    /// The stored copy of a page before and after cleaning.
    pub(crate) async fn cleaned(&self, id: PageId) -> Result<Stored<CleanedCopy>, ServiceError> {
        self.blocking(move |service| {
            // Those that the engine reads pages by, so that what is shown is what is searched.
            let rules = RuleSet::named(&service.config.clean.rules, |path| fs::read_to_string(path))?;
            Ok(raw_copy(service, id)?.map(|raw| cleaned_copy(service, raw, &rules)))
        })
        .await
    }

    /// Runs what blocks or takes processor time where it holds nobody up.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let start = Instant::now();
        let service = self.0.service.clone();
        let (tell, told) = oneshot::channel();
        let put = self.0.pool.put(move || {
            metrics::histogram!(STAGE_SECONDS, "stage" => "wait").record(start.elapsed());
            // A visitor who left waits for nothing.
            if !tell.is_closed() {
                let _ = tell.send(work(&service));
            }
        });
        if put.is_err() {
            metrics::counter!(SHED).increment(1);
            // Who asks again at once takes time from those who wait.
            tokio::time::sleep(SHED_AFTER).await;
            return Err(ServiceError::Busy);
        }
        told.await?
    }
}

/// Something that is looked up anew after a while.
#[derive(Default)]
pub(crate) struct Remembered<T>(Mutex<Option<(Instant, T)>>);

/// How long it is remembered.
const REMEMBERED_FOR: Duration = Duration::from_millis(500);

impl<T: Clone> Remembered<T> {
    /// What is remembered: the last, or nothing if that is not new any more.
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

/// Documents that are no HTML are not looked at: their readers are not for a process that serves visitors.
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
    // Cleaning writes nothing that could do harm; that is read and written once more so that the same list of
    // elements and attributes as for snapshots, and their manners of links, hold here too.
    let marking = Marking::default();
    let shown = safe_html(url, Some("text/html; charset=utf-8"), shown.as_bytes(), &marking);
    Cleaned { page, html: shown.html, explanation }
}
