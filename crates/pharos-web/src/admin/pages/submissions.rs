//! `/admin/submissions`: URLs proposed by visitors, to accept or to refuse.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::PageUrl;
use pharos_engine::Order;
use pharos_store::Submission;

use super::sites::story_link;
use super::words::PageWords;
use super::work::{finish, order, with_catalog};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;
use crate::words::{Lang, fill};

const HERE: &str = "/admin/submissions";
/// Rows per list.
const ROWS: usize = 100;

#[derive(Template)]
#[template(path = "admin/submissions.html")]
struct SubmissionsPage {
    frame: DeskFrame,
    w: &'static PageWords,
    waiting: Vec<Row>,
    count: usize,
    decided: Vec<Row>,
}

struct Row {
    url: String,
    href: String,
    at: String,
    accepted: Option<bool>,
}

/// `GET /admin/submissions`.
pub(crate) async fn submissions(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let all = with_catalog(&rooms, |_, catalog| Ok(catalog.submissions()?)).await?;
    let (waiting, decided): (Vec<&Submission>, Vec<&Submission>) =
        all.iter().partition(|one| one.accepted.is_none());
    let row = |one: &&Submission| Row::of(one, visitor.lang);
    let page = SubmissionsPage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w: PageWords::of(visitor.lang),
        count: waiting.len(),
        waiting: waiting.iter().take(ROWS).map(row).collect(),
        decided: decided.iter().rev().take(ROWS).map(row).collect(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl Row {
    fn of(one: &Submission, lang: Lang) -> Self {
        Self {
            url: one.url.to_string(),
            href: story_link(one.url.as_str()),
            at: lang.moment(one.at),
            accepted: one.accepted,
        }
    }
}

/// `POST /admin/submissions/decide`: accepts or refuses the selected URLs.
pub(crate) async fn decide(action: Action) -> Response {
    let w = PageWords::of(action.visitor.lang);
    let urls: Vec<PageUrl> = action.form.all("url").take(ROWS).flat_map(PageUrl::parse).collect();
    if urls.is_empty() {
        return action.failed(HERE, w.nothing_chosen);
    }
    let (first, count) = (urls[0].to_string(), urls.len().to_string());
    let detail = urls.iter().map(PageUrl::as_str).collect::<Vec<_>>().join(" ");
    let (name, good, wanted) = match action.form.text("verdict") {
        "accept" => ("submission.accept", w.did_accept, Order::Accept(urls)),
        "refuse" => ("submission.refuse", w.did_refuse, Order::Refuse(urls)),
        _ => return action.failed(HERE, w.nothing_chosen),
    };
    let done = order(&action.rooms, wanted).await;
    finish(&action, name, &first, &detail, done, HERE, &fill(good, &[&count])).await
}
