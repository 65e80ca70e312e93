//! `/api/v1/suggest` and `/api/v1/hot`: query suggestions and hot queries.

use axum::Json;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pharos_mining::queries::frequency::{HotQuery, RisingQuery};
use pharos_mining::queries::hot_words::HotWord;
use pharos_mining::{LogStatistics, TimeWindow};
use pharos_query::Suggestion;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::params::{Integer, Params};
use super::problem::ApiError;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

/// Parameters of `/api/v1/suggest`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SuggestParams {
    /// Text typed so far; a trailing space marks the last word as complete.
    #[serde(default)]
    #[param(example = "light")]
    q: String,
    /// Number of suggestions.
    #[param(inline)]
    count: Option<SuggestionCount>,
}

type SuggestionCount = Integer<1, 50>;

/// Suggestions for a partial query.
#[derive(Serialize, ToSchema)]
pub(crate) struct SuggestAnswer {
    /// Text typed so far.
    query: String,
    /// Id of the impression, for reporting clicks.
    impression: String,
    /// Suggestions, best first.
    suggestions: Vec<Suggestion>,
}

/// Query suggestions.
#[utoipa::path(
    get,
    path = "/api/v1/suggest",
    tag = "Search",
    params(SuggestParams),
    responses(
        (status = 200, description = "Suggestions, best first", body = SuggestAnswer),
        (status = 400, description = "A parameter is invalid")
    )
)]
pub(crate) async fn suggest(
    State(app): State<AppState>,
    Params(params): Params<SuggestParams>,
) -> Result<Response, ApiError> {
    let count = SuggestionCount::count_or(params.count, app.config().suggest.count);
    let query = typed_text(&params.q, &app);
    let suggestions = app.suggest(&query, count)?;
    let texts = suggestions.iter().map(|suggestion| suggestion.text.clone()).collect();
    let impression = app.service().search.log_suggestions(&query, texts);
    let answer = SuggestAnswer { query, impression, suggestions };
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(answer)).into_response())
}

/// `GET /suggest?q=…`: OpenSearch suggestions for browsers.
pub(crate) async fn for_browsers(
    State(app): State<AppState>,
    visitor: Visitor,
) -> Result<Response, ServiceError> {
    let typed = typed_text(visitor.param("q").unwrap_or_default(), &app);
    let suggestions: Vec<String> = app
        .suggest(&typed, app.config().suggest.count)?
        .into_iter()
        .map(|suggestion| suggestion.text)
        .collect();
    let body = json!([typed, suggestions]).to_string();
    app.service().search.log_suggestions(&typed, suggestions);
    let headers = [(CONTENT_TYPE, "application/x-suggestions+json"), (CACHE_CONTROL, "private, no-cache")];
    Ok((headers, body).into_response())
}

/// Parameters of `/api/v1/hot`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HotParams {
    /// The list: most frequent queries of the window (`top`) or since midnight UTC (`today`), fastest rising queries (`rising`),
    /// words of queries that are asked now (`words`), or number of queries in each of the last 24 hours (`hours`).
    #[serde(default)]
    #[param(default = HotList::default)]
    list: HotList,
    /// Time window of `top` and `rising`.
    #[serde(default)]
    #[param(default = HotWindow::default)]
    window: HotWindow,
    /// Number of queries.
    #[param(inline)]
    count: Option<HotCount>,
    /// With `hours`: only this query.
    q: Option<String>,
}

type HotCount = Integer<1, 100>;

/// A list of hot queries.
#[derive(Clone, Copy, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HotList {
    #[default]
    Top,
    Today,
    Rising,
    Words,
    Hours,
}

/// A time window.
#[derive(Clone, Copy, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HotWindow {
    Hour,
    #[default]
    Day,
}

/// The requested list. Only queries of several visitors are published.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct HotAnswer {
    /// Most frequent queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    top: Option<Vec<HotQuery>>,
    /// Most frequent queries since midnight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    today: Option<Vec<HotQuery>>,
    /// Fastest rising queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rising: Option<Vec<RisingQuery>>,
    /// Hottest words of queries; a rising query makes its words hotter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    words: Option<Vec<HotWord>>,
    /// Number of queries per hour, current hour last; empty if there are too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hours: Option<Vec<u64>>,
}

impl HotAnswer {
    /// Builds the response; the list is empty without log statistics.
    fn new(
        memory: Option<&LogStatistics>,
        list: HotList,
        window: HotWindow,
        count: usize,
        query: Option<&str>,
    ) -> Self {
        let window = match window {
            HotWindow::Hour => TimeWindow::Hour,
            HotWindow::Day => TimeWindow::Day,
        };
        let hours = |memory: &LogStatistics| match query {
            Some(query) => memory.hourly(query).unwrap_or_default(),
            None => memory.hourly_total(),
        };
        let mut answer = Self::default();
        match list {
            HotList::Top => answer.top = Some(memory.map(|m| m.top(window, count)).unwrap_or_default()),
            HotList::Today => answer.today = Some(memory.map(|m| m.top_today(count)).unwrap_or_default()),
            HotList::Rising => {
                answer.rising = Some(memory.map(|m| m.rising(window, count)).unwrap_or_default())
            }
            HotList::Words => answer.words = Some(memory.map(|m| m.hot_words(count)).unwrap_or_default()),
            HotList::Hours => answer.hours = Some(memory.map(hours).unwrap_or_default()),
        }
        answer
    }
}

/// Hot queries.
#[utoipa::path(
    get,
    path = "/api/v1/hot",
    tag = "Search",
    params(HotParams),
    responses(
        (status = 200, description = "The requested list", body = HotAnswer),
        (status = 400, description = "A parameter is invalid")
    )
)]
pub(crate) async fn hot(
    State(app): State<AppState>,
    Params(params): Params<HotParams>,
) -> Result<Response, ApiError> {
    let HotParams { list, window, count, q: query } = params;
    let count = HotCount::count_or(count, app.config().hot.shown);
    let answer = app
        .with_statistics(move |memory| {
            Some(HotAnswer::new(Some(memory), list, window, count, query.as_deref()))
        })
        .await?;
    // The logs are not read yet.
    let answer = answer.unwrap_or_else(|| HotAnswer::new(None, list, window, count, None));
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(answer)).into_response())
}

/// Returns the typed text with its trailing space; texts longer than any query count as empty.
fn typed_text(typed: &str, app: &AppState) -> String {
    let limit = app.config().query.max_length;
    if typed.chars().nth(limit).is_some() {
        String::new()
    } else {
        typed.chars().filter(|c| !c.is_control()).collect()
    }
}
