//! Uniform refresh (统一重访): the same interval for all pages of a class.
//!
//! Cheap, and provably not worse than visiting pages in proportion to their change rates (《走进搜索引擎》§2.4.5; Cho &
//! Garcia-Molina 2003).

use std::time::Duration;

use super::{ConclusiveVisit, RefreshClass, StatusMeaning};

/// Intervals by page class; zero means never.
pub(crate) struct FixedIntervals {
    pub(crate) home: Duration,
    pub(crate) hub: Duration,
    pub(crate) feed: Duration,
    pub(crate) page: Duration,
    /// Lower bound on every interval.
    pub(crate) shortest: Duration,
}

impl FixedIntervals {
    /// Returns the wait until the next visit, or `None` for never.
    pub(crate) fn interval(&self, visit: &ConclusiveVisit) -> Option<Duration> {
        let interval = match visit.class {
            // Redirects and error pages use the interval of ordinary pages.
            _ if visit.meaning != StatusMeaning::Content => self.page,
            RefreshClass::Page => self.page,
            RefreshClass::Home => self.home,
            RefreshClass::Hub => self.hub,
            RefreshClass::Feed => self.feed,
        };
        (!interval.is_zero()).then(|| interval.max(self.shortest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_interval_within_the_highest_frequency() {
        let days = |n: u64| Duration::from_secs(n * 86_400);
        let policy = FixedIntervals {
            home: days(1),
            hub: days(2),
            feed: Duration::from_secs(60),
            page: days(7),
            shortest: days(1),
        };
        let visit = |status, class| {
            let meaning = StatusMeaning::from_status(status);
            ConclusiveVisit { class, meaning }
        };
        let interval = |status, class| policy.interval(&visit(status, class));
        assert_eq!(interval(200, RefreshClass::Home), Some(days(1)));
        assert_eq!(interval(200, RefreshClass::Hub), Some(days(2)));
        assert_eq!(interval(200, RefreshClass::Feed), Some(days(1)), "never more often than allowed");
        assert_eq!(interval(200, RefreshClass::Page), Some(days(7)));
        assert_eq!(interval(301, RefreshClass::Home), Some(days(7)));
        let never = FixedIntervals { page: Duration::ZERO, ..policy };
        assert_eq!(never.interval(&visit(200, RefreshClass::Page)), None);
    }
}
