//! What the web says about the pages of a library: links, ranks, anchors and copies, made from all of them.
//!
//! Two passes: over the page objects, whose texts tell copies apart; over the links. Both come from the derived stores.

use std::collections::{HashMap, HashSet};

use pharos_core::config::{Config, GraphConfig};
use pharos_core::{Clock as _, Link, LinkKind, PageId, PageObject, PageUrl, SystemClock, Timestamp};
use pharos_graph::Relations;
use pharos_graph::anchors::Anchor;
use pharos_graph::duplicates::{LabelledPage, LabelledSet, Row, Table, table};
use pharos_graph::link_weight::FreshnessRules;
use pharos_graph::pagerank::RankRules;
use pharos_graph::relations::{
    Computed, Lookup, PageWords, RelationRules, RelationsBuilder, Sizes, Together,
};
use pharos_graph::statistics::{Locality, topical_locality};
use pharos_index::{Copy, Document, Generations, MAX_COPIES, MAX_VOTES, Maxima, WebFigures};
use pharos_store::{Catalog as _, DataDir, Library as _, Removal, SqliteCatalog};
use pharos_text::Analyser;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::EngineError;
use crate::build::Progress;
use crate::pages::{Pages, Templates};
use crate::reading::{Wanted, is_searchable, text_hash};

/// Pages whose fingerprints are taken together, on all cores.
const BATCH: usize = 512;

/// Copies whose anchors count for the page that stands for them.
const COPIES_ASKED: usize = 16;

/// What was built.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GraphSummary {
    /// How much there is.
    #[serde(flatten)]
    pub sizes: Sizes,
    /// Pages that have copies, exact or near.
    pub pages_with_copies: u64,
    /// Rounds until ranks changed no more.
    pub rounds: u32,
    /// How far the ranks of all pages together, as probabilities, may be from the solution.
    pub error_bound: f64,
}

/// Builds the relations of all pages anew, without an index.
pub fn build_graph(
    data: &DataDir,
    config: &Config,
    mut progress: impl FnMut(Progress) -> bool,
) -> Result<GraphSummary, EngineError> {
    check_rules(config)?;
    let _builder = Generations::at(data.index()).lock_builder()?;
    let mut check = |p: Progress| if progress(p) { Ok(()) } else { Err(EngineError::Stopped) };
    let pages = Pages::of(data, config, &mut |n| check(Progress::Surveying(n)))?;
    let (relations, computed) = relate(data, config, &pages, &mut check)?;
    let groups = relations.groups();
    Ok(GraphSummary {
        sizes: relations.sizes(),
        pages_with_copies: groups.iter().map(|group| 1 + group.members.len() as u64).sum(),
        rounds: computed.rounds,
        error_bound: computed.error_bound,
    })
}

/// Can pages be related by these settings? Whoever reads the whole library for it asks first.
pub(crate) fn check_rules(config: &Config) -> Result<(), EngineError> {
    Ok(rules(&config.graph).check()?)
}

/// What the last build found, without what operators have taken out since.
pub fn open_relations(data: &DataDir) -> Result<Relations, EngineError> {
    let mut relations = Relations::open(&data.graph())?;
    if let Some(catalog) = SqliteCatalog::open_reader(&data.catalog())? {
        for removal in catalog.removed()? {
            match removal {
                Removal::Page(url) => relations.hide_page(url.id()),
                Removal::Site(site) => relations.hide_site(site.id()),
            }
        }
    }
    Ok(relations)
}

/// Does what the last build found name something that operators have taken out since?
pub(crate) fn knows_removed(data: &DataDir, removed: &[Removal]) -> Result<bool, EngineError> {
    let Some(lookup) = Lookup::open(&data.graph())? else { return Ok(false) };
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

/// Relates the pages to each other, and keeps what came of it in the data directory.
pub(crate) fn relate(
    data: &DataDir,
    config: &Config,
    pages: &Pages<'_>,
    check: &mut dyn FnMut(Progress) -> Result<(), EngineError>,
) -> Result<(Relations, Computed), EngineError> {
    let mut builder = RelationsBuilder::begin(&data.graph(), rules(&config.graph))?;
    for (from, to) in pages.redirects().filter(|(_, to)| !pages.is_removed(to)) {
        builder.redirect(from, to.clone());
    }
    let total = pages.count();
    let mut templates = Templates::new(config);
    let mut batch = Vec::with_capacity(BATCH);
    let mut vouch_for_nothing: HashSet<PageId> = HashSet::new();
    pages.each(&mut |n| check(Progress::Comparing(n, total)), &mut |url, at, _, page| {
        builder.page(url)?;
        if page.no_follow() {
            vouch_for_nothing.insert(url.id());
        }
        if is_searchable(page) {
            batch.push(words(pages, &mut templates, url, at, page));
        }
        if batch.len() == BATCH {
            builder.texts(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
        }
        Ok(())
    })?;
    builder.texts(batch)?;
    pages.links(&mut |n| check(Progress::Linking(n, total)), &mut |url, links| {
        if !vouch_for_nothing.contains(&url.id()) {
            for link in links.iter().filter(|link| is_vote(link) && !pages.is_removed(&link.url)) {
                builder.link(url, &link.url, &link.anchor)?;
            }
        }
        Ok(())
    })?;
    check(Progress::Ranking)?;
    if builder.left_out > 0 {
        tracing::warn!(links = builder.left_out, "more pages than have numbers: these links are left out");
    }
    let now = SystemClock.now().millis() / 1000;
    Ok(builder.finish(pages.to(), now)?)
}

/// What the index is told of each page.
pub(crate) struct Related<'a> {
    relations: &'a Relations,
    pages: &'a Pages<'a>,
    /// Pages with the very same words, by the one that stands for them; as many as a document takes.
    copies: HashMap<u32, Vec<u32>>,
    /// Those that are listed there and have no document of their own.
    listed: HashSet<u32>,
}

impl<'a> Related<'a> {
    pub(crate) fn new(relations: &'a Relations, pages: &'a Pages<'a>) -> Self {
        let mut copies = relations.exact_copies();
        copies.values_mut().for_each(|copies| copies.truncate(MAX_COPIES));
        let listed = copies.values().flatten().copied().collect();
        Self { relations, pages, copies, listed }
    }

    /// Completes a page by what others say of it. False: it is listed with another that has the very same words.
    pub(crate) fn complete(&self, document: &mut Document) -> Result<bool, EngineError> {
        let relations = self.relations;
        let Some(page) = relations.number(document.url.id()) else { return Ok(true) };
        if self.listed.contains(&page) {
            return Ok(false);
        }
        let copies = self.copies_of(page);
        for copy in copies {
            let Some((fetched, position)) = self.pages.version(relations.id(*copy)) else { continue };
            if let Ok(url) = PageUrl::parse(&relations.url(*copy)?) {
                document.copies.push(Copy { url, position, fetched });
            }
        }
        let mut known = HashSet::new();
        for page in std::iter::once(&page).chain(copies.iter().take(COPIES_ASKED)) {
            let mut anchors = relations.anchors(*page)?;
            anchors.retain(|anchor| known.insert(anchor.text.clone()));
            document.anchors.extend(spoken(anchors));
        }
        let WebFigures { domain_depth, directory_depth, .. } = depths(&document.url);
        document.web = WebFigures { domain_depth, directory_depth, ..self.figures(page, copies) };
        document.group = Some(relations.id(relations.representative(page).unwrap_or(page)));
        document.signature = relations.signature(page).map(|signature| signature.to_bytes().into());
        Ok(true)
    }

    /// The largest figures of all documents.
    pub(crate) fn maxima(&self) -> Maxima {
        let mut maxima = Maxima::default();
        for page in (0..self.relations.page_ranks().len() as u32).filter(|page| !self.listed.contains(page)) {
            maxima.include(&self.figures(page, self.copies_of(page)));
        }
        maxima
    }

    fn copies_of(&self, page: u32) -> &[u32] {
        self.copies.get(&page).map(Vec::as_slice).unwrap_or_default()
    }

    /// Figures of a document, which is found for all its addresses: what they receive counts together.
    fn figures(&self, page: u32, copies: &[u32]) -> WebFigures {
        let addresses: Vec<u32> = std::iter::once(page).chain(copies.iter().copied()).collect();
        let Together { page_rank, counts, link_weight } = self.relations.together(&addresses);
        WebFigures {
            page_rank: page_rank as f32,
            site_rank: self.relations.site_ranks()[self.relations.site(page) as usize] as f32,
            link_weight,
            in_degree: counts.raw_link_hits,
            out_degree: counts.out_degree,
            link_hits: counts.link_hits,
            linking_domains: counts.linking_domains,
            mirror_degree: self.relations.mirror_degree(page),
            ..WebFigures::default()
        }
    }
}

/// Anchors as a document has them: what more domains say counts for more.
pub(crate) fn spoken(anchors: Vec<Anchor>) -> impl Iterator<Item = pharos_index::Anchor> {
    let votes = |weight: f32| (1.0 + weight).round().clamp(1.0, f32::from(MAX_VOTES)) as u8;
    anchors
        .into_iter()
        .map(move |Anchor { text, weight, .. }| pharos_index::Anchor { text, votes: votes(weight) })
}

/// What an address says by itself.
fn depths(url: &PageUrl) -> WebFigures {
    WebFigures {
        domain_depth: url.domain_depth() as u32,
        directory_depth: url.directory_depth() as u32,
        ..WebFigures::default()
    }
}

/// The figures of a page that is fetched again: what the last build found out of it, or of the page it was a copy of,
/// stays true until the next. Its depths are those of its own address.
pub(crate) fn carried(url: &PageUrl, before: Option<WebFigures>) -> WebFigures {
    let WebFigures { domain_depth, directory_depth, .. } = depths(url);
    WebFigures { domain_depth, directory_depth, ..before.unwrap_or_default() }
}

/// How ranks are computed by these settings.
pub fn rank_rules(config: &GraphConfig) -> RankRules {
    RankRules {
        damping: config.damping,
        tolerance: config.epsilon,
        max_rounds: u32::try_from(config.max_rounds).unwrap_or(u32::MAX),
        ..RankRules::default()
    }
}

fn rules(config: &GraphConfig) -> RelationRules {
    let rank = rank_rules(config);
    let window_seconds = i64::try_from(config.new_page.as_secs()).unwrap_or(i64::MAX);
    RelationRules {
        memory: config.memory.bytes(),
        max_anchors: config.max_anchors,
        rank,
        freshness: FreshnessRules { window_seconds, ..FreshnessRules::default() },
        ..RelationRules::default()
    }
}

/// Does the link recommend its target? Pictures and styles are parts of a page, and a link may say that it does not.
fn is_vote(link: &Link) -> bool {
    link.kind != LinkKind::Resource && !link.is_nofollow()
}

fn words(
    pages: &Pages<'_>,
    templates: &mut Templates,
    url: &PageUrl,
    at: Timestamp,
    page: &PageObject,
) -> PageWords {
    let mut body = page.text.clone();
    templates.strip(url, &mut body);
    let published = page.published.as_ref().or(page.modified.as_ref());
    PageWords {
        url: url.clone(),
        first_seen: pages.first_seen(url.id()).unwrap_or(at),
        published: published.and_then(|date| day(date)),
        title: if page.title.trim().is_empty() { page.content_title.clone() } else { page.title.clone() },
        body,
        hash: text_hash(&page.text, Wanted::Everything),
        manner: manner(page),
        layout: page.layout,
        canonical: page
            .canonical
            .as_ref()
            .and_then(|address| url.join(address).ok())
            .filter(|canonical| !pages.is_removed(canonical)),
    }
}

/// How a page may be shown, and what kind of file it is: a copy must not be shown as its original, if that is not its way.
fn manner(page: &PageObject) -> u32 {
    let manner =
        format!("{} {:?} {:?} {}", page.no_archive(), page.max_snippet(), page.unquotable, page.format);
    xxh3_64(manner.as_bytes()) as u32
}

/// The moment at which the day of a date begins.
fn day(date: &str) -> Option<Timestamp> {
    Timestamp::parse(&format!("{}T00:00:00Z", date.get(..10)?))
}

/// What came of measuring.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Pages of the library that have a label.
    pub pages: u64,
    /// Pairs among them that are copies.
    pub pairs: u64,
    /// Labels of pages that the library does not have, or that have no text.
    pub labels_not_found: u64,
    /// A row for each method.
    pub rows: Table,
}

/// Every method to find copies, measured on pages of the library of which it is known what they are copies of: pages with
/// the same label are. The first row is what the last build found, by all that it knows.
pub fn measure_copies(
    data: &DataDir,
    config: &Config,
    labels: &HashMap<PageId, String>,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Measured, EngineError> {
    let mut check = |n: u64| if progress(n) { Ok(()) } else { Err(EngineError::Stopped) };
    let relations = open_relations(data)?;
    let pages = Pages::of(data, config, &mut |_| check(0))?;
    let mut templates = Templates::new(config);
    let mut contents: HashMap<&str, u32> = HashMap::new();
    let (mut set, mut found) = (LabelledSet::default(), Vec::new());
    pages.each(&mut check, &mut |url, at, position, page| {
        if !is_searchable(page) {
            return Ok(());
        }
        let spoken = words(&pages, &mut templates, url, at, page);
        let Some(label) = labels.get(&url.id()) else { return Ok(()) };
        let next = contents.len() as u32;
        let content = *contents.entry(label).or_insert(next);
        let response = pages.library().response(position)?;
        let raw = response.content(config.crawl.body_limit.bytes()).into_owned();
        found.push(relations.number(url.id()).map(|page| relations.representative(page).unwrap_or(page)));
        let tokens = Analyser::shared().tokens(&spoken.body);
        set.pages.push(LabelledPage {
            raw,
            title: spoken.title,
            body: spoken.body,
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
        [vec![Row::of_groups("as built", &set, &found)], table(&set).0].concat()
    };
    let labels_not_found = (labels.len() as u64).saturating_sub(pages);
    Ok(Measured { pages, pairs: set.pairs(), labels_not_found, rows: Table(rows) })
}

/// Do linked pages speak of the same things? Compares the words of pages that are linked, of pages that one page links
/// to, and of any two; `samples` pairs of each kind at most.
pub fn locality(
    data: &DataDir,
    config: &Config,
    relations: &Relations,
    samples: u32,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Locality, EngineError> {
    let mut check = |n: u64| if progress(n) { Ok(()) } else { Err(EngineError::Stopped) };
    let pages = Pages::of(data, config, &mut check)?;
    let mut known: HashMap<u32, Option<HashMap<String, f64>>> = HashMap::new();
    let mut failed = None;
    let found = topical_locality(relations.graph(), relations.places()?, samples, SEED, |one, other| {
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

/// Of the pairs of pages that are compared: the same each time.
const SEED: u64 = 7;

/// The cosine of two vectors of length one.
fn cosine(one: &HashMap<String, f64>, other: &HashMap<String, f64>) -> f64 {
    one.iter().filter_map(|(term, weight)| Some(weight * other.get(term)?)).sum()
}

#[cfg(test)]
mod tests;
