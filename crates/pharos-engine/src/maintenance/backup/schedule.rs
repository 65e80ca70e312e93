//! Scheduled backups of a running engine.
//!
//! The settings are read at every check, so that changes take effect at once. A time that passed while no engine was
//! running is made up for at the next start.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pharos_core::config::Config;
use pharos_core::{BackOff, Clock, Timestamp};
use tokio::sync::watch;
use tracing::warn;

use super::last::{LastBackup, read_last_backup};
use super::runner::BackupRunner;
use super::series::SeriesPlan;
use crate::EngineError;
use crate::control::stop_signal::{StopSignal, wait_at_shutdown};

/// Interval of the checks whether a backup is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Delay after a failed backup, and the law by which it grows.
const RETRY: Duration = Duration::from_secs(600);
const RETRY_LAW: BackOff = BackOff { factor: 2, longest: Duration::from_secs(6 * 3600) };

/// Returns the time of the next scheduled backup. `started` is the time since which the schedule is in force.
pub fn next_backup_at(config: &Config, last: &LastBackup, started: Timestamp) -> Option<Timestamp> {
    if config.backup.directory.is_empty() {
        return None;
    }
    let finished = last.finished.as_ref().map(|backup| backup.at);
    match (&config.backup.schedule, finished) {
        (pharos_core::schedule::Recurrence::Every(_), None) => Some(started),
        (schedule, finished) => schedule.next_after(finished.unwrap_or(started), &config.crawl.time_zone),
    }
}

/// The thread that makes scheduled backups alongside an engine.
pub struct BackupSchedule {
    runner: Arc<BackupRunner>,
    thread: JoinHandle<()>,
}

impl BackupSchedule {
    /// Starts the thread.
    pub(crate) fn start(
        runner: Arc<BackupRunner>,
        config: watch::Receiver<Arc<Config>>,
        clock: Arc<dyn Clock>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, EngineError> {
        let backups = Arc::clone(&runner);
        let work = move || run_schedule(&backups, &config, &*clock, &StopSignal(stop));
        let thread = thread::Builder::new().name("backup".into()).spawn(work);
        Ok(Self { runner, thread: thread.map_err(|_| EngineError::StageFailed("backup"))? })
    }

    /// Stops a running backup and waits briefly for it to remove its files. The next backup removes them otherwise.
    pub fn shut_down(self) {
        self.runner.stop();
        wait_at_shutdown(|| self.thread.is_finished() && self.runner.state().running.is_none());
    }
}

/// Consecutive failures of scheduled backups.
#[derive(Default)]
struct Failures {
    count: u32,
    not_before: Option<Timestamp>,
    /// Directory and schedule that failed; other settings are tried at once.
    settings: Option<SeriesPlan>,
}

impl Failures {
    fn allow(&self, plan: &SeriesPlan, now: Timestamp) -> bool {
        self.settings.as_ref() != Some(plan) || self.not_before.is_none_or(|not_before| now >= not_before)
    }

    fn record(&mut self, plan: SeriesPlan, now: Timestamp) {
        self.count = if self.settings.as_ref() == Some(&plan) { self.count + 1 } else { 1 };
        self.not_before = Some(now.plus(RETRY_LAW.wait(RETRY, self.count)));
        self.settings = Some(plan);
    }
}

fn run_schedule(
    runner: &BackupRunner,
    config: &watch::Receiver<Arc<Config>>,
    clock: &dyn Clock,
    stop: &StopSignal,
) {
    let started = clock.now();
    let mut failures = Failures::default();
    let mut reported = String::new();
    while stop.wait(CHECK_INTERVAL) {
        let (config, now) = (Arc::clone(&config.borrow()), clock.now());
        if config.backup.directory.is_empty() {
            continue;
        }
        let last = read_last_backup(runner.stores().data());
        if next_backup_at(&config, &last, started).is_none_or(|at| at > now) {
            continue;
        }
        let plan = match SeriesPlan::from_config(&config) {
            Ok(plan) => plan,
            Err(error) => {
                if reported != error.to_string() {
                    reported = error.to_string();
                    warn!(%error, "no backup is made");
                }
                continue;
            }
        };
        if !failures.allow(&plan, now) {
            continue;
        }
        match runner.run(&plan, || !stop.is_raised()) {
            Some(Err(EngineError::Stopped)) if stop.is_raised() => return,
            Some(Err(_)) => failures.record(plan, clock.now()),
            Some(Ok(_)) => failures = Failures::default(),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::schedule::Recurrence;

    use super::super::last::FinishedBackup;
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_backup_is_due_at_its_time_or_after_its_interval() {
        let mut config = Config::default();
        config.crawl.time_zone = pharos_core::schedule::Zone::parse("Z").unwrap();
        let started = at("2026-01-31T12:00:00Z");
        let never = LastBackup::default();
        let since = |text: &str| LastBackup {
            finished: Some(FinishedBackup { at: at(text), ..FinishedBackup::default() }),
            failed: None,
        };
        config.backup.schedule = Recurrence::parse("03:30").unwrap();
        assert_eq!(next_backup_at(&config, &never, started), None, "no directory is set");
        config.backup.directory = "/mnt/backup".into();
        assert_eq!(next_backup_at(&config, &never, started), Some(at("2026-02-01T03:30:00Z")));
        let missed = next_backup_at(&config, &since("2026-01-30T03:31:00Z"), started);
        assert_eq!(missed, Some(at("2026-01-31T03:30:00Z")), "made up for at once");
        config.backup.schedule = Recurrence::parse("6h").unwrap();
        assert_eq!(next_backup_at(&config, &never, started), Some(started), "the first at once");
        let next = next_backup_at(&config, &since("2026-01-31T11:00:00Z"), started);
        assert_eq!(next, Some(at("2026-01-31T17:00:00Z")));
        config.backup.schedule = Recurrence::Never;
        assert_eq!(next_backup_at(&config, &never, started), None);
    }

    #[test]
    fn failures_wait_longer_each_time_and_new_settings_are_tried_at_once() {
        let plan = |name: &str| SeriesPlan { directory: name.into(), keep: 1, disk_floor: 0 };
        let (mut failures, now) = (Failures::default(), Timestamp::EPOCH);
        assert!(failures.allow(&plan("/a"), now));
        failures.record(plan("/a"), now);
        assert!(!failures.allow(&plan("/a"), now) && failures.allow(&plan("/b"), now));
        assert!(failures.allow(&plan("/a"), now.plus(RETRY)));
        failures.record(plan("/a"), now);
        assert!(
            !failures.allow(&plan("/a"), now.plus(RETRY)) && failures.allow(&plan("/a"), now.plus(RETRY * 2))
        );
    }
}
