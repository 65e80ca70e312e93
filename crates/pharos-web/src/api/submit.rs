//! `/api/v1/submit`: an address that somebody wants to be found here.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use url::form_urlencoded;
use utoipa::ToSchema;

use super::params::address;
use super::problem::Refusal;
use crate::origin::is_from_no_other_site;
use crate::service::Rooms;
use crate::submission::{Submitted, WHEN_FULL};
use crate::visitor::Visitor;

/// An address to fetch.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Submission {
    /// The address of a page, written in full.
    #[schema(
        pattern = r"^https?://([A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(:[0-5]?[0-9]{1,4})?(/[!-~]*)?$",
        max_length = 2047,
        examples("https://www.example.org/")
    )]
    url: String,
}

/// What becomes of a submitted address.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubmissionAnswer {
    /// The address as we write it.
    url: String,
    /// What becomes of it.
    outcome: SubmissionOutcome,
    /// The same in words.
    detail: &'static str,
}

/// What becomes of a submitted address.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SubmissionOutcome {
    /// An operator decides on it.
    Proposed,
    /// It is fetched when its turn comes.
    Queued,
    /// It was submitted before, and nobody has decided yet.
    Waiting,
    /// It is known.
    Known,
}

/// Submit an address.
///
/// It is put before an operator, or fetched when its turn comes, as this engine is set up. Forms are taken from pages of this
/// site and from programs only.
#[utoipa::path(
    post,
    path = "/api/v1/submit",
    tag = "Pages",
    request_body(content((Submission = "application/json"), (Submission = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "There is nothing to do: it is known", body = SubmissionAnswer),
        (status = 202, description = "It was taken", body = SubmissionAnswer),
        (status = 400, description = "This is no address of a page, or one that is not fetched"),
        (status = 403, description = "Nobody may submit here, or a page of another site tried to"),
        (status = 409, description = "An operator does not want this address"),
        (status = 413, description = "The body is too long"),
        (status = 415, description = "The body is neither JSON nor a form")
    )
)]
pub(crate) async fn submit(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let url = match kind.as_str() {
        "application/json" => {
            serde_json::from_slice::<Submission>(&body).ok().map(|submission| submission.url)
        }
        "application/x-www-form-urlencoded" => {
            // A browser asks before it sends JSON to another site, but not before it sends a form.
            if !is_from_no_other_site(&visitor, &headers, &rooms.config().web) {
                return Err(Refusal::new(
                    StatusCode::FORBIDDEN,
                    "forms are taken from pages of this site only",
                ));
            }
            only_url(&body)
        }
        _ => {
            let detail = "the body must be application/json or application/x-www-form-urlencoded";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
    };
    let url = url.ok_or_else(|| {
        Refusal::bad("the body must have one text `url`: {\"url\":\"https://www.example.org/\"}")
    })?;
    let url = address(&url).ok_or_else(|| {
        Refusal::bad("`url` is no address of a page: write it in full, as in https://www.example.org/")
    })?;
    let submitted = rooms.submit(&visitor, url.clone()).await?;
    answer(url.as_str(), submitted)
}

/// The field `url` of a form that has it once.
fn only_url(form: &[u8]) -> Option<String> {
    let mut urls = form_urlencoded::parse(form).filter(|(name, _)| name == "url").map(|(_, value)| value);
    let url = urls.next()?.into_owned();
    urls.next().is_none().then_some(url)
}

fn answer(url: &str, submitted: Submitted) -> Result<Response, Refusal> {
    let told = |status: StatusCode, outcome, detail| {
        let answer = SubmissionAnswer { url: url.to_string(), outcome, detail };
        Ok((status, Json(answer)).into_response())
    };
    let later = |status, detail: &str, seconds| {
        Err(Refusal::Told { status, detail: detail.to_string(), retry_after: Some(seconds) })
    };
    match submitted {
        Submitted::Proposed => told(
            StatusCode::ACCEPTED,
            SubmissionOutcome::Proposed,
            "thank you: it is put before an operator, who decides whether it is fetched",
        ),
        Submitted::Queued => told(
            StatusCode::ACCEPTED,
            SubmissionOutcome::Queued,
            "thank you: it is fetched when its turn comes, if its server's robots.txt allows it",
        ),
        Submitted::ProposedBefore => told(
            StatusCode::OK,
            SubmissionOutcome::Waiting,
            "it was submitted before and waits for an operator",
        ),
        Submitted::Known => told(
            StatusCode::OK,
            SubmissionOutcome::Known,
            "it is known: /api/v1/page?url=… says how it stands",
        ),
        Submitted::Declined => Err(Refusal::new(StatusCode::CONFLICT, "this address is not taken here")),
        Submitted::Off => Err(Refusal::new(StatusCode::FORBIDDEN, "addresses cannot be submitted here")),
        Submitted::OutOfReach => {
            Err(Refusal::bad("this address is not fetched: it is no page, or not on the public internet"))
        }
        Submitted::TooOften(seconds) => later(
            StatusCode::TOO_MANY_REQUESTS,
            "you have submitted many addresses: please wait a while",
            seconds,
        ),
        Submitted::Full => later(
            StatusCode::SERVICE_UNAVAILABLE,
            "many submissions wait for a decision: try again later",
            WHEN_FULL,
        ),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use pharos_core::config::Submit;
    use pharos_core::{Config, PageUrl, Timestamp};
    use pharos_engine::{Order, left_orders};
    use pharos_store::{Change, DataDir, Found, Removal};
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::router;
    use crate::testing::{Reply, ask, engine, know, post};

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

    /// The orders that wait, as they stand in their files.
    fn orders(dir: &TempDir) -> Vec<Order> {
        let files = std::fs::read_dir(dir.path().join("inbox")).unwrap().flatten();
        files.map(|file| serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()).collect()
    }

    #[tokio::test]
    async fn an_address_is_proposed_or_added_and_waits_for_the_owner() {
        let url = PageUrl::parse("https://new.example/a?b=c").unwrap();
        for (mode, expected, order) in [
            (Submit::Propose, "proposed", Order::Propose(vec![url.clone()])),
            (Submit::Add, "queued", Order::Add(vec![url.clone()])),
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
            assert_eq!(orders(&dir), [order], "the same twice is one");
        }
    }

    #[tokio::test]
    async fn what_is_no_address_or_not_fetched_is_refused() {
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
        assert_eq!(left_orders(&DataDir::at(dir.path())), 0);
        let (_dir, router) = served(|config| config.crawl.allow_private = true);
        assert_eq!(submit_to(&router, "http://localhost:8080/").await.status, StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn a_page_of_another_site_submits_nothing() {
        let (dir, router) = served(|_| {});
        for header in
            [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
        {
            let headers = [("content-type", FORM), header];
            let reply =
                ask(&router, axum::http::Method::POST, "/api/v1/submit", &headers, "url=https://a.example/")
                    .await;
            assert_eq!(
                (reply.status, reply.header("content-type")),
                (StatusCode::FORBIDDEN, "application/problem+json")
            );
        }
        assert_eq!(left_orders(&DataDir::at(dir.path())), 0);
        let headers = [("content-type", FORM), ("origin", "http://localhost")];
        let reply =
            ask(&router, axum::http::Method::POST, "/api/v1/submit", &headers, "url=https://a.example/")
                .await;
        assert_eq!(reply.status, StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn what_is_known_proposed_or_taken_out_is_said() {
        let (dir, router) = served(|_| {});
        let url = |path: &str| PageUrl::parse(&format!("https://a.example/{path}")).unwrap();
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        know(
            &dir,
            &[
                Change::Found(Found::new(url("known"), 1, at)),
                Change::Submitted { url: url("proposed"), at },
                Change::Decided { url: url("accepted"), at, accepted: true },
                Change::Decided { url: url("refused"), at, accepted: false },
                Change::Removed(Removal::Page(url("removed"))),
            ],
        );
        for (path, expected) in [("known", "known"), ("proposed", "waiting"), ("accepted", "known")] {
            let reply = submit_to(&router, url(path).as_str()).await;
            assert_eq!((reply.status, outcome(&reply).as_str()), (StatusCode::OK, expected), "{path}");
        }
        for path in ["refused", "removed"] {
            let reply = submit_to(&router, url(path).as_str()).await;
            assert_eq!(reply.status, StatusCode::CONFLICT, "{path}");
            assert!(!reply.text().contains(path), "which of the two it is is nobody's business");
        }
        assert_eq!(submit_to(&router, url("new").as_str()).await.status, StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn there_are_limits() {
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
        know(&dir, &[Change::Submitted { url: PageUrl::parse("https://a.example/0").unwrap(), at }]);
        assert_eq!(submit_to(&router, "https://a.example/1").await.status, StatusCode::ACCEPTED);
        let reply = submit_to(&router, "https://a.example/2").await;
        assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(!reply.header("retry-after").is_empty());

        let (_dir, router) = served(|config| config.web.submit = Submit::Off);
        let reply = submit_to(&router, "https://a.example/").await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (StatusCode::FORBIDDEN, "application/problem+json")
        );
        let (_dir, router) = served(|config| config.web.submit_rate = 0);
        for n in 0..50 {
            let reply = submit_to(&router, &format!("https://a.example/{n}")).await;
            assert_eq!(reply.status, StatusCode::ACCEPTED, "there is no limit");
        }
    }
}
