//! Interprets a stored record: returns the catalog changes that it causes.
//!
//! A pure function, so that live operation and replay of the library give the same catalog.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, UNIX_EPOCH};

use pharos_core::config::{CrawlConfig, StrategyName};
use pharos_core::{BackOff, Link, PageUrl, Timestamp};
use pharos_store::catalog::{
    CatalogChange, DiscoveredLink, ResponseSummary, RobotsFile, RobotsState, Validators, VisitOutcome,
};
use pharos_store::{LibraryEvent, LibraryRecord, RawResponse, RecordContent, StoredRecord};

use crate::frontier::guide_words;
use crate::frontier::seen_set::SeenState;
use crate::frontier::weight::{
    AddedBy, LinkFeatures, PageFeatures, WeightRules, predict_weight, true_weight,
};
use crate::politeness::delay::MAX_REQUESTED_WAIT;
use crate::refresh::{self, ConclusiveVisit, RefreshClass, RefreshPolicy as _};
use crate::robots::{RobotsRules, is_robots_txt, robots_state};
use crate::rules::scope::CrawlScope;

/// Longer anchors are truncated, in bytes.
const MAX_ANCHOR: usize = 200;
/// Maximum number of parent directories derived from one link.
const MAX_PARENTS: usize = 16;
/// Longer `ETag` and `Last-Modified` values are not stored, in bytes.
const MAX_VALIDATOR: usize = 256;

/// Result of analysing a page, as input for the catalog.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSummary<'a> {
    /// Links to follow, without `nofollow` links.
    pub links: &'a [Link],
    /// URLs listed by a sitemap or a feed, with the time of the last change if given.
    pub listed: &'a [(PageUrl, Option<Timestamp>)],
    pub kind: RefreshClass,
    /// `true` if the page may be indexed.
    pub indexable: bool,
    /// Hash of the raw content.
    pub digest: u64,
    /// Hash of the cleaned text; 0 if there is none.
    pub text: u64,
    pub content: PageContent<'a>,
}

/// Text of a page, as input for its weight. Unknown fields are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageContent<'a> {
    pub title: &'a str,
    pub text: &'a str,
    pub language: &'a str,
    pub charset: &'a str,
}

/// Returns the catalog changes of a record. `scope` is updated with new rules, seed sites and mirrors.
pub fn interpret_record(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    stored: &StoredRecord,
    summary: Option<PageSummary<'_>>,
) -> Vec<CatalogChange> {
    let record = &stored.record;
    match &record.content {
        RecordContent::Event(LibraryEvent::CrawlStarted { seeds, rules }) => {
            scope.set_rules(rules.clone());
            let mut changes = vec![CatalogChange::Rules(rules.clone())];
            // A robots.txt is never a page, so such a seed would never be fetched.
            changes.extend(
                seeds
                    .iter()
                    .filter(|seed| !is_robots_txt(seed))
                    .map(|seed| seed_change(scope, seed, record.at, 0, None)),
            );
            changes
        }
        RecordContent::Response(response) if is_robots_txt(&record.url) => {
            match robots_state(response, config.robots_forbidden_is_allowed) {
                None => Vec::new(),
                Some(state) => {
                    let mut changes = sitemap_changes(scope, config, record, &state);
                    let unreachable = state == RobotsState::Unreachable;
                    let reason = unreachable.then(|| format!("status {}", response.status));
                    changes.push(robots_change(record, state, reason));
                    changes
                }
            }
        }
        RecordContent::Event(LibraryEvent::Failed { reason }) if is_robots_txt(&record.url) => {
            vec![robots_change(record, RobotsState::Unreachable, Some(reason.clone()))]
        }
        RecordContent::Event(LibraryEvent::Refused { .. }) if is_robots_txt(&record.url) => Vec::new(),
        RecordContent::Response(response) => interpret_response(scope, config, stored, response, summary),
        RecordContent::Revisit(revisit) => {
            let response = RawResponse { status: revisit.status, ..RawResponse::default() };
            interpret_response(scope, config, stored, &response, summary)
        }
        RecordContent::Event(LibraryEvent::Failed { reason }) => {
            let outcome = VisitOutcome::Failed { reason: reason.clone(), attempt: record.attempt };
            let due =
                next_attempt(config, record.at, record.attempt).or_else(|| next_refresh(config, record));
            vec![visited(record, outcome, due)]
        }
        RecordContent::Event(LibraryEvent::Refused { reason }) => {
            // Rules change, and checking them again costs no request.
            let due = (!config.refresh.is_zero()).then(|| record.at.plus(config.refresh));
            vec![visited(record, VisitOutcome::Refused { reason: reason.clone() }, due)]
        }
        RecordContent::Event(LibraryEvent::Removed { what }) => vec![CatalogChange::Removed(what.clone())],
        RecordContent::Event(LibraryEvent::Deleted) => {
            vec![CatalogChange::Deleted { url: record.url.clone(), at: record.at }]
        }
        // Only the fact that such a version existed is left.
        RecordContent::Event(LibraryEvent::Dropped { .. }) if is_robots_txt(&record.url) => Vec::new(),
        RecordContent::Event(LibraryEvent::Dropped { status, digest }) => {
            let (status, digest, position) = (*status, *digest, stored.position);
            let answered = ResponseSummary { status, position, digest, ..ResponseSummary::default() };
            vec![visited(record, VisitOutcome::Responded(answered), None)]
        }
        RecordContent::Event(LibraryEvent::Alias { of }) => {
            let (home, of) = (record.url.clone(), of.clone());
            scope.add_alias(&home, &of);
            vec![CatalogChange::Alias { home, of }]
        }
        RecordContent::Event(LibraryEvent::Recrawl { whole_site }) => {
            vec![CatalogChange::Recrawl { url: record.url.clone(), whole_site: *whole_site, at: record.at }]
        }
        RecordContent::Event(LibraryEvent::Submitted) => {
            vec![CatalogChange::Submitted { url: record.url.clone(), at: record.at }]
        }
        RecordContent::Event(LibraryEvent::Decided { accepted }) => {
            let (url, at, accepted) = (record.url.clone(), record.at, *accepted);
            let mut changes = vec![CatalogChange::Decided { url, at, accepted }];
            if accepted {
                changes.push(seed_change(scope, &record.url, at, 0, None));
            }
            changes
        }
    }
}

/// Returns the changes of a response: the visit itself and the URLs it leads to.
fn interpret_response(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    stored: &StoredRecord,
    response: &RawResponse,
    summary: Option<PageSummary<'_>>,
) -> Vec<CatalogChange> {
    let record = &stored.record;
    let summary = summary.filter(|_| (200..300).contains(&response.status)).unwrap_or_default();
    let weights = PageWeights::for_page(config, scope, record, &summary);
    let mut discovered = Vec::new();
    if let Some(target) = redirect_target(&record.url, response) {
        discovered.extend(redirect_change(scope, record, target));
    }
    let shortest = config.refresh_at_most_every;
    let (found, links) = discover_links(scope, stored, &summary, weights.as_ref(), shortest);
    discovered.extend(found);
    let next = schedule_next_visit(config, record, response, summary.kind);
    let answered = ResponseSummary {
        status: response.status,
        position: stored.position,
        digest: summary.digest,
        text: summary.text,
        indexable: summary.indexable,
        attempts: next.attempts,
        weight: weights.map_or(0, |weights| weights.page),
        links,
        validators: validators(response),
    };
    let mut changes = vec![visited(record, VisitOutcome::Responded(answered), next.due)];
    if let Some(wait) = next.site_back_off {
        let (site, at) = (record.url.site(), record.at);
        changes.push(CatalogChange::BackOff { site, at, until: at.plus(wait) });
    }
    changes.extend(discovered);
    changes
}

/// Schedule of the next visit.
#[derive(Default)]
struct NextVisit {
    due: Option<Timestamp>,
    /// Number of consecutive inconclusive responses.
    attempts: u32,
    /// Back-off of the whole site.
    site_back_off: Option<Duration>,
}

fn schedule_next_visit(
    config: &CrawlConfig,
    record: &LibraryRecord,
    response: &RawResponse,
    kind: RefreshClass,
) -> NextVisit {
    let attempt = record.attempt;
    match response.status {
        // Imported records schedule nothing.
        _ if attempt == 0 => NextVisit::default(),
        // Overload and server errors may be temporary. A Retry-After is respected.
        429 | 500.. => {
            let requested = retry_after(config, record.at, response);
            let due = next_attempt(config, record.at, attempt).or_else(|| next_refresh(config, record));
            let due = due.map(|due| requested.map_or(due, |wait| due.max(record.at.plus(wait))));
            let overloaded = response.status == 429 || response.header("Retry-After").is_some();
            NextVisit { due, attempts: attempt, site_back_off: requested.filter(|_| overloaded) }
        }
        // A missing page is fetched once more before it counts as gone, if it existed before.
        404 if record.is_refetch => {
            NextVisit { due: Some(record.at.plus(config.gone_after)), attempts: 1, site_back_off: None }
        }
        404 | 410 => NextVisit::default(),
        status => {
            let interval = refresh::policy(config).interval(&ConclusiveVisit { kind, status });
            NextVisit { due: interval.map(|wait| record.at.plus(wait)), ..NextVisit::default() }
        }
    }
}

/// Returns the next visit of a page that existed once: it is revisited however often it failed.
fn next_refresh(config: &CrawlConfig, record: &LibraryRecord) -> Option<Timestamp> {
    (record.is_refetch && !config.refresh.is_zero()).then(|| record.at.plus(config.refresh))
}

/// Returns the validators of a response for conditional requests, if they are short enough.
fn validators(response: &RawResponse) -> Validators {
    let field =
        |name| response.header(name).map(str::trim).filter(|v| !v.is_empty() && v.len() <= MAX_VALIDATOR);
    if response.status != 200 || response.truncated.is_some() {
        return Validators::default();
    }
    Validators {
        etag: field("ETag").map(str::to_string),
        last_modified: field("Last-Modified").map(str::to_string),
    }
}

/// Returns the change of a redirect.
///
/// A redirected seed stays a seed wherever it leads; the target of any other page must be in scope. Imported records
/// create no seeds.
fn redirect_change(scope: &mut CrawlScope, record: &LibraryRecord, target: PageUrl) -> Option<CatalogChange> {
    if record.hops >= scope.rules().max_redirects || is_robots_txt(&target) {
        return None;
    }
    let hops = record.hops + 1;
    let origin = Some(record.origin.clone().unwrap_or_else(|| record.url.as_str().to_string()));
    if record.depth == 0 && record.attempt > 0 {
        return Some(seed_change(scope, &target, record.at, hops, origin));
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
fn discover_links(
    scope: &mut CrawlScope,
    stored: &StoredRecord,
    summary: &PageSummary<'_>,
    weights: Option<&PageWeights<'_>>,
    shortest: Duration,
) -> (Vec<CatalogChange>, u32) {
    let record = &stored.record;
    let depth = record.depth.saturating_add(1);
    if depth > scope.rules().max_depth {
        return (Vec::new(), 0);
    }
    let mut followed_links = 0;
    let mut seen = HashSet::from([record.url.id()]);
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    let mut changes = Vec::new();
    let links = summary.links.iter().map(|link| (&link.url, link.anchor.as_str(), None));
    // Modification times of a list count only within the shortest revisit interval.
    let latest = record.at.minus(shortest);
    let listed = summary.listed.iter().map(|(url, modified)| (url, "", modified.map(|m| m.min(latest))));
    let mut add_link = |scope: &mut CrawlScope, url: PageUrl, anchor: &str, modified: Option<Timestamp>| {
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
            // A page modified after the last visit is due, as is every page last visited before a batch crawl.
            Ok(()) => {
                let stale_before = modified.max(scope.fresh_since());
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
                    counted,
                    stale_before,
                    likely_new: seen_state == SeenState::New,
                    ..DiscoveredLink::new(url, depth, record.at)
                };
                found.weight = weights.map_or(0, |w| w.link_weight(&found, modified.is_some()));
                changes.push(CatalogChange::Found(found));
            }
        }
    };
    for (url, anchor, modified) in links.chain(listed) {
        let url = scope.canonical(url.clone());
        if scope.rules().parent_directories {
            for above in url.parents().take(MAX_PARENTS) {
                add_link(scope, above, "", None);
            }
        }
        add_link(scope, url, anchor, modified);
    }
    changes.extend(refused.into_iter().map(|(rule, links)| CatalogChange::Filtered { rule, links }));
    (changes, followed_links)
}

/// Weights of a page and its links.
struct PageWeights<'a> {
    rules: WeightRules,
    page: u32,
    relevance: f64,
    content: PageContent<'a>,
    /// `true` if referring pages are counted.
    counts_links: bool,
}

impl<'a> PageWeights<'a> {
    /// Returns `None` if neither the strategy nor a guide word needs weights.
    fn for_page(
        config: &CrawlConfig,
        scope: &CrawlScope,
        record: &LibraryRecord,
        summary: &PageSummary<'a>,
    ) -> Option<Self> {
        use StrategyName::{Alternate, HotQueue, Importance};
        let guide_words = &scope.rules().guide_words;
        if guide_words.is_empty() && !matches!(config.strategy, Alternate | HotQueue | Importance) {
            return None;
        }
        let rules = WeightRules { guide_words: guide_words.clone(), ..WeightRules::from_config(config) };
        let content = summary.content;
        let evidence = PageFeatures {
            added_by: if record.depth == 0 { AddedBy::Seed } else { AddedBy::Link },
            title: content.title,
            text: content.text,
            language: content.language,
            charset: content.charset,
            ..PageFeatures::new(&record.url)
        };
        let page = true_weight(&evidence, &rules);
        let relevance = guide_words::page_relevance(&rules.guide_words, content.title, content.text);
        Some(Self { rules, page, relevance, content, counts_links: config.strategy == Importance })
    }

    fn link_weight(&self, found: &DiscoveredLink, is_listed: bool) -> u32 {
        let clues = LinkFeatures {
            added_by: if is_listed { AddedBy::Sitemap } else { AddedBy::Link },
            parent_weight: Some(self.page),
            parent_relevance: self.relevance,
            anchor: &found.anchor,
            referring_pages: 1,
            language: self.content.language,
            charset: self.content.charset,
            ..LinkFeatures::new(&found.url)
        };
        predict_weight(&clues, &self.rules).total
    }
}

/// Returns the changes for the sitemaps listed in a robots.txt. They get depth 1, because only operators add seeds.
fn sitemap_changes(
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

fn seed_change(
    scope: &mut CrawlScope,
    url: &PageUrl,
    at: Timestamp,
    hops: u32,
    origin: Option<String>,
) -> CatalogChange {
    let url = scope.canonical(url.clone());
    scope.add_site(url.site());
    CatalogChange::Seed { url, at, hops, origin, stale_before: scope.fresh_since() }
}

fn robots_change(record: &LibraryRecord, state: RobotsState, reason: Option<String>) -> CatalogChange {
    CatalogChange::Robots(RobotsFile { url: record.url.clone(), at: record.at, state, reason, before: None })
}

fn visited(record: &LibraryRecord, outcome: VisitOutcome, next_due: Option<Timestamp>) -> CatalogChange {
    CatalogChange::Visited { url: record.url.clone(), at: record.at, outcome, next_due }
}

/// Returns the target of a redirect response.
pub fn redirect_target(url: &PageUrl, response: &RawResponse) -> Option<PageUrl> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    url.join(response.header("Location")?).ok()
}

/// Returns the wait requested by an overloaded server, in seconds or until a date, within bounds.
pub(crate) fn retry_after(config: &CrawlConfig, at: Timestamp, response: &RawResponse) -> Option<Duration> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let requested = response.header("Retry-After").and_then(|text| retry_after_value(text.trim(), at));
    Some(requested.unwrap_or_default().min(MAX_REQUESTED_WAIT).max(config.retry_delay))
}

fn retry_after_value(text: &str, at: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::EPOCH.plus(date).since(at))
}

/// Returns the time of the next attempt after a failure, or `None` if there is none.
fn next_attempt(config: &CrawlConfig, at: Timestamp, attempt: u32) -> Option<Timestamp> {
    (attempt < config.max_attempts).then(|| at.plus(BackOff::PAGE.wait(config.retry_delay, attempt)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::config::LinkScope;
    use pharos_core::{LibraryPosition, LinkKind};
    use pharos_store::CrawlRules;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn stored(address: &str, depth: u32, hops: u32, content: RecordContent) -> StoredRecord {
        let position = LibraryPosition { file: 1, offset: 100 };
        let next = LibraryPosition { file: 1, offset: 200 };
        StoredRecord {
            position,
            next,
            record: LibraryRecord {
                depth,
                hops,
                attempt: 1,
                ..LibraryRecord::new(url(address), at(1000), content)
            },
        }
    }

    fn response(status: u16, headers: &[(&str, &str)], body: &str) -> RecordContent {
        let headers = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        RecordContent::Response(RawResponse { status, headers, body: body.into(), ..RawResponse::default() })
    }

    fn link(address: &str, anchor: &str) -> Link {
        Link { url: url(address), anchor: anchor.into(), kind: LinkKind::Page, rel: String::new() }
    }

    fn rules() -> CrawlRules {
        CrawlRules { scope: LinkScope::Host, max_depth: 2, max_redirects: 2, ..CrawlRules::default() }
    }

    /// A crawl of http://a.example/.
    fn scope() -> CrawlScope {
        let mut scope = CrawlScope::new(rules());
        scope.add_site(url("http://a.example/").site());
        scope
    }

    fn interpret(stored: &StoredRecord, summary: Option<PageSummary<'_>>) -> Vec<CatalogChange> {
        interpret_record(&mut scope(), &CrawlConfig::default(), stored, summary)
    }

    fn targets(changes: &[CatalogChange]) -> Vec<String> {
        let text = |change: &CatalogChange| match change {
            CatalogChange::Found(DiscoveredLink { url, depth, hops, .. }) => {
                Some(format!("found {url} {depth} {hops}"))
            }
            CatalogChange::Seed { url, hops, .. } => Some(format!("seed {url} {hops}")),
            _ => None,
        };
        changes.iter().filter_map(text).collect()
    }

    fn next_due(changes: &[CatalogChange]) -> Option<i64> {
        changes.iter().find_map(|c| match c {
            CatalogChange::Visited { next_due, .. } => next_due.map(Timestamp::seconds),
            _ => None,
        })
    }

    #[test]
    fn a_crawl_begins_with_its_rules_and_seeds() {
        let seeds = vec![url("http://b.example/x"), url("http://c.example/robots.txt")];
        let event = LibraryEvent::CrawlStarted { seeds, rules: CrawlRules { max_depth: 9, ..rules() } };
        let mut scope = scope();
        let record = stored("http://b.example/x", 0, 0, RecordContent::Event(event));
        let changes = interpret_record(&mut scope, &CrawlConfig::default(), &record, None);
        assert_eq!(changes[0], CatalogChange::Rules(CrawlRules { max_depth: 9, ..rules() }));
        assert_eq!(targets(&changes), ["seed http://b.example/x 0"]);
        assert_eq!(scope.rules().max_depth, 9);
        assert!(scope.contains(&url("http://b.example/y")) && !scope.contains(&url("http://c.example/y")));
    }

    #[test]
    fn an_operator_requests_a_page_or_a_site_again() {
        for whole_site in [false, true] {
            let request = stored(
                "http://a.example/x",
                0,
                0,
                RecordContent::Event(LibraryEvent::Recrawl { whole_site }),
            );
            let (url, at) = (url("http://a.example/x"), request.record.at);
            assert_eq!(interpret(&request, None), [CatalogChange::Recrawl { url, whole_site, at }]);
        }
    }

    #[test]
    fn a_robots_txt_is_rules_and_never_a_page() {
        let robots = |content| interpret(&stored("http://a.example/robots.txt", 0, 0, content), None);
        let state = |changes: Vec<CatalogChange>| match changes.as_slice() {
            [CatalogChange::Robots(file)] => file.state.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(state(robots(response(200, &[], "x"))), RobotsState::Known(b"x".to_vec()));
        assert_eq!(state(robots(response(404, &[], "x"))), RobotsState::Missing);
        assert_eq!(state(robots(response(500, &[], "x"))), RobotsState::Unreachable);
        let failed = LibraryEvent::Failed { reason: "connection refused".into() };
        assert_eq!(state(robots(RecordContent::Event(failed))), RobotsState::Unreachable);
        assert_eq!(robots(response(301, &[("Location", "http://b.example/robots.txt")], "")), []);
        assert_eq!(robots(RecordContent::Event(LibraryEvent::Refused { reason: "x".into() })), []);
    }

    #[test]
    fn links_in_scope_are_found_once_one_click_deeper() {
        let long = "灯".repeat(100);
        let links = [
            link("http://a.example/1", &long),
            link("http://a.example/1", "again"),
            link("http://b.example/", "elsewhere"),
            link("http://a.example/robots.txt", "rules"),
            link("http://a.example/", "itself"),
            link("https://a.example/2", "two"),
        ];
        let summary = PageSummary { links: &links, indexable: true, digest: 7, ..PageSummary::default() };
        let page = |depth, status| {
            interpret(&stored("http://a.example/", depth, 0, response(status, &[], "x")), Some(summary))
        };
        assert_eq!(targets(&page(0, 200)), ["found http://a.example/1 1 0", "found https://a.example/2 1 0"]);
        assert_eq!(targets(&page(1, 200)).len(), 2);
        assert!(targets(&page(2, 200)).is_empty(), "the maximum depth");
        assert!(targets(&page(u32::MAX, 200)).is_empty());
        assert!(targets(&page(0, 404)).is_empty());
        assert!(
            matches!(&page(0, 200)[1], CatalogChange::Found(DiscoveredLink { anchor, .. }) if anchor.len() == 198 && long.starts_with(anchor))
        );
        let outcome = |changes: Vec<CatalogChange>| match &changes[0] {
            CatalogChange::Visited {
                outcome: VisitOutcome::Responded(ResponseSummary { status, digest, indexable, position, .. }),
                ..
            } => (*status, *digest, *indexable, position.offset),
            other => panic!("{other:?}"),
        };
        assert_eq!(outcome(page(0, 200)), (200, 7, true, 100));
        assert_eq!(outcome(page(0, 404)), (404, 0, false, 100), "an error page is not indexable");
    }

    #[test]
    fn redirects_keep_the_depth_and_count_the_hops() {
        let redirect = |address: &str, depth, hops, location: &str| {
            targets(&interpret(
                &stored(address, depth, hops, response(302, &[("location", location)], "")),
                None,
            ))
        };
        assert_eq!(redirect("http://a.example/x", 1, 0, "/y"), ["found http://a.example/y 1 1"]);
        assert_eq!(redirect("http://a.example/x", 1, 1, "y?z"), ["found http://a.example/y?z 1 2"]);
        assert!(redirect("http://a.example/x", 1, 2, "/y").is_empty(), "too many in a row");
        assert!(redirect("http://a.example/x", 1, 0, "http://b.example/").is_empty(), "out of scope");
        assert!(redirect("http://a.example/x", 1, 0, "/robots.txt").is_empty());
        assert!(redirect("http://a.example/x", 0, 0, "/robots.txt").is_empty());
        for nonsense in ["", "mailto:a@b", "http://", "javascript:alert(1)"] {
            redirect("http://a.example/x", 1, 0, nonsense);
        }
        let answer = response(200, &[("Location", "/y")], "");
        assert!(
            targets(&interpret(&stored("http://a.example/", 0, 0, answer), None)).is_empty(),
            "not a redirect"
        );
    }

    #[test]
    fn a_seed_that_moved_takes_the_scope_along() {
        let mut scope = scope();
        let moved =
            stored("http://a.example/", 0, 0, response(301, &[("Location", "https://www.b.example/")], ""));
        let first = interpret_record(&mut scope, &CrawlConfig::default(), &moved, None);
        assert_eq!(targets(&first), ["seed https://www.b.example/ 1"]);
        assert!(scope.contains(&url("https://www.b.example/x")));
        let again =
            stored("https://www.b.example/", 0, 2, response(301, &[("Location", "http://c.example/")], ""));
        assert!(targets(&interpret_record(&mut scope, &CrawlConfig::default(), &again, None)).is_empty());
    }

    #[test]
    fn an_overloaded_server_is_retried_after_its_retry_after() {
        let due = |status, wait: &str| {
            next_due(&interpret(
                &stored("http://a.example/", 0, 0, response(status, &[("retry-after", wait)], "")),
                None,
            ))
        };
        assert_eq!(due(503, "120"), Some(1120));
        assert_eq!(due(429, "1"), Some(1060), "not before the retry delay");
        assert_eq!(due(503, "99999999999999"), Some(1000 + 86_400), "nor later than in a day");
        assert_eq!(due(503, "Thu, 01 Jan 1970 00:20:00 GMT"), Some(1200));
        assert_eq!(due(503, "Thu, 01 Jan 1960 00:20:00 GMT"), Some(1060));
        assert_eq!(due(503, "soon"), Some(1060));
        assert_eq!(due(500, "120"), Some(1060), "a fault of the server may pass, but it requested no wait");
        assert_eq!(due(404, "120"), None, "the page never existed");
        assert_eq!(due(410, "120"), None, "410 is final");
        assert_eq!(due(200, "120"), Some(1000 + 7 * 86_400), "visited again in a week");
    }

    #[test]
    fn a_server_that_never_recovers_is_given_up() {
        let mut record = stored("http://a.example/", 0, 0, response(503, &[], ""));
        let mut due = |attempt| {
            record.record.attempt = attempt;
            next_due(&interpret(&record, None))
        };
        assert_eq!((due(1), due(2), due(3)), (Some(1060), Some(1240), None));
    }

    #[test]
    fn failures_are_retried_with_growing_delays() {
        let due = |attempt| {
            let event = LibraryEvent::Failed { reason: "connection refused".into() };
            let mut record = stored("http://a.example/", 0, 0, RecordContent::Event(event));
            record.record.attempt = attempt;
            next_due(&interpret(&record, None))
        };
        assert_eq!((due(1), due(2), due(3), due(u32::MAX)), (Some(1060), Some(1240), None, None));
        let refused = LibraryEvent::Refused { reason: "robots.txt".into() };
        let changes = interpret(&stored("http://a.example/", 0, 0, RecordContent::Event(refused)), None);
        assert!(matches!(
            &changes[..],
            [CatalogChange::Visited { outcome: VisitOutcome::Refused { .. }, next_due: Some(_), .. }]
        ));
    }
}
