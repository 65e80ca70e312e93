//! The crawl log: one line per request, for people, `grep` and `tail -f`.
//!
//! ```text
//! 2026-01-31T08:15:02.120Z  200   34127 B  d2  http://www.example.org/a.html
//! 2026-01-31T08:15:03.409Z  ---       0 B  d3  http://www.example.org/b.html  timed out after 30 s waiting for a response
//! ```
//!
//! One file per day. The library holds the same data, so lines that cannot be written are no loss.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use pharos_core::Timestamp;
use pharos_store::library::TruncationReason;
use pharos_store::{DataDir, LibraryEvent, RecordContent, StoredRecord};
use tracing::warn;

/// Number of daily files kept.
const KEPT_DAYS: usize = 30;

/// Writes the crawl log of a data directory.
pub(crate) struct CrawlLog {
    dir: PathBuf,
    day: String,
    file: Option<BufWriter<File>>,
    /// Set once a write error has been reported.
    is_failing: bool,
}

impl CrawlLog {
    pub(crate) fn open(data: &DataDir) -> Self {
        Self { dir: data.root().join("logs"), day: String::new(), file: None, is_failing: false }
    }

    /// Writes one line per record.
    pub(crate) fn write(&mut self, records: &[StoredRecord]) {
        for stored in records {
            if let Some(line) = format_line(stored)
                && let Err(error) = self.append(stored.record.at, &line)
                && !std::mem::replace(&mut self.is_failing, true)
            {
                warn!(%error, dir = %self.dir.display(), "cannot write the crawl log");
            }
        }
        if let Some(file) = &mut self.file {
            // A failed flush only loses log lines; the library holds the same data.
            let _ = file.flush();
        }
    }

    fn append(&mut self, at: Timestamp, line: &str) -> std::io::Result<()> {
        let day = at.date();
        if day != self.day || self.file.is_none() {
            fs::create_dir_all(&self.dir)?;
            let path = self.dir.join(format!("crawl-{day}.log"));
            self.file = Some(BufWriter::new(OpenOptions::new().create(true).append(true).open(path)?));
            self.day = day;
            self.drop_old()?;
        }
        match &mut self.file {
            Some(file) => file.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }

    fn drop_old(&self) -> std::io::Result<()> {
        let mut logs: Vec<PathBuf> = fs::read_dir(&self.dir)?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("crawl-")))
            .collect();
        logs.sort();
        let old = logs.len().saturating_sub(KEPT_DAYS);
        logs.iter().take(old).try_for_each(fs::remove_file)
    }
}

fn format_line(stored: &StoredRecord) -> Option<String> {
    let record = &stored.record;
    let (status, bytes, note) = match &record.content {
        RecordContent::Response(response) => {
            let note = match response.truncated {
                None => String::new(),
                Some(TruncationReason::Length) => "truncated: too long".into(),
                Some(TruncationReason::Time) => "truncated: took too long".into(),
                Some(TruncationReason::Disconnect) => "truncated: connection lost".into(),
            };
            let to = response.header("Location").map(|to| format!("to {to}")).unwrap_or_default();
            (response.status.to_string(), response.body.len(), if note.is_empty() { to } else { note })
        }
        RecordContent::Revisit(revisit) => (revisit.status.to_string(), 0, "unchanged".into()),
        RecordContent::Event(LibraryEvent::Failed { reason }) => ("---".into(), 0, reason.clone()),
        RecordContent::Event(LibraryEvent::Refused { reason }) => ("no ".into(), 0, reason.clone()),
        RecordContent::Event(LibraryEvent::Alias { of }) => ("is ".into(), 0, format!("the same as {of}")),
        RecordContent::Event(_) => return None,
    };
    // Text from a server must not inject log lines.
    let note: String = note.chars().filter(|c| !c.is_control()).take(300).collect();
    let (at, depth, url) = (record.at.to_precise(), record.depth, &record.url);
    Some(format!("{at}  {status:>3} {bytes:>9} B  d{depth}  {url}  {note}").trim_end().to_string() + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::{LibraryPosition, PageUrl};
    use pharos_store::{LibraryRecord, RawResponse};

    fn stored(at: i64, content: RecordContent) -> StoredRecord {
        let url = PageUrl::parse("http://example.org/a").unwrap();
        let record =
            LibraryRecord { depth: 2, ..LibraryRecord::new(url, Timestamp::from_millis(at), content) };
        StoredRecord { position: LibraryPosition::START, next: LibraryPosition::START, record }
    }

    #[test]
    fn lines_are_formatted_and_sanitised() {
        let answer = RawResponse { status: 200, body: vec![0; 7], ..RawResponse::default() };
        assert_eq!(
            format_line(&stored(1500, RecordContent::Response(answer))).unwrap(),
            "1970-01-01T00:00:01.500Z  200         7 B  d2  http://example.org/a\n"
        );
        let reason = "evil\nline\u{1b}[31m".to_string();
        let failed = format_line(&stored(0, RecordContent::Event(LibraryEvent::Failed { reason }))).unwrap();
        assert!(failed.ends_with("http://example.org/a  evilline[31m\n"), "{failed}");
        assert_eq!(format_line(&stored(0, RecordContent::Event(LibraryEvent::Deleted))), None);
    }

    #[test]
    fn each_day_has_its_file_and_old_ones_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = CrawlLog::open(&DataDir::at(dir.path()));
        for day in 0..KEPT_DAYS as i64 + 5 {
            let refused = LibraryEvent::Refused { reason: "robots.txt".into() };
            log.write(&[stored(day * 86_400_000, RecordContent::Event(refused))]);
        }
        let mut names: Vec<String> = fs::read_dir(dir.path().join("logs"))
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!((names.len(), names[0].as_str()), (KEPT_DAYS, "crawl-1970-01-06.log"));
    }
}
