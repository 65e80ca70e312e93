//! `/admin/news`: what every open page of the desk announces, whatever it shows.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::generations::BuildView;
use super::messages::PageMessages;
use crate::admin::session::Operator;
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// News of the desk. A page that was loaded before announces what has changed since.
#[derive(Serialize)]
struct News {
    /// Result of the last build of this process.
    last_build: Option<String>,
}

/// `GET /admin/news`. Without a session, the request is redirected to the login page like any other, which shows the
/// page that its session is over.
pub(crate) async fn news(State(app): State<AppState>, visitor: Visitor, _operator: Operator) -> Response {
    let m = PageMessages::for_lang(visitor.lang);
    let build = BuildView::new(&app.service().builds.state(), m, visitor.lang);
    ([(CACHE_CONTROL, "no-store")], Json(News { last_build: build.last })).into_response()
}
