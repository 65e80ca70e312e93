//! What is asked of one page at a time: a file of rows by rising id, searched where it lies. Whoever takes in pages as they
//! are fetched needs little of a few of them, and should not hold the whole web in memory for that.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use pharos_core::{PageId, SiteId};

use super::string_file::read_at;
use super::{ANCHORS, ROWS, Relations, finished_folders, parse_anchors};
use crate::GraphError;
use crate::anchors::Anchor;

/// Bytes of a row: id, group, hash of the text, place of the anchors, rank.
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
            let (place, others) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = others;
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; ROW_BYTES]) -> Self {
        fn part<const LENGTH: usize>(bytes: &[u8; ROW_BYTES], start: usize) -> [u8; LENGTH] {
            std::array::from_fn(|place| bytes[start + place])
        }
        Self {
            id: PageId::from_bytes(part(bytes, 0)),
            group: PageId::from_bytes(part(bytes, 16)),
            text: u64::from_le_bytes(part(bytes, 32)),
            anchors: u64::from_le_bytes(part(bytes, 40)),
            rank: f64::from_le_bytes(part(bytes, 48)),
        }
    }
}

/// Writes the rows of all pages; `texts` are the hashes of what they say, 0 where nothing is known.
pub(super) fn write(relations: &Relations, texts: &[u64], path: &Path) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    let pages = &relations.pages;
    for page in &pages.by_id {
        let number = *page as usize;
        let row = LookupRow {
            id: pages.ids[number],
            group: relations.id(relations.representative(*page).unwrap_or(*page)),
            text: texts.get(number).copied().unwrap_or_default(),
            anchors: pages.anchors.places()[number],
            rank: pages.page_rank[number],
        };
        file.write_all(&row.to_bytes())?;
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()
}

/// What the newest relations of a folder say of single pages, without holding more than two open files.
#[derive(Debug)]
pub struct RelationsLookup {
    at: PathBuf,
    rows: File,
    count: u64,
    anchors: File,
}

/// What is known of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRelations {
    /// The page that speaks for its group; itself without copies.
    pub group: PageId,
    /// The hash of what it said then, as it was [told](super::PageContent::hash).
    pub text: u64,
    /// What others call it.
    pub anchors: Vec<Anchor>,
}

impl RelationsLookup {
    /// Into the newest relations in a folder; nothing if there are none.
    pub fn open(folder: &Path) -> Result<Option<Self>, GraphError> {
        for _ in 0..8 {
            let Some(at) = finished_folders(folder)?.pop() else { return Ok(None) };
            match (File::open(at.join(ROWS)), File::open(at.join(ANCHORS))) {
                (Ok(rows), Ok(anchors)) => {
                    let count = rows.metadata()?.len() / ROW_BYTES as u64;
                    return Ok(Some(Self { at, rows, count, anchors }));
                }
                // Newer ones took their place, or they are of another version.
                (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => {}
                (Err(error), _) | (_, Err(error)) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Are these still the newest relations of the folder?
    pub fn is_newest(&self, folder: &Path) -> bool {
        finished_folders(folder).is_ok_and(|found| found.last() == Some(&self.at))
    }

    /// What is known of a page; nothing if it was neither fetched nor linked.
    pub fn page(&self, id: PageId) -> Result<Option<PageRelations>, GraphError> {
        match self.first_from(id)? {
            Some(row) if row.id == id => {
                let anchors = parse_anchors(&read_at(&self.anchors, row.anchors)?);
                Ok(Some(PageRelations { group: row.group, text: row.text, anchors }))
            }
            _ => Ok(None),
        }
    }

    /// Is a page of this site known?
    pub fn knows_site(&self, site: SiteId) -> Result<bool, GraphError> {
        // Ids begin with that of the site.
        Ok(self.first_from(PageId::from_parts(site, 0))?.is_some_and(|row| row.id.site() == site))
    }

    /// The first row whose id is not less.
    fn first_from(&self, id: PageId) -> io::Result<Option<LookupRow>> {
        let read = |place: u64| {
            let mut bytes = [0; ROW_BYTES];
            self.rows
                .read_exact_at(&mut bytes, place * ROW_BYTES as u64)
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

/// The ranks that the newest relations of a folder give to these pages, whose numbers by rising id are `by_id`; a page that
/// is new begins with the mean. Nothing if there are none that can be read: it is only a guess to begin with.
pub(super) fn start_ranks(folder: &Path, ids: &[PageId], by_id: &[u32]) -> Option<Vec<f64>> {
    let newest = finished_folders(folder).ok()?.pop()?;
    let mut input = BufReader::with_capacity(1 << 20, File::open(newest.join(ROWS)).ok()?);
    let mut ranks = vec![1.0; ids.len()];
    let mut wanted = by_id.iter().map(|number| *number as usize).peekable();
    let mut bytes = [0; ROW_BYTES];
    while input.read_exact(&mut bytes).is_ok() {
        let row = LookupRow::from_bytes(&bytes);
        while wanted.next_if(|number| ids[*number] < row.id).is_some() {}
        match wanted.next_if(|number| ids[*number] == row.id) {
            Some(number) => ranks[number] = row.rank,
            None if wanted.peek().is_none() => break,
            None => {}
        }
    }
    Some(ranks)
}
