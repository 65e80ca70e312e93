//! What the web says about every page, together: numbers, links, ranks, anchors and copies, made from the pages of a
//! library by a [`RelationsBuilder`], kept in a folder of the data directory, and read back from there.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pharos_core::{LibraryPosition, PageUrl};
//! use pharos_graph::Relations;
//! use pharos_graph::relations::{RelationsOptions, RelationsBuilder};
//!
//! let folder = tempfile::tempdir()?;
//! let mut builder = RelationsBuilder::begin(folder.path(), RelationsOptions::default())?;
//! let (from, to) = (PageUrl::parse("http://a.example/")?, PageUrl::parse("http://b.example/")?);
//! builder.link(&from, &to, "a site about lighthouses")?;
//! builder.finish(LibraryPosition::START, 0)?;
//!
//! let relations = Relations::open(folder.path())?;
//! let page = relations.number(to.id()).ok_or("not linked")?;
//! assert_eq!(relations.counts(page).link_hits, 1);
//! assert_eq!(relations.anchors(page)?[0].text, "a site about lighthouses");
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Every page that was fetched and every page that is linked has a number, in the order in which they were heard of. A
//!   redirect has none: who links to it links to where it leads. Who links to a page that names another of its domain
//!   as the right one, and is seen to be its copy, links to that.
//! * A folder holds the newest finished relations; whoever reads them reads on when newer ones come.
//! * What is read back is checked: no number leads outside its table, whatever the file says.

mod builder;
mod copy_detection;
mod duplicate_groups;
mod lookup;
mod merged;
mod numbering;
mod string_file;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPosition, PageId, SiteId, SiteName};
use serde::Serialize;

pub use self::builder::{PageContent, RankConvergence, RelationsBuilder, RelationsOptions};
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

/// Redirects, and canonical addresses, that are followed in a row.
const MAX_HOPS: usize = 16;

/// What the web says about every page.
#[derive(Debug)]
pub struct Relations {
    to: LibraryPosition,
    built: i64,
    pages: PageTable,
    sites: SiteTable,
    graph: Graph,
    copies: CopyTables,
    hidden: HiddenPages,
}

/// What operators took out since: nothing of it is told, although it still stands in the tables.
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

/// What is known of each page.
#[derive(Debug)]
struct PageTable {
    ids: Vec<PageId>,
    /// All numbers, by rising id.
    by_id: Vec<u32>,
    /// Addresses that lead elsewhere, by rising id.
    redirects: Vec<(PageId, u32)>,
    fetched: Vec<bool>,
    urls: StringFileReader,
    anchors: StringFileReader,
    /// In the form whose mean is 1.
    page_rank: Vec<f64>,
    link_weight: Vec<f32>,
    counts: Vec<LinkCounts>,
}

/// Sites and the domains they belong to.
#[derive(Debug)]
struct SiteTable {
    names: Vec<SiteName>,
    of_page: Vec<u32>,
    /// The domain of each site.
    domains: Vec<u32>,
    /// In the form whose mean is 1.
    rank: Vec<f64>,
}

impl SiteTable {
    fn places(&self) -> Result<PageSites<'_>, GraphError> {
        PageSites::new(&self.of_page, &self.domains)
    }
}

/// GraphSizes at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GraphSizes {
    /// Pages with a number.
    pub pages: u64,
    /// Of these, pages that were fetched.
    pub fetched: u64,
    /// Links between them.
    pub links: u64,
    /// Their sites.
    pub sites: u64,
    /// Their registrable domains.
    pub domains: u64,
}

impl Relations {
    /// The newest relations in a folder.
    pub fn open(folder: &Path) -> Result<Self, GraphError> {
        // Newer ones may take the place of these between looking and opening: then there are others to look at.
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
            urls: StringFileReader::open(&path.join(URLS), loaded.url_places)?,
            anchors: StringFileReader::open(&path.join(ANCHORS), loaded.anchor_places)?,
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

    /// Up to where of the library pages are known.
    pub fn to(&self) -> LibraryPosition {
        self.to
    }

    /// When they were built, in seconds since 1970.
    pub fn built(&self) -> i64 {
        self.built
    }

    /// How much there is.
    pub fn sizes(&self) -> GraphSizes {
        GraphSizes {
            pages: u64::from(self.graph.pages()),
            fetched: self.pages.fetched.iter().filter(|fetched| **fetched).count() as u64,
            links: self.graph.links(),
            sites: self.sites.names.len() as u64,
            domains: self.sites.places().map_or(0, |places| u64::from(places.domains())),
        }
    }

    /// Who links to whom.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Which page belongs to which site and domain.
    pub fn places(&self) -> Result<PageSites<'_>, GraphError> {
        self.sites.places()
    }

    /// The names of all sites, by their numbers.
    pub fn sites(&self) -> &[SiteName] {
        &self.sites.names
    }

    /// Tells nothing of this page any more.
    pub fn hide_page(&mut self, id: PageId) {
        self.hidden.pages.insert(id);
    }

    /// Tells nothing of the pages of this site any more.
    pub fn hide_site(&mut self, site: SiteId) {
        self.hidden.sites.insert(site);
    }

    /// Was the page, or its site, hidden? The graph and the tables by number have it all the same.
    pub fn is_hidden(&self, page: u32) -> bool {
        !self.hidden.is_empty() && self.hidden.contains(self.id(page))
    }

    /// Was the site hidden?
    pub fn is_site_hidden(&self, site: u32) -> bool {
        self.hidden.sites.contains(&self.sites.names[site as usize].id())
    }

    /// The number of a page, or of the page that it leads to; none of what is hidden.
    pub fn number(&self, id: PageId) -> Option<u32> {
        if self.hidden.contains(id) {
            return None;
        }
        let pages = &self.pages;
        let own = pages.by_id.binary_search_by_key(&id, |number| pages.ids[*number as usize]);
        let redirect = || pages.redirects.binary_search_by_key(&id, |(from, _)| *from);
        let number = match own {
            Ok(place) => Some(pages.by_id[place]),
            Err(_) => redirect().ok().map(|place| pages.redirects[place].1),
        };
        number.filter(|page| !self.is_hidden(*page))
    }

    /// The id of a page.
    pub fn id(&self, page: u32) -> PageId {
        self.pages.ids[page as usize]
    }

    /// The address of a page.
    pub fn url(&self, page: u32) -> Result<String, GraphError> {
        Ok(self.pages.urls.get(page)?)
    }

    /// Was the page fetched, or is it only known from links?
    pub fn is_fetched(&self, page: u32) -> bool {
        self.pages.fetched[page as usize]
    }

    /// Links from and to a page.
    pub fn counts(&self, page: u32) -> LinkCounts {
        self.pages.counts[page as usize]
    }

    /// PageRank of every page, in the books' un-normalised form: the mean is 1.
    pub fn page_ranks(&self) -> &[f64] {
        &self.pages.page_rank
    }

    /// Rank of every site among the sites, in the same form.
    pub fn site_ranks(&self) -> &[f64] {
        &self.sites.rank
    }

    /// The site of a page.
    pub fn site(&self, page: u32) -> u32 {
        self.sites.of_page[page as usize]
    }

    /// In-links from elsewhere with compensation for new pages, from 0 to 1; see [`link_weight`](crate::rank::link_weight).
    pub fn link_weight(&self, page: u32) -> f32 {
        self.pages.link_weight[page as usize]
    }

    /// What others call the page, the heaviest first.
    pub fn anchors(&self, page: u32) -> Result<Vec<Anchor>, GraphError> {
        Ok(parse_anchors(&self.pages.anchors.get(page)?))
    }
}

/// Anchors as they stand in their file: a line for each.
fn parse_anchors(text: &str) -> Vec<Anchor> {
    let anchor = |line: &str| {
        let (weight, text) = line.split_once(' ')?;
        Some(Anchor { text: text.to_owned(), weight: weight.parse().ok()? })
    };
    text.lines().filter_map(anchor).collect()
}

/// The folder of the newest finished relations; it never changes, but newer ones take its place.
pub fn newest_folder(folder: &Path) -> io::Result<Option<PathBuf>> {
    Ok(finished_folders(folder)?.pop())
}

/// Folders that a build which did not end left behind, or which is at work now.
pub fn unfinished_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    list_folders(folder, |name| name.starts_with("building-"))
}

/// Removes all that stands in a folder of relations. Who has them open reads on.
pub fn remove_all(folder: &Path) -> io::Result<()> {
    for path in finished_folders(folder)?.into_iter().chain(unfinished_folders(folder)?) {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// All numbers, by rising id.
fn by_id(ids: &[PageId]) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..ids.len() as u32).collect();
    numbers.sort_unstable_by_key(|number| ids[*number as usize]);
    numbers
}

/// The finished relations in a folder, oldest first.
fn finished_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    list_folders(folder, |name| name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Folders with such a name, in their order.
fn list_folders(folder: &Path, is_meant: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&is_meant) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

// Temporary aliases of renamed items, removed once all crates use the new names.
#[doc(hidden)]
pub use self::{
    DuplicateGroup as Group, GraphSizes as Sizes, MergedMetrics as Together, PageContent as PageWords,
    PageRelations as Known, RankConvergence as Computed, RelationsLookup as Lookup,
    RelationsOptions as RelationRules, newest_folder as newest, remove_all as discard,
    unfinished_folders as unfinished,
};
