//! The conditions of alerts, as a function of samples of the engine.

use std::collections::VecDeque;
use std::time::Duration;

use pharos_core::Timestamp;
use pharos_core::config::{AlertsConfig, ByteSize};

use super::AlertKind;

/// Period over which the error rate is measured.
const RATE_PERIOD: Duration = Duration::from_secs(600);
/// Minimum interval between two remembered counts.
const COUNT_INTERVAL: Duration = Duration::from_secs(5);
/// Minimum number of requests or queries for a share.
const MIN_COUNT: u64 = 50;
/// Factor by which the share of queries without results must have risen.
const RISE: f64 = 1.5;

/// State of the engine at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AlertSample {
    /// The crawl runs, is not paused, and no crawl window is closed.
    pub(super) is_crawling: bool,
    /// The crawl ended with an error.
    pub(super) crawl_error: Option<String>,
    pub(super) fetched: u64,
    pub(super) failed: u64,
    pub(super) refused: u64,
    /// Pages in memory or in flight.
    pub(super) queued: u64,
    pub(super) free_disk: Option<u64>,
    pub(super) certificate_ends: Option<Timestamp>,
    pub(super) build_error: Option<String>,
    /// Time of the scheduled backup that was not made yet.
    pub(super) backup_due: Option<Timestamp>,
    pub(super) queries: QueryShare,
}

/// Queries, and queries without results, of the last hour and before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QueryShare {
    pub(super) recent: (u64, u64),
    pub(super) earlier: (u64, u64),
}

/// Evaluates samples. Some conditions depend on the past.
#[derive(Default)]
pub(super) struct Conditions {
    /// Counts of fetched and failed requests, oldest first.
    counts: VecDeque<(Timestamp, u64, u64)>,
    /// Progress of the crawl, and the time of the last change.
    progress: Option<(u64, Timestamp)>,
}

impl Conditions {
    /// Returns the alerts whose conditions hold, each with its value.
    pub(super) fn evaluate(
        &mut self,
        sample: &AlertSample,
        config: &AlertsConfig,
        now: Timestamp,
    ) -> Vec<(AlertKind, String)> {
        let found = [
            (AlertKind::CrawlStalled, self.stalled(sample, config, now)),
            (AlertKind::CrawlFailed, sample.crawl_error.clone()),
            (AlertKind::DiskNearlyFull, disk(sample, config)),
            (AlertKind::ErrorRate, self.error_rate(sample, config, now)),
            (AlertKind::CertificateEnds, certificate(sample, config, now)),
            (AlertKind::BuildFailed, sample.build_error.clone()),
            (AlertKind::NoResultsRising, no_results(sample.queries, config)),
            (AlertKind::BackupOverdue, backup(sample, config, now)),
        ];
        found.into_iter().filter_map(|(kind, value)| Some((kind, value?))).collect()
    }

    fn stalled(&mut self, sample: &AlertSample, config: &AlertsConfig, now: Timestamp) -> Option<String> {
        let done = sample.fetched + sample.failed + sample.refused;
        let is_waiting = sample.is_crawling && sample.queued > 0;
        let since = match self.progress {
            Some((before, since)) if before == done && is_waiting => since,
            _ => now,
        };
        self.progress = Some((done, since));
        let idle = now.since(since);
        let is_stalled = !config.stalled_after.is_zero() && is_waiting && idle >= config.stalled_after;
        is_stalled.then(|| format!("{} minutes", idle.as_secs() / 60))
    }

    fn error_rate(&mut self, sample: &AlertSample, config: &AlertsConfig, now: Timestamp) -> Option<String> {
        let last = self.counts.back().map(|(at, ..)| *at);
        if last.is_none_or(|at| now.since(at) >= COUNT_INTERVAL) {
            self.counts.push_back((now, sample.fetched, sample.failed));
        }
        while self.counts.len() > 1
            && self.counts.front().is_some_and(|(at, ..)| now.since(*at) > RATE_PERIOD)
        {
            self.counts.pop_front();
        }
        let (_, fetched, failed) = self.counts.front()?;
        let failed = sample.failed.saturating_sub(*failed);
        let all = failed + sample.fetched.saturating_sub(*fetched);
        let is_high = config.error_rate > 0.0 && all >= MIN_COUNT && share(failed, all) > config.error_rate;
        is_high.then(|| percent(failed, all))
    }
}

fn disk(sample: &AlertSample, config: &AlertsConfig) -> Option<String> {
    let free = sample.free_disk.filter(|free| *free < config.disk_free.0)?;
    // Whole megabytes, so that the text does not change all the time.
    Some(ByteSize(free >> 20 << 20).to_string())
}

fn certificate(sample: &AlertSample, config: &AlertsConfig, now: Timestamp) -> Option<String> {
    let end = sample.certificate_ends.filter(|_| !config.certificate_left.is_zero())?;
    (end < now.plus(config.certificate_left)).then(|| end.date())
}

fn backup(sample: &AlertSample, config: &AlertsConfig, now: Timestamp) -> Option<String> {
    let due = sample.backup_due.filter(|_| !config.backup_overdue.is_zero())?;
    (due.plus(config.backup_overdue) < now).then(|| due.to_string())
}

fn no_results(queries: QueryShare, config: &AlertsConfig) -> Option<String> {
    let ((recent, empty), (earlier, empty_earlier)) = (queries.recent, queries.earlier);
    let now = share(empty, recent);
    let is_high = config.no_results > 0.0 && recent >= MIN_COUNT && now > config.no_results;
    let has_risen = earlier < MIN_COUNT || now >= RISE * share(empty_earlier, earlier);
    (is_high && has_risen).then(|| percent(empty, recent))
}

fn share(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}

fn percent(part: u64, all: u64) -> String {
    format!("{} %", 100 * part / all.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(seconds))
    }

    fn kinds(sample: &AlertSample) -> Vec<AlertKind> {
        let config = AlertsConfig::default();
        let found = Conditions::default().evaluate(sample, &config, at(100 * 86_400));
        found.into_iter().map(|(kind, _)| kind).collect()
    }

    #[test]
    fn states_raise_their_alerts() {
        let none = AlertSample::default();
        assert_eq!(kinds(&none), []);
        let disk = AlertSample { free_disk: Some(100 << 20), ..none.clone() };
        assert_eq!(kinds(&disk), [AlertKind::DiskNearlyFull]);
        let soon = AlertSample { certificate_ends: Some(at(110 * 86_400)), ..none.clone() };
        assert_eq!(kinds(&soon), [AlertKind::CertificateEnds]);
        let later = AlertSample { certificate_ends: Some(at(120 * 86_400)), ..none.clone() };
        assert_eq!(kinds(&later), []);
        let build = AlertSample { build_error: Some("no space".into()), ..none.clone() };
        assert_eq!(kinds(&build), [AlertKind::BuildFailed]);
        let backup = AlertSample { backup_due: Some(at(99 * 86_400)), ..none.clone() };
        assert_eq!(kinds(&backup), [AlertKind::BackupOverdue]);
        let failed = AlertSample { crawl_error: Some("no contact".into()), ..none };
        assert_eq!(kinds(&failed), [AlertKind::CrawlFailed]);
    }

    #[test]
    fn queries_without_results_must_be_many_and_rising() {
        let raised =
            |recent, earlier| no_results(QueryShare { recent, earlier }, &AlertsConfig::default()).is_some();
        assert!(raised((100, 40), (0, 0)), "no comparison");
        assert!(!raised((49, 49), (0, 0)), "few queries");
        assert!(raised((100, 40), (1000, 200)) && !raised((100, 40), (1000, 300)));
        assert!(!raised((100, 30), (1000, 0)), "not above the share");
    }

    #[test]
    fn a_crawl_without_progress_is_stalled() {
        let (mut conditions, config) = (Conditions::default(), AlertsConfig::default());
        let sample = AlertSample { is_crawling: true, queued: 5, fetched: 7, ..AlertSample::default() };
        let mut is_stalled = |sample: &AlertSample, seconds| {
            let found = conditions.evaluate(sample, &config, at(seconds));
            found.iter().any(|(kind, _)| *kind == AlertKind::CrawlStalled)
        };
        assert!(!is_stalled(&sample, 0) && !is_stalled(&sample, 1799) && is_stalled(&sample, 1800));
        let progress = AlertSample { fetched: 8, ..sample.clone() };
        assert!(!is_stalled(&progress, 1801) && !is_stalled(&progress, 3600) && is_stalled(&progress, 3601));
        let paused = AlertSample { is_crawling: false, ..progress.clone() };
        assert!(!is_stalled(&paused, 9000) && !is_stalled(&progress, 9001), "the time starts again");
        let idle = AlertSample { queued: 0, ..progress };
        assert!(!is_stalled(&idle, 20_000));
    }

    #[test]
    fn the_error_rate_covers_ten_minutes() {
        let (mut conditions, config) = (Conditions::default(), AlertsConfig::default());
        let mut rate = |fetched, failed, seconds| {
            let sample = AlertSample { fetched, failed, ..AlertSample::default() };
            conditions.error_rate(&sample, &config, at(seconds))
        };
        assert_eq!(rate(0, 0, 0), None);
        assert_eq!(rate(10, 30, 60), None, "few requests");
        assert_eq!(rate(20, 60, 120).as_deref(), Some("75 %"));
        assert_eq!(rate(200, 60, 660), None, "most were answered since");
        for minute in 12..1000 {
            assert_eq!(rate(200, 60, minute * 60), None);
        }
        assert!(conditions.counts.len() < 20);
    }
}
