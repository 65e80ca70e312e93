//! The clock of the web.
//!
//! The content of a page is a function of time. The server reads this clock, never the system clock, so a test can
//! stay at the start or let a month pass in one line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Start of every web: 2026-01-01 00:00:00 UTC, in Unix seconds.
///
/// Initial pages were published before it; every change comes after it.
pub const START: u64 = 1_767_225_600;

/// A clock that tests can move; clones share the same time.
#[derive(Clone, Debug)]
pub struct TestClock {
    hand: Arc<AtomicU64>,
    running: Option<(Instant, f64)>,
}

impl TestClock {
    /// Creates a clock that stays at [`START`] until it is moved: the web is static.
    pub fn at_start() -> TestClock {
        TestClock { hand: Arc::new(AtomicU64::new(START)), running: None }
    }

    /// Creates a clock that starts at [`START`] and lets `speed` simulated seconds pass per real second.
    pub fn running(speed: f64) -> TestClock {
        TestClock { hand: Arc::new(AtomicU64::new(START)), running: Some((Instant::now(), speed)) }
    }

    /// Returns the time of the web, in Unix seconds.
    pub fn now(&self) -> u64 {
        let passed = self.running.map_or(0.0, |(since, speed)| since.elapsed().as_secs_f64() * speed);
        self.hand.load(Ordering::Acquire) + passed as u64
    }

    /// Moves all clones of the clock forward.
    pub fn advance(&self, by: Duration) {
        self.hand.fetch_add(by.as_secs(), Ordering::AcqRel);
    }

    /// Sets the time (Unix seconds), forward or back. A running clock continues from there plus the time it has
    /// already run.
    pub fn set(&self, moment: u64) {
        self.hand.store(moment, Ordering::Release);
    }
}

impl Default for TestClock {
    fn default() -> TestClock {
        TestClock::at_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_move_together() {
        let clock = TestClock::at_start();
        let copy = clock.clone();
        clock.advance(Duration::from_secs(3600));
        assert_eq!(copy.now(), START + 3600);
        copy.set(START);
        assert_eq!(clock.now(), START);
    }
}
