//! What one stored record means for the catalog. Pure: the same live and when the library is replayed.

use std::collections::HashSet;
use std::time::{Duration, UNIX_EPOCH};

use pharos_core::config::CrawlConfig;
use pharos_core::{Link, PageUrl, Timestamp};
use pharos_store::{
    Change, Content, Event, Outcome, Record, Response, RobotsFile, RobotsState, StoredRecord,
};

use crate::robots::{is_robots_txt, robots_state};
use crate::scope::Scoping;

/// Longer anchors are cut here, in bytes.
const MAX_ANCHOR: usize = 200;
/// No server puts us off for longer.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);

/// What the rooms above found in a page.
#[derive(Clone, Copy, Debug)]
pub struct PageFacts<'a> {
    /// The links to follow; those that say `nofollow` are gone already.
    pub links: &'a [Link],
    /// Whether the page is to be found by searching.
    pub indexable: bool,
    /// A hash of its content.
    pub digest: u64,
}

/// What a record changes in the catalog. `scoping` learns of new rules and seed sites on the way.
pub fn changes(
    scoping: &mut Scoping,
    config: &CrawlConfig,
    stored: &StoredRecord,
    facts: Option<PageFacts<'_>>,
) -> Vec<Change> {
    let record = &stored.record;
    match &record.content {
        Content::Event(Event::CrawlStarted { seeds, rules }) => {
            scoping.set_rules(rules.clone());
            let mut changes = vec![Change::Rules(rules.clone())];
            // A robots.txt is never a page, so nothing would ever come of such a seed.
            changes.extend(
                seeds
                    .iter()
                    .filter(|seed| !is_robots_txt(seed))
                    .map(|seed| seed_change(scoping, seed, record.at, 0, None)),
            );
            changes
        }
        Content::Response(response) if is_robots_txt(&record.url) => {
            robots_state(response).map(|state| robots_change(record, state)).into_iter().collect()
        }
        Content::Event(Event::Failed { .. }) if is_robots_txt(&record.url) => {
            vec![robots_change(record, RobotsState::Unreachable)]
        }
        Content::Event(Event::Refused { .. }) if is_robots_txt(&record.url) => Vec::new(),
        Content::Response(response) => answered(scoping, config, stored, response, facts),
        Content::Revisit(revisit) => {
            let response = Response { status: revisit.status, ..Response::default() };
            answered(scoping, config, stored, &response, facts)
        }
        Content::Event(Event::Failed { reason }) => {
            let outcome = Outcome::Failed { reason: reason.clone(), attempt: record.attempt };
            vec![visited(record, outcome, retry_at(config, record.at, record.attempt))]
        }
        Content::Event(Event::Refused { reason }) => {
            vec![visited(record, Outcome::Refused { reason: reason.clone() }, None)]
        }
        Content::Event(Event::Removed { what }) => vec![Change::Removed(what.clone())],
        Content::Event(Event::Deleted) => {
            vec![Change::Deleted { url: record.url.clone(), at: record.at }]
        }
        // That there was such a version is all that is left of it.
        Content::Event(Event::Dropped { .. }) if is_robots_txt(&record.url) => Vec::new(),
        Content::Event(Event::Dropped { status, digest }) => {
            let (status, digest, position) = (*status, *digest, stored.position);
            let outcome = Outcome::Answered { status, position, digest, indexable: false, attempts: 0 };
            vec![visited(record, outcome, None)]
        }
    }
}

/// The page itself, and where it leads.
fn answered(
    scoping: &mut Scoping,
    config: &CrawlConfig,
    stored: &StoredRecord,
    response: &Response,
    facts: Option<PageFacts<'_>>,
) -> Vec<Change> {
    let record = &stored.record;
    let facts = facts.filter(|_| (200..300).contains(&response.status));
    // Overload and faults of the server may pass; everything else settles the matter.
    let unsettled = matches!(response.status, 429 | 500..);
    let outcome = Outcome::Answered {
        status: response.status,
        position: stored.position,
        digest: facts.map_or(0, |f| f.digest),
        indexable: facts.is_some_and(|f| f.indexable),
        attempts: if unsettled { record.attempt } else { 0 },
    };
    let next_due = if unsettled { retry_at(config, record.at, record.attempt) } else { None };
    // A server that says when to come back is believed, where that is later.
    let asked = retry_after(config, record.at, response).map(|wait| record.at.plus(wait));
    let next_due = next_due.map(|due| asked.map_or(due, |asked| due.max(asked)));
    let mut changes = vec![visited(record, outcome, next_due)];
    if let Some(target) = redirect_target(&record.url, response) {
        changes.extend(redirected(scoping, record, target));
    }
    if let Some(facts) = facts {
        changes.extend(found(scoping, record, facts.links));
    }
    changes
}

/// A seed that moved is still the operator's seed, wherever it went; any other page must stay in scope. An import asks
/// for nothing, so what it brings is no seed.
fn redirected(scoping: &mut Scoping, record: &Record, target: PageUrl) -> Option<Change> {
    if record.hops >= scoping.rules().max_redirects || is_robots_txt(&target) {
        return None;
    }
    let hops = record.hops + 1;
    let origin = Some(record.origin.clone().unwrap_or_else(|| record.url.as_str().to_string()));
    if record.depth == 0 && record.attempt > 0 {
        return Some(seed_change(scoping, &target, record.at, hops, origin));
    }
    scoping.contains(&target).then(|| Change::Found {
        url: target,
        depth: record.depth,
        hops,
        origin,
        anchor: String::new(),
        at: record.at,
    })
}

fn found(scoping: &Scoping, record: &Record, links: &[Link]) -> Vec<Change> {
    let depth = record.depth.saturating_add(1);
    if depth > scoping.rules().max_depth {
        return Vec::new();
    }
    let mut seen = HashSet::from([record.url.id()]);
    links
        .iter()
        .filter(|link| scoping.contains(&link.url) && seen.insert(link.url.id()))
        .map(|link| Change::Found {
            url: link.url.clone(),
            depth,
            hops: 0,
            origin: None,
            anchor: link.anchor[..link.anchor.floor_char_boundary(MAX_ANCHOR)].to_string(),
            at: record.at,
        })
        .collect()
}

fn seed_change(
    scoping: &mut Scoping,
    url: &PageUrl,
    at: Timestamp,
    hops: u32,
    origin: Option<String>,
) -> Change {
    scoping.add_site(url.site());
    Change::Seed { url: url.clone(), at, hops, origin }
}

fn robots_change(record: &Record, state: RobotsState) -> Change {
    Change::Robots(RobotsFile { url: record.url.clone(), at: record.at, state })
}

fn visited(record: &Record, outcome: Outcome, next_due: Option<Timestamp>) -> Change {
    Change::Visited { url: record.url.clone(), at: record.at, outcome, next_due }
}

/// Where an answer sends us on to.
pub(crate) fn redirect_target(url: &PageUrl, response: &Response) -> Option<PageUrl> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    url.join(response.header("Location")?).ok()
}

/// How long a server that is overloaded asks us to wait: in seconds or until a date, within reason.
pub(crate) fn retry_after(config: &CrawlConfig, at: Timestamp, response: &Response) -> Option<Duration> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let asked = response.header("Retry-After").and_then(|text| retry_after_value(text.trim(), at));
    Some(asked.unwrap_or_default().min(MAX_RETRY_AFTER).max(config.retry_delay))
}

fn retry_after_value(text: &str, at: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::EPOCH.plus(date).since(at))
}

/// When a page that gave no answer is tried again, if at all.
fn retry_at(config: &CrawlConfig, at: Timestamp, attempt: u32) -> Option<Timestamp> {
    (attempt < config.max_attempts).then(|| at.plus(backoff(config.retry_delay, attempt)))
}

/// The first delay, and four times longer for each further try; a day at most.
pub(crate) fn backoff(first: Duration, attempt: u32) -> Duration {
    let longer = 4u32.saturating_pow(attempt.saturating_sub(1));
    first.saturating_mul(longer).min(MAX_RETRY_AFTER.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::config::Scope;
    use pharos_core::{LibraryPosition, LinkKind};
    use pharos_store::CrawlRules;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn stored(address: &str, depth: u32, hops: u32, content: Content) -> StoredRecord {
        let position = LibraryPosition { file: 1, offset: 100 };
        let next = LibraryPosition { file: 1, offset: 200 };
        StoredRecord {
            position,
            next,
            record: Record { depth, hops, attempt: 1, ..Record::new(url(address), at(1000), content) },
        }
    }

    fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Content {
        let headers = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        Content::Response(Response { status, headers, body: body.into(), ..Response::default() })
    }

    fn link(address: &str, anchor: &str) -> Link {
        Link { url: url(address), anchor: anchor.into(), kind: LinkKind::Page, rel: String::new() }
    }

    fn rules() -> CrawlRules {
        CrawlRules { scope: Scope::Host, max_depth: 2, max_redirects: 2 }
    }

    /// A crawl of http://a.example/.
    fn scoping() -> Scoping {
        let mut scoping = Scoping::new(rules());
        scoping.add_site(url("http://a.example/").site());
        scoping
    }

    fn of(stored: &StoredRecord, facts: Option<PageFacts<'_>>) -> Vec<Change> {
        changes(&mut scoping(), &CrawlConfig::default(), stored, facts)
    }

    fn targets(changes: &[Change]) -> Vec<String> {
        let text = |change: &Change| match change {
            Change::Found { url, depth, hops, .. } => Some(format!("found {url} {depth} {hops}")),
            Change::Seed { url, hops, .. } => Some(format!("seed {url} {hops}")),
            _ => None,
        };
        changes.iter().filter_map(text).collect()
    }

    fn next_due(changes: &[Change]) -> Option<i64> {
        changes.iter().find_map(|c| match c {
            Change::Visited { next_due, .. } => next_due.map(Timestamp::seconds),
            _ => None,
        })
    }

    #[test]
    fn a_crawl_begins_with_its_rules_and_seeds() {
        let seeds = vec![url("http://b.example/x"), url("http://c.example/robots.txt")];
        let event = Event::CrawlStarted { seeds, rules: CrawlRules { max_depth: 9, ..rules() } };
        let mut scoping = scoping();
        let record = stored("http://b.example/x", 0, 0, Content::Event(event));
        let changes = changes(&mut scoping, &CrawlConfig::default(), &record, None);
        assert_eq!(changes[0], Change::Rules(CrawlRules { max_depth: 9, ..rules() }));
        assert_eq!(targets(&changes), ["seed http://b.example/x 0"]);
        assert_eq!(scoping.rules().max_depth, 9);
        assert!(
            scoping.contains(&url("http://b.example/y")) && !scoping.contains(&url("http://c.example/y"))
        );
    }

    #[test]
    fn a_robots_txt_is_rules_and_never_a_page() {
        let robots = |content| of(&stored("http://a.example/robots.txt", 0, 0, content), None);
        let state = |changes: Vec<Change>| match changes.as_slice() {
            [Change::Robots(file)] => file.state.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(state(robots(response(200, &[], "x"))), RobotsState::Known(b"x".to_vec()));
        assert_eq!(state(robots(response(404, &[], "x"))), RobotsState::Missing);
        assert_eq!(state(robots(response(500, &[], "x"))), RobotsState::Unreachable);
        let failed = Event::Failed { reason: "connection refused".into() };
        assert_eq!(state(robots(Content::Event(failed))), RobotsState::Unreachable);
        assert_eq!(robots(response(301, &[("Location", "http://b.example/robots.txt")], "")), []);
        assert_eq!(robots(Content::Event(Event::Refused { reason: "x".into() })), []);
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
        let facts = PageFacts { links: &links, indexable: true, digest: 7 };
        let page = |depth, status| {
            of(&stored("http://a.example/", depth, 0, response(status, &[], "x")), Some(facts))
        };
        assert_eq!(targets(&page(0, 200)), ["found http://a.example/1 1 0", "found https://a.example/2 1 0"]);
        assert_eq!(targets(&page(1, 200)).len(), 2);
        assert!(targets(&page(2, 200)).is_empty(), "as deep as it goes");
        assert!(targets(&page(u32::MAX, 200)).is_empty());
        assert!(targets(&page(0, 404)).is_empty());
        assert!(
            matches!(&page(0, 200)[1], Change::Found { anchor, .. } if anchor.len() == 198 && long.starts_with(anchor))
        );
        let outcome = |changes: Vec<Change>| match &changes[0] {
            Change::Visited {
                outcome: Outcome::Answered { status, digest, indexable, position, attempts: 0 },
                next_due: None,
                ..
            } => (*status, *digest, *indexable, position.offset),
            other => panic!("{other:?}"),
        };
        assert_eq!(outcome(page(0, 200)), (200, 7, true, 100));
        assert_eq!(outcome(page(0, 404)), (404, 0, false, 100), "an error page is not to be found");
    }

    #[test]
    fn redirects_keep_the_depth_and_count_the_hops() {
        let redirect = |address: &str, depth, hops, location: &str| {
            targets(&of(&stored(address, depth, hops, response(302, &[("location", location)], "")), None))
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
        assert!(targets(&of(&stored("http://a.example/", 0, 0, answer), None)).is_empty(), "not a redirect");
    }

    #[test]
    fn a_seed_that_moved_takes_the_scope_along() {
        let mut scoping = scoping();
        let moved =
            stored("http://a.example/", 0, 0, response(301, &[("Location", "https://www.b.example/")], ""));
        let first = changes(&mut scoping, &CrawlConfig::default(), &moved, None);
        assert_eq!(targets(&first), ["seed https://www.b.example/ 1"]);
        assert!(scoping.contains(&url("https://www.b.example/x")));
        let again =
            stored("https://www.b.example/", 0, 2, response(301, &[("Location", "http://c.example/")], ""));
        assert!(targets(&changes(&mut scoping, &CrawlConfig::default(), &again, None)).is_empty());
    }

    #[test]
    fn an_overloaded_server_is_asked_again_when_it_says() {
        let due = |status, wait: &str| {
            next_due(&of(
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
        assert_eq!(
            due(500, "120"),
            Some(1060),
            "a fault of the server may pass, but it did not ask for patience"
        );
        assert_eq!(due(404, "120"), None);
    }

    #[test]
    fn a_server_that_never_recovers_is_given_up() {
        let mut record = stored("http://a.example/", 0, 0, response(503, &[], ""));
        let mut due = |attempt| {
            record.record.attempt = attempt;
            next_due(&of(&record, None))
        };
        assert_eq!((due(1), due(2), due(3)), (Some(1060), Some(1240), None));
    }

    #[test]
    fn a_failure_is_tried_again_ever_later() {
        let due = |attempt| {
            let event = Event::Failed { reason: "connection refused".into() };
            let mut record = stored("http://a.example/", 0, 0, Content::Event(event));
            record.record.attempt = attempt;
            next_due(&of(&record, None))
        };
        assert_eq!((due(1), due(2), due(3), due(u32::MAX)), (Some(1060), Some(1240), None, None));
        assert_eq!(backoff(Duration::from_secs(60), u32::MAX), MAX_RETRY_AFTER);
        let refused = Event::Refused { reason: "robots.txt".into() };
        let changes = of(&stored("http://a.example/", 0, 0, Content::Event(refused)), None);
        assert!(matches!(
            &changes[..],
            [Change::Visited { outcome: Outcome::Refused { .. }, next_due: None, .. }]
        ));
    }
}
