//! `/search`: the result page.
//!
//! [`search_params`] parses the request and builds links to variations of it, [`menus`] are the filters, [`hit`] is one result.

mod hit;
mod menus;
pub(crate) mod search_params;

#[cfg(test)]
mod size_budget;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use pharos_core::Config;
use pharos_query::{CuratedBy, PAGE_PRODUCT, ResultNotice, SearchRequest, SearchResponse};

use self::hit::HitView;
use self::menus::{FilterMenu, menus};
use self::search_params::{SearchParam, SearchParams};
use super::frame::{Link, PageFrame, respond};
use super::paging::{last_page, page_window};
use crate::api::{ResultFormat, format_results};
use crate::messages::{Lang, fill, grouped};
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

pub(crate) async fn results(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ServiceError> {
    if let Some(format) = ResultFormat::from_visitor(&visitor) {
        return format_results(&app, &visitor, format).await;
    }
    let config = app.config();
    let mut params = SearchParams::from_visitor(&visitor, config);
    if params.query.is_empty() {
        return Ok(Redirect::to("/").into_response());
    }
    let request = params.request(config);
    let mut answer = app.search(request.clone()).await?;
    if !params.is_reachable(config) {
        answer.hits.clear();
    }
    let request = SearchRequest { page: params.page, ..request };
    let impression = app.log_response(&visitor, PAGE_PRODUCT, &request, &answer);
    let searchable = if answer.matches() == 0 { app.searchable_pages().await? } else { answer.matches() };
    params.generation.clone_from(&answer.generation);
    let mut page = ResultsPage::new(&visitor, config, &params, &answer, impression, searchable);
    if let Some(taxonomy) = app.taxonomy().filter(|_| !page.menus.is_empty()) {
        page.menus = menus(&params, &answer, Some(&taxonomy), visitor.lang);
    }
    Ok(respond(&visitor, StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPage {
    frame: PageFrame,
    query: String,
    focus: bool,
    /// Id of the impression, which clicks carry; empty if logging is off.
    impression: String,
    /// Position of the first result across all pages.
    first: usize,
    menus: Vec<FilterMenu>,
    sort: Option<Link>,
    summary: Option<ResultSummary>,
    corrected: Option<Link>,
    /// The query as typed, if its correction is shown instead.
    as_typed: Option<Link>,
    related: Vec<Link>,
    notices: Vec<&'static str>,
    /// A text of the operator.
    operator_notice: Option<ResultNotice>,
    /// Lines about hidden results, if requested.
    hidden: Vec<String>,
    outcome: ResultsOutcome,
    paging: Option<Paging>,
    no_results: NoResultsHelp,
}

/// The line above the results.
struct ResultSummary {
    count: String,
    /// Page number, from the second page on.
    place: Option<String>,
    time: String,
    understood: String,
}

enum ResultsOutcome {
    Hits(Vec<HitView>),
    NoResults,
    EmptyIndex,
    BeyondLastPage(BeyondLastPage),
}

/// Shown if there are no results.
struct NoResultsHelp {
    title: String,
    /// The same query without filters, if there are any.
    unfiltered: Option<Link>,
}

/// The requested page is beyond the last one.
struct BeyondLastPage {
    title: String,
    first: Link,
    last: Option<Link>,
}

struct Paging {
    previous: Option<Link>,
    numbers: Vec<PageNumber>,
    next: Option<Link>,
}

struct PageNumber {
    number: usize,
    href: String,
    current: bool,
}

impl ResultsPage {
    /// `searchable` is the number of pages in the index; only whether it is 0 matters.
    fn new(
        visitor: &Visitor,
        config: &Config,
        params: &SearchParams,
        answer: &SearchResponse,
        impression: String,
        searchable: u64,
    ) -> Self {
        let messages = visitor.messages();
        let (query, page) = (params.query.as_str(), params.page);
        // Near-duplicates are grouped, so the exact number of pages is known only at the end.
        let size = params.page_size(config);
        let at_most = || last_page(answer.matches(), size, config.query.max_results);
        let last = answer.last_page.unwrap_or_else(at_most);
        let exact = answer.exact_query.as_deref();
        let hit = |hit| {
            let view = HitView::new(hit, exact, params, visitor.lang);
            if config.crawl.icons { view.with_icon() } else { view }
        };
        let outcome = if searchable == 0 {
            ResultsOutcome::EmptyIndex
        } else if !answer.hits.is_empty() {
            ResultsOutcome::Hits(answer.hits.iter().map(hit).collect())
        } else if answer.matches() > 0 {
            ResultsOutcome::BeyondLastPage(BeyondLastPage {
                title: fill(messages.beyond_title, &[&grouped(page as u64)]),
                first: params.page_link(1, messages.first_page),
                last: (1 < last && last < page).then(|| params.page_link(last, messages.last_page)),
            })
        } else {
            ResultsOutcome::NoResults
        };
        let mut notices = Vec::new();
        if answer.relaxed && !answer.hits.is_empty() {
            notices.push(messages.relaxed);
        }
        if answer.partial {
            notices.push(messages.partial);
        }
        let (has_hits, is_filtered) =
            (matches!(outcome, ResultsOutcome::Hits(_)), !params.filters.is_empty());
        let sort = |(text, value)| Link {
            href: params.href_with(SearchParam::Sort, value),
            text: String::from(text),
        };
        let other_order = if params.newest_first {
            (messages.sort_best, None)
        } else {
            (messages.sort_newest, Some("date"))
        };
        let hidden = |by: &CuratedBy| fill(messages.hidden_by, &[&by.by, &by.at]);
        Self {
            frame: PageFrame::new(visitor, config),
            query: query.to_string(),
            focus: false,
            impression,
            first: (page - 1).saturating_mul(size).saturating_add(1),
            menus: if has_hits || is_filtered {
                menus(params, answer, None, visitor.lang)
            } else {
                Vec::new()
            },
            sort: (has_hits && answer.matches() > 1).then(|| sort(other_order)),
            summary: has_hits.then(|| ResultSummary::new(visitor.lang, page, last, answer)),
            as_typed: answer.is_corrected.then(|| params.as_typed_link()),
            corrected: answer.corrected.as_ref().map(|text| SearchParams::query_link(text, "corrected")),
            related: answer
                .suggestions
                .iter()
                .map(|text| SearchParams::query_link(text, "related"))
                .collect(),
            notices,
            operator_notice: answer.notice.clone(),
            hidden: answer.explanation.iter().flat_map(|of| &of.hidden).map(hidden).collect(),
            paging: Paging::new(params, last),
            outcome,
            no_results: NoResultsHelp {
                title: fill(messages.nothing_title, &[query]),
                unfiltered: is_filtered
                    .then(|| Link { href: params.without_filters(), text: messages.no_filters.into() }),
            },
        }
    }
}

impl ResultSummary {
    fn new(lang: Lang, page: usize, last: usize, answer: &SearchResponse) -> Self {
        let messages = lang.messages();
        let place = || fill(messages.found_page, &[&grouped(page as u64), &grouped(last.max(page) as u64)]);
        Self {
            count: messages.result_count(answer.total, answer.total_is_exact, answer.partial_total),
            place: (page > 1).then(place),
            time: messages.search_time(answer.took_ms),
            understood: answer.understood.trim().to_string(),
        }
    }
}

impl Paging {
    /// Returns `None` if there is only one page.
    fn new(params: &SearchParams, last: usize) -> Option<Self> {
        let page = params.page;
        if last < 2 && page < 2 {
            return None;
        }
        let last = last.max(page);
        let turn = |number: usize| params.page_link(number, number.to_string());
        let number = |number| PageNumber { number, href: turn(number).href, current: number == page };
        Some(Self {
            previous: (page > 1).then(|| turn(page - 1)),
            numbers: page_window(page, last).map(number).collect(),
            next: (page < last).then(|| turn(page + 1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{Extensions, HeaderMap};
    use pharos_query::response::{FacetValue, Sitelink};
    use pharos_query::{Filters, SearchHit};

    use super::*;

    fn hit() -> SearchHit {
        SearchHit {
            url: "https://www.example.org/%E7%81%AF%E5%A1%94/a%3Cb".into(),
            title: "A & B".into(),
            title_html: "<mark>A</mark> &amp; B".into(),
            snippet_html: "about <mark>A</mark>".into(),
            site: "www.example.org".into(),
            date: Some("2026-01-31".into()),
            lang: "en".into(),
            cached_url: Some("/snapshot/00".into()),
            more_from_site: 4,
            duplicates: 1,
            sitelinks: vec![Sitelink {
                url: "https://www.example.org/hours".into(),
                title: "Hours & prices".into(),
            }],
            ..SearchHit::default()
        }
    }

    fn answer(hits: Vec<SearchHit>, total: u64) -> SearchResponse {
        let understood = "a b".to_string();
        SearchResponse {
            understood,
            total,
            total_is_exact: true,
            took_ms: 3.2,
            page: 1,
            hits,
            ..SearchResponse::default()
        }
    }

    fn params() -> SearchParams {
        let visitor = Visitor::new(&"/search?q=x".parse().unwrap(), &HeaderMap::new(), &Extensions::new());
        SearchParams { generation: "7".into(), ..SearchParams::from_visitor(&visitor, &Config::default()) }
    }

    fn shown(visitor: &Visitor, params: &SearchParams, answer: &SearchResponse, searchable: u64) -> String {
        let config = Config::default();
        ResultsPage::new(visitor, &config, params, answer, "i7".into(), searchable).render().unwrap()
    }

    fn rendered(query: &str, page: usize, answer: &SearchResponse, searchable: u64) -> String {
        let visitor = Visitor::new(&"/search?q=x".parse().unwrap(), &HeaderMap::new(), &Extensions::new());
        shown(&visitor, &SearchParams { query: query.into(), page, ..params() }, answer, searchable)
    }

    #[test]
    fn a_result_shows_all_its_fields() {
        let html = rendered("A+B", 1, &answer(vec![hit()], 1), 1);
        for part in [
            "<title>A+B – Pharos</title>",
            "value=\"A+B\"",
            "<span>1 result</span><span>3.2 ms</span><span title=\"Interpretation of the query\"><b>a b</b></span>",
            "<ol class=\"hits\" data-impression=\"i7\" data-first=\"1\">",
            "<li lang=\"en\">",
            "<a href=\"https://www.example.org/%E7%81%AF%E5%A1%94/a%3Cb\"><mark>A</mark> &amp; B</a>",
            "<bdi>灯塔</bdi>",
            "<bdi>a&#60;b</bdi>",
            "<time datetime=\"2026-01-31\" lang=\"en\">31 Jan 2026</time>",
            "about <mark>A</mark>",
            "<li><a href=\"https://www.example.org/hours\">Hours &#38; prices</a></li>",
            "<a href=\"/snapshot/00?q=A%2BB\" rel=\"nofollow\">Snapshot</a>",
            "<a href=\"/search?q=related%3Ahttps%3A%2F%2Fwww.example.org%2F%25E7%2581%25AF%25E5%25A1%2594%2Fa%253Cb\" \
             rel=\"nofollow\">Similar pages</a>",
            "<a href=\"/search?q=A%2BB&#38;site=www.example.org\" rel=\"nofollow\">4 more from this site</a>",
            "<a href=\"/search?q=A%2BB&#38;all=1\" rel=\"nofollow\">1 duplicate not shown</a>",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        assert!(!html.contains("class=\"paging\""));
    }

    #[test]
    fn hostile_values_are_escaped() {
        let evil = "\"><script>alert(1)</script>";
        for url in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//evil.example/",
            "",
            "JAVASCRIPT://%0aalert(1)",
            evil,
        ] {
            let hit = SearchHit {
                url: url.into(),
                site: evil.into(),
                date: Some(evil.into()),
                lang: evil.into(),
                cached_url: Some("https://evil.example/".into()),
                sitelinks: vec![Sitelink { url: url.into(), title: evil.into() }],
                ..hit()
            };
            let mut answer = answer(vec![hit], 1);
            answer.understood = evil.into();
            answer.corrected = Some(evil.into());
            answer.suggestions = vec![evil.into(), "javascript:alert(1)".into()];
            let html = rendered(evil, 1, &answer, 1);
            assert_eq!(html.matches("<script").count(), 1, "{html}");
            assert!(html.contains("<script src=\"/static/pharos.js?v="), "only our own script: {html}");
            assert!(html.contains("<h2><mark>A</mark> &amp; B</h2>"), "{html}");
            assert!(!html.contains("evil.example/\""), "{html}");
        }
    }

    #[test]
    fn numbers_link_to_pages() {
        let html = rendered("a b", 2, &answer(vec![hit()], 45), 45);
        for part in [
            "45 results</span><span>page 2 of 5</span>",
            "<a class=\"turn\" href=\"/search?q=a+b\" rel=\"prev\">Previous</a>",
            "<li><a href=\"/search?q=a+b\">1</a></li>",
            "<li><span aria-current=\"page\">2</span></li>",
            "<li><a href=\"/search?q=a+b&#38;page=5&#38;generation=7\">5</a></li>",
            "<a class=\"turn\" href=\"/search?q=a+b&#38;page=3&#38;generation=7\" rel=\"next\">Next</a>",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        assert!(!html.contains("page=6"));
    }

    #[test]
    fn paging_keeps_duplicates_and_ends() {
        let visitor =
            Visitor::new(&"/search?q=x&all=1".parse().unwrap(), &HeaderMap::new(), &Extensions::new());
        assert!(visitor.wants_all());
        let params = SearchParams { page: 2, all: true, ..params() };
        let answer = SearchResponse { last_page: Some(3), ..answer(vec![hit()], 45) };
        let html = shown(&visitor, &params, &answer, 45);
        assert!(html.contains("href=\"/search?q=x&#38;all=1\" rel=\"prev\""), "{html}");
        assert!(
            html.contains("href=\"/search?q=x&#38;all=1&#38;page=3&#38;generation=7\" rel=\"next\""),
            "{html}"
        );
        assert!(html.contains("page 2 of 3") && !html.contains("page=4"), "{html}");
    }

    #[test]
    fn links_keep_the_page_size() {
        let visitor = Visitor::new(
            &"/search?q=x&page=2&size=20".parse().unwrap(),
            &HeaderMap::new(),
            &Extensions::new(),
        );
        let params = SearchParams {
            generation: "7".into(),
            ..SearchParams::from_visitor(&visitor, &Config::default())
        };
        assert_eq!((params.request(&Config::default()).size, params.page), (20, 2));
        let html = shown(&visitor, &params, &answer(vec![hit()], 45), 45);
        for part in [
            "page 2 of 3",
            "data-first=\"21\"",
            "href=\"/search?q=x&#38;size=20\" rel=\"prev\"",
            "href=\"/search?q=x&#38;size=20&#38;page=3&#38;generation=7\" rel=\"next\"",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        let odd =
            Visitor::new(&"/search?q=x&size=1000".parse().unwrap(), &HeaderMap::new(), &Extensions::new());
        assert_eq!(SearchParams::from_visitor(&odd, &Config::default()).request(&Config::default()).size, 10);
    }

    #[test]
    fn partial_matches_name_the_words_they_lack() {
        let partial = SearchHit { missing: vec!["introduction".into(), "<b>".into()], ..hit() };
        let exact_query = Some("+a +introduction".to_string());
        let answer = SearchResponse { exact_query, partial_total: 1, ..answer(vec![hit(), partial], 1) };
        let html = rendered("a introduction", 1, &answer, 2);
        for part in [
            "<span>1 result + 1 with some of the words</span>",
            "<span>Without: <s>introduction, &#60;b&#62;</s></span>",
            "<a href=\"/search?q=%2Ba+%2Bintroduction\" rel=\"nofollow\">Require all words</a>",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        assert_eq!(html.matches("Require all words").count(), 1);
    }

    #[test]
    fn corrected_results_link_to_the_query_as_typed() {
        let answer = SearchResponse {
            corrected: Some("lighthouse".into()),
            is_corrected: true,
            ..answer(vec![hit()], 1)
        };
        let html = rendered("lighthuose", 1, &answer, 1);
        let typed = "Search instead for <a href=\"/search?q=lighthuose&#38;as_typed=1\" rel=\"nofollow\">lighthuose</a>";
        assert!(html.contains(typed) && html.contains("Showing results for <a href="), "{html}");
    }

    #[test]
    fn missing_results_are_explained() {
        assert!(rendered("x y", 1, &answer(vec![], 0), 9).contains("Use fewer words"));
        assert!(!rendered("x", 1, &answer(vec![], 0), 9).contains("Use fewer words"));
        assert!(rendered("x", 1, &answer(vec![], 0), 0).contains("pharos crawl"));
        let beyond = rendered("x", 7, &answer(vec![], 25), 25);
        assert!(beyond.contains("There is no result page 7"), "{beyond}");
        assert!(
            beyond.contains("<a href=\"/search?q=x&#38;page=3&#38;generation=7\">Last page</a>"),
            "{beyond}"
        );
        assert!(!beyond.contains("class=\"paging\""));
    }

    #[test]
    fn notices_report_changes_of_the_query() {
        let answer = SearchResponse {
            relaxed: true,
            partial: true,
            corrected: Some("<b>".into()),
            ..answer(vec![hit()], 1)
        };
        let html = rendered("x", 1, &answer, 1);
        assert!(html.contains("Did you mean <a href=\"/search?q=%3Cb%3E&#38;from=corrected\">"), "{html}");
        assert!(html.contains(">&#60;b&#62;</a>?"), "{html}");
        assert!(html.contains("No page contains all") && html.contains("ran out of time"), "{html}");
    }

    #[test]
    fn menus_offer_facets_and_keep_the_selection() {
        let value = |value: &str, pages| FacetValue { value: value.into(), pages };
        let mut answer = answer(vec![hit()], 45);
        answer.facets.insert("site".into(), vec![value("a.example", 40), value("b.example", 5)]);
        answer.facets.insert("lang".into(), vec![value("en", 45)]);
        answer.facets.insert("time".into(), vec![value("day", 0), value("week", 3), value("\"><b>", 1)]);
        let html = rendered("x", 1, &answer, 45);
        assert_eq!(html.matches("<details name=").count(), 2, "a single language is no choice: {html}");
        assert!(
            html.contains(
                "<a href=\"/search?q=x&#38;site=b.example\" rel=\"nofollow\">b.example<small>5</small></a>"
            ),
            "{html}"
        );
        assert!(html.contains("Past week<small>3</small>") && !html.contains("Past day"), "{html}");
        assert!(!html.contains("<b>\""), "{html}");

        let uri = "/search?q=x&site=b.example&in=zh&time=week&sort=date".parse().unwrap();
        let visitor = Visitor::new(&uri, &HeaderMap::new(), &Extensions::new());
        let chosen = SearchParams::from_visitor(&visitor, &Config::default());
        assert_eq!(chosen.filters.site.as_deref(), Some("b.example"));
        let html = shown(&visitor, &chosen, &answer, 45);
        let without_site = "/search?q=x&#38;in=zh&#38;time=week&#38;sort=date";
        assert!(
            html.contains(&format!("<a href=\"{without_site}\" rel=\"nofollow\">Any site</a>")),
            "{html}"
        );
        assert!(html.contains("<summary class=\"set\">b.example</summary>"), "{html}");
        assert!(html.contains("Most relevant first"), "{html}");
        let nothing =
            shown(&visitor, &chosen, &SearchResponse { query: "x".into(), ..SearchResponse::default() }, 45);
        assert!(
            nothing.contains("<a href=\"/search?q=x&#38;sort=date\">Search without filters</a>"),
            "{nothing}"
        );
        for odd in ["/search?q=x&site=%00&time=eon&in=", "/search?q=x&site=+++"] {
            let visitor = Visitor::new(&odd.parse().unwrap(), &HeaderMap::new(), &Extensions::new());
            assert_eq!(SearchParams::from_visitor(&visitor, &Config::default()).filters, Filters::default());
        }
    }
}
