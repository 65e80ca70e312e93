//! `/admin/setup`: creates the first operator, with the setup code.

use askama::Template;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use pharos_core::{Clock as _, SystemClock};

use super::action::read_form;
use super::action_log::{ActionEntry, ActionOutcome};
use super::frame::{DeskFrame, Notice};
use super::gate::{AllowedClient, HOME, LOGIN};
use super::login::{refuse_until, start_session};
use super::messages::DeskMessages;
use super::operators::{Account, MAX_NAME_LENGTH, Role, add_first, is_valid_name};
use super::password;
use crate::pages::frame::respond;
use crate::server::origin::is_same_site;
use crate::server::visitor::Visitor;
use crate::state::AppState;

#[derive(Template)]
#[template(path = "admin/setup.html")]
struct SetupPage {
    frame: DeskFrame,
    /// Name as typed.
    name: String,
    /// The code has expired, because an operator existed since this process started.
    is_expired: bool,
    longest_name: usize,
    longest_password: usize,
    password_hint: String,
}

/// `GET /admin/setup`, as long as there is no operator.
pub(super) async fn page(
    State(app): State<AppState>,
    Extension(client): Extension<AllowedClient>,
    visitor: Visitor,
) -> Response {
    if !client.accounts.is_empty() {
        return Redirect::to(LOGIN).into_response();
    }
    setup_page(&app, &visitor, "", StatusCode::OK, None)
}

fn setup_page(
    app: &AppState,
    visitor: &Visitor,
    name: &str,
    status: StatusCode,
    notice: Option<Notice>,
) -> Response {
    let page = SetupPage {
        frame: DeskFrame::logged_out(app, visitor).with_notice(notice),
        name: name.chars().take(MAX_NAME_LENGTH).collect(),
        is_expired: app.desk().code.is_expired(),
        longest_name: MAX_NAME_LENGTH,
        longest_password: password::MAX_LENGTH,
        password_hint: DeskMessages::for_lang(visitor.lang).password_rule(),
    };
    respond(visitor, status, &page)
}

/// `POST /admin/setup`.
pub(super) async fn set_up(
    State(app): State<AppState>,
    Extension(client): Extension<AllowedClient>,
    visitor: Visitor,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Response> {
    let form = read_form(request, &app).await?;
    let (desk, messages) = (app.desk(), DeskMessages::for_lang(visitor.lang));
    let name = form.text("name").trim();
    let refuse = |status, text: &str| setup_page(&app, &visitor, name, status, Some(Notice::error(text)));
    let from = client.address.to_string();
    let record = async |who: &str, outcome| {
        desk.record(ActionEntry { who, from: &from, action: "desk.setup", what: "", detail: "", outcome })
            .await;
    };
    if !is_same_site(&visitor, &headers, &app.config().web) {
        record("", ActionOutcome::Refused("sent by a page of another site")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, messages.no_other_site));
    }
    if !client.accounts.is_empty() {
        record("", ActionOutcome::Refused("an operator exists")).await;
        return Ok(Redirect::to(LOGIN).into_response());
    }
    if let Err(wait) = desk.login_limits.set_up(client.address) {
        record("", ActionOutcome::Refused("too many tries")).await;
        return Ok(refuse_until(wait, messages, refuse));
    }
    if !desk.code.matches(form.text("code")) {
        record("", ActionOutcome::Refused("wrong code")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, messages.setup_wrong_code));
    }
    let password = form.text("password");
    if !is_valid_name(name) {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &messages.name_rule()));
    }
    if !password::is_acceptable(password, name) {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &messages.password_rule()));
    }
    if password != form.text("again") {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, messages.password_differs));
    }
    let hash = desk.hashing.hash(password).await.map_err(IntoResponse::into_response)?;
    let created = SystemClock.now().to_string();
    let account = Account { name: name.into(), role: Role::Admin, password: hash, created };
    let new = account.clone();
    let added =
        desk.run_blocking(move |desk| desk.operators.change(|accounts| add_first(accounts, new))).await;
    match added
        .map_err(IntoResponse::into_response)?
        .map_err(|error| super::DeskError::from(error).into_response())?
    {
        Ok(()) => {
            desk.code.expire();
            record(name, ActionOutcome::Done).await;
            start_session(&app, &visitor, &headers, &account, HOME, None).map_err(IntoResponse::into_response)
        }
        // Another process created an operator first.
        Err(_) => Ok(Redirect::to(LOGIN).into_response()),
    }
}
