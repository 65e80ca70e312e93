//! Logging and learning: logs, and derived from them hot queries, related queries, clicks and suggestions.
//!
//! One thread keeps the state current: it reads new log records, passes clicks to the ranking, rebuilds [`SuggestionSources`] when pages or
//! queries are new, warms up a new history generation, and closes the slots of the system log. Requests only read.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pharos_core::{Clock, Config, PageUrl, SystemClock};
use pharos_mining::system::{SystemCounters, SystemLogger};
use pharos_mining::{ClickedResult, LogStatistics, LogWriter, VisitHasher};
use pharos_query::{CacheUse, SearchService, SuggestionSources};
use pharos_store::DataDir;

use super::impressions::Impressions;
use super::visit_sessions::VisitSessions;

/// Interval of log reading.
const INTERVAL: Duration = Duration::from_secs(1);

/// At most one in this many parts of the time is spent on rebuilding suggestions.
const MAX_SHARE: u32 = 20;

/// Number of related queries shown.
const RELATED: usize = 8;
/// Lifetime and maximum number of cached lists of related queries.
const RELATED_LIFETIME: Duration = Duration::from_secs(10);
const RELATED_CACHED: usize = 10_000;

/// Number of queries that warm up a new generation.
const WARM_UP_QUERIES: usize = 48;

/// The logs and the state learnt from them. Dropping it stops the thread and flushes the logs.
pub struct Learning {
    pub(crate) shared: Arc<LearningState>,
    /// Set once at shutdown.
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// State read by requests.
pub(crate) struct LearningState {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: LogWriter,
    pub(crate) visits: VisitHasher,
    pub(crate) sessions: VisitSessions,
    pub(crate) impressions: Impressions,
    pub(crate) system: SystemLogger,
    /// `None` until the logs are read, which takes a while if there are many.
    memory: RwLock<Option<LogStatistics>>,
    related: Mutex<HashMap<String, (Instant, Vec<String>)>>,
    counts: Arc<QueryCounters>,
}

/// Counters for the system log.
#[derive(Default)]
struct QueryCounters {
    hits: AtomicU64,
    misses: AtomicU64,
    failures: AtomicU64,
}

impl Learning {
    /// Opens the logs of a data directory and starts learning from them. `crawled` returns the monotonic counters of the
    /// crawl, if this process crawls.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn start(
        data: &DataDir,
        config: &Config,
        search: Arc<SearchService>,
        crawled: impl Fn() -> SystemCounters + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let now = clock.now();
        let counts = Arc::new(QueryCounters::default());
        let counted = Arc::clone(&counts);
        let readings = move || {
            let crawled = crawled();
            SystemCounters {
                errors: crawled.errors + counted.failures.load(Ordering::Relaxed),
                cache_hits: counted.hits.load(Ordering::Relaxed),
                cache_misses: counted.misses.load(Ordering::Relaxed),
                ..crawled
            }
        };
        let shared = Arc::new(LearningState {
            log: LogWriter::open(data, &config.log, Arc::clone(&clock)),
            visits: VisitHasher::open(data, &config.log, Arc::clone(&clock)),
            sessions: VisitSessions::default(),
            impressions: Impressions::default(),
            system: SystemLogger::new(data, config.log.slot, now, readings),
            memory: RwLock::default(),
            related: Mutex::default(),
            clock,
            counts,
        });
        let stopping = Arc::new(AtomicBool::new(false));
        let mut worker = LearningWorker {
            shared: Arc::clone(&shared),
            search,
            data: data.clone(),
            config: config.clone(),
            click_day: None,
            history: None,
            last_rebuild: None,
            rest: Duration::ZERO,
        };
        let stop = Arc::clone(&stopping);
        let thread = thread::Builder::new().name("learning".into()).spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                worker.tick();
                thread::park_timeout(INTERVAL);
            }
        })?;
        Ok(Self { shared, stopping, thread: Some(thread) })
    }
}

impl Learning {
    /// Stops the thread and flushes the logs. References held by slow queries do not delay this.
    pub(crate) fn stop(&self) {
        if self.stopping.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
        let shared = &self.shared;
        shared.log.system(shared.system.finish(shared.clock.now(), shared.log.lost()));
        shared.log.flush();
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        self.stop();
        // A rebuild in progress is finished first.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl LearningState {
    /// Reads from the memory of past queries; returns the default value until the logs are read.
    pub(crate) fn with_memory<T: Default>(&self, read: impl FnOnce(&LogStatistics) -> T) -> T {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        memory.as_ref().map(read).unwrap_or_default()
    }

    /// Returns queries related to one. They are cached for a while, since the lookup takes longer than a cached response.
    pub(crate) fn related_queries(&self, query: &str) -> Vec<String> {
        let cache = || self.related.lock().unwrap_or_else(PoisonError::into_inner);
        let before = cache().get(query).cloned();
        let is_new = before.as_ref().is_some_and(|(when, _)| when.elapsed() < RELATED_LIFETIME);
        // Does not wait while logs are being read.
        let memory = if is_new { None } else { self.memory.try_read().ok() };
        let Some(memory) = memory else { return before.map(|(_, related)| related).unwrap_or_default() };
        let related = memory.as_ref().map(|memory| memory.related(query, RELATED)).unwrap_or_default();
        drop(memory);
        let mut cache = cache();
        if cache.len() >= RELATED_CACHED {
            cache.clear();
        }
        cache.insert(query.to_string(), (Instant::now(), related.clone()));
        related
    }

    /// Records the duration and the cache use of a query.
    pub(crate) fn record_answer(&self, took: Duration, cache: CacheUse) {
        self.system.observe_query(took);
        let count = if cache == CacheUse::Hit { &self.counts.hits } else { &self.counts.misses };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Records a failed query.
    pub(crate) fn record_failure(&self) {
        self.counts.failures.fetch_add(1, Ordering::Relaxed);
    }
}

/// State of the learning thread.
struct LearningWorker {
    shared: Arc<LearningState>,
    search: Arc<SearchService>,
    data: DataDir,
    config: Config,
    /// Day of the last click processed.
    click_day: Option<String>,
    /// History generation that was warmed up.
    history: Option<String>,
    last_rebuild: Option<RebuildInputs>,
    /// Minimum time until the next rebuild.
    rest: Duration,
}

/// Inputs of the last rebuild.
struct RebuildInputs {
    when: Instant,
    generation: String,
    queries: Vec<(String, u64)>,
}

/// New information from the logs.
#[derive(Default)]
struct LogUpdate {
    /// Clicks on results since the last reading.
    clicks: Vec<ClickedResult>,
    /// All queries that may be suggested, with their frequencies.
    queries: Vec<(String, u64)>,
}

impl LearningWorker {
    fn tick(&mut self) {
        let now = self.shared.clock.now();
        let LogUpdate { clicks, queries } = match self.read_logs() {
            Ok(update) => update,
            Err(error) => {
                tracing::warn!(%error, "cannot read the logs");
                LogUpdate::default()
            }
        };
        for click in clicks {
            if self.click_day.as_ref().is_some_and(|day| *day < click.day) {
                self.search.end_click_day();
            }
            self.click_day = Some(click.day);
            if let Ok(url) = PageUrl::parse(&click.url) {
                self.search.record_click(&click.query, url.id(), click.page as usize);
            }
        }
        if let Err(error) = self.rebuild_help(queries).and_then(|()| self.warm_history()) {
            tracing::warn!(%error, "cannot update suggestions");
        }
        self.shared.system.tick(now, &self.shared.log);
    }

    /// Reads new log records.
    fn read_logs(&mut self) -> io::Result<LogUpdate> {
        let now = self.shared.clock.now();
        let lock = || self.shared.memory.write().unwrap_or_else(PoisonError::into_inner);
        if lock().is_none() {
            // Requests are not blocked meanwhile.
            let memory = LogStatistics::open(&self.data, &self.config, now)?;
            *lock() = Some(memory);
        }
        // Reading and sorting hold the read lock only, so that requests can read concurrently.
        let Some(new) = self.shared.with_memory(|memory| Some(memory.read(now))) else {
            return Ok(LogUpdate::default());
        };
        let new = new?;
        let clicks = lock().as_mut().map(|memory| {
            memory.apply(new, now);
            memory.take_clicks()
        });
        Ok(LogUpdate {
            clicks: clicks.unwrap_or_default(),
            queries: self.shared.with_memory(LogStatistics::phrases),
        })
    }

    /// Rebuilds suggestions if pages or queries are new and the last rebuild is long enough ago.
    fn rebuild_help(&mut self, queries: Vec<(String, u64)>) -> Result<(), pharos_query::QueryError> {
        let view = self.search.view()?;
        if let Some(inputs) = &self.last_rebuild {
            let is_new = inputs.generation != view.state_id() || inputs.queries != queries;
            if !is_new || inputs.when.elapsed() < self.rest {
                return Ok(());
            }
        }
        let started = Instant::now();
        let before = self.search.suggestion_sources();
        let models = self.data.models();
        self.search.set_suggestion_sources(SuggestionSources::collect(
            &models,
            &*view,
            queries.clone(),
            &self.config.suggest,
            &before,
        )?);
        self.rest = self.config.suggest.refresh.max(started.elapsed() * MAX_SHARE);
        let generation = view.state_id().to_string();
        self.last_rebuild = Some(RebuildInputs { when: Instant::now(), generation, queries });
        Ok(())
    }

    /// Warms up a new history with frequent queries.
    fn warm_history(&mut self) -> Result<(), pharos_query::QueryError> {
        let view = self.search.view()?;
        let history = view.history().map(String::from);
        if history != self.history {
            let queries = self.shared.with_memory(|memory| memory.frequent(WARM_UP_QUERIES));
            let count = self.search.warm(queries.iter().map(String::as_str))?;
            tracing::debug!(queries = count, "warmed up a new history");
            self.history = history;
        }
        Ok(())
    }
}
