//! Everything that may keep a due page from being asked for, but for its server's own rules: politeness, budgets and
//! caps of its site, and the suspicion that the site is a copy of another.

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

/// Longer than this nobody waits for a site that does not cope, in a crawl that is to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// When a page that is held back because its site may be a copy is looked at again.
const HELD_FOR: Duration = Duration::from_secs(1);
/// A site that is asked as much as it may be is looked at again this much later.
const BUSY_FOR: Duration = Duration::from_millis(50);
/// Sites remembered as met; with more of them all are met anew.
const MAX_MET: usize = 1 << 20;

/// Home pages that say the same, and sites that were compared.
type Compared = (Vec<Vec<PageUrl>>, Vec<(Likeness, Meeting)>);

/// May something be asked for now?
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Judgement {
    Yes,
    /// Not before this moment.
    Later(Timestamp),
    /// Set aside until then, because its site may be a copy of another.
    Held(Timestamp),
    /// Not in this run. It stays due.
    Never,
}

/// Oversees the sites of a crawl.
pub(crate) struct Overseer {
    config: Arc<CrawlConfig>,
    monitor: Monitor,
    budgets: Budgets,
    twins: Twins,
    /// Home pages of sites that are copies of others.
    copies: HashSet<PageUrl>,
    met: HashSet<SiteId>,
    /// Sites whose budget is spent, told already.
    spent: HashSet<SiteId>,
    /// Whether the crawl waits when nothing is due.
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

    /// Goes by other settings from now on.
    pub(crate) fn reconfigure(&mut self, config: Arc<CrawlConfig>) -> Result<(), SettingError> {
        self.monitor.reconfigure(config.clone())?;
        self.budgets.begin_with(config.site_budget);
        self.spent.clear();
        self.config = config;
        Ok(())
    }

    /// The most requests at once that any site is given.
    pub(crate) fn most_connections(&self) -> usize {
        self.monitor.most_connections()
    }

    /// Sites known to be copies from the beginning.
    pub(crate) fn know_copies(&mut self, homes: impl IntoIterator<Item = PageUrl>) {
        self.copies.extend(homes);
    }

    /// Is this site new to us? Then [`recall`](Self::recall) wants to know what the catalog knows of it.
    pub(crate) fn is_new(&self, site: SiteId) -> bool {
        !self.met.contains(&site)
    }

    /// The beginning of the site's day, from which on its answers count for today.
    pub(crate) fn day_began(&mut self, name: &SiteName, now: Timestamp) -> Timestamp {
        self.monitor.day_began(name, now)
    }

    /// Has this site a limit of pages a day?
    pub(crate) fn counts_days(&self, name: &SiteName) -> bool {
        let politeness = self.monitor.settings(name).politeness.unwrap_or(self.config.politeness);
        self.config.manners_of(politeness).pages_per_day > 0
    }

    /// Takes up what the catalog knows of a site: its story, and how often it answered today.
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

    /// May this page be asked for? `again`: it answered before, so that it costs the site's budget nothing.
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

    /// May this site be asked for anything at all now?
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

    /// A request is over. Gives how long to wait before the site's next page is looked at.
    pub(crate) fn ended(&mut self, name: &SiteName, now: Timestamp, ending: Ending) -> Duration {
        let ready = self.monitor.ended(name, now, ending);
        if ready <= now || self.is_too_long(name, ready, now) {
            // What is not worth waiting for is put aside when its turn comes.
            return Duration::ZERO;
        }
        // The clock counts whole milliseconds: the request may have ended nearly one later than it says.
        ready.since(now) + Duration::from_millis(1)
    }

    /// Is the moment too far off to wait for it?
    fn is_too_long(&self, name: &SiteName, moment: Timestamp, now: Timestamp) -> bool {
        let unwell = self.monitor.not_before(name.id()).is_some();
        let patience = if unwell { PATIENCE } else { MAX_NICE_WAIT.max(self.config.max_crawl_delay) };
        moment.since(now) > patience && !self.keep_going
    }

    /// A page was stored.
    pub(crate) fn stored(&mut self, shown: &Shown) {
        if shown.again {
            return;
        }
        self.budgets.stored(shown.page.id().site(), shown.sketch);
    }

    /// The sites that were asked most, with what they sent.
    pub(crate) fn busiest(&self, most: usize) -> Vec<(SiteName, Traffic)> {
        self.monitor.traffic(most)
    }

    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.twins.expire(now);
        self.monitor.prune(now);
    }

    // Twins.

    /// Is anything suspected?
    pub(crate) fn has_suspects(&self) -> bool {
        self.twins.is_suspicious()
    }

    /// Compares sites that may be the same, and finds others with the same home page. Reads the catalog.
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

    /// What this crawl knows of sites that look alike.
    pub(crate) fn lookalikes(&self, homes: Vec<PageUrl>, now: Timestamp) -> Vec<Lookalike> {
        let asked = |home: &PageUrl| self.monitor.asked_today(&home.site(), now);
        homes.into_iter().map(|home| Lookalike { asked: asked(&home), home }).collect()
    }

    /// What is to be compared when these pages were stored: new home pages, and suspects that they concern.
    pub(crate) fn to_compare(&self, shown: &[Shown]) -> Option<(Vec<PageUrl>, Vec<Meeting>)> {
        let is_new_home = |page: &PageUrl| *page == page.home() && !self.copies.contains(page);
        let first_visits = shown.iter().filter(|s| !s.again).map(|s| &s.page);
        let homes: Vec<PageUrl> = first_visits.filter(|p| is_new_home(p)).cloned().collect();
        let sites: HashSet<SiteId> = shown.iter().map(|s| s.page.id().site()).collect();
        let mut open = if self.has_suspects() { self.twins.open() } else { Vec::new() };
        open.retain(|m| sites.contains(&m.copy.id().site()) || sites.contains(&m.of.id().site()));
        (!homes.is_empty() || !open.is_empty()).then_some((homes, open))
    }

    /// Takes in what comparing gave. Gives copies and their originals that are certain now.
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

    /// Sites with the same home page met.
    pub(crate) fn suspect(&mut self, met: Vec<Meeting>, now: Timestamp) {
        for meeting in met {
            if !self.copies.contains(&meeting.copy) {
                self.twins.suspect(meeting, now);
            }
        }
    }

    /// Nothing more will come that could tell: what is suspected is called different.
    pub(crate) fn give_up_suspecting(&mut self) {
        self.twins = Twins::default();
    }
}
