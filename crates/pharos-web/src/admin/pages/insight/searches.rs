//! The searches of the last days, read at most once in ten minutes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_engine::behaviour::report_inputs;
use pharos_mining::DayRange;
use pharos_mining::behaviour::{BehaviourReport, build_report};
use pharos_mining::import::UtcOffset;
use pharos_mining::search_log::{SearchLog, read_data_dir};

use crate::admin::DeskError;
use crate::admin::pages::commands::spawn_blocking;
use crate::state::{AppState, Service, ServiceError};

/// Time after which the logs are read again.
const LIFETIME: Duration = Duration::from_secs(600);
/// Searches up to which a change of the logs is read at once.
const SMALL: usize = 20_000;

/// The searches read last.
#[derive(Default)]
pub(crate) struct SearchCache(Mutex<Option<Arc<RecentSearches>>>);

/// The searches of some days with their report.
pub(crate) struct RecentSearches {
    days: u32,
    read: Instant,
    pub(super) log: SearchLog,
    pub(super) report: BehaviourReport,
}

impl RecentSearches {
    /// Returns the searches.
    pub(crate) fn log(&self) -> &SearchLog {
        &self.log
    }
}

/// Returns the searches of the last days. Concurrent requests wait for one reader.
pub(crate) async fn read_searches(app: &AppState, days: u32) -> Result<Arc<RecentSearches>, ServiceError> {
    let desk = Arc::clone(app.desk());
    spawn_blocking(app, move |service| {
        let mut cached = desk.searches().0.lock();
        if let Some(recent) = &*cached
            && recent.days == days
            && recent.log.searches.len() > SMALL
            && recent.read.elapsed() < LIFETIME
        {
            return Ok(Arc::clone(recent));
        }
        // The memory of the old searches is released first.
        *cached = None;
        let recent = Arc::new(read(service, days, SystemClock.now())?);
        *cached = Some(Arc::clone(&recent));
        Ok(recent)
    })
    .await
}

fn read(service: &Service, days: u32, now: Timestamp) -> Result<RecentSearches, ServiceError> {
    let first = now.minus(Duration::from_secs(86_400 * u64::from(days.max(1) - 1)));
    let range = DayRange { from: Some(first.date()), to: None };
    let log = read_data_dir(&service.data.logs(), &range, now).map_err(DeskError::Io)?;
    let report = build_report(&log, report_inputs(&service.stores, &log, UtcOffset::UTC)?);
    Ok(RecentSearches { days, read: Instant::now(), log, report })
}
