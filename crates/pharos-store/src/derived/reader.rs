//! Reads page objects and links back, in library order and at random.

use std::fs::File;
use std::io;
use std::iter::Peekable;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use pharos_core::{LibraryPosition, PageUrl, SiteName};

use super::blocks::{Block, FIRST, Found, Kind, walk};
use super::coding::Damage;
use super::{Flaw, LinkPair, MARK, PageLinks, Piece, Problem, StoredPage, Stretch, links, pages};
use crate::StoreError;

/// Reads what one version of the analyser made. Any number of readers work beside the writer; each iterator sees
/// what is there when it comes to a file.
#[derive(Clone, Debug)]
pub struct DerivedReader {
    library: PathBuf,
    analyser: u32,
}

impl DerivedReader {
    /// A reader of the derived files of a library, which need not exist.
    pub fn open(library_dir: &Path, analyser: u32) -> Self {
        Self { library: library_dir.to_path_buf(), analyser }
    }

    /// How far the writer had come. Where the library goes on behind that, nobody has needed more so far.
    pub fn promised(&self) -> LibraryPosition {
        let mark = std::fs::read_to_string(self.library.join(MARK)).unwrap_or_default();
        LibraryPosition::parse(mark.trim()).unwrap_or(LibraryPosition::START)
    }

    /// The pages of a stretch of the library, with their links.
    pub fn pages(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<Piece<StoredPage>, StoreError>> + Send + use<> {
        Joined {
            pages: self.pieces(Kind::Pages, from, to, pages::read).peekable(),
            links: self.pieces(Kind::Links, from, to, links::read_links).peekable(),
            cursor: from.max(FIRST),
        }
    }

    /// The pages of a stretch of the library with empty `links`, for those who need none: the links are not read.
    pub fn pages_without_links(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<Piece<StoredPage>, StoreError>> + Send + use<> {
        self.pieces(Kind::Pages, from, to, pages::read)
    }

    /// The links of the pages in a stretch of the library.
    pub fn links(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<Piece<PageLinks>, StoreError>> + Send + use<> {
        self.pieces(Kind::Links, from, to, links::read_links)
    }

    /// The links in a stretch of the library as pairs of ids, in the order of [`links`](Self::links).
    pub fn link_pairs(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<Piece<LinkPair>, StoreError>> + Send + use<> {
        self.pieces(Kind::Links, from, to, links::read_pairs)
    }

    /// The sites of all pages and link targets, once for every block that touches the stretch.
    pub fn sites(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<Piece<SiteName>, StoreError>> + Send + use<> {
        self.pieces(Kind::Links, from, to, links::read_sites)
    }

    /// The addresses of all pages and link targets, once for every block that touches the stretch.
    pub fn page_urls(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
    ) -> impl Iterator<Item = Result<Piece<PageUrl>, StoreError>> + Send + use<> {
        self.pieces(Kind::Links, from, to, links::read_urls)
    }

    /// The page whose record stands at a position, with its links. `None`: nothing good is kept about it.
    pub fn page(&self, position: LibraryPosition) -> Result<Option<StoredPage>, StoreError> {
        first_kept(self.pages(position, after(position)))
    }

    /// The page whose record stands at a position, with empty `links`: much faster.
    pub fn page_without_links(&self, position: LibraryPosition) -> Result<Option<StoredPage>, StoreError> {
        first_kept(self.pages_without_links(position, after(position)))
    }

    fn pieces<I: Iterator>(
        &self,
        kind: Kind,
        from: LibraryPosition,
        to: LibraryPosition,
        read: fn(&Stretch) -> Result<I, Damage>,
    ) -> Pieces<I> {
        Pieces { stretches: self.stretches(kind, from, to), read, current: None }
    }

    fn stretches(&self, kind: Kind, from: LibraryPosition, to: LibraryPosition) -> Stretches {
        Stretches {
            kind,
            reader: self.clone(),
            files: None,
            current: Vec::new().into_iter(),
            waiting: None,
            cursor: from.max(FIRST),
            to,
        }
    }

    /// Everything that is wrong with the derived files of the library up to `to`. Reads and proves them all.
    pub fn check(&self, to: LibraryPosition) -> Result<Vec<Flaw>, StoreError> {
        let mut flaws = Vec::new();
        for kind in [Kind::Pages, Kind::Links] {
            let mut flawed_files = Vec::new();
            for number in kind.files(&self.library)? {
                let before = flaws.len();
                self.check_file(kind, number, &mut flaws)?;
                if flaws.len() > before {
                    flawed_files.push(number);
                }
            }
            for piece in self.stretches(kind, FIRST, to) {
                if let Piece::Gap { from, to } = piece?
                    && !flawed_files.contains(&from.file)
                {
                    let problem = Problem::Missing { from, to };
                    flaws.push(Flaw { path: kind.folder(&self.library), problem });
                }
            }
        }
        Ok(flaws)
    }

    fn check_file(&self, kind: Kind, number: u32, flaws: &mut Vec<Flaw>) -> Result<(), StoreError> {
        let path = kind.path(&self.library, number);
        let Some((file, found)) = contents(&path, kind, number)? else { return Ok(()) };
        for (offset, found) in found {
            let problem = match found {
                Found::Damaged(Damage(detail)) => Problem::Damaged { offset, detail },
                Found::Newer(format) => Problem::Newer { format },
                Found::Block(block) if !block.is_fresh(self.analyser) => {
                    Problem::Stale { analyser: block.analyser, from: block.from, to: block.to }
                }
                Found::Block(block) => {
                    let proved = divide(kind, &file, block).and_then(|stretches| {
                        stretches.iter().try_for_each(|stretch| match kind {
                            Kind::Pages => pages::read(stretch).map(drop),
                            Kind::Links => {
                                links::read_pairs(stretch).and_then(|_| links::read_links(stretch)).map(drop)
                            }
                        })
                    });
                    match proved {
                        Ok(()) => continue,
                        Err(Damage(detail)) => Problem::Damaged { offset, detail },
                    }
                }
            };
            flaws.push(Flaw { path: path.clone(), problem });
        }
        Ok(())
    }
}

/// The position one byte on: the end of a stretch in which one record begins at most.
fn after(position: LibraryPosition) -> LibraryPosition {
    LibraryPosition { offset: position.offset.saturating_add(1), ..position }
}

fn first_kept<T>(
    mut pieces: impl Iterator<Item = Result<Piece<T>, StoreError>>,
) -> Result<Option<T>, StoreError> {
    match pieces.next().transpose()? {
        Some(Piece::Kept(kept)) => Ok(Some(kept)),
        Some(Piece::Gap { .. }) | None => Ok(None),
    }
}

type Contents = (Arc<File>, Vec<(u64, Found)>);

/// What stands in a file; `None` where there is none.
fn contents(path: &Path, kind: Kind, number: u32) -> Result<Option<Contents>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(StoreError::io("open", path)(e)),
    };
    let found = walk(&file, kind, number).map_err(StoreError::io("read", path))?;
    Ok(Some((Arc::new(file), found)))
}

/// The stretches of a block: one for each section of pages, one for all sections of links.
fn divide(kind: Kind, file: &Arc<File>, block: Block) -> Result<Vec<Stretch>, Damage> {
    let block = Arc::new(block);
    let stretch = |sections: Range<usize>, whole: Range<LibraryPosition>| Stretch {
        file: Arc::clone(file),
        block: Arc::clone(&block),
        sections,
        range: whole.clone(),
        whole,
    };
    let count = block.sections.len();
    if count == 0 || kind == Kind::Links {
        return if count == 0 || count == links::SECTIONS {
            Ok(vec![stretch(0..count, block.from..block.to)])
        } else {
            Err(Damage("another number of sections"))
        };
    }
    let mut stretches = Vec::with_capacity(count);
    for index in 0..count {
        let begins = |at: usize| LibraryPosition { offset: block.sections[at].note, ..block.from };
        let end = if index + 1 < count { begins(index + 1) } else { block.to };
        stretches.push(stretch(index..index + 1, begins(index)..end));
    }
    let tiles = stretches.iter().all(|s| s.whole.start < s.whole.end && s.whole.end <= block.to);
    if tiles && stretches[0].whole.start == block.from {
        Ok(stretches)
    } else {
        Err(Damage("sections that do not follow each other"))
    }
}

/// Good stretches in library order, with the gaps between them. Lazy: a file is opened when its turn comes.
struct Stretches {
    kind: Kind,
    reader: DerivedReader,
    /// Files still to come; `None` before the first look.
    files: Option<vec::IntoIter<u32>>,
    current: vec::IntoIter<Stretch>,
    /// A stretch that comes behind the gap just handed out.
    waiting: Option<Stretch>,
    cursor: LibraryPosition,
    to: LibraryPosition,
}

impl Stretches {
    /// Goes on to the next file. `false`: there is none.
    fn load_next(&mut self) -> Result<bool, StoreError> {
        let files = match &mut self.files {
            Some(files) => files,
            None => {
                // Should the folder be unreadable, then it is so once, and empty from then on.
                let files = self.files.insert(Vec::new().into_iter());
                let mut numbers = self.kind.files(&self.reader.library)?;
                numbers.retain(|number| (self.cursor.file..=self.to.file).contains(number));
                *files = numbers.into_iter();
                files
            }
        };
        let Some(number) = files.next() else { return Ok(false) };
        self.current = self.load(number)?.into_iter();
        Ok(true)
    }

    fn load(&self, number: u32) -> Result<Vec<Stretch>, StoreError> {
        let path = self.kind.path(&self.reader.library, number);
        let Some((file, found)) = contents(&path, self.kind, number)? else { return Ok(Vec::new()) };
        let mut stretches = Vec::new();
        for (_, found) in found {
            if let Found::Block(block) = found
                && block.is_fresh(self.reader.analyser)
                && let Ok(good) = divide(self.kind, &file, block)
            {
                stretches.extend(good);
            }
        }
        stretches.sort_by_key(|stretch| stretch.whole.start);
        Ok(stretches)
    }

    fn gap_until(&mut self, to: LibraryPosition) -> Piece<Stretch> {
        let from = std::mem::replace(&mut self.cursor, to);
        Piece::Gap { from, to }
    }
}

impl Iterator for Stretches {
    type Item = Result<Piece<Stretch>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.cursor < self.to {
            let Some(mut stretch) = self.waiting.take().or_else(|| self.current.next()) else {
                match self.load_next() {
                    Ok(true) => continue,
                    Ok(false) => return Some(Ok(self.gap_until(self.to))),
                    Err(error) => return Some(Err(error)),
                }
            };
            if stretch.whole.end <= self.cursor || stretch.whole.start >= self.to {
                continue;
            }
            if stretch.whole.start > self.cursor {
                let gap = self.gap_until(stretch.whole.start);
                self.waiting = Some(stretch);
                return Some(Ok(gap));
            }
            stretch.range = self.cursor..stretch.whole.end.min(self.to);
            self.cursor = stretch.range.end;
            return Some(Ok(Piece::Kept(stretch)));
        }
        None
    }
}

/// What stands in each stretch, with the gaps; a stretch that turns out to be damaged is one too.
struct Pieces<I> {
    stretches: Stretches,
    read: fn(&Stretch) -> Result<I, Damage>,
    current: Option<I>,
}

impl<I: Iterator> Iterator for Pieces<I> {
    type Item = Result<Piece<I::Item>, StoreError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.current.as_mut().and_then(Iterator::next) {
                return Some(Ok(Piece::Kept(item)));
            }
            self.current = None;
            match self.stretches.next()? {
                Ok(Piece::Kept(stretch)) => match (self.read)(&stretch) {
                    Ok(items) => self.current = Some(items),
                    Err(_) => {
                        let Range { start: from, end: to } = stretch.range;
                        return Some(Ok(Piece::Gap { from, to }));
                    }
                },
                Ok(Piece::Gap { from, to }) => return Some(Ok(Piece::Gap { from, to })),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Pages with their links. Where one of the two is missing, both are.
struct Joined<P: Iterator, L: Iterator> {
    pages: Peekable<P>,
    links: Peekable<L>,
    /// Everything before it has been handed out, as a page or as a gap.
    cursor: LibraryPosition,
}

/// Where a piece stands, as far as it lies behind the cursor. `None`: a gap of the other side has swallowed it.
fn span<T>(
    piece: &Piece<T>,
    cursor: LibraryPosition,
    of: fn(&T) -> Range<LibraryPosition>,
) -> Option<Range<LibraryPosition>> {
    match piece {
        Piece::Kept(kept) => Some(of(kept)).filter(|span| span.start >= cursor),
        Piece::Gap { to, .. } if *to <= cursor => None,
        Piece::Gap { from, to } => Some(cursor.max(*from)..*to),
    }
}

impl<P, L> Iterator for Joined<P, L>
where
    P: Iterator<Item = Result<Piece<StoredPage>, StoreError>>,
    L: Iterator<Item = Result<Piece<PageLinks>, StoreError>>,
{
    type Item = Result<Piece<StoredPage>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let page = match self.pages.peek() {
                Some(Err(_)) => return self.pages.next(),
                Some(Ok(piece)) => match span(piece, self.cursor, |p| p.position..p.next) {
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
                Some(Ok(piece)) => match span(piece, self.cursor, |l| l.position..l.next) {
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
                    if let Some(Ok(Piece::Kept(links))) = self.links.next()
                        && let Some(Ok(Piece::Kept(mut stored))) = self.pages.next()
                    {
                        stored.page.links = links.links;
                        return Some(Ok(Piece::Kept(stored)));
                    }
                    // A gap on one side or both; the other side's piece is swallowed by it.
                    return Some(Ok(Piece::Gap { from: page.start, to: page.end }));
                }
                (Some(page), Some(links)) if page.start <= links.start => page,
                (_, Some(links)) => links,
                (Some(page), None) => page,
            };
            // A gap on one side, or a page that only one side knows: either way it must be read anew.
            self.cursor = first.end;
            return Some(Ok(Piece::Gap { from: first.start, to: first.end }));
        }
    }
}
