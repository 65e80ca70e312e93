//! Reading of page objects and links, in library order and by position.

use std::fs::File;
use std::io;
use std::iter::Peekable;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use pharos_core::{LibraryPosition, PageUrl, SiteName};

use super::blocks::{Block, BlockRead, DerivedKind, FIRST_POSITION, scan_blocks};
use super::encoding::DecodeError;
use super::{
    BlockPart, DerivedDefect, DerivedDefectKind, DerivedItem, DerivedPage, LinkPair, PROGRESS_FILE,
    PageLinks, links, pages,
};
use crate::StoreError;

/// Reads the data of one analyser version. Any number of readers may run concurrently with the writer. An iterator
/// sees the contents of a file at the time it opens the file.
#[derive(Clone, Debug)]
pub struct DerivedReader {
    library: PathBuf,
    analyser: u32,
}

impl DerivedReader {
    /// Creates a reader of the derived files of a library, which need not exist.
    pub fn open(library_dir: &Path, analyser: u32) -> Self {
        Self { library: library_dir.to_path_buf(), analyser }
    }

    /// Returns the position up to which the writer has come. Later records have not been analysed yet.
    pub fn writer_position(&self) -> LibraryPosition {
        let mark = std::fs::read_to_string(self.library.join(PROGRESS_FILE)).unwrap_or_default();
        LibraryPosition::parse(mark.trim()).unwrap_or(LibraryPosition::START)
    }

    /// Iterates over the pages of a library range, with their links.
    pub fn pages(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<DerivedItem<DerivedPage>, StoreError>> + Send + use<> {
        JoinedPages {
            pages: self.items(DerivedKind::Pages, from, to, pages::read_pages).peekable(),
            links: self.items(DerivedKind::Links, from, to, links::read_links).peekable(),
            cursor: from.later(FIRST_POSITION),
        }
    }

    /// Iterates over the pages of a library range with empty `links`. The link files are not read.
    pub fn pages_without_links(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<DerivedItem<DerivedPage>, StoreError>> + Send + use<> {
        self.items(DerivedKind::Pages, from, to, pages::read_pages)
    }

    /// Iterates over the links of a library range, page by page.
    pub fn links(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<DerivedItem<PageLinks>, StoreError>> + Send + use<> {
        self.items(DerivedKind::Links, from, to, links::read_links)
    }

    /// Iterates over the links of a library range as pairs of ids, in the order of [`links`](Self::links).
    pub fn link_pairs(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<DerivedItem<LinkPair>, StoreError>> + Send + use<> {
        self.items(DerivedKind::Links, from, to, links::read_pairs)
    }

    /// Iterates over the sites of all pages and link targets, once per block that overlaps the range.
    pub fn sites(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<DerivedItem<SiteName>, StoreError>> + Send + use<> {
        self.items(DerivedKind::Links, from, to, links::read_sites)
    }

    /// Iterates over the URLs of all pages and link targets, once per block that overlaps the range.
    pub fn page_urls(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<DerivedItem<PageUrl>, StoreError>> + Send + use<> {
        self.items(DerivedKind::Links, from, to, links::read_urls)
    }

    /// Returns the page whose record is at a position, with its links, or `None` if no valid data is stored.
    pub fn page(&self, position: LibraryPosition) -> Result<Option<DerivedPage>, StoreError> {
        first_item(self.pages(position, after(position)))
    }

    /// Returns the page whose record is at a position, with empty `links`. Much faster than [`page`](Self::page).
    pub fn page_without_links(&self, position: LibraryPosition) -> Result<Option<DerivedPage>, StoreError> {
        first_item(self.pages_without_links(position, after(position)))
    }

    fn items<I: Iterator>(
        &self,
        kind: DerivedKind,
        from: LibraryPosition,
        to: LibraryPosition,
        read: fn(&BlockPart) -> Result<I, DecodeError>,
    ) -> DerivedItems<I> {
        DerivedItems { parts: self.parts(kind, from, to), read, current: None }
    }

    fn parts(&self, kind: DerivedKind, from: LibraryPosition, to: LibraryPosition) -> BlockParts {
        BlockParts {
            kind,
            reader: self.clone(),
            // Other logs have no derived files: their whole range is a gap.
            files: (to.log != 0).then(|| Vec::new().into_iter()),
            current: Vec::new().into_iter(),
            waiting: None,
            cursor: from.later(FIRST_POSITION),
            to,
        }
    }

    /// Checks the derived files of the library up to `to`, reading and verifying all of them. Returns all defects.
    pub fn check(&self, to: LibraryPosition) -> Result<Vec<DerivedDefect>, StoreError> {
        let mut defects = Vec::new();
        for kind in [DerivedKind::Pages, DerivedKind::Links] {
            let mut defective_files = Vec::new();
            for number in kind.files(&self.library)? {
                let before = defects.len();
                self.check_file(kind, number, &mut defects)?;
                if defects.len() > before {
                    defective_files.push(number);
                }
            }
            for item in self.parts(kind, FIRST_POSITION, to) {
                if let DerivedItem::Gap { from, to } = item?
                    && !defective_files.contains(&from.volume)
                {
                    let problem = DerivedDefectKind::Missing { from, to };
                    defects.push(DerivedDefect { path: kind.folder(&self.library), problem });
                }
            }
        }
        Ok(defects)
    }

    fn check_file(
        &self,
        kind: DerivedKind,
        number: u32,
        defects: &mut Vec<DerivedDefect>,
    ) -> Result<(), StoreError> {
        let path = kind.path(&self.library, number);
        let Some((file, found)) = scan_file(&path, kind, number)? else { return Ok(()) };
        for (offset, found) in found {
            let problem = match found {
                BlockRead::Damaged(DecodeError(detail)) => DerivedDefectKind::Damaged { offset, detail },
                BlockRead::Newer(format) => DerivedDefectKind::Newer { format },
                BlockRead::Block(block) if !block.is_fresh(self.analyser) => {
                    DerivedDefectKind::Stale { analyser: block.analyser, from: block.from, to: block.to }
                }
                BlockRead::Block(block) => {
                    let proved = split_block(kind, &file, block).and_then(|parts| {
                        parts.iter().try_for_each(|part| match kind {
                            DerivedKind::Pages => pages::read_pages(part).map(drop),
                            DerivedKind::Links => {
                                links::read_pairs(part).and_then(|_| links::read_links(part)).map(drop)
                            }
                        })
                    });
                    match proved {
                        Ok(()) => continue,
                        Err(DecodeError(detail)) => DerivedDefectKind::Damaged { offset, detail },
                    }
                }
            };
            defects.push(DerivedDefect { path: path.clone(), problem });
        }
        Ok(())
    }
}

/// Returns the position one byte later: the end of a range in which at most one record starts.
fn after(position: LibraryPosition) -> LibraryPosition {
    LibraryPosition { offset: position.offset.saturating_add(1), ..position }
}

fn first_item<T>(
    mut items: impl Iterator<Item = Result<DerivedItem<T>, StoreError>>,
) -> Result<Option<T>, StoreError> {
    match items.next().transpose()? {
        Some(DerivedItem::Present(kept)) => Ok(Some(kept)),
        Some(DerivedItem::Gap { .. }) | None => Ok(None),
    }
}

type FileBlocks = (Arc<File>, Vec<(u64, BlockRead)>);

/// Scans the blocks of a file. Returns `None` if the file does not exist.
fn scan_file(path: &Path, kind: DerivedKind, number: u32) -> Result<Option<FileBlocks>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(StoreError::io("open", path)(e)),
    };
    let found = scan_blocks(&file, kind, number).map_err(StoreError::io("read", path))?;
    Ok(Some((Arc::new(file), found)))
}

/// Splits a block into parts: one per section of pages, or one for all sections of links.
fn split_block(kind: DerivedKind, file: &Arc<File>, block: Block) -> Result<Vec<BlockPart>, DecodeError> {
    let block = Arc::new(block);
    let part = |sections: Range<usize>, whole: Range<LibraryPosition>| BlockPart {
        file: Arc::clone(file),
        block: Arc::clone(&block),
        sections,
        range: whole.clone(),
        whole,
    };
    let count = block.sections.len();
    if count == 0 || kind == DerivedKind::Links {
        return if count == 0 || count == links::SECTIONS {
            Ok(vec![part(0..count, block.from..block.to)])
        } else {
            Err(DecodeError("wrong number of sections"))
        };
    }
    let mut parts = Vec::with_capacity(count);
    for index in 0..count {
        let begins = |at: usize| LibraryPosition { offset: block.sections[at].note, ..block.from };
        let end = if index + 1 < count { begins(index + 1) } else { block.to };
        parts.push(part(index..index + 1, begins(index)..end));
    }
    let tiles = parts.iter().all(|s| s.whole.start < s.whole.end && s.whole.end <= block.to);
    if tiles && parts[0].whole.start == block.from {
        Ok(parts)
    } else {
        Err(DecodeError("sections are not contiguous"))
    }
}

/// Valid block parts in library order, with the gaps between them. Files are opened lazily.
struct BlockParts {
    kind: DerivedKind,
    reader: DerivedReader,
    /// Remaining files; `None` before the directory was read.
    files: Option<vec::IntoIter<u32>>,
    current: vec::IntoIter<BlockPart>,
    /// A part that follows the gap just returned.
    waiting: Option<BlockPart>,
    cursor: LibraryPosition,
    to: LibraryPosition,
}

impl BlockParts {
    /// Opens the next file. Returns `false` if there is none.
    fn load_next(&mut self) -> Result<bool, StoreError> {
        let files = match &mut self.files {
            Some(files) => files,
            None => {
                // An unreadable directory is reported once and counts as empty from then on.
                let files = self.files.insert(Vec::new().into_iter());
                let mut numbers = self.kind.files(&self.reader.library)?;
                numbers.retain(|number| (self.cursor.volume..=self.to.volume).contains(number));
                *files = numbers.into_iter();
                files
            }
        };
        let Some(number) = files.next() else { return Ok(false) };
        self.current = self.load(number)?.into_iter();
        Ok(true)
    }

    fn load(&self, number: u32) -> Result<Vec<BlockPart>, StoreError> {
        let path = self.kind.path(&self.reader.library, number);
        let Some((file, found)) = scan_file(&path, self.kind, number)? else { return Ok(Vec::new()) };
        let mut parts = Vec::new();
        for (_, found) in found {
            if let BlockRead::Block(block) = found
                && block.is_fresh(self.reader.analyser)
                && let Ok(good) = split_block(self.kind, &file, block)
            {
                parts.extend(good);
            }
        }
        parts.sort_by_key(|part| part.whole.start.sort_key());
        Ok(parts)
    }

    fn gap_until(&mut self, to: LibraryPosition) -> DerivedItem<BlockPart> {
        let from = std::mem::replace(&mut self.cursor, to);
        DerivedItem::Gap { from, to }
    }
}

impl Iterator for BlockParts {
    type Item = Result<DerivedItem<BlockPart>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.cursor < self.to {
            let Some(mut part) = self.waiting.take().or_else(|| self.current.next()) else {
                match self.load_next() {
                    Ok(true) => continue,
                    Ok(false) => return Some(Ok(self.gap_until(self.to))),
                    Err(error) => return Some(Err(error)),
                }
            };
            if part.whole.end <= self.cursor || part.whole.start >= self.to {
                continue;
            }
            if part.whole.start > self.cursor {
                let gap = self.gap_until(part.whole.start);
                self.waiting = Some(part);
                return Some(Ok(gap));
            }
            part.range = self.cursor..part.whole.end.earlier(self.to);
            self.cursor = part.range.end;
            return Some(Ok(DerivedItem::Present(part)));
        }
        None
    }
}

/// Items of all block parts, with the gaps. A damaged part is a gap, too.
struct DerivedItems<I> {
    parts: BlockParts,
    read: fn(&BlockPart) -> Result<I, DecodeError>,
    current: Option<I>,
}

impl<I: Iterator> Iterator for DerivedItems<I> {
    type Item = Result<DerivedItem<I::Item>, StoreError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.current.as_mut().and_then(Iterator::next) {
                return Some(Ok(DerivedItem::Present(item)));
            }
            self.current = None;
            match self.parts.next()? {
                Ok(DerivedItem::Present(part)) => match (self.read)(&part) {
                    Ok(items) => self.current = Some(items),
                    Err(_) => {
                        let Range { start: from, end: to } = part.range;
                        return Some(Ok(DerivedItem::Gap { from, to }));
                    }
                },
                Ok(DerivedItem::Gap { from, to }) => return Some(Ok(DerivedItem::Gap { from, to })),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Pages joined with their links. If either is missing, the page is a gap.
struct JoinedPages<P: Iterator, L: Iterator> {
    pages: Peekable<P>,
    links: Peekable<L>,
    /// All items before this position have been returned, as a page or as a gap.
    cursor: LibraryPosition,
}

/// Returns the range of an item as far as it lies after the cursor, or `None` if a gap of the other iterator covers
/// it.
fn span<T>(
    item: &DerivedItem<T>,
    cursor: LibraryPosition,
    of: fn(&T) -> Range<LibraryPosition>,
) -> Option<Range<LibraryPosition>> {
    match item {
        DerivedItem::Present(kept) => Some(of(kept)).filter(|span| span.start >= cursor),
        DerivedItem::Gap { to, .. } if *to <= cursor => None,
        DerivedItem::Gap { from, to } => Some(cursor.later(*from)..*to),
    }
}

impl<P, L> Iterator for JoinedPages<P, L>
where
    P: Iterator<Item = Result<DerivedItem<DerivedPage>, StoreError>>,
    L: Iterator<Item = Result<DerivedItem<PageLinks>, StoreError>>,
{
    type Item = Result<DerivedItem<DerivedPage>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let page = match self.pages.peek() {
                Some(Err(_)) => return self.pages.next(),
                Some(Ok(item)) => match span(item, self.cursor, |p| p.position..p.next) {
                    None => {
                        self.pages.next();
                        continue;
                    }
                    span => span,
                },
                None => None,
            };
            let links = match self.links.peek() {
                Some(Err(_)) => return self.links.next().and_then(Result::err).map(Err),
                Some(Ok(item)) => match span(item, self.cursor, |l| l.position..l.next) {
                    None => {
                        self.links.next();
                        continue;
                    }
                    span => span,
                },
                None => None,
            };
            let first = match (page, links) {
                (None, None) => return None,
                (Some(page), Some(links)) if page == links => {
                    self.cursor = page.end;
                    if let Some(Ok(DerivedItem::Present(links))) = self.links.next()
                        && let Some(Ok(DerivedItem::Present(mut stored))) = self.pages.next()
                    {
                        stored.page.links = links.links;
                        return Some(Ok(DerivedItem::Present(stored)));
                    }
                    // A gap in one or both iterators; it covers the item of the other one.
                    return Some(Ok(DerivedItem::Gap { from: page.start, to: page.end }));
                }
                (Some(page), Some(links)) if page.start <= links.start => page,
                (_, Some(links)) => links,
                (Some(page), None) => page,
            };
            // A gap in one iterator, or a page that only one of them has: the page has to be analysed again.
            self.cursor = first.end;
            return Some(Ok(DerivedItem::Gap { from: first.start, to: first.end }));
        }
    }
}
