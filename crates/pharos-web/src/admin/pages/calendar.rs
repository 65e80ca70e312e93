//! `/admin/calendar`: scheduled visits, builds, backups and crawl windows of the coming days, and their settings.

mod messages;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{Clock as _, SystemClock};
use pharos_engine::status::calendar::{
    CalendarDay, CalendarTask, CalendarWindow, TaskKind, calendar as coming_week,
};
use pharos_engine::status::engine_status::read_engine_status;

use self::messages::CalendarMessages;
use super::commands::{change_settings, record_and_redirect, spawn_blocking};
use super::settings_file::{SettingEdit, format_setting};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill};
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/calendar";
/// Settings of the form, with their fields.
const KEYS: [(&str, &str); 3] =
    [("crawl.recrawl", "recrawl"), ("index.build_at", "build_at"), ("crawl.time_zone", "time_zone")];
/// Maximum number of tasks shown of a day.
const MAX_TASKS: usize = 50;

#[derive(Template)]
#[template(path = "admin/calendar.html")]
struct CalendarPage {
    frame: DeskFrame,
    c: &'static CalendarMessages,
    zone: String,
    /// The settings are invalid, so that there is no calendar.
    problem: Option<String>,
    days: Vec<DayView>,
    recrawl: String,
    lines: usize,
    build_at: String,
    time_zone: String,
}

struct DayView {
    title: String,
    /// Time and description.
    tasks: Vec<(String, String)>,
    more: Option<String>,
    windows: Vec<(String, String)>,
}

/// `GET /admin/calendar`.
pub(crate) async fn calendar(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (c, lang) = (CalendarMessages::for_lang(visitor.lang), visitor.lang);
    let (config, week) = spawn_blocking(&app, |service| {
        let config = service.settings.load().map(|loaded| loaded.config).unwrap_or_default();
        let now = SystemClock.now();
        let started = read_engine_status(&service.data).map_or(now, |engine| engine.since);
        let week = coming_week(&service.data, &config, started, now).map_err(|error| error.to_string());
        Ok((config, week))
    })
    .await?;
    let recrawl = format_setting(&config, KEYS[0].0);
    let (days, problem) = match week {
        Ok(days) => (days.iter().map(|day| DayView::new(day, c, lang)).collect(), None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let page = CalendarPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        c,
        zone: fill(c.zone, &[config.crawl.time_zone.label()]),
        problem,
        days,
        lines: recrawl.lines().count().clamp(3, 12),
        recrawl,
        build_at: format_setting(&config, KEYS[1].0),
        time_zone: format_setting(&config, KEYS[2].0),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl DayView {
    fn new(day: &CalendarDay, c: &'static CalendarMessages, lang: Lang) -> Self {
        let more = day.tasks.len().saturating_sub(MAX_TASKS);
        Self {
            title: format!("{}, {}", c.weekday(day.weekday), lang.date(&day.date)),
            tasks: day.tasks.iter().take(MAX_TASKS).map(|task| task_line(task, c)).collect(),
            more: (more > 0).then(|| fill(c.more, &[&more.to_string()])),
            windows: day.windows.iter().map(window_line).collect(),
        }
    }
}

fn task_line(task: &CalendarTask, c: &'static CalendarMessages) -> (String, String) {
    let what = match &task.kind {
        TaskKind::Backup => c.backup.to_string(),
        TaskKind::Build => c.build.to_string(),
        TaskKind::Recrawl(target) => fill(c.recrawl_of, &[target]),
    };
    (task.time.clone(), what)
}

fn window_line(window: &CalendarWindow) -> (String, String) {
    let zone = window.zone.as_ref().map(|zone| format!(" ({zone})")).unwrap_or_default();
    (format!("{}–{}{zone}", window.from, window.until), window.host.clone())
}

/// `POST /admin/calendar`.
pub(crate) async fn save(action: Action) -> Response {
    let c = CalendarMessages::for_lang(action.visitor.lang);
    let loaded = action.app.service().settings.load().unwrap_or_default();
    let mut edits = Vec::new();
    for (key, field) in KEYS {
        let value = action.form.text(field).trim().replace("\r\n", "\n");
        // Unchanged values are neither written nor refused because the command line overrides them.
        if value != format_setting(&loaded.config, key) {
            edits.push((key, SettingEdit::Set(value)));
        }
    }
    let (detail, done) = match change_settings(&action.app, edits, None).await {
        Ok(changed) => (changed, Ok(())),
        Err(why) => (String::new(), Err(why)),
    };
    record_and_redirect(&action, "calendar.settings", "", &detail, done, PATH, c.did_save).await
}
