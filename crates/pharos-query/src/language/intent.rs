//! Detection of the kind of a query (查询意图), which selects the ranking weights.
//!
//! In-links distinguish home pages well and other pages poorly (《搜索引擎——原理、技术与系统》§9.4), so only queries that name a
//! site are ranked by home page features. A query names a site if a home page that contains its words has that name:
//! in a part of its title, in anchor texts (the declared name and author of the site count as such) or in its host.

use std::collections::HashSet;
use std::sync::LazyLock;

use pharos_core::PageUrl;
use pharos_index::document::day;
use pharos_text::normalise;
use serde::Serialize;
use utoipa::ToSchema;

use crate::language::expression::Expression;
use crate::language::term::QueryTerm;

/// A kind of query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = QueryKind)]
pub enum QueryKind {
    /// Seeks pages about a subject (信息类).
    #[default]
    Ordinary,
    /// Names a site (导航类).
    Site,
    /// Seeks recent pages.
    News,
}

/// Maximum number of words in the name of a site.
const MAX_NAME_WORDS: usize = 5;

/// Words that mark news queries.
struct NewsWords {
    anywhere: HashSet<&'static str>,
    /// Words that have this meaning only at the end of a query.
    at_end: HashSet<&'static str>,
}

static NEWS_WORDS: LazyLock<NewsWords> = LazyLock::new(|| {
    let lines = include_str!("words/news_words.txt").lines().filter(|line| !line.starts_with('#'));
    let (at_end, anywhere): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("last:"));
    let words = |lines: Vec<&'static str>| {
        lines.into_iter().flat_map(str::split_whitespace).filter(|word| *word != "last:").collect()
    };
    NewsWords { anywhere: words(anywhere), at_end: words(at_end) }
});

/// Returns `true` if the query may name a site. Then home pages are retrieved as well.
pub(crate) fn may_name_site(query: &Expression) -> bool {
    let words = query.terms().len();
    query.is_plain() && (1..=MAX_NAME_WORDS).contains(&words)
}

/// Beginnings and ends of site names that people leave out or add: "The Rust Blog", 南京大学官网.
const NAME_PREFIXES: [&str; 2] = ["the ", "welcome to "];
const NAME_SUFFIXES: [&str; 13] = [
    " official website",
    " official site",
    " website",
    " homepage",
    " home page",
    "'s blog",
    " blog",
    "的博客",
    "博客",
    "官方网站",
    "官网",
    "主页",
    "首页",
];

/// Returns `true` if the query equals a part of the title of a home page, its host, or a label of its host, without
/// regard to articles and words such as *blog* and 官网.
pub(crate) fn is_site_name(query: &str, title: &str, url: &str) -> bool {
    let name = bare_name(query);
    let separators = ['-', '–', '—', '|', '｜', '_', ':', '：', '·', '•', '»', '>', '/', ',', '，'];
    let in_title = || bare_name(title) == name || title.split(separators).any(|part| bare_name(part) == name);
    let in_host = || {
        PageUrl::parse(url).is_ok_and(|url| {
            let site = url.site();
            let host = site.host().strip_prefix("www.").unwrap_or(site.host());
            let first_label = |name: &str| name.split('.').next().map(letters_only);
            let named = [Some(letters_only(host)), first_label(host), first_label(site.domain())];
            named.contains(&Some(name.clone()))
        })
    };
    !name.is_empty() && (in_title() || in_host())
}

/// Returns the letters and digits of a name without the beginnings and ends that names of sites often have.
fn bare_name(text: &str) -> String {
    let text = normalise(text).replace('’', "'");
    let mut name = text.trim();
    for prefix in NAME_PREFIXES {
        name = name.strip_prefix(prefix).unwrap_or(name).trim();
    }
    while let Some(rest) = NAME_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)) {
        if letters_only(rest).is_empty() {
            break;
        }
        name = rest.trim();
    }
    letters_only(name)
}

/// Returns the letters and digits of a text, normalised.
pub(crate) fn letters_only(text: &str) -> String {
    normalise(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns `true` if the query seeks recent pages: it contains a news word or the current year.
pub(crate) fn wants_news(query: &Expression, today: i64) -> bool {
    let today = day::format(today);
    let year = today.get(..4).unwrap_or_default();
    let terms = query.terms();
    let is_news = |term: &&QueryTerm| NEWS_WORDS.anywhere.contains(term.word.as_str()) || term.word == year;
    let ends_so = |last: &&QueryTerm| terms.len() > 1 && NEWS_WORDS.at_end.contains(last.word.as_str());
    terms.iter().any(is_news) || terms.last().is_some_and(ends_so)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pharos_core::{Config, LibraryPosition, ManualClock, Timestamp};
    use pharos_index::{Anchor, IndexChange, IndexDocument, LinkFigures};
    use pharos_text::Analyser;

    use super::*;
    use crate::testing::open_index;
    use crate::{QueryProcessor, SearchRequest};

    fn search(pages: Vec<IndexDocument>) -> (tempfile::TempDir, QueryProcessor) {
        let dir = tempfile::tempdir().unwrap();
        let index = open_index(dir.path());
        index.apply(pages.into_iter().map(|page| IndexChange::Put(Box::new(page))).collect()).unwrap();
        index.commit(&LibraryPosition::new(1, 1).into()).unwrap();
        (dir, QueryProcessor::new(index, &Config::default()))
    }

    fn page(url: &str, title: &str, body: &str) -> IndexDocument {
        IndexDocument {
            title: title.into(),
            body: body.into(),
            ..IndexDocument::new(PageUrl::parse(url).unwrap())
        }
    }

    #[test]
    fn a_query_that_names_a_site_finds_its_home_page_first() {
        let mut pages: Vec<IndexDocument> = (0..40)
            .map(|nth| {
                let url = format!("http://news{nth}.example/{nth}.html");
                page(
                    &url,
                    "南京大学 南京大学新闻",
                    "南京大学今天举行会议。南京大学校长、南京大学教授参加了南京大学的会议。",
                )
            })
            .collect();
        let home = page("http://www.nju.example/", "南京大学", "学校概况 院系设置 招生 就业");
        let link_figures = LinkFigures { link_hits: 90, in_degree: 900, ..LinkFigures::default() };
        let anchors = vec![Anchor { text: "南京大学".into(), votes: 4 }];
        pages.push(IndexDocument { link_figures, anchors, ..home });
        pages.push(page("http://other.example/", "门户", "南京大学 北京大学 清华大学"));
        let (_dir, search) = search(pages);
        let answer = search.run(&SearchRequest::new("南京大学")).unwrap();
        assert_eq!((answer.kind, answer.hits[0].url.as_str()), (QueryKind::Site, "http://www.nju.example/"));
        let ordinary = search.run(&SearchRequest::new("南京大学 会议")).unwrap();
        assert_eq!(ordinary.kind, QueryKind::Ordinary);
        assert!(ordinary.hits[0].url.contains("news"));
    }

    #[test]
    fn names_are_compared_without_articles_and_generic_words() {
        let url = "https://blog.port-aster.example.com/";
        for (query, title) in [
            ("port aster", "The Port Aster Blog"),
            ("Anna’s blog", "Anna | Ships and harbours"),
            ("the lamp room", "Lamp Room - welcome"),
            ("南京大学官网", "南京大学"),
            ("阮一峰", "阮一峰的博客"),
            ("port aster official website", "Port Aster"),
            ("example", "Notes"),
            ("example.com", "example.com"),
        ] {
            assert!(is_site_name(query, title, url), "{query}, {title}");
        }
        for (query, title) in
            [("", "Anna"), ("blog", "Anna's blog"), ("官网", "南京大学"), ("aster", "Port Aster")]
        {
            assert!(!is_site_name(query, title, "http://other.example/"), "{query}, {title}");
        }
    }

    #[test]
    fn a_site_is_named_by_its_address_too() {
        let pages = vec![
            page("http://www.port-aster.example/", "Welcome", "boats and ships"),
            page("http://a.example/1", "On port aster", "port aster port aster port aster"),
        ];
        let (_dir, search) = search(pages);
        let answer = search.run(&SearchRequest::new("port aster")).unwrap();
        assert_eq!(
            (answer.kind, answer.hits[0].url.as_str()),
            (QueryKind::Site, "http://www.port-aster.example/")
        );
    }

    #[test]
    fn a_word_of_a_name_is_no_name() {
        let home = "http://www.tea-kitchen.example/";
        let title = "The Tea Kitchen 茶与厨房: tea and recipes";
        assert!(is_site_name("tea and recipes", title, home) && is_site_name("Tea Kitchen", title, home));
        assert!(is_site_name("tea-kitchen.example", title, home));
        assert!(
            !is_site_name("tea", title, home)
                && !is_site_name("厨房", title, home)
                && !is_site_name("", title, home)
        );
    }

    #[test]
    fn words_and_years_mark_news_queries() {
        let today = day::parse("2026-11-17").unwrap();
        let wants = |text: &str| wants_news(&crate::language::parse::parse(text, Analyser::shared()), today);
        assert!(wants("灯塔 最新 消息") && wants("lighthouse news") && wants("elections 2026"));
        assert!(!wants("灯塔 历史") && !wants("elections 1996"));
        assert!(wants("学校动态") && wants("灯塔 消息"));
        assert!(!wants("动态规划") && !wants("动态规划 入门") && !wants("消息队列") && !wants("动态"));
    }

    #[test]
    fn fresh_pages_come_first_for_news_queries() {
        let dated = |nth: usize, date: &str| IndexDocument {
            date: Some(date.into()),
            ..page(&format!("http://s{nth}.example/{nth}"), "Harbour news", "news of the harbour")
        };
        let (_dir, search) =
            search(vec![dated(1, "2001-01-01"), dated(2, "2026-11-16"), dated(3, "2011-11-01")]);
        let noon = Timestamp::parse("2026-11-17T12:00:00Z").unwrap();
        let search = search.with_clock(Arc::new(ManualClock::starting_at(noon)));
        let answer = search.run(&SearchRequest::new("harbour news")).unwrap();
        assert_eq!((answer.kind, answer.hits[0].url.as_str()), (QueryKind::News, "http://s2.example/2"));
    }
}
