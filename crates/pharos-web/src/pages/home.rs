//! `/`: the home page.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::pages::frame::{PageFrame, respond};
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    /// Number of searchable pages as text; `None` if there are none.
    pages: Option<String>,
    has_directory: bool,
}

pub(crate) async fn home(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ServiceError> {
    app.service().search.record_visit(&visitor.request_client());
    let pages = app.searchable_pages().await?;
    let pages = (pages > 0).then(|| visitor.messages().page_count(pages));
    let page = HomePage {
        frame: PageFrame::new(&visitor, app.config()),
        query: "",
        focus: true,
        pages,
        has_directory: app.taxonomy().is_some(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}
