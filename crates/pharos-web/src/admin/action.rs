//! Form posts that change something on the desk.
//!
//! An [`Action`] exists only if a logged-in operator whose role permits it submitted a form of this site. All other
//! requests are denied, and the denial is written to the action log. `permissions.rs` checks the role.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::action_log::{ActionEntry, ActionOutcome};
use super::form::FormFields;
use super::frame::{DeskFrame, Notice, message_page, redirect_with_notice};
use super::messages::DeskMessages;
use super::secret::secrets_match;
use super::session::Operator;
use crate::server::origin::is_same_site;
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// A form submitted by an operator whose role permits it.
pub(crate) struct Action {
    pub(crate) app: AppState,
    pub(crate) visitor: Visitor,
    pub(crate) operator: Operator,
    pub(crate) form: FormFields,
}

impl Action {
    /// Returns the messages in the language of the operator.
    pub(crate) fn messages(&self) -> &'static DeskMessages {
        DeskMessages::for_lang(self.visitor.lang)
    }

    /// Writes the action, its object and its outcome to the action log. `action` is its short name.
    pub(crate) async fn record(
        &self,
        action: &'static str,
        what: &str,
        detail: &str,
        outcome: ActionOutcome<'_>,
    ) {
        let desk = self.app.desk();
        desk.record(ActionEntry {
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
    pub(crate) fn succeed(&self, to: &str, text: impl Into<String>) -> Response {
        redirect_with_notice(&self.app, &self.operator, to, Notice::success(text))
    }

    /// Redirects to a page of the desk that shows `text` as an error.
    pub(crate) fn fail(&self, to: &str, text: impl Into<String>) -> Response {
        redirect_with_notice(&self.app, &self.operator, to, Notice::error(text))
    }
}

/// The reason why an action is denied.
#[derive(Clone, Copy)]
enum Denial {
    OtherSite,
    Forged,
}

impl FromRequestParts<AppState> for Operator {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _rooms: &AppState) -> Result<Self, StatusCode> {
        // Inserted by the login check in `gate.rs`.
        parts.extensions.get::<Operator>().cloned().ok_or(StatusCode::FORBIDDEN)
    }
}

impl FromRequest<AppState> for Action {
    type Rejection = Response;

    async fn from_request(request: Request, app: &AppState) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let operator = Operator::from_request_parts(&mut parts, app)
            .await
            .map_err(axum::response::IntoResponse::into_response)?;
        let Ok(visitor) = Visitor::from_request_parts(&mut parts, app).await;
        let headers = parts.headers.clone();
        let form = read_form(Request::from_parts(parts, body), app).await?;
        let action = Self { app: app.clone(), visitor, operator, form };
        match action.check(&headers) {
            None => Ok(action),
            Some(denial) => Err(action.deny(denial).await),
        }
    }
}

/// Reads a form. Works without a session, as the login page needs it.
pub(super) async fn read_form(request: Request, app: &AppState) -> Result<FormFields, Response> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
    }
    let body =
        Bytes::from_request(request, app).await.map_err(axum::response::IntoResponse::into_response)?;
    Ok(FormFields::parse(&body))
}

impl Action {
    fn check(&self, headers: &HeaderMap) -> Option<Denial> {
        if !is_same_site(&self.visitor, headers, &self.app.config().web) {
            return Some(Denial::OtherSite);
        }
        let mut given = self.form.values("csrf");
        if !given.next().is_some_and(|token| secrets_match(token, &self.operator.csrf))
            || given.next().is_some()
        {
            return Some(Denial::Forged);
        }
        None
    }

    async fn deny(&self, denial: Denial) -> Response {
        let messages = self.messages();
        let (action, why, text) = match denial {
            Denial::OtherSite => ("desk.forged", "sent by a page of another site", messages.no_other_site),
            Denial::Forged => ("desk.forged", "without the token of the session", messages.no_forged),
        };
        self.record(action, self.visitor.path(), "", ActionOutcome::Refused(why)).await;
        let frame = DeskFrame::new(&self.app, &self.visitor, &self.operator);
        message_page(frame, &self.visitor, StatusCode::FORBIDDEN, messages.no_title, text, None)
    }
}
