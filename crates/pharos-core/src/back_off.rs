//! Exponential back-off.

use std::time::Duration;

/// The law of a wait that grows with each consecutive failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackOff {
    /// Factor by which the wait grows.
    pub factor: u32,
    /// Longest wait, unless the first one is longer.
    pub longest: Duration,
}

impl BackOff {
    /// Between requests to a failing site: 2^(n−1) times the first wait, at most an hour.
    ///
    /// All pages of the site wait, so the crawler soon asks again whether the server has recovered.
    pub const SITE: Self = Self { factor: 2, longest: Duration::from_secs(3600) };

    /// Between attempts to fetch a failing page or robots.txt: 4^(n−1) times the first wait, at most a day.
    ///
    /// Only this page waits, so a few attempts cover an outage of hours and a dead page costs few requests.
    pub const PAGE: Self = Self { factor: 4, longest: Duration::from_secs(24 * 3600) };

    /// Returns the wait after a number of consecutive failures.
    pub fn wait(self, first: Duration, failures: u32) -> Duration {
        let longer = self.factor.saturating_pow(failures.saturating_sub(1));
        first.saturating_mul(longer).min(self.longest.max(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_their_limit() {
        let minutes = |law: BackOff, failures| law.wait(Duration::from_secs(60), failures).as_secs() / 60;
        let site: Vec<u64> = (1..=8).map(|failures| minutes(BackOff::SITE, failures)).collect();
        assert_eq!(site, [1, 2, 4, 8, 16, 32, 60, 60]);
        let page: Vec<u64> = (1..=8).map(|failures| minutes(BackOff::PAGE, failures)).collect();
        assert_eq!(page, [1, 4, 16, 64, 256, 1024, 1440, 1440]);
        for law in [BackOff::SITE, BackOff::PAGE] {
            assert_eq!(law.wait(Duration::from_secs(60), u32::MAX), law.longest);
            assert_eq!(law.wait(Duration::from_secs(1 << 20), 3), Duration::from_secs(1 << 20));
            assert_eq!(law.wait(Duration::ZERO, 9), Duration::ZERO);
            assert_eq!(law.wait(Duration::from_secs(60), 0), Duration::from_secs(60));
        }
    }
}
