//! `/admin/trouble`: pages with a problem at their last visit, with the reason, a remedy and a retry button.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{PageId, PageUrl, Timestamp};
use pharos_engine::Order;
use pharos_store::catalog::{PageFailure, PageFailureQuery, PageProblem};

use super::commands::{execute, record_and_redirect, with_catalog};
use super::messages::PageMessages;
use super::params::{self, PAGE_SIZE};
use super::problem_messages::ProblemMessages;
use super::site::parse_host;
use super::sites::{MenuOption, report_link};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Number of latest failures whose reasons are counted, and number of reasons shown.
const COUNTED_FAILURES: usize = 10_000;
const MAX_REASONS: usize = 12;
/// Maximum length of the filters on site and reason.
const MAX_FILTER_LENGTH: usize = 300;

/// The kinds of problems, by their name in links.
const KINDS: [(&str, PageProblem); 7] = [
    ("failed", PageProblem::Failed),
    ("refused", PageProblem::Refused),
    ("not-found", PageProblem::NotFound),
    ("denied", PageProblem::Denied),
    ("server-error", PageProblem::ServerError),
    ("quarantined", PageProblem::Quarantined),
    ("empty", PageProblem::Empty),
];

#[derive(Template)]
#[template(path = "admin/trouble.html")]
struct ProblemsPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    /// Texts about problems.
    p: &'static ProblemMessages,
    site: String,
    seeds_only: bool,
    contains: String,
    kinds: Vec<MenuOption>,
    reasons: Vec<(String, u64, String)>,
    rows: Vec<ProblemRow>,
    here: String,
    later: Option<String>,
}

struct ProblemRow {
    url: String,
    href: String,
    problem: &'static str,
    is_refused: bool,
    is_seed: bool,
    reason: String,
    remedy: &'static str,
    at: String,
    attempts: u32,
    due: String,
}

/// `GET /admin/trouble`.
pub(crate) async fn trouble(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (m, p) = (PageMessages::for_lang(visitor.lang), ProblemMessages::for_lang(visitor.lang));
    let contains = params::text(&visitor, "q", MAX_FILTER_LENGTH);
    let site = params::text(&visitor, "site", MAX_FILTER_LENGTH);
    let named = parse_host(&site);
    let (kind, problem) = params::choice(&visitor, "kind", &KINDS).unzip();
    let seeds_only = visitor.param("seeds") == Some("1");
    let kind = kind.unwrap_or_default();
    let query = PageFailureQuery {
        site: named.as_ref().map(|site| site.id()),
        problem,
        seeds_only,
        contains: contains.clone(),
        before: visitor.param("before").and_then(parse_position),
        limit: PAGE_SIZE + 1,
    };
    // An invalid host name matches nothing.
    let is_none = !site.is_empty() && named.is_none();
    let (mut failures, reasons) = with_catalog(&app, move |_, catalog| {
        let failures = if is_none { Vec::new() } else { catalog.failures(&query)? };
        Ok((failures, catalog.failure_reasons(COUNTED_FAILURES)?))
    })
    .await?;
    let is_more = failures.len() > PAGE_SIZE;
    failures.truncate(PAGE_SIZE);
    let to = |before: &str, contains: &str| {
        let seeds = if seeds_only { "1" } else { "" };
        let params =
            [("site", site.as_str()), ("kind", kind), ("seeds", seeds), ("q", contains), ("before", before)];
        link("/admin/trouble", params.into_iter().filter(|(_, value)| !value.is_empty()))
    };
    let named = KINDS.iter().map(|(name, problem)| (*name, p.problem(*problem)));
    let kinds = std::iter::once(("", m.all_problems)).chain(named);
    let page = ProblemsPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        p,
        seeds_only,
        kinds: kinds.map(|(value, text)| MenuOption { value, text, is_chosen: value == kind }).collect(),
        reasons: reasons
            .into_iter()
            .take(MAX_REASONS)
            .map(|(reason, count)| {
                let href = to("", literal_part(&reason));
                (reason, count, href)
            })
            .collect(),
        later: failures.last().filter(|_| is_more).map(|last| to(&encode_position(last), &contains)),
        here: visitor.address(),
        rows: failures.iter().map(|one| ProblemRow::new(one, m, p, visitor.lang)).collect(),
        site,
        contains,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl ProblemRow {
    fn new(trouble: &PageFailure, m: &'static PageMessages, p: &'static ProblemMessages, lang: Lang) -> Self {
        Self {
            url: trouble.url.to_string(),
            href: report_link(trouble.url.as_str()),
            problem: p.problem(trouble.problem),
            is_refused: trouble.problem == PageProblem::Refused,
            is_seed: trouble.is_seed,
            reason: trouble.reason.clone(),
            remedy: p.remedy(trouble.problem, &trouble.reason),
            at: lang.date_time(trouble.at),
            attempts: trouble.attempts,
            due: super::sites::format_time(trouble.due, m, lang),
        }
    }
}

/// Returns the longest literal part of a reason: numbers and URLs may be folded to `#` and `…`.
fn literal_part(reason: &str) -> &str {
    reason.split(['…', '#']).map(str::trim).max_by_key(|part| part.len()).unwrap_or(reason)
}

/// Encodes the position after a row: its time and page id.
fn encode_position(last: &PageFailure) -> String {
    format!("{}.{}", last.at.millis(), last.url.id())
}

fn parse_position(text: &str) -> Option<(Timestamp, PageId)> {
    let (at, page) = text.split_once('.')?;
    Some((Timestamp::from_millis(at.parse().ok()?), page.parse().ok()?))
}

/// `POST /admin/trouble/retry`: fetches the selected pages again.
pub(crate) async fn retry(action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let urls: Vec<PageUrl> = action.form.values("url").take(PAGE_SIZE).flat_map(PageUrl::parse).collect();
    let back = action.form.text("back");
    let back = if back.starts_with("/admin/trouble") { back.to_string() } else { "/admin/trouble".into() };
    if urls.is_empty() {
        return action.fail(&back, m.nothing_chosen);
    }
    let (first, detail) =
        (urls[0].to_string(), urls.iter().map(PageUrl::as_str).collect::<Vec<_>>().join(" "));
    let good = fill(m.did_retry, &[&urls.len().to_string()]);
    let done = execute(&action.app, Order::Recrawl(urls)).await;
    record_and_redirect(&action, "page.retry", &first, &detail, done, &back, &good).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_on_behind_its_last_row() {
        let url = PageUrl::parse("http://a.example/").unwrap();
        let last = PageFailure {
            url: url.clone(),
            problem: PageProblem::Failed,
            is_seed: false,
            reason: String::new(),
            attempts: 1,
            at: Timestamp::from_millis(12_345),
            due: None,
        };
        assert_eq!(parse_position(&encode_position(&last)), Some((Timestamp::from_millis(12_345), url.id())));
        for wrong in ["", "1", "x.y", "1.zz", "."] {
            assert_eq!(parse_position(wrong), None, "{wrong}");
        }
    }
}
