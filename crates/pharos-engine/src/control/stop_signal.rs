//! The stop signal of an engine, for threads that check at intervals whether something is due.

use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// Interval of the checks for the signal.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Time allowed for such a thread to end its work at shutdown. Interrupting it later is harmless.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The stop signal of an engine.
pub(crate) struct StopSignal(pub(crate) watch::Receiver<bool>);

impl StopSignal {
    /// Returns `true` if the engine stops. A closed channel means that it has ended.
    pub(crate) fn is_raised(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits for this long. Returns `false` as soon as the engine stops.
    pub(crate) fn wait(&self, interval: Duration) -> bool {
        let end = Instant::now() + interval;
        while Instant::now() < end {
            if self.is_raised() {
                return false;
            }
            thread::sleep(CHECK_INTERVAL);
        }
        true
    }
}

/// Waits briefly at shutdown until a thread has ended its work.
pub(crate) fn wait_at_shutdown(has_ended: impl Fn() -> bool) {
    let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
    while !has_ended() && Instant::now() < deadline {
        thread::sleep(CHECK_INTERVAL / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_the_engine() {
        let (sender, receiver) = watch::channel(false);
        let stop = StopSignal(receiver);
        assert!(stop.wait(Duration::from_millis(1)));
        sender.send_replace(true);
        assert!(stop.is_raised() && !stop.wait(Duration::from_secs(1_000)));
        let (sender, receiver) = watch::channel(false);
        drop(sender);
        assert!(StopSignal(receiver).is_raised(), "the engine has ended");
    }
}
