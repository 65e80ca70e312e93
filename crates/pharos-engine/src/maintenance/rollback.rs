//! Rollback to the previous history generation.

use pharos_core::config::Config;
use pharos_index::{BuilderRequest, IndexError};
use pharos_store::{DataDir, StoreError};
use serde::Serialize;
use tokio::sync::watch;
use tracing::info;

use crate::build::history::request_owner;
use crate::{Engine, EngineError, Stores};

/// The outcome of a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RollbackSummary {
    /// Number of the dropped history generation.
    pub from: u64,
    /// Number of the reinstalled history generation.
    pub to: u64,
}

/// Reinstalls the previous history generation, keeping everything applied since.
///
/// Runs through the owner of the data directory. Removed and changed pages do not reappear in their old state. If no
/// process indexed during the last build, the latest generations lack pages that only the dropped history contains; the
/// library is replayed from there first.
pub fn roll_back(data: &DataDir, config: &Config) -> Result<RollbackSummary, EngineError> {
    let stores = Stores::open(data, config)?;
    let generations = stores.require_generations("a rollback")?;
    let _builder = generations.lock_builder()?;
    let current = generations.current()?;
    let (Some(history), Some(previous)) = (&current.history, &current.previous) else {
        return Err(IndexError::NoPrevious { path: data.index() }.into());
    };
    let summary = RollbackSummary { from: history.number, to: previous.history.number };
    if let Some((from, to)) = current.gap() {
        let owner = match data.own("index rollback") {
            Err(StoreError::InUse { .. }) => return Err(IndexError::Gap { from, to }.into()),
            owned => owned?,
        };
        let engine = Engine::open_owned(owner, data.clone(), config.clone(), "index rollback", true)?;
        // Opening the index has already dropped a damaged history.
        if let Some(index) = engine.index()
            && let Some(index) = index.generational()
            && generations.current()?.history.as_ref() == Some(history)
        {
            index.close_gap()?;
            let (_stop, never) = watch::channel(false);
            engine.ingest(&never)?.finish()?;
            index.roll_back()?;
        }
    } else {
        request_owner(&stores, &*generations, &BuilderRequest::Rollback(history.number), &mut || Ok(()))?;
    }
    info!(from = summary.from, to = summary.to, "rolled back to the previous history generation");
    Ok(summary)
}
