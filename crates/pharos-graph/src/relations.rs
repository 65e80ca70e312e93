//! Relations of every page: numbers, links, ranks, anchors, duplicates and mirrors.
//!
//! A [`RelationsBuilder`] builds them from the pages of a library and stores them in the data directory.
//! [`Relations`] loads all tables; [`RelationsLookup`] reads single pages from disk.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pharos_core::{LibraryPositions, PageUrl};
//! use pharos_graph::Relations;
//! use pharos_graph::relations::{RelationsBuilder, RelationsOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let mut builder = RelationsBuilder::begin(folder.path(), RelationsOptions::default())?;
//! let (from, to) = (PageUrl::parse("http://a.example/")?, PageUrl::parse("http://b.example/")?);
//! builder.add_link(&from, &to, "a site about lighthouses")?;
//! builder.finish(LibraryPositions::START, 0)?;
//!
//! let relations = Relations::open(folder.path())?;
//! let page = relations.number(to.id()).ok_or("not linked")?;
//! assert_eq!(relations.counts(page).link_hits, 1);
//! assert_eq!(relations.anchors(page)?[0].text, "a site about lighthouses");
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Every fetched page and every linked page has a number, in the order of first occurrence. A redirecting URL has
//!   none: links to it count for its target. Links to a page that declares a canonical URL of its domain, and is
//!   verified as a copy of it, count for the canonical page.
//! * A directory holds the newest finished build. Readers of an older build can continue to read it.
//! * Loaded tables are checked: no number is out of range, whatever the file contains.

mod builder;
mod checksums;
mod copy_detection;
mod duplicate_groups;
mod lookup;
mod merged;
mod numbering;
pub mod ranked;
mod string_file;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPositions, PageId, SiteId, SiteName};
use serde::Serialize;

pub use self::builder::{PageContent, RankConvergence, RelationsBuilder, RelationsOptions};
pub use self::checksums::verify;
use self::copy_detection::CopyTables;
pub use self::duplicate_groups::DuplicateGroup;
pub use self::lookup::{PageRelations, RelationsLookup};
pub use self::merged::MergedMetrics;
use self::string_file::StringFileReader;
use crate::GraphError;
use crate::anchors::Anchor;
use crate::rank::link_counts::LinkCounts;
use crate::web::{Graph, PageSites};

const TABLES: &str = "tables.zst";
const URLS: &str = "urls";
const ANCHORS: &str = "anchors";
const ROWS: &str = "rows";

/// Maximum length of a chain of redirects or canonical URLs.
const MAX_HOPS: usize = 16;

/// The results of link analysis and duplicate detection for all pages.
#[derive(Debug)]
pub struct Relations {
    to: LibraryPositions,
    built: i64,
    pages: PageTable,
    sites: SiteTable,
    graph: Graph,
    copies: CopyTables,
    hidden: HiddenPages,
}

/// Pages and sites that operators removed after the build. Lookups skip them, although the tables still contain them.
#[derive(Debug, Default)]
struct HiddenPages {
    pages: HashSet<PageId>,
    sites: HashSet<SiteId>,
}

impl HiddenPages {
    fn contains(&self, id: PageId) -> bool {
        self.pages.contains(&id) || self.sites.contains(&id.site())
    }

    fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.sites.is_empty()
    }
}

/// Columns with one entry per page.
#[derive(Debug)]
struct PageTable {
    ids: Vec<PageId>,
    /// All page numbers, by ascending id.
    by_id: Vec<u32>,
    /// Redirecting URLs with their target pages, by ascending id.
    redirects: Vec<(PageId, u32)>,
    fetched: Vec<bool>,
    urls: StringFileReader,
    anchors: StringFileReader,
    /// PageRank on the scale with mean 1.
    page_rank: Vec<f64>,
    link_weight: Vec<f32>,
    counts: Vec<LinkCounts>,
}

/// Sites and their domains.
#[derive(Debug)]
struct SiteTable {
    names: Vec<SiteName>,
    of_page: Vec<u32>,
    /// Domain of each site.
    domains: Vec<u32>,
    /// Site rank on the scale with mean 1.
    rank: Vec<f64>,
}

impl SiteTable {
    fn places(&self) -> Result<PageSites<'_>, GraphError> {
        PageSites::new(&self.of_page, &self.domains)
    }
}

/// Sizes of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GraphSizes {
    /// Numbered pages.
    pub pages: u64,
    /// Numbered pages that were fetched.
    pub fetched: u64,
    pub links: u64,
    pub sites: u64,
    /// Registrable domains.
    pub domains: u64,
}

impl Relations {
    /// Opens the newest relations in a directory.
    pub fn open(folder: &Path) -> Result<Self, GraphError> {
        // A newer build may replace these files between listing and opening them; then the listing is repeated.
        for _ in 0..8 {
            let Some(newest) = finished_folders(folder)?.pop() else { break };
            match Self::open_at(&newest) {
                Err(GraphError::Disk(error)) if error.kind() == io::ErrorKind::NotFound => {}
                opened => return opened,
            }
        }
        Err(GraphError::NotBuilt { path: folder.to_owned() })
    }

    fn open_at(path: &Path) -> Result<Self, GraphError> {
        let loaded = tables::load(&path.join(TABLES))?;
        let pages = PageTable {
            by_id: by_id(&loaded.ids),
            ids: loaded.ids,
            redirects: loaded.redirects,
            fetched: loaded.fetched,
            urls: StringFileReader::open(&path.join(URLS), loaded.url_offsets)?,
            anchors: StringFileReader::open(&path.join(ANCHORS), loaded.anchor_offsets)?,
            page_rank: loaded.page_rank,
            link_weight: loaded.link_weight,
            counts: loaded.counts,
        };
        let (sites, graph, copies) = (loaded.sites, loaded.graph, loaded.copies);
        Ok(Self {
            to: loaded.to,
            built: loaded.built,
            pages,
            sites,
            graph,
            copies,
            hidden: HiddenPages::default(),
        })
    }

    /// Returns the library positions up to which pages are included.
    pub fn library_positions(&self) -> &LibraryPositions {
        &self.to
    }

    /// Returns the build time in Unix seconds.
    pub fn built(&self) -> i64 {
        self.built
    }

    /// Returns the sizes of the graph.
    pub fn sizes(&self) -> GraphSizes {
        GraphSizes {
            pages: u64::from(self.graph.pages()),
            fetched: self.pages.fetched.iter().filter(|fetched| **fetched).count() as u64,
            links: self.graph.links(),
            sites: self.sites.names.len() as u64,
            domains: self.sites.places().map_or(0, |page_sites| u64::from(page_sites.domains())),
        }
    }

    /// Returns the link graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the assignment of pages to sites and domains.
    pub fn page_sites(&self) -> Result<PageSites<'_>, GraphError> {
        self.sites.places()
    }

    /// Returns the names of all sites, by site number.
    pub fn sites(&self) -> &[SiteName] {
        &self.sites.names
    }

    /// Hides a page from lookups.
    pub fn hide_page(&mut self, id: PageId) {
        self.hidden.pages.insert(id);
    }

    /// Hides all pages of a site from lookups.
    pub fn hide_site(&mut self, site: SiteId) {
        self.hidden.sites.insert(site);
    }

    /// Returns `true` if the page or its site is hidden. The graph and tables by page number still contain it.
    pub fn is_hidden(&self, page: u32) -> bool {
        !self.hidden.is_empty() && self.hidden.contains(self.id(page))
    }

    /// Returns `true` if the site is hidden.
    pub fn is_site_hidden(&self, site: u32) -> bool {
        self.hidden.sites.contains(&self.sites.names[site as usize].id())
    }

    /// Returns the number of a page, or of the page it redirects to. Returns `None` if the page is unknown or hidden.
    pub fn number(&self, id: PageId) -> Option<u32> {
        if self.hidden.contains(id) {
            return None;
        }
        let pages = &self.pages;
        let own = pages.by_id.binary_search_by_key(&id, |number| pages.ids[*number as usize]);
        let redirect = || pages.redirects.binary_search_by_key(&id, |(from, _)| *from);
        let number = match own {
            Ok(index) => Some(pages.by_id[index]),
            Err(_) => redirect().ok().map(|index| pages.redirects[index].1),
        };
        number.filter(|page| !self.is_hidden(*page))
    }

    /// Returns the id of a page.
    pub fn id(&self, page: u32) -> PageId {
        self.pages.ids[page as usize]
    }

    /// Returns the URL of a page.
    pub fn url(&self, page: u32) -> Result<String, GraphError> {
        Ok(self.pages.urls.get(page)?)
    }

    /// Returns `true` if the page was fetched, `false` if it is known only from links.
    pub fn is_fetched(&self, page: u32) -> bool {
        self.pages.fetched[page as usize]
    }

    /// Returns the link counts of a page.
    pub fn counts(&self, page: u32) -> LinkCounts {
        self.pages.counts[page as usize]
    }

    /// Returns the PageRank of every page, on the scale with mean 1.
    pub fn page_ranks(&self) -> &[f64] {
        &self.pages.page_rank
    }

    /// Returns the rank of every site, on the same scale.
    pub fn site_ranks(&self) -> &[f64] {
        &self.sites.rank
    }

    /// Returns the site of a page.
    pub fn site(&self, page: u32) -> u32 {
        self.sites.of_page[page as usize]
    }

    /// Returns the link weight of a page, from 0 to 1; see [`link_weight`](crate::rank::link_weight).
    pub fn link_weight(&self, page: u32) -> f32 {
        self.pages.link_weight[page as usize]
    }

    /// Returns the anchor texts of a page, the heaviest first.
    pub fn anchors(&self, page: u32) -> Result<Vec<Anchor>, GraphError> {
        Ok(parse_anchors(&self.pages.anchors.get(page)?))
    }
}

/// Parses stored anchors: one line each, weight and text.
fn parse_anchors(text: &str) -> Vec<Anchor> {
    let anchor = |line: &str| {
        let (weight, text) = line.split_once(' ')?;
        Some(Anchor { text: text.to_owned(), weight: weight.parse().ok()? })
    };
    text.lines().filter_map(anchor).collect()
}

/// Returns the directory of the newest finished build. Its files never change; a newer build replaces the directory.
pub fn newest_folder(folder: &Path) -> io::Result<Option<PathBuf>> {
    Ok(finished_folders(folder)?.pop())
}

/// Returns the directories of builds that are running or were interrupted.
pub fn unfinished_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    list_folders(folder, |name| name.starts_with("building-"))
}

/// Removes all builds, finished or not. Processes that have one open can continue to read it.
pub fn remove_all(folder: &Path) -> io::Result<()> {
    for path in finished_folders(folder)?.into_iter().chain(unfinished_folders(folder)?) {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// Returns all page numbers, by ascending id.
fn by_id(ids: &[PageId]) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..ids.len() as u32).collect();
    numbers.sort_unstable_by_key(|number| ids[*number as usize]);
    numbers
}

/// Returns the directories of finished builds, oldest first.
fn finished_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    list_folders(folder, |name| name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the subdirectories whose names match, sorted.
fn list_folders(folder: &Path, matches_name: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&matches_name) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
