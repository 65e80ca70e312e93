//! `/admin/operators`: the accounts of the operators and their roles.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{Clock as _, SystemClock, Timestamp};

use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::admin::frame::DeskFrame;
use crate::admin::messages::DeskMessages;
use crate::admin::operators::{
    self as accounts, Account, Accounts, MAX_NAME_LENGTH, MAX_OPERATORS, OperatorChangeError, Role, find,
    fold_name, is_valid_name,
};
use crate::admin::session::Operator;
use crate::admin::{DeskError, password};
use crate::messages::fill;
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/operators";

#[derive(Template)]
#[template(path = "admin/operators.html")]
struct OperatorsPage {
    frame: DeskFrame,
    operators: Vec<OperatorRow>,
    /// Code and name of every role.
    roles: [(&'static str, &'static str); 4],
    longest_name: usize,
    longest_password: usize,
    password_hint: String,
}

/// A row of the list.
struct OperatorRow {
    name: String,
    role: &'static str,
    role_code: &'static str,
    created: String,
    /// The row is the account of the logged-in operator.
    is_self: bool,
}

/// `GET /admin/operators`.
pub(super) async fn operators(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let accounts = app.desk().run_blocking(|desk| desk.accounts()).await?.map_err(DeskError::from)?;
    let messages = DeskMessages::for_lang(visitor.lang);
    let rows = accounts.iter().map(|account| OperatorRow {
        name: account.name.clone(),
        role: messages.role(account.role),
        role_code: account.role.code(),
        created: Timestamp::parse(&account.created).map_or_else(String::new, |at| visitor.lang.date_time(at)),
        is_self: fold_name(&account.name) == fold_name(&operator.name),
    });
    let page = OperatorsPage {
        operators: rows.collect(),
        roles: Role::ALL.map(|role| (role.code(), messages.role(role))),
        frame: DeskFrame::new(&app, &visitor, &operator),
        longest_name: MAX_NAME_LENGTH,
        longest_password: password::MAX_LENGTH,
        password_hint: messages.password_rule(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// `POST /admin/operators/add`.
pub(super) async fn add(action: Action) -> Result<Response, ServiceError> {
    let (messages, form) = (action.messages(), &action.form);
    let name = form.text("name").trim().to_string();
    let Some(role) = Role::from_code(form.text("role")) else {
        return Ok(action.fail(PATH, messages.no_such_role));
    };
    if !is_valid_name(&name) {
        return Ok(action.fail(PATH, messages.name_rule()));
    }
    let hash = match new_password(&action, &name).await? {
        Ok(hash) => hash,
        Err(refused) => return Ok(refused),
    };
    let created = SystemClock.now().to_string();
    let account = Account { name: name.clone(), role, password: hash, created };
    let edit = move |accounts: &mut Accounts| accounts::add(accounts, account);
    let notice = fill(messages.operator_added, &[&name]);
    change(action, "operator.add", name, role.code(), notice, edit).await
}

/// `POST /admin/operators/remove`.
pub(super) async fn remove(action: Action) -> Result<Response, ServiceError> {
    let name = action.form.text("name").to_string();
    let notice = fill(action.messages().operator_removed, &[&name]);
    let who = name.clone();
    change(action, "operator.remove", name, "", notice, move |accounts| accounts::remove(accounts, &who))
        .await
}

/// `POST /admin/operators/role`.
pub(super) async fn set_role(action: Action) -> Result<Response, ServiceError> {
    let name = action.form.text("name").to_string();
    let Some(role) = Role::from_code(action.form.text("role")) else {
        return Ok(action.fail(PATH, action.messages().no_such_role));
    };
    let notice = fill(action.messages().operator_role_set, &[&name, action.messages().role(role)]);
    let who = name.clone();
    let edit = move |accounts: &mut Accounts| accounts::set_role(accounts, &who, role);
    change(action, "operator.role", name, role.code(), notice, edit).await
}

/// `POST /admin/operators/password`.
pub(super) async fn set_password(action: Action) -> Result<Response, ServiceError> {
    let name = action.form.text("name").to_string();
    let hash = match new_password(&action, &name).await? {
        Ok(hash) => hash,
        Err(refused) => return Ok(refused),
    };
    let notice = fill(action.messages().operator_password_set, &[&name]);
    let who = name.clone();
    let edit = move |accounts: &mut Accounts| accounts::set_password(accounts, &who, hash);
    change(action, "operator.password", name, "", notice, edit).await
}

/// Returns the hash of the password in the form, or the response that refuses it.
async fn new_password(action: &Action, name: &str) -> Result<Result<String, Response>, ServiceError> {
    let password = action.form.text("password");
    if !password::is_acceptable(password, name) {
        return Ok(Err(action.fail(PATH, action.messages().password_rule())));
    }
    Ok(Ok(action.app.desk().hashing.hash(password).await?))
}

/// Changes the accounts, logs the action and redirects to the list. Sessions of a changed account end.
async fn change(
    action: Action,
    action_name: &'static str,
    name: String,
    detail: &str,
    notice: String,
    edit: impl FnOnce(&mut Accounts) -> Result<(), OperatorChangeError> + Send + 'static,
) -> Result<Response, ServiceError> {
    // The log contains the name as stored, however it was typed.
    let current = action.app.desk().run_blocking(|desk| desk.accounts()).await?.map_err(DeskError::from)?;
    let name = find(&current, &name).map_or(name, |account| account.name.clone());
    let changed = action.app.desk().run_blocking(|desk| desk.operators.change(edit)).await?;
    match changed.map_err(DeskError::from)? {
        Ok(()) => {
            action.record(action_name, &name, detail, ActionOutcome::Done).await;
            Ok(action.succeed(PATH, notice))
        }
        Err(refused) => {
            let messages = action.messages();
            let (why, text) = match refused {
                OperatorChangeError::Taken => ("the name is taken", messages.name_taken.to_string()),
                OperatorChangeError::NoSuchOperator => {
                    ("no operator has this name", messages.no_such_operator.to_string())
                }
                OperatorChangeError::LastFull => {
                    ("the last operator with full access", messages.last_full.to_string())
                }
                OperatorChangeError::TooMany => {
                    ("too many operators", fill(messages.too_many_operators, &[&MAX_OPERATORS.to_string()]))
                }
                OperatorChangeError::NotFirst => ("an operator exists", messages.name_taken.to_string()),
            };
            action.record(action_name, &name, detail, ActionOutcome::Refused(why)).await;
            Ok(action.fail(PATH, text))
        }
    }
}
