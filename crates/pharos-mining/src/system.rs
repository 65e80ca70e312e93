//! The system log (系统日志): counters of each time slot, query latency, state of the machine.
//!
//! The caller supplies running counters; the logger records the differences. Latencies go into a histogram of
//! fixed size: each bucket is a tenth wider than the previous one, so that a percentile is accurate to about
//! five percent.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use pharos_core::Timestamp;
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};

use crate::log::LogWriter;
use crate::log::records::{CacheUse, LogKind, LogRecord, timestamp};
use crate::machine::{MachineReading, own_processor_seconds};

/// The state of the system over a time slot. Counters are the increments within it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemRecord {
    #[serde(with = "timestamp")]
    pub from: Timestamp,
    #[serde(with = "timestamp")]
    pub to: Timestamp,
    #[serde(flatten)]
    pub done: SystemCounters,
    /// Number of queries answered.
    #[serde(default)]
    pub queries: u64,
    #[serde(default)]
    pub latency: QueryLatency,
    /// Number of log records lost.
    #[serde(default)]
    pub log_lost: u64,
    #[serde(flatten)]
    pub machine: MachineStatus,
}

/// Running counters of other components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SystemCounters {
    pub fetched: u64,
    pub parsed: u64,
    pub indexed: u64,
    /// Number of failed requests.
    pub errors: u64,
    /// Number of queries answered from the cache.
    pub cache_hits: u64,
    /// Number of queries not found in the cache.
    pub cache_misses: u64,
}

/// Percentiles of query latency in milliseconds; `None` if there were no queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueryLatency {
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub mean: Option<f64>,
}

/// The state of the machine; `None` where it is unavailable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineStatus {
    /// Resident memory of this process in bytes.
    pub memory: Option<u64>,
    /// Processor time used by this process in the slot, in seconds.
    pub processor_seconds: Option<f64>,
    /// Load average over the last minute.
    pub load: Option<f64>,
    /// Free bytes on the disk of the data directory.
    pub disk_free: Option<u64>,
}

impl LogRecord for SystemRecord {
    const KIND: LogKind = LogKind::System;
    fn at(&self) -> Timestamp {
        self.to
    }
    fn user_texts(&mut self) -> Vec<&mut String> {
        Vec::new()
    }
}

/// Creates a record for each time slot.
pub struct SystemLogger {
    readings: Box<dyn Fn() -> SystemCounters + Send + Sync>,
    counters: QueryCounters,
    times: Histogram,
    slot: Duration,
    root: PathBuf,
    begun: Mutex<SlotStart>,
}

/// Running counters of queries.
#[derive(Default)]
struct QueryCounters {
    hits: AtomicU64,
    misses: AtomicU64,
    failures: AtomicU64,
}

/// The values at the beginning of the slot.
struct SlotStart {
    at: Timestamp,
    readings: SystemCounters,
    lost: u64,
    processor: Option<f64>,
}

impl SystemLogger {
    /// Creates a logger with slots of this length, the first of which begins `now`. `readings` returns the
    /// monotonic counters of other components.
    pub fn new(
        data: &DataDir,
        slot: Duration,
        now: Timestamp,
        readings: impl Fn() -> SystemCounters + Send + Sync + 'static,
    ) -> Self {
        let begun = SlotStart { at: now, readings: readings(), lost: 0, processor: own_processor_seconds() };
        Self {
            readings: Box::new(readings),
            counters: QueryCounters::default(),
            times: Histogram::new(),
            slot: slot.max(Duration::from_secs(1)),
            root: data.root().to_path_buf(),
            begun: Mutex::new(begun),
        }
    }

    /// Records the latency and the cache use of a query.
    pub fn observe_query(&self, took: Duration, cache: CacheUse) {
        self.times.add(took);
        let counters = &self.counters;
        let counter = if cache == CacheUse::Hit { &counters.hits } else { &counters.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Records a failed query.
    pub fn observe_failure(&self) {
        self.counters.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Logs the slot if it is over. Slots end at whole multiples of their length, whenever they began.
    pub fn tick(&self, now: Timestamp, log: &LogWriter) {
        let slot = i64::try_from(self.slot.as_millis()).unwrap_or(i64::MAX);
        let mut begun = self.begun.lock();
        if begun.at.millis().div_euclid(slot) != now.millis().div_euclid(slot) {
            log.system(self.end(&mut begun, now, log.lost()));
        }
    }

    /// Ends the slot now, as when the engine stops.
    pub fn finish(&self, now: Timestamp, lost: u64) -> SystemRecord {
        self.end(&mut self.begun.lock(), now, lost)
    }

    /// Returns the counters of all components.
    fn readings(&self) -> SystemCounters {
        let mut readings = (self.readings)();
        readings.errors += self.counters.failures.load(Ordering::Relaxed);
        readings.cache_hits += self.counters.hits.load(Ordering::Relaxed);
        readings.cache_misses += self.counters.misses.load(Ordering::Relaxed);
        readings
    }

    fn end(&self, begun: &mut SlotStart, now: Timestamp, lost: u64) -> SystemRecord {
        let readings = self.readings();
        let (processor, machine) = (own_processor_seconds(), MachineReading::now(&self.root));
        let (queries, latency) = self.times.take();
        let record = SystemRecord {
            from: begun.at,
            to: now,
            done: readings.since(&begun.readings),
            queries,
            latency,
            log_lost: added(lost, begun.lost),
            machine: MachineStatus {
                memory: machine.own_memory,
                processor_seconds: processor.zip(begun.processor).map(|(now, before)| round(now - before)),
                load: machine.load,
                disk_free: machine.disk.map(|(_, free)| free),
            },
        };
        *begun = SlotStart { at: now, readings, lost, processor };
        record
    }
}

impl SystemCounters {
    fn since(&self, before: &SystemCounters) -> SystemCounters {
        SystemCounters {
            fetched: added(self.fetched, before.fetched),
            parsed: added(self.parsed, before.parsed),
            indexed: added(self.indexed, before.indexed),
            errors: added(self.errors, before.errors),
            cache_hits: added(self.cache_hits, before.cache_hits),
            cache_misses: added(self.cache_misses, before.cache_misses),
        }
    }
}

/// Returns the increment of a counter. A smaller value means that the counter was reset.
fn added(now: u64, before: u64) -> u64 {
    now.checked_sub(before).unwrap_or(now)
}

/// Rounds milliseconds to microseconds.
fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// Upper bound of the first bucket in microseconds.
const FIRST_MICROS: f64 = 50.0;
const GROWTH: f64 = 1.1;
/// The last bucket begins above two minutes.
const BUCKETS: usize = 156;

/// A histogram with buckets that grow by a tenth.
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

    /// Returns and clears the values added since the last call.
    fn take(&self) -> (u64, QueryLatency) {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.swap(0, Ordering::Relaxed)).collect();
        let micros = self.micros.swap(0, Ordering::Relaxed);
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return (0, QueryLatency::default());
        }
        let below = |share: f64| {
            let mut left = (share * total as f64).ceil() as u64;
            let bucket = counts.iter().position(|count| {
                let found = left <= *count;
                left = left.saturating_sub(*count);
                found
            });
            // The geometric middle of the bucket.
            let middle = bucket.unwrap_or(BUCKETS - 1) as f64 - 0.5;
            Some(round(FIRST_MICROS * GROWTH.powf(middle) / 1000.0))
        };
        let mean = Some(round(micros as f64 / 1000.0 / total as f64));
        (total, QueryLatency { p50: below(0.5), p90: below(0.9), p99: below(0.99), mean })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_slot_records_increments_and_the_machine() {
        let dir = tempfile::tempdir().unwrap();
        let fetched = Arc::new(AtomicU64::new(1000));
        let counter = fetched.clone();
        let readings =
            move || SystemCounters { fetched: counter.load(Ordering::Relaxed), ..SystemCounters::default() };
        let data = DataDir::at(dir.path());
        let slots =
            SystemLogger::new(&data, Duration::from_secs(60), Timestamp::from_millis(90_000), readings);
        fetched.store(1007, Ordering::Relaxed);
        for millis in 1..=100 {
            slots.observe_query(Duration::from_millis(millis), CacheUse::Miss);
        }
        slots.observe_query(Duration::from_millis(100), CacheUse::Hit);
        slots.observe_failure();
        let record = slots.finish(Timestamp::from_millis(120_000), 3);
        assert_eq!((record.done.fetched, record.queries, record.log_lost), (7, 101, 3));
        assert_eq!((record.done.cache_hits, record.done.cache_misses, record.done.errors), (1, 100, 1));
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
        let log = LogWriter::open(&data, &Default::default(), Arc::new(pharos_core::SystemClock));
        let slots = SystemLogger::new(
            &data,
            Duration::from_secs(60),
            Timestamp::from_millis(90_000),
            SystemCounters::default,
        );
        slots.observe_query(Duration::MAX, CacheUse::Miss);
        slots.observe_query(Duration::ZERO, CacheUse::Miss);
        for seconds in [91, 119, 120, 125, 181, 60] {
            slots.tick(Timestamp::from_millis(seconds * 1000), &log);
        }
        drop(log);
        let records: Vec<SystemRecord> =
            crate::log::reader::read(&data.logs(), &crate::log::files::DayRange::default())
                .unwrap()
                .map(Result::unwrap)
                .collect();
        let ends: Vec<i64> = records.iter().map(|record| record.to.seconds()).collect();
        assert_eq!((ends, records[0].queries), (vec![120, 181, 60], 2));
    }
}
