//! `/privacy`: which data about visitors is stored, according to the settings.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::messages::fill;
use crate::pages::frame::{PageFrame, respond};
use crate::server::visitor::Visitor;
use crate::state::AppState;

#[derive(Template)]
#[template(path = "privacy.html")]
struct PrivacyPage {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    points: Vec<String>,
}

/// `GET /privacy`.
pub(crate) async fn privacy(State(app): State<AppState>, visitor: Visitor) -> Response {
    let (config, messages) = (app.config(), visitor.messages());
    let log = &config.log;
    let mut points = Vec::new();
    if log.enabled {
        points.push(messages.privacy_written.to_string());
        points.push(fill(messages.privacy_visit, &[&messages.duration(log.key_lifetime)]));
        if log.scrub_digits > 0 {
            points.push(fill(messages.privacy_digits, &[&log.scrub_digits.to_string()]));
        }
        points.push(messages.privacy_clicks.to_string());
        points.push(fill(messages.privacy_hot, &[&config.hot.min_visits.to_string()]));
        if log.access {
            points.push(messages.privacy_access.to_string());
        }
        points.push(if log.keep_for.is_zero() {
            messages.privacy_kept_indefinitely.to_string()
        } else {
            fill(messages.privacy_kept, &[&messages.duration(log.keep_for)])
        });
    } else {
        points.push(messages.privacy_nothing.to_string());
    }
    points.push(messages.privacy_cookies.to_string());
    points.push(messages.privacy_others.to_string());
    let page = PrivacyPage { frame: PageFrame::new(&visitor, config), query: "", focus: false, points };
    respond(&visitor, StatusCode::OK, &page)
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use crate::router;
    use crate::testing::{engine, get};

    #[tokio::test]
    async fn the_page_reflects_the_settings() {
        let (_dir, service) = engine(&[], Config::default());
        let html = get(&router(service).unwrap(), "/privacy").await;
        for part in ["deleted after 24 h", "deleted after 90 days", "7 or more digits"] {
            assert!(html.text().contains(part), "{part} is missing in {}", html.text());
        }
        let mut config = Config::default();
        config.log.enabled = false;
        let (_dir, service) = engine(&[], config);
        let html = get(&router(service).unwrap(), "/privacy?lang=zh").await;
        assert!(html.text().contains("不记录") && !html.text().contains("90 天"), "{}", html.text());
    }
}
