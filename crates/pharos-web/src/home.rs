//! `/`: the home page.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::page::{Frame, respond};
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    query: &'static str,
    focus: bool,
    /// Number of searchable pages as text; `None` if there are none.
    pages: Option<String>,
}

pub(crate) async fn home(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, ServiceError> {
    rooms.visit(&visitor);
    let pages = rooms.pages().await?;
    let pages = (pages > 0).then(|| visitor.words().pages(pages));
    let page = HomePage { frame: Frame::new(&visitor, rooms.config()), query: "", focus: true, pages };
    Ok(respond(&visitor, StatusCode::OK, &page))
}
