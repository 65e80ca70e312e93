//! Crawl scope: which discovered pages are followed.

use std::collections::{HashMap, HashSet};
use std::fmt;

use pharos_core::config::{ByteSize, LinkScope};
use pharos_core::work::spend_work;
use pharos_core::{PageId, PageUrl, SiteName, Timestamp};

use super::link_filter::LinkFilter;
use super::seen_set::{SeenSet, SeenState};
use crate::catalog::ListState;
use crate::{Catalog, CrawlRules, RecordKind, StoreError};

/// The rules in force and the seed sites.
#[derive(Clone, Debug)]
pub struct CrawlScope {
    rules: CrawlRules,
    filter: LinkFilter,
    /// Seed sites with and without `www.`. A site has no scheme, so http and https are both covered.
    sites: HashSet<SiteName>,
    domains: HashSet<String>,
    /// Home pages of mirrors, and of their originals.
    aliases: HashMap<PageUrl, PageUrl>,
    /// Links recently passed to the catalog; they need not be passed again.
    seen: SeenSet,
    /// State of the site whose sitemap or feed is interpreted next.
    list_state: ListState,
}

/// Reason why a link or redirect is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeRefusal {
    /// A robots.txt is never a page.
    RobotsTxt,
    Scope(LinkScope),
    /// Matches no pattern of `include`.
    Include,
    /// Matches this pattern of `exclude`.
    Exclude(String),
    /// Contains this substring of `filter`.
    Filter(String),
    /// The path repeats a segment.
    Repeats,
    /// Too many clicks from a seed.
    TooDeep {
        depth: u32,
        limit: u32,
    },
}

impl fmt::Display for ScopeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RobotsTxt => f.write_str("robots.txt is never fetched as a page"),
            Self::Scope(LinkScope::Domain) => {
                f.write_str("outside the domains of the seeds (crawl.scope is domain)")
            }
            Self::Scope(_) => f.write_str("outside the hosts of the seeds (crawl.scope is host)"),
            Self::Include => f.write_str("matches no pattern of crawl.include"),
            Self::Exclude(pattern) => write!(f, "matches `{pattern}` of crawl.exclude"),
            Self::Filter(substring) => write!(f, "contains `{substring}` of crawl.filter"),
            Self::Repeats => f.write_str("the path repeats a segment, as in a crawler trap"),
            Self::TooDeep { depth, limit } => {
                write!(f, "{depth} clicks from a seed, more than crawl.max_depth = {limit}")
            }
        }
    }
}

impl ScopeRefusal {
    /// Returns the name of the rule for the count of filtered links: limits and rules that an operator wrote, not the
    /// scope.
    pub(crate) fn counter_name(&self) -> Option<String> {
        match self {
            Self::Include => Some("include".into()),
            Self::Exclude(pattern) => Some(format!("exclude {pattern}")),
            Self::Filter(substring) => Some(format!("filter {substring}")),
            Self::Repeats => Some("repeated path".into()),
            Self::TooDeep { limit, .. } => Some(format!("depth {limit}")),
            Self::RobotsTxt | Self::Scope(_) => None,
        }
    }
}

impl CrawlScope {
    /// Loads rules, seed sites and mirrors from the catalog. `initial` are the rules if no crawl was started.
    ///
    /// Callers that check pages but discover none need no memory for the seen set.
    pub fn load(
        catalog: &dyn Catalog,
        initial: CrawlRules,
        seen_memory: ByteSize,
    ) -> Result<Self, StoreError> {
        let mut scope = Self::new(catalog.rules()?.unwrap_or(initial));
        scope.seen = SeenSet::new(seen_memory);
        for site in catalog.seed_sites()? {
            scope.add_site(site);
        }
        scope.aliases.extend(catalog.aliases()?);
        Ok(scope)
    }

    /// Creates a scope without seed sites.
    pub fn new(rules: CrawlRules) -> Self {
        let filter = LinkFilter::new(&rules);
        let seen = SeenSet::new(ByteSize(0));
        Self {
            rules,
            seen,
            filter,
            sites: HashSet::new(),
            domains: HashSet::new(),
            aliases: HashMap::new(),
            list_state: ListState::default(),
        }
    }

    /// Returns the rules in force.
    pub fn rules(&self) -> &CrawlRules {
        &self.rules
    }

    /// Returns `true` if a link or redirect to this page is followed.
    pub fn contains(&self, url: &PageUrl) -> bool {
        self.admits(url).is_ok()
    }

    /// Checks whether a link or redirect to this page is followed. The first refusal decides.
    pub fn admits(&self, url: &PageUrl) -> Result<(), ScopeRefusal> {
        self.check_scope(url)?;
        if has_repeated_segments(url) {
            return Err(ScopeRefusal::Repeats);
        }
        self.filter.check(url)
    }

    /// Checks a page that was discovered under other rules. Only scope and `exclude` apply.
    pub fn admits_known(&self, url: &PageUrl) -> Result<(), ScopeRefusal> {
        self.check_scope(url)?;
        match self.filter.check(url) {
            Err(refusal @ ScopeRefusal::Exclude(_)) => Err(refusal),
            _ => Ok(()),
        }
    }

    /// Checks a page at this number of clicks from a seed.
    pub fn admits_at(&self, url: &PageUrl, depth: u32) -> Result<(), ScopeRefusal> {
        self.admits(url)?;
        let limit = self.rules.max_depth;
        if depth > limit { Err(ScopeRefusal::TooDeep { depth, limit }) } else { Ok(()) }
    }

    /// Returns the URL under which this crawl knows a page: with sorted query parameters on configured sites.
    #[must_use]
    pub fn spelling(&self, url: PageUrl) -> PageUrl {
        if self.rules.sorted_sites.is_empty() || url.as_url().query().is_none() {
            return url;
        }
        let site = url.site();
        let is_sorted = |name: &String| name == site.as_str() || name == site.domain();
        if self.rules.sorted_sites.iter().any(is_sorted) { url.with_sorted_query() } else { url }
    }

    /// Checks that the URL is a page within the scope.
    pub fn check_scope(&self, url: &PageUrl) -> Result<(), ScopeRefusal> {
        check_page_url(url)?;
        let near = match self.rules.scope {
            LinkScope::Any => true,
            LinkScope::Host => self.sites.contains(&url.site()),
            LinkScope::Domain => self.domains.contains(url.site().domain()),
        };
        if near { Ok(()) } else { Err(ScopeRefusal::Scope(self.rules.scope)) }
    }

    /// Returns the patterns and substrings of the rules.
    pub fn filter(&self) -> &LinkFilter {
        &self.filter
    }

    /// Returns the URL under which a page is fetched: on the original if its site is a mirror, and spelled as in
    /// [`spelling`](Self::spelling).
    pub fn canonical(&self, url: PageUrl) -> PageUrl {
        let mut url = self.spelling(url);
        // A mirror of a mirror is possible; a cycle ends after three steps.
        for _ in 0..3 {
            let original = if self.aliases.is_empty() { None } else { self.aliases.get(&url.home()) };
            match original.and_then(|of| of.join(url.path_and_query()).ok()) {
                Some(moved) => url = moved,
                None => break,
            }
        }
        url
    }

    /// Checks whether the catalog already has a link to this page at this depth, and remembers the link. A shorter
    /// path to a known page counts as new.
    pub(crate) fn check_seen(&mut self, page: PageId, depth: u32) -> SeenState {
        let page = PageId::from_parts(page.site(), page.page().wrapping_add(u64::from(depth)));
        let state = self.seen.check(page);
        if state != SeenState::Known {
            self.seen.insert(page);
        }
        state
    }

    /// Sets the state of the site whose sitemap or feed is interpreted next.
    pub fn set_list_state(&mut self, state: ListState) {
        self.list_state = state;
    }

    pub(super) fn take_list_state(&mut self) -> ListState {
        std::mem::take(&mut self.list_state)
    }

    /// Returns `true` if this page is on a mirror of another site.
    pub fn is_mirror(&self, url: &PageUrl) -> bool {
        !self.aliases.is_empty() && self.aliases.contains_key(&url.home())
    }

    /// Returns the start time of a batch crawl: pages last visited before it are fetched again.
    pub(crate) fn fresh_since(&self) -> Option<Timestamp> {
        self.rules.fresh_since
    }

    pub(crate) fn add_alias(&mut self, home: &PageUrl, of: &PageUrl) {
        self.aliases.insert(home.clone(), of.clone());
    }

    pub(crate) fn set_rules(&mut self, rules: CrawlRules) {
        self.filter = LinkFilter::new(&rules);
        self.rules = rules;
        // Known pages may be due again, or nearer.
        self.seen.clear();
    }

    /// Adds a seed site.
    pub fn add_site(&mut self, site: SiteName) {
        self.domains.insert(site.domain().to_string());
        self.sites.extend(site.www_variant());
        self.sites.insert(site);
    }
}

/// Checks that a URL can be a page, wherever it comes from: a robots.txt is none.
pub fn check_page_url(url: &PageUrl) -> Result<(), ScopeRefusal> {
    match RecordKind::of_url(url) {
        RecordKind::Robots => Err(ScopeRefusal::RobotsTxt),
        RecordKind::Page | RecordKind::Sitemap | RecordKind::Icon | RecordKind::Event => Ok(()),
    }
}

/// Returns `true` if a path contains the same segment more than three times, as the relative links of a trap produce.
pub fn has_repeated_segments(url: &PageUrl) -> bool {
    const OFTEN: usize = 3;
    let path = url.as_url().path();
    let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    spend_work(path.len() as u64);
    if segments.len() <= OFTEN {
        return false;
    }
    // Sorted, because a path of a thousand segments must not take a million comparisons.
    segments.sort_unstable();
    segments.windows(OFTEN + 1).any(|equal| equal.first() == equal.last())
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;

    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn scope_with_seed(rules: CrawlRules, seed: &str) -> CrawlScope {
        let mut scope = CrawlScope::new(rules);
        scope.add_site(url(seed).site());
        scope
    }

    #[test]
    fn each_scope_goes_as_far_as_it_says() {
        let inside = |scope, address: &str| {
            let rules = CrawlRules { scope, ..CrawlRules::default() };
            scope_with_seed(rules, "http://www.example.com.cn/").contains(&url(address))
        };
        for (address, host, domain) in [
            ("https://www.example.com.cn/x", true, true),
            ("https://example.com.cn/x", true, true),
            ("http://news.example.com.cn/x", false, true),
            ("http://www.example.com.cn:8080/", false, true),
            ("http://other.com.cn/", false, false),
            ("http://www.example.com.cn/robots.txt", false, false),
        ] {
            assert_eq!(inside(LinkScope::Host, address), host, "{address}");
            assert_eq!(inside(LinkScope::Domain, address), domain, "{address}");
        }
        assert!(inside(LinkScope::Any, "http://elsewhere.example/"));
        assert!(!inside(LinkScope::Any, "http://elsewhere.example/robots.txt"));
    }

    #[test]
    fn a_refusal_names_the_rule() {
        let rules = CrawlRules {
            max_depth: 3,
            exclude: vec!["*/private/*".into()],
            filter: vec!["login".into()],
            ..CrawlRules::default()
        };
        let scope = scope_with_seed(rules, "http://a.example/");
        let refusal = |address: &str, depth| scope.admits_at(&url(address), depth).unwrap_err().to_string();
        assert!(refusal("http://b.example/", 0).contains("crawl.scope"));
        assert!(refusal("http://a.example/private/login", 9).contains("`*/private/*` of crawl.exclude"));
        assert!(refusal("http://www.a.example/LOGIN", 9).contains("`login` of crawl.filter"));
        assert!(refusal("http://a.example/x", 4).contains("4 clicks"));
        assert_eq!(scope.admits_at(&url("http://a.example/x"), 3), Ok(()));
        assert!(refusal("http://a.example/a/b/a/b/a/b/a/b", 1).contains("trap"));
        assert_eq!(scope.admits_at(&url("http://a.example/a/b/a/b/a/b/x"), 1), Ok(()));
    }

    /// At most one step per byte for the path, and two for each rule and spelling.
    #[test]
    fn the_work_on_a_link_is_linear() {
        let rules = CrawlRules {
            scope: LinkScope::Any,
            include: vec!["*a*a*a*c".into(), "*".into()],
            exclude: vec!["*/a*/a*/a*/a*x".into(), "*%".into()],
            filter: vec!["aaaaaaab".into()],
            ..CrawlRules::default()
        };
        let scope = CrawlScope::new(rules);
        for length in [240, 1_920] {
            let segments: String = (0..length / 4).map(|number| format!("/{:03}", number % 1000)).collect();
            for path in ["/a".repeat(length / 2), "/".repeat(length), "/%E7".repeat(length / 4), segments] {
                let page = url(&format!("http://a.example{path}"));
                let steps = measure_work(|| scope.admits(&page)).1;
                let limit = 20 * page.as_str().len() as u64;
                assert!(steps <= limit, "{steps} steps for {} bytes: {page}", page.as_str().len());
            }
        }
    }

    #[test]
    fn parameters_are_sorted_where_their_order_means_nothing() {
        let rules = CrawlRules { sorted_sites: vec!["example.org".into()], ..CrawlRules::default() };
        let scope = CrawlScope::new(rules);
        let spelling = |address: &str| scope.spelling(url(address)).to_string();
        assert_eq!(spelling("http://shop.example.org/?b=1&a=2"), "http://shop.example.org/?a=2&b=1");
        assert_eq!(spelling("http://example.net/?b=1&a=2"), "http://example.net/?b=1&a=2");
    }
}
