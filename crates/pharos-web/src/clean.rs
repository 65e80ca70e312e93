//! The cleaned view (净化视图): a stored page as it was, each line in the colour of what it is for, beside what is
//! left of it.
//!
//! Of the page as it was only the text is shown, escaped like any other. What is left of it is HTML, written by our
//! own cleaning and passed through the same list of elements and attributes as a snapshot.

mod blocks;
mod facts;

use std::collections::HashSet;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;
use pharos_core::PageUrl;

use crate::headers::WITHOUT_SCRIPT;
use crate::page::{Frame, Link, respond};
use crate::service::{Cleaned, CleanedCopy, Rooms, ServiceError, Stored};
use crate::snapshot::{live_link, withheld};
use crate::visitor::{Visitor, link};
use crate::words::{Words, fill};
use blocks::{BlockView, LegendGroup, Original};
use facts::Fact;

/// Related links that are shown.
const MAX_RELATED: usize = 50;

/// Characters of an address that is no address, given back to be mended.
const MAX_ADDRESS: usize = 2_048;

/// `/clean?url=…`.
pub(crate) async fn clean(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, ServiceError> {
    let typed: String = visitor.param("url").unwrap_or_default().trim().chars().take(MAX_ADDRESS).collect();
    let query = visitor.query(rooms.config().query.max_length);
    let asked = (!query.is_empty()).then_some(("q", query.as_str()));
    let words = visitor.words();
    let (status, outcome) = match look_up(&rooms, &typed).await? {
        _ if typed.is_empty() => (StatusCode::OK, Outcome::Notice(Notice::ask(words))),
        Stored::Missing => (StatusCode::NOT_FOUND, Outcome::Notice(Notice::missing(words, &typed))),
        Stored::Withheld(found) => return Ok(withheld(&visitor, &rooms, &found)),
        Stored::Copy(CleanedCopy { found, bytes, cleaned }) => {
            let url = PageUrl::parse(&found.url).map_err(|_| ServiceError::Address(found.url.clone()))?;
            let snapshot = link(&format!("/snapshot/{}", url.id()), asked);
            let outcome = match cleaned {
                None => Outcome::Notice(Notice::no_html(words, snapshot)),
                Some(cleaned) => {
                    let title =
                        if found.title.trim().is_empty() { found.url.clone() } else { found.title.clone() };
                    let facts = facts::facts(visitor.lang, &found, bytes, &cleaned);
                    let live = live_link(&found);
                    Outcome::Shown(Box::new(View::new(words, title, live, snapshot, facts, cleaned)))
                }
            };
            (StatusCode::OK, outcome)
        }
    };
    let back = if query.is_empty() { "/".into() } else { link("/search", asked) };
    let frame = Frame::new(&visitor, rooms.config());
    let mut response = respond(&visitor, status, &CleanPage { frame, address: typed, back, outcome });
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, WITHOUT_SCRIPT);
    Ok(response)
}

/// Finds the page at an address as people type it, which is often without its scheme.
async fn look_up(rooms: &Rooms, typed: &str) -> Result<Stored<CleanedCopy>, ServiceError> {
    let spellings = if typed.contains("://") {
        vec![typed.to_string()]
    } else {
        vec![format!("https://{typed}"), format!("http://{typed}")]
    };
    for url in spellings.iter().filter_map(|spelling| PageUrl::parse(spelling).ok()) {
        match rooms.cleaned(url.id()).await? {
            Stored::Missing => {}
            found => return Ok(found),
        }
    }
    Ok(Stored::Missing)
}

#[derive(Template)]
#[template(path = "clean.html")]
struct CleanPage {
    frame: Frame,
    /// As the visitor gave it.
    address: String,
    /// Where the visitor came from.
    back: String,
    outcome: Outcome,
}

enum Outcome {
    Notice(Notice),
    Shown(Box<View>),
}

/// Why no page is shown, and what to do.
struct Notice {
    title: &'static str,
    text: &'static str,
    todo: Option<Todo>,
    link: Option<Link>,
}

/// A command that helps.
struct Todo {
    text: &'static str,
    command: String,
}

impl Notice {
    fn ask(words: &'static Words) -> Self {
        Self { title: words.clean_ask_title, text: words.clean_ask_text, todo: None, link: None }
    }

    fn missing(words: &'static Words, typed: &str) -> Self {
        let address = PageUrl::parse(typed).map(|url| url.as_str().to_string());
        // Not every address is a word of a shell.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!,=%+".contains(c);
        let address = address.ok().filter(|address| address.chars().all(is_plain));
        let command = format!("pharos add {}", address.as_deref().unwrap_or("URL"));
        Self {
            title: words.not_in_library_title,
            text: words.not_in_library_text,
            todo: Some(Todo { text: words.clean_missing_text, command }),
            link: None,
        }
    }

    fn no_html(words: &'static Words, snapshot: String) -> Self {
        Self {
            title: words.clean_no_html_title,
            text: words.clean_no_html_text,
            todo: None,
            link: Some(Link { href: snapshot, text: words.snapshot.to_string() }),
        }
    }
}

/// A page before and after cleaning.
struct View {
    title: String,
    lang: String,
    live: Option<String>,
    snapshot: String,
    facts: Vec<Fact>,
    legend: Vec<LegendGroup>,
    /// What decides, in a sentence.
    rule: String,
    /// Said above the lines.
    remark: Option<&'static str>,
    blocks: Vec<BlockView>,
    /// Said where not all lines are shown.
    cut: Option<String>,
    /// The title of the content, where what is left has no heading of its own.
    headline: Option<String>,
    html: String,
    related: Vec<Link>,
}

impl View {
    fn new(
        words: &'static Words,
        title: String,
        live: Option<String>,
        snapshot: String,
        facts: Vec<Fact>,
        cleaned: Cleaned,
    ) -> Self {
        let related = related_links(&cleaned);
        let Cleaned { page, html, explanation, .. } = cleaned;
        let headline = if page.content_title.is_empty() { &page.title } else { &page.content_title };
        let has_heading = html.is_empty() || html.contains("<h1");
        let headline = (!has_heading && !headline.is_empty()).then(|| headline.clone());
        let remark = explanation.is_none().then_some(words.clean_unexplained);
        let threshold = explanation.as_ref().map_or(0.0, |told| told.threshold);
        let Original { blocks, legend, cut } = Original::new(words, &page, explanation);
        Self {
            title,
            lang: page.lang,
            live,
            snapshot,
            facts,
            legend,
            rule: fill(words.why, &[&blocks::signed(threshold)]),
            remark,
            blocks,
            cut,
            headline,
            html,
            related,
        }
    }
}

/// Related links that the body itself does not have.
fn related_links(cleaned: &Cleaned) -> Vec<Link> {
    let html = &cleaned.page.html;
    let hrefs = html.split("<a href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let in_body: HashSet<&str> = hrefs.collect();
    let written = |url: &PageUrl| url.as_str().replace('&', "&amp;").replace('\'', "&#39;");
    let links = cleaned.page.related_links.iter();
    let links = links.filter(|l| !in_body.contains(&*written(&l.url)) && !l.anchor.trim().is_empty());
    let views = links.map(|l| Link { href: l.url.as_str().to_string(), text: l.anchor.clone() });
    views.take(MAX_RELATED).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use pharos_core::Config;

    use super::*;
    use crate::router;
    use crate::testing::{Reply, TestPage, engine, get};

    const HEAD: &str = "<nav><ul><li><a href=/a>Zebrafish</a><li><a href=/b>Boats</a><li><a href=/c>Coast</a></ul></nav>\
        <h1>The lighthouse on the rock</h1>";
    const PROSE: &str = "<p>The lighthouse on the rock was built long ago, and its lamp can be seen from far away. \
        Ships that pass at night, in fog or in snow, steer by it; no ship has been lost since it was lit.</p>";
    const FOOT: &str = "<footer><p>© 2026 Platypus Press, all rights reserved.</p></footer>";

    static ARTICLE: LazyLock<String> = LazyLock::new(|| format!("{HEAD}{}{FOOT}", PROSE.repeat(4)));

    async fn shown(text: &'static str, params: &str) -> Reply {
        let page = TestPage::new("https://www.example.org/tower", "The lighthouse on the rock", text);
        let (_dir, service) = engine(&[page], Config::default());
        get(&router(service).unwrap(), &format!("/clean?url=https://www.example.org/tower{params}")).await
    }

    #[tokio::test]
    async fn both_sides_are_shown_with_a_legend_of_the_colours() {
        let reply = shown(&ARTICLE, "&q=lamp").await;
        assert_eq!(reply.status, StatusCode::OK);
        let html = reply.text();
        let (original, cleaned) = html.split_once("<section class=\"cleaned\"").unwrap();
        for noise in ["Zebrafish", "Platypus"] {
            assert!(original.contains(noise) && !cleaned.contains(noise), "{noise}: {html}");
        }
        assert!(cleaned.contains("<p>The lighthouse on the rock was built long ago"), "{cleaned}");
        for part in [
            "<a class=\"kind k0\" href=\"#k0\">Body<small>",
            "<a class=\"kind k2\" href=\"#k2\">Navigation<small>",
            "<a class=\"kind k4\" href=\"#k4\">Copyright<small>",
            "<details class=\"verdict\"><summary>Body</summary>",
            "<dt>Type</dt><dd>topic page</dd>",
            "<dt>Language</dt><dd>English</dd>",
            "<dt>Charset</dt><dd>UTF-8</dd>",
            "<dt>Stored</dt><dd>31 Jan 2026</dd>",
            "<a href=\"https://www.example.org/tower\">",
            "?q=lamp\" rel=\"nofollow\">Snapshot</a>",
            "href=\"/search?q=lamp\" aria-label=\"Pharos: Back to the results\"",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        assert!(original.contains("rule "), "why is told: {original}");
        assert!(original.contains("terms "), "and what the rules were told: {original}");

        let reply = shown(&ARTICLE, "&lang=zh").await;
        for part in
            ["<html lang=\"zh-Hans\"", "净化后", ">正文<small>", "主题型网页", "2026年1月31日", "规则 "]
        {
            assert!(reply.text().contains(part), "{part}");
        }
    }

    #[tokio::test]
    async fn the_rules_are_those_of_the_engine() {
        let rules = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&rules, "cut = { fixed = 0.5 }\nrules = [\"link_share < 0.5 ? 1 : 0\"]\n").unwrap();
        let mut config = Config::default();
        config.clean.rules = rules.path().to_str().unwrap().to_string();
        let page = TestPage::new("https://www.example.org/tower", "The lighthouse on the rock", &ARTICLE);
        let (_dir, service) = engine(&[page], config);
        let reply = get(&router(service).unwrap(), "/clean?url=https://www.example.org/tower").await;
        let (_, cleaned) = reply.text().split_once("<section class=\"cleaned\"").unwrap();
        assert!(cleaned.contains("Platypus") && !cleaned.contains("Zebrafish"), "{cleaned}");
    }

    #[tokio::test]
    async fn a_hostile_page_becomes_text() {
        const HOSTILE: &str = "<base href='javascript:x()//'><meta http-equiv=refresh content='0;url=http://evil.example/'>\
            <style>body{background:url(http://evil.example/b.png)}</style><body onload=x()>\
            <h1 onclick=x()>A tower &lt;script&gt;x()&lt;/script&gt; &lt;img src=x onerror=x()&gt; by the sea</h1>\
            <p style='background:url(http://evil.example/p.png)'>The lighthouse was built long ago, and its lamp can be \
            seen <a href='javascript:x()'>from far</a> and <a href='http://good.example/?a&#39;b'>near</a>, by night. \
            Ships that pass in fog or in snow steer by it; \"><svg onload=x()> no ship has been lost since it was lit.</p>\
            <li><section><li>An item that would close what stands around it, in a list.</section></li>\
            <img src=http://evil.example/i.png onerror=x() alt='\"><script>x()</script>'><iframe src=//evil.example>";
        let reply = shown(HOSTILE, "").await;
        let html = reply.text();
        assert_eq!(reply.status, StatusCode::OK);
        for harm in
            ["<script", "<img", "<iframe", "<base", "http-equiv", "<style", " style=", "javascript:", "url("]
        {
            assert!(!html.contains(harm), "{harm} in {html}");
        }
        assert!(!html.contains("evil.example"), "{html}");
        for (at, _) in html.match_indices("x()") {
            let tag = html[..at].rfind(['<', '>']).map(|start| &html[start..=start]);
            assert_ne!(tag, Some("<"), "inside a tag: {}", &html[at.saturating_sub(80)..at]);
        }
        assert!(html.contains("A tower &#60;script&#62;x()"), "it is shown as text: {html}");
        assert!(html.contains("<a href=\"http://good.example/?a%27b\" rel=\"noopener"), "{html}");
        let (_, cleaned) = html.split_once("<article").unwrap();
        let (article, behind) = cleaned.split_once("</article>").unwrap();
        assert_eq!(article.matches("<div>").count(), article.matches("</div>").count(), "{article}");
        assert!(!behind.contains("An item"), "{behind}");
        assert!(reply.header("content-security-policy").starts_with("default-src 'none'; style-src 'self';"));
    }

    #[tokio::test]
    async fn what_cannot_be_shown_is_said_with_what_to_do() {
        let pages = [
            TestPage::new("http://www.example.org/a", "A", "lighthouse"),
            TestPage { archive: false, ..TestPage::new("https://www.example.org/b", "B", "lighthouse") },
            TestPage {
                headers: &[("X-Robots-Tag", "noarchive")],
                ..TestPage::new("https://www.example.org/c", "C", "lighthouse")
            },
        ];
        let (_dir, service) = engine(&pages, Config::default());
        let router = router(service).unwrap();
        let ask = get(&router, "/clean").await;
        assert_eq!(ask.status, StatusCode::OK);
        assert!(
            ask.text().contains("A page before and after cleaning") && ask.text().contains(" autofocus>")
        );

        let missing = get(&router, "/clean?url=https://www.example.org/nowhere%3Fa=1").await;
        assert_eq!(missing.status, StatusCode::NOT_FOUND);
        assert!(missing.text().contains("not in the library"), "{}", missing.text());
        assert!(missing.text().contains("<code>pharos add https://www.example.org/nowhere?a=1</code>"));
        for odd in ["\"><script>", "http://a.b/$(x)", "javascript:x()", "a b"] {
            let odd: String = url::form_urlencoded::byte_serialize(odd.as_bytes()).collect();
            let reply = get(&router, &format!("/clean?url={odd}")).await;
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "{odd}");
            assert!(reply.text().contains("<code>pharos add URL</code>"), "{}", reply.text());
            assert!(!reply.text().contains("<script"), "{odd}");
        }
        for page in &pages[1..] {
            let reply = get(&router, &format!("/clean?url={}", page.url)).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN);
            assert!(reply.text().contains("asks that no copy"), "{}", reply.text());
            assert!(!reply.text().contains("lighthouse"));
        }
        let without_scheme = get(&router, "/clean?url=www.example.org/a").await;
        assert_eq!(without_scheme.status, StatusCode::OK);
        assert!(without_scheme.text().contains("<section class=\"cleaned\""));
    }

    #[tokio::test]
    async fn a_file_that_is_no_html_is_not_read() {
        let pdf = TestPage {
            headers: &[("content-type", "application/pdf")],
            ..TestPage::new("https://www.example.org/a.pdf", "A", "lighthouse")
        };
        let (_dir, service) = engine(&[pdf], Config::default());
        let reply = get(&router(service).unwrap(), "/clean?url=https://www.example.org/a.pdf").await;
        assert_eq!(reply.status, StatusCode::OK);
        assert!(reply.text().contains("There is nothing to clean in this file"), "{}", reply.text());
    }

    #[tokio::test]
    async fn a_huge_page_is_cut_and_says_so() {
        static HUGE: LazyLock<String> = LazyLock::new(|| {
            let lines = (0..60_000)
                .map(|i| format!("<p>Line {i} of this page, with a few words.<a href=/{i}>{i}</a>"));
            lines.collect()
        });
        let reply = shown(&HUGE, "").await;
        assert_eq!(reply.status, StatusCode::OK);
        assert!(reply.bytes.len() < 6 << 20, "{}", reply.bytes.len());
        assert!(reply.text().contains("these are its first 2,000 of "));
        assert!(reply.text().contains("too large to say why"));

        static LONG: LazyLock<String> = LazyLock::new(|| format!("{HEAD}{PROSE}<p>{}", "灯".repeat(1 << 20)));
        let reply = shown(&LONG, "").await;
        assert!(reply.bytes.len() < 6 << 20, "{}", reply.bytes.len());
    }
}
