//! The library: every record decodes, every file is there, nothing is torn.

use std::collections::HashSet;

use pharos_core::{LibraryPosition, PageId, SiteId};
use pharos_crawl::robots::is_robots_txt;
use pharos_store::{
    Content, DiskLibrary, Event, FileProblem, Library as _, Record, Removal, StoreError, StoredRecord,
};

use super::{Check, Exam, Examining, Lost, Store};
use crate::EngineError;
use crate::survey::{Current, Surveyor};

/// What stands in the library.
pub(super) struct Shelf {
    /// Every answer, in the order of the library.
    answers: Vec<Answer>,
    /// Answers that refer to an earlier one which is not there.
    pub(super) hollow: HashSet<LibraryPosition>,
    removed_pages: HashSet<PageId>,
    removed_sites: HashSet<SiteId>,
    /// The current version of every page, as far as the index has come.
    pub(super) current: Current,
    /// Where the last whole record ends.
    pub(super) end: LibraryPosition,
}

/// One answer.
pub(super) struct Answer {
    position: u64,
    pub(super) page: PageId,
    /// `None` where the record only says that nothing changed.
    pub(super) status: Option<u16>,
    is_whole: bool,
}

impl Answer {
    pub(super) fn position(&self) -> LibraryPosition {
        LibraryPosition::from_u64(self.position)
    }
}

impl Shelf {
    pub(super) fn at(&self, position: LibraryPosition) -> Option<&Answer> {
        self.place(position).map(|place| &self.answers[place])
    }

    /// Where among the answers the one at a position is.
    pub(super) fn place(&self, position: LibraryPosition) -> Option<usize> {
        self.answers.binary_search_by_key(&position.to_u64(), |answer| answer.position).ok()
    }

    pub(super) fn answers(&self) -> &[Answer] {
        &self.answers
    }

    pub(super) fn is_removed(&self, page: PageId) -> bool {
        self.removed_pages.contains(&page) || self.removed_sites.contains(&page.site())
    }
}

/// Reads the library from end to end.
pub(super) fn examine(
    library: &DiskLibrary,
    owned: bool,
    index_at: LibraryPosition,
    exam: &mut Exam,
    check: Check<'_>,
) -> Result<Shelf, EngineError> {
    let mut shelf = Shelf {
        answers: Vec::new(),
        hollow: HashSet::new(),
        removed_pages: HashSet::new(),
        removed_sites: HashSet::new(),
        current: Current::new(),
        end: LibraryPosition::START,
    };
    let mut surveyor = Surveyor::default();
    let mut revisits: Vec<(LibraryPosition, LibraryPosition)> = Vec::new();
    let mut damaged: Vec<(LibraryPosition, String)> = Vec::new();
    let mut after = LibraryPosition::START;
    let end = library.end()?;
    for stored in library.scan(LibraryPosition::START, Some(end))? {
        let stored = match stored {
            Ok(stored) => stored,
            Err(StoreError::Damaged { position, detail }) => {
                damaged.push((position, detail));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        exam.lose(&mut damaged, after, stored.position);
        after = stored.next;
        exam.diagnosis.records += 1;
        if exam.diagnosis.records.is_multiple_of(1024) {
            check(Examining::Library(exam.diagnosis.records))?;
        }
        if stored.next <= index_at {
            surveyor.see(&stored);
        }
        if let Content::Revisit(revisit) = &stored.record.content {
            revisits.push((stored.position, revisit.of));
        }
        shelf.put(&stored);
    }
    exam.lose(&mut damaged, after, end);
    shelf.current = surveyor.finish().current;
    shelf.end = library.whole_end(after)?;
    examine_files(library, owned, after, exam)?;
    for (position, of) in revisits {
        if shelf.at(of).is_some_and(|answer| answer.is_whole) {
            continue;
        }
        shelf.hollow.insert(position);
        // Compaction may have taken both away meanwhile.
        if let Ok(StoredRecord { record: Record { url, content: Content::Revisit(_), .. }, .. }) =
            library.read(position)
        {
            exam.fault(
                Store::Library,
                position,
                format!("{url} did not change since {of}, and that record is not there"),
                "this version cannot be shown or indexed again",
                "nothing brings it back but a backup; the next version that changes is stored whole",
            );
        }
    }
    Ok(shelf)
}

impl Shelf {
    fn put(&mut self, stored: &StoredRecord) {
        let record = &stored.record;
        let (status, is_whole) = match &record.content {
            Content::Event(Event::Removed { what: Removal::Page(url) }) => {
                self.removed_pages.insert(url.id());
                return;
            }
            Content::Event(Event::Removed { what: Removal::Site(site) }) => {
                self.removed_sites.insert(site.id());
                return;
            }
            Content::Event(Event::Dropped { status, .. }) => (Some(*status), false),
            Content::Event(_) => return,
            Content::Response(response) => (Some(response.status), true),
            Content::Revisit(_) => (None, false),
        };
        if is_robots_txt(&record.url) {
            return;
        }
        let (position, page) = (stored.position.to_u64(), record.url.id());
        self.answers.push(Answer { position, page, status, is_whole });
    }
}

impl Exam {
    /// Everything between two good records is lost where something damaged stands between them.
    fn lose(
        &mut self,
        damaged: &mut Vec<(LibraryPosition, String)>,
        from: LibraryPosition,
        to: LibraryPosition,
    ) {
        let mut damaged = damaged.drain(..);
        if let Some((position, detail)) = damaged.next() {
            let place = position.to_string();
            self.lost.push(Lost { from, to, place, what: detail, versions: 0, pages: Vec::new() });
        }
    }
}

/// The files themselves. What an owner writes at this moment looks torn or left over, and is not looked at.
fn examine_files(
    library: &DiskLibrary,
    owned: bool,
    whole_up_to: LibraryPosition,
    exam: &mut Exam,
) -> Result<(), EngineError> {
    for flaw in library.check_files(whole_up_to)? {
        let path = flaw.path.display();
        match flaw.problem {
            FileProblem::Missing(number) => exam.lost.push(Lost {
                from: LibraryPosition { file: number, offset: 0 },
                to: LibraryPosition { file: number + 1, offset: 0 },
                place: path.to_string(),
                what: "the file is missing".into(),
                versions: 0,
                pages: Vec::new(),
            }),
            FileProblem::Torn { offset, bytes } if !owned => {
                exam.needs.library = true;
                exam.fault(
                    Store::Library,
                    format!("{path} at byte {offset}"),
                    format!("the last {bytes} bytes are no whole record"),
                    "nothing that was acknowledged, unless a store below knows more than the library",
                    "pharos doctor --repair, or any start of the engine, sets them aside",
                );
            }
            FileProblem::Offsets(detail) => {
                exam.needs.library = true;
                exam.fault(
                    Store::Library,
                    path,
                    format!("the table of offsets of a compacted file: {detail}"),
                    "every reader has to read the whole file first, or finds wrong records",
                    "pharos doctor --repair",
                );
            }
            FileProblem::Leftover if !owned => {
                exam.needs.library = true;
                exam.fault(
                    Store::Library,
                    path,
                    "a compaction that was cut short left this behind",
                    "disk space only",
                    "pharos doctor --repair",
                );
            }
            FileProblem::SetAside => {
                exam.note(Store::Library, path, "a torn end that was set aside; delete it when you like");
            }
            FileProblem::Torn { .. } | FileProblem::Leftover => {}
        }
    }
    Ok(())
}
