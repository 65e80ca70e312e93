//! Builds of the index inside a running process, started from the desk or by schedule, one at a time.

use std::sync::Arc;
use std::thread;

use parking_lot::{Mutex, MutexGuard};
use pharos_core::config::Config;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_store::DataDir;
use tracing::{info, warn};

use crate::EngineError;
use crate::build::history::{BuildProgress, BuildSummary, build_history};

/// Runs index builds of one data directory, one at a time, and reports their status.
pub struct BuildRunner {
    data: DataDir,
    config: Config,
    state: Mutex<BuildStatus>,
}

/// Status of index builds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildStatus {
    /// Start time and progress of the running build.
    pub running: Option<(Timestamp, BuildProgress)>,
    /// A stop was requested and is pending.
    pub stopping: bool,
    /// Time and outcome of the last build.
    pub last: Option<(Timestamp, Result<BuildSummary, String>)>,
}

impl BuildRunner {
    /// Creates a runner. Builds use one thread, to limit their effect on crawl and queries.
    pub fn new(data: DataDir, config: &Config) -> Self {
        let mut config = config.clone();
        config.engine.threads = 1;
        Self { data, config, state: Mutex::default() }
    }

    /// Returns the current status.
    pub fn state(&self) -> BuildStatus {
        self.lock_status().clone()
    }

    /// Starts a build on its own thread. Returns `false` if one is already running.
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
                *self.lock_status() = BuildStatus::default();
                Err(EngineError::StageFailed("building"))
            }
        }
    }

    /// Requests the running build to stop. Its pages are saved, and the next build resumes it.
    pub fn stop(&self) {
        let mut state = self.lock_status();
        state.stopping = state.running.is_some();
    }

    /// Builds on the calling thread unless a build is running. `keep_going` returns `false` to stop.
    pub(crate) fn run(&self, keep_going: impl Fn() -> bool) -> Option<Result<BuildSummary, EngineError>> {
        self.begin().then(|| self.build(keep_going))
    }

    fn begin(&self) -> bool {
        let mut state = self.lock_status();
        let is_idle = state.running.is_none();
        if is_idle {
            (state.running, state.stopping) = (Some((SystemClock.now(), BuildProgress::Sealing)), false);
        }
        is_idle
    }

    fn build(&self, keep_going: impl Fn() -> bool) -> Result<BuildSummary, EngineError> {
        let since = SystemClock.now();
        let built = build_history(&self.data, &self.config, false, |progress| {
            let mut state = self.lock_status();
            state.running = Some((since, progress));
            !state.stopping && keep_going()
        });
        let outcome = match &built {
            Ok(built) => {
                info!(generation = built.generation, pages = built.pages, "built a new history");
                Ok(built.clone())
            }
            Err(error) => {
                warn!(%error, "building a new history failed; searches use the old one");
                Err(error.to_string())
            }
        };
        *self.lock_status() =
            BuildStatus { last: Some((SystemClock.now(), outcome)), ..BuildStatus::default() };
        built
    }

    fn lock_status(&self) -> MutexGuard<'_, BuildStatus> {
        self.state.lock()
    }
}
