//! The crawl loop: connects frontier, fetch gate, robots cache and fetch tasks.
//!
//! ```text
//!   catalog ──refill──▶ frontier ──next──▶ robots? ──yes──▶ fetch task ──record──▶ engine stores it
//!                          ▲                  │ no: a refusal is recorded ─────────▶      │
//!                          └──── applied: the catalog contains the outcome ◀────────────┘
//! ```

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_store::{
    Catalog, Content, DuePage, Event, Record, RobotsFile, RobotsState, SiteStory, StoreError,
};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{debug, info, warn};

use crate::crawl::{Absorbed, Crawl, CrawlError, CrawlSummary, Ended, Shown};
use crate::errand::{Came, Errand, Messenger, Report, record};
use crate::fetch::{Fetcher, after};
use crate::frontier::{Admission, Draw, Frontier, Next, RobotsErrand, chosen};
use crate::known_robots::{KnownRobots, Obstacle, Verdict};
use crate::monitor::Ending;
use crate::overseer::{Judgement, Overseer};
use crate::politeness::crawl_delay;
use crate::robots::is_robots_txt;
use crate::scope::{Scoping, rules_of};
use crate::setting_error::SettingError;
use crate::status::CrawlStatus;
use crate::tallies::Traffic;
use crate::twins::Twins;

/// Time that requests in progress get to finish when the crawl is stopped.
const GRACE: Duration = Duration::from_secs(2);
/// Interval between scans of the catalog for sites that became due by time alone.
const SCAN_EVERY: Duration = Duration::from_secs(30);
/// Interval after which skipped pages are considered again.
const TOMORROW: Duration = Duration::from_secs(86_400);
/// Number of sites whose traffic is logged at the end of a crawl.
const BUSIEST: usize = 10;
/// Maximum number of servers remembered as having no stored robots.txt.
const MAX_WITHOUT_FILE: usize = 65_536;
/// Steps taken before the loop checks for events.
const STEPS: usize = 256;

/// Fetches due pages until none is left, a limit is reached or the crawl is stopped.
pub async fn run(crawl: Crawl) -> Result<CrawlSummary, CrawlError> {
    let deadline = (!crawl.config.run_for.is_zero()).then(|| after(crawl.config.run_for));
    let mut stop = crawl.stop.clone();
    let mut going = Loop::new(crawl)?;
    let ended = tokio::select! {
        biased;
        () = told(&mut stop) => Ended::Stopped,
        () = reached(deadline) => Ended::Time,
        ended = going.go() => ended?,
    };
    Ok(going.close(ended).await)
}

async fn told(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender was dropped: no stop request can arrive.
        pending::<()>().await;
    }
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// State of a running crawl. Every step may be cancelled at an `await`: work lost then was never recorded.
struct Loop {
    crawl: Crawl,
    messenger: Messenger,
    frontier: Frontier,
    robots: KnownRobots,
    /// Servers without a stored robots.txt, according to a recent read of the catalog.
    without_file: HashSet<PageUrl>,
    overseer: Overseer,
    started: Timestamp,
    /// The rules in force. Pages discovered under earlier rules may violate them.
    rules: Scoping,
    requests: JoinSet<Report>,
    errands: HashMap<Id, Errand>,
    /// Number of pages among the requests.
    pages_under_way: u64,
    /// Time of the next scan for due sites.
    scan_at: Timestamp,
    /// `true` if nothing new has arrived since the last scan.
    quiet: bool,
    summary: CrawlSummary,
}

/// Catalog state of a site that this crawl has not requested yet.
struct Stranger {
    name: SiteName,
    story: Option<SiteStory>,
    robots_txt: PageUrl,
    file: Option<RobotsFile>,
}

impl Stranger {
    fn of(catalog: &dyn Catalog, page: &PageUrl) -> Result<Self, StoreError> {
        let (name, robots_txt) = (page.site(), page.robots_txt());
        let (story, file) = (catalog.site(name.id())?, catalog.robots(&robots_txt)?);
        Ok(Self { name, story, robots_txt, file })
    }
}

/// Whether the crawl is finished.
enum Over {
    Yes(Ended),
    /// Parked pages were released just now.
    LookAgain,
    No,
}

impl Loop {
    fn new(mut crawl: Crawl) -> Result<Self, CrawlError> {
        let config = in_lower_case(&crawl.config);
        crawl.config = config.clone();
        let messenger = Messenger {
            fetcher: Fetcher::new(&config)?,
            clock: crawl.clock.clone(),
            records: crawl.records.clone(),
            config: config.clone(),
        };
        let started = crawl.clock.now();
        let overseer = Overseer::new(config.clone(), crawl.keep_going, started)?;
        let connections = overseer.most_connections();
        let frontier =
            Frontier::new(chosen(&config), Admission::of(&config, started), connections, Duration::ZERO);
        Ok(Self {
            crawl,
            messenger,
            frontier,
            robots: KnownRobots::default(),
            without_file: HashSet::new(),
            overseer,
            started,
            rules: Scoping::new(rules_of(&config)),
            requests: JoinSet::new(),
            errands: HashMap::new(),
            pages_under_way: 0,
            scan_at: Timestamp::EPOCH,
            quiet: false,
            summary: CrawlSummary::default(),
        })
    }

    async fn go(&mut self) -> Result<Ended, CrawlError> {
        let copies = self.read(|catalog| catalog.aliases()).await?;
        self.overseer.know_copies(copies.into_iter().map(|(copy, _)| copy));
        self.read_rules().await?;
        loop {
            let pause = self.hand_out().await?;
            match self.is_over() {
                Over::Yes(ended) => return Ok(ended),
                Over::LookAgain => continue,
                Over::No => {}
            }
            tokio::select! {
                Some(joined) = self.requests.join_next_with_id() => self.returned(joined).await?,
                message = self.crawl.absorbed.recv() => self.absorb(message.ok_or(CrawlError::Closed)?).await?,
                () = self.crawl.status.changed.notified() => {}
                () = sleep(pause) => {}
            }
        }
    }

    fn is_over(&mut self) -> Over {
        let limit = self.crawl.config.max_pages;
        if limit > 0 && self.summary.pages >= limit {
            return Over::Yes(Ended::MaxPages);
        }
        if self.crawl.status.is_full() {
            return Over::Yes(Ended::Disk);
        }
        let nothing = self.frontier.is_idle() && self.quiet && self.requests.is_empty();
        if nothing && !self.crawl.keep_going && self.overseer.has_suspects() {
            // No more evidence will arrive; the pages held back are considered again.
            self.overseer.give_up_suspecting();
            self.frontier.release(Timestamp::from_millis(i64::MAX));
            self.quiet = false;
            return Over::LookAgain;
        }
        // Pages parked for a while are considered now instead of waited for.
        if nothing && !self.crawl.keep_going && self.frontier.release(Timestamp::from_millis(i64::MAX)) > 0 {
            self.quiet = false;
            return Over::LookAgain;
        }
        if nothing && !self.crawl.keep_going { Over::Yes(Ended::NothingDue) } else { Over::No }
    }

    /// Returns `true` if the limit of concurrent requests or of pages is reached.
    fn is_full(&self) -> bool {
        let limit = self.crawl.config.max_pages;
        self.requests.len() >= self.crawl.status.fetchers(self.crawl.config.fetchers)
            || (limit > 0 && self.summary.pages + self.pages_under_way >= limit)
    }

    /// Applies settings changed while the crawl runs. Invalid settings change nothing.
    fn take_settings(&mut self) {
        let Some(settings) = self.crawl.status.take_settings() else { return };
        match self.reconfigure(in_lower_case(&settings)) {
            Ok(()) => info!("the crawl goes on by new settings"),
            Err(error) => warn!(%error, "the crawl goes on by its old settings"),
        }
    }

    fn reconfigure(&mut self, config: Arc<CrawlConfig>) -> Result<(), SettingError> {
        let fetcher = Fetcher::new(&config)?;
        self.overseer.reconfigure(config.clone())?;
        self.frontier.set_connections(self.overseer.most_connections());
        self.messenger.fetcher = fetcher;
        self.messenger.config = config.clone();
        self.crawl.config = config;
        // Parked pages may be admitted now.
        self.frontier.release(Timestamp::from_millis(i64::MAX));
        self.quiet = false;
        self.scan_at = Timestamp::EPOCH;
        Ok(())
    }

    /// Starts all requests that may start now. Returns how long to wait unless an event arrives.
    async fn hand_out(&mut self) -> Result<Duration, CrawlError> {
        self.take_settings();
        for _ in 0..STEPS {
            let now = self.crawl.clock.now();
            if self.frontier.release(now) > 0 {
                self.quiet = false;
            }
            if now >= self.scan_at || (self.frontier.is_idle() && !self.quiet) {
                self.scan(now).await?;
            }
            self.show();
            if self.crawl.status.snapshot().paused || self.is_full() {
                return Ok(SCAN_EVERY);
            }
            match self.frontier.next(now) {
                Next::Page(page) => self.consider(page, now).await?,
                Next::Robots(errand) => match self.overseer.may_begin(&errand.ask.site(), now) {
                    Judgement::Yes => self.begin(Errand::Robots(errand), now),
                    Judgement::Later(until) | Judgement::Held(until) => {
                        self.frontier.postpone_errand(errand, until);
                    }
                    Judgement::Never => self.give_up_robots(errand, now),
                },
                Next::Fill(draws) => self.fill(draws, now).await?,
                Next::Wait(_) if self.frontier.is_idle() && !self.quiet => {}
                Next::Wait(until) => {
                    debug!(?until, requests = self.requests.len(), frontier = ?self.frontier, "nothing to do now");
                    return Ok(until.map_or(self.scan_at, |u| u.min(self.scan_at)).since(now));
                }
            }
        }
        Ok(Duration::ZERO)
    }

    /// Fetches a page if its server's rules are known and allow it.
    async fn consider(&mut self, page: DuePage, now: Timestamp) -> Result<(), CrawlError> {
        if is_robots_txt(&page.url) {
            self.frontier.park(&page, None);
            return Ok(());
        }
        // Seeds are exempt from the scope rules.
        if page.depth > 0
            && let Err(refusal) = self.rules.still_admits(&page.url)
        {
            return self.refuse(&page, &refusal.to_string(), now).await;
        }
        self.meet(&page.url.site(), now).await?;
        match self.overseer.judge(&page.url, page.visited, now) {
            Judgement::Yes => {}
            Judgement::Never => {
                // A continuous crawl tries again the next day.
                self.frontier.park(&page, self.crawl.keep_going.then(|| now.plus(TOMORROW)));
                return Ok(());
            }
            Judgement::Held(until) => {
                self.frontier.park(&page, Some(until));
                return Ok(());
            }
            Judgement::Later(until) => {
                self.frontier.postpone(page, until);
                return Ok(());
            }
        }
        let robots_txt = page.url.robots_txt();
        match self.verdict(&robots_txt, now).await? {
            None => {
                let errand = RobotsErrand { origin: robots_txt.clone(), ask: robots_txt, hops: 0 };
                self.frontier.robots_first(page, errand);
            }
            Some(Verdict::Rules(rules)) => match rules.refusal(&page.url) {
                None => self.begin(Errand::Page(page), now),
                Some(rule) => self.refuse(&page, &format!("robots.txt: {rule}"), now).await?,
            },
            Some(Verdict::NotBefore(_, Obstacle::NoContact(reason))) if self.is_first(&page) => {
                return Err(CrawlError::NoContact { url: page.url.to_string(), reason });
            }
            Some(Verdict::NotBefore(until, _)) => {
                self.frontier.park(&page, self.crawl.keep_going.then_some(until));
            }
        }
        Ok(())
    }

    /// Returns `true` for the seeds this crawl started with. Seeds added later must not end the crawl.
    fn is_first(&self, page: &DuePage) -> bool {
        page.depth == 0 && page.found_at <= self.started
    }

    /// Restores the catalog's state of a site that this crawl has not requested yet.
    async fn meet(&mut self, name: &SiteName, now: Timestamp) -> Result<(), CrawlError> {
        let id = name.id();
        if !self.overseer.is_new(id) {
            return Ok(());
        }
        let since = self.overseer.day_began(name, now);
        let counted = self.overseer.counts_days(name);
        let (story, today) = self
            .read(move |catalog| {
                let today = if counted { catalog.answers_since(id, since)? } else { 0 };
                Ok((catalog.site(id)?, today))
            })
            .await?;
        self.overseer.recall(name, story.as_ref(), today, now);
        Ok(())
    }

    /// Returns the verdict on a server, from memory or from the catalog. A server that was unreachable in an earlier
    /// crawl is requested again: the problem may be solved.
    async fn verdict(&mut self, robots_txt: &PageUrl, now: Timestamp) -> Result<Option<Verdict>, CrawlError> {
        if let Some(verdict) = self.robots.get(robots_txt, now) {
            return Ok(Some(verdict));
        }
        if self.without_file.remove(robots_txt) {
            return Ok(None);
        }
        let address = robots_txt.clone();
        if let Some(file) = self.read(move |catalog| catalog.robots(&address)).await? {
            self.recall_robots(robots_txt, file);
        }
        Ok(self.robots.get(robots_txt, now))
    }

    fn recall_robots(&mut self, robots_txt: &PageUrl, file: RobotsFile) {
        match (file.state, file.before) {
            (RobotsState::Unreachable, Some((at, body))) => {
                self.robots.learn(robots_txt, &RobotsState::Known(body), at, &self.crawl.config);
            }
            (RobotsState::Unreachable, None) => {}
            (state, _) => self.robots.learn(robots_txt, &state, file.at, &self.crawl.config),
        }
    }

    /// Treats a server that is not requested in this crawl as unreachable.
    fn give_up_robots(&mut self, errand: RobotsErrand, now: Timestamp) {
        self.robots.learn(&errand.origin, &RobotsState::Unreachable, now, &self.crawl.config);
        self.frontier.robots_known(errand.origin.id().site());
    }

    fn begin(&mut self, errand: Errand, now: Timestamp) {
        self.overseer.begun(&errand.asked().site(), now);
        self.frontier.started(errand.asked().id().site(), now);
        self.pages_under_way += u64::from(matches!(errand, Errand::Page(_)));
        let request = self.requests.spawn(self.messenger.clone().run(errand.clone()));
        self.errands.insert(request.id(), errand);
    }

    async fn refuse(&mut self, page: &DuePage, rule: &str, now: Timestamp) -> Result<(), CrawlError> {
        let event = Event::Refused { reason: rule.to_string() };
        self.deliver(record(page, now, Content::Event(event))).await?;
        self.frontier.refused(page);
        self.summary.refused += 1;
        CrawlStatus::add(&self.crawl.status.refused, 1);
        Ok(())
    }

    /// Handles a completed request, successful or not.
    async fn returned(&mut self, joined: Result<(Id, Report), JoinError>) -> Result<(), CrawlError> {
        let id = match &joined {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(errand) = self.errands.remove(&id) else { return Ok(()) };
        self.pages_under_way -= u64::from(matches!(errand, Errand::Page(_)));
        let Report { ended, ending, came } = match joined {
            Ok((_, report)) => report,
            Err(error) => {
                let (ended, reason) = (self.crawl.clock.now(), panic_text(error));
                self.deliver(errand.failure(reason.clone(), ended)).await?;
                Report { ended, ending: Ending::default(), came: errand.nothing(reason) }
            }
        };
        match (&errand, came) {
            (Errand::Page(_), Came::Page { bytes }) => {
                self.summary.pages += 1;
                self.summary.bytes += bytes as u64;
                CrawlStatus::add(&self.crawl.status.pages, 1);
                CrawlStatus::add(&self.crawl.status.bytes, bytes);
            }
            (Errand::Robots(robots), Came::Robots(state, failed)) => {
                if let Some(reason) = failed {
                    self.failed(&robots.origin, &reason);
                }
                self.robots.learn(&robots.origin, &state, ended, &self.crawl.config);
                self.without_file.remove(&robots.origin);
                self.frontier.robots_known(robots.origin.id().site());
            }
            (Errand::Robots(robots), Came::Moved(ask)) => {
                self.frontier.errand(RobotsErrand {
                    origin: robots.origin.clone(),
                    ask,
                    hops: robots.hops + 1,
                });
            }
            (_, Came::NoContact(error)) => self.no_contact(&errand, error.to_string(), ended)?,
            (_, Came::Nothing(reason)) => self.failed(errand.asked(), &reason),
            (_, Came::Unwanted) => {
                self.summary.refused += 1;
                CrawlStatus::add(&self.crawl.status.refused, 1);
            }
            (_, Came::Closed) => return Err(CrawlError::Closed),
            (_, Came::Page { .. } | Came::Robots(..) | Came::Moved(_)) => {}
        }
        let asked = errand.asked();
        let known = self.robots.get(&asked.robots_txt(), ended);
        let rules = if let Some(Verdict::Rules(rules)) = &known { Some(rules.as_ref()) } else { None };
        let ending = Ending { crawl_delay: crawl_delay(&self.crawl.config, rules), ..ending };
        let wait = self.overseer.ended(&asked.site(), ended, ending);
        self.frontier.ended(asked.id().site(), ended, wait);
        Ok(())
    }

    fn failed(&mut self, url: &PageUrl, reason: &str) {
        debug!(%url, reason, "no answer");
        self.summary.failed += 1;
        self.summary.last_failure = Some(format!("{url}: {reason}"));
        CrawlStatus::add(&self.crawl.status.failed, 1);
    }

    /// Handles a public server without a contact address: an error for a seed, a skipped page otherwise.
    fn no_contact(&mut self, errand: &Errand, reason: String, at: Timestamp) -> Result<(), CrawlError> {
        warn!(url = %errand.asked(), reason, "not asked");
        self.failed(errand.asked(), &reason);
        let obstacle = Obstacle::NoContact(reason.clone());
        match errand {
            Errand::Robots(robots) => {
                self.robots.obstacle(&robots.origin, obstacle, at, &self.crawl.config);
                self.frontier.robots_known(robots.origin.id().site());
            }
            Errand::Page(page) if self.is_first(page) => {
                return Err(CrawlError::NoContact { url: page.url.to_string(), reason });
            }
            Errand::Page(page) => {
                self.robots.obstacle(&page.url.robots_txt(), obstacle, at, &self.crawl.config);
                let retry = at.plus(self.crawl.config.retry_delay);
                self.frontier.park(page, self.crawl.keep_going.then_some(retry));
            }
        }
        Ok(())
    }

    async fn absorb(&mut self, absorbed: Absorbed) -> Result<(), CrawlError> {
        self.quiet = false;
        for shown in &absorbed.shown {
            self.overseer.stored(shown);
        }
        for page in absorbed.pages {
            self.frontier.absorbed(page);
        }
        for removal in &absorbed.removed {
            self.frontier.forget(removal);
        }
        for site in absorbed.woken {
            self.frontier.wake(site);
        }
        if absorbed.new_rules {
            self.read_rules().await?;
        }
        for page in absorbed.wanted {
            if let Some(due) = self.read(move |catalog| catalog.due_page(page)).await? {
                self.frontier.put_first(due);
            }
        }
        self.look_for_twins(&absorbed.shown).await
    }

    /// Reloads the rules in force and the seed sites.
    async fn read_rules(&mut self) -> Result<(), CrawlError> {
        let config = self.crawl.config.clone();
        self.rules = self.read(move |catalog| Scoping::in_force(catalog, &config)).await?;
        Ok(())
    }

    /// Checks whether the sites of these pages mirror other sites.
    async fn look_for_twins(&mut self, shown: &[Shown]) -> Result<(), CrawlError> {
        let Some((homes, open)) = self.overseer.to_compare(shown) else { return Ok(()) };
        let (alike, compared) = self.read(move |catalog| Overseer::compare(catalog, homes, open)).await?;
        let now = self.crawl.clock.now();
        for (copy, of) in self.overseer.compared(compared, now) {
            info!(%copy, %of, "the same site twice");
            let event = Event::Alias { of };
            self.deliver(Record::new(copy, now, Content::Event(event))).await?;
        }
        for homes in alike {
            let sites = self.overseer.lookalikes(homes, now);
            let met = self.read(move |catalog| Twins::meetings(catalog, sites)).await?;
            self.overseer.suspect(met, now);
        }
        Ok(())
    }

    /// Finds sites that became due by time, and schedules the next scan.
    async fn scan(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        let may_wait = self.crawl.keep_going && self.frontier.is_idle();
        let (sites, next_due) = self
            .read(move |catalog| {
                Ok((catalog.due_sites(now)?, if may_wait { catalog.next_due(now)? } else { None }))
            })
            .await?;
        for site in sites {
            self.frontier.wake(site);
        }
        self.frontier.prune(now);
        self.overseer.prune(now);
        let latest = now.plus(SCAN_EVERY);
        self.scan_at = next_due.map_or(latest, |due| due.min(latest));
        self.quiet = true;
        Ok(())
    }

    /// Refills site queues. The state of new sites is read in the same call: a separate read for each of thousands of
    /// sites would delay all of them.
    async fn fill(&mut self, draws: Vec<Draw>, now: Timestamp) -> Result<(), CrawlError> {
        let is_new: Vec<bool> = draws.iter().map(|draw| self.overseer.is_new(draw.site)).collect();
        let drawn = self
            .read(move |catalog| {
                let draw = |(Draw { site, lanes }, is_new): (&Draw, &bool)| {
                    let lanes =
                        lanes.iter().map(|(order, limit)| catalog.due_pages(*site, now, *order, *limit));
                    let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
                    let first = lanes.iter().flatten().next().filter(|_| *is_new);
                    let stranger = first.map(|page| Stranger::of(catalog, &page.url)).transpose()?;
                    Ok((*site, lanes, stranger))
                };
                draws.iter().zip(&is_new).map(draw).collect::<Result<Vec<_>, _>>()
            })
            .await?;
        for (site, lanes, stranger) in drawn {
            if let Some(stranger) = stranger {
                self.acquaint(stranger, now);
            }
            if self.frontier.fill(site, lanes) > 0 {
                self.quiet = false;
            }
        }
        Ok(())
    }

    fn acquaint(&mut self, stranger: Stranger, now: Timestamp) {
        let Stranger { name, story, robots_txt, file } = stranger;
        // Where pages per day are counted, the site is restored when its turn comes.
        if !self.overseer.counts_days(&name) {
            self.overseer.recall(&name, story.as_ref(), 0, now);
        }
        match file {
            Some(file) => self.recall_robots(&robots_txt, file),
            None if self.without_file.len() < MAX_WITHOUT_FILE => {
                self.without_file.insert(robots_txt);
            }
            None => {}
        }
    }

    /// Reads the catalog on a blocking thread.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Catalog) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, CrawlError> {
        let catalog = self.crawl.catalog.clone();
        let done = tokio::task::spawn_blocking(move || read(catalog.as_ref())).await;
        Ok(done.map_err(|e| StoreError::Catalog(format!("reading it broke off: {e}")))??)
    }

    async fn deliver(&self, record: Record) -> Result<(), CrawlError> {
        self.crawl.records.send(record).await.map_err(|_| CrawlError::Closed)
    }

    fn show(&self) {
        let status = &self.crawl.status;
        CrawlStatus::set(&status.under_way, self.requests.len());
        CrawlStatus::set(&status.queued, self.frontier.queued());
        CrawlStatus::set(&status.sites, self.frontier.active_sites());
        metrics::gauge!("pharos_crawl_requests_under_way").set(self.requests.len() as f64);
        metrics::gauge!("pharos_crawl_pages_queued").set(self.frontier.queued() as f64);
        metrics::gauge!("pharos_crawl_sites_active").set(self.frontier.active_sites() as f64);
        let waiting = self.crawl.records.max_capacity() - self.crawl.records.capacity();
        metrics::gauge!("pharos_crawl_records_waiting").set(waiting as f64);
    }

    /// Lets requests in progress finish within a short time limit.
    async fn close(mut self, ended: Ended) -> CrawlSummary {
        if matches!(ended, Ended::Stopped | Ended::Time | Ended::Disk) {
            let rest = async {
                while let Some(joined) = self.requests.join_next_with_id().await {
                    if self.returned(joined).await.is_err() {
                        break;
                    }
                }
            };
            // Requests that take longer are cancelled, and their pages stay due.
            let _ = timeout(GRACE, rest).await;
        }
        self.requests.shutdown().await;
        self.show();
        for (site, Traffic { requests, bytes }) in self.overseer.busiest(BUSIEST) {
            info!(%site, requests, bytes, "today's traffic");
        }
        self.summary.ended = ended;
        self.summary
    }
}

fn in_lower_case(config: &CrawlConfig) -> Arc<CrawlConfig> {
    let mut config = config.clone();
    config.types.iter_mut().for_each(|kind| kind.make_ascii_lowercase());
    Arc::new(config)
}

fn panic_text(error: JoinError) -> String {
    let payload = match error.try_into_panic() {
        Ok(payload) => payload,
        Err(error) => return error.to_string(),
    };
    let text = payload
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    format!("internal error: {}", text.unwrap_or_else(|| "a panic".into()))
}
