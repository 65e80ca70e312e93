//! `/admin/actions`: the action log.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::Timestamp;

use crate::admin::DeskError;
use crate::admin::frame::DeskFrame;
use crate::admin::record::{Entry, Filter};
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::{Visitor, link};
use crate::words::Lang;

/// Entries per page.
const PAGE: usize = 50;

/// Maximum page number; older entries are reached with a filter.
const LAST_PAGE: usize = 1_000;

/// Maximum length of a filter in characters.
const LONGEST_FILTER: usize = 100;

#[derive(Template)]
#[template(path = "admin/actions.html")]
struct ActionsPage {
    frame: DeskFrame,
    filter: Filter,
    longest_filter: usize,
    lines: Vec<Line>,
    /// The scan stopped at its byte limit.
    is_cut: bool,
    newer: Option<String>,
    older: Option<String>,
}

/// An entry as shown.
struct Line {
    at: String,
    exact: String,
    is_done: bool,
    entry: Entry,
}

/// `GET /admin/actions`.
pub(super) async fn actions(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let wanted = |name: &str| {
        let text = visitor.param(name).unwrap_or_default().trim();
        text.chars().take(LONGEST_FILTER).collect::<String>()
    };
    let filter = Filter { who: wanted("who"), action: wanted("action"), text: wanted("text") };
    let page = visitor.param("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let page: usize = usize::clamp(page, 1, LAST_PAGE);
    let asked = filter.clone();
    let read = rooms.desk().aside(move |desk| desk.record.read(&asked, (page - 1) * PAGE, PAGE));
    let found = read.await?.map_err(DeskError::from)?;
    let turn = |page: usize| turned(&filter, page);
    let shown = ActionsPage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        newer: (page > 1).then(|| turn(page - 1)),
        older: (found.has_more && page < LAST_PAGE).then(|| turn(page + 1)),
        lines: found.entries.into_iter().map(|entry| line(visitor.lang, entry)).collect(),
        is_cut: found.is_cut,
        longest_filter: LONGEST_FILTER,
        filter,
    };
    Ok(respond(&visitor, StatusCode::OK, &shown))
}

fn line(lang: Lang, entry: Entry) -> Line {
    let at = Timestamp::parse(&entry.at).map_or_else(|| entry.at.clone(), |at| lang.moment(at));
    Line { at, exact: entry.at.clone(), is_done: entry.outcome == "done", entry }
}

/// Returns the link to another page of the same filter.
fn turned(filter: &Filter, page: usize) -> String {
    let page = page.to_string();
    let fields = [("who", &filter.who), ("action", &filter.action), ("text", &filter.text), ("page", &page)];
    let set = fields.into_iter().filter(|(_, value)| !value.is_empty());
    link("/admin/actions", set.map(|(name, value)| (name, value.as_str())))
}
