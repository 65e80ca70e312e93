//! `/icon/ID`: the icon of a site, shown beside its results. ID is the page id of the icon's URL.
//!
//! Users get icons from this server, so that their browsers send no request to the sites.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pharos_core::{PageId, PageUrl};

use super::cached_page::page_id;
use crate::state::{AppState, ServiceError};

/// Shown for sites without an icon, so that all results are aligned.
const NO_ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><g fill=\"none\" stroke=\"#8a8f94\">\
                       <circle cx=\"8\" cy=\"8\" r=\"6.5\"/><ellipse cx=\"8\" cy=\"8\" rx=\"3\" ry=\"6.5\"/>\
                       <path d=\"M1.5 8h13\"/></g></svg>";

/// Foreign files have no rights, whatever they contain.
const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// Returns the path of the icon of a page's site.
pub(crate) fn icon_path(page: &PageUrl) -> String {
    format!("/icon/{}", page.site_icon().id())
}

/// `GET /icon/ID`.
pub(crate) async fn site_icon(
    State(app): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, ServiceError> {
    let id: Option<PageId> = page_id(&id).filter(|_| app.config().crawl.icons);
    let Some(id) = id else { return Ok(StatusCode::NOT_FOUND.into_response()) };
    let policy = (CONTENT_SECURITY_POLICY, POLICY);
    Ok(match app.site_icon(id).await? {
        Some(icon) => {
            let headers = [(CONTENT_TYPE, icon.media_type), (CACHE_CONTROL, "public, max-age=86400"), policy];
            (headers, icon.bytes).into_response()
        }
        None => {
            let headers = [(CONTENT_TYPE, "image/svg+xml"), (CACHE_CONTROL, "public, max-age=3600"), policy];
            (headers, NO_ICON).into_response()
        }
    })
}

#[cfg(test)]
mod tests {
    use pharos_core::config::Config;
    use pharos_core::{LibraryPosition, Timestamp};
    use pharos_store::catalog::{CatalogChange, ResponseSummary, VisitOutcome};
    use pharos_store::{LibraryRecord, RawResponse, RecordContent};

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, apply_changes, engine, get};

    const PAGE: TestPage = TestPage::new("https://www.example.org/a", "Lighthouse", "It stands on a rock.");

    #[tokio::test]
    async fn icons_are_served_from_the_library_if_they_are_pictures() {
        let mut config = Config::default();
        config.crawl.icons = true;
        let (dir, service) = engine(&[PAGE], config);
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let mut changes = Vec::new();
        let mut store = |url: &str, body: &[u8]| {
            let url = PageUrl::parse(url).unwrap();
            let response = RawResponse { status: 200, body: body.to_vec(), ..RawResponse::default() };
            let record = LibraryRecord::new(url.clone(), at, RecordContent::Response(response));
            let position: LibraryPosition = service.library.append(&[record]).unwrap()[0].0;
            let outcome =
                VisitOutcome::Responded(ResponseSummary { status: 200, position, ..Default::default() });
            changes.push(CatalogChange::Visited { url: url.clone(), at, outcome, next_due: None });
            format!("/icon/{}", url.id())
        };
        let icon = store("https://www.example.org/favicon.ico", b"\x89PNG\r\n\x1a\npicture");
        let page = store("https://svg.example.org/favicon.ico", b"<svg><script>x()</script></svg>");
        let other = store("https://www.example.org/logo.png", b"\x89PNG\r\n\x1a\nanother");
        let long = store("https://long.example.org/favicon.ico", &[&b"GIF89a"[..], &[0; 70_000]].concat());
        apply_changes(&dir, &changes);
        let router = router(service).unwrap();

        let html = get(&router, "/search?q=lighthouse").await;
        let image = format!("<img src=\"{icon}\" alt=\"\"");
        assert!(html.text().contains(&image), "{image} is missing in {}", html.text());
        let reply = get(&router, &icon).await;
        assert_eq!(
            (reply.header("content-type"), reply.header("x-content-type-options")),
            ("image/png", "nosniff")
        );
        assert_eq!(reply.bytes, b"\x89PNG\r\n\x1a\npicture");
        assert_eq!(reply.header("content-security-policy"), POLICY);
        // Not a picture, not an icon, too long, unknown.
        for path in [page.as_str(), &other, &long, "/icon/0123456789abcdef0123456789abcdef"] {
            assert_eq!(get(&router, path).await.text(), NO_ICON, "{path}");
        }
        for path in ["/icon/0", "/icon/x"] {
            assert_eq!(get(&router, path).await.status, StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[tokio::test]
    async fn without_the_setting_there_are_no_icons() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let router = router(service).unwrap();
        assert!(!get(&router, "/search?q=lighthouse").await.text().contains("/icon/"));
        let reply = get(&router, &icon_path(&PAGE.url())).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND);
    }
}
