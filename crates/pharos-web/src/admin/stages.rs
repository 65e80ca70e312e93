//! Which stage of the engine is bound by what.
//!
//! The books' profile of a search engine (crawler: network; segmentation: processor; indexing: disk; query: memory) is what
//! one expects; this says what is so now, from what waits for a stage, what its threads use, and what stands behind it.

use std::collections::BTreeMap;

use pharos_engine::{Live, ThreadReading};
use serde::Serialize;

/// Threads that use more than this part of a processor each are bound by it.
const BUSY: f64 = 0.7;
/// So many bytes a second from and to disks are work, not a look now and then.
const MUCH: f64 = 1e6;
/// So many of the requests that may be under way are: the network is waited for.
const NEARLY_ALL: f64 = 0.9;

/// What a stage is bound by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Bound {
    /// It has nothing to do.
    Idle,
    /// Its threads compute as much as they can.
    Processor,
    /// It waits for disks.
    Disk,
    /// It waits for answers.
    Network,
    /// It waits until sites may be asked again.
    Politeness,
    /// It waits until the stage behind it takes what it has.
    Next,
}

/// A stage over the last second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    /// What waits for it or is in its hands: requests, records, queries.
    pub(crate) waiting: u64,
    pub(crate) threads: u32,
    /// Processors in use.
    pub(crate) processors: f64,
    /// Bytes a second from and to disks.
    pub(crate) disk: (f64, f64),
    /// How often a second it waited by itself, and how often a processor was taken from it.
    pub(crate) switches: (f64, f64),
    pub(crate) bound: Bound,
}

/// The stages in the order in which a page passes them.
const STAGES: [&str; 6] = ["fetch", "shelve", "read", "absorb", "build", "query"];

/// What the stages did between two moments: those of the engine as its owner tells, those of queries as this process knows.
pub(crate) fn stages(
    before: &Live,
    now: &Live,
    own_before: &BTreeMap<&'static str, ThreadReading>,
    own_now: &BTreeMap<&'static str, ThreadReading>,
    seconds: f64,
    processors: u32,
) -> Vec<Stage> {
    let told = now.at.since(before.at).as_secs_f64().max(0.5);
    STAGES
        .into_iter()
        .map(|name| {
            let is_ours = name == "query" || now.process == std::process::id();
            let (was, is, time) = if is_ours {
                (own_before.get(name), own_now.get(name), seconds)
            } else {
                (before.stages.get(name), now.stages.get(name), told)
            };
            let (was, is) = (was.copied().unwrap_or_default(), is.copied().unwrap_or_default());
            let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / time;
            let waiting = match name {
                "fetch" => now.under_way,
                _ => now.waiting.get(name).copied().unwrap_or_default(),
            };
            let mut stage = Stage {
                name,
                waiting,
                threads: is.threads,
                processors: ((is.seconds - was.seconds) / time).max(0.0),
                disk: (rate(was.disk.0, is.disk.0), rate(was.disk.1, is.disk.1)),
                switches: (rate(was.switches.0, is.switches.0), rate(was.switches.1, is.switches.1)),
                bound: Bound::Idle,
            };
            stage.bound = bound_by(&stage, now, processors);
            stage
        })
        .collect()
}

fn bound_by(stage: &Stage, live: &Live, processors: u32) -> Bound {
    // One thread cannot use more than one processor; a pool cannot use more than there are.
    let pool = matches!(stage.name, "read" | "query" | "fetch");
    let most = if pool { stage.threads.min(processors).max(1) } else { 1 };
    if stage.processors >= BUSY * f64::from(most) {
        return Bound::Processor;
    }
    let waits_behind = |name: &str| live.waiting.get(name).copied().unwrap_or_default() > 0;
    match stage.name {
        "fetch" if live.fetchers > 0 && stage.waiting as f64 >= NEARLY_ALL * live.fetchers as f64 => {
            Bound::Network
        }
        "fetch" if live.queued > 0 => Bound::Politeness,
        "fetch" if stage.waiting > 0 => Bound::Network,
        "shelve" if stage.waiting > 0 && waits_behind("read") => Bound::Next,
        "read" if stage.waiting > 0 && waits_behind("absorb") => Bound::Next,
        "shelve" | "read" | "absorb" if stage.waiting > 0 => Bound::Disk,
        "build" if stage.disk.0 + stage.disk.1 >= MUCH => Bound::Disk,
        _ => Bound::Idle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(waiting: &[(&str, u64)], seconds: &[(&str, u32, f64)]) -> Live {
        Live {
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
            ..Live::default()
        }
    }

    fn bounds(live: Live) -> BTreeMap<&'static str, Bound> {
        let before = Live { process: live.process, ..Live::default() };
        let stages = stages(&before, &live, &BTreeMap::new(), &BTreeMap::new(), 1.0, 2);
        stages.into_iter().map(|stage| (stage.name, stage.bound)).collect()
    }

    #[test]
    fn each_stage_is_told_what_holds_it_up() {
        let reading = bounds(told(&[("read", 200), ("shelve", 5)], &[("read", 3, 1.9), ("shelve", 1, 0.1)]));
        assert_eq!((reading["read"], reading["shelve"]), (Bound::Processor, Bound::Next));
        let writing = bounds(told(&[("read", 9), ("absorb", 200)], &[("read", 3, 0.1), ("absorb", 1, 0.2)]));
        assert_eq!((writing["read"], writing["absorb"]), (Bound::Next, Bound::Disk));
        assert_eq!((writing["fetch"], writing["build"]), (Bound::Idle, Bound::Idle));
        let crowd = Live { under_way: 64, fetchers: 64, queued: 1000, ..told(&[], &[]) };
        assert_eq!(bounds(crowd)["fetch"], Bound::Network);
        let polite = Live { under_way: 3, fetchers: 64, queued: 1000, ..told(&[], &[]) };
        assert_eq!(bounds(polite)["fetch"], Bound::Politeness);
    }
}
