//! The deployed model of categories, loaded again when it changes.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use pharos_learn::categories::{CategoryError, CategoryStore};
use tracing::{info, warn};

/// Interval between two looks at the files.
const INTERVAL: Duration = Duration::from_secs(1);

/// Sizes and times of modification of the files.
type FileState = Vec<Option<(u64, Option<SystemTime>)>>;

/// A value that is loaded from the files of categories, and again after they change.
///
/// While the files cannot be read, the last value stays in use.
pub struct CategoryWatch<T> {
    store: CategoryStore,
    files: [PathBuf; 3],
    load: fn(&CategoryStore) -> Result<Option<T>, CategoryError>,
    state: Mutex<WatchState<T>>,
}

struct WatchState<T> {
    /// `None` before the first look.
    checked: Option<Instant>,
    files: FileState,
    current: Option<Arc<T>>,
}

impl<T> CategoryWatch<T> {
    /// Watches a store. Nothing is read before the value is needed.
    pub fn new(store: CategoryStore, load: fn(&CategoryStore) -> Result<Option<T>, CategoryError>) -> Self {
        let files = store.watched_files();
        let state = WatchState { checked: None, files: Vec::new(), current: None };
        Self { store, files, load, state: Mutex::new(state) }
    }

    /// Returns the store.
    pub fn store(&self) -> &CategoryStore {
        &self.store
    }

    /// Returns the current value; `None` if no model is deployed. Looks at the files at most once a second.
    pub fn current(&self) -> Option<Arc<T>> {
        let mut state = self.state.lock();
        if state.checked.is_none_or(|checked| checked.elapsed() >= INTERVAL) {
            self.check(&mut state);
        }
        state.current.clone()
    }

    /// Returns the current value after looking at the files at once.
    pub fn reload(&self) -> Option<Arc<T>> {
        let mut state = self.state.lock();
        self.check(&mut state);
        state.current.clone()
    }

    fn check(&self, state: &mut WatchState<T>) {
        state.checked = Some(Instant::now());
        let files = self.files.iter().map(|path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        });
        let files: FileState = files.collect();
        if files == state.files {
            return;
        }
        match (self.load)(&self.store) {
            Ok(loaded) => {
                if state.current.is_some() || loaded.is_some() {
                    info!(deployed = loaded.is_some(), "loaded the categories");
                }
                state.current = loaded.map(Arc::new);
            }
            Err(error) => warn!(%error, "cannot load the categories"),
        }
        state.files = files;
    }
}

#[cfg(test)]
mod tests;
