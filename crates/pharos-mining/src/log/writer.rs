//! The asynchronous log writer: callers hand records over and never wait.
//!
//! The caller scrubs and serialises the record, which takes microseconds; one thread writes. Records that the
//! thread cannot write, because the disk is slow or full, are dropped and counted: a response matters more
//! than its record.

use std::collections::BTreeMap;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_core::Clock;
use pharos_core::config::LogConfig;
use pharos_store::DataDir;
use tracing::warn;

use crate::log::AccessRecord;
use crate::log::day_files::{DayFiles, format_line};
use crate::log::records::{ClickRecord, ImpressionRecord, LogKind, LogRecord, QueryRecord};
use crate::log::retention::RetentionThread;
use crate::system::SystemRecord;

/// Maximum time that lines are buffered before they are written.
const MAX_BUFFER_TIME: Duration = Duration::from_millis(50);
/// Maximum number of bytes that are buffered before they are written.
const BATCH_BYTES: usize = 256 << 10;
/// Maximum number of queued lines, in addition to the limit on their bytes.
const QUEUE_LINES: usize = 1 << 16;
/// Maximum loss after a crash of the machine.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// Wake-up interval of an idle thread.
const IDLE: Duration = Duration::from_secs(600);
/// Minimum interval between two warnings about failing writes.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// A handle to the log writer; clones share the writer. Queued records are written when the last handle is
/// dropped.
#[derive(Clone)]
pub struct LogWriter {
    shared: Arc<SharedWriter>,
}

struct SharedWriter {
    lines: Option<SyncSender<WriterMessage>>,
    queued_bytes: Arc<AtomicUsize>,
    lost: Arc<LostRecords>,
    queue: usize,
    scrub_digits: usize,
    writer: Mutex<Option<JoinHandle<()>>>,
}

enum WriterMessage {
    Line(LogKind, String, Vec<u8>),
    Flush(SyncSender<()>),
}

/// Counts lost records.
#[derive(Default)]
struct LostRecords(AtomicU64);

impl LostRecords {
    fn count(&self, records: u64, reason: &'static str) {
        self.0.fetch_add(records, Ordering::Relaxed);
        metrics::counter!("pharos_log_lost_total", "reason" => reason).increment(records);
    }
}

impl LogWriter {
    /// Opens the log of a data directory. No file is opened before the first record.
    pub fn open(data: &DataDir, config: &LogConfig, clock: Arc<dyn Clock>) -> Self {
        let retention = Some(config.keep_for);
        Self::with(DayFiles::new(data.logs()), data.logs(), config, retention, clock)
    }

    /// Returns a writer that discards all records.
    pub fn disabled() -> Self {
        let shared = SharedWriter {
            lines: None,
            queued_bytes: Arc::default(),
            lost: Arc::default(),
            queue: 0,
            scrub_digits: 0,
            writer: Mutex::new(None),
        };
        Self { shared: Arc::new(shared) }
    }

    fn with(
        files: DayFiles,
        dir: PathBuf,
        config: &LogConfig,
        keep_for: Option<Duration>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        if !config.enabled {
            return Self::disabled();
        }
        let (lines, received) = sync_channel(QUEUE_LINES);
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let lost = Arc::new(LostRecords::default());
        let writer = WriterThread {
            files,
            received,
            queued_bytes: queued_bytes.clone(),
            lost: lost.clone(),
            batch: LineBatch::default(),
            synced: Instant::now(),
            unsynced: false,
            warned: None,
            retention: keep_for.map(|keep_for| RetentionThread::new(dir, keep_for, clock)),
        };
        let thread = thread::Builder::new().name("log".into()).spawn(move || writer.run());
        let thread = thread
            .inspect_err(|error| warn!(%error, "logging is disabled: cannot start the log writer thread"));
        let shared = SharedWriter {
            lines: Some(lines),
            queued_bytes,
            lost,
            queue: config.queue.bytes(),
            scrub_digits: config.scrub_digits,
            writer: Mutex::new(thread.ok()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns `true` if records are written, not discarded.
    pub fn is_enabled(&self) -> bool {
        self.shared.lines.is_some()
    }

    /// Logs a query.
    pub fn query(&self, record: QueryRecord) {
        self.enqueue(record);
    }

    /// Logs an impression.
    pub fn impression(&self, record: ImpressionRecord) {
        self.enqueue(record);
    }

    /// Logs an HTTP request.
    pub fn access(&self, record: AccessRecord) {
        self.enqueue(record);
    }

    /// Logs a click.
    pub fn click(&self, record: ClickRecord) {
        self.enqueue(record);
    }

    /// Logs the state of the system.
    pub fn system(&self, record: SystemRecord) {
        self.enqueue(record);
    }

    /// Returns the number of records lost so far.
    pub fn lost(&self) -> u64 {
        self.shared.lost.0.load(Ordering::Relaxed)
    }

    /// Blocks until all records handed over so far are written, or lost, and synced.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if let Some(lines) = &self.shared.lines
            && lines.send(WriterMessage::Flush(done)).is_ok()
        {
            self.shared.wake();
            // An error means that the thread has ended.
            let _ = wait.recv();
        }
    }

    fn enqueue<R: LogRecord>(&self, record: R) {
        let shared = &*self.shared;
        let Some(lines) = &shared.lines else { return };
        let day = record.at().date();
        let Ok(line) = format_line(record, shared.scrub_digits) else {
            return shared.lost.count(1, "too_long");
        };
        let bytes = line.len();
        if shared.queued_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > shared.queue {
            shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            return shared.lost.count(1, "queue_full");
        }
        match lines.try_send(WriterMessage::Line(R::KIND, day, line)) {
            Ok(()) => {}
            Err(error) => {
                shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
                let full = matches!(error, TrySendError::Full(_));
                shared.lost.count(1, if full { "queue_full" } else { "no_writer" });
            }
        }
    }
}

impl SharedWriter {
    /// Wakes the thread while it waits for more lines.
    fn wake(&self) {
        if let Some(writer) = &*self.writer.lock() {
            writer.thread().unpark();
        }
    }
}

impl Drop for SharedWriter {
    fn drop(&mut self) {
        // Without senders the thread writes the remaining lines and ends.
        self.lines = None;
        self.wake();
        let thread = self.writer.get_mut().take();
        if let Some(Err(_)) = thread.map(JoinHandle::join) {
            warn!("the log writer thread panicked");
        }
    }
}

/// Lines that are written together, by log and day.
#[derive(Default)]
struct LineBatch {
    lines: BTreeMap<(LogKind, String), (Vec<u8>, u64)>,
    bytes: usize,
    since: Option<Instant>,
}

impl LineBatch {
    fn add(&mut self, kind: LogKind, day: String, line: &[u8]) {
        let (lines, count) = self.lines.entry((kind, day)).or_default();
        lines.extend_from_slice(line);
        *count += 1;
        self.bytes += line.len();
        self.since.get_or_insert_with(Instant::now);
    }
}

/// The writer thread.
struct WriterThread {
    files: DayFiles,
    received: Receiver<WriterMessage>,
    queued_bytes: Arc<AtomicUsize>,
    lost: Arc<LostRecords>,
    batch: LineBatch,
    synced: Instant,
    unsynced: bool,
    warned: Option<Instant>,
    retention: Option<RetentionThread>,
}

impl WriterThread {
    fn run(mut self) {
        loop {
            match self.next() {
                Ok(WriterMessage::Line(kind, day, line)) => {
                    self.queued_bytes.fetch_sub(line.len(), Ordering::Relaxed);
                    self.batch.add(kind, day, &line);
                }
                Ok(WriterMessage::Flush(done)) => {
                    self.write();
                    self.sync();
                    // The caller may have gone.
                    let _ = done.try_send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let gathered = self.batch.since.is_some_and(|since| since.elapsed() >= MAX_BUFFER_TIME);
            if gathered || self.batch.bytes >= BATCH_BYTES {
                self.write();
            }
            if self.unsynced && self.synced.elapsed() >= SYNC_INTERVAL {
                self.sync();
            }
            if let Some(retention) = &mut self.retention
                && retention.wait().is_zero()
            {
                self.files.keep_open(&retention.today());
                retention.start();
            }
        }
        self.write();
        self.sync();
    }

    /// Returns the next message. While lines are buffered, senders do not wake this thread: at thousands of
    /// lines per second the wake-ups would cost the callers more than everything else.
    fn next(&self) -> Result<WriterMessage, RecvTimeoutError> {
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

    /// Returns the time until the next action.
    fn wait(&self) -> Duration {
        let gather = self.batch.since.map(|since| MAX_BUFFER_TIME.saturating_sub(since.elapsed()));
        let sync = self.unsynced.then(|| SYNC_INTERVAL.saturating_sub(self.synced.elapsed()));
        let retention = self.retention.as_ref().map(|retention| retention.wait());
        [gather, sync, retention].into_iter().flatten().min().unwrap_or(IDLE)
    }

    fn write(&mut self) {
        for ((kind, day), (lines, count)) in mem::take(&mut self.batch).lines {
            if let Err(failed) = self.files.write(kind, &day, &lines) {
                self.lost.count(count.saturating_sub(failed.written), "disk");
                self.warn_rarely(&failed);
            }
            self.unsynced = true;
        }
    }

    fn sync(&mut self) {
        if let Err(error) = self.files.sync() {
            self.warn_rarely(&error);
        }
        self.synced = Instant::now();
        self.unsynced = false;
    }

    fn warn_rarely(&mut self, error: &(dyn std::error::Error + 'static)) {
        if self.warned.is_none_or(|warned| warned.elapsed() >= WARN_INTERVAL) {
            self.warned = Some(Instant::now());
            warn!(error, lost = self.lost.0.load(Ordering::Relaxed), "cannot write log records");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::files::{DayRange, list_files};
    use crate::log::reader::read;
    use crate::testing::query_on;
    use pharos_core::SystemClock;
    use pharos_core::config::ByteSize;
    use std::fs::OpenOptions;
    use std::path::Path;

    fn log(dir: &Path) -> LogWriter {
        LogWriter::open(&DataDir::at(dir), &LogConfig::default(), Arc::new(SystemClock))
    }

    fn queries(dir: &Path) -> Vec<String> {
        let records = read::<QueryRecord>(&dir.join("logs"), &DayRange::default()).unwrap();
        records.map(|record| record.unwrap().query).collect()
    }

    #[test]
    fn records_are_written_when_the_last_handle_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let first = log(dir.path());
        let second = first.clone();
        first.query(query_on("tea", "2026-01-31"));
        drop(first);
        second.query(query_on("电话 13800138000", "2026-01-31"));
        drop(second);
        assert_eq!(queries(dir.path()), ["tea", "电话"]);
    }

    #[test]
    fn lines_are_there_within_a_fifth_of_a_second() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let start = Instant::now();
        log.query(query_on("tea", "2026-01-31"));
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
            log.query(query_on("q", day));
            log.flush();
        }
        assert_eq!(queries(dir.path()).len(), 5);
        assert_eq!(list_files(&dir.path().join("logs")).unwrap().len(), 3);
        let mut absurd = query_on("q", "2026-01-31");
        absurd.at = pharos_core::Timestamp::from_millis(i64::MIN);
        log.query(absurd);
        log.flush();
        assert_eq!(log.lost(), 1);
    }

    #[test]
    fn many_processes_write_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let logs: Vec<LogWriter> = (0..4).map(|_| log(dir.path())).collect();
        thread::scope(|scope| {
            for log in &logs {
                scope.spawn(move || {
                    for n in 0..500 {
                        log.query(query_on(&format!("{n} {}", "词".repeat(n % 300)), "2026-01-31"));
                    }
                });
            }
        });
        assert_eq!(logs.iter().map(LogWriter::lost).sum::<u64>(), 0);
        drop(logs);
        assert_eq!(queries(dir.path()).len(), 2000);
    }

    #[test]
    fn a_full_disk_costs_records_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let full = DayFiles::with(dir.path().to_path_buf(), |_, _, _| {
            Ok(Box::new(OpenOptions::new().write(true).open("/dev/full")?))
        });
        let log =
            LogWriter::with(full, dir.path().into(), &LogConfig::default(), None, Arc::new(SystemClock));
        for _ in 0..10 {
            log.query(query_on("tea", "2026-01-31"));
        }
        log.flush();
        assert_eq!(log.lost(), 10);
    }

    #[test]
    fn a_queue_that_is_full_and_a_record_that_is_too_long_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let config = LogConfig { queue: ByteSize(100), ..LogConfig::default() };
        let log = LogWriter::open(&DataDir::at(dir.path()), &config, Arc::new(SystemClock));
        log.query(query_on(&"long ".repeat(50), "2026-01-31"));
        log.query(query_on(&"x".repeat(2 << 20), "2026-01-31"));
        log.flush();
        assert_eq!(log.lost(), 2);
        assert!(!dir.path().join("logs").exists());
    }

    #[test]
    fn a_log_that_is_switched_off_writes_and_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let config = LogConfig { enabled: false, ..LogConfig::default() };
        let log = LogWriter::open(&DataDir::at(dir.path()), &config, Arc::new(SystemClock));
        log.query(query_on("tea", "2026-01-31"));
        log.flush();
        assert_eq!(log.lost(), 0);
        assert!(!dir.path().join("logs").exists());
    }
}
