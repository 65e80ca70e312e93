//! `/api/v1/stats`: the size of the collection.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_engine::status::collection::StoredPages;
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;

use super::problem::ApiError;
use crate::state::{AppState, Service, ServiceError};

/// Lifetime of cached figures, since counting is expensive.
const LIFETIME: Duration = Duration::from_secs(5);

/// Size of the collection.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Searchable pages.
    pages: u64,
    /// Fetched pages: the sum of searchable pages and of those in `not_searchable`.
    stored: u64,
    /// Fetched pages that are not searchable, by reason.
    not_searchable: BTreeMap<String, u64>,
    /// Known pages.
    known: u64,
    /// Visited sites.
    sites: u64,
    /// State of the index.
    generation: String,
    /// Time of the latest fetch.
    #[schema(required, format = DateTime)]
    last_fetched: Option<String>,
}

/// The figures of the last count.
#[derive(Default)]
pub(crate) struct StatsCache(Mutex<Option<(Instant, Stats)>>);

/// Size of the collection.
#[utoipa::path(
    get,
    path = "/api/v1/stats",
    tag = "Pages",
    responses((status = 200, description = "Figures, at most a few seconds old", body = Stats))
)]
pub(crate) async fn stats(State(app): State<AppState>) -> Result<Response, ApiError> {
    // Concurrent requests wait for the same count.
    let mut cached = app.api().stats.0.lock().await;
    let stats = match &*cached {
        Some((when, stats)) if when.elapsed() < LIFETIME => stats.clone(),
        _ => {
            let stats = app.run_blocking(count).await?;
            *cached = Some((Instant::now(), stats.clone()));
            stats
        }
    };
    Ok(([(CACHE_CONTROL, "public, max-age=5")], Json(stats)).into_response())
}

fn count(service: &Service) -> Result<Stats, ServiceError> {
    let (pages, generation) = service.search.processor().index_state()?;
    let catalog = service.stores.catalog()?;
    let (counts, unsearchable, last_visit) = match &catalog {
        Some(catalog) => (catalog.counts()?, catalog.unsearchable()?, catalog.last_visit()?),
        None => Default::default(),
    };
    let sum = StoredPages::new(counts.stored, pages, unsearchable);
    let others = sum.others.into_iter().map(|(reason, pages)| (reason.name().to_string(), pages));
    Ok(Stats {
        pages,
        stored: counts.stored,
        not_searchable: others.collect(),
        known: counts.pages,
        sites: counts.sites_visited,
        generation,
        last_fetched: last_visit.map(|at| at.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use pharos_core::{Config, PageUrl, Timestamp};
    use pharos_store::catalog::{CatalogChange, ResponseSummary, VisitOutcome};
    use serde_json::{Value, json};

    use crate::router;
    use crate::testing::{TestPage, apply_changes, engine, get};

    #[tokio::test]
    async fn figures_are_cached_for_a_while() {
        let page = TestPage::new("https://www.example.org/a", "Lighthouse", "The lighthouse stands.");
        let (dir, service) = engine(&[page], Config::default());
        let visit = |path: &str| {
            let url = PageUrl::parse(&format!("https://www.example.org/{path}")).unwrap();
            let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
            let answered = ResponseSummary { status: 200, ..ResponseSummary::default() };
            CatalogChange::Visited { url, at, outcome: VisitOutcome::Responded(answered), next_due: None }
        };
        apply_changes(&dir, &[visit("a"), visit("b")]);
        let router = router(service).unwrap();
        let reply = get(&router, "/api/v1/stats").await;
        assert_eq!(reply.status, StatusCode::OK);
        let stats: Value = serde_json::from_slice(&reply.bytes).unwrap();
        assert_eq!(
            stats,
            json!({
                "pages": 1, "stored": 2, "not_searchable": { "without-text": 1 }, "known": 2, "sites": 1, "generation": stats["generation"],
                "last_fetched": "2026-01-31T12:00:00Z",
            })
        );
        apply_changes(&dir, &[visit("c")]);
        assert_eq!(get(&router, "/api/v1/stats").await.bytes, reply.bytes, "cached");
    }
}
