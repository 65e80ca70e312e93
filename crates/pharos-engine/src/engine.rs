//! Opens a data directory as its owner and runs the pipeline stages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_core::config::{Config, CrawlConfig, CrawlMode};
use pharos_core::{Clock, PageUrl, SystemClock};
use pharos_crawl::{Crawl, CrawlStatus, CrawlSummary, EndReason, apply_changed_settings, rules_from_config};
use pharos_index::Index;
use pharos_mining::machine::disk_space;
use pharos_mining::system::SystemCounters;
use pharos_store::catalog::RefreshIntervals;
use pharos_store::{
    Catalog, CrawlRules, DataDir, DerivedWriter, Library, LibraryEvent, LibraryRecord, OwnerLock,
    RecordContent, StoreError, StoredRecord,
};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::EngineError;
use crate::alerts::AlertSources;
use crate::build::runner::BuildRunner;
use crate::build::schedule::{BuildSchedule, BuildSources};
use crate::control::dispatch::OrderDispatcher;
use crate::control::orders::{Order, OrderQueue, home_page};
use crate::control::recrawls::RecrawlSchedule;
use crate::maintenance::backup::runner::BackupRunner;
use crate::maintenance::backup::schedule::BackupSchedule;
use crate::stages::analyse::AnalysedRecord;
use crate::stages::analysis_pool::AnalysisPool;
use crate::stages::append_stage::{AppendStage, queue_records};
use crate::stages::apply_stage::RecordApplier;
use crate::stages::carry_over::CarryOver;
use crate::stages::crawl_log::CrawlLog;
use crate::stages::ingest::{IngestPipeline, ReplayProgress};
use crate::stages::record_appender::RecordAppender;
use crate::status::data_dir::disk_usage;
use crate::status::engine_status::CrawlPhase;
use crate::status::stage_metrics::{PipelineStage, StageMetrics, readings};
use crate::stores::{Stores, refuse_behind, roll_back_damaged_history};

/// Capacity of the channel of fetched records, in records.
const RECORD_CHANNEL_CAPACITY: usize = 16;
/// Capacity of the channels between stages, in groups.
const GROUP_CHANNEL_CAPACITY: usize = 2;
/// Time that fetched records get to be applied when the time of a crawl is over. The rest is replayed at the next
/// start.
const DRAIN_PERIOD: Duration = Duration::from_millis(500);
/// Interval at which commits, builder requests and disk space are checked.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// Time after a stop request in which fetched pages are still analysed.
const ANALYSIS_GRACE: Duration = Duration::from_secs(1);

/// The engine of the owner process, with all stores open for writing.
pub struct Engine {
    pub(crate) data: DataDir,
    pub(crate) config: watch::Sender<Arc<Config>>,
    pub(crate) clock: Arc<dyn Clock>,
    command: String,
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) index: Option<Arc<dyn Index>>,
    stores: Stores,
    pub(crate) status: Arc<CrawlStatus>,
    pub(crate) stage_metrics: Arc<StageMetrics>,
    pub(crate) phase: Arc<Mutex<CrawlPhase>>,
    /// Rules of the last reconfiguration, possibly not recorded yet.
    pub(crate) intended: Mutex<Option<CrawlRules>>,
    /// Set some time after a stop was requested, to abandon the analysis of pages. They are analysed at the next start.
    analysis_cancelled: Arc<AtomicBool>,
    /// Set once an operator has started the crawl again.
    pub(crate) resumed_by_operator: AtomicBool,
    builds: Arc<BuildRunner>,
    backups: Arc<BackupRunner>,
    owner: OwnerLock,
}

/// Options of a run.
pub struct RunOptions {
    /// Start URLs, in addition to those already in the catalog.
    pub seeds: Vec<PageUrl>,
    /// Wait for due pages instead of ending when none is due.
    pub keep_going: bool,
    /// Becomes `true` when the engine should stop.
    pub stop: watch::Receiver<bool>,
}

impl Engine {
    /// Opens a data directory as its owner.
    ///
    /// `command` names the owner in messages of other processes. `indexing` makes fetched pages searchable at once. Fails if
    /// another process owns the directory, or if the library lacks records that a store has applied; then nothing is changed.
    pub fn open(data: DataDir, config: Config, command: &str, indexing: bool) -> Result<Self, EngineError> {
        let owner = own(&data, command)?;
        refuse_incomplete_restore(&data)?;
        Stores::open(&data, &config)?.check_library()?;
        Self::open_owned(owner, data, config, command, indexing)
    }

    /// Opens a data directory that the caller owns already.
    pub(crate) fn open_owned(
        owner: OwnerLock,
        data: DataDir,
        config: Config,
        command: &str,
        indexing: bool,
    ) -> Result<Self, EngineError> {
        let catalog = Stores::open(&data, &config)?.own_catalog()?;
        Self::open_with_catalog(owner, data, config, command, catalog, indexing)
    }

    /// Opens a data directory that the caller owns already, with a given catalog.
    pub(crate) fn open_with_catalog(
        owner: OwnerLock,
        data: DataDir,
        config: Config,
        command: &str,
        catalog: Arc<dyn Catalog>,
        indexing: bool,
    ) -> Result<Self, EngineError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let stores = Stores::open(&data, &config)?;
        let applied = catalog.applied_positions()?;
        // Opening the library as its owner creates a volume and sets a torn end aside.
        refuse_behind(&data, &*stores.library()?, &data.catalog(), &applied)?;
        let library = stores.own_library(&applied, clock.now())?;
        refuse_behind(&data, &*library, &data.catalog(), &applied)?;
        let index = if indexing { Some(stores.own_index()?) } else { None };
        if let Some(index) = &index {
            refuse_behind(&data, &*library, &data.index(), &index.applied_positions()?)?;
        }
        let builds = Arc::new(BuildRunner::new(data.clone(), &config));
        let backups = Arc::new(BackupRunner::new(stores.clone()));
        Ok(Self {
            data,
            config: watch::Sender::new(Arc::new(config)),
            clock,
            command: command.to_string(),
            library,
            catalog,
            index,
            stores,
            status: Arc::default(),
            stage_metrics: Arc::default(),
            phase: Arc::default(),
            intended: Mutex::default(),
            analysis_cancelled: Arc::default(),
            resumed_by_operator: AtomicBool::new(false),
            builds,
            backups,
            owner,
        })
    }

    /// Closes all stores and returns the ownership.
    pub(crate) fn close(self) -> OwnerLock {
        self.owner
    }

    /// Returns the index if this engine maintains it.
    pub fn index(&self) -> Option<Arc<dyn Index>> {
        self.index.clone()
    }

    /// Prepares the index for serving queries. Call before [`run`](Self::run).
    ///
    /// Reads the history generation once and falls back to the previous one if it is damaged.
    pub fn prepare_serving(&self) -> Result<(), EngineError> {
        if let Some(index) = &self.index {
            Arc::clone(index).serve()?;
            roll_back_damaged_history(&**index)?;
        }
        Ok(())
    }

    /// Starts building a new history whenever one is due, on a separate thread, until `stop` becomes `true`.
    pub fn start_build_schedule(&self, stop: watch::Receiver<bool>) -> Result<BuildSchedule, EngineError> {
        let sources = BuildSources {
            config: self.config.subscribe(),
            clock: Arc::clone(&self.clock),
            crawl: self.status(),
        };
        BuildSchedule::start(self.builds(), sources, self.index.clone(), stop)
    }

    /// Starts making backups whenever one is due (`backup.schedule`), on a separate thread, until `stop` becomes `true`.
    pub fn start_backup_schedule(&self, stop: watch::Receiver<bool>) -> Result<BackupSchedule, EngineError> {
        BackupSchedule::start(self.backups(), self.config.subscribe(), Arc::clone(&self.clock), stop)
    }

    /// Starts ordering the visits of `crawl.recrawl` whenever they are due, on a separate thread, until `stop` becomes
    /// `true`.
    pub fn start_recrawl_schedule(
        &self,
        stop: watch::Receiver<bool>,
    ) -> Result<RecrawlSchedule, EngineError> {
        RecrawlSchedule::start(
            self.data.clone(),
            self.catalog(),
            self.config.subscribe(),
            Arc::clone(&self.clock),
            stop,
        )
    }

    /// Returns the parts of this engine that alerts are about; see [`watch_alerts`](crate::alerts::watch_alerts).
    pub fn alert_sources(&self) -> AlertSources {
        AlertSources {
            data: self.data.clone(),
            config: self.config.subscribe(),
            status: self.status(),
            phase: Arc::clone(&self.phase),
            builds: self.builds(),
        }
    }

    /// Returns the runner of backups.
    pub fn backups(&self) -> Arc<BackupRunner> {
        Arc::clone(&self.backups)
    }

    /// Returns the runner of index builds.
    pub fn builds(&self) -> Arc<BuildRunner> {
        Arc::clone(&self.builds)
    }

    /// Returns the current settings.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.borrow())
    }

    /// Returns the library.
    pub fn library(&self) -> Arc<dyn Library> {
        Arc::clone(&self.library)
    }

    /// Returns the catalog.
    pub fn catalog(&self) -> Arc<dyn Catalog> {
        Arc::clone(&self.catalog)
    }

    /// Returns the number of pages with at least one stored response.
    pub fn stored_pages(&self) -> Result<u64, EngineError> {
        Ok(self.catalog.counts()?.stored)
    }

    /// Returns the live status of the crawl.
    pub fn status(&self) -> Arc<CrawlStatus> {
        Arc::clone(&self.status)
    }

    /// Returns a function that reads the counters of pages fetched, parsed and indexed since the engine was opened.
    pub fn readings(&self) -> impl Fn() -> SystemCounters + Send + Sync + 'static {
        readings(Arc::clone(&self.stage_metrics), self.status())
    }

    /// Replays records that the stores have not applied and returns the pipeline for new records.
    pub fn ingest(&self, stop: &watch::Receiver<bool>) -> Result<IngestPipeline, EngineError> {
        self.ingest_with_progress(&mut |_| !*stop.borrow())
    }

    /// Like [`ingest`](Self::ingest); `keep_going` receives the progress of the replay and returns `false` to stop.
    pub(crate) fn ingest_with_progress(
        &self,
        keep_going: &mut dyn FnMut(ReplayProgress) -> bool,
    ) -> Result<IngestPipeline, EngineError> {
        self.ingest_deriving(true, keep_going)
    }

    /// Like [`ingest_with_progress`](Self::ingest_with_progress), with or without writing derived data.
    ///
    /// A crawl without indexing skips derived data to save time. A later run finds the gap and fills it.
    pub(crate) fn ingest_deriving(
        &self,
        deriving: bool,
        keep_going: &mut dyn FnMut(ReplayProgress) -> bool,
    ) -> Result<IngestPipeline, EngineError> {
        let mut derived = DerivedWriter::open(&self.data.library(), pharos_html::VERSION)?;
        let reached = derived.pending_position();
        let end = self.library.end()?.get(reached.log);
        if reached > end {
            // The library has lost its end; derived data beyond it would collide with new records.
            for number in end.volume..=reached.volume {
                derived.drop_file(number)?;
            }
        }
        let catalog = Arc::clone(&self.catalog);
        let derived = deriving.then_some(derived);
        let carry = CarryOver::open(self.data.graph());
        let applier = RecordApplier::new(
            self.config.subscribe(),
            self.stores.clone(),
            catalog,
            derived,
            self.index.clone(),
            carry,
            Arc::clone(&self.clock),
        )?;
        let mut ingest = IngestPipeline {
            config: self.config.subscribe(),
            clock: Arc::clone(&self.clock),
            library: Arc::clone(&self.library),
            catalog: Arc::clone(&self.catalog),
            orders: OrderQueue::open(&self.data),
            appender: self.appender(),
            pool: AnalysisPool::cancellable(&self.config(), Arc::clone(&self.analysis_cancelled))?
                .with_categories(&self.data),
            applier,
        };
        ingest.replay(keep_going)?;
        Ok(ingest)
    }

    fn appender(&self) -> RecordAppender {
        RecordAppender {
            library: Arc::clone(&self.library),
            catalog: Arc::clone(&self.catalog),
            requests: self.config().library.requests,
        }
    }

    /// Replays records that the stores have not applied, then crawls until nothing is due or `stop` becomes `true`.
    pub async fn run(&self, run: RunOptions) -> Result<CrawlSummary, EngineError> {
        self.set_phase(CrawlPhase::Replaying);
        self.analysis_cancelled.store(false, Ordering::Relaxed);
        let cancelling =
            tokio::spawn(cancel_after_stop(run.stop.clone(), Arc::clone(&self.analysis_cancelled)));
        let result = self.run_stages(run).await;
        cancelling.abort();
        // Orders of an idle engine are executed, and the rest is replayed then.
        self.analysis_cancelled.store(false, Ordering::Relaxed);
        self.set_phase(CrawlPhase::from_result(&result));
        result
    }

    async fn run_stages(&self, run: RunOptions) -> Result<CrawlSummary, EngineError> {
        let config = self.config();
        let mut ingest = self.ingest_deriving(self.index.is_some(), &mut |_| !*run.stop.borrow())?;
        let rules_before = self.catalog.rules()?;
        self.record_seeds(&mut ingest, &run.seeds)?;
        let rules_changed = is_rule_change(rules_before.as_ref(), self.catalog.rules()?.as_ref());
        self.apply_refresh_settings()?;
        self.set_phase(CrawlPhase::Running);
        let IngestPipeline { appender, pool, mut applier, .. } = ingest;
        let depth = applier.analysis_depth();
        applier.abandon_when(Arc::clone(&self.analysis_cancelled));

        let (record_in, record_out) = mpsc::channel::<LibraryRecord>(RECORD_CHANNEL_CAPACITY);
        let (waiting_in, waiting_out) = mpsc::unbounded_channel();
        let queueing = tokio::spawn(queue_records(
            record_out,
            config.engine.queue.bytes(),
            waiting_in,
            Arc::clone(&self.stage_metrics),
        ));
        let (stored_in, stored_out) = sync_channel::<Vec<StoredRecord>>(GROUP_CHANNEL_CAPACITY);
        let (read_in, read_out) = sync_channel::<Vec<AnalysedRecord>>(GROUP_CHANNEL_CAPACITY);
        let (applied_in, applied_out) = mpsc::unbounded_channel();

        let append = AppendStage { appender, stage_metrics: Arc::clone(&self.stage_metrics) };
        let appending = spawn_stage("append", move || Ok(append.run(waiting_out, &stored_in)?))?;
        let (analysis_config, library) = (Arc::clone(&config), Arc::clone(&self.library));
        let mut log = CrawlLog::open(&self.data);
        let stage_metrics = Arc::clone(&self.stage_metrics);
        let reading = spawn_stage("analyse", move || {
            for group in stored_out {
                log.write(&group);
                let records = group.len() as i64;
                let read = match pool.analyse(group, &*library, &analysis_config, depth) {
                    // The next start continues with these records; those after them are still stored.
                    Err(EngineError::Stopped) => continue,
                    read => read?,
                };
                stage_metrics.add_parsed(read.iter().filter(|read| read.page.is_some()).count());
                stage_metrics.adjust_queue(PipelineStage::Analyse, -records);
                stage_metrics.adjust_queue(PipelineStage::Apply, records);
                if read_in.send(read).is_err() {
                    break;
                }
            }
            Ok(())
        })?;
        let (stage_metrics, indexing) = (Arc::clone(&self.stage_metrics), self.index.is_some());
        let applying = spawn_stage("apply", move || {
            loop {
                match read_out.recv_timeout(TICK) {
                    Ok(group) => {
                        let records = group.len() as i64;
                        let pages = group.iter().filter(|read| read.page.is_some()).count();
                        // The receiver is gone once the crawl is over.
                        let _ = applied_in.send(applier.apply(group)?);
                        stage_metrics.adjust_queue(PipelineStage::Apply, -records);
                        stage_metrics.add_indexed(if indexing { pages } else { 0 });
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return applier.finish(),
                }
                applier.tick()?;
                applier.plan_refresh()?;
            }
        })?;

        let (halt, halted) = watch::channel(false);
        let dispatching = tokio::spawn(
            OrderDispatcher {
                orders: OrderQueue::open(&self.data),
                catalog: Arc::clone(&self.catalog),
                clock: Arc::clone(&self.clock),
                config: self.config.subscribe(),
                status: self.status(),
                halt,
                stop: run.stop.clone(),
            }
            .run(record_in.clone()),
        );
        let options = RunOptions { stop: halted, ..run };
        let crawled = self.crawl(options, rules_changed, record_in, applied_out).await;
        dispatching.abort();
        // Its sender is dropped only when the task has ended.
        let _ = dispatching.await;
        // The record channel is closed now, so the stages end one after another.
        let draining =
            tokio::spawn(limit_drain(is_cut_short(&crawled), Arc::clone(&self.analysis_cancelled)));
        let _ = queueing.await;
        let ended = tokio::task::spawn_blocking(move || {
            let ends = [("appending", appending), ("reading", reading), ("applying", applying)];
            ends.map(|(name, handle)| handle.join().unwrap_or(Err(EngineError::StageFailed(name))))
        })
        .await
        .map_err(|_| EngineError::StageFailed("closing"))?;
        draining.abort();
        for end in ended {
            end?;
        }
        if self.analysis_cancelled.load(Ordering::Relaxed) {
            info!(
                "the crawl ended before all fetched pages were processed; the next start processes the rest"
            );
        }
        crawled
    }

    async fn crawl(
        &self,
        run: RunOptions,
        rules_changed: bool,
        records: mpsc::Sender<LibraryRecord>,
        applied: mpsc::UnboundedReceiver<pharos_crawl::AppliedRecords>,
    ) -> Result<CrawlSummary, EngineError> {
        let watching =
            tokio::spawn(watch_disk_space(self.data.clone(), self.config.subscribe(), self.status()));
        // A previous crawl may have ended at the disk limit.
        self.status.begin();
        let summary = pharos_crawl::run_crawl(Crawl {
            config: Arc::new(self.config().crawl.clone()),
            catalog: Arc::clone(&self.catalog),
            clock: Arc::clone(&self.clock),
            records,
            applied,
            status: self.status(),
            keep_going: run.keep_going,
            rules_changed,
            stop: run.stop,
        })
        .await;
        watching.abort();
        Ok(summary?)
    }

    /// Applies changed refresh intervals to pages that are scheduled already.
    pub(crate) fn apply_refresh_settings(&self) -> Result<(), EngineError> {
        let pages =
            self.catalog.set_refresh_intervals(&RefreshIntervals::from_config(&self.config().crawl))?;
        if pages > 0 {
            info!(pages, "changed refresh intervals applied to known pages");
        }
        Ok(())
    }

    /// Updates the rules of a resumed crawl.
    ///
    /// Recorded rules stay in force, except those that the configuration sets to something other than the default.
    fn update_rules(
        &self,
        ingest: &mut IngestPipeline,
        recorded: CrawlRules,
        config: &CrawlConfig,
    ) -> Result<(), EngineError> {
        let rules = apply_changed_settings(recorded.clone(), &CrawlConfig::default(), config);
        let seeds = self.catalog.seed_sites()?;
        match seeds.iter().find_map(home_page).filter(|_| rules != recorded) {
            Some(about) => ingest.execute_order(&Order::Rules { about, rules: Box::new(rules) }),
            None => Ok(()),
        }
    }

    /// Records seeds and rules of the crawl before its first request.
    fn record_seeds(&self, ingest: &mut IngestPipeline, seeds: &[PageUrl]) -> Result<(), EngineError> {
        let (now, config) = (self.clock.now(), self.config());
        let Some(first) = seeds.first() else {
            // A crawl started from the desk resumes; a new process in batch mode needs seeds.
            let resumes = config.crawl.mode == CrawlMode::Incremental
                || self.resumed_by_operator.load(Ordering::Relaxed);
            return match self.catalog.rules()?.filter(|_| resumes) {
                Some(recorded) => self.update_rules(ingest, recorded, &config.crawl),
                None => Err(EngineError::NoSeeds { command: self.command.clone() }),
            };
        };
        let fresh_since = (config.crawl.mode == CrawlMode::Batch).then_some(now);
        let rules = CrawlRules { fresh_since, ..rules_from_config(&config.crawl) };
        let started = LibraryEvent::CrawlStarted { seeds: seeds.to_vec(), rules };
        ingest.append(vec![LibraryRecord::new(first.clone(), now, RecordContent::Event(started))])
    }
}

/// Returns `true` if a crawl resumes with other rules, so that known pages must be checked.
fn is_rule_change(before: Option<&CrawlRules>, now: Option<&CrawlRules>) -> bool {
    let timeless = |rules: &CrawlRules| CrawlRules { fresh_since: None, ..rules.clone() };
    matches!((before, now), (Some(before), Some(now)) if timeless(before) != timeless(now))
}

/// Returns `true` if a crawl reached a limit of time or disk space, so that it must end promptly.
fn is_cut_short(crawled: &Result<CrawlSummary, EngineError>) -> bool {
    let ended = crawled.as_ref().map(|summary| summary.ended);
    matches!(ended, Ok(EndReason::Time | EndReason::Disk))
}

/// Abandons the records that are not applied in time.
async fn limit_drain(is_cut_short: bool, cancelled: Arc<AtomicBool>) {
    if is_cut_short {
        tokio::time::sleep(DRAIN_PERIOD).await;
        cancelled.store(true, Ordering::Relaxed);
    }
}

/// Refuses a data directory whose restore was interrupted.
fn refuse_incomplete_restore(data: &DataDir) -> Result<(), EngineError> {
    if crate::maintenance::backup::is_restore_incomplete(data) {
        return Err(EngineError::RestoreIncomplete { path: data.root().to_path_buf() });
    }
    Ok(())
}

/// Starts a stage on its own thread.
fn spawn_stage(
    name: &'static str,
    work: impl FnOnce() -> Result<(), EngineError> + Send + 'static,
) -> Result<JoinHandle<Result<(), EngineError>>, EngineError> {
    thread::Builder::new().name(name.into()).spawn(work).map_err(|_| EngineError::StageFailed(name))
}

/// Acquires ownership of the data directory, waiting for a builder, which holds it only briefly.
fn own(data: &DataDir, command: &str) -> Result<OwnerLock, StoreError> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        match data.own(command) {
            Err(StoreError::InUse { owner, .. })
                if owner.contains("pharos index ") && Instant::now() < deadline =>
            {
                thread::sleep(Duration::from_millis(50));
            }
            owned => return owned,
        }
    }
}

/// Sets the flag some time after a stop was requested.
async fn cancel_after_stop(mut stop: watch::Receiver<bool>, cancelled: Arc<AtomicBool>) {
    if stop.wait_for(|stop| *stop).await.is_ok() {
        tokio::time::sleep(ANALYSIS_GRACE).await;
        cancelled.store(true, Ordering::Relaxed);
    }
}

/// Pauses the crawl while disk space is low, and ends it when the data directory reaches its maximum size.
async fn watch_disk_space(data: DataDir, config: watch::Receiver<Arc<Config>>, status: Arc<CrawlStatus>) {
    loop {
        let (floor, most) = {
            let config = config.borrow();
            (config.engine.disk_floor.0, config.crawl.max_disk.0)
        };
        if most > 0 && disk_usage(data.root()) > most {
            status.set_full();
        }
        if let Some((_, free)) = disk_space(data.root()) {
            let low = free < floor;
            if low != status.is_disk_low() {
                status.set_disk_low(low);
                if low {
                    warn!(free, floor, "disk space is low; crawl paused (engine.disk_floor)");
                } else {
                    info!(free, "disk space is available again; crawl resumed");
                }
            }
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}
