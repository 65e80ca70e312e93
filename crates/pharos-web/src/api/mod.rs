//! The API under `/api/v1`: the content of the pages for programs.
//!
//! ```text
//! search.rs    queries                     similar.rs   pages similar to one
//! page.rs      status of one page          submit.rs    submitting URLs
//! suggest.rs   suggestions, hot queries    click.rs     click reporting
//! stats.rs     size of the collection      formats.rs   results as RSS, CSV and SearXNG JSON
//! params.rs    strict parameter parsing    problem.rs   errors (RFC 9457)
//! api_keys.rs  authentication              cors.rs      cross-origin access
//! openapi.rs   OpenAPI document            guide.rs     the document as a page, translations.rs in Chinese
//! ```

mod chinese;
mod cors;
mod document;
mod guide;
mod keys;
mod page;
mod params;
mod problem;
mod search;
mod similar;
mod stats;
mod submit;

use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use pharos_core::Config;

pub(crate) use self::cors::allow as allow_sites;
use self::document::Document;
pub(crate) use self::guide::guide;
use self::keys::Keys;
pub(crate) use self::params::Params;
pub(crate) use self::problem::{Refusal, bad_request, problem};
use crate::rate::Rate;
use crate::service::Rooms;
use crate::{click, suggest};

/// Returns all routes. The OpenAPI document has the same paths and names their methods.
fn table() -> [(&'static str, MethodRouter<Rooms>); 9] {
    [
        ("/api/v1/search", get(search::search)),
        ("/api/v1/page", get(page::page)),
        ("/api/v1/similar", get(similar::similar)),
        ("/api/v1/suggest", get(suggest::suggest)),
        ("/api/v1/hot", get(suggest::hot)),
        ("/api/v1/stats", get(stats::stats)),
        ("/api/v1/submit", post(submit::submit)),
        ("/api/v1/click", post(click::click)),
        (document::PATH, get(document::document)),
    ]
}

/// Returns the router of the API with key authentication.
pub(crate) fn routes(rooms: &Rooms) -> Router<Rooms> {
    let mut routes = Router::new();
    for (path, methods) in table() {
        routes = routes.route(path, methods);
    }
    routes.layer(from_fn_with_state(rooms.clone(), keys::check))
}

/// State of the API that is shared between requests.
pub(crate) struct Kept {
    /// Rate limit of submissions.
    pub(crate) submissions: Rate<IpAddr>,
    stats: stats::Cache,
    pub(crate) keys: Keys,
    document: Document,
}

impl Kept {
    pub(crate) fn new(config: &Config) -> Self {
        let keys = Keys::new(&config.web.api_keys);
        let document = Document::new(config);
        let an_hour = config.web.submit_rate;
        let submissions = Rate::new(an_hour, Duration::from_secs(3600), an_hour);
        Self { submissions, stats: stats::Cache::default(), keys, document }
    }
}
