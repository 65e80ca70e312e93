//! `/admin/glossary`: the terms of the desk with their meanings.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::messages::PageMessages;
use crate::admin::frame::DeskFrame;
use crate::admin::glossary::terms;
use crate::admin::session::Operator;
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::AppState;

#[derive(Template)]
#[template(path = "admin/glossary.html")]
struct GlossaryPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    /// Id, name and meaning of each term.
    terms: Vec<(String, &'static str, &'static str)>,
}

/// `GET /admin/glossary`.
pub(crate) async fn glossary(State(app): State<AppState>, visitor: Visitor, operator: Operator) -> Response {
    let lang = visitor.lang;
    let page = GlossaryPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m: PageMessages::for_lang(lang),
        terms: terms().iter().map(|term| (term.id(), term.name(lang), term.meaning(lang))).collect(),
    };
    respond(&visitor, StatusCode::OK, &page)
}
