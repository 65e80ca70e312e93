//! Progress and interruption of long commands.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use tokio::sync::watch;

use crate::{commands, console};

/// Time that a phase must have taken before its remaining time is estimated.
const ESTIMATE_AFTER: Duration = Duration::from_secs(2);

/// The progress line of a long command, and the signal to stop it.
pub(crate) struct LongTask {
    line: ProgressBar,
    stop: watch::Receiver<bool>,
    phase: RefCell<Phase>,
}

/// A part of a command whose length is known.
struct Phase {
    began: Instant,
    /// Amount done at the beginning and now.
    first: u64,
    done: u64,
    total: u64,
}

impl LongTask {
    /// Runs a command with a progress line until it ends, or until it notices Ctrl-C or SIGTERM by
    /// [`report`](Self::report) or [`stop`](Self::stop).
    pub(crate) fn run<T, E: Into<anyhow::Error>>(
        work: impl FnOnce(&Self) -> Result<T, E>,
    ) -> anyhow::Result<T> {
        // Handles the signals while this thread works.
        let runtime = commands::runtime()?;
        let stop = runtime.block_on(async { console::stop_signal() })?;
        let phase = RefCell::new(Phase::new(0, 0));
        let task = Self { line: console::progress(), stop, phase };
        let done = work(&task);
        // Before the result is printed.
        task.line.finish_and_clear();
        done.map_err(Into::into)
    }

    /// Shows how far the command has come. Returns `false` if it must stop.
    pub(crate) fn report(&self, progress: impl Into<String>) -> bool {
        self.line.set_message(progress.into());
        !*self.stop.borrow()
    }

    /// Like [`report`](Self::report), with percentage and remaining time. A total of 0 is unknown. A smaller amount or
    /// another total begins a new phase.
    pub(crate) fn report_part(&self, done: u64, total: u64, progress: impl Into<String>) -> bool {
        let mut phase = self.phase.borrow_mut();
        if total != phase.total || done < phase.done {
            *phase = Phase::new(done, total);
        }
        phase.done = done;
        self.report(format!("{}{}", progress.into(), phase.describe(phase.began.elapsed())))
    }

    /// Returns the signal to stop, for functions that wait for it themselves.
    pub(crate) fn stop(&self) -> &watch::Receiver<bool> {
        &self.stop
    }
}

impl Phase {
    fn new(done: u64, total: u64) -> Self {
        Self { began: Instant::now(), first: done, done, total }
    }

    /// Describes percentage and remaining time after `elapsed`.
    fn describe(&self, elapsed: Duration) -> String {
        if self.total == 0 {
            return String::new();
        }
        // Totals may be estimates.
        let percent = (100.0 * self.done as f64 / self.total as f64).min(100.0);
        let share =
            self.done.saturating_sub(self.first) as f64 / self.total.saturating_sub(self.first).max(1) as f64;
        if elapsed < ESTIMATE_AFTER || share <= 0.0 || share >= 1.0 {
            return format!(" · {percent:.0} %");
        }
        let left = elapsed.as_secs_f64() * (1.0 - share) / share;
        format!(" · {percent:.0} %, about {} left", console::duration(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentage_and_remaining_time_are_estimated() {
        let phase = |first, done, total| Phase { began: Instant::now(), first, done, total };
        let after = |phase: &Phase, seconds| phase.describe(Duration::from_secs(seconds));
        assert_eq!(after(&phase(0, 25, 100), 60), " · 25 %, about 3 min left");
        assert_eq!(after(&phase(0, 25, 100), 1), " · 25 %", "too early");
        assert_eq!(after(&phase(50, 75, 100), 10), " · 75 %, about 10 s left", "a resumed phase");
        assert_eq!(after(&phase(0, 120, 100), 60), " · 100 %", "the total was an estimate");
        assert_eq!(after(&phase(0, 5, 0), 60), "", "an unknown total");
    }
}
