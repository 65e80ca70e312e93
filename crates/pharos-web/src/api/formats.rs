//! Results in formats of other engines: JSON and CSV in the shape of SearXNG, and RSS.

pub(crate) mod rss;
mod searxng;

use axum::response::Response;
use pharos_query::{Age, Filters, ResultOptions, SearchRequest};

use super::problem::bad_request_response;
use super::search::MISSING_QUERY;
use crate::pages::paging::{last_page, page_number};
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

/// An output format of results other than HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultFormat {
    Json,
    Csv,
    Rss,
}

impl ResultFormat {
    /// Returns the format given by `format=`; `None` for a page.
    pub(crate) fn from_visitor(visitor: &Visitor) -> Option<Self> {
        match visitor.param("format")? {
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "rss" => Some(Self::Rss),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Rss => "rss",
        }
    }
}

/// Handles `/search?q=…&format=json&pageno=1&language=zh&time_range=month` in a format other than HTML.
pub(crate) async fn format_results(
    app: &AppState,
    visitor: &Visitor,
    format: ResultFormat,
) -> Result<Response, ServiceError> {
    let config = app.config();
    let text = visitor.query(config.query.max_length);
    if text.is_empty() {
        return Ok(bad_request_response(MISSING_QUERY));
    }
    let page = page_number(visitor.param("pageno").or_else(|| visitor.param("page")));
    let size = config.query.page_size.max(1);
    let reachable = page <= last_page(u64::MAX, size, config.query.max_results);
    let request = SearchRequest {
        text,
        page: if reachable { page } else { 1 },
        size,
        options: ResultOptions {
            all: visitor.wants_all(),
            newest_first: visitor.newest_first().unwrap_or_default(),
            any_word: false,
            as_typed: false,
        },
        filters: filters(visitor),
        ..SearchRequest::default()
    };
    let mut answer = app.search(request.clone()).await?;
    if !reachable {
        answer.hits.clear();
    }
    let request = SearchRequest { page, ..request };
    app.log_response(visitor, format.name(), &request, &answer);
    Ok(match format {
        ResultFormat::Json => searxng::json(&request, &answer),
        ResultFormat::Csv => searxng::csv(&answer),
        ResultFormat::Rss => rss::feed(visitor, config, &request, &answer),
    })
}

/// Reads the filter parameters of SearXNG.
fn filters(visitor: &Visitor) -> Filters {
    // `zh-CN` means `zh`; `all` and `auto` mean every language.
    let language = visitor.param("language").and_then(|tag| tag.split(['-', '_']).next()).unwrap_or_default();
    let is_language = language.len() == 2 && language.bytes().all(|b| b.is_ascii_alphabetic());
    Filters {
        lang: is_language.then(|| language.to_ascii_lowercase()),
        time: visitor.param("time_range").and_then(Age::named),
        ..Filters::default()
    }
}
