//! Moments, and a clock that tests can move.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The beginning of 1970.
    pub const EPOCH: Timestamp = Timestamp(0);

    /// From milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// From an ISO 8601 / RFC 3339 text such as a `WARC-Date`.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|t| Self(t.as_millisecond()))
    }

    /// With its milliseconds, where it has any: `2026-01-31T12:00:00.123Z`.
    pub fn to_precise(self) -> String {
        match self.0.rem_euclid(1000) {
            0 => self.to_string(),
            millis => format!("{}.{millis:03}Z", self.civil().strftime("%Y-%m-%dT%H:%M:%S")),
        }
    }

    /// The day in UTC, `2026-01-31`.
    pub fn date(self) -> String {
        self.civil().strftime("%Y-%m-%d").to_string()
    }

    /// This moment and `duration`.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This moment less `duration`.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long since `earlier`; zero when that lies in the future.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    fn civil(self) -> jiff::Timestamp {
        // Years beyond jiff's range are clamped: a date from outside never stops us.
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
}

/// `2026-01-31T12:00:00Z`, the form of WARC and of our JSON.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.civil().strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}

/// Where time comes from.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// A clock that stands still until it is moved.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Starts at `now`.
    pub fn starting_at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.0)))
    }

    /// Moves forward.
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
    fn absurd_moments_are_clamped() {
        assert!(Timestamp::from_millis(i64::MAX).to_string().starts_with("9999-"));
        assert!(!Timestamp::from_millis(i64::MIN).to_string().is_empty());
        assert_eq!(Timestamp::from_millis(i64::MAX).plus(Duration::from_secs(1)).millis(), i64::MAX);
    }

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::starting_at(Timestamp::EPOCH);
        assert_eq!(clock.now(), Timestamp::EPOCH);
        clock.advance(Duration::from_secs(5));
        assert_eq!(clock.now().since(Timestamp::EPOCH), Duration::from_secs(5));
    }
}
