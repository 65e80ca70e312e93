//! `/admin/actions`: the action log.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::Timestamp;

use super::params::{self, PAGE_SIZE};
use crate::admin::DeskError;
use crate::admin::action_log::{ActionFilter, ActionRecord};
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::Lang;
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Maximum page number; older entries are reached with a filter.
const MAX_PAGE: usize = 1_000;

/// Maximum length of a filter in characters.
const MAX_FILTER_LENGTH: usize = 100;

#[derive(Template)]
#[template(path = "admin/actions.html")]
struct ActionsPage {
    frame: DeskFrame,
    filter: ActionFilter,
    longest_filter: usize,
    lines: Vec<ActionLine>,
    /// The scan stopped at its byte limit.
    is_incomplete: bool,
    newer: Option<String>,
    older: Option<String>,
}

/// An entry as shown.
struct ActionLine {
    at: String,
    exact: String,
    is_done: bool,
    entry: ActionRecord,
}

/// `GET /admin/actions`.
pub(super) async fn actions(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let param = |name: &str| params::text(&visitor, name, MAX_FILTER_LENGTH);
    let filter = ActionFilter { who: param("who"), action: param("action"), text: param("text") };
    let page = params::page(&visitor).0.min(MAX_PAGE);
    let query = filter.clone();
    let read =
        app.desk().run_blocking(move |desk| desk.action_log.read(&query, (page - 1) * PAGE_SIZE, PAGE_SIZE));
    let found = read.await?.map_err(DeskError::from)?;
    let link_to = |page: usize| page_link(&filter, page);
    let shown = ActionsPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        newer: (page > 1).then(|| link_to(page - 1)),
        older: (found.has_more && page < MAX_PAGE).then(|| link_to(page + 1)),
        lines: found.entries.into_iter().map(|entry| action_line(visitor.lang, entry)).collect(),
        is_incomplete: found.is_incomplete,
        longest_filter: MAX_FILTER_LENGTH,
        filter,
    };
    Ok(respond(&visitor, StatusCode::OK, &shown))
}

fn action_line(lang: Lang, entry: ActionRecord) -> ActionLine {
    let at = Timestamp::parse(&entry.at).map_or_else(|| entry.at.clone(), |at| lang.date_time(at));
    ActionLine { at, exact: entry.at.clone(), is_done: entry.outcome == "done", entry }
}

/// Returns the link to another page of the same filter.
fn page_link(filter: &ActionFilter, page: usize) -> String {
    let page = page.to_string();
    let fields = [("who", &filter.who), ("action", &filter.action), ("text", &filter.text), ("page", &page)];
    let set = fields.into_iter().filter(|(_, value)| !value.is_empty());
    link("/admin/actions", set.map(|(name, value)| (name, value.as_str())))
}
