//! Explains why a URL is fetched or not: evaluates every rule in order (`pharos crawl --explain`).

use std::net::IpAddr;

use pharos_core::config::CrawlConfig;
use pharos_core::{Clock as _, PageUrl, SystemClock, Timestamp};
use pharos_store::catalog::{PageDetails, RobotsState};
use pharos_store::interpret::link_filter::UrlSpellings;
use pharos_store::interpret::robots::{DecidingRule, RobotsRules};
use pharos_store::interpret::scope::{CrawlScope, ScopeRefusal, has_repeated_segments};
use pharos_store::interpret::weight::{AddedBy, LinkFeatures, WeightRules, predict_weight};
use pharos_store::{Catalog, PageState, StoreError};
use serde::Serialize;
use url::Host;

use crate::fetch::address::{AddressRanges, RangeRefusal, is_public};
use crate::fetch::overrides::HostOverrides;
use crate::politeness::site_settings::SiteSettingsTable;
use crate::rules::budget::SiteBudgets;
use crate::rules::from_config::rules_from_config;

/// Results of all rules for one URL.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UrlExplanation {
    /// The URL as requested by the caller.
    #[serde(rename = "asked")]
    pub input: String,
    /// The normalised URL, if the input is valid.
    pub url: Option<PageUrl>,
    /// `true` if no rule refuses the URL.
    pub admitted: bool,
    /// `true` for the rules of the last started crawl, `false` for the rules of the configuration.
    pub rules_in_force: bool,
    /// One result per rule in evaluation order; the first refusal decides.
    pub lines: Vec<RuleResult>,
    /// Parts of the predicted weight; empty if no weights are computed.
    pub weights: Vec<WeightPart>,
    /// Maximum number of clicks from a seed.
    #[serde(skip)]
    max_depth: u32,
}

/// Result of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleResult {
    /// Name of the rule: `scope`, `robots` …
    pub rule: &'static str,
    pub ruling: RuleDecision,
    pub why: String,
}

/// Decision of a rule about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleDecision {
    Admits,
    Refuses,
    /// Undecided until more is known.
    Open,
}

/// One part of a predicted weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightPart {
    /// Name of the part: parent, anchor …
    pub part: String,
    pub weight: i32,
}

impl UrlExplanation {
    /// Returns the maximum depth if the URL is not in the catalog and the depth limit may be the reason.
    pub fn open_depth_limit(&self) -> Option<u32> {
        let is_open = |line: &RuleResult| line.rule == "depth" && line.ruling == RuleDecision::Open;
        self.lines.iter().any(is_open).then_some(self.max_depth)
    }

    /// Adds that a page at the maximum depth links to the URL, whose link is therefore not followed.
    pub fn set_referrer_at_limit(&mut self, referrer: &PageUrl) {
        let limit = self.max_depth;
        for line in self.lines.iter_mut().filter(|line| line.rule == "depth") {
            line.ruling = RuleDecision::Refuses;
            line.why = format!(
                "{referrer} links to it and is {limit} clicks from a seed, the maximum (crawl.max_depth)"
            );
        }
        self.admitted = false;
    }

    /// Returns the first rule that refuses the URL.
    pub fn refusal(&self) -> Option<&RuleResult> {
        self.lines.iter().find(|line| line.ruling == RuleDecision::Refuses)
    }
}

/// Evaluates every rule for a URL.
///
/// With `seeds`, explains a crawl that would start with them now; without, the crawl started last. Only reads the
/// catalog.
pub fn explain(
    catalog: Option<&dyn Catalog>,
    config: &CrawlConfig,
    seeds: &[PageUrl],
    url: &str,
) -> Result<UrlExplanation, StoreError> {
    let recorded = match catalog {
        Some(catalog) if seeds.is_empty() => catalog.rules()?,
        _ => None,
    };
    let rules_in_force = recorded.is_some();
    let mut scope = CrawlScope::new(recorded.unwrap_or_else(|| rules_from_config(config)));
    let known_sites = catalog.map(|catalog| catalog.seed_sites()).transpose()?.unwrap_or_default();
    for site in known_sites.into_iter().chain(seeds.iter().map(PageUrl::site)) {
        scope.add_site(site);
    }
    let mut lines = Vec::new();
    let page = match PageUrl::parse(url) {
        Ok(page) => {
            let page = scope.spelling(page);
            lines.push(address_result(url, &page));
            let details = catalog.map(|catalog| catalog.page(page.id())).transpose()?.flatten();
            let evaluation = RuleEvaluation { catalog, config, scope: &scope, seeds, url: &page, details };
            evaluation.evaluate_all(&mut lines)?;
            Some(page)
        }
        Err(error) => {
            lines.push(refuses("address", error.to_string()));
            None
        }
    };
    let weights = page.as_ref().map(|page| weights(config, &scope, seeds, page)).unwrap_or_default();
    let admitted = lines.iter().all(|line| line.ruling != RuleDecision::Refuses);
    let max_depth = scope.rules().max_depth;
    Ok(UrlExplanation {
        input: url.to_string(),
        url: page,
        admitted,
        rules_in_force,
        lines,
        weights,
        max_depth,
    })
}

/// Returns the weight predicted from the URL alone; the referring page would add to it.
fn weights(config: &CrawlConfig, scope: &CrawlScope, seeds: &[PageUrl], page: &PageUrl) -> Vec<WeightPart> {
    let guide_words = scope.rules().guide_words.clone();
    let rules = WeightRules { guide_words, ..WeightRules::from_config(config) };
    let added_by = if seeds.contains(page) { AddedBy::Seed } else { AddedBy::Link };
    let predicted = predict_weight(&LinkFeatures { added_by, ..LinkFeatures::new(page) }, &rules);
    let parts = predicted.parts.iter().filter(|(_, weight)| *weight != 0);
    let total = ("total", i32::try_from(predicted.total).unwrap_or(i32::MAX));
    parts
        .chain([&total])
        .map(|(part, weight)| WeightPart { part: part.to_string(), weight: *weight })
        .collect()
}

fn admits(rule: &'static str, why: impl Into<String>) -> RuleResult {
    RuleResult { rule, ruling: RuleDecision::Admits, why: why.into() }
}

fn refuses(rule: &'static str, why: impl Into<String>) -> RuleResult {
    RuleResult { rule, ruling: RuleDecision::Refuses, why: why.into() }
}

fn open(rule: &'static str, why: impl Into<String>) -> RuleResult {
    RuleResult { rule, ruling: RuleDecision::Open, why: why.into() }
}

fn none_of(what: &str, count: usize) -> String {
    if count == 0 { format!("no {what} is configured") } else { format!("none of {count} {what}s matches") }
}

fn address_result(requested: &str, url: &PageUrl) -> RuleResult {
    if url.as_str() == requested {
        admits("address", "already normalised")
    } else {
        admits("address", format!("normalised to {url}"))
    }
}

/// A URL with everything its rules depend on.
struct RuleEvaluation<'a> {
    catalog: Option<&'a dyn Catalog>,
    config: &'a CrawlConfig,
    scope: &'a CrawlScope,
    seeds: &'a [PageUrl],
    url: &'a PageUrl,
    details: Option<PageDetails>,
}

impl RuleEvaluation<'_> {
    fn evaluate_all(&self, lines: &mut Vec<RuleResult>) -> Result<(), StoreError> {
        lines.push(self.scope());
        lines.extend(self.patterns());
        lines.push(self.depth());
        lines.push(self.robots()?);
        lines.push(self.addresses());
        lines.push(self.caps()?);
        lines.push(self.window(SystemClock.now()));
        lines.push(self.path());
        lines.push(self.removed()?);
        lines.push(self.state());
        Ok(())
    }

    fn is_named_now(&self) -> bool {
        self.seeds.contains(self.url)
    }

    /// Returns `true` for a page named by an operator. Scope rules do not apply to seeds.
    fn is_seed(&self) -> bool {
        self.is_named_now() || self.details.as_ref().is_some_and(|details| details.depth == 0)
    }

    fn scope(&self) -> RuleResult {
        match self.scope.check_scope(self.url) {
            Err(refusal @ ScopeRefusal::RobotsTxt) => refuses("scope", refusal.to_string()),
            _ if self.is_seed() => admits("scope", "a seed or an imported page"),
            Err(refusal) => refuses("scope", refusal.to_string()),
            Ok(()) => admits("scope", format!("crawl.scope is {}", self.scope.rules().scope)),
        }
    }

    fn patterns(&self) -> [RuleResult; 3] {
        if self.is_seed() {
            return ["include", "exclude", "filter"].map(|rule| admits(rule, "does not apply to seeds"));
        }
        let rules = self.scope.rules();
        let filter = self.scope.filter();
        let spellings = UrlSpellings::new(self.url);
        let include = match filter.included_by(&spellings) {
            Some(pattern) => admits("include", format!("matches `{pattern}`")),
            None if rules.include.is_empty() => admits("include", "no patterns: every URL is accepted"),
            None => refuses("include", ScopeRefusal::Include.to_string()),
        };
        let exclude = match filter.excluded_by(&spellings) {
            Some(pattern) => refuses("exclude", ScopeRefusal::Exclude(pattern.to_string()).to_string()),
            None => admits("exclude", none_of("pattern", rules.exclude.len())),
        };
        let filter = match filter.filtered_by(&spellings) {
            Some(substring) => refuses("filter", ScopeRefusal::Filter(substring.to_string()).to_string()),
            None => admits("filter", none_of("substring", rules.filter.len())),
        };
        [include, exclude, filter]
    }

    fn depth(&self) -> RuleResult {
        let limit = self.scope.rules().max_depth;
        match self.details.as_ref().map(|details| details.depth) {
            _ if self.is_named_now() => admits("depth", "a seed has depth 0"),
            Some(depth) if depth > limit => {
                refuses("depth", ScopeRefusal::TooDeep { depth, limit }.to_string())
            }
            Some(depth) => admits("depth", format!("{depth} of at most {limit} clicks from a seed")),
            None => {
                open("depth", format!("no link to it was found yet; at most {limit} clicks are followed"))
            }
        }
    }

    /// Evaluates the last stored robots.txt of the server.
    fn robots(&self) -> Result<RuleResult, StoreError> {
        let robots_txt = self.url.robots_txt();
        let file = self.catalog.map(|catalog| catalog.robots(&robots_txt)).transpose()?.flatten();
        let Some(file) = file else {
            return Ok(open("robots", format!("{robots_txt} is not fetched yet; it will be fetched first")));
        };
        let at = file.at;
        Ok(match &file.state {
            RobotsState::Missing => admits("robots", format!("there was no {robots_txt} at {at}")),
            RobotsState::Unreachable => open(
                "robots",
                format!("{robots_txt} was unreachable at {at}; it will be fetched again first"),
            ),
            RobotsState::Known(_) => {
                match RobotsRules::from_state(&file.state, &self.config.agent).deciding_rule(self.url) {
                    Some(DecidingRule { agent, rule, allows }) => {
                        let why = format!("`{rule}` under `User-agent: {agent}` in {robots_txt} of {at}");
                        if allows { admits("robots", why) } else { refuses("robots", why) }
                    }
                    None => admits(
                        "robots",
                        format!("no rule for {} matches in {robots_txt} of {at}", self.config.agent),
                    ),
                }
            }
        })
    }

    /// Evaluates addresses known without a DNS query: written in the URL, or given with `--resolve`.
    fn addresses(&self) -> RuleResult {
        let known = match self.url.as_url().host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            _ => self.given_addresses(),
        };
        let Some(first) = known.first() else {
            return open(
                "addresses",
                "the host is resolved and its addresses are checked when it is fetched",
            );
        };
        match known.iter().find(|address| self.address_refusal(**address).is_none()) {
            Some(address) => admits("addresses", format!("{address} is permitted")),
            None => refuses("addresses", self.address_refusal(*first).unwrap_or_default()),
        }
    }

    fn given_addresses(&self) -> Vec<IpAddr> {
        let overrides =
            HostOverrides::parse(&self.config.resolve, &self.config.connect_to).unwrap_or_default();
        let (host, port) = overrides.target(self.url.host(), self.url.port());
        overrides.addresses(&host, port).map(<[IpAddr]>::to_vec).unwrap_or_default()
    }

    fn address_refusal(&self, address: IpAddr) -> Option<String> {
        match AddressRanges::parse(self.config).unwrap_or_default().refusal(address) {
            Some(RangeRefusal::Forbidden(range)) => {
                Some(format!("{address} is in {range} of crawl.forbid_addresses"))
            }
            Some(RangeRefusal::NotAllowed) => {
                Some(format!("{address} is in no range of crawl.allow_addresses"))
            }
            None if !is_public(address) && !self.config.allow_private => {
                Some(format!("{address} is a private address; --allow-private permits those"))
            }
            None if is_public(address) && self.config.contact.is_empty() => {
                Some(format!("{address} is public, and no --contact is set for site owners"))
            }
            None => None,
        }
    }

    fn caps(&self) -> Result<RuleResult, StoreError> {
        let site = self.url.site();
        let known = self.catalog.map(|catalog| catalog.site(site.id())).transpose()?.flatten();
        let Some(known) = known else {
            return Ok(admits("caps", format!("no page of {site} is stored yet")));
        };
        let is_stored = self
            .details
            .as_ref()
            .is_some_and(|details| matches!(details.state, PageState::Stored | PageState::Quarantined));
        let own = SiteSettingsTable::parse(&self.config.site_settings)
            .ok()
            .and_then(|t| t.settings_for(&site).max_pages);
        let mut budgets = SiteBudgets::new(self.config.site_budget);
        budgets.restore(site.id(), known.stored, known.texts);
        let spent = budgets.exhaustion_reason(site.id(), own.unwrap_or(self.config.max_pages_per_site));
        Ok(match spent.filter(|_| !is_stored) {
            Some(reason) => refuses("caps", reason),
            None => admits("caps", format!("{} pages of {site} are stored, within the limits", known.stored)),
        })
    }

    /// Evaluates the crawl windows of the site. Outside them its pages wait.
    fn window(&self, now: Timestamp) -> RuleResult {
        let table = SiteSettingsTable::parse(&self.config.site_settings).unwrap_or_default();
        let (own, zone) = (table.settings_for(&self.url.site()), &self.config.time_zone);
        let Some(windows) = own.describe_windows(zone) else {
            return admits("window", "no crawl window is configured");
        };
        match own.closed_until(zone, now) {
            None => admits("window", format!("inside the crawl window {windows}")),
            Some(until) => {
                let opens = own.zone.as_ref().unwrap_or(zone).format(until);
                open("window", format!("outside the crawl window {windows}: it waits until {opens}"))
            }
        }
    }

    fn path(&self) -> RuleResult {
        if has_repeated_segments(self.url) && !self.is_named_now() {
            refuses("path", ScopeRefusal::Repeats.to_string())
        } else {
            admits("path", "no repeated segments")
        }
    }

    fn removed(&self) -> Result<RuleResult, StoreError> {
        let is_removed = self.catalog.map(|catalog| catalog.is_removed(self.url)).transpose()?;
        Ok(if is_removed == Some(true) {
            refuses("removed", "an operator removed it or its site")
        } else {
            admits("removed", "not removed by an operator")
        })
    }

    fn state(&self) -> RuleResult {
        let Some(details) = &self.details else { return admits("catalog", "not in the catalog") };
        let reason = details.reason.as_deref().unwrap_or("unknown reason");
        let due = details.due.map_or("not due again".to_string(), |due| format!("due {due}"));
        let visited = details.visited_at.map(|at| format!(" {at}")).unwrap_or_default();
        match details.state {
            PageState::Waiting => admits(
                "catalog",
                "waiting to be fetched; a crawl that ended before its turn reached crawl.max_pages, crawl.run_for or \
                 crawl.max_disk",
            ),
            PageState::Stored => {
                let status = details.status.unwrap_or_default();
                admits("catalog", format!("fetched{visited} with status {status}, {due}"))
            }
            PageState::Quarantined => admits("catalog", format!("quarantined{visited}: {reason}; {due}")),
            PageState::Failed => admits("catalog", format!("failed{visited}: {reason}; {due}")),
            PageState::Refused | PageState::Deleted if self.is_named_now() => {
                admits("catalog", "refused or deleted before; a seed is fetched again")
            }
            PageState::Refused => refuses("catalog", format!("refused{visited}: {reason}")),
            PageState::Deleted => refuses("catalog", "deleted by a data feed"),
            PageState::Removed => refuses("catalog", "removed by an operator"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::open_catalog;
    use pharos_core::LibraryPosition;
    use pharos_store::CrawlRules;
    use pharos_store::catalog::{
        CatalogChange, DiscoveredLink, Removal, ResponseSummary, RobotsFile, VisitOutcome,
    };

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn decided_by(explanation: &UrlExplanation) -> Option<(&'static str, &str)> {
        explanation.refusal().map(|line| (line.rule, line.why.as_str()))
    }

    #[test]
    fn without_a_catalog_the_configuration_applies() {
        let config = CrawlConfig { exclude: vec!["*/private/*".into()], ..CrawlConfig::default() };
        let seeds = [url("http://www.a.example/")];
        let explain_url = |requested: &str| explain(None, &config, &seeds, requested).unwrap();
        let admitted = explain_url("HTTP://a.example/x?utm_source=y");
        assert!(admitted.admitted && !admitted.rules_in_force, "{admitted:?}");
        assert_eq!(admitted.url.as_ref().map(PageUrl::as_str), Some("http://a.example/x"));
        let rules: Vec<_> = admitted.lines.iter().map(|line| line.rule).collect();
        let order =
            ["address", "scope", "include", "exclude", "filter", "depth", "robots", "addresses", "caps"];
        assert_eq!(rules[..9], order);
        assert_eq!(decided_by(&explain_url("http://b.example/")).unwrap().0, "scope");
        assert_eq!(decided_by(&explain_url("http://a.example/robots.txt")).unwrap().0, "scope");
        assert_eq!(decided_by(&explain_url("http://a.example/private/x")).unwrap().0, "exclude");
        assert_eq!(decided_by(&explain_url("ftp://a.example/")).unwrap().0, "address");
        assert_eq!(decided_by(&explain_url("http://a.example/x/y/x/y/x/y/x/y")).unwrap().0, "path");
        let seed = [url("http://10.0.0.1/private/x")];
        let private = explain(None, &config, &seed, "http://10.0.0.1/private/x").unwrap();
        assert_eq!(decided_by(&private).unwrap().0, "addresses");
    }

    #[test]
    fn a_site_outside_its_window_waits() {
        let config = CrawlConfig {
            site_settings: vec!["a.example zone=Z window=22:00-06:00".into()],
            ..CrawlConfig::default()
        };
        let (scope, a, b) =
            (CrawlScope::new(rules_from_config(&config)), url("http://a.example/"), url("http://b.example/"));
        let window = |url: &PageUrl, at: &str| {
            let (catalog, seeds) = (None, &[][..]);
            let evaluation =
                RuleEvaluation { catalog, config: &config, scope: &scope, seeds, url, details: None };
            evaluation.window(Timestamp::parse(at).unwrap())
        };
        let closed = window(&a, "2026-01-30T12:00:00Z");
        assert_eq!(closed.ruling, RuleDecision::Open);
        assert!(closed.why.contains("22:00-06:00 (Z): it waits until 2026-01-30 22:00"), "{}", closed.why);
        assert_eq!(window(&a, "2026-01-30T23:00:00Z").ruling, RuleDecision::Admits);
        assert!(window(&b, "2026-01-30T12:00:00Z").why.contains("no crawl window"));
    }

    #[test]
    fn ranges_of_addresses_decide_where_the_address_is_known() {
        let config = CrawlConfig {
            contact: "me@example.org".into(),
            allow_private: true,
            allow_addresses: vec!["162.105.0.0/16".into(), "10.0.0.0/8".into()],
            forbid_addresses: vec!["162.105.203.0/24".into()],
            resolve: vec!["a.example:80:162.105.1.1".into()],
            ..CrawlConfig::default()
        };
        for (requested, admitted) in [
            ("http://162.105.129.12/", true),
            ("http://162.105.203.7/", false),
            ("http://[::ffff:162.105.129.12]/", true),
            ("http://[::ffff:162.105.203.7]/", false),
            ("http://8.8.8.8/", false),
            ("http://10.1.1.1/", true),
            ("http://a.example/", true),
            ("http://b.example/", true),
        ] {
            let seeds = [url(requested)];
            assert_eq!(explain(None, &config, &seeds, requested).unwrap().admitted, admitted, "{requested}");
        }
    }

    #[test]
    fn the_catalog_provides_robots_depth_removal_and_state() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = open_catalog(dir.path());
        let at = Timestamp::from_millis(1_000);
        let found = |address: &str, depth| CatalogChange::Found(DiscoveredLink::new(url(address), depth, at));
        let position = LibraryPosition::new(1, 9);
        let answered =
            VisitOutcome::Responded(ResponseSummary { status: 200, position, ..ResponseSummary::default() });
        let robots = b"user-agent: *\ndisallow: /secret/".to_vec();
        let changes = [
            CatalogChange::Rules(CrawlRules { max_depth: 2, ..CrawlRules::default() }),
            CatalogChange::Seed {
                url: url("http://a.example/"),
                at,
                hops: 0,
                origin: None,
                stale_before: None,
            },
            CatalogChange::Visited { url: url("http://a.example/"), at, outcome: answered, next_due: None },
            found("http://a.example/deep", 3),
            found("http://a.example/secret/x", 1),
            found("http://a.example/gone", 1),
            CatalogChange::Removed(Removal::Page(url("http://a.example/gone"))),
            CatalogChange::Robots(RobotsFile {
                url: url("http://a.example/robots.txt"),
                at,
                state: RobotsState::Known(robots),
                reason: None,
                before: None,
            }),
        ];
        catalog.apply(&changes, &LibraryPosition::new(1, 100).into()).unwrap();
        let config = CrawlConfig { max_depth: 9, max_pages_per_site: 1, ..CrawlConfig::default() };
        let explain_url = |requested: &str| explain(Some(&*catalog), &config, &[], requested).unwrap();
        let home = explain_url("http://a.example/");
        assert!(home.admitted && home.rules_in_force, "{home:?}");
        assert!(home.lines.last().unwrap().why.contains("status 200"));
        assert_eq!(decided_by(&explain_url("http://a.example/deep")).unwrap().0, "depth");
        let secret = explain_url("http://a.example/secret/x");
        let (rule, why) = decided_by(&secret).unwrap();
        assert!(rule == "robots" && why.contains("Disallow: /secret/"), "{rule}: {why}");
        assert_eq!(decided_by(&explain_url("http://a.example/new")).unwrap().0, "caps");
        let gone = explain_url("http://a.example/gone");
        assert!(gone.lines.iter().any(|line| line.rule == "removed" && line.ruling == RuleDecision::Refuses));
    }
}
