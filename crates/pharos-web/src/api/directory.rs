//! `/api/v1/directory`: the categories of the pages as a tree.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_learn::classify::taxonomy::Category;
use pharos_query::SearchHit;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::api_keys::KeyScope;
use super::params::Params;
use super::problem::ApiError;
use crate::pages::directory::best_pages;
use crate::state::AppState;
use crate::state::categories::CategoryCounts;

/// Parameters of `/api/v1/directory`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DirectoryParams {
    /// Id of a category; without it, the top categories are returned.
    category: Option<String>,
}

/// A part of the directory.
#[derive(Serialize, ToSchema)]
pub(crate) struct DirectoryPart {
    /// The requested category and those above it, from the top; empty at the top.
    path: Vec<DirectoryCategory>,
    /// Categories directly below.
    categories: Vec<DirectoryCategory>,
    /// Sites with the most pages of the category.
    sites: Vec<DirectorySite>,
    /// Best pages of the category.
    pages: Vec<SearchHit>,
}

/// A category of the directory.
#[derive(Serialize, ToSchema)]
pub(crate) struct DirectoryCategory {
    id: String,
    /// Name in English.
    en: String,
    /// Name in Chinese.
    zh: String,
    /// Number of searchable pages, with those of the categories below.
    pages: u64,
}

/// A site of a category.
#[derive(Serialize, ToSchema)]
pub(crate) struct DirectorySite {
    site: String,
    /// Number of pages of the category.
    pages: u64,
}

impl DirectoryCategory {
    fn new(category: &Category, counts: &CategoryCounts) -> Self {
        Self {
            id: category.id.clone(),
            en: category.name(false).to_string(),
            zh: category.name(true).to_string(),
            pages: counts.get(&category.id).copied().unwrap_or_default(),
        }
    }
}

/// Directory of categories.
#[utoipa::path(
    get,
    path = "/api/v1/directory",
    tag = "Pages",
    params(DirectoryParams),
    responses(
        (status = 200, description = "The category, those below it, and its best sites and pages", body = DirectoryPart),
        (status = 400, description = "A parameter is invalid"),
        (status = 404, description = "There is no directory, or no such category")
    )
)]
pub(crate) async fn directory(
    State(app): State<AppState>,
    scope: KeyScope,
    Params(params): Params<DirectoryParams>,
) -> Result<Response, ApiError> {
    let taxonomy = app.taxonomy().ok_or_else(|| ApiError::not_found("no model of categories is deployed"))?;
    let id = params.category.as_deref();
    let path = id.map(|id| taxonomy.path(id)).unwrap_or_default();
    if id.is_some() && path.is_empty() {
        return Err(ApiError::not_found("there is no such category"));
    }
    let counts = app.category_counts().await?;
    let found = match path.last() {
        Some(category) => {
            let mut request = best_pages(&category.id);
            request.filters.within = scope.sites();
            Some(app.search(request).await?)
        }
        None => None,
    };
    let described = |category: &Category| DirectoryCategory::new(category, &counts);
    let sites = found.iter().flat_map(|found| found.facets.get("site")).flatten();
    let part = DirectoryPart {
        path: path.iter().map(|category| described(category)).collect(),
        categories: taxonomy.children(id).map(described).collect(),
        sites: sites.map(|value| DirectorySite { site: value.value.clone(), pages: value.pages }).collect(),
        pages: found.map(|found| found.hits).unwrap_or_default(),
    };
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(part)).into_response())
}
