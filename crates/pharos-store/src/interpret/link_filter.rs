//! Include and exclude patterns, and filter substrings.
//!
//! A pattern matches a whole URL, and `*` in it any characters. A filter substring matches anywhere, ignoring case.
//! Both are compared with the normalised URL and with its percent-decoded form, so that `{`, a space or 新闻 can be
//! written literally.

use percent_encoding::percent_decode_str;
use pharos_core::PageUrl;
use pharos_core::work::spend_work;

use super::scope::ScopeRefusal;
use super::wildcard::matches_wildcards;
use crate::CrawlRules;

/// The substrings of `IsFilterLink` in Tianwang's TSE (《搜索引擎——原理、技术与系统》§3.6).
///
/// The list costs pages: `enter` drops every `center`, and `library`, `forum` and `search` drop whole sites.
/// `Counter?` has a capital that never matched the lower-cased links it was compared with; here both sides are
/// lower-cased.
pub const TSE_FILTER: [&str; 25] = [
    "gate",
    "search",
    "library",
    "data/scop",
    "uhtbin",
    "staff/staff",
    "enter",
    "userid",
    "pstmail?",
    "pst?",
    "find?",
    "ccc?",
    "fwd?",
    "tcon?",
    "&amp",
    "Counter?",
    "forum",
    "cgisirsi",
    "+",
    "{",
    "}",
    "proxy",
    "login",
    "mailto:",
    "javascript:",
];

/// The value of `crawl.filter` that expands to [`TSE_FILTER`].
const TSE: &str = "tse";

/// Returns the substrings of a setting: lower-cased, with [`TSE_FILTER`] expanded.
pub fn expand_filter(setting: &[String]) -> Vec<String> {
    let expand = |word: &String| match word.as_str() {
        TSE => TSE_FILTER.iter().map(|substring| substring.to_lowercase()).collect(),
        other => vec![other.to_lowercase()],
    };
    setting.iter().flat_map(expand).filter(|substring| !substring.is_empty()).collect()
}

/// The compiled patterns and substrings of a crawl.
#[derive(Clone, Debug)]
pub struct LinkFilter {
    include: Vec<UrlPattern>,
    exclude: Vec<UrlPattern>,
    substrings: Vec<String>,
}

#[derive(Clone, Debug)]
struct UrlPattern {
    written: String,
    /// As written, with scheme and host in lower case. Only `*` is a wildcard: `?` occurs in many URLs.
    normalised: String,
}

impl UrlPattern {
    fn new(written: &str) -> Self {
        Self { written: written.to_string(), normalised: with_lower_host(written) }
    }

    fn matches(&self, spellings: &UrlSpellings<'_>) -> bool {
        spellings.all().any(|spelling| matches_wildcards(&self.normalised, spelling, true))
    }
}

/// Lower-cases scheme and host of a pattern, as in normalised URLs.
fn with_lower_host(pattern: &str) -> String {
    let Some(host) = pattern.find("://").map(|at| at + 3) else { return pattern.to_string() };
    let path = pattern[host..].find('/').map_or(pattern.len(), |at| host + at);
    pattern[..path].to_lowercase() + &pattern[path..]
}

/// A URL in normalised form, and percent-decoded if that differs.
pub struct UrlSpellings<'a> {
    normalised: &'a str,
    readable: Option<String>,
}

impl<'a> UrlSpellings<'a> {
    /// Creates the spellings of a URL.
    pub fn new(url: &'a PageUrl) -> Self {
        let normalised = url.as_str();
        let decode = || percent_decode_str(normalised).decode_utf8_lossy().into_owned();
        Self { normalised, readable: normalised.contains('%').then(decode) }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.normalised).chain(self.readable.as_deref())
    }
}

impl LinkFilter {
    /// Compiles the patterns and substrings of the rules.
    pub fn new(rules: &CrawlRules) -> Self {
        let patterns = |written: &[String]| written.iter().map(|pattern| UrlPattern::new(pattern)).collect();
        Self {
            include: patterns(&rules.include),
            exclude: patterns(&rules.exclude),
            substrings: rules.filter.iter().map(|substring| substring.to_lowercase()).collect(),
        }
    }

    /// Checks a link. The first refusal decides.
    pub fn check(&self, url: &PageUrl) -> Result<(), ScopeRefusal> {
        if self.include.is_empty() && self.exclude.is_empty() && self.substrings.is_empty() {
            return Ok(());
        }
        let spellings = UrlSpellings::new(url);
        if !self.include.is_empty() && self.included_by(&spellings).is_none() {
            return Err(ScopeRefusal::Include);
        }
        if let Some(pattern) = self.excluded_by(&spellings) {
            return Err(ScopeRefusal::Exclude(pattern.to_string()));
        }
        match self.filtered_by(&spellings) {
            Some(substring) => Err(ScopeRefusal::Filter(substring.to_string())),
            None => Ok(()),
        }
    }

    /// Returns the first matching pattern of `include`.
    pub fn included_by(&self, spellings: &UrlSpellings<'_>) -> Option<&str> {
        first_match(&self.include, spellings)
    }

    /// Returns the first matching pattern of `exclude`.
    pub fn excluded_by(&self, spellings: &UrlSpellings<'_>) -> Option<&str> {
        first_match(&self.exclude, spellings)
    }

    /// Returns the first substring of `filter` contained in the URL.
    pub fn filtered_by(&self, spellings: &UrlSpellings<'_>) -> Option<&str> {
        if self.substrings.is_empty() {
            return None;
        }
        let lower_case: Vec<String> = spellings.all().map(str::to_lowercase).collect();
        let contains = |text: &String, substring: &str| {
            spend_work(text.len() as u64);
            text.contains(substring)
        };
        let is_in_any = |substring: &&String| lower_case.iter().any(|text| contains(text, substring));
        self.substrings.iter().find(is_in_any).map(String::as_str)
    }
}

fn first_match<'a>(patterns: &'a [UrlPattern], spellings: &UrlSpellings<'_>) -> Option<&'a str> {
    patterns.iter().find(|pattern| pattern.matches(spellings)).map(|pattern| pattern.written.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn filter(include: &[&str], exclude: &[&str], filter: &[&str]) -> LinkFilter {
        let (include, exclude) = (words(include), words(exclude));
        LinkFilter::new(&CrawlRules {
            include,
            exclude,
            filter: expand_filter(&words(filter)),
            ..CrawlRules::default()
        })
    }

    #[test]
    fn a_pattern_matches_the_whole_url() {
        let news = filter(&["http://Example.org/news/*", "*://*.example.org/*.html"], &["*/print?*"], &[]);
        for (address, expected) in [
            ("http://example.org/news/", Ok(())),
            ("http://example.org/news/a?b=c", Ok(())),
            ("http://example.org/News/a", Err(ScopeRefusal::Include)),
            ("https://a.example.org/x/y.html", Ok(())),
            ("https://a.example.org/x/y.html?z", Err(ScopeRefusal::Include)),
            ("http://other.example/?http://example.org/news/", Err(ScopeRefusal::Include)),
            ("http://example.org/news/print?id=1", Err(ScopeRefusal::Exclude("*/print?*".into()))),
            ("http://example.org/news/printer", Ok(())),
        ] {
            assert_eq!(news.check(&url(address)), expected, "{address}");
        }
        assert!(
            filter(&["http://例.example/新闻/*"], &[], &[]).check(&url("http://a.example/新闻/1")).is_err()
        );
        assert!(filter(&["*/新闻/*"], &[], &[]).check(&url("http://a.example/新闻/1")).is_ok());
    }

    /// 《搜索引擎——原理、技术与系统》§3.6: pages lost by the list.
    #[test]
    fn enter_drops_every_center() {
        let refused = filter(&[], &[], &["tse"]).check(&url("http://www.example.org/Center/index.html"));
        assert_eq!(refused, Err(ScopeRefusal::Filter("enter".into())));
        assert!(filter(&[], &[], &["tse"]).check(&url("http://www.example.org/index.html")).is_ok());
    }

    /// 《搜索引擎——原理、技术与系统》§3.6: a list entry with a capital against lower-cased links.
    #[test]
    fn counter_matches_once_the_list_is_lower_cased() {
        let link = "http://example.org/cgi-bin/Counter?page=1";
        assert!(TSE_FILTER.contains(&"Counter?") && !link.to_lowercase().contains("Counter?"));
        assert_eq!(
            filter(&[], &[], &["tse"]).check(&url(link)),
            Err(ScopeRefusal::Filter("counter?".into()))
        );
    }

    /// 《搜索引擎——原理、技术与系统》§3.6: links that `IsFilterLink` drops besides its list never become a URL.
    #[test]
    fn empty_long_mail_and_script_links_are_dropped() {
        let page = url("http://example.org/");
        let long = "x".repeat(3_000);
        for link in [long.as_str(), "mailto:a@example.org", "javascript:void(0)"] {
            assert!(page.join(link).is_err(), "{link}");
        }
        assert!(PageUrl::parse("").is_err());
        assert_eq!(page.join("").unwrap(), page, "an empty link leads to its own page, which is known");
        let escaped = page.join("/a{b}").unwrap();
        assert_eq!(filter(&[], &[], &["tse"]).check(&escaped), Err(ScopeRefusal::Filter("{".into())));
    }

    proptest! {
        #[test]
        fn any_pattern_can_be_evaluated(pattern in "\\PC{0,40}", rest in "\\PC{0,40}") {
            let all = filter(&[&pattern], &[&pattern], &[&pattern]);
            if let Ok(url) = PageUrl::parse(&format!("http://example.org/{rest}")) {
                prop_assert!(all.check(&url).is_err() || pattern.is_empty());
                prop_assert_eq!(filter(&[], &["*"], &[]).check(&url), Err(ScopeRefusal::Exclude("*".into())));
            }
        }
    }
}
