//! Crawl settings applied to a URL, to a site and to the crawler itself, as plain data for pages above the engine.

use std::time::Duration;

use pharos_core::config::{Config, CrawlConfig};
use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_crawl::fetch::address::names_private_host;
use pharos_crawl::fetch::user_agent;
use pharos_crawl::politeness::site_settings::SiteSettingsTable;
use pharos_crawl::rules::explain::RuleDecision;
use pharos_store::interpret::robots::product_token;
use pharos_store::interpret::scope::check_page_url;

use crate::{EngineError, Stores};

/// Identity of the crawler towards servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlerIdentity {
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The name that robots.txt files may address (RFC 9309 §2.2.1); may be empty.
    pub product_token: String,
}

impl CrawlerIdentity {
    /// Returns the identity that the settings give the crawler.
    pub fn from_config(crawl: &CrawlConfig) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            user_agent: text(user_agent(&crawl.agent, &crawl.contact).as_bytes()),
            product_token: text(product_token(crawl.agent.trim().as_bytes())),
        }
    }
}

/// Configured wait between two requests to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestDelay {
    pub day: Duration,
    pub night: Duration,
}

/// Returns the delay that the settings give a site. `Crawl-delay` and slow responses may prolong it.
pub fn request_delay(crawl: &CrawlConfig, site: &SiteName) -> RequestDelay {
    let table = SiteSettingsTable::parse(&crawl.site_settings).unwrap_or_default();
    let own = table.settings_for(site);
    let limits = crawl.politeness_limits_of(own.politeness.unwrap_or(crawl.politeness));
    match own.delay {
        Some(delay) => RequestDelay { day: delay, night: delay },
        None => RequestDelay { day: limits.day_delay, night: limits.night_delay },
    }
}

/// Returns the crawl windows of a site as text, and the time at which the next one opens if it is closed now. Returns
/// `None` if the site has no windows.
pub fn crawl_windows(
    crawl: &CrawlConfig,
    site: &SiteName,
    now: Timestamp,
) -> Option<(String, Option<Timestamp>)> {
    let table = SiteSettingsTable::parse(&crawl.site_settings).unwrap_or_default();
    let own = table.settings_for(site);
    Some((own.describe_windows(&crawl.time_zone)?, own.closed_until(&crawl.time_zone, now)))
}

/// Returns `true` if a visitor may propose this URL: it names a page, on a public host unless private ones are allowed.
pub fn may_be_submitted(crawl: &CrawlConfig, url: &PageUrl) -> bool {
    check_page_url(url).is_ok() && (crawl.allow_private || !names_private_host(url))
}

/// Result of one crawl rule for a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleVerdict {
    /// Name of the rule: `scope`, `robots` …
    pub rule: &'static str,
    /// `None` if the rule is undecided until more is known.
    pub admits: Option<bool>,
    pub reason: String,
}

/// Applies the rules of the current crawl to a URL, in evaluation order; the first refusal decides.
pub fn rule_verdicts(stores: &Stores, config: &Config, url: &str) -> Result<Vec<RuleVerdict>, EngineError> {
    let catalog = stores.catalog()?;
    let explanation = pharos_crawl::explain(catalog.as_deref(), &config.crawl, &[], url)?;
    let verdicts = explanation.lines.into_iter().map(|line| RuleVerdict {
        rule: line.rule,
        admits: match line.ruling {
            RuleDecision::Admits => Some(true),
            RuleDecision::Refuses => Some(false),
            RuleDecision::Open => None,
        },
        reason: line.why,
    });
    Ok(verdicts.collect())
}

#[cfg(test)]
mod tests {
    use pharos_core::config::PolitenessProfile;
    use pharos_store::DataDir;

    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    #[test]
    fn a_site_has_its_own_delay() {
        let site_settings = vec!["slow.example delay=5s".into(), "shy.example politeness=gentle".into()];
        let crawl = CrawlConfig { site_settings, ..CrawlConfig::default() };
        let delay = |host: &str| request_delay(&crawl, &url(&format!("https://{host}/")).site());
        let five = Duration::from_secs(5);
        assert_eq!(delay("slow.example"), RequestDelay { day: five, night: five });
        let gentle = crawl.politeness_limits_of(PolitenessProfile::Gentle);
        assert_eq!(delay("shy.example"), RequestDelay { day: gentle.day_delay, night: gentle.night_delay });
        assert_eq!(delay("a.example").day, crawl.politeness_limits().day_delay);
    }

    #[test]
    fn visitors_propose_pages_of_public_hosts() {
        let mut crawl = CrawlConfig::default();
        assert!(may_be_submitted(&crawl, &url("https://a.example/")));
        assert!(!may_be_submitted(&crawl, &url("https://a.example/robots.txt")));
        assert!(!may_be_submitted(&crawl, &url("http://10.0.0.1/")));
        crawl.allow_private = true;
        assert!(may_be_submitted(&crawl, &url("http://10.0.0.1/")));
    }

    #[test]
    fn rules_are_reported_in_order_without_a_catalog() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::default();
        let stores = Stores::open(&DataDir::at(dir.path()), &config).unwrap();
        let verdicts = rule_verdicts(&stores, &config, "ftp://a.example/").unwrap();
        assert_eq!((verdicts.len(), verdicts[0].rule, verdicts[0].admits), (1, "address", Some(false)));
    }
}
