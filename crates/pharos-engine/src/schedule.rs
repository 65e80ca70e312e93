//! Building by itself: `up` starts a build when the last one is old, or when latest has grown large beside it.
//!
//! The build runs on a thread of its own ([`Builds`]), so that crawl and queries hardly notice. One
//! that fails is told and tried again later; one that is stopped is gone on with at the next occasion.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pharos_core::config::{Config, IndexConfig};
use pharos_core::{Clock, Timestamp};
use pharos_index::{EmbeddedIndex, Generations, IndexError};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::EngineError;
use crate::builds::Builds;

/// Smaller collections are not built anew because they grow: with so few pages, latest alone is as fast.
const LATEST_FLOOR: u64 = 10_000;
/// How long after a build that failed, or that somebody else was doing, the next is tried.
const RETRY: Duration = Duration::from_secs(600);
/// How often it is looked whether one is due. Counting what there is costs little, but not nothing.
const LOOK: Duration = Duration::from_secs(5);
/// How often it is looked whether to stop.
const STOP_LOOK: Duration = Duration::from_millis(100);
/// How long an end is waited for. Whatever a build is doing then, being cut off does no harm.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a decision is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// When the history in place was finished; without one, when latest was begun.
    pub since: Option<Timestamp>,
    /// Documents in history.
    pub history: u64,
    /// Documents in latest.
    pub latest: u64,
}

impl Extent {
    /// As `CURRENT` and the clock of the files have it.
    fn of(generations: &Generations, index: &EmbeddedIndex) -> Result<Self, IndexError> {
        let (history, latest) = index.documents()?;
        Ok(Self { since: since(generations)?, history, latest })
    }
}

/// When the history in place was finished; without one, when latest was begun.
pub(crate) fn since(generations: &Generations) -> Result<Option<Timestamp>, IndexError> {
    let current = generations.current()?;
    Ok(match (current.history, current.latest.first()) {
        (Some(history), _) => generations.inventory_of(history).since,
        (None, Some(first)) => generations.inventory_of_latest(*first).since,
        (None, None) => None,
    })
}

/// When the next build is due: now, or at a moment to come; `None` as long as nothing comes in, or by setting.
pub fn due(config: &IndexConfig, extent: Extent, now: Timestamp) -> Option<Timestamp> {
    if extent.latest == 0 {
        return None;
    }
    let share = extent.latest as f64 > config.latest_share * extent.history as f64;
    if config.latest_share > 0.0 && share && extent.latest >= LATEST_FLOOR {
        return Some(now);
    }
    let every = config.build_every;
    (!every.is_zero()).then(|| extent.since.map_or(now, |since| since.plus(every)))
}

/// Decides when to build.
struct Occasions {
    config: IndexConfig,
    /// Not before this.
    again: Option<Timestamp>,
}

impl Occasions {
    fn is_now(&self, extent: Extent, now: Timestamp) -> bool {
        self.again.is_none_or(|again| now >= again)
            && due(&self.config, extent, now).is_some_and(|at| at <= now)
    }

    /// It did not work out.
    fn put_off(&mut self, now: Timestamp) {
        self.again = Some(now.plus(RETRY));
    }
}

/// Builds beside a running engine, until it is told to stop.
pub struct Schedule(Option<JoinHandle<()>>);

impl Schedule {
    /// Nothing is scheduled without an index, or where the settings say never.
    pub(crate) fn start(
        builds: Arc<Builds>,
        config: &Config,
        clock: Arc<dyn Clock>,
        index: Option<Arc<EmbeddedIndex>>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, EngineError> {
        let never = config.index.build_every.is_zero() && config.index.latest_share <= 0.0;
        let Some(index) = index.filter(|_| !never) else { return Ok(Self(None)) };
        let config = config.index.clone();
        let work = move || keep_building(&builds, config, &*clock, &index, &stop);
        let thread = thread::Builder::new().name("build".into()).spawn(work);
        Ok(Self(Some(thread.map_err(|_| EngineError::Stage("building"))?)))
    }

    /// Waits a moment for a build under way to save what it has. The process may end in any case.
    pub fn end(self) {
        let Some(thread) = self.0 else { return };
        let patience = Instant::now() + PATIENCE;
        while !thread.is_finished() && Instant::now() < patience {
            thread::sleep(STOP_LOOK / 4);
        }
    }
}

fn keep_building(
    builds: &Builds,
    config: IndexConfig,
    clock: &dyn Clock,
    index: &EmbeddedIndex,
    stop: &watch::Receiver<bool>,
) {
    // Whoever held the other end is gone: so is the engine.
    let is_stopped = || *stop.borrow() || stop.has_changed().is_err();
    let mut occasions = Occasions { config, again: None };
    let mut told = String::new();
    loop {
        let next = Instant::now() + LOOK;
        while Instant::now() < next {
            if is_stopped() {
                return;
            }
            thread::sleep(STOP_LOOK);
        }
        let extent = match Extent::of(index.generations(), index) {
            Ok(extent) => extent,
            Err(error) if told == error.to_string() => continue,
            Err(error) => {
                warn!(%error, "cannot tell whether a build is due");
                told = error.to_string();
                continue;
            }
        };
        if !occasions.is_now(extent, clock.now()) {
            continue;
        }
        info!(history = extent.history, latest = extent.latest, "building a new history");
        match builds.run(|| !is_stopped()) {
            Some(Err(EngineError::Stopped)) if is_stopped() => return,
            Some(Err(_)) => occasions.put_off(clock.now()),
            Some(Ok(_)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::ManualClock;

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn a_build_is_due_when_latest_spans_a_day() {
        let config = Config::default().index;
        let clock = ManualClock::starting_at(Timestamp::EPOCH);
        let occasions = Occasions { config: config.clone(), again: None };
        let extent = Extent { since: Some(clock.now()), history: 5, latest: 3 };
        assert!(!occasions.is_now(extent, clock.now()));
        assert_eq!(due(&config, extent, clock.now()), Some(clock.now().plus(DAY)));
        clock.advance(DAY);
        assert!(occasions.is_now(extent, clock.now()));
        assert!(!occasions.is_now(Extent { latest: 0, ..extent }, clock.now()), "nothing is new");
        let never = IndexConfig { build_every: Duration::ZERO, ..config };
        assert_eq!(due(&never, extent, clock.now()), None);
    }

    #[test]
    fn a_build_is_due_when_latest_is_large_beside_history() {
        let config = IndexConfig { build_every: Duration::ZERO, ..Config::default().index };
        let now = Timestamp::EPOCH;
        let is_due =
            |history, latest| due(&config, Extent { since: Some(now), history, latest }, now).is_some();
        assert!(!is_due(100_000, 25_000) && is_due(100_000, 25_001));
        assert!(!is_due(0, 9_999) && is_due(0, 10_000), "few pages need no history");
        assert!(!is_due(100, 5_000));
        let never = IndexConfig { latest_share: 0.0, ..config.clone() };
        assert_eq!(due(&never, Extent { since: Some(now), history: 1, latest: 50_000 }, now), None);
    }

    #[test]
    fn what_failed_is_not_tried_again_at_once() {
        let clock = ManualClock::starting_at(Timestamp::EPOCH.plus(DAY));
        let mut occasions = Occasions { config: Config::default().index, again: None };
        let extent = Extent { since: None, history: 1, latest: 1 };
        assert!(occasions.is_now(extent, clock.now()));
        occasions.put_off(clock.now());
        assert!(!occasions.is_now(extent, clock.now()));
        clock.advance(RETRY);
        assert!(occasions.is_now(extent, clock.now()));
    }
}
