//! The pages that a record leads to: seeds, redirects, links, sitemaps.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use pharos_core::config::{CrawlConfig, StrategyName};
use pharos_core::{PageObject, PageUrl, Timestamp};

use super::page_list::AdmittedList;
use super::robots::RobotsRules;
use super::scope::{CrawlScope, ScopeRefusal, check_page_url};
use super::seen_set::SeenState;
use super::status::is_redirect;
use super::weight::{AddedBy, LinkFeatures, PageFeatures, WeightRules, predict_weight, true_weight};
use super::{PageSummary, guide_words};
use crate::catalog::{CatalogChange, DiscoveredLink, RobotsState};
use crate::{LibraryRecord, RawResponse, StoredRecord};

/// Longer anchors are truncated, in bytes.
const MAX_ANCHOR: usize = 200;
/// Maximum number of parent directories derived from one link.
const MAX_PARENTS: usize = 16;

/// Returns the target of a redirect response.
pub fn redirect_target(url: &PageUrl, response: &RawResponse) -> Option<PageUrl> {
    if !is_redirect(response.status) {
        return None;
    }
    url.join(response.header("Location")?).ok()
}

/// Returns the change of a redirect.
///
/// A redirected seed stays a seed wherever it leads; the target of any other page must be in scope. Imported records
/// create no seeds.
pub(super) fn redirect_change(
    scope: &mut CrawlScope,
    record: &LibraryRecord,
    target: PageUrl,
) -> Option<CatalogChange> {
    if record.hops >= scope.rules().max_redirects {
        return None;
    }
    let hops = record.hops + 1;
    let origin = Some(record.origin.clone().unwrap_or_else(|| record.url.as_str().to_string()));
    if record.depth == 0 && record.attempt > 0 {
        return seed_change(scope, &target, record.at, hops, origin);
    }
    let target = scope.canonical(target);
    let stale_before = scope.fresh_since();
    scope.contains(&target).then(|| {
        CatalogChange::Found(DiscoveredLink {
            hops,
            origin,
            stale_before,
            ..DiscoveredLink::new(target, record.depth, record.at)
        })
    })
}

/// Returns the changes for links, listed URLs and parent directories within the crawl rules, and the number of links.
pub(super) fn discover_links(
    scope: &mut CrawlScope,
    stored: &StoredRecord,
    summary: &PageSummary,
    list: &AdmittedList<'_>,
    weights: Option<&PageWeights<'_>>,
    shortest: Duration,
) -> (Vec<CatalogChange>, u32) {
    let record = &stored.record;
    let depth = record.depth.saturating_add(1);
    if depth > scope.rules().max_depth {
        return (count_too_deep(scope, record, summary, depth).into_iter().collect(), 0);
    }
    let mut followed_links = 0;
    let mut seen = HashSet::from([record.url.id()]);
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    let mut changes = Vec::new();
    let links = summary.links.iter().map(|link| (&link.url, link.anchor.as_str(), None, 0));
    // Modification times of a list count only within the shortest revisit interval.
    let latest = record.at.minus(shortest);
    let listed =
        list.entries.iter().map(|(url, modified)| (url, "", modified.map(|m| m.min(latest)), list.hops));
    let mut add_link =
        |scope: &mut CrawlScope, url: PageUrl, anchor: &str, modified: Option<Timestamp>, hops: u32| {
            let id = url.id();
            if !seen.insert(id) {
                return;
            }
            match scope.admits(&url) {
                Err(refusal) => {
                    if let Some(rule) = refusal.counter_name() {
                        *refused.entry(rule).or_default() += 1;
                    }
                }
                // A page last visited before a batch crawl is due.
                Ok(()) => {
                    let stale_before = scope.fresh_since();
                    let counted = weights.is_some_and(|w| w.counts_links);
                    followed_links += 1;
                    // Weights need every link, also to known pages.
                    let seen_state = scope.check_seen(id, depth);
                    if weights.is_none() && modified.is_none() && seen_state == SeenState::Known {
                        return;
                    }
                    let mut found = DiscoveredLink {
                        anchor: anchor[..anchor.floor_char_boundary(MAX_ANCHOR)].to_string(),
                        from: Some((record.url.id(), stored.position)),
                        hops,
                        counted,
                        stale_before,
                        modified,
                        likely_new: seen_state == SeenState::New,
                        ..DiscoveredLink::new(url, depth, record.at)
                    };
                    found.weight = weights.map_or(0, |w| w.link_weight(&found, modified.is_some()));
                    changes.push(CatalogChange::Found(found));
                }
            }
        };
    for (url, anchor, modified, hops) in links.chain(listed) {
        let url = scope.canonical(url.clone());
        if scope.rules().parent_directories {
            for above in url.parents().take(MAX_PARENTS) {
                add_link(scope, above, "", None, 0);
            }
        }
        add_link(scope, url, anchor, modified, hops);
    }
    changes.extend(refused.into_iter().map(|(rule, links)| CatalogChange::Filtered { rule, links }));
    (changes, followed_links)
}

/// Counts the links of a page that are not followed because of their depth.
fn count_too_deep(
    scope: &CrawlScope,
    record: &LibraryRecord,
    summary: &PageSummary,
    depth: u32,
) -> Option<CatalogChange> {
    let mut seen = HashSet::from([record.url.id()]);
    let urls = summary.links.iter().map(|link| scope.canonical(link.url.clone()));
    let links = urls.filter(|url| seen.insert(url.id()) && scope.contains(url)).count() as u64;
    let rule = ScopeRefusal::TooDeep { depth, limit: scope.rules().max_depth }.counter_name()?;
    (links > 0).then_some(CatalogChange::Filtered { rule, links })
}

/// Returns the changes for the sitemaps listed in a robots.txt. They get depth 1, because only operators add seeds.
pub(super) fn sitemap_changes(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    record: &LibraryRecord,
    state: &RobotsState,
) -> Vec<CatalogChange> {
    let RobotsState::Known(file) = state else { return Vec::new() };
    if !scope.rules().sitemaps {
        return Vec::new();
    }
    let robots = RobotsRules::parse(file, &config.agent);
    let named = robots.sitemaps().iter().filter_map(|named| record.url.join(named).ok());
    let admitted = named.filter(|url| scope.check_scope(url).is_ok());
    let stale_before = scope.fresh_since();
    admitted
        .map(|url| {
            CatalogChange::Found(DiscoveredLink { stale_before, ..DiscoveredLink::new(url, 1, record.at) })
        })
        .collect()
}

/// Returns the change for the icon of a server that may be crawled, if icons are wanted.
pub(super) fn icon_change(
    scope: &CrawlScope,
    config: &CrawlConfig,
    record: &LibraryRecord,
    state: &RobotsState,
) -> Option<CatalogChange> {
    let is_wanted = config.icons && *state != RobotsState::Unreachable;
    let url = scope.canonical(record.url.site_icon());
    (is_wanted && scope.admits_known(&url).is_ok())
        .then(|| CatalogChange::Found(DiscoveredLink::new(url, 1, record.at)))
}

/// Returns the changes of a webmaster's notice that pages changed. Unknown pages get depth 1, as those of sitemaps.
pub(super) fn announced_changes(
    scope: &mut CrawlScope,
    pages: &[PageUrl],
    at: Timestamp,
) -> Vec<CatalogChange> {
    let mut changes = Vec::new();
    for page in pages {
        let url = scope.canonical(page.clone());
        if scope.admits(&url).is_ok() {
            let link = DiscoveredLink { modified: Some(at), ..DiscoveredLink::new(url, 1, at) };
            changes.push(CatalogChange::Found(link));
        }
    }
    changes
}

/// Returns the change of a seed, or `None` if its URL cannot be a page.
pub(super) fn seed_change(
    scope: &mut CrawlScope,
    url: &PageUrl,
    at: Timestamp,
    hops: u32,
    origin: Option<String>,
) -> Option<CatalogChange> {
    check_page_url(url).ok()?;
    let url = scope.canonical(url.clone());
    scope.add_site(url.site());
    Some(CatalogChange::Seed { url, at, hops, origin, stale_before: scope.fresh_since() })
}

/// Weights of a page and its links.
pub(super) struct PageWeights<'a> {
    rules: WeightRules,
    /// Weight of the page itself.
    pub(super) page: u32,
    relevance: f64,
    content: &'a PageObject,
    /// `true` if referring pages are counted.
    counts_links: bool,
}

impl<'a> PageWeights<'a> {
    /// Returns `None` if neither the strategy nor a guide word needs weights.
    pub(super) fn for_page(
        config: &CrawlConfig,
        scope: &CrawlScope,
        record: &LibraryRecord,
        summary: &'a PageSummary,
    ) -> Option<Self> {
        let guide_words = &scope.rules().guide_words;
        if guide_words.is_empty() && !config.strategy.uses_weights() {
            return None;
        }
        let rules = WeightRules { guide_words: guide_words.clone(), ..WeightRules::from_config(config) };
        let content = &summary.page;
        let evidence = PageFeatures {
            added_by: if record.depth == 0 { AddedBy::Seed } else { AddedBy::Link },
            title: &content.title,
            text: &content.text,
            language: &content.lang,
            charset: &content.charset,
            ..PageFeatures::new(&record.url)
        };
        let page = true_weight(&evidence, &rules);
        let relevance = guide_words::page_relevance(&rules.guide_words, &content.title, &content.text);
        Some(Self {
            rules,
            page,
            relevance,
            content,
            counts_links: config.strategy == StrategyName::Importance,
        })
    }

    fn link_weight(&self, found: &DiscoveredLink, is_listed: bool) -> u32 {
        let clues = LinkFeatures {
            added_by: if is_listed { AddedBy::Sitemap } else { AddedBy::Link },
            parent_weight: Some(self.page),
            parent_relevance: self.relevance,
            anchor: &found.anchor,
            referring_pages: 1,
            language: &self.content.lang,
            charset: &self.content.charset,
            ..LinkFeatures::new(&found.url)
        };
        predict_weight(&clues, &self.rules).total
    }
}
