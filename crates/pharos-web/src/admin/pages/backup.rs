//! `/admin/backup`: schedule and retention of backups, the running one, and those that can be restored.

pub(super) mod messages;

use std::path::Path as FilePath;
use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::{Clock as _, Config, SystemClock, Timestamp};
use pharos_engine::maintenance::backup::last::{LastBackup, read_last_backup};
use pharos_engine::maintenance::backup::runner::RunningBackup;
use pharos_engine::maintenance::backup::schedule::next_backup_at;
use pharos_engine::maintenance::backup::series::{ListedBackup, SeriesPlan, list_backups};
use pharos_engine::status::engine_status::{EngineStatus, read_engine_status};

use self::messages::BackupMessages;
use super::charts::format_bytes;
use super::commands::{change_settings, record_and_redirect, spawn_blocking};
use super::settings_file::{SettingEdit, format_setting};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/backup";
/// Settings of the form.
const KEYS: [&str; 3] = ["backup.directory", "backup.schedule", "backup.keep"];
/// Maximum number of backups shown.
const MAX_ROWS: usize = 100;

#[derive(Template)]
#[template(path = "admin/backup.html")]
struct BackupPage {
    frame: DeskFrame,
    b: &'static BackupMessages,
    running: Option<RunningView>,
    last: String,
    failure: Option<String>,
    next: Option<String>,
    has_directory: bool,
    directory: String,
    schedule: String,
    keep: String,
    rows: Vec<BackupRow>,
    restore: String,
}

/// The running backup of this process.
struct RunningView {
    is_stopping: bool,
    step: String,
    /// Progress in percent, if it can be computed.
    done: Option<u64>,
}

struct BackupRow {
    path: String,
    taken: String,
    files: String,
    size: String,
}

/// `GET /admin/backup`.
pub(crate) async fn backup(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (b, lang) = (BackupMessages::for_lang(visitor.lang), visitor.lang);
    let (config, last, engine, backups) = spawn_blocking(&app, |service| {
        let config = service.settings.load().map(|loaded| loaded.config).unwrap_or_default();
        let backups = match SeriesPlan::from_config(&config) {
            Ok(plan) => list_backups(&service.data, &plan.directory),
            Err(_) => Vec::new(),
        };
        let engine = read_engine_status(&service.data);
        Ok((config, read_last_backup(&service.data), engine, backups))
    })
    .await?;
    let newest = backups.last().map(|backup| backup.path.display().to_string());
    let page = BackupPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        b,
        running: RunningView::new(&app.service().backups.state(), b),
        last: describe_last(&last, b, lang),
        failure: last
            .failed
            .as_ref()
            .map(|failed| fill(b.failed, &[&lang.date_time(failed.at), &failed.reason])),
        next: describe_next(&config, &last, engine.as_ref(), b, lang),
        has_directory: !config.backup.directory.is_empty(),
        directory: format_setting(&config, KEYS[0]),
        schedule: format_setting(&config, KEYS[1]),
        keep: format_setting(&config, KEYS[2]),
        rows: backups.iter().rev().take(MAX_ROWS).map(|backup| BackupRow::new(backup, lang)).collect(),
        restore: format!("pharos --data NEW_DIRECTORY restore {}", newest.unwrap_or_else(|| "BACKUP".into())),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl RunningView {
    fn new(state: &RunningBackup, b: &'static BackupMessages) -> Option<Self> {
        let (_, progress) = state.running?;
        let bytes = |bytes: u64| format_bytes(bytes as f64);
        Some(Self {
            is_stopping: state.stopping,
            step: fill(b.progress, &[&bytes(progress.done), &bytes(progress.total), &bytes(progress.copied)]),
            done: (progress.total > 0).then(|| (100 * progress.done / progress.total).min(100)),
        })
    }
}

impl BackupRow {
    fn new(backup: &ListedBackup, lang: Lang) -> Self {
        let name = backup.path.file_name().map(FilePath::new).unwrap_or(&backup.path);
        Self {
            path: name.display().to_string(),
            taken: Timestamp::parse(&backup.taken).map_or_else(String::new, |taken| lang.date_time(taken)),
            files: grouped(backup.files),
            size: format_bytes(backup.bytes as f64),
        }
    }
}

fn describe_last(last: &LastBackup, b: &'static BackupMessages, lang: Lang) -> String {
    let Some(finished) = &last.finished else { return b.never.into() };
    let size = format_bytes(finished.bytes as f64);
    let copied = format_bytes(finished.copied as f64);
    fill(b.last, &[&lang.date_time(finished.at), &finished.path, &size, &copied])
}

/// Describes the next scheduled backup, or why there is none.
fn describe_next(
    config: &Config,
    last: &LastBackup,
    engine: Option<&EngineStatus>,
    b: &'static BackupMessages,
    lang: Lang,
) -> Option<String> {
    let now = SystemClock.now();
    let started = engine.map_or(now, |engine| engine.since);
    let at = next_backup_at(config, last, started)?.max(now);
    Some(if engine.is_some() { fill(b.next, &[&lang.date_time(at)]) } else { b.needs_engine.into() })
}

/// Describes the age of the last backup for the overview. The second value is `true` if the last attempt failed.
pub(super) fn describe_age(last: &LastBackup, now: Timestamp, lang: Lang) -> (String, bool) {
    let b = BackupMessages::for_lang(lang);
    let age = match &last.finished {
        None => b.age_never.to_string(),
        Some(finished) => {
            let age = now.since(finished.at);
            let unit = [86_400, 3600, 60].into_iter().find(|unit| age.as_secs() >= *unit).unwrap_or(1);
            let age = Duration::from_secs(age.as_secs() / unit * unit);
            fill(b.age, &[&lang.messages().duration(age)])
        }
    };
    match &last.failed {
        Some(failed) => (format!("{age} {}", fill(b.age_failed, &[&failed.reason])), true),
        None => (age, false),
    }
}

/// `POST /admin/backup/{now,stop,settings}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Response {
    let b = BackupMessages::for_lang(action.visitor.lang);
    match what.as_str() {
        "now" => {
            let started = spawn_blocking(&action.app, |service| {
                let config = service.settings.load().map(|loaded| loaded.config);
                let plan = config
                    .and_then(|config| SeriesPlan::from_config(&config).map_err(|error| error.to_string()));
                Ok(plan.and_then(|plan| service.backups.start(plan).map_err(|error| error.to_string())))
            });
            let done = match started.await {
                Ok(Ok(true)) => Ok(()),
                Ok(Ok(false)) => Err(b.already_running.to_string()),
                Ok(Err(why)) => Err(why),
                Err(error) => Err(error.to_string()),
            };
            record_and_redirect(&action, "backup.now", "", "", done, PATH, b.did_start).await
        }
        "stop" => {
            action.app.service().backups.stop();
            record_and_redirect(&action, "backup.stop", "", "", Ok(()), PATH, b.did_stop).await
        }
        "settings" => save_settings(&action, b).await,
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn save_settings(action: &Action, b: &'static BackupMessages) -> Response {
    let loaded = action.app.service().settings.load().unwrap_or_default();
    let mut edits = Vec::new();
    for key in KEYS {
        let value = action.form.text(key.trim_start_matches("backup.")).trim().to_string();
        // Unchanged values are neither written nor refused because the command line overrides them.
        if value != format_setting(&loaded.config, key) {
            edits.push((key, SettingEdit::Set(value)));
        }
    }
    let (detail, done) = match change_settings(&action.app, edits, None).await {
        Ok(changed) => (changed, Ok(())),
        Err(why) => (String::new(), Err(why)),
    };
    record_and_redirect(action, "backup.settings", "", &detail, done, PATH, b.did_save).await
}

#[cfg(test)]
mod tests {
    use pharos_engine::maintenance::backup::last::{FailedBackup, FinishedBackup};

    use super::*;

    #[test]
    fn the_age_is_rounded_down_and_failures_are_shown() {
        let now = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let since = |seconds: u64| LastBackup {
            finished: Some(FinishedBackup {
                at: now.minus(Duration::from_secs(seconds)),
                ..FinishedBackup::default()
            }),
            failed: None,
        };
        let age = |seconds| describe_age(&since(seconds), now, Lang::En).0;
        assert_eq!(age(5), "Last backup: 5 s ago.");
        assert_eq!(age(7_400), "Last backup: 2 h ago.");
        assert_eq!(age(5 * 86_400 + 7), "Last backup: 5 days ago.");
        let failed = Some(FailedBackup { at: now, reason: "no space".into() });
        let (text, is_bad) = describe_age(&LastBackup { finished: None, failed }, now, Lang::Zh);
        assert!(text.contains("no space") && is_bad, "{text}");
    }
}
