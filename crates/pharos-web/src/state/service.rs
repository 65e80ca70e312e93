//! The dependencies of the web server, and its internal errors.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pharos_core::Config;
use pharos_core::work::WorkExceeded;
use pharos_engine::build::runner::BuildRunner;
use pharos_engine::maintenance::backup::runner::BackupRunner;
use pharos_engine::{EngineError, Stores};
use pharos_html::RulesError;
use pharos_query::{QueryError, SearchService};
use pharos_store::{DataDir, Library, StoreError};
use thiserror::Error;
use tokio::sync::oneshot::error::RecvError;
use tokio::task::JoinError;

use super::settings::SettingsSource;
use crate::admin::DeskError;
use crate::server::metrics::Metrics;
use crate::server::rate_limit::too_many;

/// Dependencies of the web server.
#[derive(Clone)]
pub struct Service {
    /// The data directory.
    pub data: DataDir,
    /// The stores, opened for reading where needed.
    pub stores: Stores,
    /// Query processing, query log and learning.
    pub search: Arc<SearchService>,
    /// Stored pages.
    pub library: Arc<dyn Library>,
    /// Settings at start.
    pub config: Arc<Config>,
    /// Handle of the metrics recorder; see [`install_metrics`](crate::install_metrics).
    pub metrics: Metrics,
    /// Source of the settings, for the operator's desk.
    pub settings: SettingsSource,
    /// Index builds started by operators.
    pub builds: Arc<BuildRunner>,
    /// Backups started by operators.
    pub backups: Arc<BackupRunner>,
}

/// Internal errors. The client gets a generic message, the log the error.
#[derive(Debug, Error)]
pub(crate) enum ServiceError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Template(#[from] askama::Error),
    #[error(transparent)]
    Desk(#[from] DeskError),
    #[error("a worker panicked")]
    Broken(#[from] RecvError),
    #[error(transparent)]
    Stopped(#[from] JoinError),
    #[error("the queue is full")]
    Busy,
    #[error("too many renderings for one client")]
    TooManyViews,
    /// A stored page cannot be rendered within its budget.
    #[error(transparent)]
    Work(#[from] WorkExceeded),
}

impl IntoResponse for ServiceError {
    fn into_response(self) -> Response {
        match self {
            Self::Busy | Self::Desk(DeskError::Busy) | Self::Work(WorkExceeded::Cancelled) => {
                StatusCode::SERVICE_UNAVAILABLE.into_response()
            }
            Self::TooManyViews => too_many(Duration::ZERO),
            Self::Work(exceeded) => {
                let mut response = StatusCode::UNPROCESSABLE_ENTITY.into_response();
                // Read by the middleware that renders errors.
                response.extensions_mut().insert(exceeded);
                response
            }
            error => {
                tracing::error!(%error, "request failed");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}
