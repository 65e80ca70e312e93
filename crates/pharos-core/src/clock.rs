//! Timestamps, and a clock that tests can set.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The Unix epoch, 1970-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(0);

    /// Creates a timestamp from milliseconds since the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds since the epoch, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Parses an ISO 8601 / RFC 3339 timestamp such as a `WARC-Date`.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|t| Self(t.as_millisecond()))
    }

    /// Formats the timestamp with milliseconds, unless they are zero: `2026-01-31T12:00:00.123Z`.
    pub fn to_precise(self) -> String {
        match self.0.rem_euclid(1000) {
            0 => self.to_string(),
            millis => format!("{}.{millis:03}Z", self.civil().strftime("%Y-%m-%dT%H:%M:%S")),
        }
    }

    /// Returns the UTC date, `2026-01-31`.
    pub fn date(self) -> String {
        self.civil().strftime("%Y-%m-%d").to_string()
    }

    /// Returns the timestamp `duration` later, saturating at the maximum.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns the timestamp `duration` earlier, saturating at the minimum.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is later than `self`.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    fn civil(self) -> jiff::Timestamp {
        // Years beyond jiff's range are clamped, so that untrusted dates never fail.
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
}

/// Formats as `2026-01-31T12:00:00Z`, as in WARC headers and JSON output.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.civil().strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// A clock for tests that changes only when it is advanced. Clones share the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Creates a clock that shows `now`.
    pub fn starting_at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.0)))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_print_and_parse() {
        let t = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        assert_eq!(t.to_string(), "2026-01-31T12:00:00Z");
        assert_eq!(t.date(), "2026-01-31");
        assert_eq!(Timestamp::parse("yesterday"), None);
    }

    #[test]
    fn out_of_range_timestamps_are_clamped() {
        assert!(Timestamp::from_millis(i64::MAX).to_string().starts_with("9999-"));
        assert!(!Timestamp::from_millis(i64::MIN).to_string().is_empty());
        assert_eq!(Timestamp::from_millis(i64::MAX).plus(Duration::from_secs(1)).millis(), i64::MAX);
    }

    #[test]
    fn a_manual_clock_moves_only_when_advanced() {
        let clock = ManualClock::starting_at(Timestamp::EPOCH);
        assert_eq!(clock.now(), Timestamp::EPOCH);
        clock.advance(Duration::from_secs(5));
        assert_eq!(clock.now().since(Timestamp::EPOCH), Duration::from_secs(5));
    }
}
