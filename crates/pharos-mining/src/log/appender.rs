//! Writing records one after the other, for imports: whoever writes waits for the disk, and nothing is lost silently.

use std::path::PathBuf;

use pharos_core::config::LogConfig;
use pharos_store::DataDir;

use crate::append::{AppendError, Appender, line};
use crate::record::{Kind, Record};

/// Lines gathered before they are written.
const BATCH_BYTES: usize = 256 << 10;
/// Days of logs that lines are gathered for.
const BATCH_DAYS: usize = 64;

/// Appends to the logs of a data directory, beside whoever else does.
pub struct LogAppender {
    files: Appender,
    scrub_digits: usize,
    waiting: Vec<(Kind, String, Vec<u8>)>,
    bytes: usize,
}

impl LogAppender {
    /// Appends to the logs of a data directory.
    pub fn open(data: &DataDir, config: &LogConfig) -> Self {
        let files = Appender::new(data.logs());
        Self { files, scrub_digits: config.scrub_digits, waiting: Vec::new(), bytes: 0 }
    }

    /// Appends a record.
    pub fn append<R: Record>(&mut self, record: R) -> Result<(), AppendError> {
        let day = record.at().date();
        let line = line(record, self.scrub_digits).map_err(|error| AppendError {
            kind: R::KIND,
            day: day.clone(),
            dir: PathBuf::new(),
            error,
            written: 0,
        })?;
        self.bytes += line.len();
        match self.waiting.iter_mut().find(|(kind, of, _)| (*kind, of) == (R::KIND, &day)) {
            Some((_, _, lines)) => lines.extend(line),
            None => self.waiting.push((R::KIND, day, line)),
        }
        if self.bytes >= BATCH_BYTES || self.waiting.len() > BATCH_DAYS {
            self.write_waiting()
        } else {
            Ok(())
        }
    }

    fn write_waiting(&mut self) -> Result<(), AppendError> {
        self.bytes = 0;
        for (kind, day, lines) in std::mem::take(&mut self.waiting) {
            self.files.write(kind, &day, &lines)?;
        }
        Ok(())
    }

    /// Writes what waits and brings it to the disk.
    pub fn finish(mut self) -> Result<(), AppendError> {
        self.write_waiting()?;
        let dir = self.files.dir.clone();
        let failed =
            |error| AppendError { kind: Kind::Queries, day: "these days".into(), dir, error, written: 0 };
        self.files.sync().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryRecord;
    use crate::files::{Days, list};
    use crate::reader::read;
    use crate::testing::asked;

    #[test]
    fn an_import_is_written_whole_to_the_days_it_belongs_to() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = LogAppender::open(&DataDir::at(dir.path()), &LogConfig::default());
        for n in 0..3000 {
            let day = if n % 2 == 0 { "2004-04-14" } else { "2003-03-21" };
            log.append(asked(&format!("查询 {n} 号 13800138000"), day)).unwrap();
        }
        log.finish().unwrap();
        let records = read::<QueryRecord>(&dir.path().join("logs"), &Days::default()).unwrap();
        let found: Vec<String> = records.map(|record| record.unwrap().query).collect();
        assert_eq!((found.len(), found[0].as_str()), (3000, "查询 1 号"));
        assert_eq!(list(&dir.path().join("logs")).unwrap().len(), 2);
    }
}
