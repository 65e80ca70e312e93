//! The log as those who answer queries see it: records are handed over, and nobody waits.
//!
//! A record is cleaned and put in line by who hands it over, which takes microseconds; one thread writes. What the thread
//! does not get to, because the disk is slow or full, is lost and counted: an answer is worth more than its record.

use std::collections::BTreeMap;
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pharos_core::Clock;
use pharos_core::config::LogConfig;
use pharos_store::DataDir;
use tracing::warn;

use crate::access::AccessRecord;
use crate::append::{self, Appender};
use crate::keep::Keeper;
use crate::record::{ClickRecord, ImpressionRecord, Kind, QueryRecord, Record};
use crate::system::SystemRecord;

/// Lines wait for company so long before they are written.
const GATHER: Duration = Duration::from_millis(50);
/// And no longer than until there are so many bytes.
const BATCH_BYTES: usize = 256 << 10;
/// Lines that may wait, besides the bound on their bytes.
const QUEUE_LINES: usize = 1 << 16;
/// What a crash of the machine loses at most.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Without anything to do the thread looks up this often.
const IDLE: Duration = Duration::from_secs(600);
/// Failing writes are told this often.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// A handle on the log; clones write to the same. What waits is written when the last one goes.
#[derive(Clone)]
pub struct Log {
    shared: Arc<Shared>,
}

struct Shared {
    lines: Option<SyncSender<Message>>,
    waiting: Arc<AtomicUsize>,
    lost: Arc<Lost>,
    queue: usize,
    scrub_digits: usize,
    writer: Mutex<Option<JoinHandle<()>>>,
}

enum Message {
    Line(Kind, String, Vec<u8>),
    Flush(SyncSender<()>),
}

/// Counts what was lost.
#[derive(Default)]
struct Lost(AtomicU64);

impl Lost {
    fn count(&self, records: u64, reason: &'static str) {
        self.0.fetch_add(records, Ordering::Relaxed);
        metrics::counter!("pharos_log_lost_total", "reason" => reason).increment(records);
    }
}

impl Log {
    /// The log of a data directory. Nothing is opened before there is something to write.
    pub fn open(data: &DataDir, config: &LogConfig, clock: Arc<dyn Clock>) -> Self {
        let house = Some(config.keep_for);
        Self::with(Appender::new(data.logs()), data.logs(), config, house, clock)
    }

    /// A log that writes nothing.
    pub fn disabled() -> Self {
        let shared = Shared {
            lines: None,
            waiting: Arc::default(),
            lost: Arc::default(),
            queue: 0,
            scrub_digits: 0,
            writer: Mutex::new(None),
        };
        Self { shared: Arc::new(shared) }
    }

    fn with(
        files: Appender,
        dir: PathBuf,
        config: &LogConfig,
        keep_for: Option<Duration>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        if !config.enabled {
            return Self::disabled();
        }
        let (lines, received) = sync_channel(QUEUE_LINES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let lost = Arc::new(Lost::default());
        let writer = Writer {
            files,
            received,
            waiting: waiting.clone(),
            lost: lost.clone(),
            batch: Batch::default(),
            synced: Instant::now(),
            unsynced: false,
            told: None,
            house: keep_for.map(|keep_for| Keeper::new(dir, keep_for, clock)),
        };
        let thread = thread::Builder::new().name("log".into()).spawn(move || writer.run());
        let thread =
            thread.inspect_err(|error| warn!(%error, "nothing is logged: there is no thread for it"));
        let shared = Shared {
            lines: Some(lines),
            waiting,
            lost,
            queue: config.queue.bytes(),
            scrub_digits: config.scrub_digits,
            writer: Mutex::new(thread.ok()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Writes a query down.
    pub fn query(&self, record: QueryRecord) {
        self.put(record);
    }

    /// Writes down what was shown.
    pub fn impression(&self, record: ImpressionRecord) {
        self.put(record);
    }

    /// Writes a request down.
    pub fn access(&self, record: AccessRecord) {
        self.put(record);
    }

    /// Writes a click down.
    pub fn click(&self, record: ClickRecord) {
        self.put(record);
    }

    /// Writes the state of the system down.
    pub fn system(&self, record: SystemRecord) {
        self.put(record);
    }

    /// Records that were lost so far.
    pub fn lost(&self) -> u64 {
        self.shared.lost.0.load(Ordering::Relaxed)
    }

    /// Waits until all that was handed over is written, or lost, and synced.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if let Some(lines) = &self.shared.lines
            && lines.send(Message::Flush(done)).is_ok()
        {
            self.shared.wake();
            // An error means that the thread is gone.
            let _ = wait.recv();
        }
    }

    fn put<R: Record>(&self, record: R) {
        let shared = &*self.shared;
        let Some(lines) = &shared.lines else { return };
        let day = record.at().date();
        let Ok(line) = append::line(record, shared.scrub_digits) else {
            return shared.lost.count(1, "too_long");
        };
        let bytes = line.len();
        if shared.waiting.fetch_add(bytes, Ordering::Relaxed) + bytes > shared.queue {
            shared.waiting.fetch_sub(bytes, Ordering::Relaxed);
            return shared.lost.count(1, "queue_full");
        }
        match lines.try_send(Message::Line(R::KIND, day, line)) {
            Ok(()) => {}
            Err(error) => {
                shared.waiting.fetch_sub(bytes, Ordering::Relaxed);
                let full = matches!(error, TrySendError::Full(_));
                shared.lost.count(1, if full { "queue_full" } else { "no_writer" });
            }
        }
    }
}

impl Shared {
    /// Makes the thread look at once, though it waits for more lines.
    fn wake(&self) {
        if let Some(writer) = &*self.writer.lock().unwrap_or_else(PoisonError::into_inner) {
            writer.thread().unpark();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Without senders the thread writes what it has and ends.
        self.lines = None;
        self.wake();
        let thread = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(_)) = thread.map(JoinHandle::join) {
            warn!("the thread that writes the logs failed");
        }
    }
}

/// Lines that are written together, by log and day.
#[derive(Default)]
struct Batch {
    lines: BTreeMap<(Kind, String), (Vec<u8>, u64)>,
    bytes: usize,
    since: Option<Instant>,
}

impl Batch {
    fn add(&mut self, kind: Kind, day: String, line: &[u8]) {
        let (lines, count) = self.lines.entry((kind, day)).or_default();
        lines.extend_from_slice(line);
        *count += 1;
        self.bytes += line.len();
        self.since.get_or_insert_with(Instant::now);
    }
}

/// The thread that writes.
struct Writer {
    files: Appender,
    received: Receiver<Message>,
    waiting: Arc<AtomicUsize>,
    lost: Arc<Lost>,
    batch: Batch,
    synced: Instant,
    unsynced: bool,
    told: Option<Instant>,
    house: Option<Keeper>,
}

impl Writer {
    fn run(mut self) {
        loop {
            match self.next() {
                Ok(Message::Line(kind, day, line)) => {
                    self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
                    self.batch.add(kind, day, &line);
                }
                Ok(Message::Flush(done)) => {
                    self.write();
                    self.sync();
                    // Whoever asked may have gone.
                    let _ = done.try_send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let gathered = self.batch.since.is_some_and(|since| since.elapsed() >= GATHER);
            if gathered || self.batch.bytes >= BATCH_BYTES {
                self.write();
            }
            if self.unsynced && self.synced.elapsed() >= SYNC_EVERY {
                self.sync();
            }
            if let Some(house) = &mut self.house
                && house.wait().is_zero()
            {
                self.files.keep_open(&house.today());
                house.start();
            }
        }
        self.write();
        self.sync();
    }

    /// The next message. While lines gather nobody is to wake this thread for another one: at thousands in a second
    /// that costs those who hand them over more than all the rest.
    fn next(&self) -> Result<Message, RecvTimeoutError> {
        match self.received.try_recv() {
            Ok(message) => Ok(message),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if self.batch.since.is_some() => {
                thread::park_timeout(self.wait());
                Err(RecvTimeoutError::Timeout)
            }
            Err(TryRecvError::Empty) => self.received.recv_timeout(self.wait()),
        }
    }

    /// How long nothing needs doing.
    fn wait(&self) -> Duration {
        let gather = self.batch.since.map(|since| GATHER.saturating_sub(since.elapsed()));
        let sync = self.unsynced.then(|| SYNC_EVERY.saturating_sub(self.synced.elapsed()));
        let house = self.house.as_ref().map(|house| house.wait());
        [gather, sync, house].into_iter().flatten().min().unwrap_or(IDLE)
    }

    fn write(&mut self) {
        for ((kind, day), (lines, count)) in mem::take(&mut self.batch).lines {
            if let Err(failed) = self.files.write(kind, &day, &lines) {
                self.lost.count(count.saturating_sub(failed.written), "disk");
                self.tell(&failed);
            }
            self.unsynced = true;
        }
    }

    fn sync(&mut self) {
        if let Err(error) = self.files.sync() {
            self.tell(&error);
        }
        self.synced = Instant::now();
        self.unsynced = false;
    }

    fn tell(&mut self, error: &(dyn std::error::Error + 'static)) {
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            warn!(error, lost = self.lost.0.load(Ordering::Relaxed), "log records are lost");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Days, list};
    use crate::reader::read;
    use crate::testing::asked;
    use pharos_core::SystemClock;
    use pharos_core::config::Size;
    use std::fs::OpenOptions;
    use std::path::Path;

    fn log(dir: &Path) -> Log {
        Log::open(&DataDir::at(dir), &LogConfig::default(), Arc::new(SystemClock))
    }

    fn queries(dir: &Path) -> Vec<String> {
        let records = read::<QueryRecord>(&dir.join("logs"), &Days::default()).unwrap();
        records.map(|record| record.unwrap().query).collect()
    }

    #[test]
    fn what_is_handed_over_is_written_when_the_last_handle_goes() {
        let dir = tempfile::tempdir().unwrap();
        let first = log(dir.path());
        let second = first.clone();
        first.query(asked("tea", "2026-01-31"));
        drop(first);
        second.query(asked("电话 13800138000", "2026-01-31"));
        drop(second);
        assert_eq!(queries(dir.path()), ["tea", "电话"]);
    }

    #[test]
    fn lines_are_there_within_a_fifth_of_a_second() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let start = Instant::now();
        log.query(asked("tea", "2026-01-31"));
        while queries(dir.path()).is_empty() {
            assert!(start.elapsed() < Duration::from_secs(5), "nothing is written");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_clock_that_jumps_back_opens_the_file_of_that_day() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        for day in ["2026-01-31", "2026-02-01", "2026-01-31", "1970-01-01", "2026-02-01"] {
            log.query(asked("q", day));
            log.flush();
        }
        assert_eq!(queries(dir.path()).len(), 5);
        assert_eq!(list(&dir.path().join("logs")).unwrap().len(), 3);
        let mut absurd = asked("q", "2026-01-31");
        absurd.at = pharos_core::Timestamp::from_millis(i64::MIN);
        log.query(absurd);
        log.flush();
        assert_eq!(log.lost(), 1);
    }

    #[test]
    fn many_processes_write_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let logs: Vec<Log> = (0..4).map(|_| log(dir.path())).collect();
        thread::scope(|scope| {
            for log in &logs {
                scope.spawn(move || {
                    for n in 0..500 {
                        log.query(asked(&format!("{n} {}", "词".repeat(n % 300)), "2026-01-31"));
                    }
                });
            }
        });
        assert_eq!(logs.iter().map(Log::lost).sum::<u64>(), 0);
        drop(logs);
        assert_eq!(queries(dir.path()).len(), 2000);
    }

    #[test]
    fn a_full_disk_costs_records_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let full = Appender::with(dir.path().to_path_buf(), |_, _, _| {
            Ok(Box::new(OpenOptions::new().write(true).open("/dev/full")?))
        });
        let log = Log::with(full, dir.path().into(), &LogConfig::default(), None, Arc::new(SystemClock));
        for _ in 0..10 {
            log.query(asked("tea", "2026-01-31"));
        }
        log.flush();
        assert_eq!(log.lost(), 10);
    }

    #[test]
    fn a_queue_that_is_full_and_a_record_that_is_too_long_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let config = LogConfig { queue: Size(100), ..LogConfig::default() };
        let log = Log::open(&DataDir::at(dir.path()), &config, Arc::new(SystemClock));
        log.query(asked(&"long ".repeat(50), "2026-01-31"));
        log.query(asked(&"x".repeat(2 << 20), "2026-01-31"));
        log.flush();
        assert_eq!(log.lost(), 2);
        assert!(!dir.path().join("logs").exists());
    }

    #[test]
    fn a_log_that_is_switched_off_writes_and_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let config = LogConfig { enabled: false, ..LogConfig::default() };
        let log = Log::open(&DataDir::at(dir.path()), &config, Arc::new(SystemClock));
        log.query(asked("tea", "2026-01-31"));
        log.flush();
        assert_eq!(log.lost(), 0);
        assert!(!dir.path().join("logs").exists());
    }
}
