//! Removal of all records of a visit from the logs of a data directory.
//!
//! In an uncompressed file the lines are overwritten with blanks, which readers skip: other processes may append to it
//! meanwhile, and followers keep their positions. A compressed file is replaced. The next build
//! derives the click graph from the remaining lines.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use pharos_files::NewFile;
use rustix::fs::FlockOperation;
use serde::Serialize;

use crate::log::files::{LogFile, list_files};
use crate::log::reader::LogLines;
use crate::log::records::{AnyRecord, LogKind};

const COMPRESSION_LEVEL: i32 = 3;

/// Number of records removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PurgeReport {
    pub queries: u64,
    pub impressions: u64,
    pub clicks: u64,
    pub requests: u64,
}

impl PurgeReport {
    /// Returns the number of all records removed.
    pub fn total(&self) -> u64 {
        self.queries + self.impressions + self.clicks + self.requests
    }
}

/// Removes all records of a visit.
///
/// # Errors
/// Fails if a file cannot be read or written; files before it are purged.
pub fn purge_visit(logs: &Path, visit: &str) -> io::Result<PurgeReport> {
    let mut report = PurgeReport::default();
    if visit.is_empty() || !logs.is_dir() {
        return Ok(report);
    }
    // Compression and removal of old files wait meanwhile.
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(logs.join("LOCK"))?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
    let files = list_files(logs)?;
    let mut searches = HashSet::new();
    for file in files.iter().filter(|file| file.kind == LogKind::Queries) {
        let mut lines = LogLines::open(file)?;
        while let Some((_, line)) = lines.next_line() {
            if let Ok(Ok(AnyRecord::Query(record))) = line.map(|line| AnyRecord::parse(file.kind, line))
                && record.visit == visit
                && !record.id.is_empty()
            {
                searches.insert(record.id);
            }
        }
    }
    let is_purged = |record: &AnyRecord| match record {
        AnyRecord::Query(record) => record.visit == visit,
        AnyRecord::Click(record) => record.visit == visit || searches.contains(&record.impression),
        AnyRecord::Impression(record) => searches.contains(&record.id),
        AnyRecord::Access(record) => record.visit == visit,
        AnyRecord::System(_) => false,
    };
    for file in files.iter().filter(|file| file.kind != LogKind::System) {
        let purged = match file.compressed {
            true => purge_packed(file, &is_purged)?,
            false => purge_plain(file, &is_purged)?,
        };
        *match file.kind {
            LogKind::Queries => &mut report.queries,
            LogKind::Impressions => &mut report.impressions,
            LogKind::Clicks => &mut report.clicks,
            LogKind::Access | LogKind::System => &mut report.requests,
        } += purged;
    }
    Ok(report)
}

/// Overwrites lines with blanks.
fn purge_plain(file: &LogFile, is_purged: &dyn Fn(&AnyRecord) -> bool) -> io::Result<u64> {
    let mut lines = LogLines::open(file)?;
    let mut spans = Vec::new();
    while let Some((_, line)) = lines.next_line() {
        let Ok(line) = line else { continue };
        let len = line.len();
        if AnyRecord::parse(file.kind, line).is_ok_and(|record| is_purged(&record)) {
            // The line feed is kept.
            spans.push((lines.consumed() - 1 - len as u64, len));
        }
    }
    if spans.is_empty() {
        return Ok(0);
    }
    let target = OpenOptions::new().write(true).open(&file.path)?;
    for (offset, len) in &spans {
        target.write_all_at(&vec![b' '; *len], *offset)?;
    }
    target.sync_data()?;
    Ok(spans.len() as u64)
}

/// Writes a compressed file again without the lines.
fn purge_packed(file: &LogFile, is_purged: &dyn Fn(&AnyRecord) -> bool) -> io::Result<u64> {
    let is_wanted = |line: &[u8]| !AnyRecord::parse(file.kind, line).is_ok_and(|record| is_purged(&record));
    let mut lines = LogLines::open(file)?;
    let mut purged = 0;
    while let Some((_, line)) = lines.next_line() {
        purged += u64::from(line.is_ok_and(|line| !is_wanted(line)));
    }
    if purged == 0 {
        return Ok(0);
    }
    let mut lines = LogLines::open(file)?;
    let mut packed = zstd::Encoder::new(NewFile::create(&file.path)?, COMPRESSION_LEVEL)?;
    packed.include_checksum(true)?;
    while let Some((_, line)) = lines.next_line() {
        let Ok(line) = line else { continue };
        if is_wanted(line) {
            packed.write_all(line)?;
            packed.write_all(b"\n")?;
        }
    }
    packed.finish()?.install()?;
    Ok(purged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryRecord;
    use crate::testing::{at, query_at};

    #[test]
    fn a_power_cut_leaves_the_old_or_the_new_compressed_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("LOCK"), "").unwrap();
        let record: QueryRecord = query_at("tea", "bad", at("2026-01-30T12:00:00Z"));
        let line = serde_json::to_string(&record).unwrap() + "\n";
        let packed = LogFile::new(dir.path(), LogKind::Queries, "2026-01-30", 1, true).path;
        std::fs::write(packed, zstd::encode_all(line.as_bytes(), 3).unwrap()).unwrap();
        let purge = || assert_eq!(purge_visit(dir.path(), "bad").unwrap().queries, 1);
        pharos_files::power_cut::check(dir.path(), purge).unwrap();
    }
}
