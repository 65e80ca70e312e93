//! Opening a data directory as its owner, and running the stages.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pharos_core::config::{Config, CrawlConfig, Mode};
use pharos_core::{Clock, PageUrl, SystemClock};
use pharos_crawl::{Crawl, CrawlStatus, CrawlSummary, changed_rules, rules_of};
use pharos_index::{EmbeddedIndex, Generations, Index as _};
use pharos_mining::system::Readings;
use pharos_store::{
    Catalog, Content, CrawlRules, DataDir, DerivedWriter, DiskLibrary, Event, Library, Owner, Record,
    SqliteCatalog, StoreError, StoredRecord, Writing,
};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::absorb::{Absorber, go_back_from_damage, open_index};
use crate::builds::Builds;
use crate::carry::CarryOver;
use crate::control::PassingOn;
use crate::counts::{Counts, Stage, readings};
use crate::crawl_log::CrawlLog;
use crate::inbox::{Inbox, Order, home_of};
use crate::intake::Intake;
use crate::live::Phase;
use crate::readers::Readers;
use crate::reading::Read;
use crate::schedule::Schedule;
use crate::shelve::{Shelf, gather};
use crate::stats::size;
use crate::{EngineError, space};

/// Records that may wait to be gathered, whatever their size.
const RECORDS_IN_HAND: usize = 16;
/// Groups that may wait between two stages.
const WAITING_GROUPS: usize = 2;
/// How often pages become visible, wishes are looked at and disk space is checked, at least.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The owner's engine: all stores open for writing.
pub struct Engine {
    pub(crate) data: DataDir,
    pub(crate) config: watch::Sender<Arc<Config>>,
    pub(crate) clock: Arc<dyn Clock>,
    command: String,
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) index: Option<Arc<EmbeddedIndex>>,
    pub(crate) generations: Generations,
    pub(crate) status: Arc<CrawlStatus>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) phase: Arc<Mutex<Phase>>,
    /// Rules that were asked for last, which may wait to be recorded.
    pub(crate) intended: Mutex<Option<CrawlRules>>,
    /// An operator had the crawl begin again.
    pub(crate) is_attended: AtomicBool,
    builds: Arc<Builds>,
    owner: Owner,
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
        refuse_unrestored(&data)?;
        Self::open_owned(owner, data, config, command, indexing)
    }

    /// Opens a data directory that is owned already.
    pub(crate) fn open_owned(
        owner: Owner,
        data: DataDir,
        config: Config,
        command: &str,
        indexing: bool,
    ) -> Result<Self, EngineError> {
        let catalog = SqliteCatalog::open_writer(&data.catalog())?;
        Self::over(owner, data, config, command, catalog, indexing)
    }

    /// Opens a data directory that is owned already, with a catalog that need not be its own.
    pub(crate) fn over(
        owner: Owner,
        data: DataDir,
        config: Config,
        command: &str,
        catalog: SqliteCatalog,
        indexing: bool,
    ) -> Result<Self, EngineError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let library = DiskLibrary::open_writer(
            &data.library(),
            Writing::from(&config.library),
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
        let builds = Arc::new(Builds::new(data.clone(), &config));
        Ok(Self {
            data,
            config: watch::Sender::new(Arc::new(config)),
            clock,
            command: command.to_string(),
            library: Arc::new(library),
            catalog: Arc::new(catalog),
            index,
            generations,
            status: Arc::default(),
            counts: Arc::default(),
            phase: Arc::default(),
            intended: Mutex::default(),
            is_attended: AtomicBool::new(false),
            builds,
            owner,
        })
    }

    /// Closes every store and stays the owner.
    pub(crate) fn close(self) -> Owner {
        self.owner
    }

    /// The index, where this engine keeps it up to date.
    pub fn index(&self) -> Option<Arc<EmbeddedIndex>> {
        self.index.clone()
    }

    /// For an owner that answers queries, before it runs: the history in place is read once, and left for the one before
    /// where it is damaged.
    pub fn serve(&self) -> Result<(), EngineError> {
        if let Some(index) = &self.index {
            index.serve()?;
            go_back_from_damage(index)?;
        }
        Ok(())
    }

    /// Starts building a new history whenever one is due, beside everything else, until told to stop.
    pub fn build_by_schedule(&self, stop: watch::Receiver<bool>) -> Result<Schedule, EngineError> {
        Schedule::start(self.builds(), &self.config(), Arc::clone(&self.clock), self.index.clone(), stop)
    }

    /// Builds of the index that are asked for or due.
    pub fn builds(&self) -> Arc<Builds> {
        Arc::clone(&self.builds)
    }

    /// The settings as they are now.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.borrow())
    }

    /// The library.
    pub fn library(&self) -> Arc<dyn Library> {
        Arc::clone(&self.library)
    }

    /// The catalog.
    pub fn catalog(&self) -> Arc<dyn Catalog> {
        Arc::clone(&self.catalog)
    }

    /// How many pages have ever been answered.
    pub fn stored_pages(&self) -> Result<u64, EngineError> {
        Ok(self.catalog.counts()?.stored)
    }

    /// How the crawl is doing; changes while it runs.
    pub fn status(&self) -> Arc<CrawlStatus> {
        Arc::clone(&self.status)
    }

    /// Reads, whenever it is called, what was fetched, parsed and indexed since the engine was opened.
    pub fn readings(&self) -> impl Fn() -> Readings + Send + Sync + 'static {
        readings(Arc::clone(&self.counts), self.status())
    }

    /// Replays what the stores have not absorbed, and gives the way in for new records.
    pub fn intake(&self, stop: &watch::Receiver<bool>) -> Result<Intake, EngineError> {
        self.intake_telling(&mut |_| !*stop.borrow())
    }

    /// Replays what the stores have not absorbed; `go_on` hears how many records that were and says whether to go on.
    pub(crate) fn intake_telling(&self, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Intake, EngineError> {
        self.intake_that_derives(true, go_on)
    }

    /// The same, with or without page objects and links beside the library. A crawl that does not index has better
    /// things to do than to write what nobody reads yet; whoever comes after it and needs them finds the gap.
    pub(crate) fn intake_that_derives(
        &self,
        deriving: bool,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Intake, EngineError> {
        let mut derived = DerivedWriter::open(&self.data.library(), pharos_html::VERSION)?;
        let (reached, end) = (derived.reached(), self.library.end()?);
        if reached > end {
            // The library has lost its end; what was derived from it stands where new records will.
            for number in end.file..=reached.file {
                derived.drop_file(number)?;
            }
        }
        let catalog = Arc::clone(&self.catalog);
        let derived = deriving.then_some(derived);
        let carry = CarryOver::from(self.data.graph());
        let absorber = Absorber::new(self.config.subscribe(), catalog, derived, self.index.clone(), carry)?;
        let mut intake = Intake {
            config: self.config.subscribe(),
            clock: Arc::clone(&self.clock),
            library: Arc::clone(&self.library),
            catalog: Arc::clone(&self.catalog),
            inbox: Inbox::of(&self.data),
            generations: self.generations.clone(),
            readers: Readers::of(&self.config())?,
            absorber,
        };
        intake.replay(go_on)?;
        Ok(intake)
    }

    /// Replays what the stores have not absorbed, then crawls until there is nothing to do or it is told to stop.
    pub async fn run(&self, run: Run) -> Result<CrawlSummary, EngineError> {
        self.enter(Phase::Replaying);
        let ran = self.run_stages(run).await;
        self.enter(Phase::after(&ran));
        ran
    }

    async fn run_stages(&self, run: Run) -> Result<CrawlSummary, EngineError> {
        let config = self.config();
        let mut intake = self.intake_that_derives(self.index.is_some(), &mut |_| !*run.stop.borrow())?;
        self.take_seeds(&mut intake, &run.seeds)?;
        self.enter(Phase::Running);
        let Intake { readers, mut absorber, .. } = intake;
        let wanted = absorber.wanted();

        let (record_in, record_out) = mpsc::channel::<Record>(RECORDS_IN_HAND);
        let (waiting_in, waiting_out) = mpsc::unbounded_channel();
        let gathering = tokio::spawn(gather(
            record_out,
            config.engine.queue.bytes(),
            waiting_in,
            Arc::clone(&self.counts),
        ));
        let (stored_in, stored_out) = sync_channel::<Vec<StoredRecord>>(WAITING_GROUPS);
        let (read_in, read_out) = sync_channel::<Vec<Read>>(WAITING_GROUPS);
        let (absorbed_in, absorbed_out) = mpsc::unbounded_channel();

        let shelf = Shelf {
            library: Arc::clone(&self.library),
            catalog: Arc::clone(&self.catalog),
            requests: config.library.requests,
            counts: Arc::clone(&self.counts),
        };
        let shelving = stage("shelve", move || Ok(shelf.run(waiting_out, &stored_in)?))?;
        let (reading_by, library) = (Arc::clone(&config), Arc::clone(&self.library));
        let mut log = CrawlLog::of(&self.data);
        let counts = Arc::clone(&self.counts);
        let reading = stage("read", move || {
            for group in stored_out {
                log.write(&group);
                let records = group.len() as i64;
                let read = readers.read(group, &*library, &reading_by, wanted);
                counts.parsed(read.iter().filter(|read| read.page.is_some()).count());
                counts.moved(Stage::Read, -records);
                counts.moved(Stage::Absorb, records);
                if read_in.send(read).is_err() {
                    break;
                }
            }
            Ok(())
        })?;
        let (generations, counts, indexing) =
            (self.generations.clone(), Arc::clone(&self.counts), self.index.is_some());
        let absorbing = stage("absorb", move || {
            loop {
                match read_out.recv_timeout(TICK) {
                    Ok(group) => {
                        let records = group.len() as i64;
                        let pages = group.iter().filter(|read| read.page.is_some()).count();
                        // The crawl may be over; then nobody listens.
                        let _ = absorbed_in.send(absorber.absorb(group)?);
                        counts.moved(Stage::Absorb, -records);
                        counts.indexed(if indexing { pages } else { 0 });
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return absorber.finish(),
                }
                absorber.tick(&generations)?;
            }
        })?;

        let (halt, halted) = watch::channel(false);
        let orders = tokio::spawn(
            PassingOn {
                inbox: Inbox::of(&self.data),
                catalog: Arc::clone(&self.catalog),
                clock: Arc::clone(&self.clock),
                config: self.config.subscribe(),
                status: self.status(),
                halt,
                stop: run.stop.clone(),
            }
            .run(record_in.clone()),
        );
        let crawled = self.crawl(Run { stop: halted, ..run }, record_in, absorbed_out).await;
        orders.abort();
        // Its end of the channel is closed only when it is gone.
        let _ = orders.await;
        // The record channel is closed now, so the stages end one after the other.
        let _ = gathering.await;
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
        let watching = tokio::spawn(watch_space(self.data.clone(), self.config.subscribe(), self.status()));
        // One crawl may end because there is as much on the disk as there may be, and the next begin with more room.
        self.status.begin();
        let summary = pharos_crawl::run(Crawl {
            config: Arc::new(self.config().crawl.clone()),
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

    /// A crawl that goes on keeps the rules it was started with, but for those that somebody has set since to something
    /// else than what they are when nobody sets them.
    fn take_rules(
        &self,
        intake: &mut Intake,
        recorded: CrawlRules,
        config: &CrawlConfig,
    ) -> Result<(), EngineError> {
        let rules = changed_rules(recorded.clone(), &CrawlConfig::default(), config);
        let seeds = self.catalog.seed_sites()?;
        match seeds.iter().find_map(home_of).filter(|_| rules != recorded) {
            Some(about) => intake.carry_out(&Order::Rules { about, rules: Box::new(rules) }),
            None => Ok(()),
        }
    }

    /// Records where the crawl starts and what it may follow, before its first request.
    fn take_seeds(&self, intake: &mut Intake, seeds: &[PageUrl]) -> Result<(), EngineError> {
        let (now, config) = (self.clock.now(), self.config());
        let Some(first) = seeds.first() else {
            // Who begins again on the desk goes on; a new process in batch mode begins with pages that it is told.
            let goes_on = config.crawl.mode == Mode::Incremental || self.is_attended.load(Ordering::Relaxed);
            return match self.catalog.rules()?.filter(|_| goes_on) {
                Some(recorded) => self.take_rules(intake, recorded, &config.crawl),
                None => Err(EngineError::NoSeeds { command: self.command.clone() }),
            };
        };
        let fresh_since = (config.crawl.mode == Mode::Batch).then_some(now);
        let rules = CrawlRules { fresh_since, ..rules_of(&config.crawl) };
        let started = Event::CrawlStarted { seeds: seeds.to_vec(), rules };
        intake.take(vec![Record::new(first.clone(), now, Content::Event(started))])
    }
}

/// What a restore that was interrupted left behind is not to be worked with.
fn refuse_unrestored(data: &DataDir) -> Result<(), EngineError> {
    if crate::backup::is_unfinished(data) {
        return Err(EngineError::Unrestored { path: data.root().to_path_buf() });
    }
    Ok(())
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
                if owner.contains("pharos index ") && Instant::now() < patience =>
            {
                thread::sleep(Duration::from_millis(50));
            }
            owned => return owned,
        }
    }
}

/// Pauses the crawl while the disk is nearly full, and ends it when it has taken all it may.
async fn watch_space(data: DataDir, config: watch::Receiver<Arc<Config>>, status: Arc<CrawlStatus>) {
    loop {
        let (floor, most) = {
            let config = config.borrow();
            (config.engine.disk_floor.0, config.crawl.max_disk.0)
        };
        if most > 0 && size(data.root()) > most {
            status.set_full();
        }
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
