//! Which pages a crawl may follow.

use std::collections::{HashMap, HashSet};
use std::fmt;

use pharos_core::config::{CrawlConfig, Scope, Size};
use pharos_core::{PageId, PageUrl, SiteName, Timestamp};
use pharos_store::{Catalog, CrawlRules, StoreError};

use crate::link_filter::{LinkFilter, substrings};
use crate::robots::is_robots_txt;
use crate::seen::{Seen, Sight};
use crate::site_settings::SiteTable;

/// The rules in force and the seed sites they start from.
#[derive(Clone, Debug)]
pub struct Scoping {
    rules: CrawlRules,
    filter: LinkFilter,
    /// Seed sites and their twins with and without `www.`; a site has no scheme, so both are meant.
    sites: HashSet<SiteName>,
    domains: HashSet<String>,
    /// Home pages of copies of sites, and of their originals.
    aliases: HashMap<PageUrl, PageUrl>,
    /// Links that the catalog was told of lately: it need not hear of them again.
    seen: Seen,
}

/// Why a link or redirect to a page is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A robots.txt is never a page.
    RobotsTxt,
    /// Too far from the seeds.
    Scope(Scope),
    /// It fits no pattern of `include`.
    Include,
    /// It fits this pattern of `exclude`.
    Exclude(String),
    /// It contains this substring of `filter`.
    Filter(String),
    /// Its path goes in circles.
    Repeats,
    /// Too many clicks from a seed.
    TooDeep {
        /// As many as this.
        depth: u32,
        /// More than this.
        limit: u32,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RobotsTxt => f.write_str("a robots.txt is read for its rules, never as a page"),
            Self::Scope(Scope::Domain) => {
                f.write_str("its domain is that of no seed (crawl.scope is domain)")
            }
            Self::Scope(_) => f.write_str("its host is that of no seed (crawl.scope is host)"),
            Self::Include => f.write_str("it fits no pattern of crawl.include"),
            Self::Exclude(pattern) => write!(f, "it fits `{pattern}` of crawl.exclude"),
            Self::Filter(substring) => write!(f, "it contains `{substring}` of crawl.filter"),
            Self::Repeats => f.write_str("its path says the same again and again, as in a trap"),
            Self::TooDeep { depth, limit } => {
                write!(f, "it is {depth} clicks from a seed, more than the {limit} of crawl.max_depth")
            }
        }
    }
}

impl Refusal {
    /// The rule as it is counted: what an operator wrote to keep links out. How far the crawl goes is no such thing.
    pub(crate) fn counted(&self) -> Option<String> {
        match self {
            Self::Include => Some("include".into()),
            Self::Exclude(pattern) => Some(format!("exclude {pattern}")),
            Self::Filter(substring) => Some(format!("filter {substring}")),
            Self::Repeats => Some("repeated path".into()),
            Self::RobotsTxt | Self::Scope(_) | Self::TooDeep { .. } => None,
        }
    }
}

impl Scoping {
    /// What the catalog knows; the configuration's rules where no crawl was ever started.
    pub fn load(catalog: &dyn Catalog, config: &CrawlConfig) -> Result<Self, StoreError> {
        let mut scoping = Self::new(catalog.rules()?.unwrap_or_else(|| rules_of(config)));
        scoping.seen = Seen::new(config.seen_memory);
        for site in catalog.seed_sites()? {
            scoping.add_site(site);
        }
        scoping.aliases.extend(catalog.aliases()?);
        Ok(scoping)
    }

    /// The same, for whoever asks about single pages and finds no new ones.
    pub(crate) fn in_force(catalog: &dyn Catalog, config: &CrawlConfig) -> Result<Self, StoreError> {
        Self::load(catalog, &CrawlConfig { seen_memory: Size(0), ..config.clone() })
    }

    /// Rules without a seed site yet.
    pub fn new(rules: CrawlRules) -> Self {
        let filter = LinkFilter::new(&rules);
        let seen = Seen::new(Size(0));
        Self { rules, seen, filter, sites: HashSet::new(), domains: HashSet::new(), aliases: HashMap::new() }
    }

    /// The rules in force.
    pub fn rules(&self) -> &CrawlRules {
        &self.rules
    }

    /// May a link or redirect to this page be followed?
    pub fn contains(&self, url: &PageUrl) -> bool {
        self.admits(url).is_ok()
    }

    /// May a link or redirect to this page be followed, and if not, why? The first rule that refuses decides.
    pub fn admits(&self, url: &PageUrl) -> Result<(), Refusal> {
        self.is_near(url)?;
        if repeats(url) {
            return Err(Refusal::Repeats);
        }
        self.filter.check(url)
    }

    /// May a page be asked for that was found by other rules? Only what keeps whole places out counts: how far the crawl
    /// goes, and what is never to be asked for. Sitemaps are found by the same.
    pub(crate) fn still_admits(&self, url: &PageUrl) -> Result<(), Refusal> {
        self.is_near(url)?;
        match self.filter.check(url) {
            Err(refusal @ Refusal::Exclude(_)) => Err(refusal),
            _ => Ok(()),
        }
    }

    /// The same for a page so many clicks from a seed.
    pub fn admits_at(&self, url: &PageUrl, depth: u32) -> Result<(), Refusal> {
        self.admits(url)?;
        let limit = self.rules.max_depth;
        if depth > limit { Err(Refusal::TooDeep { depth, limit }) } else { Ok(()) }
    }

    /// The address under which this crawl knows a page: sorted, on a site where the order of parameters means
    /// nothing.
    #[must_use]
    pub fn spelling(&self, url: PageUrl) -> PageUrl {
        if self.rules.sorted_sites.is_empty() || url.as_url().query().is_none() {
            return url;
        }
        let site = url.site();
        let is_sorted = |name: &String| name == site.as_str() || name == site.domain();
        if self.rules.sorted_sites.iter().any(is_sorted) { url.with_sorted_query() } else { url }
    }

    /// Is it a page, and one that the scope reaches?
    pub(crate) fn is_near(&self, url: &PageUrl) -> Result<(), Refusal> {
        if is_robots_txt(url) {
            return Err(Refusal::RobotsTxt);
        }
        let near = match self.rules.scope {
            Scope::Any => true,
            Scope::Host => self.sites.contains(&url.site()),
            Scope::Domain => self.domains.contains(url.site().domain()),
        };
        if near { Ok(()) } else { Err(Refusal::Scope(self.rules.scope)) }
    }

    pub(crate) fn filter(&self) -> &LinkFilter {
        &self.filter
    }

    /// The address that a page is fetched under: on the original, where its site is a copy, and in this crawl's
    /// spelling.
    pub fn canonical(&self, url: PageUrl) -> PageUrl {
        let mut url = self.spelling(url);
        // A copy of a copy is possible, a ring of them is not believed.
        for _ in 0..3 {
            let original = if self.aliases.is_empty() { None } else { self.aliases.get(&url.home()) };
            match original.and_then(|of| of.join(url.path_and_query()).ok()) {
                Some(moved) => url = moved,
                None => break,
            }
        }
        url
    }

    /// Has the catalog heard of this page at this depth since these rules are in force? From now on it has. A shorter
    /// way to a page that is known is news.
    pub(crate) fn sight(&mut self, page: PageId, depth: u32) -> Sight {
        let page = PageId::from_parts(page.site(), page.page().wrapping_add(u64::from(depth)));
        let sight = self.seen.check(page);
        if sight != Sight::Known {
            self.seen.insert(page);
        }
        sight
    }

    /// Is this page on a copy of another site?
    pub fn is_copy(&self, url: &PageUrl) -> bool {
        !self.aliases.is_empty() && self.aliases.contains_key(&url.home())
    }

    /// Every page last visited before this moment is to be fetched anew.
    pub(crate) fn fresh_since(&self) -> Option<Timestamp> {
        self.rules.fresh_since
    }

    pub(crate) fn add_alias(&mut self, home: &PageUrl, of: &PageUrl) {
        self.aliases.insert(home.clone(), of.clone());
    }

    pub(crate) fn set_rules(&mut self, rules: CrawlRules) {
        self.filter = LinkFilter::new(&rules);
        self.rules = rules;
        // What was known may be due again, or nearer.
        self.seen.clear();
    }

    pub(crate) fn add_site(&mut self, site: SiteName) {
        self.domains.insert(site.domain().to_string());
        self.sites.extend(site.twin());
        self.sites.insert(site);
    }
}

/// Sites whose parameters are sorted, by either setting. A line that cannot be read is told elsewhere.
fn sorted_sites(config: &CrawlConfig) -> Vec<String> {
    let table = SiteTable::parse(&config.site_settings).unwrap_or_default();
    let named = config.sorted_sites.iter().map(|site| site.to_lowercase());
    named.chain(table.sorted()).collect()
}

/// Does a path go in circles, as relative links of a trap make it: the same directory more than three times?
pub(crate) fn repeats(url: &PageUrl) -> bool {
    const OFTEN: usize = 3;
    let segments: Vec<&str> = url.as_url().path().split('/').filter(|segment| !segment.is_empty()).collect();
    segments.len() > OFTEN
        && segments.iter().any(|one| segments.iter().filter(|other| *other == one).count() > OFTEN)
}

/// The rules in force once settings were changed: what was changed is as it is set now, everything else stays as it was
/// recorded, because a crawl may have been started with other rules than the settings have.
pub fn changed_rules(in_force: CrawlRules, before: &CrawlConfig, now: &CrawlConfig) -> CrawlRules {
    let (before, now) = (rules_of(before), rules_of(now));
    macro_rules! take_changed {
        ($($rule:ident)+) => {
            CrawlRules {
                $( $rule: if before.$rule == now.$rule { in_force.$rule } else { now.$rule }, )+
                fresh_since: in_force.fresh_since,
            }
        };
    }
    take_changed!(
        scope max_depth max_redirects include exclude filter sorted_sites types guide_words parent_directories sitemaps
    )
}

/// The rules that a configuration asks for: what a new crawl is started with.
pub fn rules_of(config: &CrawlConfig) -> CrawlRules {
    CrawlRules {
        scope: config.scope,
        max_depth: config.max_depth,
        max_redirects: config.max_redirects,
        include: config.include.clone(),
        exclude: config.exclude.clone(),
        filter: substrings(&config.filter),
        sorted_sites: sorted_sites(config),
        types: config.types.iter().map(|kind| kind.to_lowercase()).collect(),
        guide_words: config.guide_words.clone(),
        parent_directories: config.parent_directories,
        sitemaps: config.sitemaps,
        fresh_since: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn scoping(rules: CrawlRules, seed: &str) -> Scoping {
        let mut scoping = Scoping::new(rules);
        scoping.add_site(url(seed).site());
        scoping
    }

    #[test]
    fn each_scope_goes_as_far_as_it_says() {
        let inside = |scope, address: &str| {
            let rules = CrawlRules { scope, ..CrawlRules::default() };
            scoping(rules, "http://www.example.com.cn/").contains(&url(address))
        };
        for (address, host, domain) in [
            ("https://www.example.com.cn/x", true, true),
            ("https://example.com.cn/x", true, true),
            ("http://news.example.com.cn/x", false, true),
            ("http://www.example.com.cn:8080/", false, true),
            ("http://other.com.cn/", false, false),
            ("http://www.example.com.cn/robots.txt", false, false),
        ] {
            assert_eq!(inside(Scope::Host, address), host, "{address}");
            assert_eq!(inside(Scope::Domain, address), domain, "{address}");
        }
        assert!(inside(Scope::Any, "http://elsewhere.example/"));
        assert!(!inside(Scope::Any, "http://elsewhere.example/robots.txt"));
    }

    #[test]
    fn only_what_was_changed_is_changed() {
        // Begun with other rules than the settings have.
        let in_force = CrawlRules { scope: Scope::Any, max_depth: 3, ..CrawlRules::default() };
        let before = CrawlConfig::default();
        let now = CrawlConfig { max_depth: 5, guide_words: vec!["灯塔".into()], ..CrawlConfig::default() };
        let changed = changed_rules(in_force.clone(), &before, &now);
        let words = vec!["灯塔".to_string()];
        assert_eq!(changed, CrawlRules { max_depth: 5, guide_words: words, ..in_force.clone() });
        assert_eq!(changed_rules(in_force.clone(), &now, &now), in_force);
    }

    #[test]
    fn a_refusal_names_the_rule() {
        let config = CrawlConfig {
            max_depth: 3,
            exclude: vec!["*/private/*".into()],
            filter: vec!["Login".into()],
            ..CrawlConfig::default()
        };
        let scoping = scoping(rules_of(&config), "http://a.example/");
        let refusal = |address: &str, depth| scoping.admits_at(&url(address), depth).unwrap_err().to_string();
        assert!(refusal("http://b.example/", 0).contains("crawl.scope"));
        assert!(refusal("http://a.example/private/login", 9).contains("`*/private/*` of crawl.exclude"));
        assert!(refusal("http://www.a.example/LOGIN", 9).contains("`login` of crawl.filter"));
        assert!(refusal("http://a.example/x", 4).contains("4 clicks"));
        assert_eq!(scoping.admits_at(&url("http://a.example/x"), 3), Ok(()));
        assert!(refusal("http://a.example/a/b/a/b/a/b/a/b", 1).contains("trap"));
        assert_eq!(scoping.admits_at(&url("http://a.example/a/b/a/b/a/b/x"), 1), Ok(()));
    }

    #[test]
    fn parameters_are_sorted_where_their_order_means_nothing() {
        let rules = CrawlRules { sorted_sites: vec!["example.org".into()], ..CrawlRules::default() };
        let scoping = Scoping::new(rules);
        let spelling = |address: &str| scoping.spelling(url(address)).to_string();
        assert_eq!(spelling("http://shop.example.org/?b=1&a=2"), "http://shop.example.org/?a=2&b=1");
        assert_eq!(spelling("http://example.net/?b=1&a=2"), "http://example.net/?b=1&a=2");
    }
}
