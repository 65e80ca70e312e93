//! The state shared by all handlers, and the calls to search, library and cleaning.
//!
//! Those calls block and use CPU time, so they run on worker threads, a bounded number at once. Stored pages are rendered on
//! threads of their own (`renderer.rs`).

pub(crate) mod cached_copy;
pub(crate) mod categories;
pub(crate) mod cleaned_copy;
pub(crate) mod page_status;
pub(crate) mod renderer;
mod service;
pub(crate) mod settings;
pub(crate) mod site_icons;
pub(crate) mod submission;

use std::io;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_core::{Config, PageUrl};
use pharos_mining::LogStatistics;
use pharos_query::{CacheLookup, IndexedPage, PendingQuery, SearchRequest, SearchResponse, Suggestion};
use tokio::sync::{oneshot, watch};

use self::categories::CategoryState;
use self::renderer::ViewRenderer;
pub use self::service::Service;
pub(crate) use self::service::ServiceError;
use self::site_icons::SiteIcons;
use crate::admin::Desk;
use crate::api;
use crate::server::metrics::{Metrics, QUERY_SECONDS, SHED, STAGE_SECONDS, SUGGEST_SECONDS};
use crate::server::rate_limit::RequestLimits;
use crate::server::response_budget::ResponseBudget;
use crate::server::visitor::Visitor;
use crate::server::worker_pool::WorkerPool;

/// Delay before a request is rejected because the queue is full.
const SHED_AFTER: Duration = Duration::from_secs(1);

/// State shared by all handlers.
#[derive(Clone)]
pub(crate) struct AppState(Arc<AppStateInner>);

struct AppStateInner {
    service: Service,
    request_limits: RequestLimits,
    /// Worker threads for blocking and CPU-bound work.
    pool: WorkerPool,
    renderer: ViewRenderer,
    icons: SiteIcons,
    api: api::ApiState,
    desk: Arc<Desk>,
    response_budget: Arc<ResponseBudget>,
    /// Cached number of searchable pages.
    pages: Cached<u64>,
    categories: CategoryState,
    /// `true` once the server shuts down.
    shutting_down: watch::Sender<bool>,
}

impl AppState {
    pub(crate) fn new(service: Service) -> io::Result<Self> {
        // Twice the number of CPUs, as some jobs wait for a disk.
        let at_once = 2 * available_parallelism().map_or(2, usize::from);
        let pool = WorkerPool::start("query", at_once, service.config.web.waiting)?;
        let desk = Desk::open(&service.config, &service.data)?;
        desk.count_queries(pool.queue_length());
        Ok(Self(Arc::new(AppStateInner {
            request_limits: RequestLimits::from_config(&service.config.web),
            api: api::ApiState::new(&service.config, &service.data),
            categories: CategoryState::new(&service.data),
            renderer: ViewRenderer::start(&service.config.web)?,
            icons: SiteIcons::default(),
            desk,
            pool,
            service,
            response_budget: Arc::default(),
            pages: Cached::default(),
            shutting_down: watch::Sender::new(false),
        })))
    }

    pub(crate) fn service(&self) -> &Service {
        &self.0.service
    }

    /// Signals shutdown, which ends open streams.
    pub(crate) fn begin_shutdown(&self) {
        self.0.shutting_down.send_replace(true);
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        *self.0.shutting_down.borrow()
    }

    /// Waits for shutdown.
    pub(crate) async fn shutdown(&self) {
        let _ = self.0.shutting_down.subscribe().wait_for(|shutting_down| *shutting_down).await;
    }

    fn categories(&self) -> &CategoryState {
        &self.0.categories
    }

    pub(crate) fn response_budget(&self) -> &Arc<ResponseBudget> {
        &self.0.response_budget
    }

    pub(crate) fn renderer(&self) -> &ViewRenderer {
        &self.0.renderer
    }

    pub(crate) fn request_limits(&self) -> &RequestLimits {
        &self.0.request_limits
    }

    pub(crate) fn api(&self) -> &api::ApiState {
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

    /// Runs a search, from the cache or through the query queue.
    pub(crate) async fn search(&self, request: SearchRequest) -> Result<SearchResponse, ServiceError> {
        match self.0.service.search.lookup(request)? {
            CacheLookup::Cached(response) => Ok(*response),
            CacheLookup::Missing(pending) => self.search_uncached(*pending).await,
        }
    }

    async fn search_uncached(&self, pending: PendingQuery) -> Result<SearchResponse, ServiceError> {
        self.run_blocking(move |service| {
            let start = Instant::now();
            let response = service.search.complete(pending);
            metrics::histogram!(QUERY_SECONDS).record(start.elapsed());
            Ok(response?)
        })
        .await
    }

    /// Logs a query and its results. Returns the id of the impression, which the links carry; empty if logging is off.
    pub(crate) fn log_response(
        &self,
        visitor: &Visitor,
        product: &str,
        request: &SearchRequest,
        response: &SearchResponse,
    ) -> String {
        let client = visitor.request_client();
        let source = visitor.query_source();
        self.0.service.search.log_response(&client, source, product, request, response)
    }

    /// Returns pages similar to one, of the sites `within` if there are any.
    pub(crate) async fn similar(
        &self,
        url: PageUrl,
        size: usize,
        within: Vec<String>,
    ) -> Result<SearchResponse, ServiceError> {
        self.run_blocking(move |service| {
            let answer = service.search.processor().similar(&url, size, within)?;
            // The query was not typed by a user: there is nothing to correct.
            Ok(SearchResponse { corrected: None, ..answer })
        })
        .await
    }

    /// Completes a partial query.
    pub(crate) fn suggest(&self, typed: &str, count: usize) -> Result<Vec<Suggestion>, ServiceError> {
        let start = Instant::now();
        let suggestions = self.0.service.search.suggest(typed, count)?;
        metrics::histogram!(SUGGEST_SECONDS).record(start.elapsed());
        Ok(suggestions)
    }

    /// Runs work with the log statistics.
    pub(crate) async fn with_statistics<T: Default + Send + 'static>(
        &self,
        read: impl FnOnce(&LogStatistics) -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        self.run_blocking(move |service| Ok(service.search.with_statistics(read))).await
    }

    /// Returns the number of searchable pages, possibly cached.
    pub(crate) async fn searchable_pages(&self) -> Result<u64, ServiceError> {
        // Under overload a stale number is better than an error.
        if let Some(pages) = self.0.pages.get(self.is_queue_full()) {
            return Ok(pages);
        }
        let pages = self.run_blocking(|service| Ok(service.search.processor().pages()?)).await?;
        self.0.pages.set(pages);
        Ok(pages)
    }

    /// Returns the current number of searchable pages, without going through the query queue.
    pub(crate) async fn searchable_pages_now(&self) -> Result<u64, ServiceError> {
        let search = Arc::clone(&self.0.service.search);
        Ok(tokio::task::spawn_blocking(move || search.processor().pages()).await??)
    }

    /// Returns `true` if the query queue is full.
    pub(crate) fn is_queue_full(&self) -> bool {
        self.0.pool.is_full()
    }

    /// Returns the index entry of a page.
    pub(crate) async fn indexed_page(&self, url: PageUrl) -> Result<Option<IndexedPage>, ServiceError> {
        self.run_blocking(move |service| Ok(service.search.processor().page(url.id())?)).await
    }

    /// Runs blocking or CPU-bound work on the worker pool.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let start = Instant::now();
        let service = self.0.service.clone();
        let (sender, receiver) = oneshot::channel();
        let enqueued = self.0.pool.enqueue(move || {
            metrics::histogram!(STAGE_SECONDS, "stage" => "wait").record(start.elapsed());
            // The client has disconnected.
            if !sender.is_closed() {
                let _ = sender.send(work(&service));
            }
        });
        if enqueued.is_err() {
            return Err(self.shed().await);
        }
        receiver.await?
    }

    /// Counts a request that is rejected because a queue is full, and delays clients that retry immediately.
    async fn shed(&self) -> ServiceError {
        metrics::counter!(SHED).increment(1);
        tokio::time::sleep(SHED_AFTER).await;
        ServiceError::Busy
    }
}

/// A cached value with a short lifetime.
#[derive(Default)]
pub(crate) struct Cached<T>(Mutex<Option<(Instant, T)>>);

/// Lifetime of the value.
const CACHE_LIFETIME: Duration = Duration::from_millis(500);

impl<T: Clone> Cached<T> {
    /// Returns the cached value, if it is fresh or `allow_stale` is set.
    pub(crate) fn get(&self, allow_stale: bool) -> Option<T> {
        let cached = self.0.lock();
        let (since, value) = cached.as_ref()?;
        (allow_stale || since.elapsed() < CACHE_LIFETIME).then(|| value.clone())
    }

    pub(crate) fn set(&self, value: T) {
        *self.0.lock() = Some((Instant::now(), value));
    }
}
