//! Writes page objects and links beside the library, block by block.

use std::path::{Path, PathBuf};
use std::{fs, mem};

use pharos_core::LibraryPosition;
use tracing::warn;

use super::blocks::{FIRST, Kind, MAX_SECTIONS};
use super::chain::Chain;
use super::links::LinksBuilder;
use super::pages::{self, PagesBuilder};
use super::{Analysed, MARK};
use crate::StoreError;

/// A block is written when it has this many pages, or bytes of page objects.
const BLOCK_PAGES: u32 = 2_000;
const BLOCK_BYTES: usize = 16 << 20;
/// A page object larger than this is not kept: nothing that a crawl accepts becomes so large.
const MAX_PAGE: usize = 64 << 20;

/// The one writer of both folders; its process owns the data directory.
pub struct DerivedWriter {
    pages: Chain,
    links: Chain,
    new_pages: PagesBuilder,
    new_links: LinksBuilder,
    /// Everything before it is absorbed or pending.
    reached: LibraryPosition,
    /// Where it stands how far this has come.
    mark: PathBuf,
}

impl DerivedWriter {
    /// Opens both folders and finds out what is absorbed. A torn block at the end is cut off.
    pub fn open(library_dir: &Path, analyser: u32) -> Result<Self, StoreError> {
        let mut writer = Self {
            pages: Chain::open(library_dir, Kind::Pages, analyser)?,
            links: Chain::open(library_dir, Kind::Links, analyser)?,
            new_pages: PagesBuilder::default(),
            new_links: LinksBuilder::default(),
            reached: FIRST,
            mark: library_dir.join(MARK),
        };
        writer.reached = writer.cursor();
        Ok(writer)
    }

    /// Everything before it is in durable blocks of this analyser: replay the library from here.
    ///
    /// It goes forward by more than what was added where a gap between good files has been closed; a replay that
    /// looks at it when the library file changes saves itself the rest.
    pub fn absorbed(&self) -> LibraryPosition {
        or_start(self.cursor())
    }

    /// Everything before it is absorbed or pending: after a failed [`add`](Self::add), go on from here.
    pub fn reached(&self) -> LibraryPosition {
        or_start(self.reached)
    }

    /// Pages that would have to be analysed again after a crash.
    pub fn pending(&self) -> usize {
        self.new_pages.pages().max(self.new_links.pages()) as usize
    }

    fn cursor(&self) -> LibraryPosition {
        self.pages.cursor().min(self.links.cursor())
    }

    /// Takes records in library order, from [`absorbed`](Self::absorbed) on. What lies between two of them is
    /// taken to hold nothing; what is absorbed or pending already is ignored. A block is written whenever enough
    /// is pending, and when the library goes on to its next file.
    pub fn add(&mut self, records: impl IntoIterator<Item = Analysed>) -> Result<(), StoreError> {
        records.into_iter().try_for_each(|record| self.add_one(record))
    }

    fn add_one(&mut self, mut record: Analysed) -> Result<(), StoreError> {
        if record.position.file > self.reached.file {
            self.write(LibraryPosition { file: record.position.file, offset: 0 })?;
        }
        if record.position < self.reached {
            return Ok(());
        }
        if record.next <= record.position || record.next.file != record.position.file {
            record.next =
                LibraryPosition { offset: record.position.offset.saturating_add(1), ..record.position };
        }
        self.keep(&mut record);
        self.reached = record.next;
        let is_full = self.pending() >= BLOCK_PAGES as usize
            || self.new_pages.bytes() >= BLOCK_BYTES
            || self.new_pages.section_count() >= MAX_SECTIONS
            || self.new_links.is_full();
        if is_full { self.flush() } else { Ok(()) }
    }

    fn keep(&mut self, record: &mut Analysed) {
        let Some(mut page) = record.page.take() else { return };
        let links = mem::take(&mut page.links);
        let Some(line) = pages::line(record, &page).filter(|line| line.len() <= MAX_PAGE) else {
            warn!(url = %record.url, position = %record.position, "a page object is too large to be kept");
            return;
        };
        // After a crash one folder may be ahead of the other, and must not get twice what it has.
        if record.position >= self.pages.cursor() {
            self.new_pages.add(record.position, &line);
        }
        if record.position >= self.links.cursor() {
            self.new_links.add(record.position, record.next, record.url.clone(), page.no_follow(), links);
        }
    }

    /// Writes and syncs what is pending. After a failure it is still pending, and may be tried again.
    ///
    /// Each call makes a block, and small blocks compress badly: what was not flushed is replayed after a crash,
    /// so that there is no hurry.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.write(self.reached)?;
        fs::write(&self.mark, self.absorbed().to_string()).map_err(StoreError::io("write", &self.mark))
    }

    /// Writes blocks up to a position: links first, so that a page in its block has its links in theirs.
    fn write(&mut self, to: LibraryPosition) -> Result<(), StoreError> {
        if self.links.cursor() < to {
            let sections = self.new_links.sections(self.links.cursor());
            self.links.write(to, self.new_links.pages(), &sections)?;
            self.new_links = LinksBuilder::default();
        }
        if self.pages.cursor() < to {
            let pages = self.new_pages.pages();
            self.pages.write(to, pages, self.new_pages.sections(self.pages.cursor()))?;
            self.new_pages = PagesBuilder::default();
        }
        self.reached = self.cursor();
        Ok(())
    }

    /// Throws away what was derived from one library file, which has been rewritten or removed. `absorbed` goes
    /// back to its beginning: replay from there before anything newer is added.
    pub fn drop_file(&mut self, number: u32) -> Result<(), StoreError> {
        self.flush()?;
        let dropped = self.pages.remove(number).and_then(|()| self.links.remove(number));
        self.reached = self.cursor();
        dropped
    }

    /// Throws everything away, pending pages too.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        self.new_pages = PagesBuilder::default();
        self.new_links = LinksBuilder::default();
        let cleared = self.pages.clear().and_then(|()| self.links.clear());
        self.reached = self.cursor();
        cleared
    }
}

/// Nothing stands before the first file.
fn or_start(position: LibraryPosition) -> LibraryPosition {
    if position == FIRST { LibraryPosition::START } else { position }
}
