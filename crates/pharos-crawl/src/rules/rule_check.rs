//! Validates crawl settings before a crawl starts.

use pharos_core::config::CrawlConfig;
use pharos_store::interpret::robots::product_token;
use thiserror::Error;

use crate::fetch::address::AddressRanges;
use crate::rules::content_type::is_media_type;
use crate::setting_error::SettingError;

/// Longer patterns match no valid URL.
const MAX_PATTERN: usize = 2_048;

/// A setting that has no effect as written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// A pattern that no URL matches.
    #[error(
        "pattern `{pattern}` in `crawl.{key}` matches no URL: {why}; use whole URLs in which * matches any \
         characters, for example https://www.example.org/news/* or *.pdf"
    )]
    Pattern {
        /// `include` or `exclude`.
        key: &'static str,
        pattern: String,
        why: &'static str,
    },
    /// A substring contained in every URL.
    #[error("an empty string in `crawl.filter` would refuse every URL: remove it")]
    EmptyFilter,
    #[error("invalid media type `{0}` in `crawl.types`: use type/subtype, for example text/html or text/*")]
    Type(String),
    #[error("invalid site `{0}` in `crawl.sorted_sites`: use the host alone, for example www.example.org")]
    Site(String),
    /// A name under which no robots.txt could address the crawler.
    #[error(
        "invalid name `{0}` in `crawl.agent`: use a product token of ASCII letters, digits, - and _ without spaces \
         or version (RFC 9309 §2.2.1), for example ExampleBot"
    )]
    Agent(String),
    /// An invalid address range.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Checks the rules of a configuration.
pub fn check_rules(config: &CrawlConfig) -> Result<(), RuleError> {
    if config.agent.is_empty() || product_token(config.agent.as_bytes()) != config.agent.as_bytes() {
        return Err(RuleError::Agent(config.agent.clone()));
    }
    for (key, patterns) in [("include", &config.include), ("exclude", &config.exclude)] {
        for pattern in patterns {
            if let Some(why) = unmatchable_reason(pattern) {
                return Err(RuleError::Pattern { key, pattern: pattern.clone(), why });
            }
        }
    }
    if config.filter.iter().any(|substring| substring.is_empty()) {
        return Err(RuleError::EmptyFilter);
    }
    if let Some(bad) = config.types.iter().find(|kind| !is_media_type(kind)) {
        return Err(RuleError::Type(bad.clone()));
    }
    let is_no_site = |site: &&String| site.is_empty() || site.contains(['/', '*', '@']) || has_space(site);
    if let Some(bad) = config.sorted_sites.iter().find(is_no_site) {
        return Err(RuleError::Site(bad.clone()));
    }
    AddressRanges::parse(config)?;
    Ok(())
}

fn unmatchable_reason(pattern: &str) -> Option<&'static str> {
    let behind_scheme = pattern.find("://").map(|at| &pattern[at + 3..]);
    if pattern.is_empty() {
        Some("it is empty")
    } else if pattern.len() > MAX_PATTERN {
        Some("it is too long")
    } else if has_space(pattern) {
        Some("URLs contain no spaces or control characters")
    } else if pattern.contains('#') {
        Some("URLs are compared without their fragment")
    } else if !["http", "*"].iter().any(|start| pattern.to_ascii_lowercase().starts_with(start)) {
        Some("it starts with neither http://, https:// nor *")
    } else if behind_scheme.is_some_and(|rest| !rest.contains(['/', '*'])) {
        Some("the host must be followed by at least a /")
    } else {
        None
    }
}

fn has_space(text: &str) -> bool {
    text.chars().any(|c| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_rules_are_reported_with_an_example() {
        let list = |text: &str| vec![text.to_string()];
        let usual = CrawlConfig::default;
        for (config, expected) in [
            (
                CrawlConfig { include: list("www.example.org/*"), ..usual() },
                "`www.example.org/*` in `crawl.include`",
            ),
            (CrawlConfig { exclude: list("http://www.example.org"), ..usual() }, "at least a /"),
            (CrawlConfig { exclude: list("* b"), ..usual() }, "no spaces"),
            (CrawlConfig { exclude: list(""), ..usual() }, "it is empty"),
            (CrawlConfig { filter: list(""), ..usual() }, "`crawl.filter`"),
            (CrawlConfig { types: list("html"), ..usual() }, "`html` in `crawl.types`"),
            (CrawlConfig { sorted_sites: list("http://a.example/"), ..usual() }, "use the host alone"),
            (CrawlConfig { allow_addresses: list("162.105.0.0/33"), ..usual() }, "`crawl.allow_addresses`"),
            (CrawlConfig { forbid_addresses: list("localhost"), ..usual() }, "`crawl.forbid_addresses`"),
            (CrawlConfig { agent: "My Bot".into(), ..usual() }, "`My Bot` in `crawl.agent`"),
            (CrawlConfig { agent: "Bot/1.0".into(), ..usual() }, "without spaces or version"),
            (CrawlConfig { agent: "灯塔".into(), ..usual() }, "`crawl.agent`"),
            (CrawlConfig { agent: String::new(), ..usual() }, "`crawl.agent`"),
            (CrawlConfig { agent: "Bot\r\nX: y".into(), ..usual() }, "`crawl.agent`"),
        ] {
            let error = check_rules(&config).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.ends_with('.'), "{error}");
        }
        assert_eq!(check_rules(&usual()), Ok(()));
        let good = CrawlConfig {
            include: vec![
                "*".into(),
                "HTTPS://Example.org/*".into(),
                "*.pdf".into(),
                "http*://a.b/c?d=*".into(),
            ],
            agent: "Example_Bot-2".into(),
            filter: vec!["tse".into()],
            forbid_addresses: vec!["10.0.0.0/8".into(), "::1".into(), "2001:db8::/32".into()],
            ..usual()
        };
        assert_eq!(check_rules(&good), Ok(()));
    }
}
