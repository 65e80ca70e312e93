//! The system log (系统日志): what was done in each time slot, how long queries took, how the machine fares.
//!
//! Whoever counts hands in its counters as they stand; this takes the differences. Times of queries go into a histogram of
//! fixed size: each bucket is a tenth wider than the one before, so that a percentile is right to five percent or so.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pharos_core::Timestamp;
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};

use crate::record::{Kind, Record, moment};
use crate::writer::Log;

/// The state of the system over a time slot. Counters are what was added within it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemRecord {
    /// Where the slot begins.
    #[serde(with = "moment")]
    pub from: Timestamp,
    /// Where it ends.
    #[serde(with = "moment")]
    pub to: Timestamp,
    /// What was done.
    #[serde(flatten)]
    pub done: Readings,
    /// Queries answered.
    #[serde(default)]
    pub queries: u64,
    /// How long they took.
    #[serde(default)]
    pub latency: Latency,
    /// Log records that were lost.
    #[serde(default)]
    pub log_lost: u64,
    /// How the machine fares.
    #[serde(flatten)]
    pub machine: Machine,
}

/// What is counted elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Readings {
    /// Pages fetched.
    pub fetched: u64,
    /// Pages parsed.
    pub parsed: u64,
    /// Pages indexed.
    pub indexed: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Queries answered from the cache.
    pub cache_hits: u64,
    /// Queries that the cache did not know.
    pub cache_misses: u64,
}

/// How long queries took, in milliseconds; nothing where there were none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// Half of them took less.
    pub p50: Option<f64>,
    /// Nine of ten took less.
    pub p90: Option<f64>,
    /// Ninety-nine of a hundred took less.
    pub p99: Option<f64>,
    /// On average.
    pub mean: Option<f64>,
}

/// How the machine fares; nothing where it does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Memory in use by this process, in bytes.
    pub memory: Option<u64>,
    /// Processor time that this process used in the slot, in seconds.
    pub processor_seconds: Option<f64>,
    /// Processes that wanted a processor, averaged over the last minute.
    pub load: Option<f64>,
    /// Free bytes on the disk of the data directory.
    pub disk_free: Option<u64>,
}

impl Record for SystemRecord {
    const KIND: Kind = Kind::System;
    fn at(&self) -> Timestamp {
        self.to
    }
    fn typed(&mut self) -> Vec<&mut String> {
        Vec::new()
    }
}

/// Makes a record of each time slot.
pub struct SystemSlots {
    readings: Box<dyn Fn() -> Readings + Send + Sync>,
    times: Histogram,
    slot: Duration,
    root: PathBuf,
    begun: Mutex<Begun>,
}

/// Where everything stood when the slot began.
struct Begun {
    at: Timestamp,
    readings: Readings,
    lost: u64,
    processor: Option<f64>,
}

impl SystemSlots {
    /// Slots of this length, the first of which begins `now`. `readings` gives counters that only grow.
    pub fn new(
        data: &DataDir,
        slot: Duration,
        now: Timestamp,
        readings: impl Fn() -> Readings + Send + Sync + 'static,
    ) -> Self {
        let begun = Begun { at: now, readings: readings(), lost: 0, processor: processor_seconds() };
        Self {
            readings: Box::new(readings),
            times: Histogram::new(),
            slot: slot.max(Duration::from_secs(1)),
            root: data.root().to_path_buf(),
            begun: Mutex::new(begun),
        }
    }

    /// A query was answered in this time.
    pub fn observe_query(&self, took: Duration) {
        self.times.add(took);
    }

    /// Writes the slot down if it is over. Slots end at whole multiples of their length, whenever they began.
    pub fn tick(&self, now: Timestamp, log: &Log) {
        let slot = i64::try_from(self.slot.as_millis()).unwrap_or(i64::MAX);
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.at.millis().div_euclid(slot) != now.millis().div_euclid(slot) {
            log.system(self.end(&mut begun, now, log.lost()));
        }
    }

    /// Ends the slot now, as when the engine stops.
    pub fn finish(&self, now: Timestamp, lost: u64) -> SystemRecord {
        self.end(&mut self.begun.lock().unwrap_or_else(PoisonError::into_inner), now, lost)
    }

    fn end(&self, begun: &mut Begun, now: Timestamp, lost: u64) -> SystemRecord {
        let readings = (self.readings)();
        let processor = processor_seconds();
        let (queries, latency) = self.times.take();
        let record = SystemRecord {
            from: begun.at,
            to: now,
            done: readings.since(&begun.readings),
            queries,
            latency,
            log_lost: added(lost, begun.lost),
            machine: Machine {
                memory: resident_memory(),
                processor_seconds: processor.zip(begun.processor).map(|(now, before)| round(now - before)),
                load: load(),
                disk_free: disk_free(&self.root),
            },
        };
        *begun = Begun { at: now, readings, lost, processor };
        record
    }
}

impl Readings {
    fn since(&self, before: &Readings) -> Readings {
        Readings {
            fetched: added(self.fetched, before.fetched),
            parsed: added(self.parsed, before.parsed),
            indexed: added(self.indexed, before.indexed),
            errors: added(self.errors, before.errors),
            cache_hits: added(self.cache_hits, before.cache_hits),
            cache_misses: added(self.cache_misses, before.cache_misses),
        }
    }
}

/// What a counter grew by. One that is smaller than before began anew.
fn added(now: u64, before: u64) -> u64 {
    now.checked_sub(before).unwrap_or(now)
}

/// To microseconds: nobody reads more.
fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// The upper end of the first bucket, in microseconds.
const FIRST_MICROS: f64 = 50.0;
const GROWTH: f64 = 1.1;
/// The last one begins above two minutes.
const BUCKETS: usize = 156;

/// Times in buckets that grow by a tenth.
struct Histogram {
    buckets: Vec<AtomicU64>,
    micros: AtomicU64,
}

impl Histogram {
    fn new() -> Self {
        Self { buckets: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(), micros: AtomicU64::new(0) }
    }

    fn add(&self, took: Duration) {
        let micros = took.as_secs_f64() * 1e6;
        let bucket = (micros / FIRST_MICROS).max(1.0).log(GROWTH).ceil();
        self.buckets[(bucket as usize).min(BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros as u64, Ordering::Relaxed);
    }

    /// What was added since the last call.
    fn take(&self) -> (u64, Latency) {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.swap(0, Ordering::Relaxed)).collect();
        let micros = self.micros.swap(0, Ordering::Relaxed);
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return (0, Latency::default());
        }
        let below = |share: f64| {
            let mut left = (share * total as f64).ceil() as u64;
            let bucket = counts.iter().position(|count| {
                let found = left <= *count;
                left = left.saturating_sub(*count);
                found
            });
            // The middle of the bucket, between its ends in ratio.
            let middle = bucket.unwrap_or(BUCKETS - 1) as f64 - 0.5;
            Some(round(FIRST_MICROS * GROWTH.powf(middle) / 1000.0))
        };
        let mean = Some(round(micros as f64 / 1000.0 / total as f64));
        (total, Latency { p50: below(0.5), p90: below(0.9), p99: below(0.99), mean })
    }
}

/// Linux counts the time of processes in hundredths of a second, on every machine.
const TICKS_PER_SECOND: f64 = 100.0;

fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in brackets, which may have spaces; 12 and 13 behind it are user and system time.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()?.checked_add(fields.next()?.parse().ok()?)?;
    Some(ticks as f64 / TICKS_PER_SECOND)
}

fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

fn disk_free(root: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(root).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_slot_tells_differences_and_the_machine() {
        let dir = tempfile::tempdir().unwrap();
        let fetched = Arc::new(AtomicU64::new(1000));
        let counter = fetched.clone();
        let readings = move || Readings { fetched: counter.load(Ordering::Relaxed), ..Readings::default() };
        let data = DataDir::at(dir.path());
        let slots =
            SystemSlots::new(&data, Duration::from_secs(60), Timestamp::from_millis(90_000), readings);
        fetched.store(1007, Ordering::Relaxed);
        for millis in 1..=100 {
            slots.observe_query(Duration::from_millis(millis));
        }
        let record = slots.finish(Timestamp::from_millis(120_000), 3);
        assert_eq!((record.done.fetched, record.queries, record.log_lost), (7, 100, 3));
        let near = |value: Option<f64>, wanted: f64| (value.unwrap() / wanted - 1.0).abs() < 0.06;
        assert!(near(record.latency.p50, 50.0) && near(record.latency.p90, 90.0), "{record:?}");
        assert!(near(record.latency.p99, 99.0) && near(record.latency.mean, 50.5), "{record:?}");
        assert!(record.machine.memory.unwrap() > 1 << 20 && record.machine.disk_free.is_some());
        assert!(record.machine.processor_seconds.is_some() && record.machine.load.is_some());
        let next = slots.finish(Timestamp::from_millis(180_000), 3);
        assert_eq!((next.done.fetched, next.queries, next.log_lost, next.latency.p50), (0, 0, 0, None));
        let line = serde_json::to_string(&record).unwrap();
        assert!(
            line.contains(r#""fetched":7,"#) && line.contains(r#""from":"1970-01-01T00:01:30.000Z""#),
            "{line}"
        );
        assert_eq!(serde_json::from_str::<SystemRecord>(&line).unwrap(), record);
    }

    #[test]
    fn slots_end_at_whole_multiples_and_no_time_is_too_long() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let log = Log::open(&data, &Default::default(), Arc::new(pharos_core::SystemClock));
        let slots = SystemSlots::new(
            &data,
            Duration::from_secs(60),
            Timestamp::from_millis(90_000),
            Readings::default,
        );
        slots.observe_query(Duration::MAX);
        slots.observe_query(Duration::ZERO);
        for seconds in [91, 119, 120, 125, 181, 60] {
            slots.tick(Timestamp::from_millis(seconds * 1000), &log);
        }
        drop(log);
        let records: Vec<SystemRecord> =
            crate::read(&data.logs(), &crate::Days::default()).unwrap().map(Result::unwrap).collect();
        let ends: Vec<i64> = records.iter().map(|record| record.to.seconds()).collect();
        assert_eq!((ends, records[0].queries), (vec![120, 181, 60], 2));
    }
}
