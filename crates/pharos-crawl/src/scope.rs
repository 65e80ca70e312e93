//! Which pages a crawl may follow.

use std::collections::HashSet;

use pharos_core::config::{CrawlConfig, Scope};
use pharos_core::{PageUrl, SiteName};
use pharos_store::{Catalog, CrawlRules, StoreError};

use crate::robots::is_robots_txt;

/// The rules in force and the seed sites they start from.
#[derive(Clone, Debug)]
pub struct Scoping {
    rules: CrawlRules,
    sites: HashSet<SiteName>,
    domains: HashSet<String>,
}

impl Scoping {
    /// What the catalog knows; the configuration's rules where no crawl was ever started.
    pub fn load(catalog: &dyn Catalog, config: &CrawlConfig) -> Result<Self, StoreError> {
        let mut scoping = Self::new(catalog.rules()?.unwrap_or_else(|| rules_of(config)));
        for site in catalog.seed_sites()? {
            scoping.add_site(site);
        }
        Ok(scoping)
    }

    /// Rules without a seed site yet.
    pub fn new(rules: CrawlRules) -> Self {
        Self { rules, sites: HashSet::new(), domains: HashSet::new() }
    }

    /// The rules in force.
    pub fn rules(&self) -> &CrawlRules {
        &self.rules
    }

    /// May a link or redirect to this page be followed?
    pub fn contains(&self, url: &PageUrl) -> bool {
        if is_robots_txt(url) {
            return false;
        }
        match self.rules.scope {
            Scope::Any => true,
            Scope::Host => self.sites.contains(&url.site()),
            Scope::Domain => self.domains.contains(url.site().domain()),
        }
    }

    pub(crate) fn set_rules(&mut self, rules: CrawlRules) {
        self.rules = rules;
    }

    pub(crate) fn add_site(&mut self, site: SiteName) {
        self.domains.insert(site.domain().to_string());
        self.sites.insert(site);
    }
}

/// The rules that a configuration asks for: what a new crawl is started with.
pub fn rules_of(config: &CrawlConfig) -> CrawlRules {
    CrawlRules { scope: config.scope, max_depth: config.max_depth, max_redirects: config.max_redirects }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_goes_as_far_as_it_says() {
        let inside = |scope, url: &str| {
            let mut scoping = Scoping::new(CrawlRules { scope, max_depth: 1, max_redirects: 1 });
            scoping.add_site(PageUrl::parse("http://www.example.com.cn/").unwrap().site());
            scoping.contains(&PageUrl::parse(url).unwrap())
        };
        for (url, host, domain) in [
            ("https://www.example.com.cn/x", true, true),
            ("http://news.example.com.cn/x", false, true),
            ("http://www.example.com.cn:8080/", false, true),
            ("http://other.com.cn/", false, false),
            ("http://www.example.com.cn/robots.txt", false, false),
        ] {
            assert_eq!(inside(Scope::Host, url), host, "{url}");
            assert_eq!(inside(Scope::Domain, url), domain, "{url}");
        }
        assert!(inside(Scope::Any, "http://elsewhere.example/"));
        assert!(!inside(Scope::Any, "http://elsewhere.example/robots.txt"));
    }
}
