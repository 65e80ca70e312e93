//! Rendering of stored pages for display: threads of their own, a work budget for each rendering, and a cache.
//!
//! Stored pages are foreign documents, and one of them may cause more work than all queries together. Their views therefore
//! never use the threads of queries. A rendering ends when it exceeds its budget, when its client disconnects, when the request
//! times out and when the server shuts down. A page that exceeded its budget is refused for a while without trying again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use moka::sync::Cache;
use pharos_core::config::WebConfig;
use pharos_core::work::{WorkExceeded, spend_work};
use pharos_core::{LibraryPosition, PageId};
use pharos_html::cached_page::COLOURS;
use tokio::sync::{Semaphore, oneshot};

use super::cached_copy::PageView;
use super::{AppState, Service, ServiceError};
use crate::server::client_address::RequestSource;
use crate::server::metrics::VIEWS;
use crate::server::network_limit::NetworkLimit;
use crate::server::worker_pool::WorkerPool;

/// Maximum number of queued renderings; further ones are rejected with 503.
const QUEUE: usize = 32;

/// Maximum number of renderings for one client network at once, queued ones included; further ones are rejected with 429.
const MAX_PER_NETWORK: usize = QUEUE / 4;

/// Maximum number of page reports of the desk that are made at once; further ones wait.
const MAX_DESK_RENDERINGS: usize = 2;

/// Time for which a rendered view is used again. Cleaning rules and the text of the index may change meanwhile.
const LIFETIME: Duration = Duration::from_secs(600);

/// Time for which a page that exceeded its budget is refused.
const REFUSAL_LIFETIME: Duration = Duration::from_secs(60);

/// Maximum number of remembered refusals.
const MAX_REFUSALS: u64 = 10_000;

/// Memory of a cache entry besides its texts.
const ENTRY_BYTES: usize = 512;

/// A kind of view of a stored page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ViewKind {
    CachedPage(PageView),
    /// The original text beside the main content.
    Cleaned,
    /// The page object.
    Object,
    /// Only the directives for robots.
    Robots,
}

/// Identifies a rendered view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ViewKey {
    pub(crate) page: PageId,
    /// The version.
    pub(crate) position: LibraryPosition,
    pub(crate) kind: ViewKind,
    pub(crate) query: String,
    /// Text of the user interface that is part of the view, or its language.
    pub(crate) label: &'static str,
}

/// A rendered view.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// The author does not allow copies of this version.
    Withheld,
    /// The file has no such view.
    None,
    Shown(Arc<RenderedView>),
}

/// The content of a view.
#[derive(Debug, Default)]
pub(crate) struct RenderedView {
    /// Title of this version; empty if unknown.
    pub(crate) title: String,
    /// Sanitised HTML.
    pub(crate) html: String,
    /// Number of occurrences of each highlighted word.
    pub(crate) counts: [usize; COLOURS],
    /// The actual view of a cached page: a file without layout is shown as text.
    pub(crate) view: PageView,
    pub(crate) has_layout: bool,
}

/// Threads and caches for views.
pub(crate) struct ViewRenderer {
    pool: WorkerPool,
    clients: Arc<NetworkLimit>,
    /// Places for the desk, which works while visitors are rejected.
    desk: Arc<Semaphore>,
    cache: Arc<ViewCache>,
}

impl ViewRenderer {
    pub(crate) fn start(web: &WebConfig) -> io::Result<Self> {
        // Half of the CPUs, so that queries find the others free.
        let threads = available_parallelism().map_or(1, usize::from).div_ceil(2);
        let pool = WorkerPool::start("view", threads, QUEUE)?;
        let clients = NetworkLimit::new(MAX_PER_NETWORK);
        let desk = Arc::new(Semaphore::new(MAX_DESK_RENDERINGS));
        Ok(Self { pool, clients, desk, cache: Arc::new(ViewCache::new(web.view_cache.0)) })
    }
}

struct ViewCache {
    views: Cache<ViewKey, View>,
    refusals: Cache<(LibraryPosition, ViewKind), WorkExceeded>,
}

impl ViewCache {
    fn new(bytes: u64) -> Self {
        let views = Cache::builder().max_capacity(bytes).weigher(weigh).time_to_live(LIFETIME).build();
        let refusals = Cache::builder().max_capacity(MAX_REFUSALS).time_to_live(REFUSAL_LIFETIME).build();
        Self { views, refusals }
    }
}

fn weigh(key: &ViewKey, view: &View) -> u32 {
    let texts = match view {
        View::Withheld | View::None => 0,
        View::Shown(view) => view.title.capacity() + view.html.capacity(),
    };
    u32::try_from(ENTRY_BYTES + key.query.capacity() + texts).unwrap_or(u32::MAX)
}

/// The rendering of one request: its limits, and access to the cache.
pub(crate) struct Rendering {
    deadline: Instant,
    cancelled: Arc<AtomicBool>,
    cache: Arc<ViewCache>,
}

impl Rendering {
    /// Returns `true` until the time limit is reached or the client has disconnected.
    pub(crate) fn may_continue(&self) -> bool {
        !self.cancelled.load(Ordering::Relaxed) && Instant::now() < self.deadline
    }

    /// Returns a view from the cache, or renders it.
    pub(crate) fn view(
        &self,
        key: ViewKey,
        render: impl FnOnce() -> Result<View, ServiceError>,
    ) -> Result<View, ServiceError> {
        let cache = &self.cache;
        if let Some(view) = cache.views.get(&key) {
            count("cached");
            return Ok(view);
        }
        let view = render()?;
        count("rendered");
        cache.views.insert(key, view.clone());
        Ok(view)
    }

    /// Runs a computation on a document of `bytes` bytes within the budget.
    ///
    /// # Errors
    /// Fails if the computation exceeds the budget or is cancelled, and if it has exceeded the budget recently.
    pub(crate) fn run<T>(
        &self,
        position: LibraryPosition,
        kind: ViewKind,
        bytes: usize,
        computation: impl FnOnce() -> T,
    ) -> Result<T, WorkExceeded> {
        let refusals = &self.cache.refusals;
        if let Some(exceeded) = refusals.get(&(position, kind)) {
            count("refused");
            return Err(exceeded);
        }
        let budget = pharos_html::work_budget(bytes)
            .with_time(self.deadline.saturating_duration_since(Instant::now()))
            .with_cancellation(Arc::clone(&self.cancelled));
        let read_and_compute = || {
            spend_work(bytes as u64);
            computation()
        };
        budget.run(read_and_compute).inspect_err(|exceeded| match exceeded {
            WorkExceeded::Cancelled => count("cancelled"),
            WorkExceeded::Steps | WorkExceeded::Time => {
                count("exceeded");
                tracing::warn!(?position, ?kind, bytes, %exceeded, "a stored page cannot be displayed");
                refusals.insert((position, kind), *exceeded);
            }
        })
    }
}

fn count(outcome: &'static str) {
    metrics::counter!(VIEWS, "outcome" => outcome).increment(1);
}

/// Cancels a rendering when the request is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl AppState {
    /// Runs work on stored pages on the threads for views, for the client of a request.
    pub(crate) async fn render<T: Send + 'static>(
        &self,
        source: &RequestSource,
        work: impl FnOnce(&Service, &Rendering) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let renderer = self.renderer();
        let acquire = |address| renderer.clients.acquire(address).ok_or(ServiceError::TooManyViews);
        let _permit = source.limited_address().map(acquire).transpose()?;
        let (service, cache) = (self.service().clone(), Arc::clone(&renderer.cache));
        let cancelled = Arc::<AtomicBool>::default();
        let _cancel = CancelOnDrop(Arc::clone(&cancelled));
        let (sender, receiver) = oneshot::channel();
        let enqueued = renderer.pool.enqueue(move || {
            if cancelled.load(Ordering::Relaxed) {
                return count("cancelled");
            }
            let deadline = Instant::now() + service.config.web.view_timeout;
            let _ = sender.send(work(&service, &Rendering { deadline, cancelled, cache }));
        });
        if enqueued.is_err() {
            count("shed");
            return Err(self.shed().await);
        }
        tokio::select! {
            outcome = receiver => outcome?,
            () = self.shutdown() => Err(WorkExceeded::Cancelled.into()),
        }
    }

    /// Runs work on stored pages for the desk, within the same budget of time and work, but apart from the threads and the
    /// queue for visitors.
    pub(crate) async fn render_for_desk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service, &Rendering) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let renderer = self.renderer();
        let (service, cache) = (self.service().clone(), Arc::clone(&renderer.cache));
        let cancelled = Arc::<AtomicBool>::default();
        let _cancel = CancelOnDrop(Arc::clone(&cancelled));
        let acquired = Arc::clone(&renderer.desk).acquire_owned();
        let (sender, receiver) = oneshot::channel();
        let run = async {
            // The semaphore is never closed.
            let permit = acquired.await;
            tokio::task::spawn_blocking(move || {
                let _permit = permit;
                let deadline = Instant::now() + service.config.web.view_timeout;
                let _ = sender.send(work(&service, &Rendering { deadline, cancelled, cache }));
            });
            receiver.await?
        };
        tokio::select! {
            outcome = run => outcome,
            () = self.shutdown() => Err(WorkExceeded::Cancelled.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use axum::http::StatusCode;
    use axum::response::IntoResponse as _;
    use pharos_core::Config;

    use super::*;
    use crate::server::router;
    use crate::testing::{TestPage, engine, get, get_with};

    const PAGE: TestPage =
        TestPage::new("https://www.example.org/tower", "The tower", "A lighthouse on a rock.");
    const DEADLINE: Duration = Duration::from_secs(60);

    fn endless(rendering: &Rendering) -> Result<(), ServiceError> {
        let position = LibraryPosition::default();
        Ok(rendering.run(position, ViewKind::CachedPage(PageView::Layout), 1 << 30, || {
            loop {
                spend_work(1);
            }
        })?)
    }

    fn app(config: Config) -> (tempfile::TempDir, AppState) {
        let (dir, service) = engine(&[PAGE], config);
        (dir, AppState::new(service).unwrap())
    }

    /// Settings without a time limit that a test reaches.
    fn patient() -> Config {
        let mut config = Config::default();
        (config.web.timeout, config.web.view_timeout) = (DEADLINE, DEADLINE);
        config
    }

    #[tokio::test]
    async fn searches_are_answered_while_all_view_threads_are_busy() {
        let (_dir, app) = app(patient());
        let router = router::build(app.clone());
        let mut renderings = Vec::new();
        let began = Instant::now();
        loop {
            while !app.renderer().pool.is_full() {
                let app = app.clone();
                renderings.push(tokio::spawn(async move {
                    app.render(&RequestSource::default(), |_, rendering| endless(rendering)).await
                }));
                tokio::task::yield_now().await;
            }
            // Until every thread has taken one.
            tokio::time::sleep(Duration::from_millis(50)).await;
            if app.renderer().pool.is_full() {
                break;
            }
            assert!(began.elapsed() < DEADLINE, "the queue is never full");
        }
        for page in 0..20 {
            let reply = get(&router, &format!("/search?q=lighthouse+-none{page}")).await;
            assert_eq!(reply.status, StatusCode::OK);
            assert!(reply.text().contains("1 result"), "{}", reply.text());
        }
        let refused = get(&router, &PAGE.cached_page()).await;
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "the queue for views is full");
        // A client that disconnects frees its thread, and its place in the queue.
        for rendering in renderings {
            rendering.abort();
        }
        let began = Instant::now();
        while get(&router, &PAGE.cached_page()).await.status != StatusCode::OK {
            assert!(began.elapsed() < DEADLINE, "the renderings continue");
        }
    }

    #[tokio::test]
    async fn one_client_does_not_take_the_whole_queue() {
        let (_dir, app) = app(patient());
        let source = RequestSource { address: "192.0.2.1".parse().ok(), ..RequestSource::default() };
        let mut renderings = Vec::new();
        for _ in 0..MAX_PER_NETWORK {
            let (app, source) = (app.clone(), source.clone());
            renderings.push(tokio::spawn(async move {
                app.render(&source, |_, rendering| endless(rendering)).await
            }));
            tokio::task::yield_now().await;
        }
        let refused = app.render(&source, |_, _| Ok(())).await.unwrap_err().into_response();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!(!app.renderer().pool.is_full());
        renderings.iter().for_each(tokio::task::JoinHandle::abort);
        for rendering in renderings {
            assert!(rendering.await.is_err());
        }
        assert!(app.render(&source, |_, _| Ok(())).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn twelve_requests_for_a_hostile_page_do_not_stop_searches() {
        // Each element is formatting the parser has to reconstruct in every following one.
        let html: String = (0..12_000).map(|n| format!("<a><b c{n}><div>")).collect();
        let hostile = TestPage::new("https://www.example.org/hostile", "Hostile", html.leak());
        let paths = [hostile.cached_page(), format!("/clean?url={}", hostile.url)];
        let (_dir, service) = engine(&[PAGE, hostile], Config::default());
        let router = crate::router(service).unwrap();
        let views: Vec<_> = (0..12)
            .map(|n| {
                let (router, path) = (router.clone(), paths[n % 2].clone());
                tokio::spawn(async move { get(&router, &path).await.status })
            })
            .collect();
        for n in 0..20 {
            let reply = get(&router, &format!("/search?q=lighthouse+-none{n}")).await;
            assert_eq!(reply.status, StatusCode::OK);
        }
        for view in views {
            let status = view.await.unwrap();
            let expected =
                [StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY, StatusCode::SERVICE_UNAVAILABLE];
            assert!(expected.contains(&status), "{status}");
        }
    }

    #[tokio::test]
    async fn a_rendering_is_cancelled_with_its_request() {
        let (_dir, app) = app(patient());
        let (sender, ended) = channel();
        let local = RequestSource::default();
        let rendering = app.render(&local, move |_, rendering| {
            let outcome = endless(rendering);
            sender.send(outcome.unwrap_err().to_string()).unwrap();
            Ok(())
        });
        assert!(tokio::time::timeout(Duration::from_millis(50), rendering).await.is_err());
        assert_eq!(ended.recv_timeout(DEADLINE).unwrap(), "cancelled");
    }

    #[tokio::test]
    async fn renderings_end_at_shutdown() {
        let (_dir, app) = app(patient());
        let (sender, ended) = channel();
        let rendering = tokio::spawn({
            let app = app.clone();
            async move {
                app.render(&RequestSource::default(), move |_, rendering| {
                    sender.send("began".to_string()).unwrap();
                    let outcome = endless(rendering);
                    sender.send(outcome.unwrap_err().to_string()).unwrap();
                    Ok(())
                })
                .await
            }
        });
        tokio::time::timeout(DEADLINE, async {
            while ended.try_recv().is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await
        .unwrap();
        app.begin_shutdown();
        assert!(tokio::time::timeout(DEADLINE, rendering).await.unwrap().unwrap().is_err());
        assert_eq!(ended.recv_timeout(DEADLINE).unwrap(), "cancelled");
    }

    #[test]
    fn work_is_limited_by_the_size_of_the_document() {
        let cache = Arc::new(ViewCache::new(1 << 20));
        let with_deadline =
            |deadline| Rendering { deadline, cancelled: Arc::default(), cache: Arc::clone(&cache) };
        let rendering = with_deadline(Instant::now() + DEADLINE);
        assert!(rendering.may_continue());
        let position = LibraryPosition { volume: 1, ..LibraryPosition::default() };
        let spend = |kind, steps| rendering.run(position, kind, 1_000, move || spend_work(steps));
        assert_eq!(spend(ViewKind::CachedPage(PageView::Layout), 1_000_000), Ok(()));
        assert_eq!(spend(ViewKind::CachedPage(PageView::Layout), 1_000_000_000), Err(WorkExceeded::Steps));
        assert_eq!(
            spend(ViewKind::CachedPage(PageView::Layout), 1),
            Err(WorkExceeded::Steps),
            "it is not tried again"
        );
        assert_eq!(spend(ViewKind::CachedPage(PageView::Text), 1), Ok(()), "other views are");
        let hurried = with_deadline(Instant::now());
        assert!(!hurried.may_continue());
        let exceeded = hurried.run(position, ViewKind::CachedPage(PageView::Text), 0, || {
            loop {
                spend_work(1);
            }
        });
        assert_eq!(exceeded, Err::<(), _>(WorkExceeded::Time));
    }

    #[test]
    fn the_cache_is_bounded_by_bytes() {
        let cache = ViewCache::new(1 << 20);
        let shown = |bytes| {
            View::Shown(Arc::new(RenderedView { html: "x".repeat(bytes), ..RenderedView::default() }))
        };
        let key = |n: u64| ViewKey {
            page: PAGE.url().id(),
            position: LibraryPosition { offset: n, ..LibraryPosition::default() },
            kind: ViewKind::CachedPage(PageView::Layout),
            query: String::new(),
            label: "",
        };
        for n in 0..1_000 {
            cache.views.insert(key(n), shown(10_000));
        }
        cache.views.insert(key(1_000), shown(2 << 20));
        cache.views.run_pending_tasks();
        assert!(cache.views.weighted_size() <= 1 << 20, "{}", cache.views.weighted_size());
        assert!(cache.views.entry_count() > 10);
    }

    #[tokio::test]
    async fn a_page_that_exceeds_its_budget_is_refused_with_an_explanation() {
        let mut config = Config::default();
        config.web.view_timeout = Duration::ZERO;
        // Long enough for the clock to be read.
        let text = "<p>A lighthouse on a rock.".repeat(20_000).leak();
        let page = TestPage::new("https://www.example.org/long", "Long", text);
        let paths = [
            page.cached_page(),
            format!("{}/content?view=text", page.cached_page()),
            format!("/clean?url={}", page.url),
            format!("/api/v1/page?object=true&url={}", page.url),
        ];
        let (_dir, service) = engine(&[page], config);
        let router = crate::router(service).unwrap();
        for path in &paths {
            for (lang, said) in [("en", "too much work"), ("zh", "计算量过大")] {
                let reply = get_with(&router, path, &[("accept-language", lang)]).await;
                assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
                assert!(reply.text().contains(said), "{path}: {}", reply.text());
            }
        }
        let problem = get(&router, &paths[3]).await;
        assert_eq!(problem.header("content-type"), "application/problem+json");
        assert_eq!(get(&router, "/search?q=lighthouse").await.status, StatusCode::OK);
    }

    #[tokio::test]
    async fn views_are_cached_by_page_view_query_and_language() {
        let (_dir, app) = app(Config::default());
        let (router, views) = (router::build(app.clone()), &app.renderer().cache.views);
        let here = PAGE.cached_page();
        let clean = format!("/clean?url={}", PAGE.url);
        let mut entries = 0;
        for (path, is_new) in [
            (here.clone(), true),
            (format!("{here}/content"), false),
            (format!("{here}?q=lighthouse"), true),
            (format!("{here}/content?q=LIGHTHOUSE"), false),
            (format!("{here}?q=lighthouse&lang=zh"), true),
            (format!("{here}?view=text"), true),
            (clean.clone(), true),
            (clean.clone(), false),
            (format!("{clean}&lang=zh"), true),
        ] {
            let reply = get(&router, &path).await;
            assert_eq!(reply.status, StatusCode::OK, "{path}");
            entries += u64::from(is_new);
            views.run_pending_tasks();
            assert_eq!(views.entry_count(), entries, "{path}");
        }
    }
}
