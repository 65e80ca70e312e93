//! Survey of the library: one pass that finds the current record of each page, and the removed pages.

use std::collections::{HashMap, HashSet};

use pharos_core::{LibraryPosition, LibraryPositions, PageId, PageUrl, SiteId, Timestamp};
use pharos_store::catalog::{CLOCK_TOLERANCE, Removal};
use pharos_store::interpret::{RecordOutcome, redirect_target};
use pharos_store::{Library, RecordContent, StoreError, StoredRecord};
use tracing::warn;

use crate::EngineError;
use crate::stages::ingest::{ReplayProgress, distance};

/// Time and position of the newest response of each page that determines its content.
pub(crate) type CurrentVersions = HashMap<PageId, (Timestamp, LibraryPosition)>;

/// The result of a survey.
pub(crate) struct LibrarySurvey {
    /// The current version of every page that is neither deleted nor removed.
    pub(crate) current: CurrentVersions,
    /// Time of the first successful response, including dropped versions.
    pub(crate) first_seen: HashMap<PageId, Timestamp>,
    /// The current pages that redirect, with their targets.
    pub(crate) redirects: HashMap<PageId, PageUrl>,
    /// Pages and sites removed permanently by operators.
    pub(crate) removed_pages: HashSet<PageId>,
    pub(crate) removed_sites: HashSet<SiteId>,
    /// Ends of the surveyed ranges.
    pub(crate) to: LibraryPositions,
}

/// Surveys the library up to its end or to `to`. `check` receives the number of records every 1024 records.
///
/// Damaged records are reported and skipped.
pub(crate) fn survey_library(
    library: &dyn Library,
    to: Option<&LibraryPositions>,
    file_size: u64,
    check: &mut dyn FnMut(ReplayProgress) -> Result<(), EngineError>,
) -> Result<LibrarySurvey, EngineError> {
    let mut surveyor = Surveyor::default();
    let bytes_up_to = |end: &LibraryPositions| -> u64 {
        let start = LibraryPositions::START;
        end.iter().map(|end| distance(start.get(end.log), end, file_size)).sum()
    };
    let total = bytes_up_to(&to.map_or_else(|| library.end(), |to| Ok(to.clone()))?);
    let mut records = 0;
    for stored in library.scan_logs(&LibraryPositions::START, to)? {
        let stored = match stored {
            Err(damage @ StoreError::Damaged { .. }) => {
                warn!("{damage}");
                continue;
            }
            stored => stored?,
        };
        surveyor.add(&stored);
        records += 1;
        if records % 1024 == 0 {
            let done = bytes_up_to(&surveyor.to).min(total);
            check(ReplayProgress { records, done, total })?;
        }
    }
    let mut survey = surveyor.finish();
    if let Some(to) = to {
        survey.to = to.clone();
    }
    Ok(survey)
}

/// Returns the key that orders the versions of a page: by time, then by position.
fn order((at, position): (Timestamp, LibraryPosition)) -> (Timestamp, u64) {
    (at, position.sort_key())
}

/// Returns `true` if a version cannot be of this time, because the crawler stored a later one at `at`: its clock was
/// wrong.
fn is_misdated(version: Timestamp, at: Timestamp) -> bool {
    version > at.plus(CLOCK_TOLERANCE)
}

/// Collects the survey from records in library order.
#[derive(Default)]
pub(crate) struct Surveyor {
    current: CurrentVersions,
    first_seen: HashMap<PageId, Timestamp>,
    redirects: HashMap<PageId, (LibraryPosition, PageUrl)>,
    /// Pages reported as deleted, with the last time: versions up to it are hidden.
    deleted: HashMap<PageId, Timestamp>,
    /// Pages whose current version is hidden because they may no longer be fetched.
    refused: HashSet<PageId>,
    pages: HashSet<PageId>,
    sites: HashSet<SiteId>,
    /// Mirror sites, with the scheme (`true` for https).
    copies: HashSet<(SiteId, bool)>,
    /// Pages with the scheme https.
    secure: HashSet<PageId>,
    to: LibraryPositions,
}

impl Surveyor {
    pub(crate) fn add(&mut self, stored: &StoredRecord) {
        self.to.advance(stored.next);
        let record = &stored.record;
        let (id, at) = (record.url.id(), record.at);
        let outcome = RecordOutcome::from_record(record);
        if outcome.proves_existence() {
            let first = self.first_seen.entry(id).or_insert(at);
            *first = at.min(*first);
        }
        match outcome {
            RecordOutcome::Removed(Removal::Page(url)) => {
                self.pages.insert(url.id());
            }
            RecordOutcome::Removed(Removal::Site(site)) => {
                self.sites.insert(site.id());
            }
            RecordOutcome::Mirror => {
                self.copies.insert((id.site(), record.url.is_https()));
            }
            RecordOutcome::Deleted => {
                let last = self.deleted.entry(id).or_insert(at);
                *last = at.max(*last);
            }
            RecordOutcome::Refused => {
                if self
                    .current
                    .get(&id)
                    .is_some_and(|(current, _)| *current <= at || is_misdated(*current, at))
                {
                    self.refused.insert(id);
                }
            }
            RecordOutcome::Settled(_) => self.add_version(stored),
            RecordOutcome::Inconclusive(_)
            | RecordOutcome::Dropped(_)
            | RecordOutcome::Failed
            | RecordOutcome::Robots
            | RecordOutcome::Decision => {}
        }
    }

    /// Adds a version that determines what the page is, unless a newer one does.
    fn add_version(&mut self, stored: &StoredRecord) {
        let (record, version) = (&stored.record, (stored.record.at, stored.position));
        let id = record.url.id();
        if record.url.is_https() {
            self.secure.insert(id);
        }
        if let RecordContent::Response(response) = &record.content
            && let Some(target) = redirect_target(&record.url, response)
        {
            self.redirects.insert(id, (stored.position, target));
        }
        let is_newer = |current: (Timestamp, LibraryPosition)| {
            order(current) < order(version)
                || (record.attempt > 0 && is_misdated(current.0, record.at) && current.1 < stored.position)
        };
        if self.current.get(&id).is_none_or(|current| is_newer(*current)) {
            self.current.insert(id, version);
            self.refused.remove(&id);
        }
    }

    pub(crate) fn finish(mut self) -> LibrarySurvey {
        self.current.retain(|page, (at, _)| {
            !self.pages.contains(page)
                && !self.sites.contains(&page.site())
                && (self.copies.is_empty()
                    || !self.copies.contains(&(page.site(), self.secure.contains(page))))
                && !self.refused.contains(page)
                && self.deleted.get(page).is_none_or(|deleted| deleted < at)
        });
        let current = self.current;
        self.first_seen.retain(|page, _| current.contains_key(page));
        // A redirecting page may have had content before, and vice versa.
        let redirects = self.redirects.into_iter().filter_map(|(page, (position, target))| {
            current.get(&page).filter(|(_, now)| *now == position).map(|_| (page, target))
        });
        let redirects = redirects.collect();
        LibrarySurvey {
            current,
            first_seen: self.first_seen,
            redirects,
            removed_pages: self.pages,
            removed_sites: self.sites,
            to: self.to,
        }
    }
}

#[cfg(test)]
mod tests {
    use pharos_store::library::Revisit;
    use pharos_store::{LibraryEvent, LibraryRecord, RawResponse};

    use super::*;

    fn answer(status: u16) -> RecordContent {
        RecordContent::Response(RawResponse { status, ..RawResponse::default() })
    }

    fn dropped(status: u16) -> RecordContent {
        RecordContent::Event(LibraryEvent::Dropped { status, digest: 1 })
    }

    fn unchanged() -> RecordContent {
        RecordContent::Revisit(Revisit {
            status: 304,
            headers: Vec::new(),
            address: None,
            refers_to: LibraryPosition::START,
            refers_to_at: Timestamp::EPOCH,
            digest: String::new(),
        })
    }

    /// Returns when a page with these records, one per second, was first seen and when its current version was fetched.
    fn seen(contents: impl IntoIterator<Item = RecordContent>) -> (Option<i64>, Option<i64>) {
        let url = PageUrl::parse("http://example.org/").unwrap();
        let mut surveyor = Surveyor::default();
        for (second, content) in (1..).zip(contents) {
            let record = LibraryRecord::new(url.clone(), Timestamp::from_millis(second * 1000), content);
            let position = LibraryPosition::new(1, second as u64);
            surveyor.add(&StoredRecord { position, next: position, record });
        }
        let LibrarySurvey { first_seen, current, .. } = surveyor.finish();
        let seconds = |at: &Timestamp| at.millis() / 1000;
        (first_seen.get(&url.id()).map(seconds), current.get(&url.id()).map(|(at, _)| seconds(at)))
    }

    fn first_seen(contents: impl IntoIterator<Item = RecordContent>) -> Option<i64> {
        seen(contents).0
    }

    #[test]
    fn versions_of_a_clock_that_was_wrong_are_superseded() {
        let url = PageUrl::parse("http://example.org/").unwrap();
        let day = |days: i64| Timestamp::from_millis(days * 86_400_000);
        let current = |days: &[i64], attempt| {
            let mut surveyor = Surveyor::default();
            for (offset, at) in (1..).zip(days) {
                let record =
                    LibraryRecord { attempt, ..LibraryRecord::new(url.clone(), day(*at), answer(200)) };
                let position = LibraryPosition::new(1, offset);
                surveyor.add(&StoredRecord { position, next: position, record });
            }
            surveyor.finish().current[&url.id()].0
        };
        assert_eq!(current(&[3650, 1], 1), day(1), "the crawler fetches in the order of time");
        assert_eq!(current(&[3650, 1], 0), day(3650), "imports are in any order");
        assert_eq!(current(&[2, 1], 1), day(2), "a small difference is no error");
    }

    #[test]
    fn a_refused_page_is_hidden_until_it_is_allowed() {
        let refused = || RecordContent::Event(LibraryEvent::Refused { reason: "robots.txt: /".into() });
        assert_eq!(seen([answer(200), refused()]).1, None);
        assert_eq!(seen([answer(200), refused(), answer(200)]).1, Some(3));
        let failed = RecordContent::Event(LibraryEvent::Failed { reason: "timed out".into() });
        assert_eq!(seen([answer(200), failed]).1, Some(1));
    }

    #[test]
    fn a_page_is_first_seen_when_it_is_first_there() {
        assert_eq!(first_seen([answer(404), answer(301), answer(410), answer(200), answer(200)]), Some(4));
        assert_eq!(first_seen([dropped(404), dropped(200), dropped(200), answer(200)]), Some(2));
        assert_eq!(first_seen([answer(503), unchanged(), answer(200)]), Some(2));
        assert_eq!(first_seen([answer(404)]), None);
    }
}
