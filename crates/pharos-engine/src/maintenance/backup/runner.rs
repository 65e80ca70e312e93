//! Backups inside a running process, started from the desk or by schedule, one at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use tracing::{info, warn};

use super::last::{FailedBackup, FinishedBackup, record_failure, record_success};
use super::series::{SeriesPlan, add_backup};
use super::{BackupProgress, BackupSummary};
use crate::{EngineError, Stores};

/// Runs backups of one data directory, one at a time, and reports their progress.
pub struct BackupRunner {
    stores: Stores,
    state: Mutex<RunningBackup>,
}

/// The backup that runs now, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunningBackup {
    /// Start time and progress.
    pub running: Option<(Timestamp, BackupProgress)>,
    /// A stop was requested and is pending.
    pub stopping: bool,
}

impl BackupRunner {
    /// Creates a runner.
    pub fn new(stores: Stores) -> Self {
        Self { stores, state: Mutex::default() }
    }

    /// Returns the current state.
    pub fn state(&self) -> RunningBackup {
        *self.state.lock()
    }

    /// Returns the stores that are backed up.
    pub(super) fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Starts a backup on its own thread. Returns `false` if one is already running.
    pub fn start(self: &Arc<Self>, plan: SeriesPlan) -> Result<bool, EngineError> {
        if !self.begin() {
            return Ok(false);
        }
        let runner = Arc::clone(self);
        let work = move || {
            let _ = runner.back_up(&plan, || true);
        };
        match thread::Builder::new().name("backup".into()).spawn(work) {
            Ok(_) => Ok(true),
            Err(_) => {
                *self.state.lock() = RunningBackup::default();
                Err(EngineError::StageFailed("backup"))
            }
        }
    }

    /// Requests the running backup to stop; it is removed.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.stopping = state.running.is_some();
    }

    /// Makes a backup on the calling thread unless one is running. `keep_going` returns `false` to stop.
    pub(super) fn run(
        &self,
        plan: &SeriesPlan,
        keep_going: impl Fn() -> bool,
    ) -> Option<Result<(PathBuf, BackupSummary), EngineError>> {
        self.begin().then(|| self.back_up(plan, keep_going))
    }

    fn begin(&self) -> bool {
        let mut state = self.state.lock();
        let is_idle = state.running.is_none();
        if is_idle {
            let started = (SystemClock.now(), BackupProgress::default());
            *state = RunningBackup { running: Some(started), stopping: false };
        }
        is_idle
    }

    fn back_up(
        &self,
        plan: &SeriesPlan,
        keep_going: impl Fn() -> bool,
    ) -> Result<(PathBuf, BackupSummary), EngineError> {
        let since = SystemClock.now();
        let made = add_backup(&self.stores, plan, &mut |progress| {
            let mut state = self.state.lock();
            state.running = Some((since, progress));
            !state.stopping && keep_going()
        });
        self.record(&made);
        *self.state.lock() = RunningBackup::default();
        made
    }

    fn record(&self, made: &Result<(PathBuf, BackupSummary), EngineError>) {
        let (data, at) = (self.stores.data(), SystemClock.now());
        match made {
            Ok((path, summary)) => {
                info!(path = %path.display(), bytes = summary.bytes, copied = summary.copied, "backup complete");
                record_success(data, FinishedBackup::new(at, path, summary));
            }
            Err(EngineError::Stopped) => info!("backup stopped; earlier backups are unchanged"),
            Err(error) => {
                warn!(%error, "backup failed");
                record_failure(data, FailedBackup { at, reason: error.to_string() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pharos_store::DataDir;

    use super::super::last::read_last_backup;
    use super::super::tests::ingest;
    use super::*;
    use crate::stores::test_stores;

    #[test]
    fn one_backup_runs_at_a_time_and_its_outcome_is_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        ingest(&data, 0..5);
        let runner = Arc::new(BackupRunner::new(test_stores(&data)));
        let plan = SeriesPlan { directory: dir.path().join("backups"), keep: 1, disk_floor: 0 };
        assert!(runner.begin(), "nothing runs");
        assert!(runner.state().running.is_some() && !runner.start(plan.clone()).unwrap());
        runner.stop();
        assert!(runner.state().stopping);
        assert!(matches!(runner.back_up(&plan, || true), Err(EngineError::Stopped)));
        assert_eq!(runner.state(), RunningBackup::default());
        assert_eq!(read_last_backup(&data).finished, None);

        let (path, _) = runner.run(&plan, || true).unwrap().unwrap();
        let last = read_last_backup(&data);
        assert_eq!(last.finished.unwrap().path, path.to_string_lossy());
        let full = SeriesPlan { disk_floor: u64::MAX, ..plan };
        assert!(runner.run(&full, || true).unwrap().is_err());
        let last = read_last_backup(&data);
        assert!(last.finished.is_some() && last.failed.unwrap().reason.contains("disk_floor"));
    }
}
