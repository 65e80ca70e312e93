//! Going back to the history before the last build.

use pharos_core::config::Config;
use pharos_index::{Generations, IndexError, Wish};
use pharos_store::{DataDir, StoreError};
use serde::Serialize;
use tokio::sync::watch;
use tracing::info;

use crate::build::ask_owner;
use crate::{Engine, EngineError};

/// What came of going back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RollbackSummary {
    /// The history generation that was dropped.
    pub from: u64,
    /// The one that is in place again.
    pub to: u64,
}

/// Puts the history before the last build in its place again, with all that came since, by whoever owns the data
/// directory. Nothing that was removed or has changed since is seen again as it was.
///
/// Where nobody indexed beside the last build, the latest generations lack what only the dropped history knows: then the
/// library is read from there on first.
pub fn roll_back(data: &DataDir, config: &Config) -> Result<RollbackSummary, EngineError> {
    let generations = Generations::at(data.index());
    let _builder = generations.lock_builder()?;
    let current = generations.current()?;
    let (Some(history), Some(previous)) = (current.history, &current.previous) else {
        return Err(IndexError::NoPrevious { path: data.index() }.into());
    };
    let summary = RollbackSummary { from: history.number, to: previous.history.number };
    if let Some((from, to)) = current.gap() {
        let owner = match data.own("index rollback") {
            Err(StoreError::InUse { .. }) => return Err(IndexError::Gap { from, to }.into()),
            owned => owned?,
        };
        let engine = Engine::open_owned(owner, data.clone(), config.clone(), "index rollback", true)?;
        // A damaged history was left when the index was opened.
        if let Some(index) = engine.index()
            && generations.current()?.history == Some(history)
        {
            index.close_gap()?;
            let (_stop, never) = watch::channel(false);
            engine.intake(&never)?.finish()?;
            index.roll_back()?;
        }
    } else {
        ask_owner(data, config, &generations, Wish::Rollback(history.number), &mut || Ok(()))?;
    }
    info!(from = summary.from, to = summary.to, "went back to the history before the last build");
    Ok(summary)
}
