//! The API under `/api/v1`: the content of the pages for programs.
//!
//! ```text
//! search.rs    queries                     similar.rs   pages similar to one
//! page.rs      status of one page          submit.rs    submitting URLs
//! suggest.rs   suggestions, hot queries    click.rs     click reporting
//! queries.rs   queries of users for key holders
//! stats.rs     size of the collection      formats.rs   results as RSS, CSV and SearXNG JSON
//! directory.rs categories
//! params.rs    declared parameters         problem.rs   errors (RFC 9457)
//! api_keys.rs  authentication              cors.rs      cross-origin access
//! key_store.rs keys as objects
//! openapi.rs   OpenAPI document            guide.rs     the document as a page, translations.rs in Chinese
//! ```

pub(crate) mod api_keys;
mod click;
mod cors;
mod directory;
mod formats;
mod guide;
mod indexnow;
pub mod key_store;
mod openapi;
mod page;
mod params;
mod problem;
mod queries;
mod search;
mod similar;
mod stats;
mod submit;
mod suggest;
mod translations;

use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use pharos_core::Config;
use pharos_store::DataDir;

use self::api_keys::ApiKeys;
pub(crate) use self::cors::allow_origins;
pub(crate) use self::formats::{ResultFormat, format_results};
pub(crate) use self::guide::guide;
pub(crate) use self::indexnow::indexnow;
use self::openapi::OpenApiDocument;
pub(crate) use self::problem::problem;
pub(crate) use self::suggest::for_browsers as suggest_for_browsers;
use crate::server::rate_limit::RateLimit;
use crate::state::AppState;

/// Returns all routes. The OpenAPI document has the same paths and names their methods.
fn route_table() -> [(&'static str, MethodRouter<AppState>); 11] {
    [
        ("/api/v1/search", get(search::search)),
        ("/api/v1/page", get(page::page)),
        ("/api/v1/similar", get(similar::similar)),
        ("/api/v1/suggest", get(suggest::suggest)),
        ("/api/v1/hot", get(suggest::hot)),
        ("/api/v1/stats", get(stats::stats)),
        ("/api/v1/queries", get(queries::queries)),
        ("/api/v1/directory", get(directory::directory)),
        ("/api/v1/submit", post(submit::submit)),
        ("/api/v1/click", post(click::click)),
        (openapi::PATH, get(openapi::openapi)),
    ]
}

/// Returns the router of the API with key authentication.
pub(crate) fn routes(app: &AppState) -> Router<AppState> {
    let mut routes = Router::new();
    for (path, methods) in route_table() {
        routes = routes.route(path, methods);
    }
    routes.layer(from_fn_with_state(app.clone(), api_keys::require_key))
}

/// State of the API that is shared between requests.
pub(crate) struct ApiState {
    /// Rate limit of submissions.
    pub(crate) submissions: RateLimit<IpAddr>,
    indexnow: indexnow::VerifiedKeys,
    stats: stats::StatsCache,
    pub(crate) keys: ApiKeys,
    /// The OpenAPI document without and with keys.
    documents: [OpenApiDocument; 2],
}

impl ApiState {
    pub(crate) fn new(config: &Config, data: &DataDir) -> Self {
        let keys = ApiKeys::new(&config.web.api_keys, data);
        let documents = [OpenApiDocument::new(false), OpenApiDocument::new(true)];
        let per_hour = config.web.submit_rate;
        let submissions = RateLimit::new(per_hour, Duration::from_secs(3600), per_hour);
        let (indexnow, stats) = (indexnow::VerifiedKeys::default(), stats::StatsCache::default());
        Self { submissions, indexnow, stats, keys, documents }
    }

    /// Returns the OpenAPI document.
    fn document(&self) -> &OpenApiDocument {
        &self.documents[usize::from(self.keys.are_required())]
    }
}
