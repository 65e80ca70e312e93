//! Evaluates the conditions of alerts once a second and delivers new alerts, beside the engine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use pharos_core::config::Config;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_crawl::CrawlStatus;
use pharos_crawl::politeness::site_settings::SiteSettingsTable;
use pharos_mining::machine::disk_space;
use pharos_store::DataDir;
use tokio::sync::{mpsc, watch};
use tracing::warn;

use super::Alert;
use super::book::AlertBook;
use super::certificate::certificate_end;
use super::conditions::{AlertSample, Conditions, QueryShare};
use super::delivery::{DeliveryOutcome, DeliveryQueue, endpoint_names};
use super::query_share::query_share;
use crate::build::runner::BuildRunner;
use crate::maintenance::backup::last::read_last_backup;
use crate::maintenance::backup::schedule::next_backup_at;
use crate::status::engine_status::CrawlPhase;

/// Interval of samples and delivery attempts.
const INTERVAL: Duration = Duration::from_secs(1);
/// Number of samples between two readings of files that change slowly.
const SLOW_READINGS: u64 = 30;
/// Capacity of the channels between evaluation and delivery. A full one drops messages: the book has them.
const CHANNEL: usize = 64;

/// The parts of an engine that alerts are about.
#[derive(Clone)]
pub struct AlertSources {
    pub(crate) data: DataDir,
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) status: Arc<CrawlStatus>,
    pub(crate) phase: Arc<Mutex<CrawlPhase>>,
    pub(crate) builds: Arc<BuildRunner>,
}

/// Watches the engine until `stop` becomes `true`. Evaluation and delivery are tasks of their own, so that an endpoint
/// that does not respond delays no alert on the desk.
pub async fn watch_alerts(sources: AlertSources, stop: watch::Receiver<bool>) {
    let (raised_in, raised_out) = mpsc::channel(CHANNEL);
    let (outcomes_in, outcomes_out) = mpsc::channel(CHANNEL);
    let delivering = tokio::spawn(deliver(sources.config.clone(), raised_out, outcomes_in));
    let mut stopped = stop;
    tokio::select! {
        _ = stopped.wait_for(|stop| *stop) => {}
        () = evaluate(sources, raised_in, outcomes_out) => {}
    }
    delivering.abort();
}

async fn evaluate(
    sources: AlertSources,
    raised: mpsc::Sender<Alert>,
    mut outcomes: mpsc::Receiver<DeliveryOutcome>,
) {
    let started = SystemClock.now();
    let mut conditions = Conditions::default();
    let mut book = AlertBook::read(&sources.data);
    // Those of an earlier process that no endpoint accepted.
    for alert in book.undelivered() {
        let _ = raised.try_send(alert);
    }
    let mut slow = SlowReadings::default();
    for round in 0_u64.. {
        tokio::time::sleep(INTERVAL).await;
        let (config, now) = (Arc::clone(&sources.config.borrow()), SystemClock.now());
        if round.is_multiple_of(SLOW_READINGS) {
            let (data, config) = (sources.data.clone(), Arc::clone(&config));
            let read = tokio::task::spawn_blocking(move || SlowReadings::read(&data, &config, now));
            slow = read.await.unwrap_or_default();
        }
        let before = book.clone();
        let sample = sources.sample(&config, &slow, started, now);
        let found = conditions.evaluate(&sample, &config.alerts, now);
        for alert in book.update(found, config.alerts.clear_after, now) {
            warn!(alert = alert.kind.name(), "{}", alert.kind.describe(&alert.value));
            for endpoint in endpoint_names(&config.alerts) {
                book.set_outcome(alert.kind, alert.since, endpoint, Some("not sent yet".into()));
            }
            let _ = raised.try_send(alert);
        }
        while let Ok(outcome) = outcomes.try_recv() {
            book.set_outcome(outcome.kind, outcome.since, outcome.endpoint, outcome.error);
        }
        if book != before
            && let Err(error) = book.write(&sources.data)
        {
            warn!(%error, "cannot store the alerts");
        }
    }
}

async fn deliver(
    config: watch::Receiver<Arc<Config>>,
    mut raised: mpsc::Receiver<Alert>,
    outcomes: mpsc::Sender<DeliveryOutcome>,
) {
    let mut queue = DeliveryQueue::default();
    loop {
        tokio::time::sleep(INTERVAL).await;
        let (config, now) = (Arc::clone(&config.borrow()), SystemClock.now());
        while let Ok(alert) = raised.try_recv() {
            queue.enqueue(&alert, &config.alerts, now);
        }
        for outcome in queue.deliver(&config, now).await {
            let _ = outcomes.try_send(outcome);
        }
    }
}

/// Readings of files that change slowly.
#[derive(Default)]
struct SlowReadings {
    certificate_ends: Option<Timestamp>,
    queries: QueryShare,
}

impl SlowReadings {
    fn read(data: &DataDir, config: &Config, now: Timestamp) -> Self {
        let certificate = Path::new(&config.web.certificate);
        Self { certificate_ends: certificate_end(certificate), queries: query_share(&data.logs(), now) }
    }
}

impl AlertSources {
    fn sample(
        &self,
        config: &Config,
        slow: &SlowReadings,
        started: Timestamp,
        now: Timestamp,
    ) -> AlertSample {
        let (crawl, phase) = (self.status.report(), self.phase.lock().clone());
        let table = SiteSettingsTable::parse(&config.crawl.site_settings).unwrap_or_default();
        let has_closed_site = table
            .with_windows()
            .iter()
            .any(|(_, settings)| settings.closed_until(&config.crawl.time_zone, now).is_some());
        AlertSample {
            is_crawling: phase == CrawlPhase::Running && !crawl.paused && !has_closed_site,
            crawl_error: match phase {
                CrawlPhase::Failed(error) => Some(error),
                _ => None,
            },
            fetched: crawl.pages,
            failed: crawl.failed,
            refused: crawl.refused,
            queued: crawl.queued + crawl.in_flight,
            free_disk: disk_space(self.data.root()).map(|(_, free)| free),
            certificate_ends: slow.certificate_ends,
            build_error: self.builds.state().last.and_then(|(_, built)| built.err()),
            backup_due: next_backup_at(config, &read_last_backup(&self.data), started),
            queries: slow.queries,
        }
    }
}
