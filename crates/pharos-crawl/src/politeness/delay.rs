//! The wait between two requests to a site.

use std::time::Duration;

use pharos_core::config::{CrawlConfig, PolitenessLimits};

use pharos_store::interpret::robots::RobotsRules;

/// Upper bound on the wait by the nice factor: one page in five minutes, which AltaVista Scooter granted a site
/// behind a modem.
pub const MAX_NICE_WAIT: Duration = Duration::from_secs(300);

/// Returns the wait between the end of a request and the start of the next one to the same site.
///
/// It is the maximum of the configured minimum (by day or night), the nice factor times the duration of the request,
/// and the server's `Crawl-delay`. The nice factor (好人系数) is AltaVista Scooter's: with 100, a server spends at most
/// 1/101 of its time on this crawler, however slow it is.
pub fn wait_after(
    limits: &PolitenessLimits,
    is_night: bool,
    took: Duration,
    crawl_delay: Duration,
) -> Duration {
    let minimum = if is_night { limits.night_delay } else { limits.day_delay };
    let nice = took.saturating_mul(limits.nice_factor).min(MAX_NICE_WAIT);
    minimum.max(nice).max(crawl_delay)
}

/// Returns the `Crawl-delay` of a robots.txt, at most `crawl.max_crawl_delay`.
pub fn crawl_delay(config: &CrawlConfig, robots: Option<&RobotsRules>) -> Duration {
    robots.and_then(RobotsRules::crawl_delay).unwrap_or_default().min(config.max_crawl_delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nice(factor: u32) -> PolitenessLimits {
        PolitenessLimits { nice_factor: factor, ..PolitenessLimits::OWN_SITE }
    }

    fn wait(limits: &PolitenessLimits, took: Duration) -> Duration {
        wait_after(limits, false, took, Duration::ZERO)
    }

    #[test]
    fn a_fast_site_is_requested_once_a_second() {
        assert_eq!(wait(&nice(100), Duration::from_millis(10)), Duration::from_secs(1));
    }

    #[test]
    fn a_slow_site_is_requested_once_in_five_minutes() {
        assert_eq!(wait(&nice(100), Duration::from_secs(3)), Duration::from_secs(300));
        assert_eq!(wait(&nice(100), Duration::from_secs(100)), MAX_NICE_WAIT, "and never less often");
    }

    #[test]
    fn a_server_spends_at_most_one_percent_on_the_crawler() {
        for millis in [1, 10, 250, 3000] {
            let took = Duration::from_millis(millis);
            let share = took.as_secs_f64() / (took + wait(&nice(100), took)).as_secs_f64();
            assert!((share - 1.0 / 101.0).abs() < 1e-9 && share < 0.01, "{share}");
        }
    }

    #[test]
    fn the_longest_reason_to_wait_counts() {
        let gentle = PolitenessLimits::GENTLE;
        let seconds = |is_night, took, requested| {
            wait_after(&gentle, is_night, Duration::from_millis(took), Duration::from_secs(requested))
                .as_secs_f64()
        };
        assert_eq!(seconds(false, 20, 0), 10.0, "by day");
        assert_eq!(seconds(true, 5, 0), 1.0, "by night");
        assert_eq!(seconds(true, 20, 0), 2.0, "a slow answer");
        assert_eq!(seconds(true, 20, 30), 30.0, "the server's Crawl-delay");
        assert_eq!(wait(&PolitenessLimits::OWN_SITE, Duration::MAX), Duration::ZERO);
        assert_eq!(wait(&nice(u32::MAX), Duration::MAX), MAX_NICE_WAIT);
    }

    #[test]
    fn a_crawl_delay_counts_up_to_the_limit() {
        let config = CrawlConfig { max_crawl_delay: Duration::from_secs(60), ..Default::default() };
        let delay = |seconds: u64| {
            let robots = RobotsRules::parse(format!("user-agent: *\ncrawl-delay: {seconds}").as_bytes(), "a");
            crawl_delay(&config, Some(&robots)).as_secs()
        };
        assert_eq!((delay(0), delay(5), delay(500)), (0, 5, 60));
        assert_eq!(crawl_delay(&config, None), Duration::ZERO);
    }
}
