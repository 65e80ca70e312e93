//! Refresh intervals with which known pages are scheduled.

use std::time::Duration;

use pharos_core::config::CrawlConfig;
use serde::{Deserialize, Serialize};

/// Interval between two visits by class of page, in milliseconds; 0 means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshIntervals {
    pub(crate) home: i64,
    pub(crate) hub: i64,
    pub(crate) feed: i64,
    pub(crate) page: i64,
}

/// A change of the interval of some pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntervalChange {
    pub(super) before: i64,
    pub(super) now: i64,
    /// `Some(true)` for home pages alone, `Some(false)` for all others.
    pub(super) home: Option<bool>,
}

impl RefreshIntervals {
    /// Returns the intervals of a configuration.
    pub fn from_config(config: &CrawlConfig) -> Self {
        let shortest = config.refresh_at_most_every;
        let millis = |interval: Duration| match interval.is_zero() {
            true => 0,
            false => i64::try_from(interval.max(shortest).as_millis()).unwrap_or(i64::MAX),
        };
        Self {
            home: millis(config.refresh_home),
            hub: millis(config.refresh_hub),
            feed: millis(config.refresh_feed),
            page: millis(config.refresh),
        }
    }

    /// Returns the changes between two configurations. The class of a page is known by its interval and, for home pages,
    /// by its URL. Where classes had the same interval, ordinary pages decide.
    pub(super) fn changes(&self, now: &Self) -> Vec<IntervalChange> {
        let mut changes: Vec<IntervalChange> = Vec::new();
        let classes = [
            (self.home, now.home, Some(true)),
            (self.page, now.page, Some(false)),
            (self.hub, now.hub, Some(false)),
            (self.feed, now.feed, Some(false)),
        ];
        for (before, now, home) in classes {
            let is_decided = changes.iter().any(|other| other.before == before && other.home == home);
            if before > 0 && !is_decided {
                changes.push(IntervalChange { before, now, home });
            }
        }
        changes.retain(|change| change.before != change.now);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_intervals_are_applied() {
        let before = RefreshIntervals { home: 5, hub: 5, feed: 3, page: 7 };
        assert_eq!(before.changes(&before), []);
        let now = RefreshIntervals { page: 0, hub: 2, ..before };
        let change = |before, now| IntervalChange { before, now, home: Some(false) };
        assert_eq!(before.changes(&now), [change(7, 0), change(5, 2)]);
        let never = RefreshIntervals { page: 0, ..before };
        assert_eq!(never.changes(&before), [], "pages without a next visit stay so");
    }
}
