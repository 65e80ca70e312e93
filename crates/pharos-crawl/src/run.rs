//! The loop that ties it together.
//!
//! ```text
//!   catalog ──fill──▶ frontier ──next──▶ robots? ──yes──▶ errand (fetch) ──record──▶ the engine stores it
//!                        ▲                  │ no: a record says so ──────────────────▶       │
//!                        └──── absorbed: the catalog knows what came of it ◀─────────────────┘
//! ```

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use pharos_core::{PageUrl, SiteId, Timestamp};
use pharos_store::{Catalog, Content, DuePage, Event, Record, RobotsState, StoreError};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{debug, warn};

use crate::crawl::{Absorbed, Crawl, CrawlError, CrawlSummary, Ended};
use crate::errand::{Came, Errand, Messenger, Report, record};
use crate::fetch::{Fetcher, after};
use crate::frontier::{Frontier, Next, RobotsErrand};
use crate::known_robots::{KnownRobots, Obstacle, Verdict, delay_between_requests};
use crate::robots::is_robots_txt;
use crate::status::CrawlStatus;

/// What requests under way get when the crawl is told to stop.
const GRACE: Duration = Duration::from_secs(2);
/// How often the catalog is searched for sites that became due by the clock alone.
const SCAN_EVERY: Duration = Duration::from_secs(30);
/// Steps taken before the loop looks at what happened meanwhile.
const STEPS: usize = 256;

/// Fetches what is due until nothing is, or a limit is reached, or it is told to stop.
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
        // Nobody is left who could tell.
        pending::<()>().await;
    }
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// The state of a running crawl. Every step may be dropped at an await: what is lost then was never recorded.
struct Loop {
    crawl: Crawl,
    messenger: Messenger,
    frontier: Frontier,
    robots: KnownRobots,
    requests: JoinSet<Report>,
    errands: HashMap<Id, Errand>,
    /// Pages among the requests.
    pages_under_way: u64,
    /// When the catalog is to be searched for due sites again.
    scan_at: Timestamp,
    /// Nothing new has come since the last search.
    quiet: bool,
    summary: CrawlSummary,
}

impl Loop {
    fn new(crawl: Crawl) -> Result<Self, CrawlError> {
        let config = crawl.config.clone();
        let messenger = Messenger {
            fetcher: Fetcher::new(&config)?,
            clock: crawl.clock.clone(),
            records: crawl.records.clone(),
            config: config.clone(),
        };
        Ok(Self {
            crawl,
            messenger,
            frontier: Frontier::new(config.connections_per_host, config.politeness.delay()),
            robots: KnownRobots::default(),
            requests: JoinSet::new(),
            errands: HashMap::new(),
            pages_under_way: 0,
            scan_at: Timestamp::EPOCH,
            quiet: false,
            summary: CrawlSummary::default(),
        })
    }

    async fn go(&mut self) -> Result<Ended, CrawlError> {
        loop {
            let pause = self.hand_out().await?;
            if let Some(ended) = self.is_over() {
                return Ok(ended);
            }
            tokio::select! {
                Some(joined) = self.requests.join_next_with_id() => self.returned(joined).await?,
                message = self.crawl.absorbed.recv() => self.absorb(message.ok_or(CrawlError::Closed)?),
                () = self.crawl.status.changed.notified() => {}
                () = sleep(pause) => {}
            }
        }
    }

    fn is_over(&self) -> Option<Ended> {
        let limit = self.crawl.config.max_pages;
        if limit > 0 && self.summary.pages >= limit {
            return Some(Ended::MaxPages);
        }
        let nothing = self.frontier.is_idle() && self.quiet && self.requests.is_empty();
        (nothing && !self.crawl.keep_going).then_some(Ended::NothingDue)
    }

    /// Requests enough are under way, or so many pages that no more may be asked for.
    fn is_full(&self) -> bool {
        let limit = self.crawl.config.max_pages;
        self.requests.len() >= self.crawl.config.fetchers.max(1)
            || (limit > 0 && self.summary.pages + self.pages_under_way >= limit)
    }

    /// Begins what may begin now. Gives how long to wait unless something happens.
    async fn hand_out(&mut self) -> Result<Duration, CrawlError> {
        for _ in 0..STEPS {
            let now = self.crawl.clock.now();
            if self.frontier.release(now) > 0 {
                self.quiet = false;
            }
            if now >= self.scan_at || (self.frontier.is_idle() && !self.quiet) {
                self.scan(now).await?;
            }
            self.show();
            if self.crawl.status.is_paused() || self.is_full() {
                return Ok(SCAN_EVERY);
            }
            match self.frontier.next(now) {
                Next::Page(page) => self.consider(page, now).await?,
                Next::Robots(errand) => self.begin(Errand::Robots(errand), now),
                Next::Fill(sites) => self.fill(sites, now).await?,
                Next::Wait(_) if self.frontier.is_idle() && !self.quiet => {}
                Next::Wait(until) => {
                    return Ok(until.map_or(self.scan_at, |u| u.min(self.scan_at)).since(now));
                }
            }
        }
        Ok(Duration::ZERO)
    }

    /// Asks for a page, if the rules of its server allow it and are known.
    async fn consider(&mut self, page: DuePage, now: Timestamp) -> Result<(), CrawlError> {
        if is_robots_txt(&page.url) {
            self.frontier.park(&page, None);
            return Ok(());
        }
        let robots_txt = page.url.robots_txt();
        match self.verdict(&robots_txt, now).await? {
            None => {
                let errand = RobotsErrand { origin: robots_txt.clone(), ask: robots_txt, hops: 0 };
                self.frontier.robots_first(page, errand);
            }
            Some(Verdict::Rules(rules)) => match rules.refusal(&page.url) {
                None => self.begin(Errand::Page(page), now),
                Some(rule) => self.refuse(&page, &rule, now).await?,
            },
            Some(Verdict::NotBefore(_, Obstacle::NoContact(reason))) if page.depth == 0 => {
                return Err(CrawlError::NoContact { url: page.url.to_string(), reason });
            }
            Some(Verdict::NotBefore(until, _)) => {
                self.frontier.park(&page, self.crawl.keep_going.then_some(until));
            }
        }
        Ok(())
    }

    /// What we know of a server, from memory or from the catalog. One that was unreachable in an earlier run is
    /// asked anew: whatever was wrong may be mended.
    async fn verdict(&mut self, robots_txt: &PageUrl, now: Timestamp) -> Result<Option<Verdict>, CrawlError> {
        if let Some(verdict) = self.robots.get(robots_txt, now) {
            return Ok(Some(verdict));
        }
        let address = robots_txt.clone();
        if let Some(file) = self.read(move |catalog| catalog.robots(&address)).await?
            && file.state != RobotsState::Unreachable
        {
            self.robots.learn(robots_txt, &file.state, file.at, &self.crawl.config);
        }
        Ok(self.robots.get(robots_txt, now))
    }

    fn begin(&mut self, errand: Errand, now: Timestamp) {
        self.frontier.started(errand.asked().id().site(), now);
        self.pages_under_way += u64::from(matches!(errand, Errand::Page(_)));
        let request = self.requests.spawn(self.messenger.clone().run(errand.clone()));
        self.errands.insert(request.id(), errand);
    }

    async fn refuse(&mut self, page: &DuePage, rule: &str, now: Timestamp) -> Result<(), CrawlError> {
        let event = Event::Refused { reason: format!("robots.txt: {rule}") };
        self.deliver(record(page, now, Content::Event(event))).await?;
        self.frontier.refused(page);
        self.summary.refused += 1;
        CrawlStatus::add(&self.crawl.status.refused, 1);
        Ok(())
    }

    /// A request is over, one way or another.
    async fn returned(&mut self, joined: Result<(Id, Report), JoinError>) -> Result<(), CrawlError> {
        let id = match &joined {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(errand) = self.errands.remove(&id) else { return Ok(()) };
        self.pages_under_way -= u64::from(matches!(errand, Errand::Page(_)));
        let (ended, came) = match joined {
            Ok((_, Report { ended, came })) => (ended, came),
            Err(error) => {
                let (ended, reason) = (self.crawl.clock.now(), panic_text(error));
                self.deliver(errand.failure(reason.clone(), ended)).await?;
                (ended, errand.nothing(reason))
            }
        };
        let mut delay = Duration::ZERO;
        match (&errand, came) {
            (Errand::Page(_), Came::Page { bytes, asked_to_wait }) => {
                delay = asked_to_wait.unwrap_or_default().min(self.crawl.config.max_crawl_delay);
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
            (_, Came::Closed) => return Err(CrawlError::Closed),
            (_, Came::Page { .. } | Came::Robots(..) | Came::Moved(_)) => {}
        }
        let asked = errand.asked();
        let known = self.robots.get(&asked.robots_txt(), ended);
        let rules = if let Some(Verdict::Rules(rules)) = &known { Some(rules.as_ref()) } else { None };
        delay = delay.max(delay_between_requests(&self.crawl.config, rules));
        self.frontier.ended(asked.id().site(), ended, delay);
        Ok(())
    }

    fn failed(&mut self, url: &PageUrl, reason: &str) {
        debug!(%url, reason, "no answer");
        self.summary.failed += 1;
        self.summary.last_failure = Some(format!("{url}: {reason}"));
        CrawlStatus::add(&self.crawl.status.failed, 1);
    }

    /// A public server and no contact: an error for what the operator named, a page to pass over otherwise.
    fn no_contact(&mut self, errand: &Errand, reason: String, at: Timestamp) -> Result<(), CrawlError> {
        warn!(url = %errand.asked(), reason, "not asked");
        self.failed(errand.asked(), &reason);
        let obstacle = Obstacle::NoContact(reason.clone());
        match errand {
            Errand::Robots(robots) => {
                self.robots.obstacle(&robots.origin, obstacle, at, &self.crawl.config);
                self.frontier.robots_known(robots.origin.id().site());
            }
            Errand::Page(page) if page.depth == 0 => {
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

    fn absorb(&mut self, absorbed: Absorbed) {
        self.quiet = false;
        for page in absorbed.pages {
            self.frontier.absorbed(page);
        }
        for removal in &absorbed.removed {
            self.frontier.forget(removal);
        }
        for site in absorbed.woken {
            self.frontier.wake(site);
        }
    }

    /// Finds sites that became due by the clock, and decides when to look again.
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
        let latest = now.plus(SCAN_EVERY);
        self.scan_at = next_due.map_or(latest, |due| due.min(latest));
        self.quiet = true;
        Ok(())
    }

    async fn fill(&mut self, sites: Vec<(SiteId, usize)>, now: Timestamp) -> Result<(), CrawlError> {
        let due = self
            .read(move |catalog| {
                sites
                    .iter()
                    .map(|(site, limit)| Ok((*site, catalog.due_pages(*site, now, *limit)?)))
                    .collect::<Result<Vec<_>, _>>()
            })
            .await?;
        for (site, pages) in due {
            if self.frontier.fill(site, pages) > 0 {
                self.quiet = false;
            }
        }
        Ok(())
    }

    /// Reads the catalog where blocking disturbs nobody.
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
    }

    /// Lets requests under way finish, for a moment only.
    async fn close(mut self, ended: Ended) -> CrawlSummary {
        if matches!(ended, Ended::Stopped | Ended::Time) {
            let rest = async {
                while let Some(joined) = self.requests.join_next_with_id().await {
                    if self.returned(joined).await.is_err() {
                        break;
                    }
                }
            };
            // What takes longer is dropped and stays due.
            let _ = timeout(GRACE, rest).await;
        }
        self.requests.shutdown().await;
        self.show();
        self.summary.ended = ended;
        self.summary
    }
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
