//! What one stored record means for the catalog. Pure: the same live and when the library is replayed.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, UNIX_EPOCH};

use pharos_core::config::{CrawlConfig, StrategyName};
use pharos_core::{Link, PageUrl, Timestamp};
use pharos_store::{
    Answered, Change, Content, Event, Found, Outcome, Record, Response, RobotsFile, RobotsState,
    StoredRecord, Validators,
};

use crate::frontier::weight::{AddedBy, Clues, PageEvidence, WeightRules, predicted, true_weight};
use crate::guide_words;
use crate::politeness::MAX_ASKED_WAIT;
use crate::refresh::{self, PageKind, RefreshPolicy as _, Visit};
use crate::robots::{Robots, is_robots_txt, robots_state};
use crate::scope::Scoping;
use crate::seen::Sight;

/// Longer anchors are cut here, in bytes.
const MAX_ANCHOR: usize = 200;
/// Directories above a page that are tried.
const MAX_PARENTS: usize = 16;
/// A longer `ETag` or `Last-Modified` is not worth keeping, in bytes.
const MAX_VALIDATOR: usize = 256;

/// What the rooms above found in a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFacts<'a> {
    /// The links to follow; those that say `nofollow` are gone already.
    pub links: &'a [Link],
    /// What a sitemap or a feed lists, with the moment of the last change where it tells.
    pub listed: &'a [(PageUrl, Option<Timestamp>)],
    /// What kind of page it is.
    pub kind: PageKind,
    /// Whether the page is to be found by searching.
    pub indexable: bool,
    /// A hash of its content as it came.
    pub digest: u64,
    /// A hash of the text that is left when it is cleaned; 0 where there is none.
    pub text: u64,
    /// Its title, its text, its language and its charset, for those who weigh it.
    pub says: Says<'a>,
}

/// What a page says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Says<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its language; empty where unknown.
    pub language: &'a str,
    /// Its charset; empty where unknown.
    pub charset: &'a str,
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
            match robots_state(response, config.robots_forbidden_is_allowed) {
                None => Vec::new(),
                Some(state) => {
                    let mut changes = sitemaps(scoping, config, record, &state);
                    let unreachable = state == RobotsState::Unreachable;
                    let reason = unreachable.then(|| format!("status {}", response.status));
                    changes.push(robots_change(record, state, reason));
                    changes
                }
            }
        }
        Content::Event(Event::Failed { reason }) if is_robots_txt(&record.url) => {
            vec![robots_change(record, RobotsState::Unreachable, Some(reason.clone()))]
        }
        Content::Event(Event::Refused { .. }) if is_robots_txt(&record.url) => Vec::new(),
        Content::Response(response) => answered(scoping, config, stored, response, facts),
        Content::Revisit(revisit) => {
            let response = Response { status: revisit.status, ..Response::default() };
            answered(scoping, config, stored, &response, facts)
        }
        Content::Event(Event::Failed { reason }) => {
            let outcome = Outcome::Failed { reason: reason.clone(), attempt: record.attempt };
            let due = retry_at(config, record.at, record.attempt).or_else(|| later(config, record));
            vec![visited(record, outcome, due)]
        }
        Content::Event(Event::Refused { reason }) => {
            // Rules change, and looking at them again costs nobody anything.
            let due = (!config.refresh.is_zero()).then(|| record.at.plus(config.refresh));
            vec![visited(record, Outcome::Refused { reason: reason.clone() }, due)]
        }
        Content::Event(Event::Removed { what }) => vec![Change::Removed(what.clone())],
        Content::Event(Event::Deleted) => {
            vec![Change::Deleted { url: record.url.clone(), at: record.at }]
        }
        // That there was such a version is all that is left of it.
        Content::Event(Event::Dropped { .. }) if is_robots_txt(&record.url) => Vec::new(),
        Content::Event(Event::Dropped { status, digest }) => {
            let (status, digest, position) = (*status, *digest, stored.position);
            let answered = Answered { status, position, digest, ..Answered::default() };
            vec![visited(record, Outcome::Answered(answered), None)]
        }
        Content::Event(Event::Alias { of }) => {
            let (home, of) = (record.url.clone(), of.clone());
            scoping.add_alias(&home, &of);
            vec![Change::Alias { home, of }]
        }
        Content::Event(Event::Recrawl { whole_site }) => {
            vec![Change::Recrawl { url: record.url.clone(), whole_site: *whole_site, at: record.at }]
        }
        Content::Event(Event::Submitted) => {
            vec![Change::Submitted { url: record.url.clone(), at: record.at }]
        }
        Content::Event(Event::Decided { accepted }) => {
            let (url, at, accepted) = (record.url.clone(), record.at, *accepted);
            let mut changes = vec![Change::Decided { url, at, accepted }];
            if accepted {
                changes.push(seed_change(scoping, &record.url, at, 0, None));
            }
            changes
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
    let facts = facts.filter(|_| (200..300).contains(&response.status)).unwrap_or_default();
    let weighing = Weighing::of(config, scoping, record, &facts);
    let mut leads = Vec::new();
    if let Some(target) = redirect_target(&record.url, response) {
        leads.extend(redirected(scoping, record, target));
    }
    let shortest = config.refresh_at_most_every;
    let (found, links) = found(scoping, stored, &facts, weighing.as_ref(), shortest);
    leads.extend(found);
    let again = next_visit(config, record, response, facts.kind);
    let answered = Answered {
        status: response.status,
        position: stored.position,
        digest: facts.digest,
        text: facts.text,
        indexable: facts.indexable,
        attempts: again.attempts,
        weight: weighing.map_or(0, |weighing| weighing.page),
        links,
        validators: validators(response),
    };
    let mut changes = vec![visited(record, Outcome::Answered(answered), again.due)];
    if let Some(wait) = again.site_waits {
        let (site, at) = (record.url.site(), record.at);
        changes.push(Change::BackOff { site, at, until: at.plus(wait) });
    }
    changes.extend(leads);
    changes
}

/// When to come back.
#[derive(Default)]
struct Again {
    due: Option<Timestamp>,
    /// Answers in a row that settled nothing.
    attempts: u32,
    /// How long the whole site is left alone.
    site_waits: Option<Duration>,
}

fn next_visit(config: &CrawlConfig, record: &Record, response: &Response, kind: PageKind) -> Again {
    let attempt = record.attempt;
    match response.status {
        // An import asks for nothing, so nothing is due because of it.
        _ if attempt == 0 => Again::default(),
        // Overload and faults of the server may pass. One that says when to come back is believed.
        429 | 500.. => {
            let asked = retry_after(config, record.at, response);
            let due = retry_at(config, record.at, attempt).or_else(|| later(config, record));
            let due = due.map(|due| asked.map_or(due, |wait| due.max(record.at.plus(wait))));
            let overloaded = response.status == 429 || response.header("Retry-After").is_some();
            Again { due, attempts: attempt, site_waits: asked.filter(|_| overloaded) }
        }
        // Gone, perhaps: looked for once more before it is believed. What never was there is not.
        404 if record.again => {
            Again { due: Some(record.at.plus(config.gone_after)), attempts: 1, site_waits: None }
        }
        404 | 410 => Again::default(),
        status => {
            let interval = refresh::policy(config).interval(&Visit { kind, status });
            Again { due: interval.map(|wait| record.at.plus(wait)), ..Again::default() }
        }
    }
}

/// A page that was there once is looked for again, however often it failed.
fn later(config: &CrawlConfig, record: &Record) -> Option<Timestamp> {
    (record.again && !config.refresh.is_zero()).then(|| record.at.plus(config.refresh))
}

/// What the server recognises this answer by, where it is short enough to be said again.
fn validators(response: &Response) -> Validators {
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
    let target = scoping.canonical(target);
    let stale_before = scoping.fresh_since();
    scoping.contains(&target).then(|| {
        Change::Found(Found { hops, origin, stale_before, ..Found::new(target, record.depth, record.at) })
    })
}

/// Links, what is listed, and the directories above: where a page leads, as far as the rules of the crawl go.
fn found(
    scoping: &mut Scoping,
    stored: &StoredRecord,
    facts: &PageFacts<'_>,
    weighing: Option<&Weighing<'_>>,
    shortest: Duration,
) -> (Vec<Change>, u32) {
    let record = &stored.record;
    let depth = record.depth.saturating_add(1);
    if depth > scoping.rules().max_depth {
        return (Vec::new(), 0);
    }
    let mut links_to_follow = 0;
    let mut seen = HashSet::from([record.url.id()]);
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    let mut leads = Vec::new();
    let links = facts.links.iter().map(|link| (&link.url, link.anchor.as_str(), None));
    // What a list says of times is believed as far as pages may be visited that often at all.
    let latest = record.at.minus(shortest);
    let listed = facts.listed.iter().map(|(url, modified)| (url, "", modified.map(|m| m.min(latest))));
    let mut lead = |scoping: &mut Scoping, url: PageUrl, anchor: &str, modified: Option<Timestamp>| {
        let id = url.id();
        if !seen.insert(id) {
            return;
        }
        match scoping.admits(&url) {
            Err(refusal) => {
                if let Some(rule) = refusal.counted() {
                    *refused.entry(rule).or_default() += 1;
                }
            }
            // A page that changed after we saw it is due, as is every page in a collection begun anew.
            Ok(()) => {
                let stale_before = modified.max(scoping.fresh_since());
                let counted = weighing.is_some_and(|w| w.counts_links);
                links_to_follow += 1;
                // Who weighs pages wants to hear of every link.
                let sight = scoping.sight(id, depth);
                if weighing.is_none() && modified.is_none() && sight == Sight::Known {
                    return;
                }
                let mut found = Found {
                    anchor: anchor[..anchor.floor_char_boundary(MAX_ANCHOR)].to_string(),
                    from: Some((record.url.id(), stored.position)),
                    counted,
                    stale_before,
                    surely_new: sight == Sight::New,
                    ..Found::new(url, depth, record.at)
                };
                found.weight = weighing.map_or(0, |w| w.link(&found, modified.is_some()));
                leads.push(Change::Found(found));
            }
        }
    };
    for (url, anchor, modified) in links.chain(listed) {
        let url = scoping.canonical(url.clone());
        if scoping.rules().parent_directories {
            for above in url.parents().take(MAX_PARENTS) {
                lead(scoping, above, "", None);
            }
        }
        lead(scoping, url, anchor, modified);
    }
    leads.extend(refused.into_iter().map(|(rule, links)| Change::Filtered { rule, links }));
    (leads, links_to_follow)
}

/// What a crawl that weighs pages knows of one.
struct Weighing<'a> {
    rules: WeightRules,
    /// The weight of the page itself.
    page: u32,
    relevance: f64,
    says: Says<'a>,
    /// Whether pages that link to a page are counted.
    counts_links: bool,
}

impl<'a> Weighing<'a> {
    /// Nothing where neither the strategy nor a guide word asks for weights.
    fn of(config: &CrawlConfig, scoping: &Scoping, record: &Record, facts: &PageFacts<'a>) -> Option<Self> {
        use StrategyName::{Alternate, HotQueue, Importance};
        let guide_words = &scoping.rules().guide_words;
        if guide_words.is_empty() && !matches!(config.strategy, Alternate | HotQueue | Importance) {
            return None;
        }
        let rules = WeightRules { guide_words: guide_words.clone(), ..WeightRules::of(config) };
        let says = facts.says;
        let evidence = PageEvidence {
            added_by: if record.depth == 0 { AddedBy::Seed } else { AddedBy::Link },
            title: says.title,
            text: says.text,
            language: says.language,
            charset: says.charset,
            ..PageEvidence::new(&record.url)
        };
        let page = true_weight(&evidence, &rules);
        let relevance = guide_words::page_relevance(&rules.guide_words, says.title, says.text);
        Some(Self { rules, page, relevance, says, counts_links: config.strategy == Importance })
    }

    fn link(&self, found: &Found, is_listed: bool) -> u32 {
        let clues = Clues {
            added_by: if is_listed { AddedBy::Sitemap } else { AddedBy::Link },
            parent_weight: Some(self.page),
            parent_relevance: self.relevance,
            anchor: &found.anchor,
            referring_pages: 1,
            language: self.says.language,
            charset: self.says.charset,
            ..Clues::new(&found.url)
        };
        predicted(&clues, &self.rules).total
    }
}

/// The sitemaps that a robots.txt names. Only an operator names seeds, so they are one click away.
fn sitemaps(
    scoping: &mut Scoping,
    config: &CrawlConfig,
    record: &Record,
    state: &RobotsState,
) -> Vec<Change> {
    let RobotsState::Known(file) = state else { return Vec::new() };
    if !scoping.rules().sitemaps {
        return Vec::new();
    }
    let robots = Robots::parse(file, &config.agent);
    let named = robots.sitemaps().iter().filter_map(|named| record.url.join(named).ok());
    let admitted = named.filter(|url| scoping.is_near(url).is_ok());
    let stale_before = scoping.fresh_since();
    admitted.map(|url| Change::Found(Found { stale_before, ..Found::new(url, 1, record.at) })).collect()
}

fn seed_change(
    scoping: &mut Scoping,
    url: &PageUrl,
    at: Timestamp,
    hops: u32,
    origin: Option<String>,
) -> Change {
    let url = scoping.canonical(url.clone());
    scoping.add_site(url.site());
    Change::Seed { url, at, hops, origin, stale_before: scoping.fresh_since() }
}

fn robots_change(record: &Record, state: RobotsState, reason: Option<String>) -> Change {
    Change::Robots(RobotsFile { url: record.url.clone(), at: record.at, state, reason, before: None })
}

fn visited(record: &Record, outcome: Outcome, next_due: Option<Timestamp>) -> Change {
    Change::Visited { url: record.url.clone(), at: record.at, outcome, next_due }
}

/// Where an answer sends us on to.
pub fn redirect_target(url: &PageUrl, response: &Response) -> Option<PageUrl> {
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
    Some(asked.unwrap_or_default().min(MAX_ASKED_WAIT).max(config.retry_delay))
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
    first.saturating_mul(longer).min(MAX_ASKED_WAIT.max(first))
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
        CrawlRules { scope: Scope::Host, max_depth: 2, max_redirects: 2, ..CrawlRules::default() }
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
            Change::Found(Found { url, depth, hops, .. }) => Some(format!("found {url} {depth} {hops}")),
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
    fn an_operator_wants_a_page_or_a_site_again() {
        for whole_site in [false, true] {
            let wish = stored("http://a.example/x", 0, 0, Content::Event(Event::Recrawl { whole_site }));
            let (url, at) = (url("http://a.example/x"), wish.record.at);
            assert_eq!(of(&wish, None), [Change::Recrawl { url, whole_site, at }]);
        }
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
        let facts = PageFacts { links: &links, indexable: true, digest: 7, ..PageFacts::default() };
        let page = |depth, status| {
            of(&stored("http://a.example/", depth, 0, response(status, &[], "x")), Some(facts))
        };
        assert_eq!(targets(&page(0, 200)), ["found http://a.example/1 1 0", "found https://a.example/2 1 0"]);
        assert_eq!(targets(&page(1, 200)).len(), 2);
        assert!(targets(&page(2, 200)).is_empty(), "as deep as it goes");
        assert!(targets(&page(u32::MAX, 200)).is_empty());
        assert!(targets(&page(0, 404)).is_empty());
        assert!(
            matches!(&page(0, 200)[1], Change::Found(Found { anchor, .. }) if anchor.len() == 198 && long.starts_with(anchor))
        );
        let outcome = |changes: Vec<Change>| match &changes[0] {
            Change::Visited {
                outcome: Outcome::Answered(Answered { status, digest, indexable, position, .. }),
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
        assert_eq!(due(404, "120"), None, "it never was there");
        assert_eq!(due(410, "120"), None, "gone, says the server");
        assert_eq!(due(200, "120"), Some(1000 + 7 * 86_400), "visited again in a week");
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
        assert_eq!(backoff(Duration::from_secs(60), u32::MAX), MAX_ASKED_WAIT);
        let refused = Event::Refused { reason: "robots.txt".into() };
        let changes = of(&stored("http://a.example/", 0, 0, Content::Event(refused)), None);
        assert!(matches!(
            &changes[..],
            [Change::Visited { outcome: Outcome::Refused { .. }, next_due: Some(_), .. }]
        ));
    }
}
