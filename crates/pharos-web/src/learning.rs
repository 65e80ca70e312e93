//! What the service writes down and learns: logs, and from them hot queries, related queries, clicks, suggestions.
//!
//! One thread keeps it up to date: it follows the logs, hands clicks to the ranking, gathers [`Help`] when pages or queries
//! are new, asks a new history generation what people ask most, and ends the slots of the system log. Requests only read.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pharos_core::{Clock, Config, PageUrl, SystemClock};
use pharos_mining::system::{Readings, SystemSlots};
use pharos_mining::{ClickedResult, Log, Memory, Visits};
use pharos_query::{CacheUse, Help, Search};
use pharos_store::DataDir;

use crate::impressions::Impressions;
use crate::sessions::Sessions;

/// How often the logs are looked at.
const TICK: Duration = Duration::from_secs(1);

/// Of the time, no more than one in so many goes into gathering help.
const SHARE: u32 = 20;

/// Related queries that are shown.
const RELATED: usize = 8;
/// How long those of a query stay as they are, and of how many queries they are known.
const RELATED_FOR: Duration = Duration::from_secs(10);
const RELATED_KNOWN: usize = 10_000;

/// Queries that a new generation is asked before people ask it.
const WARMED: usize = 48;

/// Logs and what they teach. Dropping it stops its thread and writes down what is not written yet.
pub struct Learning {
    pub(crate) shared: Arc<Shared>,
    /// It is over: the thread ends, and the last records are written.
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What requests read.
pub(crate) struct Shared {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: Log,
    pub(crate) visits: Visits,
    pub(crate) sessions: Sessions,
    pub(crate) impressions: Impressions,
    pub(crate) system: SystemSlots,
    /// Nothing until the logs are read, which takes a while where there are many.
    memory: RwLock<Option<Memory>>,
    related: Mutex<HashMap<String, (Instant, Vec<String>)>>,
    counts: Arc<Counts>,
}

/// What requests count for the system log.
#[derive(Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    failures: AtomicU64,
}

impl Learning {
    /// Opens the logs of a data directory and begins to learn from them. `crawled` gives what else is counted, where this
    /// process crawls: counters that only grow.
    pub fn start(
        data: &DataDir,
        config: &Config,
        search: Arc<Search>,
        crawled: impl Fn() -> Readings + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let now = clock.now();
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        let readings = move || {
            let crawled = crawled();
            Readings {
                errors: crawled.errors + counted.failures.load(Ordering::Relaxed),
                cache_hits: counted.hits.load(Ordering::Relaxed),
                cache_misses: counted.misses.load(Ordering::Relaxed),
                ..crawled
            }
        };
        let shared = Arc::new(Shared {
            log: Log::open(data, &config.log, Arc::clone(&clock)),
            visits: Visits::open(data, &config.log, Arc::clone(&clock)),
            sessions: Sessions::default(),
            impressions: Impressions::default(),
            system: SystemSlots::new(data, config.log.slot, now, readings),
            memory: RwLock::default(),
            related: Mutex::default(),
            clock,
            counts,
        });
        let stopping = Arc::new(AtomicBool::new(false));
        let mut keeper = Keeper {
            shared: Arc::clone(&shared),
            search,
            data: data.clone(),
            config: config.clone(),
            click_day: None,
            history: None,
            gathered: None,
            rest: Duration::ZERO,
        };
        let stop = Arc::clone(&stopping);
        let thread = thread::Builder::new().name("learning".into()).spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                keeper.tick();
                thread::park_timeout(TICK);
            }
        })?;
        Ok(Self { shared, stopping, thread: Some(thread) })
    }
}

impl Learning {
    /// Writes down what is not written yet. Whoever still holds it, for a query that takes too long, holds that up no more.
    pub(crate) fn finish(&self) {
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
        self.finish();
        // What is being gathered is not waited for longer than it takes.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Recalls something; nothing as long as the logs were not read.
    pub(crate) fn recall<T: Default>(&self, recall: impl FnOnce(&Memory) -> T) -> T {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        memory.as_ref().map(recall).unwrap_or_default()
    }

    /// Queries related to one; looked up anew now and then, since that takes longer than an answer that is known.
    pub(crate) fn related(&self, query: &str) -> Vec<String> {
        let known = || self.related.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().get(query).cloned();
        let is_new = before.as_ref().is_some_and(|(when, _)| when.elapsed() < RELATED_FOR);
        // While logs are being read, which may take long, nobody waits for what is shown at the foot of a page.
        let memory = if is_new { None } else { self.memory.try_read().ok() };
        let Some(memory) = memory else { return before.map(|(_, related)| related).unwrap_or_default() };
        let related = memory.as_ref().map(|memory| memory.related(query, RELATED)).unwrap_or_default();
        drop(memory);
        let mut known = known();
        if known.len() >= RELATED_KNOWN {
            known.clear();
        }
        known.insert(query.to_string(), (Instant::now(), related.clone()));
        related
    }

    /// A query was answered.
    pub(crate) fn answered(&self, took: Duration, cache: CacheUse) {
        self.system.observe_query(took);
        let count = if cache == CacheUse::Hit { &self.counts.hits } else { &self.counts.misses };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// A query could not be answered.
    pub(crate) fn failed(&self) {
        self.counts.failures.fetch_add(1, Ordering::Relaxed);
    }
}

/// The thread's own.
struct Keeper {
    shared: Arc<Shared>,
    search: Arc<Search>,
    data: DataDir,
    config: Config,
    /// The day of the last click that was taken in.
    click_day: Option<String>,
    /// The history that was warmed.
    history: Option<String>,
    gathered: Option<Gathered>,
    /// How long to wait before gathering again.
    rest: Duration,
}

/// What help was gathered from.
struct Gathered {
    when: Instant,
    generation: String,
    queries: Vec<(String, u64)>,
}

/// What the logs say.
#[derive(Default)]
struct News {
    /// Clicks on results since the last look.
    clicks: Vec<ClickedResult>,
    /// All queries that may be suggested, with how often they were asked.
    queries: Vec<(String, u64)>,
}

impl Keeper {
    fn tick(&mut self) {
        let now = self.shared.clock.now();
        let News { clicks, queries } = match self.follow_logs() {
            Ok(news) => news,
            Err(error) => {
                tracing::warn!(%error, "the logs cannot be read");
                News::default()
            }
        };
        for click in clicks {
            if self.click_day.as_ref().is_some_and(|day| *day < click.day) {
                self.search.end_click_day();
            }
            self.click_day = Some(click.day);
            if let Ok(url) = PageUrl::parse(&click.url) {
                self.search.click(&click.query, url.id(), click.page as usize);
            }
        }
        if let Err(error) = self.help(queries).and_then(|()| self.warm()) {
            tracing::warn!(%error, "help stays as it was");
        }
        self.shared.system.tick(now, &self.shared.log);
    }

    /// What is new in the logs.
    fn follow_logs(&mut self) -> io::Result<News> {
        let now = self.shared.clock.now();
        let lock = || self.shared.memory.write().unwrap_or_else(PoisonError::into_inner);
        if lock().is_none() {
            // Nobody waits meanwhile.
            let memory = Memory::open(&self.data, &self.config, now)?;
            *lock() = Some(memory);
        }
        // Reading and sorting take their time, and others recall what they want meanwhile.
        let Some(new) = self.shared.recall(|memory| Some(memory.read(now))) else {
            return Ok(News::default());
        };
        let new = new?;
        let clicks = lock().as_mut().map(|memory| {
            memory.learn(new, now);
            memory.take_clicks()
        });
        Ok(News { clicks: clicks.unwrap_or_default(), queries: self.shared.recall(Memory::phrases) })
    }

    /// Gathers help anew where pages or queries are new, and it was not done just now.
    fn help(&mut self, queries: Vec<(String, u64)>) -> Result<(), pharos_query::QueryError> {
        let snapshot = self.search.snapshot()?;
        if let Some(gathered) = &self.gathered {
            let is_new = gathered.generation != snapshot.generation() || gathered.queries != queries;
            if !is_new || gathered.when.elapsed() < self.rest {
                return Ok(());
            }
        }
        let started = Instant::now();
        let before = self.search.help();
        let models = self.data.models();
        self.search.set_help(Help::gather(
            &models,
            &*snapshot,
            queries.clone(),
            &self.config.suggest,
            &before,
        )?);
        self.rest = self.config.suggest.refresh.max(started.elapsed() * SHARE);
        let generation = snapshot.generation().to_string();
        self.gathered = Some(Gathered { when: Instant::now(), generation, queries });
        Ok(())
    }

    /// Asks a new history what people ask.
    fn warm(&mut self) -> Result<(), pharos_query::QueryError> {
        let snapshot = self.search.snapshot()?;
        let history = snapshot.history().map(String::from);
        if history != self.history {
            let queries = self.shared.recall(|memory| memory.frequent(WARMED));
            let asked = self.search.warm(queries.iter().map(String::as_str))?;
            tracing::debug!(asked, "a new history was asked what people ask");
            self.history = history;
        }
        Ok(())
    }
}
