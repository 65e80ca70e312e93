//! The API under `/api/v1`: what pages show, for programs.
//!
//! ```text
//! search.rs    queries                      similar.rs   pages like one
//! page.rs      what is known of one page    submit.rs    an address to fetch
//! stats.rs     how much there is            document.rs  all of this as an OpenAPI document, guide.rs for people
//! params.rs    parameters, read strictly    problem.rs   errors (RFC 9457)
//! keys.rs      who may ask                  cors.rs      which sites' pages may
//! ```
//!
//! Suggestions, hot queries and clicks are in `suggest.rs` and `click.rs`.

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

/// Everything there is. The document has the same paths, and says which methods they take.
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

/// The routes, with who may ask.
pub(crate) fn routes(rooms: &Rooms) -> Router<Rooms> {
    let mut routes = Router::new();
    for (path, methods) in table() {
        routes = routes.route(path, methods);
    }
    routes.layer(from_fn_with_state(rooms.clone(), keys::check))
}

/// What the API keeps from one request to the next.
pub(crate) struct Kept {
    /// How often visitors may submit.
    pub(crate) submissions: Rate<IpAddr>,
    stats: stats::Cache,
    /// The keys that were given out.
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
