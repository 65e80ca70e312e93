//! The categories of pages: the taxonomy of the deployed model, and the number of pages of each category.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pharos_engine::categories::watch::CategoryWatch;
use pharos_learn::categories::CategoryStore;
use pharos_learn::classify::taxonomy::Taxonomy;
use pharos_store::DataDir;
use tokio::sync::Mutex;

use super::{AppState, ServiceError};

/// Lifetime of cached counts, since counting visits every page.
const LIFETIME: Duration = Duration::from_secs(10);

/// Number of pages by the id of the category, with the pages of the categories below.
pub(crate) type CategoryCounts = Arc<HashMap<String, u64>>;

/// The taxonomy of the deployed model, and the last counts.
pub(crate) struct CategoryState {
    taxonomy: CategoryWatch<Taxonomy>,
    counts: Mutex<Option<(Instant, CategoryCounts)>>,
    training: parking_lot::Mutex<TrainingState>,
}

/// State of the training that an operator started on the desk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrainingState {
    pub(crate) is_running: bool,
    /// Version of the last trained model, or why the training failed.
    pub(crate) last: Option<Result<u64, String>>,
}

impl CategoryState {
    pub(crate) fn new(data: &DataDir) -> Self {
        let store = CategoryStore::at(&data.models());
        Self {
            taxonomy: CategoryWatch::new(store, CategoryStore::deployed_taxonomy),
            counts: Mutex::default(),
            training: parking_lot::Mutex::default(),
        }
    }
}

impl AppState {
    /// Returns the taxonomy of the deployed model, or `None` if no model is deployed.
    pub(crate) fn taxonomy(&self) -> Option<Arc<Taxonomy>> {
        self.categories().taxonomy.current()
    }

    /// Applies a change of the files of categories at once.
    pub(crate) fn reload_taxonomy(&self) {
        self.categories().taxonomy.reload();
    }

    /// Returns the state of the training.
    pub(crate) fn training(&self) -> TrainingState {
        self.categories().training.lock().clone()
    }

    /// Begins a training. Returns `false` if one is running.
    pub(crate) fn begin_training(&self) -> bool {
        let mut training = self.categories().training.lock();
        !std::mem::replace(&mut training.is_running, true)
    }

    /// Records the outcome of a training.
    pub(crate) fn end_training(&self, outcome: Result<u64, String>) {
        *self.categories().training.lock() = TrainingState { is_running: false, last: Some(outcome) };
    }

    /// Returns the number of pages of each category, at most a few seconds old. Concurrent requests wait for one count.
    pub(crate) async fn category_counts(&self) -> Result<CategoryCounts, ServiceError> {
        let mut cached = self.categories().counts.lock().await;
        if let Some((_, counts)) = cached.as_ref().filter(|(since, _)| since.elapsed() < LIFETIME) {
            return Ok(Arc::clone(counts));
        }
        let counted = self.run_blocking(|service| Ok(service.search.processor().category_counts()?)).await?;
        let counts = Arc::new(counted);
        *cached = Some((Instant::now(), Arc::clone(&counts)));
        Ok(counts)
    }
}
