//! The pages of the desk and their actions.
//!
//! [`commands`] reads the stores and sends orders to the engine, [`settings_file`] edits `pharos.toml`, [`charts`] draws,
//! and [`messages`] and [`problem_messages`] contain the texts.

mod account;
mod actions;
mod alerts;
mod backup;
mod calendar;
mod categories;
mod charts;
mod commands;
mod crawl;
mod curation;
mod generations;
mod glossary;
mod insight;
mod keys;
mod logs;
mod machine;
mod messages;
mod news;
mod operators;
mod overview;
mod page_report;
mod params;
mod problem_messages;
mod queries;
mod refresh;
mod setting_texts;
mod settings;
mod settings_file;
mod site;
mod sites;
mod stream;
mod submissions;
mod trouble;
mod words;

pub(crate) use self::insight::{SearchCache, read_searches};
pub(crate) use self::refresh::RefreshCache;

use axum::Router;
use axum::routing::{get, post};

use crate::state::AppState;

/// Returns the routes of all pages and actions.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/admin", get(overview::overview))
        .route("/admin/live", get(stream::live))
        .route("/admin/news", get(news::news))
        .route("/admin/crawl", get(crawl::crawl))
        .route("/admin/crawl/seeds", post(crawl::add_seeds))
        .route("/admin/crawl/rules", post(crawl::set_rules))
        .route("/admin/crawl/pace", post(crawl::set_pace))
        .route("/admin/crawl/{what}", post(overview::control_crawl))
        .route("/admin/sites", get(sites::sites))
        .route("/admin/site", get(site::site))
        .route("/admin/site/{what}", post(site::act))
        .route("/admin/page", get(page_report::page_report))
        .route("/admin/page/{what}", post(page_report::act))
        .route("/admin/trouble", get(trouble::trouble))
        .route("/admin/trouble/retry", post(trouble::retry))
        .route("/admin/glossary", get(glossary::glossary))
        .route("/admin/submissions", get(submissions::submissions))
        .route("/admin/submissions/decide", post(submissions::decide))
        .route("/admin/refresh", get(refresh::refresh))
        .route("/admin/words", get(words::words))
        .route("/admin/words/{what}", post(words::act))
        .route("/admin/index", get(generations::index))
        .route("/admin/index/{what}", post(generations::act))
        .route("/admin/backup", get(backup::backup))
        .route("/admin/backup/{what}", post(backup::act))
        .route("/admin/calendar", get(calendar::calendar).post(calendar::save))
        .route("/admin/alerts", get(alerts::alerts))
        .route("/admin/alerts/acknowledge", post(alerts::acknowledge))
        .route("/admin/alerts/test", post(alerts::send_test))
        .route("/admin/machine", get(machine::machine))
        .route("/admin/queries", get(queries::queries))
        .route("/admin/insight", get(insight::insight))
        .route("/admin/insight/queries", get(insight::query_lists))
        .route("/admin/insight/query", get(insight::query))
        .route("/admin/curation", get(curation::curation))
        .route("/admin/curation/{what}", post(curation::act))
        .route("/admin/categories", get(categories::categories))
        .route("/admin/categories/{what}", post(categories::act))
        .route("/admin/settings", get(settings::settings))
        .route("/admin/settings/export", get(settings::export))
        .route("/admin/settings/{what}", post(settings::act))
        .route("/admin/logs", get(logs::logs))
        .route("/admin/keys", get(keys::keys))
        .route("/admin/keys/{what}", post(keys::act))
        .route("/admin/operators", get(operators::operators))
        .route("/admin/operators/add", post(operators::add))
        .route("/admin/operators/remove", post(operators::remove))
        .route("/admin/operators/role", post(operators::set_role))
        .route("/admin/operators/password", post(operators::set_password))
        .route("/admin/actions", get(actions::actions))
        .route("/admin/account", get(account::account).post(account::change))
}

/// Returns the texts of the pages whose labels the glossary explains: name, English, Chinese.
#[cfg(test)]
pub(super) fn labels() -> Vec<(&'static str, &'static str, &'static str)> {
    [messages::TABLE, curation::labels()].concat()
}
