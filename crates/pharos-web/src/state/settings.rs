//! Source of the settings for the operator's desk, which shows the effective values and edits the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use pharos_core::Config;

/// Effective settings.
#[derive(Clone, Debug, Default)]
pub struct LoadedSettings {
    /// Values from all sources.
    pub config: Config,
    /// Settings that are overridden outside the file, with the name of the source.
    pub overrides: BTreeMap<&'static str, &'static str>,
}

type Load = dyn Fn() -> Result<LoadedSettings, String> + Send + Sync;

/// The configuration file, and a function that loads the effective settings.
#[derive(Clone)]
pub struct SettingsSource {
    file: PathBuf,
    load: Arc<Load>,
    /// Held while the file is changed.
    changing: Arc<Mutex<()>>,
}

impl SettingsSource {
    /// Creates a source. `load` returns the effective settings, or an error message.
    pub fn new(
        file: impl Into<PathBuf>,
        load: impl Fn() -> Result<LoadedSettings, String> + Send + Sync + 'static,
    ) -> Self {
        Self { file: file.into(), load: Arc::new(load), changing: Arc::default() }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Locks the file against changes by other requests of this process.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.changing.lock()
    }

    pub(crate) fn load(&self) -> Result<LoadedSettings, String> {
        (self.load)()
    }
}
