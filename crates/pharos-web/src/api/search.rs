//! `/api/v1/search`: the same response as `pharos search --json`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_query::{Age, Filters, ResultOptions, SearchRequest, SearchResponse};
use utoipa::{IntoParams, ToSchema};

use super::formats::rss;
use super::params::ApiParams;
use super::problem::ApiError;
use crate::pages::paging::MAX_PAGE;
use crate::pages::results::search_params::{self, SearchParam};
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// Maximum number of results per page.
const MAX_SIZE: u64 = 100;

/// Parameters of `/api/v1/search`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApiSearchParams {
    /// Query in the query language of the search page: `"phrase"`, `-word`, `a OR b`, `site:`, `intitle:`, `lang:`,
    /// `filetype:`, `before:`, `after:`, `link:`, `related:` and more. Longer queries than the maximum length are truncated.
    #[param(pattern = r"[^\s\x00-\x1f\x7f-\x9f]", example = "lighthouse")]
    q: String,
    /// Number of the result page.
    #[param(required = false, minimum = 1, maximum = 1_000_000, default = 1)]
    page: u32,
    /// Results per page; defaults to the page size of the search page.
    #[param(required = false, minimum = 1, maximum = 100, example = 3)]
    size: u32,
    /// Order of the results: by relevance, or newest first.
    #[param(required = false, value_type = Sort, default = "relevance")]
    sort: bool,
    /// Include duplicates and near-duplicates as separate results, and any number of results per site.
    #[param(required = false, value_type = Switch)]
    all: bool,
    /// Also return pages that contain only some of the words.
    #[param(required = false, value_type = Switch)]
    any: bool,
    /// Include the components of each score.
    #[param(required = false, value_type = Switch)]
    explain: bool,
    /// Include counts by site, language, file type, category and time.
    #[param(required = false, value_type = Switch)]
    facets: bool,
    /// `generation` of the first page of results: further pages refer to the same state of the index.
    #[param(required = false, value_type = String)]
    generation: Option<String>,
    /// Filters, documented as `FilterParams`.
    #[param(ignore)]
    filters: Filters,
    /// Format of the response: JSON, or RSS with OpenSearch elements.
    #[param(required = false, value_type = AnswerForm, default = "json")]
    format: AnswerForm,
}

/// Filters beside the query; facets list their possible values.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) struct FilterParams {
    /// Only pages of this site or directory.
    #[param(required = false)]
    site: String,
    /// Only pages in this language: `en`, `zh`.
    #[param(rename = "in", required = false)]
    lang: String,
    /// Only files of this type: `html`, `pdf`.
    #[param(rename = "type", required = false)]
    format: String,
    /// Only pages of this category.
    #[param(required = false)]
    category: String,
    /// Only pages dated within this period.
    #[param(required = false, value_type = Time)]
    time: String,
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
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) enum Sort {
    Relevance,
    Date,
}

/// Maximum age of pages.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) enum Time {
    Day,
    Week,
    Month,
    Year,
}

/// Format of a response.
#[derive(Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum AnswerForm {
    Json,
    Rss,
}

impl ApiSearchParams {
    fn read(params: ApiParams<'_>, app: &AppState) -> Result<Self, ApiError> {
        let config = &app.config().query;
        params.text("q")?;
        let q = params.0.query(config.max_length);
        if q.is_empty() {
            return Err(ApiError::bad_request(
                "parameter `q` is missing or empty: use ?q= followed by the query",
            ));
        }
        let number = |name, default: usize, most| {
            params.count(name, default, most).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        };
        let sort = params.choice("sort", &[("relevance", false), ("date", true)])?;
        let format = params.choice("format", &[("json", AnswerForm::Json), ("rss", AnswerForm::Rss)])?;
        Ok(Self {
            q,
            page: number("page", 1, MAX_PAGE as u64)?,
            size: number("size", config.page_size, MAX_SIZE)?,
            sort: sort.unwrap_or_default(),
            all: params.flag("all")?,
            any: params.flag("any")?,
            explain: params.flag("explain")?,
            facets: params.flag("facets")?,
            generation: params.text("generation")?.map(String::from),
            filters: filters(params)?,
            format: format.unwrap_or(AnswerForm::Json),
        })
    }
}

/// Reads the filters strictly: invalid periods and repeated parameters are errors.
fn filters(params: ApiParams<'_>) -> Result<Filters, ApiError> {
    for choice in [SearchParam::Site, SearchParam::Lang, SearchParam::Format, SearchParam::Category] {
        params.text(choice.param())?;
    }
    params.choice(SearchParam::Time.param(), &Age::ALL.map(|age| (age.name(), age)))?;
    Ok(search_params::filters(params.0))
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
pub(crate) async fn search(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ApiError> {
    let params = ApiSearchParams::read(ApiParams(&visitor), &app)?;
    let request = SearchRequest {
        text: params.q,
        page: params.page as usize,
        size: params.size as usize,
        options: ResultOptions { all: params.all, newest_first: params.sort, any_word: params.any },
        explain: params.explain,
        facets: params.facets,
        generation: params.generation,
        filters: params.filters,
    };
    let answer = app.search(request.clone()).await?;
    app.log_response(&visitor, "api", &request, &answer);
    if params.format == AnswerForm::Rss {
        return Ok(rss::feed(&visitor, app.config(), &request, &answer));
    }
    Ok(json_answer(answer))
}

/// Returns results as JSON that shared caches must not store.
pub(super) fn json_answer(answer: SearchResponse) -> Response {
    let mut response = Json(answer).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}
