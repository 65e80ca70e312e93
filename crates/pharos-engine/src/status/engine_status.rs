//! The live status of the engine, published once a second in the file `STATUS` of the data directory.
//!
//! A desk in another process than the engine thus shows the same as one in the engine's process. The file is replaced
//! atomically but not synced, because its content expires within seconds.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_crawl::{CrawlStatus, CrawlSummary, EndReason, ProblemCounts};
use pharos_mining::machine::ThreadReading;
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};

use crate::status::stage_metrics::{PipelineStage, StageMetrics};
use crate::status::stage_threads::stage_threads;
use crate::{Engine, EngineError};

const PUBLISH_INTERVAL: Duration = Duration::from_secs(1);
/// Age beyond which a status is ignored: its writer has ended or hangs.
const MAX_STATUS_AGE: Duration = Duration::from_secs(10);
/// Maximum size of a status file.
const MAX_STATUS_BYTES: u64 = 1 << 20;

/// Phase of the crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrawlPhase {
    /// Not started.
    #[default]
    Idle,
    /// Replaying records that the stores have not applied.
    Replaying,
    /// Running or paused.
    Running,
    /// Nothing to crawl: no page has been added yet.
    Empty,
    /// Ended because no page is due.
    NothingDue,
    /// Ended by `crawl.max_pages`.
    PageLimit,
    /// Ended by `crawl.run_for`.
    TimeLimit,
    /// Ended by `crawl.max_disk`.
    DiskLimit,
    Stopped,
    Failed(String),
}

impl CrawlPhase {
    pub(crate) fn from_result(result: &Result<CrawlSummary, EngineError>) -> Self {
        match result {
            Ok(summary) => match summary.ended {
                EndReason::NothingDue => Self::NothingDue,
                EndReason::MaxPages => Self::PageLimit,
                EndReason::Time => Self::TimeLimit,
                EndReason::Disk => Self::DiskLimit,
                EndReason::Stopped => Self::Stopped,
            },
            Err(EngineError::Stopped) => Self::Stopped,
            Err(EngineError::NoSeeds { .. }) => Self::Empty,
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

/// Status of an engine at one point in time. Counters start with the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineStatus {
    /// Time of this status.
    pub at: Timestamp,
    /// Start time of the engine.
    pub since: Timestamp,
    /// Process ID.
    pub process: u32,
    /// The command that started it.
    pub command: String,
    pub phase: CrawlPhase,
    /// The crawl is paused because disk space is low.
    #[serde(rename = "no_room")]
    pub disk_low: bool,
    /// The crawl is paused by an operator.
    #[serde(rename = "held")]
    pub paused: bool,
    /// Pages fetched.
    pub pages: u64,
    /// Bytes fetched.
    pub bytes: u64,
    /// Requests without a response.
    pub failed: u64,
    /// Pages not fetched because of a rule.
    pub refused: u64,
    /// Requests in flight.
    #[serde(rename = "under_way")]
    pub in_flight: u64,
    /// Maximum number of requests in flight.
    pub fetchers: u64,
    /// Sites with pages to fetch.
    pub sites: u64,
    /// Pages in the in-memory queues.
    pub queued: u64,
    /// Every known page is fetched and none is due.
    pub idle: bool,
    /// Time of the next visit while the crawl is idle.
    pub next_visit: Option<Timestamp>,
    /// Problems by kind.
    pub problems: ProblemCounts,
    /// Sites that reached a limit, with the limit.
    pub limits: Vec<(String, String)>,
    /// Unreachable robots.txt files, with the time of the next request; a limited number.
    pub robots_retries: BTreeMap<String, Timestamp>,
    /// Pages parsed.
    pub parsed: u64,
    /// Pages indexed.
    pub indexed: u64,
    /// Records queued for or held by each stage.
    pub waiting: BTreeMap<String, u64>,
    /// Resource usage of the threads of each stage.
    pub stages: BTreeMap<String, ThreadReading>,
}

/// Returns the last published status of the owner, or `None` if no engine is running or it hangs.
pub fn read_engine_status(data: &DataDir) -> Option<EngineStatus> {
    let path = status_file(data);
    if fs::metadata(&path).ok()?.len() > MAX_STATUS_BYTES {
        return None;
    }
    let status: EngineStatus = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let now = SystemClock.now();
    (now.since(status.at) < MAX_STATUS_AGE && status.at.since(now) < MAX_STATUS_AGE).then_some(status)
}

fn status_file(data: &DataDir) -> PathBuf {
    data.root().join("STATUS")
}

/// Publishes the status until it is dropped, and then removes the file.
pub struct StatusPublisher {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for StatusPublisher {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes the status file from the engine's counters.
struct StatusWriter {
    data: DataDir,
    command: String,
    since: Timestamp,
    status: Arc<CrawlStatus>,
    stage_metrics: Arc<StageMetrics>,
    phase: Arc<Mutex<CrawlPhase>>,
    fetchers: Box<dyn Fn() -> usize + Send>,
}

impl Engine {
    /// Sets the phase of the crawl.
    pub(crate) fn set_phase(&self, phase: CrawlPhase) {
        *self.phase.lock() = phase;
    }

    /// Publishes the status of this engine to other processes while the returned guard lives.
    pub fn publish_status(&self, command: &str) -> Result<StatusPublisher, EngineError> {
        let (config, status) = (self.config.subscribe(), self.status());
        let writer = StatusWriter {
            data: self.data.clone(),
            command: command.to_string(),
            since: SystemClock.now(),
            status: self.status(),
            stage_metrics: Arc::clone(&self.stage_metrics),
            phase: Arc::clone(&self.phase),
            fetchers: Box::new(move || status.fetchers(config.borrow().crawl.fetchers)),
        };
        let (stop, stopped) = channel::<()>();
        let work = move || {
            loop {
                let started = Instant::now();
                // Readers notice a missing or old status themselves.
                let _ = writer.write();
                let rest = PUBLISH_INTERVAL.saturating_sub(started.elapsed());
                if stopped.recv_timeout(rest) == Err(RecvTimeoutError::Disconnected) {
                    let _ = fs::remove_file(status_file(&writer.data));
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("status".into()).spawn(work);
        let thread = thread.map_err(|_| EngineError::StageFailed("status"))?;
        Ok(StatusPublisher { stop: Some(stop), thread: Some(thread) })
    }
}

impl StatusWriter {
    fn write(&self) -> std::io::Result<()> {
        // The status of a process that lost its power is worthless.
        pharos_files::replace_volatile(&status_file(&self.data), &serde_json::to_vec(&self.collect())?)
    }

    fn limits(&self) -> Vec<(String, String)> {
        let notices = self.status.notices_after(0).into_iter();
        notices.filter(|notice| notice.is_limit).map(|notice| (notice.subject, notice.reason)).collect()
    }

    fn collect(&self) -> EngineStatus {
        let crawl = self.status.report();
        let readings = crate::status::stage_metrics::readings(
            Arc::clone(&self.stage_metrics),
            Arc::clone(&self.status),
        )();
        let waiting =
            PipelineStage::ALL.map(|stage| (stage.name().to_string(), self.stage_metrics.queued(stage)));
        let stages = stage_threads().into_iter().map(|(stage, used)| (stage.to_string(), used));
        EngineStatus {
            at: SystemClock.now(),
            since: self.since,
            process: std::process::id(),
            command: self.command.clone(),
            phase: self.phase.lock().clone(),
            disk_low: self.status.is_disk_low(),
            paused: crawl.paused_by_operator,
            pages: crawl.pages,
            bytes: crawl.bytes,
            failed: crawl.failed,
            refused: crawl.refused,
            in_flight: crawl.in_flight,
            fetchers: (self.fetchers)() as u64,
            sites: crawl.sites,
            queued: crawl.queued,
            idle: crawl.idle,
            next_visit: crawl.next_visit,
            problems: crawl.problems,
            limits: self.limits(),
            robots_retries: self.status.robots_retries(SystemClock.now()),
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
    fn the_status_is_published_while_the_engine_lives() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        assert_eq!(read_engine_status(&data), None);
        let engine = Engine::open(data.clone(), Config::default(), "up", true).unwrap();
        let publisher = engine.publish_status("up").unwrap();
        engine.status().set_paused(true);
        let deadline = Instant::now() + Duration::from_secs(60);
        let status = loop {
            match read_engine_status(&data) {
                Some(status) if status.paused => break status,
                _ => assert!(Instant::now() < deadline, "no status is published"),
            }
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(
            (status.command.as_str(), status.process, status.fetchers),
            ("up", std::process::id(), 64)
        );
        assert_eq!(status.phase, CrawlPhase::Idle);
        drop(publisher);
        assert_eq!(read_engine_status(&data), None, "the engine has ended");
        let old = EngineStatus { at: SystemClock.now().minus(MAX_STATUS_AGE), ..status };
        fs::write(status_file(&data), serde_json::to_vec(&old).unwrap()).unwrap();
        assert_eq!(read_engine_status(&data), None, "the status has expired");
        fs::write(status_file(&data), "{").unwrap();
        assert_eq!(read_engine_status(&data), None);
    }

    #[test]
    fn every_phase_is_read_as_it_was_written() {
        for phase in [
            CrawlPhase::Idle,
            CrawlPhase::Replaying,
            CrawlPhase::Running,
            CrawlPhase::Empty,
            CrawlPhase::PageLimit,
            CrawlPhase::Failed("no \"contact\"".into()),
        ] {
            let status = EngineStatus { phase, ..EngineStatus::default() };
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(serde_json::from_str::<EngineStatus>(&json).unwrap(), status);
        }
    }
}
