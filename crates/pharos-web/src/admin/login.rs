//! `/admin/login` and `/admin/logout`.

use std::time::{Duration, Instant};

use askama::Template;
use axum::extract::{Extension, Request, State};
use axum::http::header::{RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};

use super::action::{OwnAction, form};
use super::frame::{DeskFrame, Notice};
use super::gate::{HOME, Knock, LOGIN, next_page};
use super::operators::{Account, LONGEST_NAME, find};
use super::record::{Deed, Outcome};
use super::secret::mark;
use super::session::{cookie, no_cookie, token_of};
use super::words::DeskWords;
use super::{DeskError, password};
use crate::origin::is_from_no_other_site;
use crate::page::respond;
use crate::service::Rooms;
use crate::visitor::Visitor;
use crate::words::{fill, grouped};

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
    State(rooms): State<Rooms>,
    Extension(knock): Extension<Knock>,
    visitor: Visitor,
) -> Response {
    login_page(&rooms, &knock, &visitor, "", visitor.param("next").unwrap_or_default(), StatusCode::OK, None)
}

fn login_page(
    rooms: &Rooms,
    knock: &Knock,
    visitor: &Visitor,
    name: &str,
    next: &str,
    status: StatusCode,
    notice: Option<Notice>,
) -> Response {
    let page = LoginPage {
        frame: DeskFrame::at_the_door(rooms, visitor).saying(notice),
        name: name.chars().take(LONGEST_NAME).collect(),
        next: next_page(next).unwrap_or_default(),
        is_new: knock.accounts.is_empty(),
        longest_name: LONGEST_NAME,
        longest_password: password::LONGEST,
    };
    respond(visitor, status, &page)
}

/// `POST /admin/login`.
pub(super) async fn log_in(
    State(rooms): State<Rooms>,
    Extension(knock): Extension<Knock>,
    visitor: Visitor,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Response> {
    let form = form(request, &rooms).await?;
    let (desk, words) = (rooms.desk(), DeskWords::of(visitor.lang));
    let (name, password, next) = (form.text("name").trim(), form.text("password"), form.text("next"));
    let refuse = |status, text: &str| {
        login_page(&rooms, &knock, &visitor, name, next, status, Some(Notice::bad(text)))
    };
    // Names without an account are not logged: some are passwords typed into the wrong field.
    let account = find(&knock.accounts, name);
    let from = knock.address.to_string();
    let note = async |outcome| {
        let who = account.map_or("", |account| account.name.as_str());
        let detail = if account.is_none() { "unknown name" } else { "" };
        desk.note(Deed { who, from: &from, action: "desk.login", what: "", detail, outcome }).await;
    };
    if !is_from_no_other_site(&visitor, &headers, &rooms.config().web) {
        note(Outcome::Refused("sent by a page of another site")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, words.no_other_site));
    }
    if let Err(wait) = desk.tries.log_in(knock.address, name) {
        note(Outcome::Refused("too many tries")).await;
        return Ok(too_many(wait, refuse(StatusCode::TOO_MANY_REQUESTS, &come_back(words, wait))));
    }
    let fits = desk.hashing.fits(password, account.map(|account| account.password.as_str())).await;
    match account.filter(|_| matches!(fits, Ok(true))) {
        Some(account) => {
            note(Outcome::Done).await;
            let to = next_page(next).unwrap_or_else(|| HOME.into());
            let begun = begin(&rooms, &visitor, &headers, account, &to, None);
            begun.map_err(axum::response::IntoResponse::into_response)
        }
        None => {
            fits.map_err(axum::response::IntoResponse::into_response)?;
            note(Outcome::Refused("wrong name or password")).await;
            Ok(refuse(StatusCode::FORBIDDEN, words.login_wrong))
        }
    }
}

/// Starts a session with a new token and ends the session of the request, if any, against session fixation.
pub(super) fn begin(
    rooms: &Rooms,
    visitor: &Visitor,
    headers: &HeaderMap,
    account: &Account,
    to: &str,
    notice: Option<Notice>,
) -> Result<Response, DeskError> {
    let sessions = &rooms.desk().sessions;
    if let Some(old) = token_of(headers) {
        sessions.end_token(old);
    }
    let token = sessions.begin(account, Instant::now())?;
    if let Some(notice) = notice {
        sessions.leave(&mark(&token), notice);
    }
    let mut response = Redirect::to(to).into_response();
    set_cookie(&mut response, &cookie(&token, is_secure(rooms, visitor)));
    Ok(response)
}

/// `POST /admin/logout`: ends the session.
pub(super) async fn log_out(OwnAction(action): OwnAction) -> Response {
    action.rooms.desk().sessions.end(&action.operator.session);
    action.note("desk.logout", "", "", Outcome::Done).await;
    let mut response = Redirect::to(LOGIN).into_response();
    set_cookie(&mut response, &no_cookie(is_secure(&action.rooms, &action.visitor)));
    response
}

/// Returns the message that asks the user to wait.
pub(super) fn come_back(words: &DeskWords, wait: Duration) -> String {
    fill(words.too_many_tries, &[&grouped(wait.as_secs().saturating_add(1))])
}

/// Adds `Retry-After` to a response.
pub(super) fn too_many(wait: Duration, mut response: Response) -> Response {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().saturating_add(1)));
    response
}

/// Returns `true` if the browser connected over TLS, so that the cookie may be marked `Secure`.
fn is_secure(rooms: &Rooms, visitor: &Visitor) -> bool {
    let web = &rooms.config().web;
    !web.certificate.is_empty() || (web.behind_proxy && visitor.client.forwarded_https)
}

fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
