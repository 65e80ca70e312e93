//! `/directory`: the categories of the pages as a tree to browse (分类目录), with the best sites and pages of each.
//!
//! It exists only while a model of categories is deployed. 《搜索引擎——原理、技术与系统》§11.8 describes such a directory service.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_learn::classify::taxonomy::{Category, Taxonomy};
use pharos_query::response::FacetValue;
use pharos_query::{ResultOptions, SearchHit, SearchRequest};

use crate::messages::{Lang, Messages, fill, grouped};
use crate::pages::frame::{Link, PageFrame, respond};
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Path of the directory.
const PATH: &str = "/directory";

/// Number of pages listed for a category.
pub(crate) const BEST_PAGES: usize = 10;

/// Number of categories listed below each category.
const SHOWN_BELOW: usize = 6;

#[derive(Template)]
#[template(path = "directory.html")]
struct DirectoryPage {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    title: String,
    /// Number of pages as text.
    count: String,
    /// Id of the category; `None` at the top.
    category: Option<String>,
    /// The categories above, from the directory itself on.
    above: Vec<Link>,
    children: Vec<CategoryView>,
    sites: Vec<CountedLink>,
    pages: Vec<PageView>,
    /// All pages of the category.
    all_pages: Option<Link>,
}

/// A category below the shown one.
struct CategoryView {
    link: CountedLink,
    below: Vec<Link>,
}

struct CountedLink {
    href: String,
    text: String,
    count: String,
}

/// One of the best pages.
struct PageView {
    href: String,
    title: String,
    site: String,
    snippet: String,
    lang: String,
}

/// Returns the path of a category in the directory.
pub(crate) fn category_path(id: &str) -> String {
    format!("{PATH}/{id}")
}

/// Returns the request for the best pages of a category, with counts of sites.
pub(crate) fn best_pages(id: &str) -> SearchRequest {
    let options = ResultOptions { as_typed: true, ..ResultOptions::default() };
    SearchRequest { size: BEST_PAGES, facets: true, options, ..SearchRequest::new(format!("category:{id}")) }
}

/// Returns the name of a category in a language of the user interface.
fn name(category: &Category, lang: Lang) -> String {
    category.name(lang == Lang::Zh).to_string()
}

/// `GET /directory`.
pub(crate) async fn top(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ServiceError> {
    show(&app, &visitor, None).await
}

/// `GET /directory/{id}`.
pub(crate) async fn category(
    State(app): State<AppState>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, ServiceError> {
    show(&app, &visitor, Some(&id)).await
}

async fn show(app: &AppState, visitor: &Visitor, id: Option<&str>) -> Result<Response, ServiceError> {
    let Some(taxonomy) = app.taxonomy() else { return Ok(StatusCode::NOT_FOUND.into_response()) };
    let (lang, messages) = (visitor.lang, visitor.messages());
    let path = id.map(|id| taxonomy.path(id)).unwrap_or_default();
    let current = path.last().copied();
    if id.is_some() && current.is_none() {
        return Ok(StatusCode::NOT_FOUND.into_response());
    }
    let counts = app.category_counts().await?;
    let found = match current {
        Some(category) => Some(app.search(best_pages(&category.id)).await?),
        None => None,
    };
    let pages = match current {
        Some(category) => count_of(&counts, &category.id),
        None => taxonomy.children(None).map(|category| count_of(&counts, &category.id)).sum(),
    };
    let above = path.iter().take(path.len().saturating_sub(1));
    let above = above.map(|category| Link { href: category_path(&category.id), text: name(category, lang) });
    let directory = current.map(|_| Link { href: PATH.into(), text: messages.directory.into() });
    let sites = found.iter().flat_map(|found| found.facets.get("site")).flatten();
    let site = |value: &FacetValue| CountedLink {
        href: link(
            "/search",
            [("q", format!("category:{} site:{}", id.unwrap_or_default(), value.value).as_str())],
        ),
        text: value.value.clone(),
        count: grouped(value.pages),
    };
    let all_pages = current.map(|category| Link {
        href: link("/search", [("q", format!("category:{}", category.id).as_str())]),
        text: messages.directory_all.into(),
    });
    let page = DirectoryPage {
        frame: PageFrame::new(visitor, app.config()),
        query: "",
        focus: false,
        title: current.map_or_else(|| messages.directory.into(), |category| name(category, lang)),
        count: messages.pages_in(pages),
        category: current.map(|category| category.id.clone()),
        above: directory.into_iter().chain(above).collect(),
        children: children(&taxonomy, current, &counts, lang),
        sites: sites.map(site).collect(),
        all_pages: all_pages.filter(|_| pages > BEST_PAGES as u64),
        pages: found.into_iter().flat_map(|found| found.hits).map(page_view).collect(),
    };
    Ok(respond(visitor, StatusCode::OK, &page))
}

fn count_of(counts: &HashMap<String, u64>, id: &str) -> u64 {
    counts.get(id).copied().unwrap_or_default()
}

/// Returns the categories below one, those with pages first, in the order of the taxonomy.
fn children(
    taxonomy: &Taxonomy,
    parent: Option<&Category>,
    counts: &HashMap<String, u64>,
    lang: Lang,
) -> Vec<CategoryView> {
    let parent = parent.map(|category| category.id.as_str());
    let mut children: Vec<&Category> = taxonomy.children(parent).collect();
    children.sort_by_key(|category| count_of(counts, &category.id) == 0);
    let view = |category: &Category| {
        let below = taxonomy.children(Some(&category.id));
        let below = below.filter(|category| count_of(counts, &category.id) > 0).take(SHOWN_BELOW);
        CategoryView {
            link: CountedLink {
                href: category_path(&category.id),
                text: name(category, lang),
                count: grouped(count_of(counts, &category.id)),
            },
            below: below
                .map(|category| Link { href: category_path(&category.id), text: name(category, lang) })
                .collect(),
        }
    };
    children.into_iter().map(view).collect()
}

fn page_view(hit: SearchHit) -> PageView {
    PageView { href: hit.url, title: hit.title, site: hit.site, snippet: hit.snippet, lang: hit.lang }
}

impl Messages {
    fn pages_in(&self, pages: u64) -> String {
        if pages == 1 { self.directory_page.into() } else { fill(self.directory_pages, &[&grouped(pages)]) }
    }
}
