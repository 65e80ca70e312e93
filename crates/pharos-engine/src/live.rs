//! How an owner is doing, told once a second to every process that wants to know: the file `STATUS` of the data directory.
//!
//! A desk that runs in another process than the engine shows the same as one beside it. The file is replaced as a whole
//! and not synced: it says nothing that outlives a second.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_crawl::{CrawlStatus, CrawlSummary, Ended};
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};

use crate::counts::{Counts, Stage};
use crate::machine::{ThreadReading, thread_readings};
use crate::{Engine, EngineError};

const EVERY: Duration = Duration::from_secs(1);
/// What was told longer ago than this is not believed: whoever told it is gone or stands still.
const BELIEVED_FOR: Duration = Duration::from_secs(10);
/// Larger files tell nothing of ours.
const MAX_STATUS: u64 = 1 << 20;

/// What the crawl is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It has not begun, or there is none.
    #[default]
    Idle,
    /// What the stores have not absorbed is read from the library first.
    Replaying,
    /// It runs, or pauses.
    Running,
    /// There is nothing to crawl: nobody has named a page yet.
    Empty,
    /// It ended.
    Ended(Ended),
    /// It could not go on.
    Failed(String),
}

impl Phase {
    pub(crate) fn after(ran: &Result<CrawlSummary, EngineError>) -> Self {
        match ran {
            Ok(summary) => Self::Ended(summary.ended),
            Err(EngineError::Stopped) => Self::Ended(Ended::Stopped),
            Err(EngineError::NoSeeds { .. }) => Self::Empty,
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

/// How an owner is doing at one moment. Counters are since it was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Live {
    /// When this was told.
    pub at: Timestamp,
    /// Since when it runs.
    pub since: Timestamp,
    /// Its process.
    pub process: u32,
    /// What it was started as.
    pub command: String,
    /// What the crawl is doing.
    pub phase: Phase,
    /// It pauses because the disk is nearly full.
    pub no_room: bool,
    /// It pauses because the operator said so.
    pub held: bool,
    /// Pages fetched.
    pub pages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Requests without an answer.
    pub failed: u64,
    /// Pages not asked for, by a rule.
    pub refused: u64,
    /// Requests under way.
    pub under_way: u64,
    /// Requests that may be under way at once.
    pub fetchers: u64,
    /// Sites with something to do.
    pub sites: u64,
    /// Pages in memory that wait for their turn.
    pub queued: u64,
    /// Pages understood.
    pub parsed: u64,
    /// Pages made searchable.
    pub indexed: u64,
    /// Records that wait for a stage or are in its hands.
    pub waiting: BTreeMap<String, u64>,
    /// What the threads of each stage used.
    pub stages: BTreeMap<String, ThreadReading>,
}

/// What the owner of a data directory told last; nothing where none runs, or it stands still.
pub fn live(data: &DataDir) -> Option<Live> {
    let path = status_file(data);
    if fs::metadata(&path).ok()?.len() > MAX_STATUS {
        return None;
    }
    let live: Live = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let now = SystemClock.now();
    (now.since(live.at) < BELIEVED_FOR && live.at.since(now) < BELIEVED_FOR).then_some(live)
}

fn status_file(data: &DataDir) -> PathBuf {
    data.root().join("STATUS")
}

/// Tells until it is dropped, and then takes away what was told.
pub struct Telling {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Telling {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where the figures come from.
struct Teller {
    data: DataDir,
    command: String,
    since: Timestamp,
    status: Arc<CrawlStatus>,
    counts: Arc<Counts>,
    phase: Arc<Mutex<Phase>>,
    fetchers: Box<dyn Fn() -> usize + Send>,
}

impl Engine {
    /// The crawl does something else now.
    pub(crate) fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// Tells other processes how this engine is doing, as long as what this gives lives.
    pub fn tell(&self, command: &str) -> Result<Telling, EngineError> {
        let (config, status) = (self.config.subscribe(), self.status());
        let teller = Teller {
            data: self.data.clone(),
            command: command.to_string(),
            since: SystemClock.now(),
            status: self.status(),
            counts: Arc::clone(&self.counts),
            phase: Arc::clone(&self.phase),
            fetchers: Box::new(move || status.fetchers(config.borrow().crawl.fetchers)),
        };
        let (stop, stopped) = channel::<()>();
        let work = move || {
            loop {
                let started = Instant::now();
                // Whoever looks sees that nothing is told.
                let _ = teller.tell();
                let rest = EVERY.saturating_sub(started.elapsed());
                if stopped.recv_timeout(rest) == Err(RecvTimeoutError::Disconnected) {
                    let _ = fs::remove_file(status_file(&teller.data));
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("status".into()).spawn(work);
        let thread = thread.map_err(|_| EngineError::Stage("telling"))?;
        Ok(Telling { stop: Some(stop), thread: Some(thread) })
    }
}

impl Teller {
    fn tell(&self) -> std::io::Result<()> {
        let path = status_file(&self.data);
        let unfinished = path.with_extension("new");
        fs::write(&unfinished, serde_json::to_vec(&self.live())?)?;
        fs::rename(unfinished, path)
    }

    fn live(&self) -> Live {
        let crawl = self.status.snapshot();
        let readings = crate::counts::readings(Arc::clone(&self.counts), Arc::clone(&self.status))();
        let waiting = Stage::ALL.map(|stage| (stage.name().to_string(), self.counts.waiting(stage)));
        let stages = thread_readings().into_iter().map(|(stage, used)| (stage.to_string(), used));
        Live {
            at: SystemClock.now(),
            since: self.since,
            process: std::process::id(),
            command: self.command.clone(),
            phase: self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            no_room: self.status.is_paused(),
            held: crawl.held,
            pages: crawl.pages,
            bytes: crawl.bytes,
            failed: crawl.failed,
            refused: crawl.refused,
            under_way: crawl.under_way,
            fetchers: (self.fetchers)() as u64,
            sites: crawl.sites,
            queued: crawl.queued,
            parsed: readings.parsed,
            indexed: readings.indexed,
            waiting: waiting.into(),
            stages: stages.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::config::Config;

    use super::*;

    #[test]
    fn what_an_owner_does_is_told_while_it_lives() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        assert_eq!(live(&data), None);
        let engine = Engine::open(data.clone(), Config::default(), "up", true).unwrap();
        let telling = engine.tell("up").unwrap();
        engine.status().set_held(true);
        let patience = Instant::now() + Duration::from_secs(60);
        let told = loop {
            match live(&data) {
                Some(told) if told.held => break told,
                _ => assert!(Instant::now() < patience, "nothing is told"),
            }
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!((told.command.as_str(), told.process, told.fetchers), ("up", std::process::id(), 64));
        assert_eq!(told.phase, Phase::Idle);
        drop(telling);
        assert_eq!(live(&data), None, "nobody is there any more");
        let old = Live { at: SystemClock.now().minus(BELIEVED_FOR), ..told };
        fs::write(status_file(&data), serde_json::to_vec(&old).unwrap()).unwrap();
        assert_eq!(live(&data), None, "it stands still");
        fs::write(status_file(&data), "{").unwrap();
        assert_eq!(live(&data), None);
    }

    #[test]
    fn every_phase_is_read_as_it_was_written() {
        for phase in [
            Phase::Idle,
            Phase::Replaying,
            Phase::Running,
            Phase::Empty,
            Phase::Ended(Ended::MaxPages),
            Phase::Failed("no \"contact\"".into()),
        ] {
            let live = Live { phase, ..Live::default() };
            let json = serde_json::to_string(&live).unwrap();
            assert_eq!(serde_json::from_str::<Live>(&json).unwrap(), live);
        }
    }
}
