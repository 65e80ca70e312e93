//! The rooms behind the pages: the only file here that searches, reads the library or cleans a page.
//!
//! Those calls block and take processor time, so they run on tokio's blocking threads, a bounded number at once.

use std::fs;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pharos_core::config::CleanConfig;
use pharos_core::{Config, PageId, PageObject, PageUrl};
use pharos_engine::EngineError;
use pharos_html::{Explanation, RuleSet, RulesError, Weighing, Wish};
use pharos_mining::Memory;
use pharos_query::{Answer, Card, QueryError, Request, Search, Suggestion};
use pharos_store::{DataDir, Library, Response as StoredResponse, StoreError};
use thiserror::Error;
use tokio::sync::{AcquireError, Semaphore};
use tokio::task::JoinError;

use crate::api;
use crate::learning::{Learning, Shared};
use crate::metrics::{Metrics, QUERY_SECONDS, SUGGEST_SECONDS};
use crate::snapshot::allows_copies;

/// Pages with more lines are cleaned without saying why: what there is to say of a line takes 12 KB of memory.
const MAX_EXPLAINED_LINES: usize = 5_000;

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
    #[error("a stored page has the address `{0}`, which is none")]
    Address(String),
    #[error("work stopped half-way: {0}")]
    Broken(#[from] JoinError),
    #[error("the service is closed")]
    Closed(#[from] AcquireError),
}

impl IntoResponse for ServiceError {
    fn into_response(self) -> Response {
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

/// A stored page made harmless.
pub(crate) struct StoredCopy {
    pub(crate) found: Card,
    /// The words of the query, at most as many as there are colours.
    pub(crate) words: Vec<String>,
    /// The content of `<body>`, with those words in `<mark class="w0">`, `<mark class="w1">`, ….
    pub(crate) html: String,
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

/// The service and the gate in front of it, shared by all handlers.
#[derive(Clone)]
pub(crate) struct Rooms {
    service: Service,
    gate: Arc<Semaphore>,
    api: Arc<api::Kept>,
}

impl Rooms {
    pub(crate) fn new(service: Service) -> Self {
        let at_once = 2 * available_parallelism().map_or(2, usize::from);
        let api = Arc::new(api::Kept::new(&service.config));
        Self { service, gate: Arc::new(Semaphore::new(at_once)), api }
    }

    /// What the API keeps from one request to the next.
    pub(crate) fn api(&self) -> &api::Kept {
        &self.api
    }

    pub(crate) fn config(&self) -> &Config {
        &self.service.config
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.service.metrics
    }

    /// Answers a query.
    pub(crate) async fn run(&self, request: Request) -> Result<Answer, ServiceError> {
        self.blocking(move |service| {
            let start = Instant::now();
            let answer = service.search.run(&request);
            metrics::histogram!(QUERY_SECONDS).record(start.elapsed());
            let learning = &service.learning.shared;
            let mut answer = answer.inspect_err(|_| learning.failed())?;
            learning.answered(start.elapsed(), answer.cache);
            answer.suggestions = learning.related(&answer.query);
            Ok(answer)
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
        let suggestions = self.service.search.help().suggest(typed, count);
        metrics::histogram!(SUGGEST_SECONDS).record(start.elapsed());
        suggestions
    }

    /// What is written down and learnt.
    pub(crate) fn learning(&self) -> &Shared {
        &self.service.learning.shared
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
        self.blocking(|service| Ok(service.search.pages()?)).await
    }

    /// What can be searched of the page at an address.
    pub(crate) async fn page(&self, url: PageUrl) -> Result<Option<Card>, ServiceError> {
        self.blocking(move |service| Ok(service.search.page(url.id())?)).await
    }

    /// The stored copy of a page, with the words of `query` marked.
    pub(crate) async fn stored(
        &self,
        id: PageId,
        query: String,
        colours: usize,
    ) -> Result<Stored<StoredCopy>, ServiceError> {
        self.blocking(move |service| {
            Ok(raw_copy(service, id)?.map(|raw| stored_copy(service, raw, &query, colours)))
        })
        .await
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
        // The permit goes with the work: a visitor who left does not make room for more of it.
        let permit = self.gate.clone().acquire_owned().await?;
        let service = self.service.clone();
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&service)
        })
        .await?
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
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let allowed = allows_copies(tags.map(|(_, value)| value.as_str()), &service.config.crawl.agent);
    if !allowed {
        return Ok(Stored::Withheld(found));
    }
    Ok(Stored::Copy(RawCopy { found, url, response }))
}

fn stored_copy(service: &Service, raw: RawCopy, query: &str, colours: usize) -> StoredCopy {
    let RawCopy { found, url, response } = raw;
    let content_type = response.header("content-type");
    let body = response.content(service.config.crawl.body_limit.bytes());
    let mut words = Vec::new();
    for word in service.search.words(query) {
        if words.len() < colours && !words.contains(&word) {
            words.push(word);
        }
    }
    let html = pharos_html::snapshot::safe_html(&url, content_type, &body, &words);
    StoredCopy { found, words, html }
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
    let html = pharos_html::snapshot::safe_html(url, Some("text/html; charset=utf-8"), shown.as_bytes(), &[]);
    Cleaned { page, html, explanation }
}
