//! `/api/v1/stats`: how much there is.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_store::{Catalog, SqliteCatalog};
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;

use super::problem::Refusal;
use crate::service::{Rooms, Service, ServiceError};

/// How long numbers are good for: counting takes time that nobody shall be able to take often.
const LIFETIME: Duration = Duration::from_secs(5);

/// How much there is.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Pages that can be searched.
    pages: u64,
    /// Pages that were fetched, those that cannot be searched too.
    stored: u64,
    /// Pages that we know of.
    known: u64,
    /// Sites that were asked for pages.
    sites: u64,
    /// The state of the index.
    generation: String,
    /// When a page was last asked for.
    #[schema(required, format = DateTime)]
    last_fetched: Option<String>,
}

/// The numbers as they were counted last.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Option<(Instant, Stats)>>);

/// How much there is.
#[utoipa::path(
    get,
    path = "/api/v1/stats",
    tag = "Pages",
    responses((status = 200, description = "Numbers, a few seconds old at most", body = Stats))
)]
pub(crate) async fn stats(State(rooms): State<Rooms>) -> Result<Response, Refusal> {
    // Who comes meanwhile waits for the same numbers.
    let mut counted = rooms.api().stats.0.lock().await;
    let stats = match &*counted {
        Some((when, stats)) if when.elapsed() < LIFETIME => stats.clone(),
        _ => {
            let stats = rooms.blocking(count).await?;
            *counted = Some((Instant::now(), stats.clone()));
            stats
        }
    };
    Ok(([(CACHE_CONTROL, "public, max-age=5")], Json(stats)).into_response())
}

fn count(service: &Service) -> Result<Stats, ServiceError> {
    let snapshot = service.search.snapshot()?;
    let catalog = SqliteCatalog::open_reader(&service.data.catalog())?;
    let (counts, last_visit) = match &catalog {
        Some(catalog) => (catalog.counts()?, catalog.last_visit()?),
        None => Default::default(),
    };
    Ok(Stats {
        pages: service.search.pages()?,
        stored: counts.stored,
        known: counts.pages,
        sites: counts.sites_visited,
        generation: snapshot.generation().to_string(),
        last_fetched: last_visit.map(|at| at.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use pharos_core::{Config, PageUrl, Timestamp};
    use pharos_store::{Answered, Change, Outcome};
    use serde_json::{Value, json};

    use crate::router;
    use crate::testing::{TestPage, engine, get, know};

    #[tokio::test]
    async fn numbers_are_counted_once_in_a_while() {
        let page = TestPage::new("https://www.example.org/a", "Lighthouse", "The lighthouse stands.");
        let (dir, service) = engine(&[page], Config::default());
        let visit = |path: &str| {
            let url = PageUrl::parse(&format!("https://www.example.org/{path}")).unwrap();
            let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
            let answered = Answered { status: 200, ..Answered::default() };
            Change::Visited { url, at, outcome: Outcome::Answered(answered), next_due: None }
        };
        know(&dir, &[visit("a"), visit("b")]);
        let router = router(service).unwrap();
        let reply = get(&router, "/api/v1/stats").await;
        assert_eq!(reply.status, StatusCode::OK);
        let stats: Value = serde_json::from_slice(&reply.bytes).unwrap();
        assert_eq!(
            stats,
            json!({
                "pages": 1, "stored": 2, "known": 2, "sites": 1, "generation": stats["generation"],
                "last_fetched": "2026-01-31T12:00:00Z",
            })
        );
        know(&dir, &[visit("c")]);
        assert_eq!(get(&router, "/api/v1/stats").await.bytes, reply.bytes, "nobody counts again at once");
    }
}
