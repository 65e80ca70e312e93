//! Builds [`Relations`] from the pages, texts and links of a library.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPositions, PageId, PageUrl, Timestamp};
use rayon::prelude::*;

use super::checksums;
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

/// Options for building relations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelationsOptions {
    /// Bytes of memory for sorting links, and as many for collecting anchors. Data beyond it goes to disk. The finished
    /// tables are not bounded: 8 bytes per link, about 400 per page with a text.
    pub memory: usize,
    /// Maximum number of numbered pages. Links to other pages are dropped and counted.
    pub max_pages: u32,
    /// Maximum number of anchor texts per page.
    pub max_anchors: usize,
    /// Options for PageRank; the scale is always the one with mean 1.
    pub rank: PageRankOptions,
    /// Compensation of new pages for links that they cannot have yet.
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
    /// Checks the options. [`RelationsBuilder::begin`] checks them again; a caller that reads much first can fail
    /// early.
    pub fn check(&self) -> Result<(), GraphError> {
        self.rank.check()
    }
}

/// A page for duplicate detection.
#[derive(Clone, Debug)]
pub struct PageContent {
    pub url: PageUrl,
    /// Time of the first crawl.
    pub first_seen: Timestamp,
    /// Publication time, if known.
    pub published: Option<Timestamp>,
    pub title: String,
    /// Main content of the page.
    pub body: String,
    /// Hash of the content, by which a later fetch is recognised as unchanged; 0 if unknown.
    pub hash: u64,
    /// Hash of display permissions and file type. Pages that differ in it are not merged.
    pub display_hash: u32,
    /// Fingerprint of the layout, 0 if unknown.
    pub layout: u32,
    /// Canonical URL declared by the page.
    pub canonical: Option<PageUrl>,
}

/// Collects pages, redirects, texts and links, and builds [`Relations`].
pub struct RelationsBuilder {
    folder: PathBuf,
    /// Directory of the new build until it is complete.
    building: tempfile::TempDir,
    options: RelationsOptions,
    numbering: PageNumbering,
    links: GraphBuilder,
    anchors: AnchorCollector,
    /// Set until the first link is added.
    texts: Option<CopyDetector>,
    /// Set after the first link is added.
    copies: CopyTables,
    hashes: Vec<(u32, u64)>,
    redirects: HashMap<PageId, PageUrl>,
    fetched: Vec<u32>,
    published: Vec<(u32, i64)>,
    /// Number of links to pages beyond the limit.
    pub dropped_links: u64,
}

/// Convergence of the PageRank computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankConvergence {
    /// Number of rounds.
    pub rounds: u32,
    /// Upper bound on the L1 distance to the exact solution, on the probability scale.
    pub error_bound: f64,
}

impl RelationsBuilder {
    /// Begins a build in a directory, beside the finished builds.
    pub fn begin(folder: &Path, options: RelationsOptions) -> Result<Self, GraphError> {
        options.check()?;
        pharos_files::create_dir_all(folder)?;
        remove_unfinished(folder)?;
        let building = tempfile::Builder::new().prefix("building-").tempdir_in(folder)?;
        let directory = building.path().to_owned();
        let urls = StringFileWriter::create(&directory.join(URLS))?;
        let sorting = GraphOptions {
            memory: options.memory,
            directory: Some(directory.clone()),
            ..GraphOptions::default()
        };
        let collecting =
            AnchorOptions { max_anchors: options.max_anchors, memory: options.memory, directory };
        Ok(Self {
            folder: folder.to_owned(),
            options,
            numbering: PageNumbering::new(urls, options.max_pages.min(u32::MAX - 1)),
            links: GraphBuilder::new(sorting),
            anchors: AnchorCollector::new(collecting),
            texts: Some(CopyDetector::new(building.path())?),
            copies: CopyTables::default(),
            hashes: Vec::new(),
            redirects: HashMap::new(),
            fetched: Vec::new(),
            published: Vec::new(),
            dropped_links: 0,
            building,
        })
    }

    /// Records a redirect. All redirects must be added before the first link.
    pub fn add_redirect(&mut self, from: PageId, to: PageUrl) {
        self.redirects.insert(from, to);
    }

    /// Records that a page was fetched, with or without links.
    pub fn add_page(&mut self, url: &PageUrl) -> Result<(), GraphError> {
        let number = self.number(url)?;
        self.fetched.extend(number);
        Ok(())
    }

    /// Adds a link with its anchor text.
    pub fn add_link(&mut self, from: &PageUrl, to: &PageUrl, anchor: &str) -> Result<(), GraphError> {
        self.detect_copies()?;
        let (Some(from), Some(target)) = (self.number(from)?, self.number(to)?) else {
            self.dropped_links += 1;
            return Ok(());
        };
        let to = self.copies.variants.get(&target).copied().unwrap_or(target);
        if from != target && from != to {
            self.links.add(from, to)?;
            let [source_domain, target_domain] = [from, to].map(|page| self.numbering.domain(page));
            self.anchors.add(to, source_domain, source_domain == target_domain, anchor)?;
        }
        Ok(())
    }

    /// Groups duplicates, once all texts have been added.
    fn detect_copies(&mut self) -> Result<(), GraphError> {
        if let Some(texts) = self.texts.take() {
            self.copies = texts.finish(self.numbering.ids.len() as u32)?;
        }
        Ok(())
    }

    /// Adds pages for duplicate detection. Fingerprints are computed on all cores. All texts must be added before the
    /// first link, so that links to a variant can count for its canonical page.
    pub fn add_texts(&mut self, pages: Vec<PageContent>) -> Result<(), GraphError> {
        if self.texts.is_none() {
            return Err(GraphError::TextsAfterLinks);
        }
        let fingerprints: Vec<Fingerprint> =
            pages.par_iter().map(|page| Fingerprint::compute(&page.title, &page.body)).collect();
        for (content, fingerprint) in pages.into_iter().zip(fingerprints) {
            let Some(page) = self.number(&content.url)? else { continue };
            let canonical = content.canonical.map_or(Ok(None), |url| self.number(&url))?;
            self.published.extend(content.published.map(|at| (page, at.millis() / 1000)));
            let text = TextAttributes {
                page,
                site: self.numbering.site_of_page[page as usize],
                domain: self.numbering.domain(page),
                first_seen: content.first_seen,
                layout: content.layout,
                display_hash: content.display_hash,
                canonical: canonical.filter(|other| *other != page),
            };
            self.hashes.push((page, content.hash));
            if let Some(texts) = &mut self.texts {
                texts.add(text, fingerprint)?;
            }
        }
        Ok(())
    }

    /// Computes ranks and groups, writes all tables and replaces the previous build. The ranks of the previous build
    /// are the starting values. `to` are the library positions reached, `now` the time in Unix seconds.
    pub fn finish(
        mut self,
        to: LibraryPositions,
        now: i64,
    ) -> Result<(Relations, RankConvergence), GraphError> {
        self.detect_copies()?;
        let PageNumbering { ids, urls, site_of_page, site_names, domain_of_site, .. } = self.numbering;
        let count = ids.len();
        let graph = self.links.finish(count as u32)?;
        let directory = self.building.path();
        let urls = urls.finish(&directory.join(URLS), count)?;
        let anchors = write_anchors(self.anchors, &directory.join(ANCHORS), count)?;

        let page_sites = PageSites::new(&site_of_page, &domain_of_site)?;
        let options = PageRankOptions { scale: RankScale::PerPage, ..self.options.rank };
        let by_id = by_id(&ids);
        let start = lookup::start_ranks(&self.folder, &ids, &by_id);
        let RankVector { values: page_rank, rounds, error_bound, .. } =
            page_rank(&graph, &options, Teleport::Everywhere, start.as_deref())?;
        drop(start);
        let sorting = GraphOptions {
            memory: self.options.memory,
            directory: Some(directory.to_owned()),
            ..GraphOptions::default()
        };
        let site_rank = site_rank(&graph, page_sites, &options, sorting)?.values;
        let counts = link_counts(&graph, page_sites)?;
        let mut published = vec![None; count];
        for (page, at) in self.published {
            published[page as usize] = Some(at);
        }
        let link_hits: Vec<u32> = counts.iter().map(|count| count.link_hits).collect();
        let link_weight = link_weights(&link_hits, &published, now, self.options.freshness)?;
        drop((link_hits, published));

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
        copies.extend_to(count);
        let relations =
            Relations { to, built: now, pages, sites, graph, copies, hidden: HiddenPages::default() };
        let mut texts = vec![0; count];
        for (page, hash) in self.hashes {
            texts[page as usize] = hash;
        }
        lookup::write_rows(&relations, &texts, &directory.join(ROWS))?;
        drop(texts);
        tables::save(&relations, &directory.join(TABLES))?;
        checksums::write(directory)?;
        install(self.building, &self.folder)?;
        Ok((relations, RankConvergence { rounds, error_bound }))
    }

    fn number(&mut self, url: &PageUrl) -> Result<Option<u32>, GraphError> {
        if self.redirects.is_empty() {
            return self.numbering.number(url);
        }
        let url = self.follow_redirects(url).clone();
        self.numbering.number(&url)
    }

    /// Returns the end of a chain of redirects, or the URL itself if the chain is a cycle.
    fn follow_redirects<'a>(&'a self, url: &'a PageUrl) -> &'a PageUrl {
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
        writer.write(page, &lines.concat())
    })?;
    Ok(writer.finish(path, count)?)
}

/// Returns the redirects that end at a numbered page.
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
            let index = by_id.binary_search_by_key(&end(from)?, |number| ids[*number as usize]).ok()?;
            Some((*from, by_id[index]))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Renames the build to the next number and removes the previous builds. Processes that have one open can continue to
/// read it.
fn install(building: tempfile::TempDir, folder: &Path) -> Result<(), GraphError> {
    let old = finished_folders(folder)?;
    let newest = old.last().and_then(|path| path.file_name()?.to_str()?.parse().ok()).unwrap_or(0u32);
    let target = folder.join(format!("{:08}", newest.wrapping_add(1) % 100_000_000));
    pharos_files::install_directory(building.path(), &target)?;
    // The directory was renamed, so there is nothing to clean up.
    let _ = building.keep();
    for path in old {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// Removes the directories of interrupted builds. Only one build runs at a time.
fn remove_unfinished(folder: &Path) -> Result<(), GraphError> {
    unfinished_folders(folder)?.into_iter().try_for_each(fs::remove_dir_all)?;
    Ok(())
}
