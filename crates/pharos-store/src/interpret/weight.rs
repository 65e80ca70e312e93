//! Page weights: predicted before the first visit, true weight after it (《搜索引擎——原理、技术与系统》§6.1).
//!
//! Every unvisited page has a *predicted* weight and every visited page a *true* weight, both from 1 to 1,000.
//! Predictors are the weight of the referring page, the anchor, the length of the directory, the number of referring
//! pages, the source of the URL, the depth of the domain, and the wanted language. Guide words (导向词) raise both.
//!
//! Pure functions: live operation and replay of the library give the same weights.

use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;

use super::guide_words;

/// Starting value of [`initial_weight`].
pub const INITIAL_WEIGHT: u32 = 10;
/// The maximum weight; the minimum is 1.
pub const MAX_WEIGHT: u32 = 1_000;

/// Substrings that indicate a dynamically generated URL; each occurrence costs two.
const SUSPECT_WORDS: [&str; 3] = ["search", "proxy", "gate"];
/// Number of characters at which an anchor counts as descriptive; longer ones count no more.
const DESCRIPTIVE_ANCHOR: usize = 8;

/// The operator's preferences, prepared for comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightRules {
    pub guide_words: Vec<String>,
    /// Hosts and domains whose pages get a higher weight.
    pub important_sites: Vec<String>,
    /// Languages and charsets whose pages get a higher weight.
    pub wanted: Vec<String>,
}

impl WeightRules {
    /// Reads the preferences of a configuration.
    pub fn from_config(config: &CrawlConfig) -> Self {
        let lower = |texts: &[String]| texts.iter().map(|text| text.trim().to_lowercase()).collect();
        Self {
            guide_words: config.guide_words.clone(),
            important_sites: lower(&config.important_sites),
            wanted: lower(&config.wanted),
        }
    }

    fn is_important(&self, url: &PageUrl) -> bool {
        if self.important_sites.is_empty() {
            return false;
        }
        let site = url.site();
        self.important_sites.iter().any(|name| name == site.host() || name == site.domain())
    }

    fn is_wanted(&self, language: &str, charset: &str) -> bool {
        let is = |wanted: &String| {
            !wanted.is_empty()
                && (wanted.eq_ignore_ascii_case(language) || wanted.eq_ignore_ascii_case(charset))
        };
        self.wanted.iter().any(is)
    }
}

/// Source of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddedBy {
    #[default]
    Link,
    Sitemap,
    Submission,
    Seed,
}

/// Features of an unvisited page. Unknown languages and charsets are empty.
#[derive(Clone, Copy, Debug)]
pub struct LinkFeatures<'a> {
    pub url: &'a PageUrl,
    pub added_by: AddedBy,
    /// True weight of the referring page, if any.
    pub parent_weight: Option<u32>,
    /// Relevance of the referring page to the guide words, from 0 to 1.
    pub parent_relevance: f64,
    pub anchor: &'a str,
    /// Text around the link.
    pub around: &'a str,
    /// Number of known referring pages.
    pub referring_pages: u32,
    /// Language of the referring page.
    pub language: &'a str,
    /// Charset of the referring page.
    pub charset: &'a str,
}

impl<'a> LinkFeatures<'a> {
    /// Creates features from the URL alone.
    pub fn new(url: &'a PageUrl) -> Self {
        Self {
            url,
            added_by: AddedBy::Link,
            parent_weight: None,
            parent_relevance: 0.0,
            anchor: "",
            around: "",
            referring_pages: 0,
            language: "",
            charset: "",
        }
    }
}

/// A predicted weight and its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedWeight {
    /// Sum of the parts, from 1 to 1,000.
    pub total: u32,
    /// Each part with its name, including parts of zero.
    pub parts: Vec<(&'static str, i32)>,
}

/// Features of a visited page. Unknown languages and charsets are empty.
#[derive(Clone, Copy, Debug)]
pub struct PageFeatures<'a> {
    pub url: &'a PageUrl,
    pub added_by: AddedBy,
    /// True weight of the referring page, if any.
    pub parent_weight: Option<u32>,
    /// Number of known referring pages.
    pub referring_pages: u32,
    /// Number of other URLs with the same content.
    pub mirrors: u32,
    pub title: &'a str,
    pub text: &'a str,
    pub language: &'a str,
    pub charset: &'a str,
}

impl<'a> PageFeatures<'a> {
    /// Creates features from the URL alone.
    pub fn new(url: &'a PageUrl) -> Self {
        Self {
            url,
            added_by: AddedBy::Link,
            parent_weight: None,
            referring_pages: 0,
            mirrors: 0,
            title: "",
            text: "",
            language: "",
            charset: "",
        }
    }
}

/// Predicts the weight of an unvisited page (《搜索引擎——原理、技术与系统》§6.1).
///
/// The weight never falls with the parent's weight, the number of referring pages or the guide words in the anchor,
/// and never rises with the length of the path.
pub fn predict_weight(clues: &LinkFeatures<'_>, rules: &WeightRules) -> PredictedWeight {
    let link_relevance = guide_words::link_relevance(&rules.guide_words, clues.anchor, clues.around);
    let parts = vec![
        ("added by", source_points(clues.added_by)),
        ("parent", scale_points(250, weight_share(clues.parent_weight.unwrap_or(0)))),
        ("anchor", scale_points(40, anchor_share(clues.anchor))),
        ("address", scale_points(200, url_score(clues.url))),
        ("domain depth", scale_points(50, 1.0 / (1.0 + clues.url.domain_depth() as f64))),
        ("home page", if is_home_page(clues.url) { 100 } else { 0 }),
        ("referring pages", scale_points(160, popularity(clues.referring_pages))),
        ("important site", if rules.is_important(clues.url) { 100 } else { 0 }),
        ("wanted language", if rules.is_wanted(clues.language, clues.charset) { 60 } else { 0 }),
        ("guide words of the parent", scale_points(100, clues.parent_relevance)),
        ("guide words of the link", scale_points(150, link_relevance)),
    ];
    PredictedWeight { total: sum_points(&parts), parts }
}

/// Returns the weight of a visited page.
///
/// Many in-links, an important parent, mirrors and a short URL make a page important (《搜索引擎——原理、技术与系统》§3.5),
/// and so does relevance to the guide words.
pub fn true_weight(page: &PageFeatures<'_>, rules: &WeightRules) -> u32 {
    let relevance = guide_words::page_relevance(&rules.guide_words, page.title, page.text);
    sum_points(&[
        ("added by", source_points(page.added_by)),
        ("parent", scale_points(150, weight_share(page.parent_weight.unwrap_or(0)))),
        ("address", scale_points(150, url_score(page.url))),
        ("home page", if is_home_page(page.url) { 100 } else { 0 }),
        ("referring pages", scale_points(250, popularity(page.referring_pages))),
        ("mirrors", scale_points(50, popularity(page.mirrors))),
        ("important site", if rules.is_important(page.url) { 100 } else { 0 }),
        ("wanted language", if rules.is_wanted(page.language, page.charset) { 100 } else { 0 }),
        ("guide words", scale_points(300, relevance)),
    ])
}

/// Returns TSE's weight of a URL (《搜索引擎——原理、技术与系统》§3.5).
///
/// Ten, minus one for each `/`, `?` and `&` after the host, minus two for each `search`, `proxy` and `gate`, at least
/// zero. The directory depth and its slashes are one deduction, and a trailing slash opens no directory.
pub fn initial_weight(url: &PageUrl) -> u32 {
    let behind_host = url.path_and_query();
    let path_end = behind_host.find('?').unwrap_or(behind_host.len());
    let ends_open = behind_host[..path_end].ends_with('/');
    let marks = behind_host.bytes().filter(|byte| matches!(byte, b'/' | b'?' | b'&')).count();
    let suspects: usize = SUSPECT_WORDS.iter().map(|word| occurrences(url.as_str(), word)).sum();
    let deduction = marks - usize::from(ends_open) + 2 * suspects;
    INITIAL_WEIGHT.saturating_sub(u32::try_from(deduction).unwrap_or(u32::MAX))
}

/// Returns `true` for the home page of a site.
pub fn is_home_page(url: &PageUrl) -> bool {
    url.path_and_query() == "/"
}

fn occurrences(text: &str, word: &str) -> usize {
    text.as_bytes().windows(word.len()).filter(|window| window.eq_ignore_ascii_case(word.as_bytes())).count()
}

fn source_points(source: AddedBy) -> i32 {
    match source {
        AddedBy::Seed => 300,
        AddedBy::Submission => 200,
        AddedBy::Sitemap => 100,
        AddedBy::Link => 0,
    }
}

fn url_score(url: &PageUrl) -> f64 {
    f64::from(initial_weight(url)) / f64::from(INITIAL_WEIGHT)
}

fn weight_share(weight: u32) -> f64 {
    f64::from(weight.min(MAX_WEIGHT)) / f64::from(MAX_WEIGHT)
}

fn anchor_share(anchor: &str) -> f64 {
    anchor.trim().chars().take(DESCRIPTIVE_ANCHOR).count() as f64 / DESCRIPTIVE_ANCHOR as f64
}

/// Returns a saturating share: 1/2 at eight pages, and less for each further one.
fn popularity(pages: u32) -> f64 {
    f64::from(pages) / (f64::from(pages) + 8.0)
}

/// Returns this share of `most`; a share that is not finite counts as zero.
fn scale_points(most: i32, share: f64) -> i32 {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    (f64::from(most) * share).round() as i32
}

fn sum_points(parts: &[(&'static str, i32)]) -> u32 {
    let sum: i32 = parts.iter().map(|(_, points)| points).sum();
    u32::try_from(sum).unwrap_or(0).clamp(1, MAX_WEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn rules() -> WeightRules {
        WeightRules::from_config(&CrawlConfig {
            guide_words: vec!["灯塔".into(), "Lighthouse".into()],
            important_sites: vec!["pku.edu.cn".into()],
            wanted: vec!["zh".into(), "GB18030".into()],
            ..CrawlConfig::default()
        })
    }

    /// 《搜索引擎——原理、技术与系统》§3.5: URL depth.
    #[test]
    fn directories_have_a_depth() {
        assert_eq!(url("http://www.pku.edu.cn").directory_depth(), 0);
        assert_eq!(url("http://www.pku.edu.cn/cs").directory_depth(), 1);
        assert_eq!(url("http://pku.edu.cn/").domain_depth(), 0);
        assert_eq!(url("http://net.cs.pku.edu.cn/").domain_depth(), 2);
        assert_eq!(url("http://127.0.0.1:8080/").domain_depth(), 0);
    }

    /// 《搜索引擎——原理、技术与系统》§3.5: URL weight.
    #[test]
    fn ten_minus_depth() {
        for (address, weight) in [
            ("http://www.pku.edu.cn", 10),
            ("http://www.pku.edu.cn/cs", 9),
            ("http://www.pku.edu.cn/cs/", 9),
            ("http://www.pku.edu.cn/a/b/c.html", 7),
            ("http://www.pku.edu.cn/a?x=1&y=2", 7),
            ("http://www.pku.edu.cn/?x=1", 9),
            ("http://www.pku.edu.cn/search", 7),
            ("http://Search.pku.edu.cn/PROXY/gateway", 2),
            ("http://www.pku.edu.cn/search/search/proxy/gate", 0),
            ("http://www.pku.edu.cn/a/b/c/d/e/f/g/h/i/j/k/l", 0),
        ] {
            assert_eq!(initial_weight(&url(address)), weight, "{address}");
        }
    }

    /// 《搜索引擎——原理、技术与系统》§6.1: active URL prediction.
    #[test]
    fn parent_directories_are_predicted() {
        let above = |address: &str| url(address).parents().next().map(|url| url.to_string());
        assert_eq!(above("http://www.pku.edu.cn/a/").as_deref(), Some("http://www.pku.edu.cn/"));
        assert_eq!(above("http://www.pku.edu.cn/a/b.html?x").as_deref(), Some("http://www.pku.edu.cn/a/"));
        assert_eq!(above("http://www.pku.edu.cn/?x").as_deref(), Some("http://www.pku.edu.cn/"));
        assert_eq!(above("http://www.pku.edu.cn/"), None);
        assert_eq!(above("http://a.example//").as_deref(), Some("http://a.example/"));
        assert_eq!(above("http://a.example//b/c").as_deref(), Some("http://a.example//b/"), "no other host");
    }

    #[test]
    fn every_feature_counts() {
        let page = url("http://www.pku.edu.cn/a/b");
        let plain = predict_weight(&LinkFeatures::new(&page), &WeightRules::default());
        assert_eq!(plain.total as i32, plain.parts.iter().map(|(_, points)| points).sum::<i32>());
        let more = |clues: LinkFeatures<'_>| predict_weight(&clues, &rules()).total;
        let base = more(LinkFeatures::new(&page));
        assert!(base > plain.total, "an important site");
        assert!(more(LinkFeatures { language: "zh", ..LinkFeatures::new(&page) }) > base);
        assert!(more(LinkFeatures { charset: "gb18030", ..LinkFeatures::new(&page) }) > base);
        assert!(more(LinkFeatures { parent_relevance: 0.5, ..LinkFeatures::new(&page) }) > base);
        assert!(
            more(LinkFeatures { anchor: "灯塔", ..LinkFeatures::new(&page) })
                > more(LinkFeatures { anchor: "路灯", ..LinkFeatures::new(&page) })
        );
        assert!(
            more(LinkFeatures { anchor: "x", around: "the lighthouse", ..LinkFeatures::new(&page) })
                > more(LinkFeatures { anchor: "x", ..LinkFeatures::new(&page) })
        );
        let seen = |evidence: PageFeatures<'_>| true_weight(&evidence, &rules());
        let page = PageFeatures::new(&page);
        assert!(seen(PageFeatures { text: "a LIGHTHOUSE", ..page }) > seen(page));
        assert!(
            seen(PageFeatures { title: "lighthouse", ..page })
                > seen(PageFeatures { text: "lighthouse", ..page })
        );
        assert!(seen(PageFeatures { mirrors: 3, language: "zh", ..page }) > seen(page));
    }

    fn who() -> impl proptest::strategy::Strategy<Value = AddedBy> {
        prop_oneof![
            Just(AddedBy::Link),
            Just(AddedBy::Sitemap),
            Just(AddedBy::Submission),
            Just(AddedBy::Seed)
        ]
    }

    proptest! {
        #[test]
        fn weights_are_bounded_and_monotone(
            path in "[a-z/?&]{0,60}", anchor in "\\PC{0,80}", added_by in who(), parent: Option<u32>,
            referring: u32, mirrors: u32, relevance: f64, more in 0..1000u32,
        ) {
            let page = url(&format!("http://www.pku.edu.cn/{path}"));
            let clues = LinkFeatures { added_by, parent_weight: parent, parent_relevance: relevance, anchor: &anchor,
                referring_pages: referring, ..LinkFeatures::new(&page) };
            let weight = predict_weight(&clues, &rules()).total;
            prop_assert!((1..=MAX_WEIGHT).contains(&weight));
            let rises = |clues: LinkFeatures<'_>| predict_weight(&clues, &rules()).total >= weight;
            let heavier = Some(parent.unwrap_or(0).saturating_add(more));
            prop_assert!(rises(LinkFeatures { parent_weight: heavier, ..clues }), "not monotone");
            prop_assert!(rises(LinkFeatures { referring_pages: referring.saturating_add(more), ..clues }), "not monotone");
            prop_assert!(rises(LinkFeatures { added_by: AddedBy::Seed, ..clues }), "not monotone");
            let longer = url(&format!("http://www.pku.edu.cn/{path}/x"));
            prop_assert!(initial_weight(&longer) <= initial_weight(&page));
            prop_assert!(predict_weight(&LinkFeatures { url: &longer, ..clues }, &rules()).total <= weight, "not monotone");
            let seen = PageFeatures { added_by, parent_weight: parent, referring_pages: referring, mirrors,
                text: &anchor, ..PageFeatures::new(&page) };
            let weight = true_weight(&seen, &rules());
            prop_assert!((1..=MAX_WEIGHT).contains(&weight));
            let referring_pages = referring.saturating_add(more);
            prop_assert!(true_weight(&PageFeatures { referring_pages, ..seen }, &rules()) >= weight, "not monotone");
        }
    }
}
