//! Link analysis over all pages: links, ranks, anchors and duplicates.
//!
//! Two passes over the derived stores: page texts for duplicate detection, then links.

use std::collections::{HashMap, HashSet};

use pharos_core::config::{Config, GraphConfig};
use pharos_core::{Clock as _, Link, LinkKind, PageId, PageObject, PageUrl, SystemClock, Timestamp};
use pharos_graph::Relations;
use pharos_graph::anchors::Anchor;
use pharos_graph::duplicates::{EvaluationRow, EvaluationTable, LabelledPage, LabelledSet, evaluate_all};
use pharos_graph::rank::link_weight::FreshnessOptions;
use pharos_graph::rank::pagerank::PageRankOptions;
use pharos_graph::relations::{
    GraphSizes, MergedMetrics, PageContent, RankConvergence, RelationsBuilder, RelationsLookup,
    RelationsOptions,
};
use pharos_graph::statistics::{TopicalLocality, topical_locality};
use pharos_index::document::MAX_COPIES;
use pharos_index::document::zones::MAX_VOTES;
use pharos_index::{IndexDocument, LinkFigures, LinkMaxima, PageCopy};
use pharos_store::DataDir;
use pharos_store::catalog::Removal;
use pharos_store::interpret::is_searchable;
use pharos_text::Analyser;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::EngineError;
use crate::build::current_pages::{CurrentPages, SiteTemplates};
use crate::build::history::{BuildProgress, analyse_remaining};
use crate::stages::analyse::{AnalysisDepth, text_hash};
use crate::stores::Stores;

/// Number of pages whose fingerprints are computed together, on all cores.
const BATCH: usize = 512;

/// Maximum number of copies whose anchors count for the representative.
const MAX_COPIES_WITH_ANCHORS: usize = 16;

/// The outcome of a link analysis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GraphSummary {
    #[serde(flatten)]
    pub sizes: GraphSizes,
    /// Pages with exact or near-duplicates.
    pub pages_with_copies: u64,
    /// PageRank iterations until convergence.
    pub rounds: u32,
    /// Upper bound on the L1 distance of the ranks, as probabilities, from the exact solution.
    pub error_bound: f64,
}

/// Runs the link analysis of all pages without building an index.
pub fn build_graph(
    data: &DataDir,
    config: &Config,
    mut progress: impl FnMut(BuildProgress) -> bool,
) -> Result<GraphSummary, EngineError> {
    check_rules(config)?;
    let stores = Stores::open(data, config)?;
    stores.check_library()?;
    let _builder = stores.lock_builder()?;
    let mut check = |p: BuildProgress| if progress(p) { Ok(()) } else { Err(EngineError::Stopped) };
    analyse_remaining(data, config, &mut check)?;
    let pages = CurrentPages::find(data, config, &mut |n| check(BuildProgress::Surveying(n)))?;
    let (relations, computed) = analyse_links(data, config, &pages, &mut check)?;
    let groups = relations.groups();
    Ok(GraphSummary {
        sizes: relations.sizes(),
        pages_with_copies: groups.iter().map(|group| 1 + group.members.len() as u64).sum(),
        rounds: computed.rounds,
        error_bound: computed.error_bound,
    })
}

/// Checks the settings of the link analysis. Called before the library is read.
pub(crate) fn check_rules(config: &Config) -> Result<(), EngineError> {
    Ok(relation_rules(&config.graph).check()?)
}

/// Opens the results of the last link analysis, without pages removed since.
pub fn open_relations(stores: &Stores) -> Result<Relations, EngineError> {
    let mut relations = Relations::open(&stores.data().graph())?;
    if let Some(catalog) = stores.catalog()? {
        for removal in catalog.removed()? {
            match removal {
                Removal::Page(url) => relations.hide_page(url.id()),
                Removal::Site(site) => relations.hide_site(site.id()),
            }
        }
    }
    Ok(relations)
}

/// Returns `true` if the results of the last link analysis contain pages removed since.
pub(crate) fn contains_removed(data: &DataDir, removed: &[Removal]) -> Result<bool, EngineError> {
    let Some(lookup) = RelationsLookup::open(&data.graph())? else { return Ok(false) };
    for removal in removed {
        let is_known = match removal {
            Removal::Page(url) => lookup.page(url.id())?.is_some(),
            Removal::Site(site) => lookup.knows_site(site.id())?,
        };
        if is_known {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Analyses links and duplicates of the pages and stores the results in the data directory.
pub(crate) fn analyse_links(
    data: &DataDir,
    config: &Config,
    pages: &CurrentPages<'_>,
    check: &mut dyn FnMut(BuildProgress) -> Result<(), EngineError>,
) -> Result<(Relations, RankConvergence), EngineError> {
    let mut builder = RelationsBuilder::begin(&data.graph(), relation_rules(&config.graph))?;
    for (from, to) in pages.redirects().filter(|(_, to)| !pages.is_removed(to)) {
        builder.add_redirect(from, to.clone());
    }
    let total = pages.count();
    let mut templates = SiteTemplates::new(config);
    let mut batch = Vec::with_capacity(BATCH);
    let mut nofollow_pages: HashSet<PageId> = HashSet::new();
    pages.for_each(&mut |n| check(BuildProgress::Comparing(n, total)), &mut |url, at, _, page| {
        builder.add_page(url)?;
        if page.no_follow() {
            nofollow_pages.insert(url.id());
        }
        if is_searchable(page) {
            batch.push(page_words(pages, &mut templates, url, at, page));
        }
        if batch.len() == BATCH {
            builder.add_texts(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
        }
        Ok(())
    })?;
    builder.add_texts(batch)?;
    pages.for_each_links(&mut |n| check(BuildProgress::Linking(n, total)), &mut |url, links| {
        if !nofollow_pages.contains(&url.id()) {
            for link in links.iter().filter(|link| is_vote(link) && !pages.is_removed(&link.url)) {
                builder.add_link(url, &link.url, &link.anchor)?;
            }
        }
        Ok(())
    })?;
    check(BuildProgress::Ranking)?;
    if builder.dropped_links > 0 {
        tracing::warn!(
            links = builder.dropped_links,
            "too many pages for 32-bit page numbers; links omitted"
        );
    }
    let now = SystemClock.now().millis() / 1000;
    Ok(builder.finish(pages.to().clone(), now)?)
}

/// Completes index documents with the results of the link analysis.
pub(crate) struct DocumentCompleter<'a> {
    relations: &'a Relations,
    pages: &'a CurrentPages<'a>,
    /// Exact duplicates by representative, up to the limit of a document.
    copies: HashMap<u32, Vec<u32>>,
    /// Duplicates listed in the document of their representative, without a document of their own.
    listed: HashSet<u32>,
}

impl<'a> DocumentCompleter<'a> {
    pub(crate) fn new(relations: &'a Relations, pages: &'a CurrentPages<'a>) -> Self {
        let mut copies = relations.exact_copies();
        copies.values_mut().for_each(|copies| copies.truncate(MAX_COPIES));
        let listed = copies.values().flatten().copied().collect();
        Self { relations, pages, copies, listed }
    }

    /// Adds link features to a document. Returns `false` if the page is listed in the document of its representative.
    pub(crate) fn complete(&self, document: &mut IndexDocument) -> Result<bool, EngineError> {
        let relations = self.relations;
        let Some(page) = relations.number(document.url.id()) else { return Ok(true) };
        if self.listed.contains(&page) {
            return Ok(false);
        }
        let copies = self.copies_of(page);
        for copy in copies {
            let Some((fetched, position)) = self.pages.current_version(relations.id(*copy)) else { continue };
            if let Ok(url) = PageUrl::parse(&relations.url(*copy)?) {
                document.copies.push(PageCopy { url, position, fetched });
            }
        }
        let mut known = HashSet::new();
        for page in std::iter::once(&page).chain(copies.iter().take(MAX_COPIES_WITH_ANCHORS)) {
            let mut anchors = relations.anchors(*page)?;
            anchors.retain(|anchor| known.insert(anchor.text.clone()));
            document.anchors.extend(document_anchors(anchors));
        }
        let LinkFigures { domain_depth, directory_depth, .. } = url_features(&document.url);
        document.link_figures = LinkFigures { domain_depth, directory_depth, ..self.figures(page, copies) };
        document.group = Some(relations.id(relations.representative(page).unwrap_or(page)));
        document.signature = relations.signature(page).map(|signature| signature.to_bytes().into());
        Ok(true)
    }

    /// Returns the maximum of each feature over all documents.
    pub(crate) fn maxima(&self) -> LinkMaxima {
        let mut maxima = LinkMaxima::default();
        for page in (0..self.relations.page_ranks().len() as u32).filter(|page| !self.listed.contains(page)) {
            maxima.include(&self.figures(page, self.copies_of(page)));
        }
        maxima
    }

    fn copies_of(&self, page: u32) -> &[u32] {
        self.copies.get(&page).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the features of a document. Those of all its URLs are combined.
    fn figures(&self, page: u32, copies: &[u32]) -> LinkFigures {
        let addresses: Vec<u32> = std::iter::once(page).chain(copies.iter().copied()).collect();
        let MergedMetrics { page_rank, counts, link_weight } = self.relations.merged_metrics(&addresses);
        LinkFigures {
            page_rank: page_rank as f32,
            site_rank: self.relations.site_ranks()[self.relations.site(page) as usize] as f32,
            link_weight,
            in_degree: counts.raw_link_hits,
            out_degree: counts.out_degree,
            link_hits: counts.link_hits,
            linking_domains: counts.linking_domains,
            mirror_degree: self.relations.mirror_degree(page),
            ..LinkFigures::default()
        }
    }
}

/// Converts anchors to document anchors. More linking domains give an anchor more votes.
pub(crate) fn document_anchors(anchors: Vec<Anchor>) -> impl Iterator<Item = pharos_index::Anchor> {
    let votes = |weight: f32| (1.0 + weight).round().clamp(1.0, f32::from(MAX_VOTES)) as u8;
    anchors
        .into_iter()
        .map(move |Anchor { text, weight, .. }| pharos_index::Anchor { text, votes: votes(weight) })
}

/// Returns the features derived from the URL alone.
fn url_features(url: &PageUrl) -> LinkFigures {
    LinkFigures {
        domain_depth: url.domain_depth() as u32,
        directory_depth: url.directory_depth() as u32,
        ..LinkFigures::default()
    }
}

/// Returns the features of a page that is fetched again: those of the last build, with the depths of its own URL.
pub(crate) fn carried_features(url: &PageUrl, before: Option<LinkFigures>) -> LinkFigures {
    let LinkFigures { domain_depth, directory_depth, .. } = url_features(url);
    LinkFigures { domain_depth, directory_depth, ..before.unwrap_or_default() }
}

/// Returns the PageRank parameters of these settings.
pub fn rank_rules(config: &GraphConfig) -> PageRankOptions {
    PageRankOptions {
        damping: config.damping,
        tolerance: config.epsilon,
        max_rounds: u32::try_from(config.max_rounds).unwrap_or(u32::MAX),
        ..PageRankOptions::default()
    }
}

fn relation_rules(config: &GraphConfig) -> RelationsOptions {
    let rank = rank_rules(config);
    let window_seconds = i64::try_from(config.new_page.as_secs()).unwrap_or(i64::MAX);
    RelationsOptions {
        memory: config.memory.bytes(),
        max_anchors: config.max_anchors,
        rank,
        freshness: FreshnessOptions { window_seconds, ..FreshnessOptions::default() },
        ..RelationsOptions::default()
    }
}

/// Returns `true` if the link counts as a vote for its target: not an embedded resource and not `nofollow`.
fn is_vote(link: &Link) -> bool {
    link.kind != LinkKind::Resource && !link.is_nofollow()
}

fn page_words(
    pages: &CurrentPages<'_>,
    templates: &mut SiteTemplates,
    url: &PageUrl,
    at: Timestamp,
    page: &PageObject,
) -> PageContent {
    let mut body = page.text.clone();
    templates.strip(url, &mut body);
    let mut other = page.other.clone();
    templates.strip_other(url, &mut other);
    let published = page.published.as_ref().or(page.modified.as_ref());
    PageContent {
        url: url.clone(),
        first_seen: pages.first_seen(url.id()).unwrap_or(at),
        published: published.and_then(|date| start_of_day(date)),
        title: if page.title.trim().is_empty() { page.content_title.clone() } else { page.title.clone() },
        body,
        hash: text_hash(&page.text, AnalysisDepth::Everything),
        display_hash: display_hash(page, &other),
        layout: page.layout,
        canonical: page
            .canonical
            .as_ref()
            .and_then(|address| url.join(address).ok())
            .filter(|canonical| !pages.is_removed(canonical)),
    }
}

/// Returns a hash of the display restrictions, the format, and the page's own other text. Pages that differ in them are
/// not merged as copies.
fn display_hash(page: &PageObject, other: &str) -> u32 {
    let display = format!(
        "{} {:?} {:?} {} {:?} {other}",
        page.no_archive(),
        page.max_snippet(),
        page.unquotable,
        page.format,
        page.unquotable_other,
    );
    xxh3_64(display.as_bytes()) as u32
}

/// Returns the start of the day of a date.
fn start_of_day(date: &str) -> Option<Timestamp> {
    Timestamp::parse(&format!("{}T00:00:00Z", date.get(..10)?))
}

/// The outcome of an evaluation of duplicate detection.
#[derive(Clone, Debug, Serialize)]
pub struct DedupEvaluation {
    /// Labelled pages in the library.
    pub pages: u64,
    /// Pairs of duplicates among them.
    pub pairs: u64,
    /// Labels of pages that are not in the library or have no text.
    pub labels_not_found: u64,
    /// One row per method.
    pub rows: EvaluationTable,
}

/// Evaluates every duplicate detection method on labelled pages of the library; pages with equal labels are duplicates.
///
/// The first row evaluates the groups of the last build, which combine all methods.
pub fn evaluate_dedup(
    data: &DataDir,
    config: &Config,
    labels: &HashMap<PageId, String>,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<DedupEvaluation, EngineError> {
    let mut check = |n: u64| if progress(n) { Ok(()) } else { Err(EngineError::Stopped) };
    let relations = open_relations(&Stores::open(data, config)?)?;
    let pages = CurrentPages::find(data, config, &mut |_| check(0))?;
    let mut templates = SiteTemplates::new(config);
    let mut contents: HashMap<&str, u32> = HashMap::new();
    let (mut set, mut found) = (LabelledSet::default(), Vec::new());
    pages.for_each(&mut check, &mut |url, at, position, page| {
        if !is_searchable(page) {
            return Ok(());
        }
        let text = page_words(&pages, &mut templates, url, at, page);
        let Some(label) = labels.get(&url.id()) else { return Ok(()) };
        let next = contents.len() as u32;
        let content = *contents.entry(label).or_insert(next);
        let response = pages.library().response(position)?;
        let raw = response.content(config.crawl.body_limit.bytes()).into_owned();
        found.push(relations.number(url.id()).map(|page| relations.representative(page).unwrap_or(page)));
        let tokens = Analyser::shared().tokens(&text.body);
        set.pages.push(LabelledPage {
            raw,
            title: text.title,
            body: text.body,
            keywords: page.terms.iter().map(|term| (term.term.clone(), term.weight)).collect(),
            words: tokens.into_iter().map(|token| token.text).collect(),
            content,
        });
        Ok(())
    })?;
    let pages = set.pages.len() as u64;
    let rows = if set.pages.is_empty() {
        Vec::new()
    } else {
        [vec![EvaluationRow::of_groups("as built", &set, &found)], evaluate_all(&set).0].concat()
    };
    let labels_not_found = (labels.len() as u64).saturating_sub(pages);
    Ok(DedupEvaluation { pages, pairs: set.pairs(), labels_not_found, rows: EvaluationTable(rows) })
}

/// Measures topical locality: whether linked pages have similar content.
///
/// Compares the terms of linked pages, of pages linked by one page, and of random pages, with at most `samples` pairs of
/// each kind.
pub fn measure_topical_locality(
    data: &DataDir,
    config: &Config,
    relations: &Relations,
    samples: u32,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<TopicalLocality, EngineError> {
    let mut check = |n: u64| if progress(n) { Ok(()) } else { Err(EngineError::Stopped) };
    let pages = CurrentPages::find(data, config, &mut |scan| check(scan.records))?;
    let mut known: HashMap<u32, Option<HashMap<String, f64>>> = HashMap::new();
    let mut failed = None;
    let found =
        topical_locality(relations.graph(), relations.page_sites()?, samples, SAMPLE_SEED, |one, other| {
            for page in [one, other] {
                known.entry(page).or_insert_with(|| {
                    pages.terms(relations.id(page)).unwrap_or_else(|error| {
                        failed.get_or_insert(error);
                        None
                    })
                });
            }
            Some(cosine(known.get(&one)?.as_ref()?, known.get(&other)?.as_ref()?))
        })?;
    failed.map_or(Ok(found), Err)
}

/// Seed of the random pairs, fixed for reproducible results.
const SAMPLE_SEED: u64 = 7;

/// Returns the cosine of two unit vectors.
fn cosine(one: &HashMap<String, f64>, other: &HashMap<String, f64>) -> f64 {
    one.iter().filter_map(|(term, weight)| Some(weight * other.get(term)?)).sum()
}

#[cfg(test)]
mod tests;
