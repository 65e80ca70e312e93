//! What is taken in and what is not, in groups.

use std::sync::Arc;
use std::time::Duration;

use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_store::{
    Catalog, Content, Library, LibraryPosition, Record, Response, Revisit, Version, payload_digest,
};
use tokio::sync::watch;
use tracing::warn;

use super::convert::{Converted, ForeignRevisit};
use super::{BadRecord, ImportSummary, MAX_DESCRIBED};
use crate::{Engine, EngineError, Intake};

/// Records, and bytes of their bodies, that are taken in together, at most.
const GROUP: usize = 64;
const GROUP_BYTES: usize = 8 << 20;
/// Versions whose content is compared with a revisit that does not say when its original was fetched.
const MAX_COMPARED: usize = 16;
/// How often one hears how far it is, in records.
const TELL_EVERY: u64 = 64;

/// Takes records in, one group after the other.
pub(super) struct Taker<'a> {
    intake: Intake,
    catalog: Arc<dyn Catalog>,
    library: Arc<dyn Library>,
    group: Vec<Record>,
    bytes: usize,
    now: Timestamp,
    stop: &'a watch::Receiver<bool>,
    progress: Box<dyn FnMut(&ImportSummary) + 'a>,
    pub(super) summary: ImportSummary,
}

impl<'a> Taker<'a> {
    pub(super) fn new(
        engine: &Engine,
        intake: Intake,
        stop: &'a watch::Receiver<bool>,
        progress: Box<dyn FnMut(&ImportSummary) + 'a>,
    ) -> Self {
        let (catalog, library) = (engine.catalog(), engine.library());
        let summary = ImportSummary::default();
        let now = SystemClock.now();
        Self { intake, catalog, library, group: Vec::new(), bytes: 0, now, stop, progress, summary }
    }

    /// Called before each record: an error once it is to stop.
    pub(super) fn go_on(&mut self) -> Result<(), EngineError> {
        if self.summary.records.is_multiple_of(TELL_EVERY) {
            (self.progress)(&self.summary);
        }
        if *self.stop.borrow() { Err(EngineError::Stopped) } else { Ok(()) }
    }

    /// Something that cannot be read.
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
                warn!("more damaged records are only counted");
            }
            _ => {}
        }
    }

    /// Something that is no page.
    pub(super) fn pass_over(&mut self) {
        self.summary.records += 1;
        self.summary.passed_over += 1;
    }

    pub(super) fn offer_converted(
        &mut self,
        place: &str,
        offset: u64,
        converted: Converted,
    ) -> Result<(), EngineError> {
        match converted {
            Ok(Some(record)) => self.offer(record)?,
            Ok(None) => self.pass_over(),
            Err(detail) => self.bad(place, offset, &detail),
        }
        Ok(())
    }

    /// Takes a record in, unless it is known or not wanted.
    pub(super) fn offer(&mut self, mut record: Record) -> Result<(), EngineError> {
        // A date that cannot be, or is yet to come, would make this the current version for ever.
        let tomorrow = self.now.plus(Duration::from_secs(86_400));
        if !is_writable(record.at) || record.at > tomorrow {
            record.at = Timestamp::EPOCH;
        }
        // That nothing changed says nothing by itself, and is no answer to somebody who never asked.
        if record.status() == Some(304) && matches!(record.content, Content::Response(_)) {
            self.pass_over();
            return Ok(());
        }
        self.summary.records += 1;
        if self.catalog.is_removed(&record.url)? {
            self.summary.removed += 1;
        } else if self.is_known(&record)? {
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

    /// Takes in a reference to what the library has; without that it is worth nothing. Our references stay within a
    /// page: one to another page becomes an answer of its own.
    pub(super) fn offer_revisit(&mut self, revisit: ForeignRevisit) -> Result<(), EngineError> {
        // What it refers to may be about to be taken in.
        if self.group.iter().any(|waiting| waiting.url == revisit.of) {
            self.flush()?;
        }
        let Some((position, original)) = self.original(&revisit)? else {
            self.pass_over();
            return Ok(());
        };
        let ForeignRevisit { mut record, of, .. } = revisit;
        let (Content::Response(answer), Content::Response(first)) = (record.content, original.content) else {
            return Ok(());
        };
        record.content = if of == record.url {
            Content::Revisit(Revisit {
                status: answer.status,
                headers: answer.headers,
                address: answer.address,
                of: position,
                of_at: original.at,
                digest: payload_digest(&first.body),
            })
        } else {
            Content::Response(Response { address: answer.address, ..first })
        };
        self.offer(record)
    }

    /// The record with the content that a revisit refers to: by its date, or else by its digest.
    fn original(&self, revisit: &ForeignRevisit) -> Result<Option<(LibraryPosition, Record)>, EngineError> {
        let versions = self.catalog.versions(revisit.of.id())?;
        let is_dated = |v: &&Version| revisit.of_at.is_some_and(|at| same_moment(v.at, at));
        let dated = versions.iter().filter(is_dated);
        let earlier =
            versions.iter().filter(|v| v.at <= revisit.record.at && !is_dated(v)).take(MAX_COMPARED);
        for version in dated.chain(earlier) {
            let mut position = version.position;
            let Ok(mut stored) = self.library.read(position) else { continue };
            if let Content::Revisit(second_hand) = &stored.record.content {
                position = second_hand.of;
                let Ok(first) = self.library.read(position) else { continue };
                stored = first;
            }
            let Content::Response(response) = &stored.record.content else { continue };
            if is_dated(&version) || has_digest(response, revisit.digest.as_deref()) {
                return Ok(Some((position, stored.record)));
            }
        }
        Ok(None)
    }

    /// Does the library have this version, or is it about to?
    fn is_known(&self, record: &Record) -> Result<bool, EngineError> {
        let waits = |waiting: &Record| {
            waiting.url == record.url
                && same_moment(waiting.at, record.at)
                && waiting.status() == record.status()
        };
        if self.group.iter().any(waits) {
            return Ok(true);
        }
        if is_robots_txt(&record.url) {
            // Only the last one is known by its date.
            return Ok(self.catalog.robots(&record.url)?.is_some_and(|robots| robots.at >= record.at));
        }
        // An unchanged version has the status of the one it refers to.
        let any_status = matches!(record.content, Content::Revisit(_));
        let versions = self.catalog.versions(record.url.id())?;
        Ok(versions
            .iter()
            .any(|v| same_moment(v.at, record.at) && (any_status || Some(v.status) == record.status())))
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        let group = std::mem::take(&mut self.group);
        self.bytes = 0;
        if !group.is_empty() {
            let count = group.len() as u64;
            self.intake.take(group)?;
            self.summary.taken += count;
            self.intake.attend()?;
        }
        (self.progress)(&self.summary);
        Ok(())
    }

    /// Takes in what waits, and makes everything searchable.
    pub(super) fn finish(mut self) -> Result<ImportSummary, EngineError> {
        self.flush()?;
        self.intake.finish()?;
        Ok(self.summary)
    }
}

/// The same moment, as far as both tell: many formats know whole seconds only.
fn same_moment(a: Timestamp, b: Timestamp) -> bool {
    let is_rough = |at: Timestamp| at.millis().rem_euclid(1000) == 0;
    a == b || ((is_rough(a) || is_rough(b)) && a.seconds() == b.seconds())
}

/// Can the library write this moment and read it again? Other years than those of four digits it cannot.
pub(crate) fn is_writable(at: Timestamp) -> bool {
    Timestamp::parse(&at.to_precise()) == Some(at)
}

fn has_digest(response: &Response, digest: Option<&str>) -> bool {
    digest.is_some_and(|digest| payload_digest(&response.body).eq_ignore_ascii_case(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_agree_as_far_as_both_tell() {
        let at = Timestamp::from_millis;
        assert!(same_moment(at(5_000), at(5_999)) && same_moment(at(5_123), at(5_123)));
        assert!(!same_moment(at(5_001), at(5_002)) && !same_moment(at(5_000), at(6_000)));
    }

    #[test]
    fn moments_that_cannot_be_written_are_known() {
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
