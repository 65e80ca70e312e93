//! `/admin/account`: the operator's own password, also for read-only operators.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::admin::frame::{DeskFrame, Notice};
use crate::admin::login::{refuse_until, start_session};
use crate::admin::messages::DeskMessages;
use crate::admin::operators::{Account, find, set_password};
use crate::admin::session::Operator;
use crate::admin::{DeskError, password};
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

#[derive(Template)]
#[template(path = "admin/account.html")]
struct AccountPage {
    frame: DeskFrame,
    name: String,
    role: &'static str,
    longest_password: usize,
    password_hint: String,
}

/// `GET /admin/account`.
pub(super) async fn account(State(app): State<AppState>, visitor: Visitor, operator: Operator) -> Response {
    account_page(&app, &visitor, &operator, StatusCode::OK, None)
}

fn account_page(
    app: &AppState,
    visitor: &Visitor,
    operator: &Operator,
    status: StatusCode,
    notice: Option<Notice>,
) -> Response {
    let messages = DeskMessages::for_lang(visitor.lang);
    let page = AccountPage {
        frame: DeskFrame::new(app, visitor, operator).with_notice(notice),
        name: operator.name.clone(),
        role: messages.role(operator.role()),
        longest_password: password::MAX_LENGTH,
        password_hint: messages.password_rule(),
    };
    respond(visitor, status, &page)
}

/// `POST /admin/account`. Ends all other sessions of the operator.
pub(super) async fn change(headers: HeaderMap, action: Action) -> Result<Response, ServiceError> {
    const ACTION: &str = "operator.own-password";
    let (messages, form, operator) = (action.messages(), &action.form, &action.operator);
    let desk = action.app.desk();
    let refuse = |status, text: &str| {
        account_page(&action.app, &action.visitor, operator, status, Some(Notice::error(text)))
    };
    if let Err(wait) = desk.login_limits.password(&operator.name) {
        action.record(ACTION, &operator.name, "", ActionOutcome::Refused("too many tries")).await;
        return Ok(refuse_until(wait, messages, refuse));
    }
    let accounts = desk.run_blocking(|desk| desk.accounts()).await?.map_err(DeskError::from)?;
    let account = find(&accounts, &operator.name);
    let hash = account.map(|account| account.password.as_str());
    let (Some(account), true) = (account, desk.hashing.verify(form.text("current"), hash).await?) else {
        action.record(ACTION, &operator.name, "", ActionOutcome::Refused("wrong password")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, messages.current_wrong));
    };
    let new = form.text("password");
    if !password::is_acceptable(new, &operator.name) {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &messages.password_rule()));
    }
    if new != form.text("again") {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, messages.password_differs));
    }
    let account = Account { password: desk.hashing.hash(new).await?, ..account.clone() };
    let (name, hash) = (account.name.clone(), account.password.clone());
    let changed = desk
        .run_blocking(move |desk| desk.operators.change(|accounts| set_password(accounts, &name, hash)))
        .await?;
    if changed.map_err(DeskError::from)?.is_err() {
        return Ok(refuse(StatusCode::CONFLICT, messages.no_such_operator));
    }
    action.record(ACTION, &operator.name, "", ActionOutcome::Done).await;
    let notice = Notice::success(messages.password_changed);
    Ok(start_session(&action.app, &action.visitor, &headers, &account, "/admin/account", Some(notice))?)
}
