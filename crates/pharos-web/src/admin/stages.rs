//! Determines the bottleneck of each engine stage.
//!
//! The textbook profile of a search engine (crawler: network; segmentation: CPU; indexing: disk; query: memory) is an
//! expectation. This module measures the current state from queue lengths, resource usage of the threads, and the next stage.

use std::collections::BTreeMap;

use pharos_engine::status::engine_status::EngineStatus;
use pharos_mining::machine::ThreadReading;
use serde::Serialize;

/// Threads that use more than this share of a CPU each are CPU-bound.
const CPU_BOUND: f64 = 0.7;
/// Disk traffic in bytes per second from which a stage counts as disk-bound.
const DISK_BOUND: f64 = 1e6;
/// Share of busy fetchers from which fetching counts as network-bound.
const NETWORK_BOUND: f64 = 0.9;

/// The bottleneck of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Bottleneck {
    /// No work.
    Idle,
    Processor,
    Disk,
    /// Waiting for responses.
    Network,
    /// Waiting for the delay between requests to a site.
    Politeness,
    /// The next stage does not keep up.
    Next,
}

/// Measurements of a stage over the last second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StageSample {
    pub(crate) name: &'static str,
    /// Items queued or in progress: requests, records, queries.
    pub(crate) waiting: u64,
    pub(crate) threads: u32,
    /// CPUs in use.
    pub(crate) processors: f64,
    /// Bytes read and written per second.
    pub(crate) disk: (f64, f64),
    /// Voluntary and involuntary context switches per second.
    pub(crate) switches: (f64, f64),
    pub(crate) bound: Bottleneck,
}

/// The stages in processing order.
const STAGES: [&str; 6] = ["fetch", "append", "analyse", "apply", "build", "query"];

/// Computes the stages between two readings: engine stages from the status of the owner process, queries from this process.
pub(crate) fn stage_samples(
    before: &EngineStatus,
    now: &EngineStatus,
    own_before: &BTreeMap<&'static str, ThreadReading>,
    own_now: &BTreeMap<&'static str, ThreadReading>,
    seconds: f64,
    processors: u32,
) -> Vec<StageSample> {
    let status_seconds = now.at.since(before.at).as_secs_f64().max(0.5);
    STAGES
        .into_iter()
        .map(|name| {
            let is_own = name == "query" || now.process == std::process::id();
            let (was, is, time) = if is_own {
                (own_before.get(name), own_now.get(name), seconds)
            } else {
                (before.stages.get(name), now.stages.get(name), status_seconds)
            };
            let (was, is) = (was.copied().unwrap_or_default(), is.copied().unwrap_or_default());
            let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / time;
            let waiting = match name {
                "fetch" => now.in_flight,
                _ => now.waiting.get(name).copied().unwrap_or_default(),
            };
            let mut stage = StageSample {
                name,
                waiting,
                threads: is.threads,
                processors: ((is.seconds - was.seconds) / time).max(0.0),
                disk: (rate(was.disk.0, is.disk.0), rate(was.disk.1, is.disk.1)),
                switches: (rate(was.switches.0, is.switches.0), rate(was.switches.1, is.switches.1)),
                bound: Bottleneck::Idle,
            };
            stage.bound = bottleneck_of(&stage, now, processors);
            stage
        })
        .collect()
}

fn bottleneck_of(stage: &StageSample, live: &EngineStatus, processors: u32) -> Bottleneck {
    // A single thread can use one CPU, a pool no more than there are.
    let pool = matches!(stage.name, "analyse" | "query" | "fetch");
    let most = if pool { stage.threads.min(processors).max(1) } else { 1 };
    if stage.processors >= CPU_BOUND * f64::from(most) {
        return Bottleneck::Processor;
    }
    let next_is_busy = |name: &str| live.waiting.get(name).copied().unwrap_or_default() > 0;
    match stage.name {
        "fetch" if live.fetchers > 0 && stage.waiting as f64 >= NETWORK_BOUND * live.fetchers as f64 => {
            Bottleneck::Network
        }
        "fetch" if live.queued > 0 => Bottleneck::Politeness,
        "fetch" if stage.waiting > 0 => Bottleneck::Network,
        "append" if stage.waiting > 0 && next_is_busy("analyse") => Bottleneck::Next,
        "analyse" if stage.waiting > 0 && next_is_busy("apply") => Bottleneck::Next,
        "append" | "analyse" | "apply" if stage.waiting > 0 => Bottleneck::Disk,
        "build" if stage.disk.0 + stage.disk.1 >= DISK_BOUND => Bottleneck::Disk,
        _ => Bottleneck::Idle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(waiting: &[(&str, u64)], seconds: &[(&str, u32, f64)]) -> EngineStatus {
        EngineStatus {
            at: pharos_core::Timestamp::from_millis(1000),
            waiting: waiting.iter().map(|(name, many)| ((*name).to_string(), *many)).collect(),
            stages: seconds
                .iter()
                .map(|(name, threads, seconds)| {
                    let reading =
                        ThreadReading { threads: *threads, seconds: *seconds, ..ThreadReading::default() };
                    ((*name).to_string(), reading)
                })
                .collect(),
            ..EngineStatus::default()
        }
    }

    fn bounds(live: EngineStatus) -> BTreeMap<&'static str, Bottleneck> {
        let before = EngineStatus { process: live.process, ..EngineStatus::default() };
        let stages = stage_samples(&before, &live, &BTreeMap::new(), &BTreeMap::new(), 1.0, 2);
        stages.into_iter().map(|stage| (stage.name, stage.bound)).collect()
    }

    #[test]
    fn each_stage_has_its_bottleneck() {
        let reading =
            bounds(status(&[("analyse", 200), ("append", 5)], &[("analyse", 3, 1.9), ("append", 1, 0.1)]));
        assert_eq!((reading["analyse"], reading["append"]), (Bottleneck::Processor, Bottleneck::Next));
        let writing =
            bounds(status(&[("analyse", 9), ("apply", 200)], &[("analyse", 3, 0.1), ("apply", 1, 0.2)]));
        assert_eq!((writing["analyse"], writing["apply"]), (Bottleneck::Next, Bottleneck::Disk));
        assert_eq!((writing["fetch"], writing["build"]), (Bottleneck::Idle, Bottleneck::Idle));
        let crowd = EngineStatus { in_flight: 64, fetchers: 64, queued: 1000, ..status(&[], &[]) };
        assert_eq!(bounds(crowd)["fetch"], Bottleneck::Network);
        let polite = EngineStatus { in_flight: 3, fetchers: 64, queued: 1000, ..status(&[], &[]) };
        assert_eq!(bounds(polite)["fetch"], Bottleneck::Politeness);
    }
}
