//! `/admin/submissions`: URLs proposed by visitors, to accept or to refuse.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::PageUrl;
use pharos_engine::Order;
use pharos_store::catalog::Submission;

use super::commands::{execute, record_and_redirect, with_catalog};
use super::messages::PageMessages;
use super::sites::report_link;
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill};
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/submissions";
/// Rows per list.
const MAX_ROWS: usize = 100;

#[derive(Template)]
#[template(path = "admin/submissions.html")]
struct SubmissionsPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    waiting: Vec<SubmissionRow>,
    count: usize,
    decided: Vec<SubmissionRow>,
}

struct SubmissionRow {
    url: String,
    href: String,
    at: String,
    accepted: Option<bool>,
}

/// `GET /admin/submissions`.
pub(crate) async fn submissions(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let all = with_catalog(&app, |_, catalog| Ok(catalog.submissions()?)).await?;
    let (waiting, decided): (Vec<&Submission>, Vec<&Submission>) =
        all.iter().partition(|one| one.accepted.is_none());
    let row = |one: &&Submission| SubmissionRow::new(one, visitor.lang);
    let page = SubmissionsPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m: PageMessages::for_lang(visitor.lang),
        count: waiting.len(),
        waiting: waiting.iter().take(MAX_ROWS).map(row).collect(),
        decided: decided.iter().rev().take(MAX_ROWS).map(row).collect(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl SubmissionRow {
    fn new(one: &Submission, lang: Lang) -> Self {
        Self {
            url: one.url.to_string(),
            href: report_link(one.url.as_str()),
            at: lang.date_time(one.at),
            accepted: one.accepted,
        }
    }
}

/// `POST /admin/submissions/decide`: accepts or refuses one URL (`accept`, `refuse`) or the selected ones (`verdict`).
pub(crate) async fn decide(action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let form = &action.form;
    let (verdict, urls): (&str, Vec<&str>) = match (form.text("accept"), form.text("refuse")) {
        ("", "") => (form.text("verdict"), form.values("url").take(MAX_ROWS).collect()),
        ("", refused) => ("refuse", vec![refused]),
        (accepted, _) => ("accept", vec![accepted]),
    };
    let urls: Vec<PageUrl> = urls.into_iter().flat_map(PageUrl::parse).collect();
    if urls.is_empty() {
        return action.fail(PATH, m.nothing_chosen);
    }
    let (first, count) = (urls[0].to_string(), urls.len().to_string());
    let detail = urls.iter().map(PageUrl::as_str).collect::<Vec<_>>().join(" ");
    let (name, good, order) = match verdict {
        "accept" => ("submission.accept", m.did_accept, Order::Accept(urls)),
        "refuse" => ("submission.refuse", m.did_refuse, Order::Refuse(urls)),
        _ => return action.fail(PATH, m.nothing_chosen),
    };
    let done = execute(&action.app, order).await;
    record_and_redirect(&action, name, &first, &detail, done, PATH, &fill(good, &[&count])).await
}
