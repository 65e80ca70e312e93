//! The result page.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Redirect, Response};
use percent_encoding::percent_decode_str;
use pharos_core::{Config, PageUrl};
use pharos_query::{Answer, Contribution, Explanation, Hit, Request};

use crate::assets;
use crate::formats::{Format, formatted};
use crate::headers::WITH_SCRIPT;
use crate::journal::write_down;
use crate::page::{Frame, Link, respond};
use crate::paging::{last_page, page_number, window};
use crate::service::{Rooms, ServiceError};
use crate::visitor::{Visitor, link};
use crate::words::{Lang, fill, grouped};

/// Longer breadcrumbs are cut: the browser shows one line.
const MAX_STEPS: usize = 8;

pub(crate) async fn results(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, ServiceError> {
    if let Some(format) = Format::of(&visitor) {
        return formatted(&rooms, &visitor, format).await;
    }
    let config = rooms.config();
    let query = visitor.query(config.query.max_length);
    if query.is_empty() {
        return Ok(Redirect::to("/").into_response());
    }
    let page = page_number(visitor.param("page"));
    let size = config.query.page_size.max(1);
    let reachable = page <= last_page(u64::MAX, size, config.query.max_results);
    // What lies beyond the limit is not asked for; the first page tells how far the results go.
    let all = visitor.wants_all();
    let newest_first = visitor.newest_first().unwrap_or_default();
    let request = Request {
        text: query.clone(),
        page: if reachable { page } else { 1 },
        size,
        all,
        newest_first,
        explain: visitor.wants("explain"),
        generation: visitor.param("generation").map(String::from),
        ..Request::default()
    };
    let mut answer = rooms.run(request.clone()).await?;
    if !reachable {
        answer.hits.clear();
    }
    let impression = write_down(&rooms, &visitor, "web", &Request { page, ..request }, &answer);
    let searchable = if answer.total == 0 { rooms.pages().await? } else { answer.total };
    let page = ResultsPage::new(
        &visitor,
        config,
        &Asked { query, page, all, newest_first, generation: answer.generation.clone(), impression },
        &answer,
        searchable,
    );
    let mut response = respond(&visitor, StatusCode::OK, &page);
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, WITH_SCRIPT);
    Ok(response)
}

/// What the visitor asked for.
struct Asked {
    query: String,
    page: usize,
    /// Copies, too.
    all: bool,
    newest_first: bool,
    /// The state of the index that the first page came from.
    generation: String,
    /// The name of what is shown, which clicks on it carry.
    impression: String,
}

impl Asked {
    /// Where a click on something that is shown is told; nowhere where nothing is written down.
    fn ping(&self, kind: &str, rank: usize) -> String {
        if self.impression.is_empty() {
            return String::new();
        }
        let rank = rank.to_string();
        link("/api/v1/click", [("impression", self.impression.as_str()), ("kind", kind), ("rank", &rank)])
    }

    /// Another query that this page offers.
    fn offer(&self, query: &str, kind: &'static str, rank: usize) -> Offer {
        Offer {
            href: link("/search", [("q", query), ("from", kind)]),
            ping: self.ping(kind, rank),
            text: query.to_string(),
        }
    }

    /// Another page of the same results.
    fn turn_to(&self, page: usize, text: impl Into<String>) -> Link {
        let number = page.to_string();
        let mut params = vec![("q", self.query.as_str())];
        params.extend((page > 1).then_some(("page", number.as_str())));
        params.extend(self.all.then_some(("all", "1")));
        params.extend(self.newest_first.then_some(("sort", "date")));
        params.extend((page > 1).then_some(("generation", self.generation.as_str())));
        Link { href: link("/search", params), text: text.into() }
    }
}

#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPage {
    frame: Frame,
    query: String,
    focus: bool,
    bar: Option<Bar>,
    corrected: Option<Offer>,
    related: Vec<Offer>,
    /// Where the script is, for pages that tell clicks.
    script: Option<&'static str>,
    notices: Vec<&'static str>,
    outcome: Outcome,
    paging: Option<Paging>,
    nothing_title: String,
}

/// Another query to ask.
struct Offer {
    href: String,
    ping: String,
    text: String,
}

/// The line above the results.
struct Bar {
    count: String,
    /// Which page this is, from the second on.
    place: Option<String>,
    time: String,
    understood: Option<String>,
}

enum Outcome {
    Hits(Vec<HitView>),
    Nothing,
    EmptyIndex,
    Beyond(Beyond),
}

/// The results end before the page asked for.
struct Beyond {
    title: String,
    first: Link,
    last: Option<Link>,
}

/// One result as it is shown.
struct HitView {
    link: Option<String>,
    /// Where clicks are told.
    ping: String,
    snapshot_ping: String,
    title_html: String,
    site: String,
    /// The steps of the address behind the site, readable.
    path: Vec<String>,
    date: Option<Day>,
    snippet_html: String,
    lang: String,
    snapshot: Option<String>,
    more: Option<Link>,
    duplicates: Option<Link>,
    indented: bool,
    /// What its score is made of, where asked for.
    explanation: Vec<Line>,
}

/// A part of a score.
struct Line {
    part: &'static str,
    value: String,
    weight: String,
    gives: String,
}

struct Day {
    machine: String,
    shown: String,
}

struct Paging {
    previous: Option<Link>,
    numbers: Vec<Number>,
    next: Option<Link>,
}

struct Number {
    number: usize,
    href: String,
    current: bool,
}

impl ResultsPage {
    /// `searchable` is the number of pages in the index, as far as it matters: 0 only when it is empty.
    fn new(visitor: &Visitor, config: &Config, asked: &Asked, answer: &Answer, searchable: u64) -> Self {
        let words = visitor.words();
        let (query, page) = (asked.query.as_str(), asked.page);
        // Near-duplicates are one result: how many pages there are is known at the end.
        let at_most = || last_page(answer.total, config.query.page_size, config.query.max_results);
        let last = answer.last_page.unwrap_or_else(at_most);
        let outcome = if searchable == 0 {
            Outcome::EmptyIndex
        } else if !answer.hits.is_empty() {
            let first = (page - 1).saturating_mul(config.query.page_size.max(1)).saturating_add(1);
            let hits = (first..=usize::MAX).zip(&answer.hits);
            Outcome::Hits(hits.map(|(rank, hit)| HitView::new(hit, rank, asked, visitor.lang)).collect())
        } else if answer.total > 0 {
            Outcome::Beyond(Beyond {
                title: fill(words.beyond_title, &[&grouped(page as u64)]),
                first: asked.turn_to(1, words.first_page),
                last: (1 < last && last < page).then(|| asked.turn_to(last, words.last_page)),
            })
        } else {
            Outcome::Nothing
        };
        let mut notices = Vec::new();
        if answer.relaxed && !answer.hits.is_empty() {
            notices.push(words.relaxed);
        }
        if answer.partial {
            notices.push(words.partial);
        }
        Self {
            frame: Frame::new(visitor, config),
            query: query.to_string(),
            focus: false,
            bar: matches!(outcome, Outcome::Hits(_))
                .then(|| Bar::new(visitor.lang, query, page, last, answer)),
            corrected: answer.corrected.as_ref().map(|text| asked.offer(text, "corrected", 1)),
            related: (1..)
                .zip(&answer.suggestions)
                .map(|(rank, text)| asked.offer(text, "related", rank))
                .collect(),
            script: (!asked.impression.is_empty()).then(assets::script_href),
            notices,
            paging: Paging::new(asked, last),
            outcome,
            nothing_title: fill(words.nothing_title, &[query]),
        }
    }
}

impl Bar {
    fn new(lang: Lang, query: &str, page: usize, last: usize, answer: &Answer) -> Self {
        let words = lang.words();
        let place = || fill(words.found_page, &[&grouped(page as u64), &grouped(last.max(page) as u64)]);
        let understood = answer.understood.trim();
        let differs = !understood.is_empty() && !understood.eq_ignore_ascii_case(query);
        Self {
            count: words.found(answer.total, answer.total_is_exact),
            place: (page > 1).then(place),
            time: words.time(answer.took_ms),
            understood: differs.then(|| understood.to_string()),
        }
    }
}

impl HitView {
    fn new(hit: &Hit, rank: usize, asked: &Asked, lang: Lang) -> Self {
        let (words, query) = (lang.words(), asked.query.as_str());
        let url = PageUrl::parse(&hit.url).ok();
        let is_ours = |path: &&String| path.starts_with("/snapshot/");
        Self {
            path: url.as_ref().map(steps).unwrap_or_default(),
            link: url.map(|url| url.as_str().to_string()),
            ping: asked.ping("result", rank),
            snapshot_ping: asked.ping("snapshot", rank),
            title_html: hit.title_html.clone(),
            site: hit.site.clone(),
            date: hit.date.as_ref().map(|day| Day { machine: day.clone(), shown: lang.date(day) }),
            snippet_html: hit.snippet_html.clone(),
            lang: hit.lang.clone(),
            snapshot: hit.cached_url.as_ref().filter(is_ours).map(|path| link(path, [("q", query)])),
            more: (hit.more_from_site > 0).then(|| Link {
                href: href(&format!("{query} site:{}", hit.site), false),
                text: fill(words.more_from_site, &[&grouped(hit.more_from_site)]),
            }),
            duplicates: (hit.duplicates > 0)
                .then(|| Link { href: href(query, true), text: words.duplicates(hit.duplicates) }),
            indented: hit.indented,
            explanation: hit.explanation.as_ref().map(lines).unwrap_or_default(),
        }
    }

    /// Is there anything below the snippet?
    fn has_extras(&self) -> bool {
        self.snapshot.is_some() || self.more.is_some() || self.duplicates.is_some()
    }
}

impl Paging {
    /// Nothing where there is one page only.
    fn new(asked: &Asked, last: usize) -> Option<Self> {
        let page = asked.page;
        if last < 2 && page < 2 {
            return None;
        }
        let last = last.max(page);
        let turn = |number: usize| asked.turn_to(number, number.to_string());
        let number = |number| Number { number, href: turn(number).href, current: number == page };
        Some(Self {
            previous: (page > 1).then(|| turn(page - 1)),
            numbers: window(page, last).map(number).collect(),
            next: (page < last).then(|| turn(page + 1)),
        })
    }
}

/// The first page of results for another query.
fn href(query: &str, all: bool) -> String {
    link("/search", [("q", query)].into_iter().chain(all.then_some(("all", "1"))))
}

fn lines(explanation: &Explanation) -> Vec<Line> {
    let line = |part: &Contribution| Line {
        part: part.part,
        value: format!("{:.3}", part.value),
        weight: format!("{:.2}", part.weight),
        gives: format!("{:.3}", part.gives),
    };
    explanation.parts.iter().map(line).collect()
}

/// The steps of a path as people read them: escapes undone, what could disturb the line left out.
fn steps(url: &PageUrl) -> Vec<String> {
    url.as_url()
        .path()
        .split('/')
        .map(|step| percent_decode_str(step).decode_utf8_lossy().chars().filter(|c| is_quiet(*c)).collect())
        .filter(|step: &String| !step.trim().is_empty())
        .take(MAX_STEPS)
        .collect()
}

/// Neither a control character nor one that turns the direction of writing.
fn is_quiet(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::*;

    fn hit() -> Hit {
        Hit {
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
            ..Hit::default()
        }
    }

    fn answer(hits: Vec<Hit>, total: u64) -> Answer {
        let understood = "a b".to_string();
        Answer { understood, total, total_is_exact: true, took_ms: 3.2, page: 1, hits, ..Answer::default() }
    }

    fn rendered(query: &str, page: usize, answer: &Answer, searchable: u64) -> String {
        let visitor = Visitor::new(&"/search?q=x".parse().unwrap(), &HeaderMap::new());
        let asked = Asked {
            query: query.into(),
            page,
            all: false,
            newest_first: false,
            generation: "7".into(),
            impression: "i7".into(),
        };
        ResultsPage::new(&visitor, &Config::default(), &asked, answer, searchable).render().unwrap()
    }

    #[test]
    fn a_result_shows_all_it_has() {
        let html = rendered("A+B", 1, &answer(vec![hit()], 1), 1);
        for part in [
            "<title>A+B – Pharos</title>",
            "value=\"A+B\"",
            "<span>1 result</span><span>3.2 ms</span><span>understood as <code>a b</code></span>",
            "<li lang=\"en\">",
            "<a href=\"https://www.example.org/%E7%81%AF%E5%A1%94/a%3Cb\" \
             ping=\"/api/v1/click?impression=i7&#38;kind=result&#38;rank=1\"><mark>A</mark> &amp; B</a>",
            "<bdi>灯塔</bdi>",
            "<bdi>a&#60;b</bdi>",
            "<time datetime=\"2026-01-31\" lang=\"en\">31 Jan 2026</time>",
            "about <mark>A</mark>",
            "<a href=\"/snapshot/00?q=A%2BB\" \
             ping=\"/api/v1/click?impression=i7&#38;kind=snapshot&#38;rank=1\" rel=\"nofollow\">Snapshot</a>",
            "<a href=\"/search?q=A%2BB+site%3Awww.example.org\" rel=\"nofollow\">4 more from this site</a>",
            "<a href=\"/search?q=A%2BB&#38;all=1\" rel=\"nofollow\">1 copy not shown</a>",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        assert!(!html.contains("class=\"paging\""));
    }

    #[test]
    fn hostile_values_are_text_and_not_links() {
        let evil = "\"><script>alert(1)</script>";
        for url in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//evil.example/",
            "",
            "JAVASCRIPT://%0aalert(1)",
            evil,
        ] {
            let hit = Hit {
                url: url.into(),
                site: evil.into(),
                date: Some(evil.into()),
                lang: evil.into(),
                cached_url: Some("https://evil.example/".into()),
                ..hit()
            };
            let mut answer = answer(vec![hit], 1);
            answer.understood = evil.into();
            answer.corrected = Some(evil.into());
            answer.suggestions = vec![evil.into(), "javascript:alert(1)".into()];
            let html = rendered(evil, 1, &answer, 1);
            assert_eq!(html.matches("<script").count(), 1, "{html}");
            assert!(html.contains("<script src=\"/static/learn.js?v="), "the one script is ours: {html}");
            assert!(html.contains("<h2><mark>A</mark> &amp; B</h2>"), "{html}");
            assert!(!html.contains("evil.example/\""), "{html}");
        }
    }

    #[test]
    fn other_numbers_lead_to_other_pages() {
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
    fn whoever_wants_copies_turns_pages_with_them_and_comes_to_an_end() {
        let visitor = Visitor::new(&"/search?q=x&all=1".parse().unwrap(), &HeaderMap::new());
        assert!(visitor.wants_all());
        let asked = Asked {
            query: "x".into(),
            page: 2,
            all: true,
            newest_first: false,
            generation: "7".into(),
            impression: "i7".into(),
        };
        let answer = Answer { last_page: Some(3), ..answer(vec![hit()], 45) };
        let html = ResultsPage::new(&visitor, &Config::default(), &asked, &answer, 45).render().unwrap();
        assert!(html.contains("href=\"/search?q=x&#38;all=1\" rel=\"prev\""), "{html}");
        assert!(
            html.contains("href=\"/search?q=x&#38;page=3&#38;all=1&#38;generation=7\" rel=\"next\""),
            "{html}"
        );
        assert!(html.contains("page 2 of 3") && !html.contains("page=4"), "{html}");
    }

    #[test]
    fn no_result_gives_help_for_its_reason() {
        assert!(rendered("x y", 1, &answer(vec![], 0), 9).contains("Use fewer words"));
        assert!(!rendered("x", 1, &answer(vec![], 0), 9).contains("Use fewer words"));
        assert!(rendered("x", 1, &answer(vec![], 0), 0).contains("pharos crawl"));
        let beyond = rendered("x", 7, &answer(vec![], 25), 25);
        assert!(beyond.contains("There is no page 7 of results"), "{beyond}");
        assert!(
            beyond.contains("<a href=\"/search?q=x&#38;page=3&#38;generation=7\">Last page</a>"),
            "{beyond}"
        );
        assert!(!beyond.contains("class=\"paging\""));
    }

    #[test]
    fn notices_tell_what_was_done_to_the_query() {
        let answer =
            Answer { relaxed: true, partial: true, corrected: Some("<b>".into()), ..answer(vec![hit()], 1) };
        let html = rendered("x", 1, &answer, 1);
        assert!(
            html.contains("Did you mean <a href=\"/search?q=%3Cb%3E&#38;from=corrected\" ping="),
            "{html}"
        );
        assert!(html.contains(">&#60;b&#62;</a>?"), "{html}");
        assert!(html.contains("No page has all") && html.contains("Time ran out"), "{html}");
    }

    #[test]
    fn steps_of_an_address_disturb_nothing() {
        let url = PageUrl::parse("http://a.b/x%E2%80%AEy/%00%0a//%ff/a/b/c/d/e/f/g/h").unwrap();
        assert_eq!(steps(&url), ["xy", "\u{fffd}", "a", "b", "c", "d", "e", "f"]);
    }
}
