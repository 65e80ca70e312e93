//! The compressed file of all tables except URLs and anchors. The file is replaced as a whole.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use pharos_core::{LibraryPosition, LibraryPositions, NORMALISER_VERSION, PageId, SiteName};
use serde::de::DeserializeOwned;
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

use super::copy_detection::CopyTables;
use super::{Relations, SiteTable};
use crate::GraphError;
use crate::duplicates::{DuplicateGroups, PageAttributes};
use crate::rank::link_counts::LinkCounts;
use crate::web::Graph;

const MAGIC: &[u8; 16] = b"pharos graph 002";

/// First record of the file. URLs and anchors have files of their own.
#[derive(Serialize, Deserialize)]
struct TablesHeader {
    normaliser: u32,
    to: u64,
    built: i64,
    pages: u32,
}

pub(super) fn save(relations: &Relations, path: &Path) -> Result<(), GraphError> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    file.write_all(MAGIC)?;
    let mut out = zstd::Encoder::new(file, 1)?;
    out.include_checksum(true)?;
    let Relations { pages, sites, graph, copies, .. } = relations;
    let header = TablesHeader {
        normaliser: NORMALISER_VERSION,
        to: relations.to.get(0).to_u64(),
        built: relations.built,
        pages: graph.pages(),
    };
    write_table(&mut out, &header)?;
    let ids: Vec<[u8; 16]> = pages.ids.iter().map(|id| id.to_bytes()).collect();
    write_table(&mut out, &ids)?;
    drop(ids);
    let redirects: Vec<([u8; 16], u32)> =
        pages.redirects.iter().map(|(id, to)| (id.to_bytes(), *to)).collect();
    write_table(&mut out, &redirects)?;
    write_table(&mut out, &(&pages.fetched, pages.urls.offsets(), pages.anchors.offsets()))?;
    write_table(&mut out, &(&pages.page_rank, &pages.link_weight, &pages.counts))?;
    write_table(&mut out, &(&sites.names, &sites.of_page, &sites.domains, &sites.rank))?;
    let degrees: Vec<u32> = (0..graph.pages()).map(|page| graph.links_from(page).len() as u32).collect();
    write_table(&mut out, &degrees)?;
    write_table(&mut out, &LinkGaps(graph))?;
    write_table(
        &mut out,
        &(&copies.pages, &copies.texts, &copies.attributes, &copies.groups, &copies.exact),
    )?;
    if relations.to.single().is_none() {
        let other_logs: Vec<u64> =
            relations.to.iter().filter(|to| to.log != 0).map(LibraryPosition::to_u64).collect();
        write_table(&mut out, &other_logs)?;
    }
    let file = out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    pharos_files::sync_file(&file, path)?;
    Ok(())
}

/// Tables read by [`load`], with the offsets of URLs and anchors.
pub(super) struct LoadedTables {
    pub(super) to: LibraryPositions,
    pub(super) built: i64,
    pub(super) ids: Vec<PageId>,
    pub(super) redirects: Vec<(PageId, u32)>,
    pub(super) fetched: Vec<bool>,
    pub(super) url_offsets: Vec<u64>,
    pub(super) anchor_offsets: Vec<u64>,
    pub(super) page_rank: Vec<f64>,
    pub(super) link_weight: Vec<f32>,
    pub(super) counts: Vec<LinkCounts>,
    pub(super) sites: SiteTable,
    pub(super) graph: Graph,
    pub(super) copies: CopyTables,
}

pub(super) fn load(path: &Path) -> Result<LoadedTables, GraphError> {
    let unusable = |problem| GraphError::Unusable { path: path.to_owned(), problem };
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut magic = [0; MAGIC.len()];
    if file.read_exact(&mut magic).is_err() || &magic != MAGIC {
        return Err(unusable("has another format version"));
    }
    let mut input = TableReader { reader: zstd::Decoder::with_buffer(file)?, scratch: vec![0; 1 << 16] };
    let damaged = |_: postcard::Error| unusable("is damaged");
    let header: TablesHeader = input.read().map_err(damaged)?;
    if header.normaliser != NORMALISER_VERSION {
        return Err(unusable("uses page ids of another URL normaliser"));
    }
    let ids: Vec<[u8; 16]> = input.read().map_err(damaged)?;
    let ids: Vec<PageId> = ids.into_iter().map(PageId::from_bytes).collect();
    let redirects: Vec<([u8; 16], u32)> = input.read().map_err(damaged)?;
    let redirects = redirects.into_iter().map(|(id, to)| (PageId::from_bytes(id), to)).collect();
    let (fetched, url_offsets, anchor_offsets) = input.read().map_err(damaged)?;
    let (page_rank, link_weight, counts) = input.read().map_err(damaged)?;
    let (names, of_page, domains, rank): (Vec<SiteName>, _, _, _) = input.read().map_err(damaged)?;
    let degrees: Vec<u32> = input.read().map_err(damaged)?;
    let mut neighbours: Vec<u32> = input.read().map_err(damaged)?;
    sum_gaps(&degrees, &mut neighbours);
    let graph = Graph::from_parts(&degrees, neighbours).ok_or_else(|| unusable("is damaged"))?;
    type CopyColumns = (Vec<u32>, Vec<u32>, Vec<PageAttributes>, DuplicateGroups, Vec<u32>);
    let (pages, texts, facts, groups, exact): CopyColumns = input.read().map_err(damaged)?;
    let other_logs = read_other_logs(&mut input.reader).ok_or_else(|| unusable("is damaged"))?;
    let loaded = LoadedTables {
        to: [header.to].into_iter().chain(other_logs).map(LibraryPosition::from_u64).collect(),
        built: header.built,
        ids,
        redirects,
        fetched,
        url_offsets,
        anchor_offsets,
        page_rank,
        link_weight,
        counts,
        sites: SiteTable { names, of_page, domains, rank },
        graph,
        copies: CopyTables { pages, texts, attributes: facts, groups, exact, ..CopyTables::default() },
    };
    if loaded.is_consistent(header.pages) { Ok(loaded) } else { Err(unusable("is damaged")) }
}

/// Reads the positions of other logs than 0, which follow the tables if there are any. Reads to the end of the frame,
/// where zstd verifies the checksum.
fn read_other_logs(reader: &mut impl Read) -> Option<Vec<u64>> {
    /// Bytes of the list with every log: its length and numbers of at most ten bytes.
    const MAX_BYTES: u64 = 8 + 10 * (LibraryPosition::MAX_LOG as u64 + 1);
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    match bytes.len() as u64 {
        0 => Some(Vec::new()),
        1..=MAX_BYTES => postcard::from_bytes(&bytes).ok(),
        _ => None,
    }
}

impl LoadedTables {
    /// Returns `true` if all tables have matching lengths and every number is in range.
    fn is_consistent(&self, pages: u32) -> bool {
        let (all, texts) = (pages as usize, self.copies.pages.len());
        let lengths = [
            self.graph.pages() as usize,
            self.ids.len(),
            self.fetched.len(),
            self.url_offsets.len(),
            self.anchor_offsets.len(),
            self.page_rank.len(),
            self.link_weight.len(),
            self.counts.len(),
            self.sites.of_page.len(),
            self.copies.texts.len(),
        ];
        let text_lengths =
            [self.copies.attributes.len(), self.copies.exact.len(), self.copies.groups.pages()];
        let sites = self.sites.names.len();
        lengths.iter().all(|length| *length == all)
            && text_lengths.iter().all(|length| *length == texts)
            && self.sites.rank.len() == sites
            && self.sites.domains.len() == sites
            && self.sites.places().is_ok()
            && self.redirects.iter().all(|(_, page)| *page < pages)
            && self.copies.pages.iter().all(|page| *page < pages)
            && self
                .copies
                .texts
                .iter()
                .all(|text| *text == super::copy_detection::NO_TEXT || (*text as usize) < texts)
            && self.copies.exact.iter().all(|text| (*text as usize) < texts)
            && self.copies.attributes.iter().all(|facts| (facts.site as usize) < sites)
            && self.copies.groups.is_consistent()
            && self.page_rank.iter().all(|rank| rank.is_finite())
    }
}

fn write_table(out: &mut impl Write, table: &impl Serialize) -> Result<(), GraphError> {
    let failed = |_| {
        GraphError::Disk(io::Error::new(
            io::ErrorKind::WriteZero,
            "cannot write the tables: the disk may be full",
        ))
    };
    postcard::to_io(table, out).map(|_| ()).map_err(failed)
}

struct TableReader<R> {
    reader: R,
    scratch: Vec<u8>,
}

impl<R: Read> TableReader<R> {
    fn read<T: DeserializeOwned>(&mut self) -> postcard::Result<T> {
        postcard::from_io((&mut self.reader, &mut self.scratch)).map(|(table, _)| table)
    }
}

/// Serialises the links of a graph as gaps within each row: small numbers take one byte.
struct LinkGaps<'a>(&'a Graph);

impl Serialize for LinkGaps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(Some(self.0.links() as usize))?;
        for page in 0..self.0.pages() {
            let mut last = 0;
            for &neighbour in self.0.links_from(page) {
                out.serialize_element(&(neighbour - last))?;
                last = neighbour;
            }
        }
        out.end()
    }
}

/// Converts gaps back to page numbers, in place.
fn sum_gaps(degrees: &[u32], gaps: &mut [u32]) {
    let mut rest = gaps;
    for degree in degrees {
        let Some((row, others)) = std::mem::take(&mut rest).split_at_mut_checked(*degree as usize) else {
            return;
        };
        let mut last = 0u32;
        for gap in row {
            last = last.wrapping_add(*gap);
            *gap = last;
        }
        rest = others;
    }
}
