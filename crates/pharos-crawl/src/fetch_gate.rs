//! Decides whether and when a due page may be fetched, apart from its server's robots.txt.
//!
//! Combines politeness, site budgets and page caps, and mirror detection.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{PageId, PageUrl, SiteId, SiteName, Timestamp};
use pharos_store::catalog::SiteReport;
use pharos_store::{Catalog, StoreError};
use tracing::info;

use crate::crawl::StoredPageInfo;
use crate::politeness::delay::MAX_NICE_WAIT;
use crate::politeness::site_monitor::{CompletedRequest, RequestPermission, SiteMonitor};
use crate::politeness::traffic_metrics::SiteTraffic;
use crate::politeness::utc_offset::UtcOffset;
use crate::rules::budget::{BudgetState, SiteBudgets};
use crate::rules::mirrors::{MirrorCandidate, MirrorDetector, MirrorVerdict, PairComparison, SuspectedPair};
use crate::setting_error::SettingError;

/// Maximum wait for a failing site in a crawl that ends by itself.
const MAX_FAILURE_WAIT: Duration = Duration::from_secs(60);
/// Interval after which a page of a possible mirror site is checked again.
const HOLD_INTERVAL: Duration = Duration::from_secs(1);
/// Interval after which a site with the maximum number of concurrent requests or pending pages is checked again.
const BUSY_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum interval after which a site outside its crawl windows is checked again, so that changed windows take effect.
const WINDOW_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of sites remembered as restored from the catalog; beyond it the set is cleared.
const MAX_RESTORED: usize = 1 << 20;

/// Groups of sites with identical home pages, and completed comparisons.
type Compared = (Vec<Vec<PageUrl>>, Vec<(PairComparison, SuspectedPair)>);

/// Decision about a page or site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GateDecision {
    Allow,
    /// The site may not be requested before this time.
    NotBefore(Timestamp),
    /// The page is parked until then, because its site may be a mirror.
    HoldUntil(Timestamp),
    /// Not fetched in this crawl. The page stays due.
    Skip(SkipReason),
}

/// Reason why a page is not fetched in this crawl.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SkipReason {
    /// The site is a mirror of another site.
    Mirror,
    /// The site reached this limit.
    Limit(String),
    /// The crawl does not wait for the site until then.
    Wait(Timestamp),
    /// The crawl windows of the site are closed until then.
    Closed(Timestamp),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mirror => f.write_str("the site is a mirror of another site"),
            Self::Limit(reason) => f.write_str(reason),
            Self::Wait(until) => write!(f, "the server must not be requested before {until}"),
            Self::Closed(until) => write!(f, "outside the crawl windows of the site until {until}"),
        }
    }
}

/// Decides which pages of which sites may be fetched, and when.
pub(crate) struct FetchGate {
    config: Arc<CrawlConfig>,
    monitor: SiteMonitor,
    budgets: SiteBudgets,
    mirrors: MirrorDetector,
    /// Home pages of known mirrors.
    known_mirrors: HashSet<PageUrl>,
    restored: HashSet<SiteId>,
    /// Sites whose exhausted budget has been logged.
    exhausted: HashSet<SiteId>,
    /// `true` if the crawl waits when nothing is due.
    keep_going: bool,
}

impl FetchGate {
    pub(crate) fn new(
        config: Arc<CrawlConfig>,
        keep_going: bool,
        now: Timestamp,
    ) -> Result<Self, SettingError> {
        Ok(Self {
            monitor: SiteMonitor::new(config.clone(), UtcOffset::of_zone(&config.time_zone, now))?
                .with_offsets_at(now),
            budgets: SiteBudgets::new(config.site_budget),
            mirrors: MirrorDetector::default(),
            known_mirrors: HashSet::new(),
            restored: HashSet::new(),
            exhausted: HashSet::new(),
            keep_going,
            config,
        })
    }

    /// Applies a new configuration.
    pub(crate) fn reconfigure(&mut self, config: Arc<CrawlConfig>) -> Result<(), SettingError> {
        self.monitor.reconfigure(config.clone())?;
        self.budgets.set_initial(config.site_budget);
        self.exhausted.clear();
        self.config = config;
        Ok(())
    }

    /// Returns the largest number of concurrent requests permitted to any site.
    pub(crate) fn most_connections(&self) -> usize {
        self.monitor.most_connections()
    }

    /// Adds mirrors recorded by earlier crawls.
    pub(crate) fn add_known_mirrors(&mut self, homes: impl IntoIterator<Item = PageUrl>) {
        self.known_mirrors.extend(homes);
    }

    /// Returns `true` if the site has not been [restored](Self::restore_site) from the catalog yet.
    pub(crate) fn is_new_site(&self, site: SiteId) -> bool {
        !self.restored.contains(&site)
    }

    /// Returns the start of the current day in the site's time zone. Responses since then count for today.
    pub(crate) fn day_start(&mut self, name: &SiteName, now: Timestamp) -> Timestamp {
        self.monitor.day_start(name, now)
    }

    /// Returns `true` if the site has a limit of pages per day.
    pub(crate) fn has_daily_limit(&self, name: &SiteName) -> bool {
        let politeness = self.monitor.settings(name).politeness.unwrap_or(self.config.politeness);
        self.config.politeness_limits_of(politeness).pages_per_day > 0
    }

    /// Restores the catalog's state of a site, and its number of responses today.
    pub(crate) fn restore_site(
        &mut self,
        name: &SiteName,
        report: Option<&SiteReport>,
        today: u64,
        now: Timestamp,
    ) {
        if self.restored.len() >= MAX_RESTORED {
            self.restored.clear();
        }
        self.restored.insert(name.id());
        if let Some(report) = report {
            self.monitor.restore(name, report.not_before, today, now);
            self.budgets.restore(name.id(), report.stored, report.texts);
        }
    }

    /// Decides whether a page may be fetched. A page `visited` before does not count against the site's budget.
    pub(crate) fn check_page(&mut self, page: &PageUrl, visited: bool, now: Timestamp) -> GateDecision {
        if !self.known_mirrors.is_empty() && self.known_mirrors.contains(&page.home()) {
            return GateDecision::Skip(SkipReason::Mirror);
        }
        if self.mirrors.is_held(page) {
            return GateDecision::HoldUntil(now.plus(HOLD_INTERVAL));
        }
        let name = page.site();
        if !visited {
            match self.check_budget(&name) {
                BudgetState::Open => {}
                BudgetState::Pending => return GateDecision::NotBefore(now.plus(BUSY_INTERVAL)),
                BudgetState::Exhausted(reason) => return GateDecision::Skip(SkipReason::Limit(reason)),
            }
        }
        self.check_site(&name, now)
    }

    /// Decides whether the site may be requested at all now.
    pub(crate) fn check_site(&mut self, name: &SiteName, now: Timestamp) -> GateDecision {
        if let Some(opening) = self.monitor.closed_until(name, now) {
            // A crawl that ends by itself does not wait for a window.
            return if self.keep_going {
                GateDecision::NotBefore(opening.min(now.plus(WINDOW_INTERVAL)))
            } else {
                GateDecision::Skip(SkipReason::Closed(opening))
            };
        }
        let moment = match self.monitor.check(name, now) {
            RequestPermission::Now => return GateDecision::Allow,
            RequestPermission::Busy => return GateDecision::NotBefore(now.plus(BUSY_INTERVAL)),
            RequestPermission::NotBefore(moment) => moment,
        };
        if self.exceeds_wait_limit(name, moment, now) {
            GateDecision::Skip(SkipReason::Wait(moment))
        } else {
            GateDecision::NotBefore(moment)
        }
    }

    fn check_budget(&mut self, name: &SiteName) -> BudgetState {
        let cap = self.monitor.settings(name).max_pages.unwrap_or(self.config.max_pages_per_site);
        let state = self.budgets.state(name.id(), cap);
        if let BudgetState::Exhausted(reason) = &state
            && self.exhausted.len() < MAX_RESTORED
            && self.exhausted.insert(name.id())
        {
            info!(site = %name, reason, "site budget exhausted");
        }
        state
    }

    /// Records the first request for a page, which counts against the site's budget until it is settled.
    pub(crate) fn first_visit_started(&mut self, page: PageId) {
        self.budgets.reserve(page);
    }

    /// Records that the catalog contains the outcome of a page, or that there will be none.
    pub(crate) fn page_settled(&mut self, page: PageId) {
        self.budgets.release(page);
    }

    pub(crate) fn request_started(&mut self, name: &SiteName, now: Timestamp) {
        self.monitor.request_started(name, now);
    }

    /// Records the end of a request. Returns the wait before the site's next page is considered.
    pub(crate) fn request_ended(
        &mut self,
        name: &SiteName,
        now: Timestamp,
        request: CompletedRequest,
    ) -> Duration {
        let ready = self.monitor.request_ended(name, now, request);
        if ready <= now || self.exceeds_wait_limit(name, ready, now) {
            // The page is parked when its turn comes.
            return Duration::ZERO;
        }
        // The clock counts whole milliseconds: the request may have ended nearly 1 ms later than it says.
        ready.since(now) + Duration::from_millis(1)
    }

    /// Returns `true` if the crawl does not wait until `moment`.
    fn exceeds_wait_limit(&self, name: &SiteName, moment: Timestamp, now: Timestamp) -> bool {
        let is_failing = self.monitor.back_off_end(name.id()).is_some();
        let limit =
            if is_failing { MAX_FAILURE_WAIT } else { MAX_NICE_WAIT.max(self.config.max_crawl_delay) };
        moment.since(now) > limit && !self.keep_going
    }

    /// Records a stored page in the budget of its site.
    pub(crate) fn page_stored(&mut self, page: &StoredPageInfo) {
        if page.is_revisit {
            return;
        }
        self.budgets.add_page(page.page.id().site(), page.sketch);
    }

    /// Returns the sites with the most requests today, with their traffic.
    pub(crate) fn busiest_sites(&self, most: usize) -> Vec<(SiteName, SiteTraffic)> {
        self.monitor.busiest_sites(most)
    }

    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.mirrors.expire(now);
        self.monitor.prune(now);
    }

    // Mirror detection.

    /// Returns `true` if any site is suspected to be a mirror.
    pub(crate) fn has_suspects(&self) -> bool {
        self.mirrors.has_suspects()
    }

    /// Compares suspected mirrors, and finds other sites with the same home page. Reads the catalog.
    pub(crate) fn compare(
        catalog: &dyn Catalog,
        new_homes: Vec<PageUrl>,
        open: Vec<SuspectedPair>,
    ) -> Result<Compared, StoreError> {
        let mut alike = Vec::new();
        for home in new_homes {
            let mut sites = MirrorDetector::find_candidates(catalog, &home)?;
            if !sites.is_empty() {
                sites.push(home);
                alike.push(sites);
            }
        }
        let compare = |pair: SuspectedPair| Ok((pair.compare(catalog)?, pair));
        Ok((alike, open.into_iter().map(compare).collect::<Result<_, StoreError>>()?))
    }

    /// Adds this crawl's request counts to sites with identical home pages.
    pub(crate) fn with_request_counts(&self, homes: Vec<PageUrl>, now: Timestamp) -> Vec<MirrorCandidate> {
        let requests = |home: &PageUrl| self.monitor.requests_today(&home.site(), now);
        homes.into_iter().map(|home| MirrorCandidate { requests: requests(&home), home }).collect()
    }

    /// Returns the comparisons due after these pages were stored: new home pages, and affected suspects.
    pub(crate) fn due_comparisons(
        &self,
        stored: &[StoredPageInfo],
    ) -> Option<(Vec<PageUrl>, Vec<SuspectedPair>)> {
        let is_new_home = |page: &PageUrl| *page == page.home() && !self.known_mirrors.contains(page);
        let first_visits = stored.iter().filter(|s| !s.is_revisit).map(|s| &s.page);
        let homes: Vec<PageUrl> = first_visits.filter(|p| is_new_home(p)).cloned().collect();
        let sites: HashSet<SiteId> = stored.iter().map(|s| s.page.id().site()).collect();
        let mut open = if self.has_suspects() { self.mirrors.pending_pairs() } else { Vec::new() };
        open.retain(|m| sites.contains(&m.copy.id().site()) || sites.contains(&m.original.id().site()));
        (!homes.is_empty() || !open.is_empty()).then_some((homes, open))
    }

    /// Applies the results of comparisons. Returns confirmed mirrors with their originals.
    pub(crate) fn apply_comparisons(
        &mut self,
        compared: Vec<(PairComparison, SuspectedPair)>,
        now: Timestamp,
    ) -> Vec<(PageUrl, PageUrl)> {
        let mut certain = Vec::new();
        for (comparison, pair) in compared {
            if let Some(MirrorVerdict::Mirror(copy, of)) =
                self.mirrors.apply_comparison(&pair, comparison, now)
            {
                self.known_mirrors.insert(copy.clone());
                certain.push((copy, of));
            }
        }
        certain
    }

    /// Adds suspected mirrors.
    pub(crate) fn add_suspects(&mut self, pairs: Vec<SuspectedPair>, now: Timestamp) {
        for pair in pairs {
            if !self.known_mirrors.contains(&pair.copy) {
                self.mirrors.add_suspect(pair, now);
            }
        }
    }

    /// Treats all suspects as distinct sites, because no more evidence will arrive.
    pub(crate) fn drop_suspects(&mut self) {
        self.mirrors = MirrorDetector::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_outside_its_window_is_not_requested() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let config = |window: &str| {
            let site_settings = vec![format!("a.example zone=Z {window}")];
            Arc::new(CrawlConfig { site_settings, ..CrawlConfig::default() })
        };
        let (a, b) =
            (PageUrl::parse("http://a.example/").unwrap(), PageUrl::parse("http://b.example/").unwrap());
        let noon = at("2026-01-30T12:00:00Z");
        let mut gate = FetchGate::new(config("window=22:00-06:00"), true, noon).unwrap();
        assert_eq!(gate.check_page(&a, false, noon), GateDecision::NotBefore(noon.plus(WINDOW_INTERVAL)));
        assert_eq!(gate.check_site(&a.site(), noon), GateDecision::NotBefore(noon.plus(WINDOW_INTERVAL)));
        assert_eq!(gate.check_page(&b, false, noon), GateDecision::Allow);
        let just_before = at("2026-01-30T21:59:55Z");
        let opening = at("2026-01-30T22:00:00Z");
        assert_eq!(gate.check_page(&a, false, just_before), GateDecision::NotBefore(opening));
        assert_eq!(gate.check_page(&a, false, opening), GateDecision::Allow);
        gate.reconfigure(config("window=00:00-24:00")).unwrap();
        assert_eq!(gate.check_page(&a, false, noon), GateDecision::Allow, "changed windows hold at once");

        let mut ending = FetchGate::new(config("window=22:00-06:00"), false, noon).unwrap();
        let closed = GateDecision::Skip(SkipReason::Closed(opening));
        assert_eq!(ending.check_page(&a, false, noon), closed, "it does not wait for the night");
    }
}
