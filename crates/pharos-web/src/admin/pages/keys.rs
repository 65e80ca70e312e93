//! `/admin/keys`: the keys of programs that use the API.

mod messages;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_query::curation::records::parse_until;

use self::messages::KeyMessages;
use super::commands::spawn_blocking;
use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::admin::frame::{DeskFrame, Notice};
use crate::admin::operators::MAX_NAME_LENGTH;
use crate::admin::session::Operator;
use crate::api::key_store::{
    ApiKeyError, ApiKeyRecord, ApiKeyState, ApiKeyUsage, ENDPOINTS, IssuedApiKey, MAX_RATE, NewApiKey,
};
use crate::messages::{Lang, fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/keys";

#[derive(Template)]
#[template(path = "admin/keys.html")]
struct KeysPage {
    frame: DeskFrame,
    m: &'static KeyMessages,
    keys: Vec<KeyRow>,
    /// Says how many keys the settings have.
    in_settings: Option<String>,
    form: KeyForm,
    rate_hint: String,
    longest_name: usize,
    highest_rate: u32,
}

struct KeyRow {
    name: String,
    edit: String,
    endpoints: String,
    sites: String,
    rate: String,
    until: String,
    by: String,
    at: String,
    requests: String,
    last: String,
    state: &'static str,
    is_active: bool,
    is_revoked: bool,
}

/// The fields of a new or changed key as typed.
#[derive(Default)]
struct KeyForm {
    /// The version that is changed; `None` for a new key.
    version: Option<u64>,
    name: String,
    /// Every endpoint, and whether it is selected.
    endpoints: Vec<(&'static str, bool)>,
    sites: String,
    rate: String,
    until: String,
}

/// `GET /admin/keys`.
pub(crate) async fn keys(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let edited = visitor.param("edit").unwrap_or_default().to_string();
    let state = app.clone();
    let keys = spawn_blocking(&app, move |_| Ok(state.api().keys.store.load())).await?.unwrap_or_default();
    let form = keys.iter().find(|key| key.name == edited).map_or_else(KeyForm::empty, KeyForm::from_key);
    show(&app, &visitor, &operator, StatusCode::OK, form, None).await
}

async fn show(
    app: &AppState,
    visitor: &Visitor,
    operator: &Operator,
    status: StatusCode,
    form: KeyForm,
    notice: Option<Notice>,
) -> Result<Response, ServiceError> {
    let (m, lang) = (KeyMessages::for_lang(visitor.lang), visitor.lang);
    let state = app.clone();
    let (keys, mut usage) = spawn_blocking(app, move |_| {
        let store = &state.api().keys.store;
        Ok((store.load(), store.usage()))
    })
    .await?;
    let damaged = keys.as_ref().err().map(|error| Notice::error(error.to_string()));
    let keys = keys.unwrap_or_default();
    let web = &app.config().web;
    let in_settings = web.api_keys.iter().filter(|key| !key.trim().is_empty()).count();
    let page = KeysPage {
        frame: DeskFrame::new(app, visitor, operator).with_notice(notice.or(damaged)),
        m,
        keys: keys
            .iter()
            .map(|key| KeyRow::new(key, &usage.remove(&key.id).unwrap_or_default(), m, lang))
            .collect(),
        in_settings: (in_settings > 0).then(|| fill(m.settings, &[&in_settings.to_string()])),
        form,
        rate_hint: fill(m.rate_hint, &[&grouped(web.key_rate.into())]),
        longest_name: MAX_NAME_LENGTH,
        highest_rate: MAX_RATE,
    };
    Ok(respond(visitor, status, &page))
}

impl KeyForm {
    fn empty() -> Self {
        Self { endpoints: ENDPOINTS.map(|name| (name, false)).into(), ..Self::default() }
    }

    /// Returns the form that changes a key.
    fn from_key(key: &ApiKeyRecord) -> Self {
        Self {
            version: Some(key.version),
            name: key.name.clone(),
            endpoints: ENDPOINTS.map(|name| (name, key.endpoints.iter().any(|one| one == name))).into(),
            sites: key.sites.join("\n"),
            rate: key.rate.map_or_else(String::new, |rate| rate.to_string()),
            until: key.until.clone().unwrap_or_default(),
        }
    }
}

impl KeyRow {
    fn new(key: &ApiKeyRecord, usage: &ApiKeyUsage, m: &'static KeyMessages, lang: Lang) -> Self {
        let time = |text: &str| Timestamp::parse(text).map_or_else(String::new, |at| lang.date_time(at));
        let list = |list: &[String], all: &str| if list.is_empty() { all.into() } else { list.join(", ") };
        let state = key.state(SystemClock.now());
        Self {
            name: key.name.clone(),
            edit: link(PATH, [("edit", key.name.as_str())]),
            endpoints: list(&key.endpoints, m.all_endpoints),
            sites: list(&key.sites, m.all_sites),
            rate: key.rate.map_or_else(String::new, |rate| grouped(rate.into())),
            until: key.until.as_deref().map_or_else(String::new, time),
            by: key.by.clone(),
            at: time(&key.at),
            requests: grouped(usage.requests),
            last: time(&usage.last),
            state: match state {
                ApiKeyState::Active => m.active,
                ApiKeyState::Ended => m.ended,
                ApiKeyState::Revoked => m.revoked,
            },
            is_active: state == ApiKeyState::Active,
            is_revoked: state == ApiKeyState::Revoked,
        }
    }
}

/// `POST /admin/keys/{add,change,rotate,revoke,remove}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Result<Response, ServiceError> {
    let m = KeyMessages::for_lang(action.visitor.lang);
    let name = action.form.text("name").trim().to_string();
    match what.as_str() {
        "add" | "change" => save(&action, name, what == "change").await,
        "rotate" => {
            let (by, of) = (action.operator.name.clone(), name.clone());
            let issued = with_store(&action, move |store| store.rotate(&of, &by)).await?;
            let text =
                issued.map(|IssuedApiKey { record, secret }| fill(m.did_add, &[&record.name, &secret]));
            finish(&action, "key.rotate", &name, text).await
        }
        "revoke" => {
            let of = name.clone();
            let revoked = with_store(&action, move |store| store.revoke(&of)).await?;
            finish(&action, "key.revoke", &name, revoked.map(|key| fill(m.did_revoke, &[&key.name]))).await
        }
        "remove" => {
            let of = name.clone();
            let removed = with_store(&action, move |store| store.remove(&of)).await?;
            finish(&action, "key.remove", &name, removed.map(|key| fill(m.did_remove, &[&key.name]))).await
        }
        _ => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

async fn with_store<T: Send + 'static>(
    action: &Action,
    work: impl FnOnce(&crate::api::key_store::ApiKeyStore) -> Result<T, ApiKeyError> + Send + 'static,
) -> Result<Result<T, ApiKeyError>, ServiceError> {
    let app = action.app.clone();
    spawn_blocking(&action.app, move |_| Ok(work(&app.api().keys.store))).await
}

/// Logs the outcome and redirects to the list.
async fn finish(
    action: &Action,
    name: &'static str,
    what: &str,
    done: Result<String, ApiKeyError>,
) -> Result<Response, ServiceError> {
    match done {
        Ok(text) => {
            action.record(name, what, "", ActionOutcome::Done).await;
            Ok(action.succeed(PATH, text))
        }
        Err(error) => {
            action.record(name, what, "", ActionOutcome::Refused(&error.to_string())).await;
            let m = KeyMessages::for_lang(action.visitor.lang);
            Ok(action.fail(PATH, describe_error(&error, m)))
        }
    }
}

/// Shows the page again with what was typed, and an error.
async fn refuse(action: &Action, typed: KeyForm, text: String) -> Result<Response, ServiceError> {
    let (status, notice) = (StatusCode::UNPROCESSABLE_ENTITY, Some(Notice::error(text)));
    show(&action.app, &action.visitor, &action.operator, status, typed, notice).await
}

/// Creates a key, or changes the scope, rate and end of one.
async fn save(action: &Action, name: String, is_change: bool) -> Result<Response, ServiceError> {
    let (m, form) = (KeyMessages::for_lang(action.visitor.lang), &action.form);
    let selected: Vec<String> = form.values("endpoint").map(String::from).collect();
    let typed = KeyForm {
        version: is_change.then(|| form.text("version").parse().unwrap_or_default()),
        name: name.clone(),
        endpoints: ENDPOINTS.map(|name| (name, selected.iter().any(|one| one == name))).into(),
        sites: form.text("sites").to_string(),
        rate: form.text("rate").to_string(),
        until: form.text("until").to_string(),
    };
    let rate = match typed.rate.trim() {
        "" => None,
        rate => Some(rate.parse().unwrap_or_default()),
    };
    let until = match typed.until.trim() {
        "" => None,
        until => match parse_until(until) {
            Some(until) => Some(until),
            None => return refuse(action, typed, m.wrong_until.into()).await,
        },
    };
    let sites = typed.sites.split_whitespace().map(String::from).collect();
    let by = action.operator.name.clone();
    let new = NewApiKey { name: name.clone(), endpoints: selected, sites, rate, until, by };
    let (logged, version) = (if is_change { "key.change" } else { "key.add" }, typed.version);
    let saved = with_store(action, move |store| match version {
        None => store.add(new).map(|issued| fill(m.did_add, &[&issued.record.name, &issued.secret])),
        Some(_) => {
            let name = new.name.clone();
            let changed = store
                .change_scope(&name, version, move |key| *key = NewApiKey { name: key.name.clone(), ..new });
            changed.map(|key| fill(m.did_change, &[&key.name]))
        }
    });
    match saved.await? {
        Ok(text) => finish(action, logged, &name, Ok(text)).await,
        Err(error) => {
            action.record(logged, &name, "", ActionOutcome::Refused(&error.to_string())).await;
            refuse(action, typed, describe_error(&error, m)).await
        }
    }
}

fn describe_error(error: &ApiKeyError, m: &KeyMessages) -> String {
    match error {
        ApiKeyError::InvalidName => m.wrong_name.into(),
        ApiKeyError::Taken => m.taken.into(),
        ApiKeyError::InvalidEndpoint(name) => fill(m.wrong_endpoint, &[name]),
        ApiKeyError::InvalidSite(site) => fill(m.wrong_site, &[site]),
        ApiKeyError::InvalidRate => fill(m.wrong_rate, &[&grouped(MAX_RATE.into())]),
        ApiKeyError::Full => m.full.into(),
        ApiKeyError::Missing => m.missing.into(),
        ApiKeyError::Conflict => m.conflict.into(),
        ApiKeyError::Io { .. } | ApiKeyError::Damaged { .. } => fill(m.failed, &[&error.to_string()]),
    }
}
