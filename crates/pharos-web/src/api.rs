//! The JSON API: the same answer as `pharos search --json`; errors as problem documents (RFC 9457).

use axum::Json;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pharos_core::PageUrl;
use pharos_query::Request;
use serde_json::json;

use crate::journal::write_down;
use crate::paging::MAX_PAGE;
use crate::results::asked::filters;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;

/// More results than this are not given at once.
const MAX_SIZE: usize = 100;

/// `/api/v1/search?q=…&page=1&size=10`; `all=1`: copies, too; `any=1`: pages with some of the words; `sort=date`: the newest
/// first; `explain=1`: what scores are made of; `facets=1`: counts by site, language, type, category and time;
/// `generation=…`, from the answer with the first page: further pages follow on it though the index changes.
pub(crate) async fn search(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, ServiceError> {
    let config = rooms.config();
    let query = visitor.query(config.query.max_length);
    if query.is_empty() {
        return Ok(bad_request(
            "the parameter `q` is missing or empty: write ?q= and the words to search for",
        ));
    }
    let Some(page) = number(visitor.param("page"), 1, MAX_PAGE) else {
        return Ok(bad_request("the parameter `page` must be a whole number from 1"));
    };
    let Some(size) = number(visitor.param("size"), config.query.page_size.max(1), MAX_SIZE) else {
        return Ok(bad_request("the parameter `size` must be a whole number from 1 to 100"));
    };
    let Some(newest_first) = visitor.newest_first() else {
        return Ok(bad_request("the parameter `sort` must be `relevance` or `date`"));
    };
    let request = Request {
        text: query,
        page,
        size,
        all: visitor.wants_all(),
        newest_first,
        any_word: visitor.wants("any"),
        explain: visitor.wants("explain"),
        facets: visitor.wants("facets"),
        generation: visitor.param("generation").map(String::from),
        filters: filters(&visitor),
    };
    let answer = rooms.run(request.clone()).await?;
    write_down(&rooms, &visitor, "api", &request, &answer);
    let mut response = Json(answer).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}

/// `/api/v1/page?url=…`: what is stored of one page; 404 where it is not in the library.
pub(crate) async fn page(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, ServiceError> {
    let Ok(url) = PageUrl::parse(visitor.param("url").unwrap_or_default().trim()) else {
        return Ok(bad_request("the parameter `url` is missing or no address: write ?url=http://…"));
    };
    let id = url.id();
    let Some(found) = rooms.page(url).await? else {
        let detail = "this page is not in the library, or is not to be found by searching";
        return Ok(problem(StatusCode::NOT_FOUND, "Not Found", detail));
    };
    let copy = found.archive.then(|| format!("/snapshot/{id}"));
    let page = json!({
        "url": found.url,
        "title": found.title,
        "lang": found.lang,
        "fetched": found.fetched.to_string(),
        "cached_url": copy,
    });
    Ok(Json(page).into_response())
}

/// A problem document.
pub(crate) fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let body = json!({ "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail });
    let mut response = (status, body.to_string()).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

pub(crate) fn bad_request(detail: &str) -> Response {
    problem(StatusCode::BAD_REQUEST, "Bad Request", detail)
}

/// A number from 1, cut to `max`; `default` where there is none, nothing where it is not one.
fn number(text: Option<&str>, default: usize, max: usize) -> Option<usize> {
    let Some(text) = text else { return Some(default.min(max)) };
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(max).min(max)).filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_and_bounded() {
        assert_eq!(number(None, 10, 100), Some(10));
        assert_eq!(number(Some("7"), 10, 100), Some(7));
        assert_eq!(number(Some("1000"), 10, 100), Some(100));
        assert_eq!(number(Some("99999999999999999999999"), 10, 100), Some(100));
        for wrong in ["", "0", "-1", "abc", "1.5", " 1"] {
            assert_eq!(number(Some(wrong), 10, 100), None, "{wrong:?}");
        }
    }
}
