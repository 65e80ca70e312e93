//! Routes and the middleware around them.

use std::any::Any;
use std::io;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower::ServiceBuilder;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

use super::{
    access_log, client_address, compression, health, metrics, rate_limit, response_budget, security_headers,
};
use crate::pages::{
    assets, bot, cached_page, clean_view, directory, error_page, help, home, hot, privacy, results, site_icon,
};
use crate::state::{AppState, Service};
use crate::{admin, api};

/// Maximum size of request bodies; only the desk takes longer ones.
const BODY_LIMIT: usize = 64 << 10;

/// Builds the router with all routes.
///
/// # Errors
/// Fails if the settings of the desk are invalid or a thread cannot be started.
pub fn router(service: Service) -> io::Result<Router> {
    Ok(build(AppState::new(service)?))
}

/// Builds the router for an existing state.
pub(crate) fn build(app: AppState) -> Router {
    assets::prepare();
    with_middleware(routes(), api::routes(&app), app)
}

fn routes() -> Router<AppState> {
    Router::new()
        .route("/", get(home::home))
        .route("/search", get(results::results))
        .route("/snapshot", get(cached_page::by_url))
        .route("/snapshot/{id}", get(cached_page::banner))
        .route("/snapshot/{id}/content", get(cached_page::content))
        .route("/clean", get(clean_view::clean_view))
        .route("/icon/{id}", get(site_icon::site_icon))
        .route("/hot", get(hot::hot))
        .route("/directory", get(directory::top))
        .route("/directory/{id}", get(directory::category))
        .route("/help", get(help::help))
        .route("/privacy", get(privacy::privacy))
        .route("/bot", get(bot::bot).post(bot::submit))
        .route("/indexnow", get(api::indexnow).post(api::indexnow))
        .route("/api", get(api::guide))
        .route("/suggest", get(api::suggest_for_browsers))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .route("/static/style.css", get(assets::style))
        .route("/static/pharos.js", get(assets::script))
        .route("/static/desk.css", get(assets::desk_style))
        .route("/static/desk.js", get(assets::desk_script))
        .route("/favicon.svg", get(assets::icon_svg))
        .route("/favicon.ico", get(assets::icon_ico))
        .route("/robots.txt", get(assets::robots))
        .route("/opensearch.xml", get(assets::opensearch))
        .fallback(|| async { StatusCode::NOT_FOUND })
}

/// Adds the middleware, outermost first.
fn with_middleware(routes: Router<AppState>, api: Router<AppState>, app: AppState) -> Router {
    let timeout = TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, app.config().web.timeout);
    let outer = ServiceBuilder::new()
        .layer(from_fn_with_state(app.clone(), security_headers::add_security_headers))
        .layer(from_fn_with_state(app.clone(), client_address::identify_client))
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
        .layer(from_fn(compression::compress))
        .layer(from_fn_with_state(app.clone(), access_log::log_request));
    let inner = ServiceBuilder::new()
        .layer(from_fn_with_state(app.clone(), error_page::render_errors))
        .layer(from_fn_with_state(app.clone(), response_budget::limit_responses))
        .layer(from_fn_with_state(app.clone(), rate_limit::limit_requests));
    let catch_panic = CatchPanicLayer::custom(panicked);
    let limits =
        inner.clone().layer(timeout).layer(catch_panic).layer(RequestBodyLimitLayer::new(BODY_LIMIT));
    // CORS is applied last, so that allowed sites can read errors, too.
    let api = api::allow_origins(api.layer(limits.clone()), &app.config().web);
    // The desk has its own timeout and body limit.
    let desk = admin::routes(&app).layer(inner.layer(catch_panic));
    routes.layer(limits).merge(api).merge(desk).layer(outer).with_state(app)
}

/// Returns a bare status, which the error middleware renders.
fn panicked(payload: Box<dyn Any + Send + 'static>) -> Response {
    let message = payload.downcast_ref::<&str>().copied();
    let message =
        message.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    tracing::error!(message, "a request handler panicked");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::SocketAddr;
    use std::time::Duration;

    use axum::extract::ConnectInfo;
    use axum::http::Method;
    use axum::routing;
    use pharos_core::Config;

    use super::*;
    use crate::testing::{TestPage, engine, get, get_with, send, send_from};

    const PAGES: [TestPage; 3] = [
        TestPage::new(
            "https://www.example.org/a",
            "Lighthouse <b>bold</b>",
            "The lighthouse stands on a <rock>.",
        ),
        TestPage::new("https://www.example.org/b", "Harbour", "A harbour with a lighthouse and many ships."),
        TestPage::new("https://example.cn/c", "灯塔与航海", "灯塔为航海者指引方向。"),
    ];

    const ROUTES: [&str; 16] = [
        "/",
        "/hot",
        "/help",
        "/privacy",
        "/search?q=lighthouse",
        "/snapshot/00",
        "/clean",
        "/clean?url=https://www.example.org/a",
        "/api/v1/search?q=lighthouse",
        "/api/v1/search",
        "/healthz",
        "/metrics",
        "/static/style.css",
        "/favicon.svg",
        "/robots.txt",
        "/no/such/page",
    ];

    #[tokio::test]
    async fn a_search_highlights_and_links() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let home = get(&router, "/").await;
        assert!(home.text().contains("3 searchable pages"), "{}", home.text());
        assert!(home.text().contains(" autofocus>"));

        let reply = get(&router, "/search?q=lighthouse").await;
        assert_eq!(reply.status, StatusCode::OK);
        let html = reply.text();
        assert!(html.contains("2 results"), "{html}");
        assert!(
            html.contains("<a href=\"https://www.example.org/b\">") && html.contains(" data-impression=\""),
            "{html}"
        );
        assert!(html.contains("<mark>lighthouse</mark>"), "{html}");
        assert!(html.contains("&lt;b&gt;") && !html.contains("<b>bold"), "{html}");
        assert!(html.contains(&format!("<a href=\"{}?q=lighthouse\"", PAGES[1].cached_page())), "{html}");

        let reply = get(&router, "/search?q=%E7%81%AF%E5%A1%94&lang=zh").await;
        assert!(reply.text().contains("<html lang=\"zh-Hans\"") && reply.text().contains("1 条结果"));
        assert!(reply.header("set-cookie").starts_with("pharos_lang=zh;"));
        assert!(get(&router, "/search?q=submarine").await.text().contains("Try different words"));
        assert!(
            get(&router, "/search?q=lighthouse&page=9").await.text().contains("There is no result page 9")
        );
    }

    #[tokio::test]
    async fn an_empty_index_is_explained() {
        let (_dir, service) = engine(&[], Config::default());
        let router = router(service).unwrap();
        for path in ["/", "/search?q=x"] {
            let reply = get(&router, path).await;
            assert_eq!(reply.status, StatusCode::OK);
            assert!(reply.text().contains("Nothing to search yet"), "{path}");
        }
    }

    #[tokio::test]
    async fn the_api_answers_or_reports_an_error() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let reply = get(&router, "/api/v1/search?q=lighthouse&size=1&page=2").await;
        assert_eq!(reply.header("content-type"), "application/json");
        let answer: serde_json::Value = serde_json::from_slice(&reply.bytes).unwrap();
        assert_eq!(answer["total"], 2);
        assert_eq!(answer["page"], 2);
        assert_eq!(answer["hits"].as_array().unwrap().len(), 1);

        for wrong in ["", "?q=", "?q=%20", "?q=x&page=0", "?q=x&page=abc", "?q=x&size=-1"] {
            let reply = get(&router, &format!("/api/v1/search{wrong}")).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{wrong}");
            assert_eq!(reply.header("content-type"), "application/problem+json");
            let problem: serde_json::Value = serde_json::from_slice(&reply.bytes).unwrap();
            assert_eq!(problem["status"], 400);
            assert!(problem["detail"].as_str().unwrap().contains("parameter `"), "{wrong}");
        }
        let reply = get(&router, "/api/v1/nothing").await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (StatusCode::NOT_FOUND, "application/problem+json")
        );
    }

    #[tokio::test]
    async fn suggestions_and_hot_queries_accept_any_input() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        while !get(&router, "/api/v1/suggest?q=lighth").await.text().contains("\"lighthouse\"") {
            assert!(std::time::Instant::now() < deadline, "nothing is suggested");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(get(&router, "/suggest?q=zzzz").await.text(), "[\"zzzz\",[]]");
        assert_eq!(
            get(&router, "/api/v1/hot").await.text(),
            "{\"top\":[]}",
            "hot queries come from the logs only"
        );
        for wrong in ["suggest?q=a&count=0", "suggest?count=x", "hot?window=week", "hot?list=all"] {
            assert_eq!(
                get(&router, &format!("/api/v1/{wrong}")).await.status,
                StatusCode::BAD_REQUEST,
                "{wrong}"
            );
        }
        assert_eq!(
            get(&router, "/api/v1/click?impression=a&rank=1").await.status,
            StatusCode::METHOD_NOT_ALLOWED
        );
        assert!(get(&router, "/opensearch.xml").await.text().contains("application/x-suggestions+json"));
    }

    #[tokio::test]
    async fn without_logging_nothing_is_stored() {
        let mut config = Config::default();
        config.log.enabled = false;
        let (dir, service) = engine(&PAGES, config);
        let router = router(service).unwrap();
        let html = get(&router, "/search?q=lighthouse").await;
        assert!(html.text().contains("2 results"));
        assert!(!html.text().contains("data-impression"), "{}", html.text());
        get(&router, "/").await;
        assert!(!dir.path().join("logs").exists(), "not even a visit key");
    }

    #[tokio::test]
    async fn every_response_has_the_security_headers() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        for route in ROUTES {
            let reply = get(&router, route).await;
            let policy = reply.header("content-security-policy");
            // No script runs where content of other sites is part of the document.
            let scripts =
                if route.starts_with("/clean") { "" } else { "script-src 'self'; connect-src 'self'; " };
            assert!(
                policy.starts_with(&format!("default-src 'none'; {scripts}style-src 'self';")),
                "{route}"
            );
            assert!(policy.contains("frame-ancestors 'none'"), "{route}");
            assert_eq!(reply.header("x-content-type-options"), "nosniff", "{route}");
            assert_eq!(reply.header("x-frame-options"), "DENY", "{route}");
            assert_eq!(reply.header("referrer-policy"), "same-origin", "{route}");
            let scripts = reply.text().matches("<script").count();
            assert_eq!(
                scripts,
                reply.text().matches("<script src=\"/static/pharos.js?v=").count(),
                "{route}"
            );
            assert!(!reply.text().contains(" style=\""), "{route}");
        }
    }

    #[tokio::test]
    async fn odd_parameters_cause_no_server_error() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let long = "灯".repeat(5000);
        let odd = [
            "q=lighthouse&page=abc",
            "q=lighthouse&page=-1",
            "q=lighthouse&page=99999999999999999999",
            "q=lighthouse&page=26&size=100",
            "q=lighthouse&page=1000000",
            "q=%ED%A0%80",
            "q=%ff%fe%zz%",
            "q=%00%01%1b",
            "q=%22%22%22&page=1",
            "q=site:&q=-",
            "q=((((((((((%28%29",
            "q=a&lang=%ff",
            "url=%ff%00&url=http://[",
            "&&&===",
            "",
        ];
        let mut queries: Vec<String> = odd.map(str::to_string).into();
        queries
            .push(format!("q={}", url::form_urlencoded::byte_serialize(long.as_bytes()).collect::<String>()));
        for query in queries {
            for path in ["/search", "/api/v1/search", "/", "/snapshot/00", "/clean"] {
                let reply = get(&router, &format!("{path}?{query}")).await;
                assert!(!reply.status.is_server_error(), "{path}?{query}: {}", reply.status);
            }
        }
        let cut = get(&router, &format!("/search?q={}", "x".repeat(3000))).await;
        assert_eq!(cut.status, StatusCode::OK);
        assert!(cut.text().contains(&format!("value=\"{}\"", "x".repeat(256))));
        let empty = get(&router, "/search?q=+").await;
        assert_eq!((empty.status, empty.header("location")), (StatusCode::SEE_OTHER, "/"));
    }

    #[tokio::test]
    async fn panics_and_timeouts_give_a_page() {
        let mut config = Config::default();
        config.web.timeout = Duration::from_millis(50);
        let (_dir, service) = engine(&[], config);
        let panics = || async {
            if true {
                panic!("on purpose")
            }
        };
        let routes = routes()
            .route("/panic", routing::get(panics))
            .route("/api/panic", routing::get(panics))
            .route("/slow", routing::get(|| tokio::time::sleep(Duration::from_secs(5))));
        let app = AppState::new(service).unwrap();
        let router = with_middleware(routes, api::routes(&app), app);
        let reply = get(&router, "/panic").await;
        assert_eq!(reply.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(reply.text().contains("Something went wrong"), "{}", reply.text());
        assert_eq!(get(&router, "/api/panic").await.header("content-type"), "application/problem+json");
        let reply = get_with(&router, "/slow", &[("accept-language", "zh")]).await;
        assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(reply.header("retry-after"), "5");
        assert!(reply.text().contains("服务繁忙"), "{}", reply.text());
    }

    #[tokio::test]
    async fn allowed_sites_can_read_errors() {
        let mut config = Config::default();
        config.web.timeout = Duration::from_millis(50);
        config.web.cors = vec!["https://b.example".into()];
        let (_dir, service) = engine(&[], config);
        let app = AppState::new(service).unwrap();
        let panics = || async {
            if true {
                panic!("on purpose")
            }
        };
        let api = Router::new()
            .route("/api/v1/panic", routing::get(panics))
            .route("/api/v1/fails", routing::get(|| async { StatusCode::INTERNAL_SERVER_ERROR }))
            .route("/api/v1/slow", routing::get(|| tokio::time::sleep(Duration::from_secs(5))));
        let router = with_middleware(routes(), api.merge(api::routes(&app)), app);
        let long = "x".repeat(BODY_LIMIT + 1);
        let requested = [
            (Method::GET, "/api/v1/panic", "", StatusCode::INTERNAL_SERVER_ERROR),
            (Method::GET, "/api/v1/fails", "", StatusCode::INTERNAL_SERVER_ERROR),
            (Method::GET, "/api/v1/slow", "", StatusCode::SERVICE_UNAVAILABLE),
            (Method::POST, "/api/v1/click", &long, StatusCode::PAYLOAD_TOO_LARGE),
            (Method::PUT, "/api/v1/search", "", StatusCode::METHOD_NOT_ALLOWED),
        ];
        for (method, path, body, status) in requested {
            let length = body.len().to_string();
            let headers = [("origin", "https://b.example"), ("content-length", &length)];
            let reply = send(&router, method, path, &headers, body).await;
            assert_eq!((reply.status, reply.header("content-type")), (status, "application/problem+json"));
            assert_eq!(reply.header("access-control-allow-origin"), "https://b.example", "{path}");
            assert_eq!(reply.header("cross-origin-resource-policy"), "cross-origin", "{path}");
            assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        }
        let refused = get_with(&router, "/api/v1/fails", &[("origin", "https://evil.example")]).await;
        assert_eq!(refused.header("access-control-allow-origin"), "");
    }

    fn decompressed(coding: &str, compressed: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        match coding {
            "br" => brotli::Decompressor::new(compressed, 4096).read_to_end(&mut plain),
            _ => flate2::read::GzDecoder::new(compressed).read_to_end(&mut plain),
        }
        .unwrap();
        plain
    }

    #[tokio::test]
    async fn assets_are_compressed_and_revalidated() {
        let (_dir, service) = engine(&[], Config::default());
        let router = router(service).unwrap();
        let plain = get(&router, "/static/style.css").await;
        assert_eq!(plain.header("content-type"), "text/css; charset=utf-8");
        for coding in ["gzip", "br"] {
            let reply = get_with(&router, "/static/style.css", &[("accept-encoding", coding)]).await;
            assert_eq!(reply.header("content-encoding"), coding);
            assert_eq!(reply.headers.get_all("content-encoding").iter().count(), 1, "compressed once");
            assert!(reply.bytes.len() < plain.bytes.len() / 3);
            assert_eq!(reply.header("etag"), plain.header("etag"));
            assert_eq!(reply.header("vary"), "Accept-Encoding");
            assert_eq!(decompressed(coding, &reply.bytes), plain.bytes);
        }
        let known = get_with(&router, "/static/style.css", &[("if-none-match", plain.header("etag"))]).await;
        assert_eq!((known.status, known.bytes.len()), (StatusCode::NOT_MODIFIED, 0));
        let versioned = get(&router, assets::style_href()).await;
        assert!(versioned.header("cache-control").contains("immutable"));
        assert!(get(&router, "/favicon.ico").await.bytes.starts_with(&[0, 0, 1, 0]));
        let robots = get(&router, "/robots.txt").await;
        assert!(robots.text().contains("Disallow: /snapshot\nDisallow: /clean\n"));
        assert!(robots.text().contains("\nDisallow: /admin\n"));
        for desk in [assets::desk_style_href(), assets::desk_script_href()] {
            assert!(get(&router, desk).await.header("cache-control").contains("immutable"), "{desk}");
        }
        let description = get(&router, "/opensearch.xml").await;
        let template = "template=\"http://localhost/search?q={searchTerms}&amp;page={startPage?}";
        assert!(description.text().contains(&format!("type=\"text/html\" method=\"get\" {template}\"")));
        let feed = format!(
            "type=\"application/rss+xml\" rel=\"results\" method=\"get\" {template}&amp;format=rss\""
        );
        assert!(description.text().contains(&feed), "{}", description.text());
    }

    #[tokio::test]
    async fn metrics_are_for_the_local_machine_and_keyed_clients() {
        let mut config = Config::default();
        config.web.api_keys = vec!["secret".into()];
        config.set("web.behind_proxy", "192.0.2.1", "test").unwrap();
        config.set("web.metrics_allow", "127.0.0.1,198.51.100.0/24", "test").unwrap();
        let (_dir, service) = engine(&PAGES, config);
        let router = router(service).unwrap();
        let status = async |from: [u8; 4], headers: &[(&str, &str)]| {
            let from = Some(ConnectInfo(SocketAddr::from((from, 50_000))));
            send_from(&router, from, Method::GET, "/metrics", headers, "").await.status
        };
        let (local, proxy, other) = ([127, 0, 0, 1], [192, 0, 2, 1], [203, 0, 113, 5]);
        assert_eq!(status(local, &[]).await, StatusCode::OK);
        assert_eq!(status([198, 51, 100, 9], &[]).await, StatusCode::OK, "in web.metrics_allow");
        assert_eq!(status(other, &[("api-key", "secret")]).await, StatusCode::OK);
        assert_eq!(status(proxy, &[("x-forwarded-for", "198.51.100.9")]).await, StatusCode::OK);
        for (from, headers) in [
            (other, ("accept", "text/plain")),
            (other, ("api-key", "guess")),
            (other, ("x-forwarded-for", "127.0.0.1")),
            (proxy, ("x-forwarded-for", "127.0.0.1")),
            (proxy, ("x-forwarded-for", "unknown")),
            (proxy, ("x-forwarded-for", "203.0.113.5")),
            (proxy, ("via", "1.1 proxy")),
            (local, ("x-forwarded-for", "203.0.113.5")),
            (local, ("host", "evil.example")),
        ] {
            assert_eq!(status(from, &[headers]).await, StatusCode::FORBIDDEN, "{from:?} {headers:?}");
        }
    }

    #[tokio::test]
    async fn unknown_hosts_are_not_repeated() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let snapshot = PAGES[0].cached_page();
        for path in [
            "/",
            "/opensearch.xml",
            "/search?q=lighthouse",
            "/search?q=lighthouse&format=rss",
            "/api/v1/search?q=lighthouse",
            "/api",
            "/api/v1/openapi.json",
            "/snapshot?url=https://www.example.org/a",
            &snapshot,
            "/clean?url=https://www.example.org/a",
            "/bot",
            "/robots.txt",
            "/nothing",
            "/admin",
        ] {
            for headers in [
                &[("host", "evil.example:81")] as &[(&str, &str)],
                &[("x-forwarded-host", "evil.example"), ("x-forwarded-for", "192.0.2.1")],
                &[("forwarded", "for=192.0.2.1;host=evil.example;proto=https")],
            ] {
                let reply = get_with(&router, path, headers).await;
                assert!(!reply.text().contains("evil.example"), "{path}: {}", reply.text());
                assert!(!format!("{:?}", reply.headers).contains("evil.example"), "{path}");
            }
        }
        for path in ["/opensearch.xml", "/search?q=lighthouse&format=rss"] {
            let reply = get_with(&router, path, &[("host", "search.lan")]).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{path}");
            assert!(reply.text().contains("web.hosts"), "{path}: {}", reply.text());
        }
        let mut config = Config::default();
        config.web.hosts = vec!["search.lan".into()];
        let (_dir, service) = engine(&PAGES, config);
        let router = super::router(service).unwrap();
        let reply = get_with(&router, "/opensearch.xml", &[("host", "search.lan:8080")]).await;
        assert!(reply.text().contains("http://search.lan:8080/search"), "{}", reply.text());
    }

    /// A response that a shared cache may store must not depend on anything but the URL and what `Vary` names.
    #[tokio::test]
    async fn shared_caches_cannot_be_poisoned() {
        let mut config = Config::default();
        config.web.cors = vec!["https://b.example".into()];
        config.set("web.behind_proxy", "127.0.0.1", "test").unwrap();
        let (_dir, service) = engine(&PAGES, config);
        let router = router(service).unwrap();
        let variants = [
            ("host", "evil.example"),
            ("x-forwarded-host", "evil.example"),
            ("forwarded", "for=192.0.2.1;host=evil.example;proto=https"),
            ("x-forwarded-prefix", "//evil.example"),
            ("x-forwarded-proto", "https"),
            ("x-original-url", "/admin"),
            ("x-http-method-override", "POST"),
            ("accept-language", "zh"),
            ("cookie", "pharos_lang=zh; pharos_theme=dark; pharos_keys=off"),
            ("origin", "https://b.example"),
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("accept", "application/json"),
            ("range", "bytes=0-1"),
            ("api-key", "guess"),
        ];
        let snapshot = PAGES[0].cached_page();
        let content = format!("{snapshot}/content");
        let more = [
            "/opensearch.xml",
            "/suggest?q=l",
            "/bot",
            "/api",
            "/api/v1/hot",
            "/api/v1/stats",
            "/api/v1/openapi.json",
            "/api/v1/suggest?q=l",
            "/api/v1/page?url=https://www.example.org/a",
            "/search?q=lighthouse&format=rss",
            "/search?q=lighthouse&format=json",
            "/static/pharos.js",
            "/static/desk.css",
            "/readyz",
            "/admin",
            assets::style_href(),
            &snapshot,
            &content,
        ];
        for path in ROUTES.into_iter().chain(more) {
            let plain = get(&router, path).await;
            let control = plain.header("cache-control");
            assert!(
                !control.is_empty() || !plain.status.is_success(),
                "{path} does not say who may store it"
            );
            if control.contains("private") || control.contains("no-store") {
                continue;
            }
            for (name, value) in variants {
                let reply = get_with(&router, path, &[(name, value)]).await;
                assert!(!reply.headers.contains_key("set-cookie"), "{path} {name}");
                let varies = reply.headers.get_all("vary").iter();
                let varies = varies.map(|vary| vary.to_str().unwrap().to_lowercase()).collect::<String>();
                let is_same = reply.status == plain.status && reply.bytes == plain.bytes;
                assert!(is_same || varies.contains(name), "{path} depends on {name}: {value}");
                let allowed = reply.header("access-control-allow-origin");
                assert!(allowed.is_empty() || varies.contains("origin"), "{path} {name}: {value}");
            }
        }
    }

    #[tokio::test]
    async fn requests_without_a_unique_host_are_rejected() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        for hosts in
            [&[("host", "a"), ("host", "a")] as &[_], &[("host", "a"), ("host", "b")], &[("host", "a b")]]
        {
            let reply = get_with(&router, "/", hosts).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{hosts:?}");
            assert_eq!(reply.header("x-content-type-options"), "nosniff");
        }
    }

    #[tokio::test]
    async fn health_and_metrics_are_served() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        assert_eq!(get(&router, "/healthz").await.text(), "ok\n");
        assert_eq!(get(&router, "/readyz").await.text(), "ready\n");
        get(&router, "/search?q=lighthouse").await;
        get(&router, "/no/such/page").await;
        let reply = get(&router, "/metrics").await;
        assert!(reply.header("content-type").starts_with("text/plain; version=0.0.4"));
        for part in [
            "pharos_http_requests_total{route=\"/search\",status=\"200\"} ",
            "pharos_http_requests_total{route=\"other\",status=\"404\"} ",
            "pharos_http_request_duration_seconds_bucket{route=\"/search\",le=\"0.001\"} ",
            "pharos_query_duration_seconds_count ",
            "pharos_stage_seconds_bucket{stage=\"candidates\",le=\"0.001\"} ",
            "pharos_stage_seconds_count{stage=\"wait\"} ",
            "pharos_searchable_pages ",
        ] {
            assert!(reply.text().contains(part), "{part} is missing in {}", reply.text());
        }
    }
}
