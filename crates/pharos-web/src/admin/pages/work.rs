//! Access of the desk pages to stores, engine and settings.
//!
//! The work runs on tokio's blocking threads, apart from the query queue: the desk must work while visitors are shed.

use pharos_core::PageUrl;
use pharos_core::config::{KEYS, is_secret};
use pharos_engine::{Order, carry_out};
use pharos_store::{Catalog, CrawlRules, SqliteCatalog};
use tokio::sync::oneshot;

use super::settings_file::{Edit, SettingsFile, check, edited};
use crate::admin::action::Action;
use crate::admin::record::Outcome;
use crate::service::{Rooms, Service, ServiceError};
use axum::response::Response;

/// Command name under which the desk executes orders itself if no process owns the data directory.
const COMMAND: &str = "desk";

/// Runs blocking work on a blocking thread of tokio.
pub(super) async fn aside<T: Send + 'static>(
    rooms: &Rooms,
    work: impl FnOnce(&Service) -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    let service = rooms.service().clone();
    let (tell, told) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let _ = tell.send(work(&service));
    });
    told.await?
}

/// Runs work with a catalog reader; returns the default value if there is no catalog yet.
pub(super) async fn with_catalog<T: Default + Send + 'static>(
    rooms: &Rooms,
    work: impl FnOnce(&Service, &dyn Catalog) -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    aside(rooms, |service| match SqliteCatalog::open_reader(&service.data.catalog())? {
        Some(catalog) => work(service, &catalog),
        None => Ok(T::default()),
    })
    .await
}

/// Executes an order. Errors are returned as text.
pub(super) async fn order(rooms: &Rooms, order: Order) -> Result<(), String> {
    let done = aside(rooms, move |service| {
        Ok(carry_out(&service.data, &service.config, COMMAND, &order).map_err(|error| error.to_string()))
    });
    done.await.map_err(|error| error.to_string())?
}

/// Message that explains why settings cannot be changed.
pub(super) type Refused = String;

/// Changes settings in the file, all of them or none. With a `stamp`, only if the file has not changed since. Returns a
/// summary of the changes for the action log.
pub(super) async fn change_settings(
    rooms: &Rooms,
    edits: Vec<(&'static str, Edit)>,
    stamp: Option<String>,
) -> Result<String, Refused> {
    replace_settings(rooms, stamp, move |text, decided| {
        let mut text = text.to_string();
        for (key, edit) in &edits {
            if let Some(by) = decided(key) {
                return Err(format!("`{key}` is set by the {by}: change it there"));
            }
            text = edited(&text, key, edit)?;
        }
        Ok(text)
    })
    .await
}

/// Replaces the text of the settings file.
pub(super) async fn replace_settings(
    rooms: &Rooms,
    stamp: Option<String>,
    make: impl FnOnce(&str, &dyn Fn(&str) -> Option<&'static str>) -> Result<String, Refused> + Send + 'static,
) -> Result<String, Refused> {
    let done = aside(rooms, move |service| Ok(replace(service, stamp.as_deref(), make)));
    done.await.map_err(|error| error.to_string())?
}

fn replace(
    service: &Service,
    stamp: Option<&str>,
    make: impl FnOnce(&str, &dyn Fn(&str) -> Option<&'static str>) -> Result<String, Refused>,
) -> Result<String, Refused> {
    let _one_at_a_time = service.settings.lock();
    let path = service.settings.file();
    let io = |error: std::io::Error| format!("{}: {error}", path.display());
    let before = SettingsFile::read(path).map_err(io)?;
    if stamp.is_some_and(|stamp| stamp != before.stamp) {
        return Err("the settings were changed by another operator in the meantime: check them again".into());
    }
    let decided = service.settings.load().map(|loaded| loaded.decided).unwrap_or_default();
    let text = make(&before.text, &|key| decided.get(key).copied())?;
    let (was, is) = (check(&before.text), check(&text)?);
    if text != before.text {
        SettingsFile::replace(path, &text).map_err(io)?;
    }
    let was = was.unwrap_or_default();
    let changed = KEYS.iter().filter_map(|key| {
        let (was, is) = (was.get(key.name)?, is.get(key.name)?);
        let told =
            if is_secret(key.name) { key.name.to_string() } else { format!("{}: {was} → {is}", key.name) };
        (was != is).then_some(told)
    });
    Ok(changed.collect::<Vec<_>>().join("; "))
}

/// Records other crawl rules, if a crawl exists. This is needed even if the settings already contain them, as the crawl may
/// have been started with other rules.
pub(super) async fn change_rules(
    rooms: &Rooms,
    change: impl FnOnce(&mut CrawlRules) + Send + 'static,
) -> Result<(), String> {
    let known = with_catalog(rooms, |_, catalog| Ok((catalog.rules()?, catalog.seed_sites()?))).await;
    let (Some(in_force), seeds) = known.map_err(|error| error.to_string())? else { return Ok(()) };
    let mut rules = in_force.clone();
    change(&mut rules);
    let about = seeds.first().and_then(|site| PageUrl::parse(&format!("http://{site}/")).ok());
    match about.filter(|_| rules != in_force) {
        Some(about) => order(rooms, Order::Rules { about, rules: Box::new(rules) }).await,
        None => Ok(()),
    }
}

/// Logs the outcome of an action and redirects to a page that shows it.
pub(super) async fn finish(
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
            action.note(name, what, detail, Outcome::Done).await;
            action.done(to, good)
        }
        Err(why) => {
            action.note(name, what, detail, Outcome::Refused(&why)).await;
            action.failed(to, why)
        }
    }
}
