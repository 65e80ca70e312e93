//! Where the settings of this process come from, for the operator's desk: it shows what holds and changes the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pharos_core::Config;

/// Settings as they are now.
#[derive(Clone, Debug, Default)]
pub struct LoadedSettings {
    /// What holds, from wherever.
    pub config: Config,
    /// Settings that the file does not decide, and what does.
    pub decided: BTreeMap<&'static str, &'static str>,
}

type Load = dyn Fn() -> Result<LoadedSettings, String> + Send + Sync;

/// A file with settings, and how it is read together with everything else that has a say.
#[derive(Clone)]
pub struct SettingsSource {
    file: PathBuf,
    load: Arc<Load>,
    /// Whoever changes the file holds it.
    changing: Arc<Mutex<()>>,
}

impl SettingsSource {
    /// `load` reads the file and everything else; what is wrong is told in words.
    pub fn new(
        file: impl Into<PathBuf>,
        load: impl Fn() -> Result<LoadedSettings, String> + Send + Sync + 'static,
    ) -> Self {
        Self { file: file.into(), load: Arc::new(load), changing: Arc::default() }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Keeps others of this process from changing the file meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn load(&self) -> Result<LoadedSettings, String> {
        (self.load)()
    }
}
