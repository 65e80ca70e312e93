//! `/privacy`: which data about visitors is stored, according to the settings.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::page::{Frame, respond};
use crate::service::Rooms;
use crate::visitor::Visitor;
use crate::words::fill;

#[derive(Template)]
#[template(path = "privacy.html")]
struct PrivacyPage {
    frame: Frame,
    query: &'static str,
    focus: bool,
    points: Vec<String>,
}

/// `GET /privacy`.
pub(crate) async fn privacy(State(rooms): State<Rooms>, visitor: Visitor) -> Response {
    let (config, words) = (rooms.config(), visitor.words());
    let log = &config.log;
    let mut points = Vec::new();
    if log.enabled {
        points.push(words.privacy_written.to_string());
        points.push(fill(words.privacy_visit, &[&words.span(log.key_lifetime)]));
        if log.scrub_digits > 0 {
            points.push(fill(words.privacy_digits, &[&log.scrub_digits.to_string()]));
        }
        points.push(words.privacy_clicks.to_string());
        points.push(fill(words.privacy_hot, &[&config.hot.min_visits.to_string()]));
        if log.access {
            points.push(words.privacy_access.to_string());
        }
        points.push(if log.keep_for.is_zero() {
            words.privacy_for_ever.to_string()
        } else {
            fill(words.privacy_kept, &[&words.span(log.keep_for)])
        });
    } else {
        points.push(words.privacy_nothing.to_string());
    }
    points.push(words.privacy_cookies.to_string());
    points.push(words.privacy_others.to_string());
    let page = PrivacyPage { frame: Frame::new(&visitor, config), query: "", focus: false, points };
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
