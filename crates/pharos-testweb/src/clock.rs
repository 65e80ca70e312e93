//! The time of the web.
//!
//! A page is what it is *at a moment*. The server asks this clock, never the system, which moment it is; so a
//! test can stand still at the start, or let a month pass in one line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The moment every web begins: 2026-01-01 00:00:00 UTC, in Unix seconds.
///
/// Pages that exist from the start were published before it; every change comes after it.
pub const START: u64 = 1_767_225_600;

/// A clock that tests can move; copies show the same time.
#[derive(Clone, Debug)]
pub struct TestClock {
    hand: Arc<AtomicU64>,
    running: Option<(Instant, f64)>,
}

impl TestClock {
    /// A clock that stands at [`START`] until it is moved: the web is static.
    pub fn at_start() -> TestClock {
        TestClock { hand: Arc::new(AtomicU64::new(START)), running: None }
    }

    /// A clock that begins at [`START`] and lets `speed` seconds of the web pass in each real second.
    pub fn running(speed: f64) -> TestClock {
        TestClock { hand: Arc::new(AtomicU64::new(START)), running: Some((Instant::now(), speed)) }
    }

    /// The time on the web, in Unix seconds.
    pub fn now(&self) -> u64 {
        let passed = self.running.map_or(0.0, |(since, speed)| since.elapsed().as_secs_f64() * speed);
        self.hand.load(Ordering::Acquire) + passed as u64
    }

    /// Moves all copies of the clock forward.
    pub fn advance(&self, by: Duration) {
        self.hand.fetch_add(by.as_secs(), Ordering::AcqRel);
    }

    /// Puts the hand at a moment (Unix seconds), forward or back; a running clock runs on from there plus what
    /// it has already run.
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
