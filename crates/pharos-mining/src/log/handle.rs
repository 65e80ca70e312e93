//! The logs of a data directory as one handle, for a server that writes and follows them or for a command that reads them once.

use std::io;
use std::sync::Arc;

use pharos_core::config::HotConfig;
use pharos_core::{Clock, Config, SystemClock, Timestamp};
use pharos_store::DataDir;

use crate::LogStatistics;
use crate::clicks::learnt::{LearntClicks, LearntRules};
use crate::log::LogWriter;
use crate::system::{SystemCounters, SystemLogger};
use crate::visits::VisitHasher;

/// The logs of a data directory.
pub struct Logs {
    data: DataDir,
    hot: HotConfig,
    learnt: LearntRules,
    clock: Arc<dyn Clock>,
    is_server: bool,
    /// Writer of all logs. Discards records if logging is off, or if the logs are only read.
    pub writer: LogWriter,
    /// Identifiers of visits.
    pub visits: VisitHasher,
    /// Slots of the system log.
    pub system: SystemLogger,
}

impl Logs {
    /// Opens the logs for a server, which writes and follows them. `crawled` returns the monotonic counters of the
    /// crawl, if this process crawls.
    pub fn open(
        data: &DataDir,
        config: &Config,
        crawled: impl Fn() -> SystemCounters + Send + Sync + 'static,
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let writer = LogWriter::open(data, &config.log, Arc::clone(&clock));
        Self::with(data, config, clock, writer, crawled)
    }

    /// Opens the logs for a command, which reads them once and writes nothing.
    pub fn open_reader(data: &DataDir, config: &Config) -> Self {
        let logs =
            Self::with(data, config, Arc::new(SystemClock), LogWriter::disabled(), SystemCounters::default);
        Self { is_server: false, ..logs }
    }

    fn with(
        data: &DataDir,
        config: &Config,
        clock: Arc<dyn Clock>,
        writer: LogWriter,
        crawled: impl Fn() -> SystemCounters + Send + Sync + 'static,
    ) -> Self {
        Self {
            data: data.clone(),
            hot: config.hot.clone(),
            learnt: LearntRules::from_config(config),
            is_server: true,
            writer,
            visits: VisitHasher::open(data, &config.log, Arc::clone(&clock)),
            system: SystemLogger::new(data, config.log.slot, clock.now(), crawled),
            clock,
        }
    }

    /// Returns `true` if the logs are to be followed: they were opened for a server.
    pub fn is_server(&self) -> bool {
        self.is_server
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Reads the logs of the last days. Takes a while if there are many.
    ///
    /// # Errors
    /// Fails if the log files cannot be read.
    pub fn statistics(&self) -> io::Result<LogStatistics> {
        LogStatistics::open(&self.data, &self.hot, self.now())
    }

    /// Returns what the last build has learnt from clicks.
    ///
    /// # Errors
    /// Fails if the clicks of days cannot be listed.
    pub fn learnt_clicks(&self) -> io::Result<LearntClicks> {
        LearntClicks::load(&self.data, self.learnt, self.now())
    }

    /// Ends the slot of the system log and writes all records. Blocks until they are on disk.
    pub fn finish(&self) {
        self.writer.system(self.system.finish(self.now(), self.writer.lost()));
        self.writer.flush();
    }
}
