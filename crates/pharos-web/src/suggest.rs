//! Suggestions while a query is typed, and what many ask.

use axum::Json;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pharos_mining::frequency::{HotQuery, RisingQuery};
use pharos_mining::record::{ImpressionRecord, Shown};
use pharos_mining::{Memory, Window, new_id};
use pharos_query::Suggestion;
use serde::Serialize;
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::api::{Params, Refusal};
use crate::service::Rooms;
use crate::visitor::Visitor;

/// More suggestions than this are not given at once.
const MAX_COUNT: u64 = 50;
/// The same of hot queries.
const MAX_HOT: u64 = 100;

/// What suggestions are asked with.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct SuggestParams {
    /// What was typed so far; a space at the end says that the last word is complete.
    #[param(required = false, example = "light")]
    q: String,
    /// How many suggestions are wanted.
    #[param(required = false, minimum = 1, maximum = 50)]
    count: u32,
}

/// What a query may become.
#[derive(Serialize, ToSchema)]
pub(crate) struct SuggestAnswer {
    /// What was typed.
    query: String,
    /// The name of what is shown, for telling clicks.
    impression: String,
    /// The best first.
    suggestions: Vec<Suggestion>,
}

/// What a query may become.
#[utoipa::path(
    get,
    path = "/api/v1/suggest",
    tag = "Search",
    params(SuggestParams),
    responses(
        (status = 200, description = "Suggestions, the best first", body = SuggestAnswer),
        (status = 400, description = "A parameter is wrong")
    )
)]
pub(crate) async fn suggest(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, Refusal> {
    let params = Params(&visitor);
    params.text("q")?;
    let count = params.size("count", rooms.config().suggest.count, MAX_COUNT)?;
    let query = typed(&visitor, &rooms);
    let suggestions = rooms.suggest(&query, count);
    let impression =
        shown(&rooms, &query, suggestions.iter().map(|suggestion| suggestion.text.clone()).collect());
    let answer = SuggestAnswer { query, impression, suggestions };
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(answer)).into_response())
}

/// `/suggest?q=…`: the form that browsers ask for (OpenSearch suggestions).
pub(crate) async fn for_browsers(State(rooms): State<Rooms>, visitor: Visitor) -> Response {
    let typed = typed(&visitor, &rooms);
    let suggestions: Vec<String> = rooms
        .suggest(&typed, rooms.config().suggest.count)
        .into_iter()
        .map(|suggestion| suggestion.text)
        .collect();
    let body = json!([typed, suggestions]).to_string();
    shown(&rooms, &typed, suggestions);
    let headers = [(CONTENT_TYPE, "application/x-suggestions+json"), (CACHE_CONTROL, "private, no-cache")];
    (headers, body).into_response()
}

/// What hot queries are asked with.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct HotParams {
    /// What is wanted: the most asked of a window or since midnight (UTC), those that rise fastest, or how many queries came
    /// in each of the last 24 hours.
    #[param(required = false, value_type = HotList, default = "top")]
    list: String,
    /// The time that is looked at by `top` and `rising`.
    #[param(required = false, value_type = HotWindow, default = "day")]
    window: String,
    /// How many queries are wanted.
    #[param(required = false, minimum = 1, maximum = 100)]
    count: u32,
    /// With `hours`: of this query only.
    #[param(required = false)]
    q: String,
}

/// A list of hot queries.
#[derive(Clone, Copy, ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum HotList {
    Top,
    Today,
    Rising,
    Hours,
}

/// A time that is looked at.
#[derive(Clone, Copy, ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum HotWindow {
    Hour,
    Day,
}

/// The list that was asked for. Only what several visitors asked is ever told.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct HotAnswer {
    /// The most asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    top: Option<Vec<HotQuery>>,
    /// The most asked since midnight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    today: Option<Vec<HotQuery>>,
    /// Those that rise fastest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rising: Option<Vec<RisingQuery>>,
    /// How many queries came in each hour, the present one last; empty where too few came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hours: Option<Vec<u64>>,
}

impl HotAnswer {
    /// What memory says; nothing of it where there is none yet.
    fn new(
        memory: Option<&Memory>,
        list: HotList,
        window: HotWindow,
        count: usize,
        query: Option<&str>,
    ) -> Self {
        let window = match window {
            HotWindow::Hour => Window::Hour,
            HotWindow::Day => Window::Day,
        };
        let hours = |memory: &Memory| match query {
            Some(query) => memory.hourly(query).unwrap_or_default(),
            None => memory.hourly_of_all(),
        };
        let mut answer = Self::default();
        match list {
            HotList::Top => answer.top = Some(memory.map(|m| m.top(window, count)).unwrap_or_default()),
            HotList::Today => answer.today = Some(memory.map(|m| m.top_today(count)).unwrap_or_default()),
            HotList::Rising => {
                answer.rising = Some(memory.map(|m| m.rising(window, count)).unwrap_or_default())
            }
            HotList::Hours => answer.hours = Some(memory.map(hours).unwrap_or_default()),
        }
        answer
    }
}

/// What many ask, or ask more than before.
#[utoipa::path(
    get,
    path = "/api/v1/hot",
    tag = "Search",
    params(HotParams),
    responses(
        (status = 200, description = "The list that was asked for", body = HotAnswer),
        (status = 400, description = "A parameter is wrong")
    )
)]
pub(crate) async fn hot(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, Refusal> {
    let params = Params(&visitor);
    let count = params.size("count", rooms.config().hot.shown, MAX_HOT)?;
    let window = params.choice("window", &[("hour", HotWindow::Hour), ("day", HotWindow::Day)])?;
    let window = window.unwrap_or(HotWindow::Day);
    let lists = [
        ("top", HotList::Top),
        ("today", HotList::Today),
        ("rising", HotList::Rising),
        ("hours", HotList::Hours),
    ];
    let list = params.choice("list", &lists)?.unwrap_or(HotList::Top);
    let query = params.text("q")?.map(String::from);
    let answer = rooms
        .recall(move |memory| Some(HotAnswer::new(Some(memory), list, window, count, query.as_deref())))
        .await?;
    // Until the logs are read nothing is remembered.
    let answer = answer.unwrap_or_else(|| HotAnswer::new(None, list, window, count, None));
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(answer)).into_response())
}

/// What was typed, with the space behind it that says that a word is complete; longer texts than any query are none.
fn typed(visitor: &Visitor, rooms: &Rooms) -> String {
    let limit = rooms.config().query.max_length;
    let typed = visitor.param("q").unwrap_or_default();
    if typed.chars().nth(limit).is_some() {
        String::new()
    } else {
        typed.chars().filter(|c| !c.is_control()).collect()
    }
}

/// Writes down what was suggested; gives the name of that.
fn shown(rooms: &Rooms, typed: &str, suggestions: Vec<String>) -> String {
    let (learning, id) = (rooms.learning(), new_id());
    if !suggestions.is_empty() {
        learning.log.impression(ImpressionRecord {
            id: id.clone(),
            at: learning.clock.now(),
            kind: Shown::Suggestions,
            query: typed.to_string(),
            suggestions,
            ..ImpressionRecord::default()
        });
    }
    id
}
