//! `/admin/setup`: creates the first operator, with the setup code.

use askama::Template;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use pharos_core::{Clock as _, SystemClock};

use super::action::form;
use super::frame::{DeskFrame, Notice};
use super::gate::{HOME, Knock, LOGIN};
use super::login::{begin, come_back, too_many};
use super::operators::{Account, LONGEST_NAME, Role, first, is_name};
use super::password;
use super::record::{Deed, Outcome};
use super::words::DeskWords;
use crate::origin::is_from_no_other_site;
use crate::page::respond;
use crate::service::Rooms;
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "admin/setup.html")]
struct SetupPage {
    frame: DeskFrame,
    /// Name as typed.
    name: String,
    /// The code has expired, because an operator existed since this process started.
    is_spent: bool,
    longest_name: usize,
    longest_password: usize,
    password_hint: String,
}

/// `GET /admin/setup`, as long as there is no operator.
pub(super) async fn page(
    State(rooms): State<Rooms>,
    Extension(knock): Extension<Knock>,
    visitor: Visitor,
) -> Response {
    if !knock.accounts.is_empty() {
        return Redirect::to(LOGIN).into_response();
    }
    setup_page(&rooms, &visitor, "", StatusCode::OK, None)
}

fn setup_page(
    rooms: &Rooms,
    visitor: &Visitor,
    name: &str,
    status: StatusCode,
    notice: Option<Notice>,
) -> Response {
    let page = SetupPage {
        frame: DeskFrame::at_the_door(rooms, visitor).saying(notice),
        name: name.chars().take(LONGEST_NAME).collect(),
        is_spent: rooms.desk().code.is_spent(),
        longest_name: LONGEST_NAME,
        longest_password: password::LONGEST,
        password_hint: DeskWords::of(visitor.lang).told_password(),
    };
    respond(visitor, status, &page)
}

/// `POST /admin/setup`.
pub(super) async fn set_up(
    State(rooms): State<Rooms>,
    Extension(knock): Extension<Knock>,
    visitor: Visitor,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Response> {
    let form = form(request, &rooms).await?;
    let (desk, words) = (rooms.desk(), DeskWords::of(visitor.lang));
    let name = form.text("name").trim();
    let refuse = |status, text: &str| setup_page(&rooms, &visitor, name, status, Some(Notice::bad(text)));
    let from = knock.address.to_string();
    let note = async |who: &str, outcome| {
        desk.note(Deed { who, from: &from, action: "desk.setup", what: "", detail: "", outcome }).await;
    };
    if !is_from_no_other_site(&visitor, &headers, &rooms.config().web) {
        note("", Outcome::Refused("sent by a page of another site")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, words.no_other_site));
    }
    if !knock.accounts.is_empty() {
        note("", Outcome::Refused("an operator exists")).await;
        return Ok(Redirect::to(LOGIN).into_response());
    }
    if let Err(wait) = desk.tries.set_up(knock.address) {
        note("", Outcome::Refused("too many tries")).await;
        return Ok(too_many(wait, refuse(StatusCode::TOO_MANY_REQUESTS, &come_back(words, wait))));
    }
    if !desk.code.is(form.text("code")) {
        note("", Outcome::Refused("wrong code")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, words.setup_wrong_code));
    }
    let password = form.text("password");
    if !is_name(name) {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &words.told_name()));
    }
    if !password::is_good(password, name) {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &words.told_password()));
    }
    if password != form.text("again") {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, words.password_differs));
    }
    let hash = desk.hashing.hash(password).await.map_err(IntoResponse::into_response)?;
    let created = SystemClock.now().to_string();
    let account = Account { name: name.into(), role: Role::Full, password: hash, created };
    let new = account.clone();
    let named = desk.aside(move |desk| desk.operators.change(|accounts| first(accounts, new))).await;
    match named
        .map_err(IntoResponse::into_response)?
        .map_err(|error| super::DeskError::from(error).into_response())?
    {
        Ok(()) => {
            desk.code.spend();
            note(name, Outcome::Done).await;
            begin(&rooms, &visitor, &headers, &account, HOME, None).map_err(IntoResponse::into_response)
        }
        // Another process created an operator first.
        Err(_) => Ok(Redirect::to(LOGIN).into_response()),
    }
}
