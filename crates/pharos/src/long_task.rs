//! Progress and interruption of long commands.

use indicatif::ProgressBar;
use tokio::sync::watch;

use crate::{commands, console};

/// The progress line of a long command, and the signal to stop it.
pub(crate) struct LongTask {
    line: ProgressBar,
    stop: watch::Receiver<bool>,
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
        let task = Self { line: console::progress(), stop };
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

    /// Returns the signal to stop, for functions that wait for it themselves.
    pub(crate) fn stop(&self) -> &watch::Receiver<bool> {
        &self.stop
    }
}
