//! `/admin/alerts`: raised alerts, and their acknowledgement.

mod messages;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{Clock as _, SystemClock};
use pharos_engine::alerts::{AlertKind, acknowledge_alert, check_endpoints, read_alerts, send_test_message};
use pharos_store::DataDir;

use self::messages::AlertMessages;
use super::commands::{record_and_redirect, spawn_blocking};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/alerts";

#[derive(Template)]
#[template(path = "admin/alerts.html")]
struct AlertsPage {
    frame: DeskFrame,
    a: &'static AlertMessages,
    alerts: Vec<AlertView>,
    settings: String,
    /// No endpoint is configured.
    is_local: bool,
}

struct AlertView {
    name: &'static str,
    text: String,
    since: String,
    acknowledged: Option<String>,
    undelivered: Vec<String>,
}

/// `GET /admin/alerts`.
pub(crate) async fn alerts(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (a, lang) = (AlertMessages::for_lang(visitor.lang), visitor.lang);
    let (raised, config) = spawn_blocking(&app, |service| {
        let config = service.settings.load().map(|loaded| loaded.config).unwrap_or_default();
        Ok((read_alerts(&service.data), config))
    })
    .await?;
    let view = |alert: pharos_engine::alerts::Alert| AlertView {
        name: alert.kind.name(),
        text: a.describe(alert.kind, &alert.value),
        since: fill(a.since, &[&lang.date_time(alert.since)]),
        acknowledged: alert.acknowledged_by.map(|by| fill(a.acknowledged, &[&by])),
        undelivered: alert.undelivered,
    };
    let page = AlertsPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        a,
        alerts: raised.into_iter().map(view).collect(),
        settings: link("/admin/settings", [("section", "alerts")]),
        is_local: config.alerts.webhook.is_empty() && config.alerts.mail_to.is_empty(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Returns the texts of the alerts that no operator has acknowledged.
pub(super) fn unacknowledged_alerts(data: &DataDir, lang: Lang) -> Vec<String> {
    let a = AlertMessages::for_lang(lang);
    let open = read_alerts(data).into_iter().filter(|alert| alert.acknowledged_by.is_none());
    open.map(|alert| a.describe(alert.kind, &alert.value)).collect()
}

/// `POST /admin/alerts/acknowledge`.
pub(crate) async fn acknowledge(action: Action) -> Response {
    let a = AlertMessages::for_lang(action.visitor.lang);
    let Some(kind) = AlertKind::from_name(action.form.text("alert")) else {
        return action.fail(PATH, a.no_such_alert);
    };
    let operator = action.operator.name.clone();
    let acknowledged =
        spawn_blocking(&action.app, move |service| Ok(acknowledge_alert(&service.data, kind, &operator)?));
    let done = match acknowledged.await {
        Ok(true) => Ok(()),
        Ok(false) => Err(a.no_such_alert.to_string()),
        Err(error) => Err(error.to_string()),
    };
    record_and_redirect(&action, "alert.acknowledge", kind.name(), "", done, PATH, a.did_acknowledge).await
}

/// `POST /admin/alerts/test`: sends a test message to the configured endpoints.
pub(crate) async fn send_test(action: Action) -> Result<Response, ServiceError> {
    let a = AlertMessages::for_lang(action.visitor.lang);
    let config = spawn_blocking(&action.app, |service| {
        Ok(service.settings.load().map(|loaded| loaded.config).map_err(|error| error.to_string()))
    });
    let checked = config.await?.and_then(|config| match check_endpoints(&config) {
        Ok(()) => Ok(config),
        Err(error) => Err(error.to_string()),
    });
    let config = match checked {
        Ok(config) => config,
        Err(why) => {
            return Ok(record_and_redirect(&action, "alert.test", "", "", Err(why), PATH, "").await);
        }
    };
    let outcomes = send_test_message(&config, SystemClock.now()).await;
    let names: Vec<&str> = outcomes.iter().map(|(name, _)| *name).collect();
    let failed: Vec<String> = outcomes
        .iter()
        .filter_map(|(name, error)| error.as_ref().map(|error| format!("{name}: {error}")))
        .collect();
    let done = match (outcomes.is_empty(), failed.is_empty()) {
        (true, _) => Err(a.no_endpoint.to_string()),
        (false, true) => Ok(()),
        (false, false) => Err(fill(a.test_failed, &[&failed.join("; ")])),
    };
    let names = names.join(", ");
    let good = fill(a.did_test, &[&names]);
    Ok(record_and_redirect(&action, "alert.test", &names, "", done, PATH, &good).await)
}
