//! From pages as they are read to [`Relations`].

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPosition, PageId, PageUrl, Timestamp};
use rayon::prelude::*;

use super::copy_detection::{CopyDetector, CopyTables, TextAttributes};
use super::numbering::PageNumbering;
use super::string_file::{StringFileReader, StringFileWriter};
use super::{
    ANCHORS, HiddenPages, MAX_HOPS, PageTable, ROWS, Relations, SiteTable, TABLES, URLS, by_id,
    finished_folders, lookup, tables, unfinished_folders,
};
use crate::GraphError;
use crate::anchors::{AnchorCollector, AnchorOptions};
use crate::duplicates::Fingerprint;
use crate::rank::link_counts::link_counts;
use crate::rank::link_weight::{FreshnessOptions, link_weights};
use crate::rank::pagerank::{PageRankOptions, RankScale, RankVector, Teleport, page_rank, site_rank};
use crate::web::{GraphBuilder, GraphOptions, PageSites};

/// How relations are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelationsOptions {
    /// Bytes of memory for sorting links, and as many for collecting anchors. What is more goes to disk. The finished
    /// tables are not bounded by it: 8 bytes a link, some 400 a page with a text.
    pub memory: usize,
    /// Pages that get a number; links to others are left out and counted.
    pub max_pages: u32,
    /// Anchors kept for a page.
    pub max_anchors: usize,
    /// How ranks are computed; their form is always the one whose mean is 1.
    pub rank: PageRankOptions,
    /// How new pages are compensated for links they cannot have yet.
    pub freshness: FreshnessOptions,
}

impl Default for RelationsOptions {
    fn default() -> Self {
        Self {
            memory: 128 << 20,
            max_pages: 1 << 31,
            max_anchors: 32,
            rank: PageRankOptions::default(),
            freshness: FreshnessOptions::default(),
        }
    }
}

impl RelationsOptions {
    /// Can relations be made by these rules? Asked again when they are begun; whoever reads much first asks before.
    pub fn check(&self) -> Result<(), GraphError> {
        self.rank.check()
    }
}

/// What a page says, to those who look for its copies.
#[derive(Clone, Debug)]
pub struct PageContent {
    /// Its address.
    pub url: PageUrl,
    /// When it was crawled first.
    pub first_seen: Timestamp,
    /// When it was published, as far as known.
    pub published: Option<Timestamp>,
    /// Its title.
    pub title: String,
    /// Its cleaned text.
    pub body: String,
    /// A hash of what it says, by which it is known again when it is fetched again; 0 if unknown.
    pub hash: u64,
    /// A hash of how it may be shown and of what kind of file it is. Pages that differ in this are not one.
    pub manner: u32,
    /// A fingerprint of its layout, 0 if unknown.
    pub layout: u32,
    /// The address that it names as the right one.
    pub canonical: Option<PageUrl>,
}

/// Collects pages, links and texts.
pub struct RelationsBuilder {
    folder: PathBuf,
    /// Where the new ones are written, until they are whole.
    building: tempfile::TempDir,
    rules: RelationsOptions,
    numbering: PageNumbering,
    links: GraphBuilder,
    anchors: AnchorCollector,
    /// Until the first link comes.
    texts: Option<CopyDetector>,
    /// From then on.
    copies: CopyTables,
    hashes: Vec<(u32, u64)>,
    redirects: HashMap<PageId, PageUrl>,
    fetched: Vec<u32>,
    published: Vec<(u32, i64)>,
    /// Links that lead to pages beyond the limit.
    pub left_out: u64,
}

/// What was computed besides the relations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankConvergence {
    /// Rounds until ranks changed no more.
    pub rounds: u32,
    /// How far ranks (probabilities, summed) may be from the solution.
    pub error_bound: f64,
}

impl RelationsBuilder {
    /// Begins new relations in a folder, beside those that are there.
    pub fn begin(folder: &Path, rules: RelationsOptions) -> Result<Self, GraphError> {
        rules.check()?;
        fs::create_dir_all(folder)?;
        remove_unfinished(folder)?;
        let building = tempfile::Builder::new().prefix("building-").tempdir_in(folder)?;
        let directory = building.path().to_owned();
        let urls = StringFileWriter::create(&directory.join(URLS))?;
        let sorting = GraphOptions {
            memory: rules.memory,
            directory: Some(directory.clone()),
            ..GraphOptions::default()
        };
        let collecting = AnchorOptions { max_anchors: rules.max_anchors, memory: rules.memory, directory };
        Ok(Self {
            folder: folder.to_owned(),
            rules,
            numbering: PageNumbering::new(urls, rules.max_pages.min(u32::MAX - 1)),
            links: GraphBuilder::new(sorting),
            anchors: AnchorCollector::new(collecting),
            texts: Some(CopyDetector::new(building.path())?),
            copies: CopyTables::default(),
            hashes: Vec::new(),
            redirects: HashMap::new(),
            fetched: Vec::new(),
            published: Vec::new(),
            left_out: 0,
            building,
        })
    }

    /// An address leads elsewhere. All redirects must be told before the first link.
    pub fn redirect(&mut self, from: PageId, to: PageUrl) {
        self.redirects.insert(from, to);
    }

    /// A page was fetched, whether it has links or not.
    pub fn page(&mut self, url: &PageUrl) -> Result<(), GraphError> {
        let number = self.number(url)?;
        self.fetched.extend(number);
        Ok(())
    }

    /// A page links to another and calls it so.
    pub fn link(&mut self, from: &PageUrl, to: &PageUrl, anchor: &str) -> Result<(), GraphError> {
        self.compare_texts()?;
        let (Some(from), Some(named)) = (self.number(from)?, self.number(to)?) else {
            self.left_out += 1;
            return Ok(());
        };
        let to = self.copies.variants.get(&named).copied().unwrap_or(named);
        if from != named && from != to {
            self.links.add(from, to)?;
            let [source, target] = [from, to].map(|page| self.numbering.domain(page));
            self.anchors.add(to, source, source == target, anchor)?;
        }
        Ok(())
    }

    /// Tells copies apart, once all texts are there.
    fn compare_texts(&mut self) -> Result<(), GraphError> {
        if let Some(texts) = self.texts.take() {
            self.copies = texts.finish(self.numbering.ids.len() as u32)?;
        }
        Ok(())
    }

    /// Some pages speak. Fingerprints are taken on all cores. All texts must be told before the first link, so that a link
    /// to a copy can count for its original.
    pub fn texts(&mut self, pages: Vec<PageContent>) -> Result<(), GraphError> {
        if self.texts.is_none() {
            return Err(GraphError::TextsAfterLinks);
        }
        let fingerprints: Vec<Fingerprint> =
            pages.par_iter().map(|page| Fingerprint::of(&page.title, &page.body)).collect();
        for (words, fingerprint) in pages.into_iter().zip(fingerprints) {
            let Some(page) = self.number(&words.url)? else { continue };
            let canonical = words.canonical.map_or(Ok(None), |url| self.number(&url))?;
            self.published.extend(words.published.map(|at| (page, at.millis() / 1000)));
            let text = TextAttributes {
                page,
                site: self.numbering.site_of_page[page as usize],
                domain: self.numbering.domain(page),
                first_seen: words.first_seen,
                layout: words.layout,
                manner: words.manner,
                canonical: canonical.filter(|other| *other != page),
            };
            self.hashes.push((page, words.hash));
            if let Some(texts) = &mut self.texts {
                texts.add(text, fingerprint)?;
            }
        }
        Ok(())
    }

    /// Puts everything in order, computes ranks and groups, and puts the new relations in the place of the old, whose ranks
    /// are a good guess to begin with. `to` says how far the library was read, `now` is in seconds since 1970.
    pub fn finish(
        mut self,
        to: LibraryPosition,
        now: i64,
    ) -> Result<(Relations, RankConvergence), GraphError> {
        self.compare_texts()?;
        let PageNumbering { ids, urls, site_of_page, site_names, domain_of_site, .. } = self.numbering;
        let count = ids.len();
        let graph = self.links.finish(count as u32)?;
        let directory = self.building.path();
        let urls = urls.finish(&directory.join(URLS), count)?;
        let anchors = write_anchors(self.anchors, &directory.join(ANCHORS), count)?;

        let places = PageSites::new(&site_of_page, &domain_of_site)?;
        let rules = PageRankOptions { form: RankScale::PerPage, ..self.rules.rank };
        let by_id = by_id(&ids);
        let start = lookup::start_ranks(&self.folder, &ids, &by_id);
        let RankVector { values: page_rank, rounds, error_bound, .. } =
            page_rank(&graph, &rules, Teleport::Everywhere, start.as_deref())?;
        drop(start);
        let sorting = GraphOptions {
            memory: self.rules.memory,
            directory: Some(directory.to_owned()),
            ..GraphOptions::default()
        };
        let site_rank = site_rank(&graph, places, &rules, sorting)?.values;
        let counts = link_counts(&graph, places)?;
        let mut published = vec![None; count];
        for (page, at) in self.published {
            published[page as usize] = Some(at);
        }
        let hits: Vec<u32> = counts.iter().map(|count| count.link_hits).collect();
        let link_weight = link_weights(&hits, &published, now, self.rules.freshness)?;
        drop((hits, published));

        let mut fetched = vec![false; count];
        for page in self.fetched {
            fetched[page as usize] = true;
        }
        let redirects = resolve_redirects(&self.redirects, &ids, &by_id);
        let pages = PageTable {
            ids,
            by_id,
            redirects,
            fetched,
            urls,
            anchors,
            page_rank,
            link_weight: link_weight.into_iter().map(|weight| weight as f32).collect(),
            counts,
        };
        let sites =
            SiteTable { names: site_names, of_page: site_of_page, domains: domain_of_site, rank: site_rank };
        let mut copies = self.copies;
        copies.cover(count);
        let relations =
            Relations { to, built: now, pages, sites, graph, copies, hidden: HiddenPages::default() };
        let mut texts = vec![0; count];
        for (page, hash) in self.hashes {
            texts[page as usize] = hash;
        }
        lookup::write(&relations, &texts, &directory.join(ROWS))?;
        drop(texts);
        tables::save(&relations, &directory.join(TABLES))?;
        install(self.building, &self.folder)?;
        Ok((relations, RankConvergence { rounds, error_bound }))
    }

    fn number(&mut self, url: &PageUrl) -> Result<Option<u32>, GraphError> {
        if self.redirects.is_empty() {
            return self.numbering.number(url);
        }
        let url = self.resolved(url).clone();
        self.numbering.number(&url)
    }

    /// Where an address leads in the end; itself where redirects run in a circle.
    fn resolved<'a>(&'a self, url: &'a PageUrl) -> &'a PageUrl {
        let mut end = url;
        for _ in 0..MAX_HOPS {
            match self.redirects.get(&end.id()) {
                Some(next) => end = next,
                None => return end,
            }
        }
        url
    }
}

fn write_anchors(
    anchors: AnchorCollector,
    path: &Path,
    count: usize,
) -> Result<StringFileReader, GraphError> {
    let mut writer = StringFileWriter::create(path)?;
    anchors.finish(|page, anchors| {
        let lines: Vec<String> =
            anchors.iter().map(|anchor| format!("{} {}\n", anchor.weight, anchor.text)).collect();
        writer.put(page, &lines.concat())
    })?;
    Ok(writer.finish(path, count)?)
}

/// Redirects that end at a page with a number.
fn resolve_redirects(
    redirects: &HashMap<PageId, PageUrl>,
    ids: &[PageId],
    by_id: &[u32],
) -> Vec<(PageId, u32)> {
    let end = |from: &PageId| {
        let mut id = *from;
        for _ in 0..MAX_HOPS {
            match redirects.get(&id) {
                Some(next) => id = next.id(),
                None => return Some(id),
            }
        }
        None
    };
    let mut found: Vec<(PageId, u32)> = redirects
        .keys()
        .filter_map(|from| {
            let place = by_id.binary_search_by_key(&end(from)?, |number| ids[*number as usize]).ok()?;
            Some((*from, by_id[place]))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Gives the folder its next number, and removes those before. Who has them open reads on.
fn install(building: tempfile::TempDir, folder: &Path) -> Result<(), GraphError> {
    let old = finished_folders(folder)?;
    let newest = old.last().and_then(|path| path.file_name()?.to_str()?.parse().ok()).unwrap_or(0u32);
    let place = folder.join(format!("{:08}", newest.wrapping_add(1) % 100_000_000));
    fs::File::open(building.path())?.sync_all()?;
    fs::rename(building.path(), place)?;
    fs::File::open(folder)?.sync_all()?;
    // Renamed: there is nothing left to clean up.
    let _ = building.keep();
    for path in old {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// Removes what a process that died left behind. Only one builds at a time.
fn remove_unfinished(folder: &Path) -> Result<(), GraphError> {
    unfinished_folders(folder)?.into_iter().try_for_each(fs::remove_dir_all)?;
    Ok(())
}
