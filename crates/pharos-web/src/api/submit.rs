//! `/api/v1/submit`: submits a URL for crawling.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use pharos_core::PageUrl;
use serde::{Deserialize, Serialize};
use url::form_urlencoded;
use utoipa::ToSchema;

use super::api_keys::KeyScope;
use super::problem::ApiError;
use crate::server::origin::is_same_site;
use crate::server::visitor::Visitor;
use crate::state::AppState;
use crate::state::submission::{FULL_RETRY_SECONDS, Submitted};

/// A URL to be crawled.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Submission {
    /// Full URL of a page.
    #[schema(
        pattern = r"^https?://([A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(:[0-5]?[0-9]{1,4})?(/[!-~]*)?$",
        max_length = 2047,
        examples("https://www.example.org/")
    )]
    url: String,
}

/// Outcome of a submission.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubmissionAnswer {
    /// Normalised URL.
    url: String,
    /// Outcome.
    outcome: SubmissionOutcome,
    /// The outcome in words.
    detail: &'static str,
}

/// Outcome of a submission.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SubmissionOutcome {
    /// An operator will decide.
    Proposed,
    /// Queued for fetching.
    Queued,
    /// Submitted before; the decision is pending.
    Waiting,
    /// Already known.
    Known,
}

/// Submit a URL.
///
/// Depending on the settings, an operator decides about the URL or it is queued for fetching. Forms are accepted only from
/// pages of this site and from programs.
#[utoipa::path(
    post,
    path = "/api/v1/submit",
    tag = "Pages",
    request_body(content((Submission = "application/json"), (Submission = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "Nothing to do: the URL is already known", body = SubmissionAnswer),
        (status = 202, description = "Accepted", body = SubmissionAnswer),
        (status = 400, description = "Invalid URL, or a URL that is not fetched"),
        (status = 403, description = "Submissions are disabled, or the form belongs to another site"),
        (status = 409, description = "An operator has declined this URL"),
        (status = 413, description = "The body is too large"),
        (status = 415, description = "The body is neither JSON nor a form")
    )
)]
pub(crate) async fn submit(
    State(app): State<AppState>,
    visitor: Visitor,
    scope: KeyScope,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let url = match kind.as_str() {
        "application/json" => {
            serde_json::from_slice::<Submission>(&body).ok().map(|submission| submission.url)
        }
        "application/x-www-form-urlencoded" => {
            // Browsers send a preflight request before posting JSON to another site, but not before posting a form.
            if !is_same_site(&visitor, &headers, &app.config().web) {
                return Err(ApiError::new(
                    StatusCode::FORBIDDEN,
                    "forms are accepted only from pages of this site",
                ));
            }
            only_url(&body)
        }
        _ => {
            let detail = "the body must be application/json or application/x-www-form-urlencoded";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
    };
    let url = url.ok_or_else(|| {
        ApiError::bad_request(
            "the body must have exactly one string `url`: {\"url\":\"https://www.example.org/\"}",
        )
    })?;
    let url = PageUrl::parse(&url).map_err(|_| {
        ApiError::bad_request(
            "`url` is not a valid URL: write it in full, for example https://www.example.org/",
        )
    })?;
    scope.check_page(&url)?;
    let submitted = app.submit(&visitor, url.clone()).await?;
    answer(url.as_str(), submitted)
}

/// Returns the field `url` of a form that contains it exactly once.
fn only_url(form: &[u8]) -> Option<String> {
    let mut urls = form_urlencoded::parse(form).filter(|(name, _)| name == "url").map(|(_, value)| value);
    let url = urls.next()?.into_owned();
    urls.next().is_none().then_some(url)
}

fn answer(url: &str, submitted: Submitted) -> Result<Response, ApiError> {
    let accepted = |status: StatusCode, outcome, detail| {
        let answer = SubmissionAnswer { url: url.to_string(), outcome, detail };
        Ok((status, Json(answer)).into_response())
    };
    let retry_later = |status, detail: &str, seconds| {
        Err(ApiError::Client { status, detail: detail.to_string(), retry_after: Some(seconds) })
    };
    match submitted {
        Submitted::Proposed => accepted(
            StatusCode::ACCEPTED,
            SubmissionOutcome::Proposed,
            "thank you: an operator will decide whether the page is fetched",
        ),
        Submitted::Queued => accepted(
            StatusCode::ACCEPTED,
            SubmissionOutcome::Queued,
            "thank you: the page will be fetched, if robots.txt of its server allows it",
        ),
        Submitted::ProposedBefore => accepted(
            StatusCode::OK,
            SubmissionOutcome::Waiting,
            "the URL was submitted before and awaits a decision",
        ),
        Submitted::Known => accepted(
            StatusCode::OK,
            SubmissionOutcome::Known,
            "the page is already known: see /api/v1/page?url=…",
        ),
        Submitted::Declined => Err(ApiError::new(StatusCode::CONFLICT, "this URL is not accepted here")),
        Submitted::Off => Err(ApiError::new(StatusCode::FORBIDDEN, "submissions are disabled")),
        Submitted::OutOfReach => Err(ApiError::bad_request(
            "this URL is not fetched: it is not a page, or not on the public internet",
        )),
        Submitted::TooOften(seconds) => retry_later(
            StatusCode::TOO_MANY_REQUESTS,
            "too many submissions from your address: please wait",
            seconds,
        ),
        Submitted::Full => retry_later(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many submissions await a decision: try again later",
            FULL_RETRY_SECONDS,
        ),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use pharos_core::config::SubmissionPolicy;
    use pharos_core::{Config, PageUrl, Timestamp};
    use pharos_engine::Order;
    use pharos_engine::control::orders::pending_orders;
    use pharos_store::DataDir;
    use pharos_store::catalog::{CatalogChange, DiscoveredLink, Removal};
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::router;
    use crate::testing::{Reply, apply_changes, engine, post, send};

    const JSON: &str = "application/json";
    const FORM: &str = "application/x-www-form-urlencoded";

    fn served(change: impl FnOnce(&mut Config)) -> (TempDir, Router) {
        let mut config = Config::default();
        change(&mut config);
        let (dir, service) = engine(&[], config);
        (dir, router(service).unwrap())
    }

    async fn submit_to(router: &Router, url: &str) -> Reply {
        post(router, "/api/v1/submit", JSON, &json!({ "url": url }).to_string()).await
    }

    fn outcome(reply: &Reply) -> String {
        let json: Value = serde_json::from_slice(&reply.bytes).unwrap();
        json["outcome"].as_str().unwrap().to_string()
    }

    /// Returns the orders in the inbox.
    fn orders(dir: &TempDir) -> Vec<Order> {
        let files = std::fs::read_dir(dir.path().join("inbox")).unwrap().flatten();
        files.map(|file| serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()).collect()
    }

    #[tokio::test]
    async fn a_url_is_proposed_or_added_as_an_order() {
        let url = PageUrl::parse("https://new.example/a?b=c").unwrap();
        for (mode, expected, order) in [
            (SubmissionPolicy::Propose, "proposed", Order::Propose(vec![url.clone()])),
            (SubmissionPolicy::Add, "queued", Order::Add(vec![url.clone()])),
        ] {
            let (dir, router) = served(|config| config.web.submit = mode);
            let reply = submit_to(&router, "https://NEW.example:443/a?b=c#d").await;
            assert_eq!((reply.status, outcome(&reply).as_str()), (StatusCode::ACCEPTED, expected));
            let json: Value = serde_json::from_slice(&reply.bytes).unwrap();
            assert_eq!(json["url"], url.as_str());
            let reply =
                post(&router, "/api/v1/submit", FORM, "other=1&url=https%3A%2F%2Fnew.example%2Fa%3Fb%3Dc")
                    .await;
            assert_eq!((reply.status, outcome(&reply).as_str()), (StatusCode::ACCEPTED, expected));
            assert_eq!(orders(&dir), [order], "duplicates are merged");
        }
    }

    #[tokio::test]
    async fn invalid_and_unreachable_urls_are_rejected() {
        let (dir, router) = served(|config| config.web.submit_rate = 1000);
        for url in [
            "",
            "x",
            "ftp://a.example/",
            "javascript:x()",
            "http://",
            "http://[",
            "a.example",
            "http://127.0.0.1/",
            "http://127.1:8080/",
            "http://[::1]/",
            "http://10.0.0.1/",
            "http://169.254.169.254/latest",
            "http://localhost/",
            "http://x.localhost./",
            "https://a.example/robots.txt",
        ] {
            let reply = submit_to(&router, url).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{url}");
            assert_eq!(reply.header("content-type"), "application/problem+json");
        }
        for body in ["", "{", "[]", "{}", "{\"url\":1}", "{\"url\":null}", "\"https://a.example/\""] {
            assert_eq!(
                post(&router, "/api/v1/submit", JSON, body).await.status,
                StatusCode::BAD_REQUEST,
                "{body}"
            );
        }
        for body in ["", "url=", "uri=https://a.example/", "url=https://a.example/&url=https://b.example/"] {
            assert_eq!(
                post(&router, "/api/v1/submit", FORM, body).await.status,
                StatusCode::BAD_REQUEST,
                "{body}"
            );
        }
        for kind in ["", "text/plain", "multipart/form-data", "application/jsonp"] {
            let reply = post(&router, "/api/v1/submit", kind, "{\"url\":\"https://a.example/\"}").await;
            assert_eq!(reply.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
            assert_eq!(reply.header("content-type"), "application/problem+json");
        }
        let long = post(&router, "/api/v1/submit", JSON, &"x".repeat(100_000)).await;
        assert_eq!(
            (long.status, long.header("content-type")),
            (StatusCode::PAYLOAD_TOO_LARGE, "application/problem+json")
        );
        assert_eq!(pending_orders(&DataDir::at(dir.path())), 0);
        let (_dir, router) = served(|config| config.crawl.allow_private = true);
        assert_eq!(submit_to(&router, "http://localhost:8080/").await.status, StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn forms_of_another_site_are_rejected() {
        let (dir, router) = served(|_| {});
        for header in
            [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
        {
            let headers = [("content-type", FORM), header];
            let reply =
                send(&router, axum::http::Method::POST, "/api/v1/submit", &headers, "url=https://a.example/")
                    .await;
            assert_eq!(
                (reply.status, reply.header("content-type")),
                (StatusCode::FORBIDDEN, "application/problem+json")
            );
        }
        assert_eq!(pending_orders(&DataDir::at(dir.path())), 0);
        let headers = [("content-type", FORM), ("origin", "http://localhost")];
        let reply =
            send(&router, axum::http::Method::POST, "/api/v1/submit", &headers, "url=https://a.example/")
                .await;
        assert_eq!(reply.status, StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn known_proposed_and_removed_urls_are_reported() {
        let (dir, router) = served(|_| {});
        let url = |path: &str| PageUrl::parse(&format!("https://a.example/{path}")).unwrap();
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        apply_changes(
            &dir,
            &[
                CatalogChange::Found(DiscoveredLink::new(url("known"), 1, at)),
                CatalogChange::Submitted { url: url("proposed"), at },
                CatalogChange::Decided { url: url("accepted"), at, accepted: true },
                CatalogChange::Decided { url: url("refused"), at, accepted: false },
                CatalogChange::Removed(Removal::Page(url("removed"))),
            ],
        );
        for (path, expected) in [("known", "known"), ("proposed", "waiting"), ("accepted", "known")] {
            let reply = submit_to(&router, url(path).as_str()).await;
            assert_eq!((reply.status, outcome(&reply).as_str()), (StatusCode::OK, expected), "{path}");
        }
        for path in ["refused", "removed"] {
            let reply = submit_to(&router, url(path).as_str()).await;
            assert_eq!(reply.status, StatusCode::CONFLICT, "{path}");
            assert!(!reply.text().contains(path), "the answer does not reveal which of the two it is");
        }
        assert_eq!(submit_to(&router, url("new").as_str()).await.status, StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn submissions_are_limited() {
        let (_dir, router) = served(|config| config.web.submit_rate = 2);
        for n in 0..2 {
            assert_eq!(
                submit_to(&router, &format!("https://a.example/{n}")).await.status,
                StatusCode::ACCEPTED
            );
        }
        let reply = submit_to(&router, "https://a.example/3").await;
        assert_eq!(reply.status, StatusCode::TOO_MANY_REQUESTS);
        assert!((1..=1801).contains(&reply.header("retry-after").parse::<u64>().unwrap()));
        assert_eq!(reply.header("content-type"), "application/problem+json");

        let (dir, router) = served(|config| config.web.submissions = 2);
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        apply_changes(
            &dir,
            &[CatalogChange::Submitted { url: PageUrl::parse("https://a.example/0").unwrap(), at }],
        );
        assert_eq!(submit_to(&router, "https://a.example/1").await.status, StatusCode::ACCEPTED);
        let reply = submit_to(&router, "https://a.example/2").await;
        assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(!reply.header("retry-after").is_empty());

        let (_dir, router) = served(|config| config.web.submit = SubmissionPolicy::Off);
        let reply = submit_to(&router, "https://a.example/").await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (StatusCode::FORBIDDEN, "application/problem+json")
        );
        let (_dir, router) = served(|config| config.web.submit_rate = 0);
        for n in 0..50 {
            let reply = submit_to(&router, &format!("https://a.example/{n}")).await;
            assert_eq!(reply.status, StatusCode::ACCEPTED, "0 is no limit");
        }
    }
}
