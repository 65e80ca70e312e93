//! `/bot`: for webmasters. Describes how the crawler behaves, how to block it, and the status of a page.
//!
//! The status contains only information that concerns the webmaster: no IP addresses of other machines, no crawl rules of this
//! engine, and nothing about how the page was discovered.

mod verdict;

use askama::Template;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use pharos_core::config::SubmissionPolicy;
use pharos_core::{Config, PageUrl};
use pharos_engine::status::crawl_policy::CrawlerIdentity;
use url::form_urlencoded;

use self::verdict::PageVerdict;
use super::frame::{Link, PageFrame, respond};
use crate::messages::{Messages, fill, grouped};
use crate::server::origin::is_same_site;
use crate::server::visitor::Visitor;
use crate::state::submission::{FULL_RETRY_SECONDS, Submitted};
use crate::state::{AppState, ServiceError};

#[derive(Template)]
#[template(path = "bot.html")]
struct BotPage {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    agent: String,
    token: String,
    contact: String,
    contact_link: Option<String>,
    crawl_rules: Vec<String>,
    /// URL as typed.
    address: String,
    verdict: Option<PageVerdict>,
    /// Outcome of a submission.
    submitted: Option<&'static str>,
}

/// `GET /bot`, with `?url=…` also the status of a page.
pub(crate) async fn bot(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ServiceError> {
    let typed = visitor.param("url").unwrap_or_default().trim().to_string();
    let verdict = if typed.is_empty() { None } else { Some(look_up_status(&app, &visitor, &typed).await?) };
    let page = BotPage { address: typed, verdict, ..BotPage::new(&visitor, app.config()) };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// `POST /bot`: submits a URL.
pub(crate) async fn submit(
    State(app): State<AppState>,
    visitor: Visitor,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ServiceError> {
    let (messages, config) = (visitor.messages(), app.config());
    let field = form_urlencoded::parse(&body).find(|(name, _)| name == "url").map(|(_, value)| value);
    let typed = field.unwrap_or_default().trim().to_string();
    let url = candidate_urls(&typed).into_iter().next();
    let mut retry_after = None;
    let (status, outcome) = if !is_same_site(&visitor, &headers, &config.web) {
        (StatusCode::FORBIDDEN, messages.submit_other_site)
    } else if let Some(url) = url {
        match app.submit(&visitor, url).await? {
            Submitted::Proposed => (StatusCode::ACCEPTED, messages.submit_proposed),
            Submitted::Queued => (StatusCode::ACCEPTED, messages.submit_queued),
            Submitted::ProposedBefore => (StatusCode::OK, messages.submit_before),
            Submitted::Known => (StatusCode::OK, messages.submit_known),
            Submitted::Declined => (StatusCode::CONFLICT, messages.submit_declined),
            Submitted::Off => (StatusCode::FORBIDDEN, messages.submit_off),
            Submitted::OutOfReach => (StatusCode::BAD_REQUEST, messages.submit_out_of_reach),
            Submitted::Full => {
                retry_after = Some(FULL_RETRY_SECONDS);
                (StatusCode::SERVICE_UNAVAILABLE, messages.submit_full)
            }
            Submitted::TooOften(seconds) => {
                retry_after = Some(seconds);
                (StatusCode::TOO_MANY_REQUESTS, messages.submit_too_often)
            }
        }
    } else {
        (StatusCode::BAD_REQUEST, messages.bot_no_address)
    };
    let page = BotPage { address: typed, submitted: Some(outcome), ..BotPage::new(&visitor, config) };
    let mut response = respond(&visitor, status, &page);
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

/// Looks up the status of a page by its URL as typed.
async fn look_up_status(app: &AppState, visitor: &Visitor, typed: &str) -> Result<PageVerdict, ServiceError> {
    let candidate_urls = candidate_urls(typed);
    for url in &candidate_urls {
        if let Some(status) = app.page_status(visitor, url.clone()).await? {
            return Ok(PageVerdict::new(&status, visitor.lang));
        }
    }
    let may_submit = app.config().web.submit != SubmissionPolicy::Off;
    let unknown = candidate_urls.first().map(|url| url.as_str().to_string());
    Ok(PageVerdict::unknown(visitor.messages(), unknown, may_submit))
}

/// Returns the URLs that a typed text may mean: the scheme is often left out.
pub(crate) fn candidate_urls(typed: &str) -> Vec<PageUrl> {
    let schemes: &[&str] = if typed.contains("://") { &[""] } else { &["https://", "http://"] };
    let is_named = |scheme: &&&str| !scheme.is_empty() || typed.starts_with("http");
    let urls = schemes.iter().filter(is_named).map(|scheme| PageUrl::parse(&format!("{scheme}{typed}")));
    if typed.is_empty() { Vec::new() } else { urls.flatten().collect() }
}

impl BotPage {
    fn new(visitor: &Visitor, config: &Config) -> Self {
        let messages = visitor.messages();
        let (crawl, web) = (&config.crawl, &config.web);
        let CrawlerIdentity { user_agent, product_token } = CrawlerIdentity::from_config(crawl);
        let contact = if web.contact.trim().is_empty() { &crawl.contact } else { &web.contact };
        let contact = contact.trim();
        Self {
            frame: PageFrame::new(visitor, config),
            query: "",
            focus: false,
            agent: user_agent,
            token: if product_token.is_empty() { "*".into() } else { product_token },
            contact: if contact.is_empty() { messages.bot_no_contact.into() } else { contact.into() },
            contact_link: contact_link(contact),
            crawl_rules: crawl_rules(config, messages),
            address: String::new(),
            verdict: None,
            submitted: None,
        }
    }
}

/// Returns the link target of a contact that is a URL or an email address.
fn contact_link(contact: &str) -> Option<String> {
    if contact.starts_with("http://") || contact.starts_with("https://") {
        return PageUrl::parse(contact).ok().map(|url| url.as_str().to_string());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@.-_+".contains(c);
    let is_mail = contact.split('@').filter(|part| !part.is_empty()).count() == 2;
    (is_mail && contact.chars().all(is_plain)).then(|| format!("mailto:{contact}"))
}

/// Describes the behaviour of the crawler as configured.
fn crawl_rules(config: &Config, messages: &Messages) -> Vec<String> {
    let crawl = &config.crawl;
    let limits = crawl.politeness_limits();
    let wait = if limits.is_unlimited() {
        messages.bot_no_wait.to_string()
    } else {
        let nice = grouped(limits.nice_factor.into());
        fill(
            messages.bot_wait,
            &[&messages.duration(limits.day_delay), &messages.duration(limits.night_delay), &nice],
        )
    };
    let per_day =
        (limits.pages_per_day > 0).then(|| fill(messages.bot_per_day, &[&grouped(limits.pages_per_day)]));
    let lines = [
        Some(fill(messages.bot_robots, &[&messages.duration(crawl.robots_lifetime)])),
        Some(wait),
        Some(fill(messages.bot_at_once, &[&grouped(crawl.connections_per_host as u64)])),
        per_day,
        Some(fill(messages.bot_delay, &[&messages.duration(crawl.max_crawl_delay)])),
        Some(messages.bot_retry_after.to_string()),
        Some(fill(messages.bot_again, &[&messages.duration(crawl.refresh_at_most_every)])),
    ];
    lines.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use pharos_core::Timestamp;
    use pharos_engine::control::orders::pending_orders;
    use pharos_store::DataDir;
    use pharos_store::catalog::{CatalogChange, DiscoveredLink, Removal, ResponseSummary, VisitOutcome};

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, apply_changes, engine, get, post, send};

    const FORM: &str = "application/x-www-form-urlencoded";

    #[tokio::test]
    async fn the_page_shows_the_configuration_of_the_crawler() {
        let mut config = Config::default();
        config.crawl.agent = "Beacon-Bot/2".into();
        config.crawl.contact = "crawl@example.org".into();
        config.crawl.politeness = pharos_core::config::PolitenessProfile::Gentle;
        let (_dir, service) = engine(&[], config.clone());
        let page = get(&router(service).unwrap(), "/bot").await;
        for part in [
            &format!(
                "<code>Mozilla/5.0 (compatible; Beacon-Bot/2/{}; +crawl@example.org)</code>",
                pharos_core::VERSION
            ),
            "<code>Beacon-Bot</code>",
            "User-agent: Beacon-Bot\nDisallow: /",
            "<a href=\"mailto:crawl@example.org\">",
            "waits 10 s by day and 1 s by night, or 100 times",
            "after 24 h at the latest",
            "per site and day: 20,000",
            "up to 1 min",
            "every 1 h",
        ] {
            assert!(page.text().contains(part), "{part} is missing in {}", page.text());
        }
        config.web.contact = "\"><script>x()</script>".into();
        config.crawl.politeness = pharos_core::config::PolitenessProfile::OwnSite;
        let (_dir, service) = engine(&[], config);
        let page = get(&router(service).unwrap(), "/bot?lang=zh").await;
        assert!(
            page.text().contains("不等待") && page.text().contains("&#60;script&#62;"),
            "{}",
            page.text()
        );
        assert_eq!(page.text().matches("<script").count(), 1, "only the script of the page");
        assert!(!page.text().contains("mailto:"));
    }

    #[tokio::test]
    async fn the_status_of_a_page_is_explained() {
        let pages = [
            TestPage::new("http://www.example.org/found", "Lighthouse", "The lighthouse stands."),
            TestPage { archive: false, ..TestPage::new("https://www.example.org/shy", "Shy", "No copies.") },
        ];
        let (dir, service) = engine(&pages, Config::default());
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let url = |path: &str| PageUrl::parse(&format!("https://www.example.org/{path}")).unwrap();
        let visited =
            |path: &str, outcome| CatalogChange::Visited { url: url(path), at, outcome, next_due: None };
        let answered =
            |status| VisitOutcome::Responded(ResponseSummary { status, ..ResponseSummary::default() });
        let failed = |reason: &str| VisitOutcome::Failed { reason: reason.into(), attempt: 1 };
        let refused = |reason: &str| VisitOutcome::Refused { reason: reason.into() };
        let mut changes: Vec<CatalogChange> =
            ["waiting", "404", "503", "301", "slow", "dead", "rule", "private", "removed"]
                .map(|path| {
                    CatalogChange::Found(DiscoveredLink {
                        anchor: "secret anchor".into(),
                        ..DiscoveredLink::new(url(path), 7, at)
                    })
                })
                .into();
        changes.extend([
            visited("404", answered(404)),
            visited("503", answered(503)),
            visited("301", answered(301)),
            visited("slow", failed("timed out after 10 s connecting to 10.0.0.1")),
            visited("dead", failed("connection to 10.0.0.1 refused")),
            visited("rule", refused("robots.txt: Disallow: /<b>rule")),
            visited("private", refused("private address 10.0.0.1 (allow with --allow-private)")),
            CatalogChange::Removed(Removal::Page(url("removed"))),
        ]);
        apply_changes(&dir, &changes);
        let router = router(service).unwrap();
        for (asked, part) in [
            ("http://www.example.org/found", "Yes, the page can be found."),
            ("www.example.org/found", "Our copy was fetched on 31 Jan 2026."),
            ("https://www.example.org/shy", "Yes, the page can be found."),
            ("https://www.example.org/waiting", "known and queued"),
            ("www.example.org/waiting", "known and queued"),
            ("https://www.example.org/404", "returned status 404 on 31 Jan 2026"),
            ("https://www.example.org/503", "We will try again automatically."),
            ("https://www.example.org/301", "redirected us to another URL"),
            ("https://www.example.org/slow", "took too long to respond on 31 Jan 2026"),
            ("https://www.example.org/dead", "did not respond on 31 Jan 2026"),
            ("https://www.example.org/rule", "<code>Disallow: /&#60;b&#62;rule</code>"),
            ("https://www.example.org/private", "rules of this search engine"),
            ("https://www.example.org/removed", "the page is unknown to us"),
            ("https://www.example.org/never", "the page is unknown to us"),
            ("javascript:x()", "This is not a valid URL"),
            ("ftp://a.example/", "This is not a valid URL"),
            ("\"><script>x()</script>", "This is not a valid URL"),
        ] {
            let typed: String = form_urlencoded::byte_serialize(asked.as_bytes()).collect();
            let reply = get(&router, &format!("/bot?url={typed}")).await;
            assert_eq!(reply.status, StatusCode::OK);
            let html = reply.text();
            assert!(
                html.to_lowercase().contains(&part.to_lowercase()),
                "{asked}: {part} is missing in {html}"
            );
            for harm in ["10.0.0.1", "anchor", "<script>", "<b>rule", "allow-private"] {
                assert!(!html.contains(harm), "{asked}: {harm} in {html}");
            }
            let is_unknown = part == "the page is unknown to us";
            assert_eq!(html.contains("method=\"post\""), is_unknown, "{asked}");
            assert_eq!(html.contains(">Snapshot</a>"), asked.ends_with("/found"), "{asked}");
        }
        let reply = get(&router, "/bot?lang=zh&url=https://www.example.org/404").await;
        assert!(reply.text().contains("您的服务器返回了状态码 404（2026年1月31日）"), "{}", reply.text());
    }

    #[tokio::test]
    async fn noindex_pages_are_distinguished_from_empty_ones() {
        let pages = [
            TestPage {
                headers: &[("X-Robots-Tag", "noindex")],
                ..TestPage::new("https://www.example.org/hidden", "Hidden", "The lighthouse stands.")
            },
            TestPage::new("https://www.example.org/empty", "", ""),
        ];
        let (dir, service) = engine(&pages, Config::default());
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let changes: Vec<CatalogChange> = pages
            .iter()
            .map(|page| {
                let position = service.search.processor().page(page.url().id()).unwrap().unwrap().position;
                let answered = ResponseSummary { status: 200, position, ..ResponseSummary::default() };
                // Under another URL, which is not in the index.
                let url = PageUrl::parse(&format!("{}-not-indexed", page.url)).unwrap();
                CatalogChange::Visited { url, at, outcome: VisitOutcome::Responded(answered), next_due: None }
            })
            .collect();
        apply_changes(&dir, &changes);
        let router = router(service).unwrap();
        let hidden = get(&router, "/bot?url=https://www.example.org/hidden-not-indexed").await;
        assert!(hidden.text().contains("asks not to be indexed (noindex)"), "{}", hidden.text());
        let empty = get(&router, "/bot?url=https://www.example.org/empty-not-indexed").await;
        assert!(empty.text().contains("no searchable content"), "{}", empty.text());
    }

    #[tokio::test]
    async fn pages_are_submitted_from_this_site_only() {
        let mut config = Config::default();
        config.web.submit_rate = 2;
        let (dir, service) = engine(&[], config);
        let router = router(service).unwrap();
        let body = "url=https%3A%2F%2Fa.example%2F";
        let headers = [("content-type", FORM), ("origin", "https://evil.example")];
        let reply = send(&router, Method::POST, "/bot", &headers, body).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN);
        assert!(reply.text().contains("a page of another site"), "{}", reply.text());
        assert_eq!(pending_orders(&DataDir::at(dir.path())), 0);
        assert_eq!(
            post(&router, "/bot", FORM, "url=%22%3E%3Cscript%3E").await.status,
            StatusCode::BAD_REQUEST
        );
        assert_eq!(post(&router, "/bot", FORM, "").await.status, StatusCode::BAD_REQUEST);
        assert_eq!(
            post(&router, "/bot", FORM, "url=http://127.0.0.1/").await.status,
            StatusCode::BAD_REQUEST
        );
        let reply = post(&router, "/bot", FORM, body).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED);
        assert!(reply.text().contains("Thank you."), "{}", reply.text());
        assert_eq!(pending_orders(&DataDir::at(dir.path())), 1);
        assert_eq!(post(&router, "/bot", FORM, "url=b.example").await.status, StatusCode::ACCEPTED);
        let reply = post(&router, "/bot?lang=zh", FORM, body).await;
        assert_eq!(reply.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(!reply.header("retry-after").is_empty() && reply.text().contains("过一段时间再试"));
    }

    #[tokio::test]
    async fn unknown_pages_can_be_submitted_unless_disabled() {
        for (submit, submit_rate, is_offered) in [
            (SubmissionPolicy::Propose, 0, true),
            (SubmissionPolicy::Propose, 2, true),
            (SubmissionPolicy::Off, 0, false),
        ] {
            let mut config = Config::default();
            (config.web.submit, config.web.submit_rate) = (submit, submit_rate);
            let (_dir, service) = engine(&[], config);
            let reply = get(&router(service).unwrap(), "/bot?url=https://www.example.org/never").await;
            assert_eq!(
                reply.text().contains("method=\"post\""),
                is_offered,
                "{submit:?}, {submit_rate} an hour"
            );
        }
    }

    #[test]
    fn only_urls_and_mail_addresses_are_links() {
        assert_eq!(contact_link("a@example.org").as_deref(), Some("mailto:a@example.org"));
        assert_eq!(contact_link("https://example.org/bot").as_deref(), Some("https://example.org/bot"));
        for odd in ["", "a", "@", "a@", "javascript:x()", "a@b?subject=x", "a@b@c", "http://", "data:a@b"] {
            assert_eq!(contact_link(odd), None, "{odd}");
        }
        assert_eq!(candidate_urls("a.example").len(), 2);
        for odd in ["", "mailto:x", "ftp://a.example", "http://", "a b"] {
            assert!(candidate_urls(odd).is_empty(), "{odd}: {:?}", candidate_urls(odd));
        }
    }
}
