//! `/admin/login` and `/admin/logout`.

use std::time::{Duration, Instant};

use askama::Template;
use axum::extract::{Extension, Request, State};
use axum::http::header::{RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};

use super::action::{Action, read_form};
use super::action_log::{ActionEntry, ActionOutcome};
use super::frame::{DeskFrame, Notice};
use super::gate::{AllowedClient, HOME, LOGIN, next_page};
use super::messages::DeskMessages;
use super::operators::{Account, MAX_NAME_LENGTH, find};
use super::secret::digest_secret;
use super::session::{cookie, delete_cookie, session_token};
use super::{DeskError, password};
use crate::messages::{fill, grouped};
use crate::pages::frame::respond;
use crate::server::origin::is_same_site;
use crate::server::visitor::Visitor;
use crate::state::AppState;

#[derive(Template)]
#[template(path = "admin/login.html")]
struct LoginPage {
    frame: DeskFrame,
    /// Name as typed.
    name: String,
    /// Path to go to after login.
    next: String,
    /// No operator exists yet.
    is_new: bool,
    longest_name: usize,
    longest_password: usize,
}

/// `GET /admin/login`.
pub(super) async fn page(
    State(app): State<AppState>,
    Extension(client): Extension<AllowedClient>,
    visitor: Visitor,
) -> Response {
    login_page(&app, &client, &visitor, "", visitor.param("next").unwrap_or_default(), StatusCode::OK, None)
}

fn login_page(
    app: &AppState,
    client: &AllowedClient,
    visitor: &Visitor,
    name: &str,
    next: &str,
    status: StatusCode,
    notice: Option<Notice>,
) -> Response {
    let page = LoginPage {
        frame: DeskFrame::logged_out(app, visitor).with_notice(notice),
        name: name.chars().take(MAX_NAME_LENGTH).collect(),
        next: next_page(next).unwrap_or_default(),
        is_new: client.accounts.is_empty(),
        longest_name: MAX_NAME_LENGTH,
        longest_password: password::MAX_LENGTH,
    };
    respond(visitor, status, &page)
}

/// `POST /admin/login`.
pub(super) async fn log_in(
    State(app): State<AppState>,
    Extension(client): Extension<AllowedClient>,
    visitor: Visitor,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Response> {
    let form = read_form(request, &app).await?;
    let (desk, messages) = (app.desk(), DeskMessages::for_lang(visitor.lang));
    let (name, password, next) = (form.text("name").trim(), form.text("password"), form.text("next"));
    let refuse = |status, text: &str| {
        login_page(&app, &client, &visitor, name, next, status, Some(Notice::error(text)))
    };
    // Names without an account are not logged: some are passwords typed into the wrong field.
    let account = find(&client.accounts, name);
    let from = client.address.to_string();
    let record = async |outcome| {
        let who = account.map_or("", |account| account.name.as_str());
        let detail = if account.is_none() { "unknown name" } else { "" };
        desk.record(ActionEntry { who, from: &from, action: "desk.login", what: "", detail, outcome }).await;
    };
    if !is_same_site(&visitor, &headers, &app.config().web) {
        record(ActionOutcome::Refused("sent by a page of another site")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, messages.no_other_site));
    }
    if let Err(wait) = desk.login_limits.log_in(client.address, name) {
        record(ActionOutcome::Refused("too many tries")).await;
        return Ok(refuse_until(wait, messages, refuse));
    }
    let verified = desk.hashing.verify(password, account.map(|account| account.password.as_str())).await;
    match account.filter(|_| matches!(verified, Ok(true))) {
        Some(account) => {
            record(ActionOutcome::Done).await;
            let to = next_page(next).unwrap_or_else(|| HOME.into());
            let started = start_session(&app, &visitor, &headers, account, &to, None);
            started.map_err(axum::response::IntoResponse::into_response)
        }
        None => {
            verified.map_err(axum::response::IntoResponse::into_response)?;
            record(ActionOutcome::Refused("wrong name or password")).await;
            Ok(refuse(StatusCode::FORBIDDEN, messages.login_wrong))
        }
    }
}

/// Starts a session with a new token and ends the session of the request, if any, against session fixation.
pub(super) fn start_session(
    app: &AppState,
    visitor: &Visitor,
    headers: &HeaderMap,
    account: &Account,
    to: &str,
    notice: Option<Notice>,
) -> Result<Response, DeskError> {
    let sessions = &app.desk().sessions;
    if let Some(old) = session_token(headers) {
        sessions.end_token(old);
    }
    let token = sessions.start(account, Instant::now())?;
    if let Some(notice) = notice {
        sessions.set_notice(&digest_secret(&token), notice);
    }
    let mut response = Redirect::to(to).into_response();
    set_cookie(&mut response, &cookie(&token, is_secure(app, visitor)));
    Ok(response)
}

/// `POST /admin/logout`: ends the session.
pub(super) async fn log_out(action: Action) -> Response {
    action.app.desk().sessions.end(&action.operator.session);
    action.record("desk.logout", "", "", ActionOutcome::Done).await;
    let mut response = Redirect::to(LOGIN).into_response();
    set_cookie(&mut response, &delete_cookie(is_secure(&action.app, &action.visitor)));
    response
}

/// Asks the user to wait, on the page that `refuse` renders with a message.
pub(super) fn refuse_until(
    wait: Duration,
    messages: &DeskMessages,
    refuse: impl FnOnce(StatusCode, &str) -> Response,
) -> Response {
    let seconds = wait.as_secs().saturating_add(1);
    let message = fill(messages.too_many_tries, &[&grouped(seconds)]);
    let mut response = refuse(StatusCode::TOO_MANY_REQUESTS, &message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Returns `true` if the browser connected over TLS, so that the cookie may be marked `Secure`.
fn is_secure(app: &AppState, visitor: &Visitor) -> bool {
    let web = &app.config().web;
    !web.certificate.is_empty() || visitor.client.source.forwarded_https == Some(true)
}

fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
