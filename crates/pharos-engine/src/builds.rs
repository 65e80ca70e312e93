//! Builds of the index that somebody asked for, on the desk or by the clock: one at a time, and everybody can see how far
//! it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use pharos_core::config::Config;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_store::DataDir;
use tracing::{info, warn};

use crate::EngineError;
use crate::build::{BuildSummary, Progress, build_history};

/// The builds of one data directory by one process.
pub struct Builds {
    data: DataDir,
    config: Config,
    state: Mutex<BuildState>,
}

/// How builds are doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildState {
    /// The one that runs: since when, and how far it is.
    pub running: Option<(Timestamp, Progress)>,
    /// It was asked to stop and will, soon.
    pub stopping: bool,
    /// What came of the last one, and when.
    pub last: Option<(Timestamp, Result<BuildSummary, String>)>,
}

impl Builds {
    /// Nothing is built yet. Builds read with one thread, so that crawl and queries hardly notice.
    pub fn new(data: DataDir, config: &Config) -> Self {
        let mut config = config.clone();
        config.engine.threads = 1;
        Self { data, config, state: Mutex::default() }
    }

    /// How they are doing.
    pub fn state(&self) -> BuildState {
        self.locked().clone()
    }

    /// Starts one beside everything else. False where one runs already.
    pub fn start(self: &Arc<Self>) -> Result<bool, EngineError> {
        if !self.begin() {
            return Ok(false);
        }
        let builds = Arc::clone(self);
        let work = move || {
            let _ = builds.build(|| true);
        };
        match thread::Builder::new().name("build".into()).spawn(work) {
            Ok(_) => Ok(true),
            Err(_) => {
                *self.locked() = BuildState::default();
                Err(EngineError::Stage("building"))
            }
        }
    }

    /// Asks the one that runs to stop. What it has is saved, and the next goes on with it.
    pub fn stop(&self) {
        let mut state = self.locked();
        state.stopping = state.running.is_some();
    }

    /// Builds here and now, unless one runs already. `go_on` is asked now and then.
    pub(crate) fn run(&self, go_on: impl Fn() -> bool) -> Option<Result<BuildSummary, EngineError>> {
        self.begin().then(|| self.build(go_on))
    }

    fn begin(&self) -> bool {
        let mut state = self.locked();
        let is_free = state.running.is_none();
        if is_free {
            (state.running, state.stopping) = (Some((SystemClock.now(), Progress::Sealing)), false);
        }
        is_free
    }

    fn build(&self, go_on: impl Fn() -> bool) -> Result<BuildSummary, EngineError> {
        let since = SystemClock.now();
        let built = build_history(&self.data, &self.config, |progress| {
            let mut state = self.locked();
            state.running = Some((since, progress));
            !state.stopping && go_on()
        });
        let told = match &built {
            Ok(built) => {
                info!(generation = built.generation, pages = built.pages, "built a new history");
                Ok(*built)
            }
            Err(error) => {
                warn!(%error, "no new history was built: searches go on with the old one");
                Err(error.to_string())
            }
        };
        *self.locked() = BuildState { last: Some((SystemClock.now(), told)), ..BuildState::default() };
        built
    }

    fn locked(&self) -> MutexGuard<'_, BuildState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
