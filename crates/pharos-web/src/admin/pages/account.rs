//! `/admin/account`: the operator's own password, also for read-only operators.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::admin::action::OwnAction;
use crate::admin::frame::{DeskFrame, Notice};
use crate::admin::login::{begin, come_back, too_many};
use crate::admin::operators::{Account, find, set_password};
use crate::admin::record::Outcome;
use crate::admin::session::Operator;
use crate::admin::words::DeskWords;
use crate::admin::{DeskError, password};
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;

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
pub(super) async fn account(State(rooms): State<Rooms>, visitor: Visitor, operator: Operator) -> Response {
    account_page(&rooms, &visitor, &operator, StatusCode::OK, None)
}

fn account_page(
    rooms: &Rooms,
    visitor: &Visitor,
    operator: &Operator,
    status: StatusCode,
    notice: Option<Notice>,
) -> Response {
    let words = DeskWords::of(visitor.lang);
    let page = AccountPage {
        frame: DeskFrame::new(rooms, visitor, operator).saying(notice),
        name: operator.name.clone(),
        role: words.role(operator.role()),
        longest_password: password::LONGEST,
        password_hint: words.told_password(),
    };
    respond(visitor, status, &page)
}

/// `POST /admin/account`. Ends all other sessions of the operator.
pub(super) async fn change(
    headers: HeaderMap,
    OwnAction(action): OwnAction,
) -> Result<Response, ServiceError> {
    const DEED: &str = "operator.own-password";
    let (words, form, operator) = (action.words(), &action.form, &action.operator);
    let desk = action.rooms.desk();
    let refuse = |status, text: &str| {
        account_page(&action.rooms, &action.visitor, operator, status, Some(Notice::bad(text)))
    };
    if let Err(wait) = desk.tries.password(&operator.name) {
        action.note(DEED, &operator.name, "", Outcome::Refused("too many tries")).await;
        return Ok(too_many(wait, refuse(StatusCode::TOO_MANY_REQUESTS, &come_back(words, wait))));
    }
    let accounts = desk.aside(|desk| desk.accounts()).await?.map_err(DeskError::from)?;
    let account = find(&accounts, &operator.name);
    let hash = account.map(|account| account.password.as_str());
    let (Some(account), true) = (account, desk.hashing.fits(form.text("current"), hash).await?) else {
        action.note(DEED, &operator.name, "", Outcome::Refused("wrong password")).await;
        return Ok(refuse(StatusCode::FORBIDDEN, words.current_wrong));
    };
    let new = form.text("password");
    if !password::is_good(new, &operator.name) {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &words.told_password()));
    }
    if new != form.text("again") {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, words.password_differs));
    }
    let account = Account { password: desk.hashing.hash(new).await?, ..account.clone() };
    let (name, hash) = (account.name.clone(), account.password.clone());
    let changed =
        desk.aside(move |desk| desk.operators.change(|accounts| set_password(accounts, &name, hash))).await?;
    if changed.map_err(DeskError::from)?.is_err() {
        return Ok(refuse(StatusCode::CONFLICT, words.no_such_operator));
    }
    action.note(DEED, &operator.name, "", Outcome::Done).await;
    let notice = Notice::good(words.password_changed);
    Ok(begin(&action.rooms, &action.visitor, &headers, &account, "/admin/account", Some(notice))?)
}
