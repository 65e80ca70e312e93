//! The importer: filters duplicate and unwanted records and ingests the rest in groups.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_store::catalog::PageVersion;
use pharos_store::interpret::status::StatusMeaning;
use pharos_store::library::payload_digest;
use pharos_store::{Catalog, Library, LibraryRecord, RawResponse, RecordContent, RecordKind};
use tokio::sync::watch;
use tracing::warn;

use super::convert::{Conversion, ForeignRevisit};
use super::{BadRecord, ImportSummary, MAX_DESCRIBED};
use crate::stages::ingest::IngestPipeline;
use crate::stages::record_appender::OriginalResponse;
use crate::{Engine, EngineError};

/// Maximum number of records in a group, and of bytes of their bodies.
const GROUP: usize = 64;
const GROUP_BYTES: usize = 8 << 20;
/// Number of versions whose content is compared with a revisit that does not give the time of its original.
const MAX_COMPARED: usize = 16;
/// Records between two progress reports.
const PROGRESS_INTERVAL: u64 = 64;

/// Imports records in groups.
pub(super) struct Importer<'a> {
    ingest: IngestPipeline,
    catalog: Arc<dyn Catalog>,
    library: Arc<dyn Library>,
    group: Vec<LibraryRecord>,
    bytes: usize,
    now: Timestamp,
    stop: &'a watch::Receiver<bool>,
    progress: Box<dyn FnMut(&ImportSummary) + 'a>,
    /// Total size of the files that were read completely.
    complete_bytes: u64,
    pub(super) summary: ImportSummary,
}

impl<'a> Importer<'a> {
    pub(super) fn new(
        engine: &Engine,
        ingest: IngestPipeline,
        stop: &'a watch::Receiver<bool>,
        progress: Box<dyn FnMut(&ImportSummary) + 'a>,
    ) -> Self {
        let (catalog, library) = (engine.catalog(), engine.library());
        let summary = ImportSummary::default();
        let now = SystemClock.now();
        let (group, bytes, complete_bytes) = (Vec::new(), 0, 0);
        Self { ingest, catalog, library, group, bytes, now, stop, progress, complete_bytes, summary }
    }

    /// Records that a file was read completely.
    pub(super) fn file_done(&mut self, path: &Path) {
        self.complete_bytes += std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        self.summary.read_bytes = self.complete_bytes;
    }

    /// Reports progress; returns an error once the import is to stop. Called before each record.
    pub(super) fn check_stop(&mut self) -> Result<(), EngineError> {
        if self.summary.records.is_multiple_of(PROGRESS_INTERVAL) {
            (self.progress)(&self.summary);
        }
        if *self.stop.borrow() { Err(EngineError::Stopped) } else { Ok(()) }
    }

    /// Records an unreadable record.
    pub(super) fn bad(&mut self, place: &str, offset: u64, detail: &str) {
        self.summary.records += 1;
        self.summary.damaged += 1;
        match self.summary.problems.len() {
            n if n < MAX_DESCRIBED => {
                warn!("{place} at byte {offset}: {detail}");
                let bad = BadRecord { file: place.into(), offset, detail: detail.into() };
                self.summary.problems.push(bad);
            }
            _ if self.summary.damaged == MAX_DESCRIBED as u64 + 1 => {
                warn!("further damaged records are counted but not listed");
            }
            _ => {}
        }
    }

    /// Counts a record that is not a page.
    pub(super) fn skip(&mut self) {
        self.summary.records += 1;
        self.summary.skipped += 1;
    }

    pub(super) fn import_converted(
        &mut self,
        place: &str,
        offset: u64,
        converted: Conversion,
    ) -> Result<(), EngineError> {
        self.summary.read_bytes = self.complete_bytes + offset;
        match converted {
            Ok(Some(record)) => self.import(record)?,
            Ok(None) => self.skip(),
            Err(detail) => self.bad(place, offset, &detail),
        }
        Ok(())
    }

    /// Imports a record unless the library has it or the page was removed.
    pub(super) fn import(&mut self, mut record: LibraryRecord) -> Result<(), EngineError> {
        // An invalid or future date would make this the current version permanently.
        let tomorrow = self.now.plus(Duration::from_secs(86_400));
        if !is_writable(record.at) || record.at > tomorrow {
            record.at = Timestamp::EPOCH;
        }
        // A 304 response has no content of its own.
        if let RecordContent::Response(response) = &record.content
            && StatusMeaning::from_status(response.status) == StatusMeaning::NotModified
        {
            self.skip();
            return Ok(());
        }
        self.summary.records += 1;
        if self.catalog.is_removed(&record.url)? {
            self.summary.removed += 1;
        } else if self.has_version(&record)? {
            self.summary.known += 1;
        } else {
            self.bytes += record.body_size();
            self.group.push(record);
            if self.group.len() >= GROUP || self.bytes >= GROUP_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Imports a revisit whose original is in the library; others are skipped.
    ///
    /// References of the library stay within a page, so a revisit of another page becomes a full response.
    pub(super) fn import_revisit(&mut self, revisit: ForeignRevisit) -> Result<(), EngineError> {
        // The original may be in the pending group.
        if self.group.iter().any(|waiting| waiting.url == revisit.of) {
            self.flush()?;
        }
        let Some(original) = self.find_original(&revisit)? else {
            self.skip();
            return Ok(());
        };
        let ForeignRevisit { mut record, of, .. } = revisit;
        let RecordContent::Response(answer) = &record.content else { return Ok(()) };
        record.content = if of == record.url {
            RecordContent::Revisit(original.revisited_by(answer))
        } else {
            RecordContent::Response(RawResponse { address: answer.address, ..original.response })
        };
        self.import(record)
    }

    /// Returns the response with the content of a revisit: found by its date, or else by its digest.
    fn find_original(&self, revisit: &ForeignRevisit) -> Result<Option<OriginalResponse>, EngineError> {
        let versions = self.catalog.versions(revisit.of.id())?;
        let is_dated = |v: &&PageVersion| revisit.of_at.is_some_and(|at| same_time(v.at, at));
        let dated = versions.iter().filter(is_dated);
        let earlier =
            versions.iter().filter(|v| v.at <= revisit.record.at && !is_dated(v)).take(MAX_COMPARED);
        for version in dated.chain(earlier) {
            let Some(original) = OriginalResponse::read(&*self.library, version.position) else { continue };
            if is_dated(&version) || has_digest(&original.response, revisit.digest.as_deref()) {
                return Ok(Some(original));
            }
        }
        Ok(None)
    }

    /// Returns `true` if the library has this version, or it is pending.
    fn has_version(&self, record: &LibraryRecord) -> Result<bool, EngineError> {
        let waits = |waiting: &LibraryRecord| {
            waiting.url == record.url
                && same_time(waiting.at, record.at)
                && waiting.status() == record.status()
        };
        if self.group.iter().any(waits) {
            return Ok(true);
        }
        if record.kind == RecordKind::Robots {
            // The catalog keeps the date of the last robots.txt only.
            return Ok(self.catalog.robots(&record.url)?.is_some_and(|robots| robots.at >= record.at));
        }
        // A revisit has the status of its original.
        let any_status = matches!(record.content, RecordContent::Revisit(_));
        let versions = self.catalog.versions(record.url.id())?;
        Ok(versions
            .iter()
            .any(|v| same_time(v.at, record.at) && (any_status || Some(v.status) == record.status())))
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        let group = std::mem::take(&mut self.group);
        self.bytes = 0;
        if !group.is_empty() {
            let count = group.len() as u64;
            self.ingest.append(group)?;
            self.summary.imported += count;
            self.ingest.execute_pending_orders()?;
        }
        (self.progress)(&self.summary);
        Ok(())
    }

    /// Imports pending records and commits the index.
    pub(super) fn finish(mut self) -> Result<ImportSummary, EngineError> {
        self.flush()?;
        self.ingest.finish()?;
        Ok(self.summary)
    }
}

/// Returns `true` if two times agree at their common precision: many formats have whole seconds only.
fn same_time(a: Timestamp, b: Timestamp) -> bool {
    let is_rough = |at: Timestamp| at.millis().rem_euclid(1000) == 0;
    a == b || ((is_rough(a) || is_rough(b)) && a.seconds() == b.seconds())
}

/// Returns `true` if the library can store this time. Years must have four digits.
pub(crate) fn is_writable(at: Timestamp) -> bool {
    Timestamp::parse(&at.to_precise()) == Some(at)
}

fn has_digest(response: &RawResponse, digest: Option<&str>) -> bool {
    digest.is_some_and(|digest| payload_digest(&response.body).eq_ignore_ascii_case(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_agree_at_their_common_precision() {
        let at = Timestamp::from_millis;
        assert!(same_time(at(5_000), at(5_999)) && same_time(at(5_123), at(5_123)));
        assert!(!same_time(at(5_001), at(5_002)) && !same_time(at(5_000), at(6_000)));
    }

    #[test]
    fn unwritable_times_are_detected() {
        let year = |text: &str| is_writable(Timestamp::parse(text).unwrap());
        assert!(
            year("0001-01-01T00:00:00.5Z")
                && year("1969-12-31T23:59:59.999Z")
                && year("9999-01-01T00:00:00Z")
        );
        assert!(!year("-000500-01-01T00:00:00Z"));
        assert!(!is_writable(Timestamp::from_millis(i64::MAX)));
    }
}
