//! Decides whether and when a due page may be fetched, apart from its server's robots.txt.
//!
//! Combines politeness, site budgets and page caps, and mirror detection.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{PageUrl, SiteId, SiteName, Timestamp};
use pharos_store::{Catalog, SiteStory, StoreError};
use tracing::info;

use crate::budget::Budgets;
use crate::crawl::Shown;
use crate::monitor::{Ending, Monitor, Permission};
use crate::politeness::MAX_NICE_WAIT;
use crate::setting_error::SettingError;
use crate::tallies::Traffic;
use crate::twins::{Finding, Likeness, Lookalike, Meeting, Twins};
use crate::zones::Zone;

/// Maximum wait for a failing site in a crawl that ends by itself.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval after which a page of a possible mirror site is checked again.
const HELD_FOR: Duration = Duration::from_secs(1);
/// Interval after which a site with the maximum number of concurrent requests is checked again.
const BUSY_FOR: Duration = Duration::from_millis(50);
/// Maximum number of sites remembered as restored from the catalog; beyond it the set is cleared.
const MAX_MET: usize = 1 << 20;

/// Groups of sites with identical home pages, and completed comparisons.
type Compared = (Vec<Vec<PageUrl>>, Vec<(Likeness, Meeting)>);

/// Decision about a page or site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Judgement {
    Yes,
    /// The site may not be requested before this time.
    Later(Timestamp),
    /// The page is parked until then, because its site may be a mirror.
    Held(Timestamp),
    /// Not fetched in this crawl. The page stays due.
    Never,
}

/// Decides which pages of which sites may be fetched, and when.
pub(crate) struct Overseer {
    config: Arc<CrawlConfig>,
    monitor: Monitor,
    budgets: Budgets,
    twins: Twins,
    /// Home pages of known mirrors.
    copies: HashSet<PageUrl>,
    met: HashSet<SiteId>,
    /// Sites whose exhausted budget has been logged.
    spent: HashSet<SiteId>,
    /// `true` if the crawl waits when nothing is due.
    keep_going: bool,
}

impl Overseer {
    pub(crate) fn new(
        config: Arc<CrawlConfig>,
        keep_going: bool,
        now: Timestamp,
    ) -> Result<Self, SettingError> {
        Ok(Self {
            monitor: Monitor::new(config.clone(), Zone::of_this_machine(now))?,
            budgets: Budgets::new(config.site_budget),
            twins: Twins::default(),
            copies: HashSet::new(),
            met: HashSet::new(),
            spent: HashSet::new(),
            keep_going,
            config,
        })
    }

    /// Applies a new configuration.
    pub(crate) fn reconfigure(&mut self, config: Arc<CrawlConfig>) -> Result<(), SettingError> {
        self.monitor.reconfigure(config.clone())?;
        self.budgets.begin_with(config.site_budget);
        self.spent.clear();
        self.config = config;
        Ok(())
    }

    /// Returns the largest number of concurrent requests permitted to any site.
    pub(crate) fn most_connections(&self) -> usize {
        self.monitor.most_connections()
    }

    /// Adds mirrors recorded by earlier crawls.
    pub(crate) fn know_copies(&mut self, homes: impl IntoIterator<Item = PageUrl>) {
        self.copies.extend(homes);
    }

    /// Returns `true` if the site has not been [restored](Self::restore_site) from the catalog yet.
    pub(crate) fn is_new(&self, site: SiteId) -> bool {
        !self.met.contains(&site)
    }

    /// Returns the start of the current day in the site's time zone. Responses since then count for today.
    pub(crate) fn day_began(&mut self, name: &SiteName, now: Timestamp) -> Timestamp {
        self.monitor.day_began(name, now)
    }

    /// Returns `true` if the site has a limit of pages per day.
    pub(crate) fn counts_days(&self, name: &SiteName) -> bool {
        let politeness = self.monitor.settings(name).politeness.unwrap_or(self.config.politeness);
        self.config.manners_of(politeness).pages_per_day > 0
    }

    /// Restores the catalog's state of a site, and its number of responses today.
    pub(crate) fn recall(&mut self, name: &SiteName, story: Option<&SiteStory>, today: u64, now: Timestamp) {
        if self.met.len() >= MAX_MET {
            self.met.clear();
        }
        self.met.insert(name.id());
        if let Some(story) = story {
            self.monitor.restore(name, story.not_before, today, now);
            self.budgets.recall(name.id(), story.stored, story.texts);
        }
    }

    /// Decides whether a page may be fetched. A page `visited` before does not count against the site's budget.
    pub(crate) fn judge(&mut self, page: &PageUrl, again: bool, now: Timestamp) -> Judgement {
        if !self.copies.is_empty() && self.copies.contains(&page.home()) {
            return Judgement::Never;
        }
        if self.twins.is_held(page) {
            return Judgement::Held(now.plus(HELD_FOR));
        }
        let name = page.site();
        if !again && self.is_spent(&name) {
            return Judgement::Never;
        }
        self.may_begin(&name, now)
    }

    /// Decides whether the site may be requested at all now.
    pub(crate) fn may_begin(&mut self, name: &SiteName, now: Timestamp) -> Judgement {
        let moment = match self.monitor.may_begin(name, now) {
            Permission::Now => return Judgement::Yes,
            Permission::Busy => return Judgement::Later(now.plus(BUSY_FOR)),
            Permission::NotBefore(moment) => moment,
        };
        if self.is_too_long(name, moment, now) { Judgement::Never } else { Judgement::Later(moment) }
    }

    fn is_spent(&mut self, name: &SiteName) -> bool {
        let cap = self.monitor.settings(name).max_pages.unwrap_or(self.config.max_pages_per_site);
        let Some(reason) = self.budgets.exhausted(name.id(), cap) else { return false };
        if self.spent.len() < MAX_MET && self.spent.insert(name.id()) {
            info!(site = %name, reason, "no more of this site is asked for");
        }
        true
    }

    pub(crate) fn begun(&mut self, name: &SiteName, now: Timestamp) {
        self.monitor.begun(name, now);
    }

    /// Records the end of a request. Returns the wait before the site's next page is considered.
    pub(crate) fn ended(&mut self, name: &SiteName, now: Timestamp, ending: Ending) -> Duration {
        let ready = self.monitor.ended(name, now, ending);
        if ready <= now || self.is_too_long(name, ready, now) {
            // The page is parked when its turn comes.
            return Duration::ZERO;
        }
        // The clock counts whole milliseconds: the request may have ended nearly 1 ms later than it says.
        ready.since(now) + Duration::from_millis(1)
    }

    /// Returns `true` if the crawl does not wait until `moment`.
    fn is_too_long(&self, name: &SiteName, moment: Timestamp, now: Timestamp) -> bool {
        let unwell = self.monitor.not_before(name.id()).is_some();
        let patience = if unwell { PATIENCE } else { MAX_NICE_WAIT.max(self.config.max_crawl_delay) };
        moment.since(now) > patience && !self.keep_going
    }

    /// Records a stored page in the budget of its site.
    pub(crate) fn stored(&mut self, shown: &Shown) {
        if shown.again {
            return;
        }
        self.budgets.stored(shown.page.id().site(), shown.sketch);
    }

    /// Returns the sites with the most requests today, with their traffic.
    pub(crate) fn busiest(&self, most: usize) -> Vec<(SiteName, Traffic)> {
        self.monitor.traffic(most)
    }

    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.twins.expire(now);
        self.monitor.prune(now);
    }

    // Mirror detection.

    /// Returns `true` if any site is suspected to be a mirror.
    pub(crate) fn has_suspects(&self) -> bool {
        self.twins.is_suspicious()
    }

    /// Compares suspected mirrors, and finds other sites with the same home page. Reads the catalog.
    pub(crate) fn compare(
        catalog: &dyn Catalog,
        new_homes: Vec<PageUrl>,
        open: Vec<Meeting>,
    ) -> Result<Compared, StoreError> {
        let mut alike = Vec::new();
        for home in new_homes {
            let mut sites = Twins::lookalikes(catalog, &home)?;
            if !sites.is_empty() {
                sites.push(home);
                alike.push(sites);
            }
        }
        let likeness = |meeting: Meeting| Ok((meeting.compare(catalog)?, meeting));
        Ok((alike, open.into_iter().map(likeness).collect::<Result<_, StoreError>>()?))
    }

    /// Adds this crawl's request counts to sites with identical home pages.
    pub(crate) fn lookalikes(&self, homes: Vec<PageUrl>, now: Timestamp) -> Vec<Lookalike> {
        let asked = |home: &PageUrl| self.monitor.asked_today(&home.site(), now);
        homes.into_iter().map(|home| Lookalike { asked: asked(&home), home }).collect()
    }

    /// Returns the comparisons due after these pages were stored: new home pages, and affected suspects.
    pub(crate) fn to_compare(&self, shown: &[Shown]) -> Option<(Vec<PageUrl>, Vec<Meeting>)> {
        let is_new_home = |page: &PageUrl| *page == page.home() && !self.copies.contains(page);
        let first_visits = shown.iter().filter(|s| !s.again).map(|s| &s.page);
        let homes: Vec<PageUrl> = first_visits.filter(|p| is_new_home(p)).cloned().collect();
        let sites: HashSet<SiteId> = shown.iter().map(|s| s.page.id().site()).collect();
        let mut open = if self.has_suspects() { self.twins.open() } else { Vec::new() };
        open.retain(|m| sites.contains(&m.copy.id().site()) || sites.contains(&m.of.id().site()));
        (!homes.is_empty() || !open.is_empty()).then_some((homes, open))
    }

    /// Applies the results of comparisons. Returns confirmed mirrors with their originals.
    pub(crate) fn compared(
        &mut self,
        compared: Vec<(Likeness, Meeting)>,
        now: Timestamp,
    ) -> Vec<(PageUrl, PageUrl)> {
        let mut certain = Vec::new();
        for (likeness, meeting) in compared {
            if let Some(Finding::Same(copy, of)) = self.twins.conclude(&meeting, likeness, now) {
                self.copies.insert(copy.clone());
                certain.push((copy, of));
            }
        }
        certain
    }

    /// Adds suspected mirrors.
    pub(crate) fn suspect(&mut self, met: Vec<Meeting>, now: Timestamp) {
        for meeting in met {
            if !self.copies.contains(&meeting.copy) {
                self.twins.suspect(meeting, now);
            }
        }
    }

    /// Treats all suspects as distinct sites, because no more evidence will arrive.
    pub(crate) fn give_up_suspecting(&mut self) {
        self.twins = Twins::default();
    }
}
