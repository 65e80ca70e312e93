//! Samples of live metrics: one every second, kept for ten minutes.
//!
//! Engine figures come from the status file of the owner process ([`pharos_engine::status::engine_status::read_engine_status`]), whichever process that is;
//! machine figures are read here. A reconnecting browser sends the id of its last sample and gets those after it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_engine::status::engine_status::{CrawlPhase, EngineStatus, read_engine_status};
use pharos_engine::status::stage_threads::stage_threads;
use pharos_mining::machine::{MachineReading, ThreadReading};
use pharos_store::DataDir;
use serde::Serialize;
use tokio::sync::watch;

use super::stages::{StageSample, stage_samples};

/// Sampling interval.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);
/// Number of samples kept.
pub(crate) const MAX_SAMPLES: usize = 600;

/// Metrics of one second.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// Counted from 1.
    pub(crate) id: u64,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// State of the crawl as an identifier.
    pub(crate) state: &'static str,
    /// Per second.
    pub(crate) pages: f64,
    pub(crate) bytes: f64,
    pub(crate) errors: f64,
    /// Current values.
    pub(crate) queued: f64,
    pub(crate) hosts: f64,
    pub(crate) under_way: f64,
    /// Totals since the owner process started.
    pub(crate) fetched: u64,
    pub(crate) failed: u64,
    /// Share of all CPUs.
    pub(crate) processor: f64,
    /// Share of all memory, and bytes used by this process.
    pub(crate) memory: f64,
    pub(crate) own_memory: u64,
    pub(crate) disk_free: u64,
    /// Per second.
    pub(crate) disk_read: f64,
    pub(crate) disk_written: f64,
    pub(crate) received: f64,
    pub(crate) sent: f64,
    pub(crate) switches: f64,
    pub(crate) load: f64,
    /// Share of the last ten seconds in which a task waited for CPU, disk or memory (Linux PSI).
    pub(crate) pressure: [f64; 3],
    pub(crate) stages: Vec<StageSample>,
}

/// The previous readings, to compute differences from.
struct Reading {
    at: Instant,
    live: Option<EngineStatus>,
    machine: MachineReading,
    own: BTreeMap<&'static str, ThreadReading>,
}

/// Takes samples on a thread and keeps the latest ones.
pub(crate) struct Sampler {
    data: DataDir,
    samples: Mutex<VecDeque<Arc<Sample>>>,
    newest: watch::Sender<u64>,
    /// Length of the query queue, if it is set.
    queries: OnceLock<Arc<AtomicUsize>>,
}

impl Sampler {
    fn new(data: DataDir) -> Self {
        Self { data, samples: Mutex::default(), newest: watch::Sender::new(0), queries: OnceLock::new() }
    }

    /// Sets the counter of queued queries.
    pub(crate) fn count_queries(&self, waiting: Arc<AtomicUsize>) {
        let _ = self.queries.set(waiting);
    }

    /// Starts the sampling thread, which ends when the last reference is dropped.
    pub(crate) fn start(data: DataDir) -> std::io::Result<Arc<Self>> {
        let sampler = Arc::new(Self::new(data));
        let weak = Arc::downgrade(&sampler);
        thread::Builder::new().name("desk".into()).spawn(move || run(&weak))?;
        Ok(sampler)
    }

    /// Returns the samples after an id, oldest first.
    pub(crate) fn samples_after(&self, id: u64) -> Vec<Arc<Sample>> {
        let samples = self.samples.lock();
        samples.iter().filter(|sample| sample.id > id).cloned().collect()
    }

    /// Returns the newest sample.
    pub(crate) fn latest(&self) -> Option<Arc<Sample>> {
        self.samples.lock().back().cloned()
    }

    /// Returns a receiver that is notified of new samples.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    fn read(&self) -> Reading {
        Reading {
            at: Instant::now(),
            live: read_engine_status(&self.data),
            machine: MachineReading::now(self.data.root()),
            own: stage_threads(),
        }
    }

    fn push(&self, sample: Sample) {
        let mut samples = self.samples.lock();
        let id = samples.back().map_or(1, |last| last.id + 1);
        samples.push_back(Arc::new(Sample { id, ..sample }));
        if samples.len() > MAX_SAMPLES {
            samples.pop_front();
        }
        self.newest.send_replace(id);
    }
}

fn run(sampler: &Weak<Sampler>) {
    let Some(mut before) = sampler.upgrade().map(|sampler| sampler.read()) else { return };
    loop {
        thread::sleep(INTERVAL.saturating_sub(before.at.elapsed()));
        let Some(sampler) = sampler.upgrade() else { return };
        let now = sampler.read();
        let mut sample = sample_between(&before, &now);
        let waiting = sampler.queries.get().map_or(0, |waiting| waiting.load(Ordering::Relaxed));
        for stage in sample.stages.iter_mut().filter(|stage| stage.name == "query") {
            stage.waiting = waiting as u64;
        }
        sampler.push(sample);
        before = now;
    }
}

/// Returns the state of the crawl as an identifier.
pub(crate) fn state_name(live: Option<&EngineStatus>) -> &'static str {
    let Some(live) = live else { return "off" };
    match &live.phase {
        CrawlPhase::Idle => "idle",
        CrawlPhase::Replaying => "replaying",
        CrawlPhase::Running if live.paused => "held",
        CrawlPhase::Running if live.disk_low => "no-room",
        CrawlPhase::Running if live.idle => "up-to-date",
        CrawlPhase::Running => "running",
        CrawlPhase::Empty => "empty",
        CrawlPhase::NothingDue
        | CrawlPhase::PageLimit
        | CrawlPhase::TimeLimit
        | CrawlPhase::DiskLimit
        | CrawlPhase::Stopped => "ended",
        CrawlPhase::Failed(_) => "failed",
    }
}

fn sample_between(before: &Reading, now: &Reading) -> Sample {
    let seconds = now.at.duration_since(before.at).as_secs_f64().max(0.001);
    let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / seconds;
    // Counters of another owner process cannot be compared.
    let same = |live: &&EngineStatus| {
        now.live.as_ref().is_some_and(|now| now.process == live.process && now.since == live.since)
    };
    let (live, earlier) = (now.live.clone().unwrap_or_default(), before.live.as_ref().filter(same));
    let earlier = earlier.unwrap_or(&live);
    let status_seconds = (live.at.since(earlier.at)).as_secs_f64().max(0.5);
    let status_rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / status_seconds;
    let (machine, was) = (&now.machine, &before.machine);
    let by_second = |before: Option<(u64, u64)>, now: Option<(u64, u64)>| match (before, now) {
        (Some(before), Some(now)) => (rate(before.0, now.0), rate(before.1, now.1)),
        _ => (0.0, 0.0),
    };
    let (disk_read, disk_written) = by_second(was.disk_traffic, machine.disk_traffic);
    let (received, sent) = by_second(was.network, machine.network);
    let busy = machine.busy.zip(was.busy).map_or(0.0, |(now, before)| (now - before) / seconds);
    Sample {
        id: 0,
        at: pharos_core::Clock::now(&pharos_core::SystemClock).millis(),
        state: state_name(now.live.as_ref()),
        pages: status_rate(earlier.pages, live.pages),
        bytes: status_rate(earlier.bytes, live.bytes),
        errors: status_rate(earlier.failed, live.failed),
        queued: live.queued as f64,
        hosts: live.sites as f64,
        under_way: live.in_flight as f64,
        fetched: live.pages,
        failed: live.failed,
        processor: (busy / f64::from(machine.processors.max(1))).clamp(0.0, 1.0),
        memory: machine.memory.map_or(0.0, |(all, free)| 1.0 - free as f64 / all.max(1) as f64),
        own_memory: machine.own_memory.unwrap_or_default(),
        disk_free: machine.disk.map_or(0, |(_, free)| free),
        disk_read,
        disk_written,
        received,
        sent,
        switches: machine.switches.zip(was.switches).map_or(0.0, |(now, before)| rate(before, now)),
        load: machine.load.unwrap_or_default(),
        pressure: machine.pressure.map(Option::unwrap_or_default),
        stages: stage_samples(earlier, &live, &before.own, &now.own, seconds, machine.processors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_taken_within_the_life_of_one_owner() {
        let at = |seconds: i64, pages: u64, process: u32| EngineStatus {
            at: pharos_core::Timestamp::from_millis(seconds * 1000),
            process,
            pages,
            phase: CrawlPhase::Running,
            ..EngineStatus::default()
        };
        let begun = Instant::now();
        let read = |seconds: u64, live: Option<EngineStatus>| Reading {
            at: begun + Duration::from_secs(seconds),
            live,
            machine: MachineReading {
                processors: 2,
                busy: Some(seconds as f64),
                ..MachineReading::default()
            },
            own: BTreeMap::new(),
        };
        let sample = sample_between(&read(0, Some(at(0, 10, 1))), &read(2, Some(at(2, 50, 1))));
        assert_eq!((sample.pages, sample.processor, sample.state), (20.0, 0.5, "running"));
        let other = sample_between(&read(0, Some(at(0, 10, 1))), &read(2, Some(at(2, 50, 2))));
        assert_eq!(other.pages, 0.0, "another process starts from zero");
        assert_eq!(sample_between(&read(0, None), &read(1, None)).state, "off");
    }

    #[test]
    fn missed_samples_are_returned() {
        let dir = tempfile::tempdir().unwrap();
        let sampler = Sampler::new(DataDir::at(dir.path()));
        for _ in 0..MAX_SAMPLES + 5 {
            sampler.push(Sample::default());
        }
        let missed = sampler.samples_after(MAX_SAMPLES as u64 + 2);
        assert_eq!(missed.iter().map(|sample| sample.id).collect::<Vec<_>>(), [603, 604, 605]);
        assert_eq!(sampler.samples_after(0).len(), MAX_SAMPLES, "older samples are dropped");
        assert_eq!(*sampler.subscribe().borrow(), 605);
    }
}
