//! Suggestions while a query is typed, and what many ask.

use axum::Json;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pharos_mining::record::{ImpressionRecord, Shown};
use pharos_mining::{Memory, Window, new_id};
use serde_json::{Value, json};

use crate::api::bad_request;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;

/// More suggestions than this are not given at once.
const MAX_COUNT: usize = 50;
/// The same of hot queries.
const MAX_HOT: usize = 100;

/// `/api/v1/suggest?q=…&count=10`.
pub(crate) async fn suggest(State(rooms): State<Rooms>, visitor: Visitor) -> Response {
    let Some(count) = count(&visitor, rooms.config().suggest.count, MAX_COUNT) else {
        return bad_request("the parameter `count` must be a whole number from 1");
    };
    let typed = typed(&visitor, &rooms);
    let suggestions = rooms.suggest(&typed, count);
    let impression =
        shown(&rooms, &typed, suggestions.iter().map(|suggestion| suggestion.text.clone()).collect());
    let answer = json!({ "query": typed, "impression": impression, "suggestions": suggestions });
    ([(CACHE_CONTROL, "private, no-cache")], Json(answer)).into_response()
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

/// `/api/v1/hot?window=day&list=top&count=10`: what many ask, or ask more than before; `list=hours`: how many queries came
/// in each of the last 24 hours, of `q=…` where it is given.
pub(crate) async fn hot(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, ServiceError> {
    let Some(count) = count(&visitor, rooms.config().hot.shown, MAX_HOT) else {
        return Ok(bad_request("the parameter `count` must be a whole number from 1"));
    };
    let window = match visitor.param("window") {
        None | Some("day") => Window::Day,
        Some("hour") => Window::Hour,
        Some(_) => return Ok(bad_request("the parameter `window` must be `hour` or `day`")),
    };
    let query = visitor.param("q").map(String::from);
    let list: fn(&Memory, Window, usize, Option<String>) -> Value = match visitor.param("list") {
        None | Some("top") => |memory, window, count, _| json!({ "top": memory.top(window, count) }),
        Some("today") => |memory, _, count, _| json!({ "today": memory.top_today(count) }),
        Some("rising") => |memory, window, count, _| json!({ "rising": memory.rising(window, count) }),
        Some("hours") => {
            |memory, _, _, query| json!({ "hours": query.map_or_else(|| Some(memory.hourly_of_all()), |query| memory.hourly(&query)) })
        }
        Some(_) => {
            return Ok(bad_request("the parameter `list` must be `top`, `today`, `rising` or `hours`"));
        }
    };
    // Null until the logs are read.
    let answer = rooms.recall(move |memory| list(memory, window, count, query)).await?;
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

fn count(visitor: &Visitor, default: usize, most: usize) -> Option<usize> {
    let Some(text) = visitor.param("count") else { return Some(default.min(most)) };
    text.parse::<usize>().ok().filter(|count| *count > 0).map(|count| count.min(most))
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
