//! Opening a data directory as its owner, and running the stages.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pharos_core::config::Config;
use pharos_core::{Clock, PageUrl, SystemClock};
use pharos_crawl::{Crawl, CrawlStatus, CrawlSummary, rules_of};
use pharos_index::{EmbeddedIndex, Generations, Index as _};
use pharos_store::{
    Catalog, Content, DataDir, DiskLibrary, Event, Library, Owner, Record, SqliteCatalog, StoreError,
    StoredRecord,
};
use rayon::prelude::*;
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::absorb::{Absorber, open_index};
use crate::reading::{self, Read};
use crate::shelve::shelve;
use crate::{EngineError, space};

/// Groups that may wait between two stages.
const WAITING_GROUPS: usize = 2;
/// Records of a group when the library is replayed.
const REPLAY_GROUP: usize = 64;
/// How often pages become visible, wishes are looked at and disk space is checked, at least.
const TICK: Duration = Duration::from_millis(100);

/// The owner's engine: all stores open for writing.
pub struct Engine {
    data: DataDir,
    config: Arc<Config>,
    clock: Arc<dyn Clock>,
    command: String,
    library: Arc<dyn Library>,
    catalog: Arc<dyn Catalog>,
    index: Option<Arc<EmbeddedIndex>>,
    generations: Generations,
    status: Arc<CrawlStatus>,
    _owner: Owner,
}

/// What to run.
pub struct Run {
    /// Where to start, in addition to what is already known.
    pub seeds: Vec<PageUrl>,
    /// Whether to wait for more when nothing is due.
    pub keep_going: bool,
    /// Becomes true when the engine is to stop.
    pub stop: watch::Receiver<bool>,
}

impl Engine {
    /// Opens a data directory as its owner. `command` names the owner to others; `indexing` says whether fetched
    /// pages become searchable at once.
    pub fn open(data: DataDir, config: Config, command: &str, indexing: bool) -> Result<Self, EngineError> {
        let owner = own(&data, command)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let catalog = SqliteCatalog::open_writer(&data.catalog())?;
        let library = DiskLibrary::open_writer(
            &data.library(),
            config.library.file_size.0,
            config.library.level,
            catalog.absorbed()?,
            clock.now(),
        )?;
        let generations = Generations::at(data.index());
        let index = if indexing { Some(Arc::new(open_index(&generations, &config)?)) } else { None };
        let end = library.end()?;
        if catalog.absorbed()? > end {
            return Err(EngineError::Ahead { path: data.catalog() });
        }
        if let Some(index) = &index
            && index.absorbed()? > end
        {
            return Err(EngineError::Ahead { path: data.index() });
        }
        Ok(Self {
            data,
            config: Arc::new(config),
            clock,
            command: command.to_string(),
            library: Arc::new(library),
            catalog: Arc::new(catalog),
            index,
            generations,
            status: Arc::default(),
            _owner: owner,
        })
    }

    /// The index, where this engine keeps it up to date.
    pub fn index(&self) -> Option<Arc<EmbeddedIndex>> {
        self.index.clone()
    }

    /// The library.
    pub fn library(&self) -> Arc<dyn Library> {
        Arc::clone(&self.library)
    }

    /// How many pages have ever been answered.
    pub fn stored_pages(&self) -> Result<u64, EngineError> {
        Ok(self.catalog.counts()?.stored)
    }

    /// Goes on doing what builders ask for, after a run has ended, until told to stop.
    pub async fn attend(&self, mut stop: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(TICK) => {}
            }
            if let Some(index) = self.index.clone()
                && self.generations.waiting().is_some()
                && let Ok(Err(error)) = tokio::task::spawn_blocking(move || index.fulfil_wish()).await
            {
                warn!(%error, "could not do what the builder asked for");
            }
        }
    }

    /// How the crawl is doing; changes while it runs.
    pub fn status(&self) -> Arc<CrawlStatus> {
        Arc::clone(&self.status)
    }

    /// Replays what the stores have not absorbed, then crawls until there is nothing to do or it is told to stop.
    pub async fn run(&self, run: Run) -> Result<CrawlSummary, EngineError> {
        let pool = reading_pool(reading_threads(&self.config))?;

        let mut absorber =
            Absorber::new(Arc::clone(&self.config), Arc::clone(&self.catalog), self.index.clone())?;
        self.replay(&mut absorber, &pool, &run.stop)?;
        self.take_seeds(&mut absorber, &run.seeds)?;

        // A channel of records holds as many full-sized bodies as its budget of bytes allows.
        let waiting =
            (self.config.engine.queue.bytes() / self.config.crawl.body_limit.bytes().max(1)).clamp(16, 256);
        let (record_in, record_out) = mpsc::channel::<Record>(waiting);
        let (stored_in, stored_out) = sync_channel::<Vec<StoredRecord>>(WAITING_GROUPS);
        let (read_in, read_out) = sync_channel::<Vec<Read>>(WAITING_GROUPS);
        let (absorbed_in, absorbed_out) = mpsc::unbounded_channel();

        let library = Arc::clone(&self.library);
        let shelving = stage("shelve", move || Ok(shelve(&library, record_out, &stored_in)?))?;
        let config = Arc::clone(&self.config);
        let reading = stage("read", move || {
            for group in stored_out {
                if read_in.send(read_group(&pool, group, &config)).is_err() {
                    break;
                }
            }
            Ok(())
        })?;
        let generations = self.generations.clone();
        let absorbing = stage("absorb", move || {
            loop {
                match read_out.recv_timeout(TICK) {
                    Ok(group) => {
                        // The crawl may be over; then nobody listens.
                        let _ = absorbed_in.send(absorber.absorb(group)?);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return absorber.finish(),
                }
                absorber.tick(&generations)?;
            }
        })?;

        let crawled = self.crawl(run, record_in, absorbed_out).await;
        // The record channel is closed now, so the stages end one after the other.
        let ended = tokio::task::spawn_blocking(move || {
            let ends = [("shelving", shelving), ("reading", reading), ("absorbing", absorbing)];
            ends.map(|(name, handle)| handle.join().unwrap_or(Err(EngineError::Stage(name))))
        })
        .await
        .map_err(|_| EngineError::Stage("closing"))?;
        for end in ended {
            end?;
        }
        crawled
    }

    async fn crawl(
        &self,
        run: Run,
        records: mpsc::Sender<Record>,
        absorbed: mpsc::UnboundedReceiver<pharos_crawl::Absorbed>,
    ) -> Result<CrawlSummary, EngineError> {
        let crawl = &self.config.crawl;
        let watching =
            tokio::spawn(watch_space(self.data.clone(), self.config.engine.disk_floor.0, self.status()));
        let summary = pharos_crawl::run(Crawl {
            config: Arc::new(crawl.clone()),
            catalog: Arc::clone(&self.catalog),
            clock: Arc::clone(&self.clock),
            records,
            absorbed,
            status: self.status(),
            keep_going: run.keep_going,
            stop: run.stop,
        })
        .await;
        watching.abort();
        Ok(summary?)
    }

    /// Records where the crawl starts and what it may follow, before its first request.
    fn take_seeds(&self, absorber: &mut Absorber, seeds: &[PageUrl]) -> Result<(), EngineError> {
        let Some(first) = seeds.first() else {
            let known = self.catalog.rules()?.is_some();
            return if known { Ok(()) } else { Err(EngineError::NoSeeds { command: self.command.clone() }) };
        };
        let started = Event::CrawlStarted { seeds: seeds.to_vec(), rules: rules_of(&self.config.crawl) };
        let (url, at) = (first.clone(), self.clock.now());
        let record = Record { url, at, depth: 0, hops: 0, attempt: 0, content: Content::Event(started) };
        let positions = self.library.append(std::slice::from_ref(&record))?;
        let stored = positions.into_iter().map(|(position, next)| StoredRecord {
            position,
            next,
            record: record.clone(),
        });
        absorber.absorb(stored.map(|stored| reading::read(stored, &self.config)).collect())?;
        Ok(())
    }

    /// Brings catalog and latest up to the end of the library.
    fn replay(
        &self,
        absorber: &mut Absorber,
        pool: &rayon::ThreadPool,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), EngineError> {
        let from = absorber.behind();
        let end = self.library.end()?;
        if from >= end {
            return Ok(());
        }
        let started = Instant::now();
        let mut records = 0;
        let mut scan = self.library.scan(from)?;
        loop {
            let mut group = Vec::with_capacity(REPLAY_GROUP);
            for stored in scan.by_ref() {
                match stored {
                    Ok(stored) => group.push(stored),
                    Err(damage @ StoreError::Damaged { .. }) => warn!("{damage}"),
                    Err(error) => return Err(error.into()),
                }
                if group.len() == REPLAY_GROUP {
                    break;
                }
            }
            if group.is_empty() {
                break;
            }
            records += group.len();
            absorber.absorb(read_group(pool, group, &self.config))?;
            absorber.tick(&self.generations)?;
            if *stop.borrow() {
                absorber.finish()?;
                return Err(EngineError::Stopped);
            }
        }
        absorber.finish()?;
        info!(records, from = %from, took = ?started.elapsed(), "replayed the library");
        Ok(())
    }
}

/// How many threads read pages.
pub(crate) fn reading_threads(config: &Config) -> usize {
    match config.engine.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// The threads that read pages.
pub(crate) fn reading_pool(threads: usize) -> Result<rayon::ThreadPool, EngineError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("read-{n}"));
    pool.build().map_err(|_| EngineError::Stage("reading"))
}

/// Reads a group of records on all cores, keeping their order.
pub(crate) fn read_group(pool: &rayon::ThreadPool, group: Vec<StoredRecord>, config: &Config) -> Vec<Read> {
    pool.install(|| group.into_par_iter().map(|stored| reading::read(stored, config)).collect())
}

/// Starts a stage on a thread of its own.
fn stage(
    name: &'static str,
    work: impl FnOnce() -> Result<(), EngineError> + Send + 'static,
) -> Result<JoinHandle<Result<(), EngineError>>, EngineError> {
    thread::Builder::new().name(name.into()).spawn(work).map_err(|_| EngineError::Stage(name))
}

/// Owns the data directory. A builder holds it for moments only: those are waited for.
fn own(data: &DataDir, command: &str) -> Result<Owner, StoreError> {
    let patience = Instant::now() + Duration::from_secs(5);
    loop {
        match data.own(command) {
            Err(StoreError::InUse { owner, .. })
                if owner.contains("index build") && Instant::now() < patience =>
            {
                thread::sleep(Duration::from_millis(50));
            }
            owned => return owned,
        }
    }
}

/// Pauses the crawl while the disk is nearly full.
async fn watch_space(data: DataDir, floor: u64, status: Arc<CrawlStatus>) {
    loop {
        if let Some(free) = space::free(data.root()) {
            let low = free < floor;
            if low != status.is_paused() {
                status.set_paused(low);
                if low {
                    warn!(
                        free,
                        floor,
                        "the disk is nearly full: the crawl pauses until there is room (engine.disk_floor)"
                    );
                } else {
                    info!(free, "there is room on the disk again: the crawl goes on");
                }
            }
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}
