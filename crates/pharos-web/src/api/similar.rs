//! `/api/v1/similar`: pages similar to one.

use axum::extract::State;
use axum::response::Response;
use pharos_query::SearchResponse;
use serde::Deserialize;
use utoipa::IntoParams;

use super::api_keys::KeyScope;
use super::params::{Params, UrlParam};
use super::problem::ApiError;
use super::search::{ResultCount, json_answer};
use crate::state::AppState;

/// Parameters of `/api/v1/similar`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SimilarParams {
    /// Full URL of a searchable page.
    #[serde(default)]
    #[param(inline, required, example = "https://www.example.org/")]
    url: UrlParam,
    /// Number of pages; defaults to the page size of the search page.
    #[param(inline)]
    size: Option<ResultCount>,
}

/// Similar pages.
///
/// Equivalent to a search for `related:` followed by the URL.
#[utoipa::path(
    get,
    path = "/api/v1/similar",
    tag = "Search",
    params(SimilarParams),
    responses(
        (status = 200, description = "Similar pages, most similar first", body = SearchResponse),
        (status = 400, description = "A parameter is missing or invalid"),
        (status = 404, description = "The page is not searchable")
    )
)]
pub(crate) async fn similar(
    State(app): State<AppState>,
    scope: KeyScope,
    Params(params): Params<SimilarParams>,
) -> Result<Response, ApiError> {
    let url = params.url.parse()?;
    scope.check_page(&url)?;
    let size = ResultCount::count_or(params.size, app.config().query.page_size);
    if app.indexed_page(url.clone()).await?.is_none() {
        return Err(ApiError::not_found("this page is not searchable"));
    }
    Ok(json_answer(app.similar(url, size, scope.sites()).await?))
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use pharos_core::Config;
    use serde_json::Value;

    use crate::router;
    use crate::testing::{TestPage, engine, get};

    #[tokio::test]
    async fn similar_pages_are_found() {
        let text = "The lighthouse keepers light the lamp of the lighthouse.";
        let (_dir, service) = engine(
            &[
                TestPage::new("https://www.example.org/(a)", "Lighthouse", text),
                TestPage::new("https://b.example/b", "Lighthouses", "Lighthouse keepers light a lamp."),
                TestPage::new("https://c.example/c", "Tea", "Nothing of the kind."),
            ],
            Config::default(),
        );
        let router = router(service).unwrap();
        let reply = get(&router, "/api/v1/similar?url=https://www.example.org/(a)&size=5").await;
        assert_eq!(reply.status, StatusCode::OK);
        let answer: Value = serde_json::from_slice(&reply.bytes).unwrap();
        let urls: Vec<&str> =
            answer["hits"].as_array().unwrap().iter().map(|hit| hit["url"].as_str().unwrap()).collect();
        assert_eq!(urls, ["https://b.example/b"]);
        assert!(answer["corrected"].is_null());
        for (path, status) in [
            ("?url=https://www.example.org/none", StatusCode::NOT_FOUND),
            ("?url=none", StatusCode::BAD_REQUEST),
            ("", StatusCode::BAD_REQUEST),
            ("?url=https://b.example/b&size=101", StatusCode::BAD_REQUEST),
        ] {
            let reply = get(&router, &format!("/api/v1/similar{path}")).await;
            assert_eq!(
                (reply.status, reply.header("content-type")),
                (status, "application/problem+json"),
                "{path}"
            );
        }
    }
}
