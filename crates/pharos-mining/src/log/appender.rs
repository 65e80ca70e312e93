//! Synchronous appending of records, for imports: the caller waits for the disk, and errors are returned.

use std::path::PathBuf;

use pharos_core::config::LogConfig;
use pharos_store::DataDir;

use crate::log::day_files::{AppendError, DayFiles, format_line};
use crate::log::records::{LogKind, LogRecord};

/// Maximum number of bytes buffered before they are written.
const BATCH_BYTES: usize = 256 << 10;
/// Maximum number of days for which lines are buffered.
const BATCH_DAYS: usize = 64;

/// Appends to the logs of a data directory, concurrently with other writers.
pub struct LogAppender {
    files: DayFiles,
    scrub_digits: usize,
    buffered: Vec<(LogKind, String, Vec<u8>)>,
    bytes: usize,
}

impl LogAppender {
    /// Creates an appender for the logs of a data directory.
    pub fn open(data: &DataDir, config: &LogConfig) -> Self {
        let files = DayFiles::new(data.logs());
        Self { files, scrub_digits: config.scrub_digits, buffered: Vec::new(), bytes: 0 }
    }

    /// Appends a record.
    pub fn append<R: LogRecord>(&mut self, record: R) -> Result<(), AppendError> {
        let day = record.at().date();
        let line = format_line(record, self.scrub_digits).map_err(|error| AppendError {
            kind: R::KIND,
            day: day.clone(),
            dir: PathBuf::new(),
            error,
            written: 0,
        })?;
        self.bytes += line.len();
        match self.buffered.iter_mut().find(|(kind, of, _)| (*kind, of) == (R::KIND, &day)) {
            Some((_, _, lines)) => lines.extend(line),
            None => self.buffered.push((R::KIND, day, line)),
        }
        if self.bytes >= BATCH_BYTES || self.buffered.len() > BATCH_DAYS {
            self.write_buffered()
        } else {
            Ok(())
        }
    }

    fn write_buffered(&mut self) -> Result<(), AppendError> {
        self.bytes = 0;
        for (kind, day, lines) in std::mem::take(&mut self.buffered) {
            self.files.write(kind, &day, &lines)?;
        }
        Ok(())
    }

    /// Writes buffered lines and syncs the files.
    pub fn finish(mut self) -> Result<(), AppendError> {
        self.write_buffered()?;
        let dir = self.files.dir.clone();
        let failed =
            |error| AppendError { kind: LogKind::Queries, day: "these days".into(), dir, error, written: 0 };
        self.files.sync().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryRecord;
    use crate::log::files::{DayRange, list_files};
    use crate::log::reader::read;
    use crate::testing::query_on;

    #[test]
    fn an_import_is_written_whole_to_the_days_it_belongs_to() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = LogAppender::open(&DataDir::at(dir.path()), &LogConfig::default());
        for n in 0..3000 {
            let day = if n % 2 == 0 { "2004-04-14" } else { "2003-03-21" };
            log.append(query_on(&format!("查询 {n} 号 13800138000"), day)).unwrap();
        }
        log.finish().unwrap();
        let records = read::<QueryRecord>(&dir.path().join("logs"), &DayRange::default()).unwrap();
        let found: Vec<String> = records.map(|record| record.unwrap().query).collect();
        assert_eq!((found.len(), found[0].as_str()), (3000, "查询 1 号"));
        assert_eq!(list_files(&dir.path().join("logs")).unwrap().len(), 2);
    }
}
