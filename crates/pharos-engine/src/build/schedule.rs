//! Scheduled builds: `pharos up` builds a new history when the last one is old or latest has grown large.
//!
//! Builds run on their own thread ([`BuildRunner`]), to limit their effect on crawl and queries. A failed build is
//! reported and retried later; a stopped one is resumed by the next build.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pharos_core::config::{Config, IndexConfig};
use pharos_core::schedule::Zone;
use pharos_core::{Clock, Timestamp};
use pharos_crawl::CrawlStatus;
use pharos_index::{GenerationStore, GenerationalIndex, Index, IndexError};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::EngineError;
use crate::build::runner::BuildRunner;
use crate::control::stop_signal::{StopSignal, wait_at_shutdown};

/// Minimum size of latest for a build by growth: below it, latest alone is as fast.
const LATEST_FLOOR: u64 = 10_000;
/// Delay after a failed build.
const RETRY: Duration = Duration::from_secs(600);
/// Interval of the checks whether a build is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The sizes of the index that decide whether a build is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexSize {
    /// Completion time of the history generation; without one, the start of latest.
    pub since: Option<Timestamp>,
    pub history: u64,
    pub latest: u64,
}

impl IndexSize {
    /// Reads the sizes from the current generations.
    pub(crate) fn read(index: &dyn GenerationalIndex) -> Result<Self, IndexError> {
        let (history, latest) = index.documents()?;
        Ok(Self { since: last_build_time(index.generations())?, history, latest })
    }
}

/// Returns the completion time of the history generation; without one, the start of latest.
fn last_build_time(generations: &dyn GenerationStore) -> Result<Option<Timestamp>, IndexError> {
    let current = generations.current()?;
    Ok(match (&current.history, current.latest.first()) {
        (Some(history), _) => generations.inventory_of(history).since,
        (None, Some(first)) => generations.inventory_of_latest(first).since,
        (None, None) => None,
    })
}

/// Returns the time at which the next build is due, or `None` if nothing is new or builds are disabled.
///
/// `zone` is the time zone of `index.build_at`. The first history does not wait for a day: until it exists, pages have
/// no link ranks, anchors and duplicate groups. It is due when the crawl is idle, or at `index.first_build` pages.
pub fn next_build_at(
    config: &IndexConfig,
    zone: &Zone,
    size: IndexSize,
    crawl_is_idle: bool,
    now: Timestamp,
) -> Option<Timestamp> {
    if size.latest == 0 {
        return None;
    }
    let is_first = size.history == 0 && config.first_build > 0;
    if is_first && (crawl_is_idle || size.latest >= config.first_build) {
        return Some(now);
    }
    let share = size.latest as f64 > config.latest_share * size.history as f64;
    if config.latest_share > 0.0 && share && size.latest >= LATEST_FLOOR {
        return Some(now);
    }
    let every = config.build_every;
    let by_age = (!every.is_zero()).then(|| size.since.map_or(now, |since| since.plus(every)));
    let by_time = config.build_at.next_after(size.since.unwrap_or(now), zone);
    by_age.into_iter().chain(by_time).min()
}

/// Decides when to build.
#[derive(Default)]
struct BuildTrigger {
    /// Earliest time of the next attempt after a failure.
    not_before: Option<Timestamp>,
}

impl BuildTrigger {
    fn is_due(&self, config: &Config, size: IndexSize, crawl_is_idle: bool, now: Timestamp) -> bool {
        let next = || next_build_at(&config.index, &config.crawl.time_zone, size, crawl_is_idle, now);
        self.not_before.is_none_or(|not_before| now >= not_before) && next().is_some_and(|at| at <= now)
    }

    /// Delays the next attempt after a failure.
    fn delay(&mut self, now: Timestamp) {
        self.not_before = Some(now.plus(RETRY));
    }
}

/// Sources of the schedule: configuration, clock and crawl of its engine.
pub(crate) struct BuildSources {
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) crawl: Arc<CrawlStatus>,
}

/// The thread that runs scheduled builds alongside an engine.
pub struct BuildSchedule(Option<JoinHandle<()>>);

impl BuildSchedule {
    /// Starts the thread, unless there is no index of generations.
    pub(crate) fn start(
        builds: Arc<BuildRunner>,
        sources: BuildSources,
        index: Option<Arc<dyn Index>>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, EngineError> {
        let Some(index) = index.filter(|index| index.generational().is_some()) else {
            return Ok(Self(None));
        };
        let work = move || run_schedule(&builds, &sources, &*index, &StopSignal(stop));
        let thread = thread::Builder::new().name("build".into()).spawn(work);
        Ok(Self(Some(thread.map_err(|_| EngineError::StageFailed("building"))?)))
    }

    /// Waits briefly for a running build to save its state.
    pub fn shut_down(self) {
        let Some(thread) = self.0 else { return };
        wait_at_shutdown(|| thread.is_finished());
    }
}

fn run_schedule(builds: &BuildRunner, sources: &BuildSources, index: &dyn Index, stop: &StopSignal) {
    let Some(index) = index.generational() else { return };
    let (mut trigger, mut reported) = (BuildTrigger::default(), String::new());
    while stop.wait(CHECK_INTERVAL) {
        let size = match IndexSize::read(index) {
            Ok(size) => size,
            Err(error) if reported == error.to_string() => continue,
            Err(error) => {
                reported = error.to_string();
                warn!(%error, "cannot determine whether a build is due");
                continue;
            }
        };
        let config = Arc::clone(&sources.config.borrow());
        if !trigger.is_due(&config, size, sources.crawl.report().idle, sources.clock.now()) {
            continue;
        }
        info!(history = size.history, latest = size.latest, "building a new history");
        match builds.run(|| !stop.is_raised()) {
            Some(Err(EngineError::Stopped)) if stop.is_raised() => return,
            Some(Err(_)) => trigger.delay(sources.clock.now()),
            Some(Ok(_)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::ManualClock;
    use pharos_core::schedule::Recurrence;

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn a_build_is_due_when_latest_spans_a_day() {
        let config = Config::default();
        let clock = ManualClock::starting_at(Timestamp::EPOCH);
        let trigger = BuildTrigger::default();
        let is_due = |size| trigger.is_due(&config, size, true, clock.now());
        let size = IndexSize { since: Some(clock.now()), history: 5, latest: 3 };
        assert!(!is_due(size));
        let next = |config: &IndexConfig| next_build_at(config, &Zone::default(), size, true, clock.now());
        assert_eq!(next(&config.index), Some(clock.now().plus(DAY)));
        clock.advance(DAY);
        assert!(is_due(size));
        assert!(!is_due(IndexSize { latest: 0, ..size }), "nothing is new");
        assert_eq!(next(&IndexConfig { build_every: Duration::ZERO, ..config.index.clone() }), None);
    }

    #[test]
    fn the_first_build_waits_for_the_first_crawl_or_a_number_of_pages() {
        let config = IndexConfig { build_every: Duration::ZERO, ..Config::default().index };
        let next = |config: &IndexConfig, history, latest, crawl_is_idle| {
            let size = IndexSize { since: None, history, latest };
            next_build_at(config, &Zone::default(), size, crawl_is_idle, Timestamp::EPOCH)
        };
        assert_eq!(next(&config, 0, 999, false), None);
        assert_eq!(next(&config, 0, 1_000, false), Some(Timestamp::EPOCH));
        assert_eq!(next(&config, 0, 3, true), Some(Timestamp::EPOCH), "every known page is fetched");
        assert_eq!(next(&config, 0, 0, true), None, "there is nothing to build");
        assert_eq!(next(&config, 3, 1_000, true), None, "a history exists");
        assert_eq!(next(&IndexConfig { first_build: 0, ..config }, 0, 1_000, true), None);
    }

    #[test]
    fn a_build_is_due_when_latest_is_large_beside_history() {
        let config = IndexConfig { build_every: Duration::ZERO, first_build: 0, ..Config::default().index };
        let now = Timestamp::EPOCH;
        let next = |config: &IndexConfig, history, latest| {
            let size = IndexSize { since: Some(now), history, latest };
            next_build_at(config, &Zone::default(), size, false, now)
        };
        let due_by_size = |history, latest| next(&config, history, latest).is_some();
        assert!(!due_by_size(100_000, 25_000) && due_by_size(100_000, 25_001));
        assert!(!due_by_size(0, 9_999) && due_by_size(0, 10_000), "few pages need no history");
        assert!(!due_by_size(100, 5_000));
        let never = IndexConfig { latest_share: 0.0, ..config.clone() };
        assert_eq!(next(&never, 1, 50_000), None);
    }

    #[test]
    fn a_build_is_due_at_its_time_of_day() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let config = IndexConfig {
            build_every: Duration::ZERO,
            build_at: Recurrence::parse("03:30").unwrap(),
            ..Config::default().index
        };
        let (zone, now) = (Zone::parse("Asia/Shanghai").unwrap(), at("2026-01-31T12:00:00Z"));
        let next = |since: Option<&str>, config: &IndexConfig| {
            let size = IndexSize { since: since.map(at), history: 5, latest: 3 };
            next_build_at(config, &zone, size, false, now).unwrap()
        };
        assert_eq!(next(None, &config), at("2026-01-31T19:30:00Z"));
        assert_eq!(next(Some("2026-01-31T11:00:00Z"), &config), at("2026-01-31T19:30:00Z"));
        assert_eq!(next(Some("2026-01-30T11:00:00Z"), &config), at("2026-01-30T19:30:00Z"), "it was missed");
        let both = IndexConfig { build_every: Duration::from_secs(3600), ..config };
        assert_eq!(next(Some("2026-01-31T11:30:00Z"), &both), at("2026-01-31T12:30:00Z"), "the earlier one");
    }

    #[test]
    fn what_failed_is_not_tried_again_at_once() {
        let clock = ManualClock::starting_at(Timestamp::EPOCH.plus(DAY));
        let (config, mut trigger) = (Config::default(), BuildTrigger::default());
        let size = IndexSize { since: None, history: 1, latest: 1 };
        let is_due = |trigger: &BuildTrigger| trigger.is_due(&config, size, false, clock.now());
        assert!(is_due(&trigger));
        trigger.delay(clock.now());
        assert!(!is_due(&trigger));
        clock.advance(RETRY);
        assert!(is_due(&trigger));
    }
}
