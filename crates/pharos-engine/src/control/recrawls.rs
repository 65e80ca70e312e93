//! Scheduled visits (`crawl.recrawl`): sites and URL patterns that are fetched again at given times.
//!
//! A visit becomes an order, so that it is recorded, survives a restart and waits for politeness and crawl windows like
//! any other page. The file `SCHEDULE` of the data directory holds the time of the last visit of each rule: a visit that
//! was missed because no engine was running is made up for, and none is made twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pharos_core::config::{Config, CrawlConfig};
use pharos_core::schedule::{Recurrence, Zone};
use pharos_core::{Clock, PageUrl, SiteName, Timestamp};
use pharos_crawl::rules_from_config;
use pharos_store::interpret::link_filter::{LinkFilter, UrlSpellings};
use pharos_store::{Catalog, DataDir, PageState, StoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::EngineError;
use crate::control::orders::{Order, OrderQueue};
use crate::control::stop_signal::{StopSignal, wait_at_shutdown};

const FILE: &str = "SCHEDULE";
/// Maximum size of the file.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of rules.
const MAX_RULES: usize = 1_000;
/// Maximum number of pages that one visit of a pattern orders.
const MAX_PAGES: usize = 10_000;
/// Number of pages per order, and of pages read from the catalog at a time.
const PAGES_PER_ORDER: usize = 500;
const PAGES_PER_READ: usize = 1_000;
/// Interval of the checks whether a visit is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A scheduled visit: when, and which pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecrawlRule {
    pub when: VisitTime,
    pub target: VisitTarget,
}

/// The times of a scheduled visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisitTime {
    Once(Timestamp),
    Recurring(Recurrence),
}

/// The pages of a scheduled visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisitTarget {
    Site(SiteName),
    /// Known pages whose URLs match, with `*` for any characters.
    Pattern(String),
}

impl RecrawlRule {
    /// Parses the rules of `crawl.recrawl`, each with its line.
    pub fn parse_all(crawl: &CrawlConfig) -> Result<Vec<(&str, Self)>, EngineError> {
        if crawl.recrawl.len() > MAX_RULES {
            let many = format!("`crawl.recrawl` has more than {MAX_RULES} lines");
            return Err(EngineError::Settings(many));
        }
        let parse = |line: &'_ String| Self::parse(line, &crawl.time_zone);
        crawl.recrawl.iter().map(|line| Ok((line.as_str(), parse(line)?))).collect()
    }

    fn parse(line: &str, zone: &Zone) -> Result<Self, EngineError> {
        let wrong =
            |reason: &str| EngineError::Settings(format!("`crawl.recrawl`: `{line}` is invalid: {reason}"));
        let (when, target) = line.trim().rsplit_once(char::is_whitespace).ok_or_else(|| {
            wrong("expected a time and a host or URL pattern, such as `03:30 www.example.org`")
        })?;
        let when = when.trim();
        let recurring = Recurrence::parse(when).filter(|recurrence| *recurrence != Recurrence::Never);
        let when = match (recurring, zone.parse_moment(when)) {
            (Some(recurrence), _) => VisitTime::Recurring(recurrence),
            (None, Some(moment)) => VisitTime::Once(moment),
            (None, None) => {
                return Err(wrong(
                    "the time must have a form such as 03:30, mon-fri 03:30, 6h or 2026-12-24T22:00",
                ));
            }
        };
        let target = parse_target(target).ok_or_else(|| {
            wrong("the target must be a host, or a URL pattern such as https://www.example.org/news/*")
        })?;
        Ok(Self { when, target })
    }

    /// Returns the next visit after `since`, the last visit or the time at which the rule was first seen.
    pub fn next_after(&self, state: RuleState, zone: &Zone) -> Option<Timestamp> {
        match &self.when {
            VisitTime::Once(moment) => (!state.is_done).then_some(*moment),
            VisitTime::Recurring(recurrence) => recurrence.next_after(state.since, zone),
        }
    }
}

fn parse_target(text: &str) -> Option<VisitTarget> {
    if text.contains("://") {
        let is_web = text.starts_with("http://") || text.starts_with("https://") || text.starts_with('*');
        return is_web.then(|| VisitTarget::Pattern(text.to_string()));
    }
    let is_host = !text.is_empty() && !text.contains(['/', '?', '#', '@', '*']);
    let url = PageUrl::parse(&format!("http://{text}/")).ok().filter(|_| is_host)?;
    Some(VisitTarget::Site(url.site()))
}

/// The state of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleState {
    /// Time of the last visit, or at which the rule was first seen.
    pub since: Timestamp,
    /// The single visit was ordered.
    #[serde(default)]
    pub is_done: bool,
}

/// The states of all rules, by their lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScheduleState(BTreeMap<String, RuleState>);

impl ScheduleState {
    /// Reads the states of a data directory. An unreadable file counts as empty: all rules are new.
    pub fn read(data: &DataDir) -> Self {
        let path = path(data);
        let is_small = fs::metadata(&path).is_ok_and(|file| file.len() <= MAX_BYTES);
        let text = is_small.then(|| fs::read(&path).ok()).flatten().unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Returns the state of a rule; a new one is seen `now`.
    pub fn of(&self, line: &str, now: Timestamp) -> RuleState {
        self.0.get(line).copied().unwrap_or(RuleState { since: now, is_done: false })
    }

    fn write(&self, data: &DataDir) -> Result<(), StoreError> {
        let path = path(data);
        let text = serde_json::to_vec(self).map_err(|error| StoreError::io("write", &path)(error.into()))?;
        pharos_files::replace(&path, &text).map_err(StoreError::io("write", &path))
    }
}

fn path(data: &DataDir) -> PathBuf {
    data.root().join(FILE)
}

/// The thread that orders scheduled visits alongside an engine.
pub struct RecrawlSchedule(JoinHandle<()>);

impl RecrawlSchedule {
    /// Starts the thread.
    pub(crate) fn start(
        data: DataDir,
        catalog: Arc<dyn Catalog>,
        config: watch::Receiver<Arc<Config>>,
        clock: Arc<dyn Clock>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, EngineError> {
        let visits = ScheduledVisits { data, catalog };
        let work = move || visits.run(&config, &*clock, &StopSignal(stop));
        let thread = thread::Builder::new().name("recrawl".into()).spawn(work);
        Ok(Self(thread.map_err(|_| EngineError::StageFailed("recrawl"))?))
    }

    /// Waits briefly for the thread to end.
    pub fn shut_down(self) {
        wait_at_shutdown(|| self.0.is_finished());
    }
}

/// Orders visits when they are due.
struct ScheduledVisits {
    data: DataDir,
    catalog: Arc<dyn Catalog>,
}

impl ScheduledVisits {
    fn run(&self, config: &watch::Receiver<Arc<Config>>, clock: &dyn Clock, stop: &StopSignal) {
        let mut state = ScheduleState::read(&self.data);
        let mut reported = String::new();
        while stop.wait(CHECK_INTERVAL) {
            let crawl = config.borrow().crawl.clone();
            if let Err(error) = self.check(&crawl, &mut state, clock.now())
                && reported != error.to_string()
            {
                reported = error.to_string();
                warn!(%error, "scheduled visits failed");
            }
        }
    }

    /// Orders the visits that are due, and writes the states of the rules if they changed.
    fn check(
        &self,
        crawl: &CrawlConfig,
        state: &mut ScheduleState,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let rules = RecrawlRule::parse_all(crawl)?;
        let mut new = ScheduleState::default();
        let mut due = Vec::new();
        for (line, rule) in &rules {
            let mut own = state.of(line, now);
            if rule.next_after(own, &crawl.time_zone).is_some_and(|at| at <= now) {
                due.push((*line, &rule.target));
                own = RuleState { since: now, is_done: true };
            }
            new.0.insert((*line).to_string(), own);
        }
        if new == *state {
            return Ok(());
        }
        // Written first: a visit that a crash prevents is better than one that repeats.
        new.write(&self.data)?;
        *state = new;
        for (line, target) in due {
            let pages = self.order(target)?;
            info!(rule = line, pages, "scheduled visit");
        }
        Ok(())
    }

    /// Orders a visit. Returns the number of pages, or 1 for a site as a whole.
    fn order(&self, target: &VisitTarget) -> Result<usize, EngineError> {
        let orders = OrderQueue::open(&self.data);
        match target {
            VisitTarget::Site(site) => {
                if self.catalog.site(site.id())?.is_none() {
                    warn!(%site, "a scheduled visit has no effect: no page of the site is known");
                    return Ok(0);
                }
                orders.enqueue_in_order(&Order::RecrawlSite(site.clone()))?;
                Ok(1)
            }
            VisitTarget::Pattern(pattern) => {
                let pages = self.matching_pages(pattern)?;
                for group in pages.chunks(PAGES_PER_ORDER) {
                    orders.enqueue_in_order(&Order::Recrawl(group.to_vec()))?;
                }
                Ok(pages.len())
            }
        }
    }

    /// Returns the known pages that match a pattern, except removed and deleted ones, up to a limit.
    fn matching_pages(&self, pattern: &str) -> Result<Vec<PageUrl>, EngineError> {
        let only = CrawlConfig { include: vec![pattern.to_string()], ..CrawlConfig::default() };
        let filter = LinkFilter::new(&rules_from_config(&only));
        let site = site_of_pattern(pattern);
        let mut found = Vec::new();
        let mut last = None;
        loop {
            let pages = self.catalog.pages(site.as_ref().map(SiteName::id), last, PAGES_PER_READ)?;
            let Some(end) = pages.last() else { return Ok(found) };
            last = Some(end.url.id());
            for page in pages {
                let is_live = !matches!(page.state, PageState::Removed | PageState::Deleted);
                if is_live && filter.included_by(&UrlSpellings::new(&page.url)).is_some() {
                    found.push(page.url);
                }
                if found.len() == MAX_PAGES {
                    warn!(
                        pattern,
                        "a scheduled visit is limited to {MAX_PAGES} pages; use a narrower pattern"
                    );
                    return Ok(found);
                }
            }
        }
    }
}

/// Returns the site of a pattern whose host has no wildcard, so that only its pages are read.
fn site_of_pattern(pattern: &str) -> Option<SiteName> {
    let (scheme, rest) = pattern.split_once("://")?;
    let host = rest.split('/').next().filter(|host| !host.contains('*') && rest.contains('/'))?;
    let scheme = if scheme.contains('*') { "http" } else { scheme };
    PageUrl::parse(&format!("{scheme}://{host}/")).ok().map(|url| url.site())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn crawl(lines: &[&str]) -> CrawlConfig {
        let recrawl = lines.iter().map(ToString::to_string).collect();
        CrawlConfig { recrawl, time_zone: Zone::parse("Z").unwrap(), ..CrawlConfig::default() }
    }

    #[test]
    fn rules_are_times_and_targets() {
        let config = crawl(&[
            "03:30 www.example.org",
            "mon-fri 03:30 https://www.example.org/news/*",
            "6h *://*/index.html",
            "2026-12-24T22:00 www.example.org:8080",
        ]);
        let rules = RecrawlRule::parse_all(&config).unwrap();
        assert_eq!(rules[3].1.when, VisitTime::Once(at("2026-12-24T22:00:00Z")));
        let site = |rule: &RecrawlRule| match &rule.target {
            VisitTarget::Site(site) => site.to_string(),
            VisitTarget::Pattern(pattern) => pattern.clone(),
        };
        let targets: Vec<String> = rules.iter().map(|(_, rule)| site(rule)).collect();
        let expected =
            ["www.example.org", "https://www.example.org/news/*", "*://*/index.html", "www.example.org:8080"];
        assert_eq!(targets, expected);
        for bad in [
            "",
            "www.example.org",
            "soon www.example.org",
            "off www.example.org",
            "03:30 a/b",
            "03:30 *.example.org",
            "03:30 ftp://a.example/*",
            "2026-02-30T22:00 www.example.org",
        ] {
            let error = RecrawlRule::parse_all(&crawl(&[bad])).unwrap_err().to_string();
            assert!(error.contains("crawl.recrawl"), "{bad}: {error}");
        }
        assert!(RecrawlRule::parse_all(&crawl(&["6h a.example"; MAX_RULES + 1])).is_err());
    }

    #[test]
    fn patterns_with_a_host_read_one_site_only() {
        let site = |pattern: &str| site_of_pattern(pattern).map(|site| site.to_string());
        assert_eq!(site("https://a.example/news/*").as_deref(), Some("a.example"));
        assert_eq!(site("*://a.example:8080/*").as_deref(), Some("a.example:8080"));
        assert_eq!(site("http*://*.example/*"), None);
        assert_eq!(site("https://a.example*"), None, "the host may go on");
    }

    #[test]
    fn visits_are_ordered_once_and_survive_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), Config::default(), "up", true).unwrap();
        let pages = ["http://a.example/", "http://a.example/news/1", "http://a.example/news/2"];
        let pages = pages.map(|url| PageUrl::parse(url).unwrap());
        let (_stop, never) = watch::channel(false);
        let mut ingest = engine.ingest(&never).unwrap();
        ingest.execute_order(&Order::Add(pages.to_vec())).unwrap();
        ingest.finish().unwrap();
        let visits = ScheduledVisits { data: data.clone(), catalog: engine.catalog() };
        let config = crawl(&[
            "03:30 a.example",
            "2h http://a.example/news/*",
            "2026-01-31T13:00 a.example",
            "2026-01-31T13:00 unknown.example",
        ]);
        let mut state = ScheduleState::default();
        let orders = || {
            let queue = OrderQueue::open(&data);
            let pending = queue.pending();
            for (path, _) in &pending {
                queue.resolve(path, Ok(()));
            }
            pending.into_iter().map(|(_, order)| order).collect::<Vec<Order>>()
        };
        let check = |text: &str, state: &mut ScheduleState| {
            visits.check(&config, state, at(text)).unwrap();
            orders()
        };
        assert_eq!(check("2026-01-31T12:00:00Z", &mut state), [], "the rules are new");
        let once = check("2026-01-31T13:00:00Z", &mut state);
        assert_eq!(once, [Order::RecrawlSite(pages[0].site())], "nothing for an unknown site");
        let news = check("2026-01-31T14:00:00Z", &mut state);
        let Some(Order::Recrawl(urls)) = news.first() else { panic!("{news:?}") };
        let mut urls = urls.clone();
        urls.sort_by_key(ToString::to_string);
        assert_eq!((news.len(), urls), (1, pages[1..].to_vec()));
        assert_eq!(check("2026-01-31T14:00:01Z", &mut state), []);

        // A restart in between: the missed visits are made up for, each once.
        let mut state = ScheduleState::read(&data);
        let made_up = check("2026-02-01T12:00:00Z", &mut state);
        assert_eq!(made_up.len(), 2, "{made_up:?}");
        assert_eq!(made_up[0], Order::RecrawlSite(pages[0].site()));
        assert_eq!(check("2026-02-01T12:00:01Z", &mut state), []);
    }

    #[test]
    fn the_state_survives_power_cuts_and_damage() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut state = ScheduleState::default();
        state.0.insert("6h a.example".into(), RuleState { since: Timestamp::EPOCH, is_done: true });
        pharos_files::power_cut::check(dir.path(), || state.write(&data).unwrap()).unwrap();
        assert_eq!(ScheduleState::read(&data), state);
        fs::write(path(&data), "{").unwrap();
        assert_eq!(ScheduleState::read(&data), ScheduleState::default());
    }
}
