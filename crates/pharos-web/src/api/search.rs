//! `/api/v1/search`: the same answer as `pharos search --json`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_query::{Age, Answer, Filters, Request};
use utoipa::{IntoParams, ToSchema};

use super::params::Params;
use super::problem::Refusal;
use crate::formats::rss;
use crate::journal::write_down;
use crate::paging::MAX_PAGE;
use crate::results::asked::{self, Choice};
use crate::service::Rooms;
use crate::visitor::Visitor;

/// More results than this are not given at once.
const MAX_SIZE: u64 = 100;

/// What a search is asked with.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParams {
    /// The words to search for, in the query language of the search page: `"phrase"`, `-word`, `a OR b`, `site:`,
    /// `intitle:`, `lang:`, `filetype:`, `before:`, `after:`, `link:`, `related:` and more. What is longer than the longest
    /// query is cut.
    #[param(pattern = r"[^\s\x00-\x1f\x7f-\x9f]", example = "lighthouse")]
    q: String,
    /// Which page of results.
    #[param(required = false, minimum = 1, maximum = 1_000_000, default = 1)]
    page: u32,
    /// Results a page; as many as on the search page where it is not given.
    #[param(required = false, minimum = 1, maximum = 100, example = 3)]
    size: u32,
    /// The best first or the newest.
    #[param(required = false, value_type = Sort, default = "relevance")]
    sort: bool,
    /// Copies and near-duplicates, too, each as a result of its own, and any number of a site.
    #[param(required = false, value_type = Switch)]
    all: bool,
    /// Pages that have some of the words, from the beginning.
    #[param(required = false, value_type = Switch)]
    any: bool,
    /// What the score of each result is made of.
    #[param(required = false, value_type = Switch)]
    explain: bool,
    /// Counts by site, language, type, category and time.
    #[param(required = false, value_type = Switch)]
    facets: bool,
    /// The `generation` of the answer with the first page: further pages follow on it though the index changes.
    #[param(required = false, value_type = String)]
    generation: Option<String>,
    /// What is chosen beside the words: `FilterParams`.
    #[param(ignore)]
    filters: Filters,
    /// The answer as JSON, or as an RSS feed with OpenSearch elements.
    #[param(required = false, value_type = Form, default = "json")]
    format: Form,
}

/// What is chosen beside the words; facets count what there is to choose.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct FilterParams {
    /// Pages of this site, or of a folder of it, alone.
    #[param(required = false)]
    site: String,
    /// Pages in this language alone: `en`, `zh`.
    #[param(rename = "in", required = false)]
    lang: String,
    /// Files of this kind alone: `html`, `pdf`.
    #[param(rename = "type", required = false)]
    format: String,
    /// Pages of this subject alone.
    #[param(required = false)]
    category: String,
    /// Pages that are no older, by their own account.
    #[param(required = false, value_type = Time)]
    time: String,
}

/// On (`1`, `true`) or off (`0`, `false`).
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) enum Switch {
    #[schema(rename = "1")]
    One,
    #[schema(rename = "0")]
    Zero,
    True,
    False,
}

/// An order of results.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) enum Sort {
    Relevance,
    Date,
}

/// How old pages are at most.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) enum Time {
    Day,
    Week,
    Month,
    Year,
}

/// A form of an answer.
#[derive(Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(as = AnswerForm, rename_all = "lowercase")]
pub(crate) enum Form {
    Json,
    Rss,
}

impl SearchParams {
    fn read(params: Params<'_>, rooms: &Rooms) -> Result<Self, Refusal> {
        let config = &rooms.config().query;
        params.text("q")?;
        let q = params.0.query(config.max_length);
        if q.is_empty() {
            return Err(Refusal::bad(
                "the parameter `q` is missing or empty: write ?q= and the words to search for",
            ));
        }
        let number = |name, default: usize, most| {
            params.size(name, default, most).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        };
        let sort = params.choice("sort", &[("relevance", false), ("date", true)])?;
        let format = params.choice("format", &[("json", Form::Json), ("rss", Form::Rss)])?;
        Ok(Self {
            q,
            page: number("page", 1, MAX_PAGE as u64)?,
            size: number("size", config.page_size, MAX_SIZE)?,
            sort: sort.unwrap_or_default(),
            all: params.switch("all")?,
            any: params.switch("any")?,
            explain: params.switch("explain")?,
            facets: params.switch("facets")?,
            generation: params.text("generation")?.map(String::from),
            filters: filters(params)?,
            format: format.unwrap_or(Form::Json),
        })
    }
}

/// Read strictly: what is no time is an error, and nothing is given twice.
fn filters(params: Params<'_>) -> Result<Filters, Refusal> {
    for choice in [Choice::Site, Choice::Lang, Choice::Format, Choice::Category] {
        params.text(choice.param())?;
    }
    params.choice(Choice::Time.param(), &Age::ALL.map(|age| (age.name(), age)))?;
    Ok(asked::filters(params.0))
}

/// Search.
#[utoipa::path(
    get,
    path = "/api/v1/search",
    tag = "Search",
    params(SearchParams, FilterParams),
    responses(
        (status = 200, description = "A page of results", content(
            (Answer = "application/json"),
            (String = "application/rss+xml")
        )),
        (status = 400, description = "A parameter is missing or wrong")
    )
)]
pub(crate) async fn search(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, Refusal> {
    let asked = SearchParams::read(Params(&visitor), &rooms)?;
    let request = Request {
        text: asked.q,
        page: asked.page as usize,
        size: asked.size as usize,
        all: asked.all,
        newest_first: asked.sort,
        any_word: asked.any,
        explain: asked.explain,
        facets: asked.facets,
        generation: asked.generation,
        filters: asked.filters,
    };
    let answer = rooms.run(request.clone()).await?;
    write_down(&rooms, &visitor, "api", &request, &answer);
    if asked.format == Form::Rss {
        return Ok(rss::feed(&visitor, rooms.config(), &request, &answer));
    }
    Ok(found(answer))
}

/// Results as JSON, which nobody keeps for others.
pub(super) fn found(answer: Answer) -> Response {
    let mut response = Json(answer).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}
