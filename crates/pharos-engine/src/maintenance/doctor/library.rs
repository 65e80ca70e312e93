//! Checks the library: every record decodes, no file is missing, no end is torn.

use std::collections::HashSet;

use pharos_core::{LibraryPosition, LibraryPositions, PageId, SiteId};
use pharos_store::catalog::Removal;
use pharos_store::interpret::RecordOutcome;
use pharos_store::interpret::status::StatusMeaning;
use pharos_store::library::{LibraryFileDefectKind, LocalLibrary};
use pharos_store::{Library, LibraryEvent, LibraryRecord, RecordContent, StoreError, StoredRecord};

use super::{CheckedStore, DoctorProgress, Examination, LostRange, ProgressCheck};
use crate::EngineError;
use crate::build::survey::{CurrentVersions, Surveyor};

/// The contents of the library, as one pass found them.
pub(super) struct LibraryContents {
    /// Every response, in library order.
    responses: Vec<StoredResponse>,
    /// Revisit records whose original is missing.
    pub(super) without_original: HashSet<LibraryPosition>,
    removed_pages: HashSet<PageId>,
    removed_sites: HashSet<SiteId>,
    /// Current version of every page, up to the position the index has applied.
    pub(super) current: CurrentVersions,
    /// End of the last complete record.
    pub(super) end: LibraryPositions,
}

/// One response of the library.
pub(super) struct StoredResponse {
    position: u64,
    pub(super) page: PageId,
    /// `None` for a revisit record.
    pub(super) status: Option<u16>,
    is_complete: bool,
}

impl StoredResponse {
    pub(super) fn position(&self) -> LibraryPosition {
        LibraryPosition::from_u64(self.position)
    }
}

impl LibraryContents {
    pub(super) fn at(&self, position: LibraryPosition) -> Option<&StoredResponse> {
        self.index_of(position).map(|place| &self.responses[place])
    }

    /// Returns the index of the response at a position.
    pub(super) fn index_of(&self, position: LibraryPosition) -> Option<usize> {
        self.responses.binary_search_by_key(&position.to_u64(), |response| response.position).ok()
    }

    pub(super) fn responses(&self) -> &[StoredResponse] {
        &self.responses
    }

    pub(super) fn is_removed(&self, page: PageId) -> bool {
        self.removed_pages.contains(&page) || self.removed_sites.contains(&page.site())
    }
}

/// Reads the library from start to end.
pub(super) fn examine(
    library: &dyn Library,
    owned: bool,
    index_at: &LibraryPositions,
    exam: &mut Examination,
    check: ProgressCheck<'_>,
) -> Result<LibraryContents, EngineError> {
    let mut contents = LibraryContents {
        responses: Vec::new(),
        without_original: HashSet::new(),
        removed_pages: HashSet::new(),
        removed_sites: HashSet::new(),
        current: CurrentVersions::new(),
        end: LibraryPositions::START,
    };
    let mut surveyor = Surveyor::default();
    let mut revisits: Vec<(LibraryPosition, LibraryPosition)> = Vec::new();
    let mut damaged: Vec<(LibraryPosition, String)> = Vec::new();
    for end in library.end()?.iter() {
        let mut after = LibraryPosition::start_of_log(end.log);
        for stored in library.scan(after, Some(end))? {
            let stored = match stored {
                Ok(stored) => stored,
                Err(StoreError::Damaged { position, detail }) => {
                    damaged.push((position, detail));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            exam.add_lost(&mut damaged, after, stored.position);
            after = stored.next;
            exam.report.records += 1;
            if exam.report.records.is_multiple_of(1024) {
                check(DoctorProgress::Library(exam.report.records))?;
            }
            if index_at.covers(stored.next) {
                surveyor.add(&stored);
            }
            if let RecordContent::Revisit(revisit) = &stored.record.content {
                revisits.push((stored.position, revisit.refers_to));
            }
            contents.add(&stored);
        }
        exam.add_lost(&mut damaged, after, end);
        contents.end.advance(after);
    }
    contents.current = surveyor.finish().current;
    if let Some(files) = library.local() {
        let whole_up_to = contents.end.get(0);
        examine_files(files, owned, whole_up_to, exam)?;
        contents.end.set(files.intact_end(whole_up_to)?);
    }
    for (position, of) in revisits {
        if contents.at(of).is_some_and(|response| response.is_complete) {
            continue;
        }
        contents.without_original.insert(position);
        // Compaction may have removed both records in the meantime.
        if let Ok(StoredRecord {
            record: LibraryRecord { url, content: RecordContent::Revisit(_), .. },
            ..
        }) = library.read(position)
        {
            exam.fault(
                CheckedStore::Library,
                position,
                format!("{url} is unchanged since {of}, but that record is missing"),
                "this version can be neither shown nor indexed",
                "only a backup can restore it; the next changed version is stored completely",
            );
        }
    }
    Ok(contents)
}

impl LibraryContents {
    fn add(&mut self, stored: &StoredRecord) {
        let record = &stored.record;
        let outcome = RecordOutcome::from_record(record);
        match &outcome {
            RecordOutcome::Removed(Removal::Page(url)) => {
                self.removed_pages.insert(url.id());
            }
            RecordOutcome::Removed(Removal::Site(site)) => {
                self.removed_sites.insert(site.id());
            }
            _ if outcome.version().is_some() => {
                let status = match &record.content {
                    RecordContent::Event(LibraryEvent::Dropped { status, .. }) => Some(*status),
                    content => content.response().map(|response| response.status),
                };
                // The status of a revisit is that of its original.
                let status = status.filter(|_| outcome.version() != Some(StatusMeaning::NotModified));
                self.responses.push(StoredResponse {
                    position: stored.position.to_u64(),
                    page: record.url.id(),
                    status,
                    is_complete: record.content.response().is_some(),
                });
            }
            _ => {}
        }
    }
}

impl Examination {
    /// Reports everything between two good records as lost if a damaged record lies between them.
    fn add_lost(
        &mut self,
        damaged: &mut Vec<(LibraryPosition, String)>,
        from: LibraryPosition,
        to: LibraryPosition,
    ) {
        let mut damaged = damaged.drain(..);
        if let Some((position, detail)) = damaged.next() {
            let place = position.to_string();
            let (what, pages) = (detail, Vec::new());
            let versions = Vec::new();
            self.lost.push(LostRange { from, to, place, what, versions, pages, is_volume: false });
        }
    }
}

/// Checks the files. Alongside an owner, torn ends and leftovers are ignored: they may be in the process of being written.
fn examine_files(
    library: &dyn LocalLibrary,
    owned: bool,
    whole_up_to: LibraryPosition,
    exam: &mut Examination,
) -> Result<(), EngineError> {
    for flaw in library.check_files(whole_up_to)? {
        let path = flaw.path.display();
        match flaw.problem {
            LibraryFileDefectKind::Missing(number) => exam.lost.push(LostRange {
                from: LibraryPosition::new(number, 0),
                to: LibraryPosition::new(number + 1, 0),
                place: path.to_string(),
                what: "the file is missing".into(),
                versions: Vec::new(),
                pages: Vec::new(),
                is_volume: true,
            }),
            LibraryFileDefectKind::Torn { offset, bytes } if !owned => {
                exam.needs.library = true;
                exam.fault(
                    CheckedStore::Library,
                    format!("{path} at byte {offset}"),
                    format!("the last {bytes} bytes are not a complete record"),
                    "no acknowledged data is lost, unless another store is ahead of the library",
                    "`pharos doctor --repair` or the next start of the engine sets them aside",
                );
            }
            LibraryFileDefectKind::Offsets(detail) => {
                exam.needs.library = true;
                exam.fault(
                    CheckedStore::Library,
                    path,
                    format!("offset table of a compacted file: {detail}"),
                    "readers must scan the whole file, or return wrong records",
                    "`pharos doctor --repair` rebuilds it",
                );
            }
            LibraryFileDefectKind::Leftover if !owned => {
                exam.needs.library = true;
                exam.fault(
                    CheckedStore::Library,
                    path,
                    "left behind by an interrupted compaction",
                    "disk space only",
                    "`pharos doctor --repair` removes it",
                );
            }
            LibraryFileDefectKind::SetAside => {
                exam.note(
                    CheckedStore::Library,
                    path,
                    "unreadable bytes that were set aside; can be deleted",
                );
            }
            LibraryFileDefectKind::Torn { .. } | LibraryFileDefectKind::Leftover => {}
        }
    }
    Ok(())
}
