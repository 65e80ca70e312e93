//! Interprets a stored record: what it means for the catalog and for the index.
//!
//! **Input:** a record of the library, the analysis of its page, the crawl rules in force.
//! **Output:** an [`Interpretation`].
//!
//! The interpretation is a pure function, so that live operation, replay, import and rebuild give the same stores. Its
//! part that needs neither rules nor analysis is the [`RecordOutcome`], which suffices for batch computations over the
//! library (history build, doctor). The meaning of an HTTP status is defined in [`status`] and nowhere else.

pub mod discovery;
pub mod guide_words;
pub mod link_filter;
mod outcome;
pub mod page_list;
pub mod refresh;
pub mod robots;
pub mod schedule;
pub mod scope;
pub mod seen_set;
pub mod status;
pub mod weight;
mod wildcard;

use pharos_core::config::CrawlConfig;
use pharos_core::{Link, PageId, PageObject, PageUrl, SiteName, Timestamp};

pub use self::discovery::redirect_target;
use self::discovery::{
    PageWeights, announced_changes, discover_links, icon_change, redirect_change, seed_change,
    sitemap_changes,
};
pub use self::outcome::RecordOutcome;
use self::page_list::{AdmittedList, PageList, admit_list};
use self::refresh::RefreshClass;
use self::robots::{robots_state, unreachable_reason};
use self::schedule::{next_attempt, next_late_attempt, schedule_next_visit};
pub use self::scope::CrawlScope;
use self::status::{StatusMeaning, is_whole_page};
use crate::catalog::{
    CatalogChange, Removal, ResponseSummary, RobotsFile, RobotsState, Validators, VisitOutcome,
};
use crate::{LibraryEvent, LibraryRecord, RawResponse, RecordContent, RecordKind, StoredRecord};

/// Longer `ETag` and `Last-Modified` values are not stored, in bytes.
const MAX_VALIDATOR: usize = 256;

/// The analysis of a page, as far as its interpretation needs it.
#[derive(Clone, Debug, Default)]
pub struct PageSummary {
    pub page: PageObject,
    /// Links to follow, without `nofollow` links.
    pub links: Vec<Link>,
    /// The entries, if the page is a sitemap or a feed.
    pub list: Option<PageList>,
    pub class: RefreshClass,
    /// Hash of the body.
    pub digest: u64,
    /// Hash of the cleaned text; 0 if there is none.
    pub text: u64,
    /// Why the analysis was abandoned, if it was. The page is empty then.
    pub quarantine: Option<String>,
}

/// The meaning of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpretation {
    /// Changes of the catalog, in order.
    pub catalog: Vec<CatalogChange>,
    pub index: IndexEffect,
    pub outcome: RecordOutcome,
}

/// The effect of a record on the index, unless the page has newer content.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexEffect {
    /// The index stays as it is.
    Keep,
    /// The version of the record replaces the page in the index.
    Replace,
    /// Pages leave the index.
    Remove(RemovedPages),
}

/// Pages that leave the index.
#[derive(Clone, Debug, PartialEq)]
pub enum RemovedPages {
    Page(PageId),
    Site(SiteName),
    /// All pages of a mirror, which has this home page.
    Mirror(PageUrl),
}

/// Returns `true` if a page can be searched: it may be indexed, and has a title or text.
pub fn is_searchable(page: &PageObject) -> bool {
    !page.no_index() && (!page.text.is_empty() || !page.title.is_empty())
}

/// Interprets a record. `scope` is updated with new rules, seed sites and mirrors.
///
/// Before a sitemap or feed is interpreted, all earlier records must be applied and the state of its site be set
/// ([`CrawlScope::set_list_state`]); otherwise its site counts as new.
///
/// `summary` is the analysis of a successful response. The content of a revisit must have been read: without it the
/// index stays as it is.
pub fn interpret(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    stored: &StoredRecord,
    summary: Option<&PageSummary>,
) -> Interpretation {
    let outcome = RecordOutcome::from_record(&stored.record);
    let summary = summary.filter(|_| outcome == RecordOutcome::Settled(StatusMeaning::Content));
    let catalog = catalog_changes(scope, config, stored, &outcome, summary);
    let index = index_effect(scope, &stored.record, &outcome, summary);
    Interpretation { catalog, index, outcome }
}

fn index_effect(
    scope: &CrawlScope,
    record: &LibraryRecord,
    outcome: &RecordOutcome,
    summary: Option<&PageSummary>,
) -> IndexEffect {
    match outcome {
        // Pages of a mirror are not indexed.
        RecordOutcome::Settled(_) if scope.is_mirror(&record.url) => IndexEffect::Keep,
        // The content could not be read.
        RecordOutcome::Settled(_) if matches!(record.content, RecordContent::Revisit(_)) => IndexEffect::Keep,
        RecordOutcome::Settled(_) if summary.is_some_and(|summary| is_searchable(&summary.page)) => {
            IndexEffect::Replace
        }
        // Missing, moved, not searchable, forbidden: an earlier version must leave the index.
        RecordOutcome::Settled(_) | RecordOutcome::Refused | RecordOutcome::Deleted => {
            IndexEffect::Remove(RemovedPages::Page(record.url.id()))
        }
        RecordOutcome::Removed(Removal::Page(url)) => IndexEffect::Remove(RemovedPages::Page(url.id())),
        RecordOutcome::Removed(Removal::Site(site)) => IndexEffect::Remove(RemovedPages::Site(site.clone())),
        RecordOutcome::Mirror => IndexEffect::Remove(RemovedPages::Mirror(record.url.clone())),
        RecordOutcome::Inconclusive(_)
        | RecordOutcome::Dropped(_)
        | RecordOutcome::Failed
        | RecordOutcome::Robots
        | RecordOutcome::Decision => IndexEffect::Keep,
    }
}

fn catalog_changes(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    stored: &StoredRecord,
    outcome: &RecordOutcome,
    summary: Option<&PageSummary>,
) -> Vec<CatalogChange> {
    let record = &stored.record;
    match &record.content {
        _ if record.kind == RecordKind::Robots => robots_changes(scope, config, record),
        RecordContent::Response(response) => {
            response_changes(scope, config, stored, response, outcome, summary)
        }
        RecordContent::Revisit(revisit) => {
            let response = RawResponse { status: revisit.status, ..RawResponse::default() };
            response_changes(scope, config, stored, &response, outcome, summary)
        }
        RecordContent::Event(event) => event_changes(scope, config, stored, event, outcome),
    }
}

/// Returns the changes of an event that does not concern a robots.txt.
fn event_changes(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    stored: &StoredRecord,
    event: &LibraryEvent,
    outcome: &RecordOutcome,
) -> Vec<CatalogChange> {
    let record = &stored.record;
    let (url, at) = (record.url.clone(), record.at);
    match event {
        LibraryEvent::CrawlStarted { seeds, rules } => {
            scope.set_rules(rules.clone());
            let mut changes = vec![CatalogChange::Rules(rules.clone())];
            changes.extend(seeds.iter().filter_map(|seed| seed_change(scope, seed, at, 0, None)));
            changes
        }
        LibraryEvent::Failed { reason } => {
            let failed = VisitOutcome::Failed { reason: reason.clone(), attempt: record.attempt };
            let due = next_attempt(config, at, record.attempt).or_else(|| next_late_attempt(config, record));
            vec![visited(record, failed, due)]
        }
        LibraryEvent::Refused { reason } => {
            // Rules change, and checking them again costs no request.
            let due = (!config.refresh.is_zero()).then(|| at.plus(config.refresh));
            vec![visited(record, VisitOutcome::Refused { reason: reason.clone() }, due)]
        }
        LibraryEvent::Removed { what } => vec![CatalogChange::Removed(what.clone())],
        LibraryEvent::Deleted => vec![CatalogChange::Deleted { url, at }],
        // Only the fact that such a version existed is left.
        LibraryEvent::Dropped { status, digest } => {
            let version = ResponseSummary {
                status: *status,
                inconclusive: is_inconclusive(outcome, record),
                position: stored.position,
                digest: *digest,
                ..ResponseSummary::default()
            };
            vec![visited(record, VisitOutcome::Responded(version), None)]
        }
        LibraryEvent::Alias { of } => {
            scope.add_alias(&url, of);
            vec![CatalogChange::Alias { home: url, of: of.clone() }]
        }
        LibraryEvent::Recrawl { whole_site } => {
            vec![CatalogChange::Recrawl { url, whole_site: *whole_site, at }]
        }
        LibraryEvent::Announced { pages } => announced_changes(scope, pages, at),
        LibraryEvent::Submitted => vec![CatalogChange::Submitted { url, at }],
        LibraryEvent::Decided { accepted } => {
            let seed = accepted.then(|| seed_change(scope, &url, at, 0, None)).flatten();
            let decided = CatalogChange::Decided { url, at, accepted: *accepted };
            std::iter::once(decided).chain(seed).collect()
        }
    }
}

/// Returns the changes of a record about a robots.txt.
fn robots_changes(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    record: &LibraryRecord,
) -> Vec<CatalogChange> {
    let change = |state, reason| {
        let (url, at) = (record.url.clone(), record.at);
        CatalogChange::Robots(RobotsFile { url, at, state, reason, before: None })
    };
    match &record.content {
        RecordContent::Response(response) => {
            let Some(state) = robots_state(response, config.robots_forbidden_is_allowed) else {
                return Vec::new();
            };
            let mut changes = sitemap_changes(scope, config, record, &state);
            changes.extend(icon_change(scope, config, record, &state));
            let is_unreachable = state == RobotsState::Unreachable;
            changes.push(change(state, is_unreachable.then(|| unreachable_reason(response))));
            changes
        }
        RecordContent::Event(LibraryEvent::Failed { reason }) => {
            vec![change(RobotsState::Unreachable, Some(reason.clone()))]
        }
        RecordContent::Revisit(_) | RecordContent::Event(_) => Vec::new(),
    }
}

/// Returns the changes of a response: the visit itself and the URLs it leads to.
fn response_changes(
    scope: &mut CrawlScope,
    config: &CrawlConfig,
    stored: &StoredRecord,
    response: &RawResponse,
    outcome: &RecordOutcome,
    summary: Option<&PageSummary>,
) -> Vec<CatalogChange> {
    let record = &stored.record;
    let nothing = PageSummary::default();
    let indexable = summary.is_some_and(|summary| is_searchable(&summary.page));
    let summary = summary.unwrap_or(&nothing);
    let weights = PageWeights::for_page(config, scope, record, summary);
    let mut discovered = Vec::new();
    // An icon elsewhere is not recognised as one, and would be taken for a page.
    let target = redirect_target(&record.url, response).filter(|_| record.kind != RecordKind::Icon);
    if let Some(target) = target {
        discovered.extend(redirect_change(scope, record, target));
    }
    let shortest = config.refresh_at_most_every;
    let list =
        summary.list.as_ref().map_or_else(AdmittedList::default, |list| admit_list(scope, record, list));
    let (found, links) = discover_links(scope, stored, summary, &list, weights.as_ref(), shortest);
    discovered.extend(found);
    discovered.extend(list.changes);
    let next = schedule_next_visit(config, record, response, summary.class);
    let version = ResponseSummary {
        status: response.status,
        is_live: record.attempt > 0,
        inconclusive: is_inconclusive(outcome, record),
        position: stored.position,
        digest: summary.digest,
        text: summary.text,
        indexable,
        attempts: next.attempts,
        weight: weights.map_or(0, |weights| weights.page),
        links,
        refresh: next.refresh,
        validators: validators(response),
        quarantine: summary.quarantine.clone(),
    };
    let mut changes = vec![visited(record, VisitOutcome::Responded(version), next.due)];
    if let Some(wait) = next.site_back_off {
        let (site, at) = (record.url.site(), record.at);
        changes.push(CatalogChange::BackOff { site, at, until: at.plus(wait) });
    }
    changes.extend(discovered);
    changes
}

/// Returns `true` if the page is what it was before the version of a record.
fn is_inconclusive(outcome: &RecordOutcome, record: &LibraryRecord) -> bool {
    outcome.version().is_some_and(|meaning| !meaning.settles(record.is_refetch))
}

/// Returns the validators of a response for conditional requests, if they are short enough.
fn validators(response: &RawResponse) -> Validators {
    let field =
        |name| response.header(name).map(str::trim).filter(|v| !v.is_empty() && v.len() <= MAX_VALIDATOR);
    if !is_whole_page(response.status) || response.truncated.is_some() {
        return Validators::default();
    }
    Validators {
        etag: field("ETag").map(str::to_string),
        last_modified: field("Last-Modified").map(str::to_string),
    }
}

fn visited(record: &LibraryRecord, outcome: VisitOutcome, next_due: Option<Timestamp>) -> CatalogChange {
    CatalogChange::Visited { url: record.url.clone(), at: record.at, outcome, next_due }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CrawlRules;
    use crate::catalog::DiscoveredLink;
    use pharos_core::config::LinkScope;
    use pharos_core::{LibraryPosition, LinkKind};

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn stored(address: &str, depth: u32, hops: u32, content: RecordContent) -> StoredRecord {
        let position = LibraryPosition::new(1, 100);
        let next = LibraryPosition::new(1, 200);
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

    fn changes_of(stored: &StoredRecord, summary: Option<&PageSummary>) -> Vec<CatalogChange> {
        interpret(&mut scope(), &CrawlConfig::default(), stored, summary).catalog
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
        let changes = interpret(&mut scope, &CrawlConfig::default(), &record, None).catalog;
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
            assert_eq!(changes_of(&request, None), [CatalogChange::Recrawl { url, whole_site, at }]);
        }
    }

    #[test]
    fn a_robots_txt_is_rules_and_never_a_page() {
        let robots = |content| changes_of(&stored("http://a.example/robots.txt", 0, 0, content), None);
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
    fn the_icon_of_a_site_is_found_with_its_robots_txt_if_it_is_wanted() {
        let config = CrawlConfig { icons: true, ..CrawlConfig::default() };
        let found = |config: &CrawlConfig, scope: &mut CrawlScope, status, path: &str, location: &str| {
            let content = response(status, &[("Location", location)], "");
            let record = stored(&format!("http://a.example{path}"), 0, 0, content);
            targets(&interpret(scope, config, &record, None).catalog)
        };
        for status in [200, 404] {
            let icon = found(&config, &mut scope(), status, "/robots.txt", "");
            assert_eq!(icon, ["found http://a.example/favicon.ico 1 0"], "{status}");
        }
        assert!(found(&config, &mut scope(), 503, "/robots.txt", "").is_empty(), "nothing may be fetched");
        assert!(found(&CrawlConfig::default(), &mut scope(), 200, "/robots.txt", "").is_empty());
        let exclude = vec!["*.ico".into()];
        let mut excluding = CrawlScope::new(CrawlRules { exclude, ..rules() });
        excluding.add_site(url("http://a.example/").site());
        assert!(found(&config, &mut excluding, 200, "/robots.txt", "").is_empty(), "a rule forbids it");
        assert!(found(&config, &mut scope(), 301, "/favicon.ico", "/logo.png").is_empty());
        assert_eq!(found(&config, &mut scope(), 301, "/a", "/b"), ["seed http://a.example/b 1"]);
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
        let page = PageObject { title: "Lamps".into(), ..PageObject::default() };
        let summary = PageSummary { page, links: links.to_vec(), digest: 7, ..PageSummary::default() };
        let page = |depth, status| {
            changes_of(&stored("http://a.example/", depth, 0, response(status, &[], "x")), Some(&summary))
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
            targets(&changes_of(
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
            targets(&changes_of(&stored("http://a.example/", 0, 0, answer), None)).is_empty(),
            "not a redirect"
        );
    }

    #[test]
    fn a_seed_that_moved_takes_the_scope_along() {
        let mut scope = scope();
        let moved =
            stored("http://a.example/", 0, 0, response(301, &[("Location", "https://www.b.example/")], ""));
        let first = interpret(&mut scope, &CrawlConfig::default(), &moved, None).catalog;
        assert_eq!(targets(&first), ["seed https://www.b.example/ 1"]);
        assert!(scope.contains(&url("https://www.b.example/x")));
        let again =
            stored("https://www.b.example/", 0, 2, response(301, &[("Location", "http://c.example/")], ""));
        let again = interpret(&mut scope, &CrawlConfig::default(), &again, None).catalog;
        assert!(targets(&again).is_empty());
    }

    #[test]
    fn an_overloaded_server_is_retried_after_its_retry_after() {
        let due = |status, wait: &str| {
            next_due(&changes_of(
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
        let due = |depth, attempt| {
            let mut record = stored("http://a.example/", depth, 0, response(503, &[], ""));
            record.record.attempt = attempt;
            next_due(&changes_of(&record, None))
        };
        assert_eq!((due(1, 1), due(1, 2), due(1, 3)), (Some(1060), Some(1240), None));
        assert_eq!(due(0, 3), Some(1000 + 3600), "a seed is tried again");
    }

    #[test]
    fn failures_are_retried_with_growing_delays() {
        let due_at = |depth, attempt| {
            let event = LibraryEvent::Failed { reason: "connection refused".into() };
            let mut record = stored("http://a.example/", depth, 0, RecordContent::Event(event));
            record.record.attempt = attempt;
            next_due(&changes_of(&record, None))
        };
        let due = |attempt| due_at(1, attempt);
        assert_eq!((due(1), due(2), due(3), due(u32::MAX)), (Some(1060), Some(1240), None, None));
        let seed = |attempt| due_at(0, attempt);
        assert_eq!((seed(2), seed(3), seed(4)), (Some(1240), Some(1000 + 3600), Some(1000 + 4 * 3600)));
        assert_eq!(seed(u32::MAX), Some(1000 + 86_400), "a seed is never given up");
        let refused = LibraryEvent::Refused { reason: "robots.txt".into() };
        let changes = changes_of(&stored("http://a.example/", 0, 0, RecordContent::Event(refused)), None);
        assert!(matches!(
            &changes[..],
            [CatalogChange::Visited { outcome: VisitOutcome::Refused { .. }, next_due: Some(_), .. }]
        ));
    }
}
