//! `/api/v1/search`: the same response as `pharos search --json`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_core::config::QueryConfig;
use pharos_query::{Age, Filters, ResultOptions, SearchRequest, SearchResponse};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::api_keys::KeyScope;
use super::formats::rss;
use super::params::{Integer, PageNumber, Params};
use super::problem::ApiError;
use crate::pages::results::search_params::filter_value;
use crate::server::visitor::{Visitor, query_text};
use crate::state::AppState;

/// Response to a search without a query.
pub(super) const MISSING_QUERY: &str = "parameter `q` is missing or empty: use ?q= followed by the query";

/// Parameters of `/api/v1/search`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApiSearchParams {
    /// Query in the query language of the search page: `"phrase"`, `-word`, `a OR b`, `site:`, `intitle:`, `lang:`,
    /// `filetype:`, `before:`, `after:`, `link:`, `related:` and more. Longer queries than the maximum length are truncated.
    #[serde(default)]
    #[param(required, pattern = r"[^\s\x00-\x1f\x7f-\x9f]", example = "lighthouse")]
    q: String,
    /// Number of the result page.
    #[serde(default)]
    #[param(inline)]
    page: PageNumber,
    /// Results per page; defaults to the page size of the search page.
    #[param(inline, example = 3)]
    size: Option<ResultCount>,
    /// Order of the results: by relevance, or newest first.
    #[serde(default)]
    #[param(default = Sort::default)]
    sort: Sort,
    /// Include duplicates and near-duplicates as separate results, and any number of results per site.
    #[serde(default)]
    #[param(value_type = Switch)]
    all: bool,
    /// Also return pages that contain only some of the words.
    #[serde(default)]
    #[param(value_type = Switch)]
    any: bool,
    /// Return the results of the query as typed, even if there are none and a correction is certain.
    #[serde(default)]
    #[param(value_type = Switch)]
    as_typed: bool,
    /// Include the components of each score.
    #[serde(default)]
    #[param(value_type = Switch)]
    explain: bool,
    /// Include counts by site, language, file type, category and time.
    #[serde(default)]
    #[param(value_type = Switch)]
    facets: bool,
    /// `generation` of the first page of results: further pages refer to the same state of the index.
    generation: Option<String>,
    /// Format of the response: JSON, or RSS with OpenSearch elements.
    #[serde(default)]
    #[param(default = AnswerForm::default)]
    format: AnswerForm,
}

/// Number of results on a page.
pub(super) type ResultCount = Integer<1, 100>;

/// Filters beside the query; facets list their possible values.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilterParams {
    /// Only pages of this site or directory.
    site: Option<String>,
    /// Only pages in this language: `en`, `zh`.
    #[serde(rename = "in")]
    lang: Option<String>,
    /// Only files of this type: `html`, `pdf`.
    #[serde(rename = "type")]
    format: Option<String>,
    /// Only pages of this category.
    category: Option<String>,
    /// Only pages dated within this period.
    time: Option<Age>,
}

/// On (`1`, `true`) or off (`0`, `false`).
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) enum Switch {
    #[schema(rename = "1")]
    One,
    #[schema(rename = "0")]
    Zero,
    True,
    False,
}

/// Order of results.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sort {
    #[default]
    Relevance,
    Date,
}

/// Format of a response.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerForm {
    #[default]
    Json,
    Rss,
}

impl ApiSearchParams {
    fn into_request(
        self,
        filters: FilterParams,
        within: Vec<String>,
        config: &QueryConfig,
    ) -> Result<SearchRequest, ApiError> {
        let text = query_text(&self.q, config.max_length);
        if text.is_empty() {
            return Err(ApiError::bad_request(MISSING_QUERY));
        }
        Ok(SearchRequest {
            text,
            page: self.page.get(),
            size: ResultCount::count_or(self.size, config.page_size),
            options: ResultOptions {
                all: self.all,
                newest_first: self.sort == Sort::Date,
                any_word: self.any,
                as_typed: self.as_typed,
            },
            explain: self.explain,
            facets: self.facets,
            generation: self.generation,
            filters: Filters { within, ..filters.into() },
        })
    }
}

impl From<FilterParams> for Filters {
    fn from(given: FilterParams) -> Self {
        let text = |value: Option<String>| value.as_deref().and_then(filter_value);
        Self {
            site: text(given.site),
            lang: text(given.lang),
            format: text(given.format),
            category: text(given.category),
            time: given.time,
            within: Vec::new(),
        }
    }
}

/// Search.
#[utoipa::path(
    get,
    path = "/api/v1/search",
    tag = "Search",
    params(ApiSearchParams, FilterParams),
    responses(
        (status = 200, description = "A page of results", content(
            (SearchResponse = "application/json"),
            (String = "application/rss+xml")
        )),
        (status = 400, description = "A parameter is missing or invalid")
    )
)]
pub(crate) async fn search(
    State(app): State<AppState>,
    visitor: Visitor,
    scope: KeyScope,
    Params(params): Params<ApiSearchParams>,
    Params(filters): Params<FilterParams>,
) -> Result<Response, ApiError> {
    let format = params.format;
    let request = params.into_request(filters, scope.sites(), &app.config().query)?;
    let answer = app.search(request.clone()).await?;
    app.log_response(&visitor, "api", &request, &answer);
    Ok(match format {
        AnswerForm::Json => json_answer(answer),
        AnswerForm::Rss => rss::feed(&visitor, app.config(), &request, &answer),
    })
}

/// Returns results as JSON that shared caches must not store.
pub(super) fn json_answer(answer: SearchResponse) -> Response {
    let mut response = Json(answer).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}
