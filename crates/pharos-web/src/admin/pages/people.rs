//! `/admin/operators`: the accounts of the operators and their roles.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{Clock as _, SystemClock, Timestamp};

use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::operators::{
    self, Account, Accounts, LONGEST_NAME, MOST, Refused, Role, find, folded, is_name,
};
use crate::admin::record::Outcome;
use crate::admin::session::Operator;
use crate::admin::words::DeskWords;
use crate::admin::{DeskError, password};
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;
use crate::words::fill;

const HERE: &str = "/admin/operators";

#[derive(Template)]
#[template(path = "admin/operators.html")]
struct PeoplePage {
    frame: DeskFrame,
    people: Vec<Person>,
    longest_name: usize,
    longest_password: usize,
    password_hint: String,
}

/// A row of the list.
struct Person {
    name: String,
    role: &'static str,
    is_full: bool,
    created: String,
    /// The row is the account of the logged-in operator.
    is_self: bool,
}

/// `GET /admin/operators`.
pub(super) async fn people(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let accounts = rooms.desk().aside(|desk| desk.accounts()).await?.map_err(DeskError::from)?;
    let words = DeskWords::of(visitor.lang);
    let people = accounts.iter().map(|account| Person {
        name: account.name.clone(),
        role: words.role(account.role),
        is_full: account.role == Role::Full,
        created: Timestamp::parse(&account.created).map_or_else(String::new, |at| visitor.lang.moment(at)),
        is_self: folded(&account.name) == folded(&operator.name),
    });
    let page = PeoplePage {
        people: people.collect(),
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        longest_name: LONGEST_NAME,
        longest_password: password::LONGEST,
        password_hint: words.told_password(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// `POST /admin/operators/add`.
pub(super) async fn add(action: Action) -> Result<Response, ServiceError> {
    let (words, form) = (action.words(), &action.form);
    let name = form.text("name").trim().to_string();
    let Some(role) = Role::named(form.text("role")) else {
        return Ok(action.failed(HERE, words.no_such_role));
    };
    if !is_name(&name) {
        return Ok(action.failed(HERE, words.told_name()));
    }
    let hash = match new_password(&action, &name).await? {
        Ok(hash) => hash,
        Err(refused) => return Ok(refused),
    };
    let created = SystemClock.now().to_string();
    let account = Account { name: name.clone(), role, password: hash, created };
    let edit = move |accounts: &mut Accounts| operators::add(accounts, account);
    let said = fill(words.operator_added, &[&name]);
    change(action, "operator.add", name, role.code(), said, edit).await
}

/// `POST /admin/operators/remove`.
pub(super) async fn remove(action: Action) -> Result<Response, ServiceError> {
    let name = action.form.text("name").to_string();
    let said = fill(action.words().operator_removed, &[&name]);
    let who = name.clone();
    change(action, "operator.remove", name, "", said, move |accounts| operators::remove(accounts, &who)).await
}

/// `POST /admin/operators/role`.
pub(super) async fn set_role(action: Action) -> Result<Response, ServiceError> {
    let name = action.form.text("name").to_string();
    let Some(role) = Role::named(action.form.text("role")) else {
        return Ok(action.failed(HERE, action.words().no_such_role));
    };
    let said = fill(action.words().operator_role_set, &[&name, action.words().role(role)]);
    let who = name.clone();
    let edit = move |accounts: &mut Accounts| operators::set_role(accounts, &who, role);
    change(action, "operator.role", name, role.code(), said, edit).await
}

/// `POST /admin/operators/password`.
pub(super) async fn set_password(action: Action) -> Result<Response, ServiceError> {
    let name = action.form.text("name").to_string();
    let hash = match new_password(&action, &name).await? {
        Ok(hash) => hash,
        Err(refused) => return Ok(refused),
    };
    let said = fill(action.words().operator_password_set, &[&name]);
    let who = name.clone();
    let edit = move |accounts: &mut Accounts| operators::set_password(accounts, &who, hash);
    change(action, "operator.password", name, "", said, edit).await
}

/// Returns the hash of the password in the form, or the response that refuses it.
async fn new_password(action: &Action, name: &str) -> Result<Result<String, Response>, ServiceError> {
    let password = action.form.text("password");
    if !password::is_good(password, name) {
        return Ok(Err(action.failed(HERE, action.words().told_password())));
    }
    Ok(Ok(action.rooms.desk().hashing.hash(password).await?))
}

/// Changes the accounts, logs the action and redirects to the list. Sessions of a changed account end.
async fn change(
    action: Action,
    deed: &'static str,
    name: String,
    detail: &str,
    said: String,
    edit: impl FnOnce(&mut Accounts) -> Result<(), Refused> + Send + 'static,
) -> Result<Response, ServiceError> {
    // The log contains the name as stored, however it was typed.
    let known = action.rooms.desk().aside(|desk| desk.accounts()).await?.map_err(DeskError::from)?;
    let name = find(&known, &name).map_or(name, |account| account.name.clone());
    let changed = action.rooms.desk().aside(|desk| desk.operators.change(edit)).await?;
    match changed.map_err(DeskError::from)? {
        Ok(()) => {
            action.note(deed, &name, detail, Outcome::Done).await;
            Ok(action.done(HERE, said))
        }
        Err(refused) => {
            let words = action.words();
            let (why, text) = match refused {
                Refused::Taken => ("the name is taken", words.name_taken.to_string()),
                Refused::Nobody => ("no operator has this name", words.no_such_operator.to_string()),
                Refused::LastFull => ("the last operator with full access", words.last_full.to_string()),
                Refused::TooMany => {
                    ("too many operators", fill(words.too_many_operators, &[&MOST.to_string()]))
                }
                Refused::NotFirst => ("an operator exists", words.name_taken.to_string()),
            };
            action.note(deed, &name, detail, Outcome::Refused(why)).await;
            Ok(action.failed(HERE, text))
        }
    }
}
