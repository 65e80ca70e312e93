//! Learning from the logs: hot and related queries, clicks and suggestions.
//!
//! A command reads the logs once. In a server, one thread keeps the state current: it reads new log records, passes
//! clicks to the ranking, rebuilds [`SuggestionSources`] when pages or queries are new, warms up a new history
//! generation, and closes the slots of the system log. Requests only read, and never wait while logs are read.

pub(crate) mod impressions;
pub(crate) mod query_log;
pub(crate) mod visit_sessions;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use moka::sync::Cache;
use parking_lot::RwLock;
use pharos_core::PageUrl;
use pharos_core::config::SuggestConfig;
use pharos_index::IndexView;
use pharos_mining::clicks::learnt::LearntClicks;
use pharos_mining::{LogStatistics, Logs};
use pharos_text::normalise;

use self::impressions::Impressions;
use self::visit_sessions::VisitSessions;
use crate::assist::suggestion_sources::SuggestionSources;
use crate::processor::{QueryError, QueryProcessor};
use crate::request::collapse_whitespace;

/// Interval of log reading.
const INTERVAL: Duration = Duration::from_secs(1);

/// At most one in this many parts of the time is spent on rebuilding suggestions.
const MAX_SHARE: u32 = 20;

/// Number of related queries shown.
const RELATED: usize = 8;
/// Lifetime and maximum number of cached lists of related queries.
const RELATED_LIFETIME: Duration = Duration::from_secs(10);
const RELATED_CACHED: u64 = 10_000;

/// Number of queries that warm up a new generation.
const WARM_UP_QUERIES: usize = 48;

/// The logs and the statistics derived from them, as read by requests.
pub(crate) struct LearningState {
    pub(crate) logs: Logs,
    pub(crate) sessions: VisitSessions,
    pub(crate) impressions: Impressions,
    /// `None` until the logs are read, which takes a while if there are many.
    statistics: RwLock<Option<LogStatistics>>,
    /// Evidence of clicks, as the last build left it.
    learnt: RwLock<Arc<LearntClicks>>,
    related: Cache<String, (Instant, Vec<String>)>,
}

impl LearningState {
    pub(crate) fn new(logs: Logs) -> Self {
        Self {
            logs,
            sessions: VisitSessions::default(),
            impressions: Impressions::default(),
            statistics: RwLock::default(),
            learnt: RwLock::default(),
            related: Cache::new(RELATED_CACHED),
        }
    }

    /// Reads from the log statistics; returns the default value until the logs are read.
    pub(crate) fn with_statistics<T: Default>(&self, read: impl FnOnce(&LogStatistics) -> T) -> T {
        let statistics = self.statistics.read();
        statistics.as_ref().map(read).unwrap_or_default()
    }

    /// Returns queries related to one. They are cached for a while, since the lookup takes longer than a cached
    /// response.
    pub(crate) fn related_queries(&self, query: &str) -> Vec<String> {
        let before = self.related.get(query);
        let is_new = before.as_ref().is_some_and(|(when, _)| when.elapsed() < RELATED_LIFETIME);
        // Does not wait while logs are being read.
        let statistics = if is_new { None } else { self.statistics.try_read() };
        let Some(statistics) = statistics else {
            return before.map(|(_, related)| related).unwrap_or_default();
        };
        // Nothing is known before the logs are read for the first time.
        let Some(known) = statistics.as_ref() else { return Vec::new() };
        let learnt = Arc::clone(&self.learnt.read());
        let related = known.related(query, RELATED, &learnt);
        drop(statistics);
        self.related.insert(query.to_string(), (Instant::now(), related.clone()));
        related
    }

    /// Returns the queries that may be suggested, with their weights: how often they were asked, raised or lowered by the
    /// success of their users.
    pub(crate) fn suggested_queries(&self) -> Vec<(String, f32)> {
        let learnt = Arc::clone(&self.learnt.read());
        let weigh = |(query, times): (String, u64)| {
            let factor = learnt.suggestion_factor(&collapse_whitespace(&normalise(&query)));
            (query, (times as f64 * factor) as f32)
        };
        self.with_statistics(LogStatistics::phrases).into_iter().map(weigh).collect()
    }

    /// Reads new log records and returns the clicks among them.
    fn read_logs(&self) -> io::Result<Vec<pharos_mining::ClickedResult>> {
        let lock = || self.statistics.write();
        if lock().is_none() {
            // Requests are not blocked meanwhile.
            let statistics = self.logs.statistics()?;
            *lock() = Some(statistics);
        }
        let now = self.logs.now();
        // Reading and sorting hold the read lock only, so that requests can read concurrently.
        let Some(new) = self.with_statistics(|statistics| Some(statistics.read(now))) else {
            return Ok(Vec::new());
        };
        let new = new?;
        let clicks = lock().as_mut().map(|statistics| {
            statistics.apply(new, now);
            statistics.take_clicks()
        });
        Ok(clicks.unwrap_or_default())
    }
}

/// Passes what the logs say to the query processor.
pub(crate) struct Learner {
    pub(crate) state: Arc<LearningState>,
    pub(crate) processor: Arc<QueryProcessor>,
    /// Day of the last click processed.
    click_day: Option<String>,
}

impl Learner {
    pub(crate) fn new(state: Arc<LearningState>, processor: Arc<QueryProcessor>) -> Self {
        Self { state, processor, click_day: None }
    }

    /// Reads new log records and passes the clicks to the ranking. Logs that cannot be read are reported.
    pub(crate) fn learn(&mut self) {
        let clicks = self.state.read_logs().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read the logs");
            Vec::new()
        });
        for click in clicks {
            if self.click_day.as_ref().is_some_and(|day| *day < click.day) {
                self.processor.end_click_day();
            }
            self.click_day = Some(click.day);
            if let Ok(url) = PageUrl::parse(&click.url) {
                self.processor.record_click(&click.query, url.id(), click.page as usize);
            }
        }
    }
}

impl Learner {
    /// Reads what the last build has learnt from clicks, for ranking, related queries and suggestions.
    pub(crate) fn load_learnt_clicks(&self) {
        match self.state.logs.learnt_clicks() {
            Ok(learnt) => {
                let learnt = Arc::new(learnt);
                *self.state.learnt.write() = Arc::clone(&learnt);
                self.processor.set_learnt_clicks(learnt);
            }
            Err(error) => tracing::warn!(%error, "cannot read the clicks of days"),
        }
    }
}

/// The place of the models, and the settings of suggestions.
#[derive(Clone)]
pub(crate) struct SuggestionModels {
    pub(crate) dir: PathBuf,
    pub(crate) config: SuggestConfig,
}

impl SuggestionModels {
    /// Collects the sources of suggestions for a view of the index. Unchanged parts are taken from `previous`.
    pub(crate) fn collect(
        &self,
        view: &dyn IndexView,
        queries: Vec<(String, f32)>,
        previous: &SuggestionSources,
    ) -> Result<SuggestionSources, QueryError> {
        SuggestionSources::collect(&self.dir, view, queries, &self.config, previous)
    }
}

/// The thread that follows the logs. Dropping it waits until it has ended.
pub(crate) struct LearningThread {
    /// Set once at shutdown.
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LearningThread {
    pub(crate) fn start(learner: Learner, models: SuggestionModels) -> io::Result<Self> {
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let mut follower =
            LogFollower { learner, models, history: None, last_rebuild: None, rest: Duration::ZERO };
        let thread = thread::Builder::new().name("learning".into()).spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                follower.tick();
                thread::park_timeout(INTERVAL);
            }
        })?;
        Ok(Self { stopping, thread: Some(thread) })
    }

    /// Asks the thread to end. Returns `false` if it was asked before.
    pub(crate) fn stop(&self) -> bool {
        let is_first = !self.stopping.swap(true, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
        is_first
    }
}

impl Drop for LearningThread {
    fn drop(&mut self) {
        self.stop();
        // A rebuild in progress is finished first.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// State of the learning thread.
struct LogFollower {
    learner: Learner,
    models: SuggestionModels,
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
    queries: Vec<(String, f32)>,
}

impl LogFollower {
    fn tick(&mut self) {
        let now = self.learner.state.logs.now();
        self.learner.learn();
        if let Err(error) = self.rebuild_suggestions().and_then(|()| self.warm_history()) {
            tracing::warn!(%error, "cannot update suggestions");
        }
        let logs = &self.learner.state.logs;
        logs.system.tick(now, &logs.writer);
    }

    /// Rebuilds suggestions if pages or queries are new and the last rebuild is long enough ago.
    fn rebuild_suggestions(&mut self) -> Result<(), QueryError> {
        let queries = self.learner.state.suggested_queries();
        let processor = &self.learner.processor;
        let view = processor.view()?;
        if let Some(inputs) = &self.last_rebuild {
            let is_new = inputs.generation != view.state_id() || inputs.queries != queries;
            if !is_new || inputs.when.elapsed() < self.rest {
                return Ok(());
            }
        }
        let started = Instant::now();
        let before = processor.suggestion_sources();
        processor.set_suggestion_sources(self.models.collect(&*view, queries.clone(), &before)?);
        self.rest = self.models.config.refresh.max(started.elapsed() * MAX_SHARE);
        let generation = view.state_id().to_string();
        self.last_rebuild = Some(RebuildInputs { when: Instant::now(), generation, queries });
        Ok(())
    }

    /// Warms up a new history with frequent queries.
    fn warm_history(&mut self) -> Result<(), QueryError> {
        let Learner { processor, state, .. } = &self.learner;
        let history = processor.view()?.history().map(String::from);
        if history != self.history {
            self.learner.load_learnt_clicks();
            let queries = state.with_statistics(|statistics| statistics.frequent(WARM_UP_QUERIES));
            let count = processor.warm(queries.iter().map(String::as_str))?;
            tracing::debug!(queries = count, "warmed up a new history");
            self.history = history;
        }
        Ok(())
    }
}
