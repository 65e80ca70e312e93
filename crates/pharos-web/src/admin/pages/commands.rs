//! Access of the desk pages to stores, engine and settings.
//!
//! The work runs on tokio's blocking threads, apart from the query queue: the desk must work while visitors are shed.

use pharos_core::PageUrl;
use pharos_core::config::{KEYS, is_secret};
use pharos_engine::{Order, execute_order};
use pharos_store::{Catalog, CrawlRules};
use tokio::sync::oneshot;

use super::settings_file::{SettingEdit, SettingsFile, edit_setting, parse_settings};
use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::state::{AppState, Service, ServiceError};
use axum::response::Response;

/// Command name under which the desk executes orders itself if no process owns the data directory.
const COMMAND_NAME: &str = "desk";

/// Runs blocking work on a blocking thread of tokio.
pub(super) async fn spawn_blocking<T: Send + 'static>(
    app: &AppState,
    work: impl FnOnce(&Service) -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    let service = app.service().clone();
    let (sender, receiver) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let _ = sender.send(work(&service));
    });
    receiver.await?
}

/// Runs work with a catalog reader; returns the default value if there is no catalog yet.
pub(super) async fn with_catalog<T: Default + Send + 'static>(
    app: &AppState,
    work: impl FnOnce(&Service, &dyn Catalog) -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    spawn_blocking(app, |service| match service.stores.catalog()? {
        Some(catalog) => work(service, &*catalog),
        None => Ok(T::default()),
    })
    .await
}

/// Executes an order. Errors are returned as text.
pub(super) async fn execute(app: &AppState, order: Order) -> Result<(), String> {
    let done = spawn_blocking(app, move |service| {
        Ok(execute_order(&service.data, &service.config, COMMAND_NAME, &order)
            .map_err(|error| error.to_string()))
    });
    done.await.map_err(|error| error.to_string())?
}

/// Message that explains why settings cannot be changed.
pub(super) type SettingsError = String;

/// Changes settings in the file, all of them or none. With a `stamp`, only if the file has not changed since. Returns a
/// summary of the changes for the action log.
pub(super) async fn change_settings(
    app: &AppState,
    edits: Vec<(&'static str, SettingEdit)>,
    stamp: Option<String>,
) -> Result<String, SettingsError> {
    replace_settings(app, stamp, move |text, decided| {
        let mut text = text.to_string();
        for (key, edit) in &edits {
            if let Some(by) = decided(key) {
                return Err(format!("`{key}` is set by the {by}: change it there"));
            }
            text = edit_setting(&text, key, edit)?;
        }
        Ok(text)
    })
    .await
}

/// Replaces the text of the configuration file.
pub(super) async fn replace_settings(
    app: &AppState,
    stamp: Option<String>,
    make: impl FnOnce(&str, &dyn Fn(&str) -> Option<&'static str>) -> Result<String, SettingsError>
    + Send
    + 'static,
) -> Result<String, SettingsError> {
    let done = spawn_blocking(app, move |service| Ok(replace_file(service, stamp.as_deref(), make)));
    done.await.map_err(|error| error.to_string())?
}

fn replace_file(
    service: &Service,
    stamp: Option<&str>,
    make: impl FnOnce(&str, &dyn Fn(&str) -> Option<&'static str>) -> Result<String, SettingsError>,
) -> Result<String, SettingsError> {
    let _one_at_a_time = service.settings.lock();
    let path = service.settings.file();
    let io = |error: std::io::Error| format!("{}: {error}", path.display());
    let before = SettingsFile::read(path).map_err(io)?;
    if stamp.is_some_and(|stamp| stamp != before.stamp) {
        return Err("the settings were changed by another operator in the meantime: check them again".into());
    }
    let decided = service.settings.load().map(|loaded| loaded.overrides).unwrap_or_default();
    let text = make(&before.text, &|key| decided.get(key).copied())?;
    let (was, is) = (parse_settings(&before.text), parse_settings(&text)?);
    if text != before.text {
        SettingsFile::replace(path, &text).map_err(io)?;
    }
    let was = was.unwrap_or_default();
    let changed = KEYS.iter().filter_map(|key| {
        let (was, is) = (was.get(key.name)?, is.get(key.name)?);
        let summary =
            if is_secret(key.name) { key.name.to_string() } else { format!("{}: {was} → {is}", key.name) };
        (was != is).then_some(summary)
    });
    Ok(changed.collect::<Vec<_>>().join("; "))
}

/// Records other crawl rules, if a crawl exists. This is needed even if the settings already contain them, as the crawl may
/// have been started with other rules.
pub(super) async fn change_rules(
    app: &AppState,
    change: impl FnOnce(&mut CrawlRules) + Send + 'static,
) -> Result<(), String> {
    let current = with_catalog(app, |_, catalog| Ok((catalog.rules()?, catalog.seed_sites()?))).await;
    let (Some(in_force), seeds) = current.map_err(|error| error.to_string())? else { return Ok(()) };
    let mut rules = in_force.clone();
    change(&mut rules);
    let about = seeds.first().and_then(|site| PageUrl::parse(&format!("http://{site}/")).ok());
    match about.filter(|_| rules != in_force) {
        Some(about) => execute(app, Order::Rules { about, rules: Box::new(rules) }).await,
        None => Ok(()),
    }
}

/// Logs the outcome of an action and redirects to a page that shows it.
pub(super) async fn record_and_redirect(
    action: &Action,
    name: &'static str,
    what: &str,
    detail: &str,
    result: Result<(), String>,
    to: &str,
    good: &str,
) -> Response {
    match result {
        Ok(()) => {
            action.record(name, what, detail, ActionOutcome::Done).await;
            action.succeed(to, good)
        }
        Err(why) => {
            action.record(name, what, detail, ActionOutcome::Refused(&why)).await;
            action.fail(to, why)
        }
    }
}
