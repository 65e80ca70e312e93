//! Form posts that change something on the desk.
//!
//! An [`Action`] exists only if a logged-in operator with write permission submitted a form of this site. All other
//! requests are denied, and the denial is written to the action log.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::form::Form;
use super::frame::{DeskFrame, Notice, done, message};
use super::record::{Deed, Outcome};
use super::secret::is_same;
use super::session::Operator;
use super::words::DeskWords;
use crate::origin::is_from_no_other_site;
use crate::service::Rooms;
use crate::visitor::Visitor;

/// A form submitted by an operator with write permission.
pub(crate) struct Action {
    pub(crate) rooms: Rooms,
    pub(crate) visitor: Visitor,
    pub(crate) operator: Operator,
    pub(crate) form: Form,
}

/// A form that every operator may submit: logging out and changing the own password.
pub(crate) struct OwnAction(pub(crate) Action);

impl Action {
    /// Returns the messages in the language of the operator.
    pub(crate) fn words(&self) -> &'static DeskWords {
        DeskWords::of(self.visitor.lang)
    }

    /// Writes the action, its object and its outcome to the action log. `action` is its short name.
    pub(crate) async fn note(&self, action: &'static str, what: &str, detail: &str, outcome: Outcome<'_>) {
        let desk = self.rooms.desk();
        desk.note(Deed {
            who: &self.operator.name,
            from: &self.operator.from,
            action,
            what,
            detail,
            outcome,
        })
        .await;
    }

    /// Redirects to a page of the desk that shows `text` as a success.
    pub(crate) fn done(&self, to: &str, text: impl Into<String>) -> Response {
        done(&self.rooms, &self.operator, to, Notice::good(text))
    }

    /// Redirects to a page of the desk that shows `text` as an error.
    pub(crate) fn failed(&self, to: &str, text: impl Into<String>) -> Response {
        done(&self.rooms, &self.operator, to, Notice::bad(text))
    }
}

/// The reason why an action is denied.
#[derive(Clone, Copy)]
enum No {
    OtherSite,
    Forged,
    ReadOnly,
}

impl FromRequestParts<Rooms> for Operator {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _rooms: &Rooms) -> Result<Self, StatusCode> {
        // Inserted by the login check in `gate.rs`.
        parts.extensions.get::<Operator>().cloned().ok_or(StatusCode::FORBIDDEN)
    }
}

impl FromRequest<Rooms> for Action {
    type Rejection = Response;

    async fn from_request(request: Request, rooms: &Rooms) -> Result<Self, Response> {
        read(request, rooms, true).await
    }
}

impl FromRequest<Rooms> for OwnAction {
    type Rejection = Response;

    async fn from_request(request: Request, rooms: &Rooms) -> Result<Self, Response> {
        read(request, rooms, false).await.map(Self)
    }
}

async fn read(request: Request, rooms: &Rooms, needs_full: bool) -> Result<Action, Response> {
    let (mut parts, body) = request.into_parts();
    let operator = Operator::from_request_parts(&mut parts, rooms)
        .await
        .map_err(axum::response::IntoResponse::into_response)?;
    let Ok(visitor) = Visitor::from_request_parts(&mut parts, rooms).await;
    let headers = parts.headers.clone();
    let form = form(Request::from_parts(parts, body), rooms).await?;
    let action = Action { rooms: rooms.clone(), visitor, operator, form };
    match action.objection(&headers, needs_full) {
        None => Ok(action),
        Some(no) => Err(action.refuse(no).await),
    }
}

/// Reads a form. Works without a session, as the login page needs it.
pub(super) async fn form(request: Request, rooms: &Rooms) -> Result<Form, Response> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
    }
    let body =
        Bytes::from_request(request, rooms).await.map_err(axum::response::IntoResponse::into_response)?;
    Ok(Form::parse(&body))
}

impl Action {
    fn objection(&self, headers: &HeaderMap, needs_full: bool) -> Option<No> {
        if !is_from_no_other_site(&self.visitor, headers, &self.rooms.config().web) {
            return Some(No::OtherSite);
        }
        let mut given = self.form.all("csrf");
        if !given.next().is_some_and(|token| is_same(token, &self.operator.csrf)) || given.next().is_some() {
            return Some(No::Forged);
        }
        (needs_full && !self.operator.may_act()).then_some(No::ReadOnly)
    }

    async fn refuse(&self, no: No) -> Response {
        let words = self.words();
        let (action, why, text) = match no {
            No::OtherSite => ("desk.forged", "sent by a page of another site", words.no_other_site),
            No::Forged => ("desk.forged", "without the token of the session", words.no_forged),
            No::ReadOnly => ("desk.forbidden", "the operator has read-only access", words.no_read_only),
        };
        self.note(action, self.visitor.path(), "", Outcome::Refused(why)).await;
        let frame = DeskFrame::new(&self.rooms, &self.visitor, &self.operator);
        message(frame, &self.visitor, StatusCode::FORBIDDEN, words.no_title, text, None)
    }
}
