//! Writing of page objects and links, block by block.

use std::mem;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use tracing::warn;

use super::block_writer::BlockWriter;
use super::blocks::{DerivedKind, FIRST_POSITION, MAX_SECTIONS};
use super::links::LinksBuilder;
use super::pages::{self, PagesBuilder};
use super::{DerivedRecord, PROGRESS_FILE};
use crate::StoreError;

/// Number of pages, and bytes of page objects, at which a block is written.
const BLOCK_PAGES: u32 = 2_000;
const BLOCK_BYTES: usize = 16 << 20;
/// Maximum size of a stored page object. No page accepted by a crawl reaches it.
const MAX_PAGE: usize = 64 << 20;

/// The only writer of both directories. Its process must own the data directory.
pub struct DerivedWriter {
    pages: BlockWriter,
    links: BlockWriter,
    new_pages: PagesBuilder,
    new_links: LinksBuilder,
    /// All records before this position are durable or pending.
    reached: LibraryPosition,
    /// Path of the file that records the progress.
    progress_file: PathBuf,
}

impl DerivedWriter {
    /// Opens both directories and finds the durable position. A torn block at the end is truncated.
    pub fn open(library_dir: &Path, analyser: u32) -> Result<Self, StoreError> {
        let mut writer = Self {
            pages: BlockWriter::open(library_dir, DerivedKind::Pages, analyser)?,
            links: BlockWriter::open(library_dir, DerivedKind::Links, analyser)?,
            new_pages: PagesBuilder::default(),
            new_links: LinksBuilder::default(),
            reached: FIRST_POSITION,
            progress_file: library_dir.join(PROGRESS_FILE),
        };
        writer.reached = writer.cursor();
        Ok(writer)
    }

    /// Returns the position up to which all records are in durable blocks of this analyser. Replay the library from
    /// here.
    ///
    /// The position advances beyond the records added when a gap between valid files is closed. A replay that checks
    /// it at the start of each library volume can skip the rest.
    pub fn durable_position(&self) -> LibraryPosition {
        or_start(self.cursor())
    }

    /// Returns the position up to which all records are durable or pending. After a failed [`add`](Self::add),
    /// continue from here.
    pub fn pending_position(&self) -> LibraryPosition {
        or_start(self.reached)
    }

    /// Returns the number of pages that would have to be analysed again after a crash.
    pub fn pending(&self) -> usize {
        self.new_pages.pages().max(self.new_links.pages()) as usize
    }

    fn cursor(&self) -> LibraryPosition {
        self.pages.cursor().earlier(self.links.cursor())
    }

    /// Adds records in library order, from [`durable_position`](Self::durable_position) on. Library ranges between two records are
    /// assumed to contain no page. Records that are durable or pending already, and records of other logs than 0, are
    /// ignored. A block is written
    /// whenever enough data is pending, and at the end of each library volume.
    pub fn add(&mut self, records: impl IntoIterator<Item = DerivedRecord>) -> Result<(), StoreError> {
        records.into_iter().try_for_each(|record| self.add_one(record))
    }

    fn add_one(&mut self, mut record: DerivedRecord) -> Result<(), StoreError> {
        if record.position.log != self.reached.log {
            return Ok(());
        }
        if record.position.volume > self.reached.volume {
            self.write(LibraryPosition::new(record.position.volume, 0))?;
        }
        if record.position < self.reached {
            return Ok(());
        }
        if record.next <= record.position || record.next.volume != record.position.volume {
            record.next =
                LibraryPosition { offset: record.position.offset.saturating_add(1), ..record.position };
        }
        self.collect(&mut record);
        self.reached = record.next;
        let is_full = self.pending() >= BLOCK_PAGES as usize
            || self.new_pages.bytes() >= BLOCK_BYTES
            || self.new_pages.section_count() >= MAX_SECTIONS
            || self.new_links.is_full();
        if is_full { self.flush() } else { Ok(()) }
    }

    fn collect(&mut self, record: &mut DerivedRecord) {
        let Some(mut page) = record.page.take() else { return };
        let links = mem::take(&mut page.links);
        let Some(line) = pages::encode_line(record, &page).filter(|line| line.len() <= MAX_PAGE) else {
            warn!(url = %record.url, position = %record.position, "page object too large, not stored");
            return;
        };
        // After a crash one directory may be ahead of the other and must not get the same data twice.
        if record.position >= self.pages.cursor() {
            self.new_pages.add(record.position, &line);
        }
        if record.position >= self.links.cursor() {
            self.new_links.add(record.position, record.next, record.url.clone(), page.no_follow(), links);
        }
    }

    /// Writes and syncs all pending data. After a failure it remains pending and can be flushed again.
    ///
    /// Each call writes a block, and small blocks compress badly. Unflushed data is replayed after a crash, so
    /// frequent calls are unnecessary.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.write(self.reached)?;
        pharos_files::replace(&self.progress_file, self.durable_position().to_string().as_bytes())
            .map_err(StoreError::io("write", &self.progress_file))
    }

    /// Writes blocks up to a position: links first, so that every stored page has its links.
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

    /// Removes the data derived from one library volume that was rewritten or removed. The durable position returns
    /// to the start of that volume; replay from there before adding newer records.
    pub fn drop_file(&mut self, number: u32) -> Result<(), StoreError> {
        self.flush()?;
        let dropped = self.pages.remove(number).and_then(|()| self.links.remove(number));
        self.reached = self.cursor();
        dropped
    }

    /// Removes all data, including pending pages.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        self.new_pages = PagesBuilder::default();
        self.new_links = LinksBuilder::default();
        let cleared = self.pages.clear().and_then(|()| self.links.clear());
        self.reached = self.cursor();
        cleared
    }
}

/// Maps the start of the first volume to the start of the library.
fn or_start(position: LibraryPosition) -> LibraryPosition {
    if position == FIRST_POSITION { LibraryPosition::START } else { position }
}
