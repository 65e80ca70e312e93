//! Lookup of single pages in a file of rows sorted by id, by binary search on disk. The stage that applies fetched
//! pages needs a few values of few pages, without loading all tables.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use pharos_core::{PageId, SiteId};

use super::string_file::read_at;
use super::{ANCHORS, ROWS, Relations, finished_folders, parse_anchors};
use crate::GraphError;
use crate::anchors::Anchor;

/// Bytes of a row: id, group, content hash, anchor offset, rank.
const ROW_BYTES: usize = 16 + 16 + 8 + 8 + 8;

struct LookupRow {
    id: PageId,
    group: PageId,
    text: u64,
    anchors: u64,
    rank: f64,
}

impl LookupRow {
    fn to_bytes(&self) -> [u8; ROW_BYTES] {
        let mut bytes = [0; ROW_BYTES];
        let parts: [&[u8]; 5] = [
            &self.id.to_bytes(),
            &self.group.to_bytes(),
            &self.text.to_le_bytes(),
            &self.anchors.to_le_bytes(),
            &self.rank.to_le_bytes(),
        ];
        let mut rest = bytes.as_mut_slice();
        for part in parts {
            let (field, others) = rest.split_at_mut(part.len());
            field.copy_from_slice(part);
            rest = others;
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; ROW_BYTES]) -> Self {
        fn field<const LENGTH: usize>(bytes: &[u8; ROW_BYTES], start: usize) -> [u8; LENGTH] {
            std::array::from_fn(|offset| bytes[start + offset])
        }
        Self {
            id: PageId::from_bytes(field(bytes, 0)),
            group: PageId::from_bytes(field(bytes, 16)),
            text: u64::from_le_bytes(field(bytes, 32)),
            anchors: u64::from_le_bytes(field(bytes, 40)),
            rank: f64::from_le_bytes(field(bytes, 48)),
        }
    }
}

/// Writes the rows of all pages. `texts` holds the content hashes, 0 if unknown.
pub(super) fn write_rows(relations: &Relations, texts: &[u64], path: &Path) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    let pages = &relations.pages;
    for page in &pages.by_id {
        let number = *page as usize;
        let row = LookupRow {
            id: pages.ids[number],
            group: relations.id(relations.representative(*page).unwrap_or(*page)),
            text: texts.get(number).copied().unwrap_or_default(),
            anchors: pages.anchors.offsets()[number],
            rank: pages.page_rank[number],
        };
        file.write_all(&row.to_bytes())?;
    }
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    pharos_files::sync_file(&file, path)
}

/// Reads single pages of the newest relations in a directory, with two open files and no tables in memory.
#[derive(Debug)]
pub struct RelationsLookup {
    path: PathBuf,
    rows: File,
    count: u64,
    anchors: File,
}

/// Stored relations of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRelations {
    /// Representative of the duplicate group, the page itself without copies.
    pub group: PageId,
    /// [Content hash](super::PageContent::hash) at the time of the build.
    pub text_hash: u64,
    /// Anchor texts of the page.
    pub anchors: Vec<Anchor>,
}

impl RelationsLookup {
    /// Opens the newest relations in a directory. Returns `None` if there are none.
    pub fn open(folder: &Path) -> Result<Option<Self>, GraphError> {
        for _ in 0..8 {
            let Some(path) = finished_folders(folder)?.pop() else { return Ok(None) };
            match (File::open(path.join(ROWS)), File::open(path.join(ANCHORS))) {
                (Ok(rows), Ok(anchors)) => {
                    let count = rows.metadata()?.len() / ROW_BYTES as u64;
                    return Ok(Some(Self { path, rows, count, anchors }));
                }
                // A newer build replaced the directory, or the files are of another version.
                (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => {}
                (Err(error), _) | (_, Err(error)) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Returns `true` if these are still the newest relations of the directory.
    pub fn is_newest(&self, folder: &Path) -> bool {
        finished_folders(folder).is_ok_and(|found| found.last() == Some(&self.path))
    }

    /// Returns the relations of a page, or `None` if it was neither fetched nor linked.
    pub fn page(&self, id: PageId) -> Result<Option<PageRelations>, GraphError> {
        match self.lower_bound(id)? {
            Some(row) if row.id == id => {
                let anchors = parse_anchors(&read_at(&self.anchors, row.anchors)?);
                Ok(Some(PageRelations { group: row.group, text_hash: row.text, anchors }))
            }
            _ => Ok(None),
        }
    }

    /// Returns `true` if a page of this site is stored.
    pub fn knows_site(&self, site: SiteId) -> Result<bool, GraphError> {
        // The id of a page begins with the id of its site.
        Ok(self.lower_bound(PageId::from_parts(site, 0))?.is_some_and(|row| row.id.site() == site))
    }

    /// Returns the first row with an id that is not smaller.
    fn lower_bound(&self, id: PageId) -> io::Result<Option<LookupRow>> {
        let read = |index: u64| {
            let mut bytes = [0; ROW_BYTES];
            self.rows
                .read_exact_at(&mut bytes, index * ROW_BYTES as u64)
                .map(|()| LookupRow::from_bytes(&bytes))
        };
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if read(middle)?.id < id { low = middle + 1 } else { high = middle }
        }
        if low < self.count { read(low).map(Some) } else { Ok(None) }
    }
}

/// Returns starting ranks for a build from the newest relations of a directory: the stored rank, or the mean for a new
/// page. `by_id` lists the pages by ascending id. Returns `None` if there are no readable relations.
pub(super) fn start_ranks(folder: &Path, ids: &[PageId], by_id: &[u32]) -> Option<Vec<f64>> {
    let newest = finished_folders(folder).ok()?.pop()?;
    let mut input = BufReader::with_capacity(1 << 20, File::open(newest.join(ROWS)).ok()?);
    let mut ranks = vec![1.0; ids.len()];
    let mut remaining = by_id.iter().map(|number| *number as usize).peekable();
    let mut bytes = [0; ROW_BYTES];
    while input.read_exact(&mut bytes).is_ok() {
        let row = LookupRow::from_bytes(&bytes);
        while remaining.next_if(|number| ids[*number] < row.id).is_some() {}
        match remaining.next_if(|number| ids[*number] == row.id) {
            Some(number) => ranks[number] = row.rank,
            None if remaining.peek().is_none() => break,
            None => {}
        }
    }
    Some(ranks)
}
