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

use pharos_core::config::{ByteSize, CrawlConfig};
use pharos_core::{PageId, PageUrl, SiteName, Timestamp};
use pharos_store::catalog::{
    CLOCK_TOLERANCE, PageFailureQuery, PageProblem, RobotsFile, RobotsState, SiteReport,
};
use pharos_store::interpret::CrawlScope;
use pharos_store::interpret::scope::check_page_url;
use pharos_store::{Catalog, CrawlRules, DuePage, LibraryEvent, LibraryRecord, RecordContent, StoreError};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{debug, info, warn};

use crate::crawl::{AppliedRecords, Crawl, CrawlError, CrawlSummary, EndReason, StoredPageInfo};
use crate::fetch::fetch_task::{FetchOutcome, FetchReport, FetchTask, FetchWorker, page_record};
use crate::fetch::{Fetcher, deadline_after};
use crate::fetch_gate::{FetchGate, GateDecision, SkipReason};
use crate::frontier::{Frontier, NextAction, PageAdmission, RefillRequest, RobotsTask, strategy_from_config};
use crate::notices::Remedy;
use crate::politeness::delay::crawl_delay;
use crate::politeness::site_monitor::CompletedRequest;
use crate::politeness::traffic_metrics::SiteTraffic;
use crate::robots_cache::{RobotsCache, RobotsObstacle, RobotsVerdict};
use crate::rules::from_config::rules_from_config;
use crate::rules::known_pages::apply_rules;
use crate::rules::mirrors::MirrorDetector;
use crate::setting_error::SettingError;
use crate::status::CrawlStatus;

/// Time that requests in progress get to finish when the crawl is stopped.
const GRACE_PERIOD: Duration = Duration::from_secs(1);
/// Interval between scans of the catalog for sites that became due by time alone.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);
/// Interval after which skipped pages are considered again.
const RECHECK_INTERVAL: Duration = Duration::from_secs(86_400);
/// Number of sites whose traffic is logged at the end of a crawl.
const LOGGED_SITES: usize = 10;
/// Maximum number of servers remembered as having no stored robots.txt.
const MAX_WITHOUT_ROBOTS: usize = 65_536;
/// Maximum number of seeds for which failures of their server are recorded in one crawl.
const MAX_UNREACHABLE_SEEDS: usize = 65_536;
/// Maximum number of failed seeds that are tried again when a crawl starts or its settings change.
const MAX_RETRIED_SEEDS: usize = 1_000;
/// Steps taken before the loop checks for events.
const MAX_STEPS: usize = 256;

/// Fetches due pages until none is left, a limit is reached or the crawl is stopped.
pub async fn run_crawl(crawl: Crawl) -> Result<CrawlSummary, CrawlError> {
    let deadline = (!crawl.config.run_for.is_zero()).then(|| deadline_after(crawl.config.run_for));
    let mut stop = crawl.stop.clone();
    let mut crawl_loop = CrawlLoop::new(crawl)?;
    let ended = tokio::select! {
        biased;
        () = stop_requested(&mut stop) => EndReason::Stopped,
        () = deadline_reached(deadline) => EndReason::Time,
        ended = crawl_loop.run() => ended?,
    };
    Ok(crawl_loop.finish(ended).await)
}

async fn stop_requested(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender was dropped: no stop request can arrive.
        pending::<()>().await;
    }
}

async fn deadline_reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// State of a running crawl. Every step may be cancelled at an `await`: work lost then was never recorded.
struct CrawlLoop {
    crawl: Crawl,
    worker: FetchWorker,
    frontier: Frontier,
    robots: RobotsCache,
    /// Servers without a stored robots.txt, according to a recent read of the catalog.
    without_robots: HashSet<PageUrl>,
    gate: FetchGate,
    started: Timestamp,
    /// The rules in force. Pages discovered under earlier rules may violate them.
    scope: Arc<CrawlScope>,
    /// Check of known pages after a change of the rules.
    rule_check: Option<JoinHandle<()>>,
    requests: JoinSet<FetchReport>,
    tasks: HashMap<Id, FetchTask>,
    /// Number of pages among the requests.
    pages_in_progress: u64,
    /// Seeds whose outcome is not applied yet.
    seeds_in_progress: HashSet<PageId>,
    /// Seeds for which a failure of their server was recorded.
    unreachable_seeds: HashSet<PageId>,
    /// Time of the next scan for due sites.
    scan_at: Timestamp,
    /// Time of the next visit, as of the last scan while nothing was due.
    next_visit: Option<Timestamp>,
    /// `true` if nothing new has arrived since the last scan.
    quiet: bool,
    summary: CrawlSummary,
}

/// Catalog state of a site that this crawl has not requested yet.
struct NewSite {
    name: SiteName,
    report: Option<SiteReport>,
    robots_txt: PageUrl,
    file: Option<RobotsFile>,
}

impl NewSite {
    fn load(catalog: &dyn Catalog, page: &PageUrl) -> Result<Self, StoreError> {
        let (name, robots_txt) = (page.site(), page.robots_txt());
        let (report, file) = (catalog.site(name.id())?, catalog.robots(&robots_txt)?);
        Ok(Self { name, report, robots_txt, file })
    }
}

/// State of the loop after a round.
enum LoopState {
    Finished(EndReason),
    /// Parked pages were released just now.
    Recheck,
    Running,
}

impl CrawlLoop {
    fn new(mut crawl: Crawl) -> Result<Self, CrawlError> {
        let config = with_lower_case_types(&crawl.config);
        crawl.config = config.clone();
        let worker = FetchWorker {
            fetcher: Fetcher::new(&config)?,
            clock: crawl.clock.clone(),
            records: crawl.records.clone(),
            config: config.clone(),
        };
        let started = crawl.clock.now();
        let gate = FetchGate::new(config.clone(), crawl.keep_going, started)?;
        let connections = gate.most_connections();
        let frontier = Frontier::new(
            strategy_from_config(&config),
            PageAdmission::new(&config, started),
            connections,
            Duration::ZERO,
        );
        Ok(Self {
            crawl,
            worker,
            frontier,
            robots: RobotsCache::default(),
            without_robots: HashSet::new(),
            gate,
            started,
            scope: Arc::new(CrawlScope::new(rules_from_config(&config))),
            rule_check: None,
            requests: JoinSet::new(),
            tasks: HashMap::new(),
            pages_in_progress: 0,
            seeds_in_progress: HashSet::new(),
            unreachable_seeds: HashSet::new(),
            scan_at: Timestamp::EPOCH,
            next_visit: None,
            quiet: false,
            summary: CrawlSummary::default(),
        })
    }

    async fn run(&mut self) -> Result<EndReason, CrawlError> {
        let copies = self.read_catalog(|catalog| catalog.aliases()).await?;
        self.gate.add_known_mirrors(copies.into_iter().map(|(copy, _)| copy));
        self.reload_rules().await?;
        if self.crawl.rules_changed {
            self.check_known_pages();
        }
        // Problems of an earlier crawl may be solved.
        self.retry_failed_seeds().await?;
        loop {
            let pause = self.dispatch().await?;
            let idle = self.is_idle();
            self.crawl.status.set_idle(idle, self.next_visit.filter(|_| idle));
            match self.check_finished() {
                LoopState::Finished(ended) => return Ok(ended),
                LoopState::Recheck => continue,
                LoopState::Running => {}
            }
            tokio::select! {
                Some(joined) = self.requests.join_next_with_id() => self.handle_completed(joined).await?,
                message = self.crawl.applied.recv() => self.handle_applied(message.ok_or(CrawlError::Closed)?).await?,
                () = self.crawl.status.changed.notified() => {}
                () = sleep(pause) => {}
            }
        }
    }

    fn check_finished(&mut self) -> LoopState {
        let limit = self.crawl.config.max_pages;
        if limit > 0 && self.summary.pages >= limit {
            return LoopState::Finished(EndReason::MaxPages);
        }
        if self.crawl.status.is_full() {
            return LoopState::Finished(EndReason::Disk);
        }
        let nothing = self.is_idle();
        if nothing && !self.crawl.keep_going && self.gate.has_suspects() {
            // No more evidence will arrive; the pages held back are considered again.
            self.gate.drop_suspects();
            self.frontier.release_parked(Timestamp::from_millis(i64::MAX));
            self.quiet = false;
            return LoopState::Recheck;
        }
        // Pages parked for a while are considered now instead of waited for.
        if nothing
            && !self.crawl.keep_going
            && self.frontier.release_parked(Timestamp::from_millis(i64::MAX)) > 0
        {
            self.quiet = false;
            return LoopState::Recheck;
        }
        if nothing && !self.crawl.keep_going {
            LoopState::Finished(EndReason::NothingDue)
        } else {
            LoopState::Running
        }
    }

    /// Returns `true` if no page is due and no request is in progress.
    fn is_idle(&self) -> bool {
        let is_checking = self.rule_check.as_ref().is_some_and(|check| !check.is_finished());
        self.frontier.is_idle() && self.quiet && self.requests.is_empty() && !is_checking
    }

    /// Returns `true` if the limit of concurrent requests or of pages is reached.
    fn is_full(&self) -> bool {
        let limit = self.crawl.config.max_pages;
        self.requests.len() >= self.crawl.status.fetchers(self.crawl.config.fetchers)
            || (limit > 0 && self.summary.pages + self.pages_in_progress >= limit)
    }

    /// Applies settings changed while the crawl runs. Invalid settings change nothing. Returns `true` if they changed.
    fn take_settings(&mut self) -> bool {
        let Some(settings) = self.crawl.status.take_settings() else { return false };
        match self.reconfigure(with_lower_case_types(&settings)) {
            Ok(()) => info!("new crawl settings applied"),
            Err(error) => {
                warn!(%error, "new crawl settings rejected; the old ones stay in force");
                return false;
            }
        }
        true
    }

    fn reconfigure(&mut self, config: Arc<CrawlConfig>) -> Result<(), SettingError> {
        let fetcher = Fetcher::new(&config)?;
        self.gate.reconfigure(config.clone())?;
        self.frontier.set_connections(self.gate.most_connections());
        self.worker.fetcher = fetcher;
        self.worker.config = config.clone();
        self.crawl.config = config;
        self.robots.end_blocks();
        // Parked pages may be admitted now.
        self.frontier.release_parked(Timestamp::from_millis(i64::MAX));
        self.quiet = false;
        self.scan_at = Timestamp::EPOCH;
        Ok(())
    }

    /// Starts all requests that may start now. Returns how long to wait unless an event arrives.
    async fn dispatch(&mut self) -> Result<Duration, CrawlError> {
        if self.take_settings() {
            self.retry_failed_seeds().await?;
        }
        for _ in 0..MAX_STEPS {
            let now = self.crawl.clock.now();
            if self.frontier.release_parked(now) > 0 {
                self.quiet = false;
            }
            if now >= self.scan_at || (self.frontier.is_idle() && !self.quiet) {
                self.scan_due_sites(now).await?;
            }
            self.publish_status();
            if self.crawl.status.report().paused || self.is_full() {
                return Ok(SCAN_INTERVAL);
            }
            match self.frontier.next(now) {
                NextAction::Page(page) => self.process_page(page, now).await?,
                NextAction::Robots(task) => match self.gate.check_site(&task.url.site(), now) {
                    GateDecision::Allow => self.start_task(FetchTask::Robots(task), now),
                    GateDecision::NotBefore(until) | GateDecision::HoldUntil(until) => {
                        self.frontier.postpone_robots(task, until);
                    }
                    GateDecision::Skip(reason) => self.give_up_robots(task, &reason, now),
                },
                NextAction::Refill(requests) => self.refill_queues(requests, now).await?,
                NextAction::Wait(_) if self.frontier.is_idle() && !self.quiet => {}
                NextAction::Wait(until) => {
                    debug!(?until, requests = self.requests.len(), frontier = ?self.frontier, "nothing to do");
                    return Ok(until.map_or(self.scan_at, |u| u.min(self.scan_at)).since(now));
                }
            }
        }
        Ok(Duration::ZERO)
    }

    /// Fetches a page if its server's rules are known and allow it.
    async fn process_page(&mut self, page: DuePage, now: Timestamp) -> Result<(), CrawlError> {
        if check_page_url(&page.url).is_err() {
            self.frontier.park(&page, None);
            return Ok(());
        }
        // Seeds are exempt from the scope rules.
        if page.depth > 0
            && let Err(refusal) = self.scope.admits_known(&page.url)
        {
            return self.record_refusal(&page, &refusal.to_string(), now).await;
        }
        self.restore_site(&page.url.site(), now).await?;
        match self.gate.check_page(&page.url, page.visited, now) {
            GateDecision::Allow => {}
            GateDecision::Skip(reason) => {
                self.report_skipped(&page, &reason);
                // A continuous crawl tries again the next day.
                self.frontier.park(&page, self.crawl.keep_going.then(|| now.plus(RECHECK_INTERVAL)));
                return Ok(());
            }
            GateDecision::HoldUntil(until) => {
                self.frontier.park(&page, Some(until));
                return Ok(());
            }
            GateDecision::NotBefore(until) => {
                self.frontier.postpone_page(page, until);
                return Ok(());
            }
        }
        let robots_txt = page.url.robots_txt();
        match self.robots_verdict(&robots_txt, now).await? {
            None => {
                let task = RobotsTask { origin: robots_txt.clone(), url: robots_txt, hops: 0 };
                self.frontier.fetch_robots_first(page, task);
            }
            Some(RobotsVerdict::Rules(rules)) => match rules.refusal(&page.url) {
                None => self.start_task(FetchTask::Page(page), now),
                Some(rule) => self.record_refusal(&page, &format!("robots.txt: {rule}"), now).await?,
            },
            Some(RobotsVerdict::NotBefore(_, RobotsObstacle::NoContact(reason)))
                if self.is_initial_seed(&page) =>
            {
                return Err(CrawlError::NoContact { url: page.url.to_string(), reason });
            }
            // A seed must not wait unnoticed.
            Some(RobotsVerdict::NotBefore(_, obstacle)) if self.is_unrecorded_failure(&page, &robots_txt) => {
                self.record_unreachable(&page, obstacle.reason(), now).await?;
            }
            Some(RobotsVerdict::NotBefore(until, _)) => {
                self.crawl.status.set_robots_retry(&robots_txt, until, now);
                self.frontier.park(&page, self.crawl.keep_going.then_some(until));
            }
        }
        Ok(())
    }

    /// Returns `true` for the seeds this crawl started with. Seeds added later must not end the crawl.
    fn is_initial_seed(&self, page: &DuePage) -> bool {
        page.depth == 0 && page.found_at <= self.started
    }

    /// Restores the catalog's state of a site that this crawl has not requested yet.
    async fn restore_site(&mut self, name: &SiteName, now: Timestamp) -> Result<(), CrawlError> {
        let id = name.id();
        if !self.gate.is_new_site(id) {
            return Ok(());
        }
        let since = self.gate.day_start(name, now);
        let counted = self.gate.has_daily_limit(name);
        let (report, today) = self
            .read_catalog(move |catalog| {
                let today = if counted { catalog.responses_since(id, since)? } else { 0 };
                Ok((catalog.site(id)?, today))
            })
            .await?;
        self.gate.restore_site(name, report.as_ref(), today, now);
        Ok(())
    }

    /// Returns the verdict on a server, from memory or from the catalog. A server that was unreachable in an earlier
    /// crawl is requested again: the problem may be solved.
    async fn robots_verdict(
        &mut self,
        robots_txt: &PageUrl,
        now: Timestamp,
    ) -> Result<Option<RobotsVerdict>, CrawlError> {
        if let Some(verdict) = self.robots.get(robots_txt, now) {
            return Ok(Some(verdict));
        }
        if self.without_robots.remove(robots_txt) {
            return Ok(None);
        }
        let address = robots_txt.clone();
        if let Some(file) = self.read_catalog(move |catalog| catalog.robots(&address)).await? {
            self.restore_robots(robots_txt, file, now);
        }
        Ok(self.robots.get(robots_txt, now))
    }

    fn restore_robots(&mut self, robots_txt: &PageUrl, file: RobotsFile, now: Timestamp) {
        // The clock was wrong: the age of the file is unknown.
        if file.at > now.plus(CLOCK_TOLERANCE) {
            return;
        }
        match (file.state, file.before) {
            (RobotsState::Unreachable, Some((at, body))) => {
                self.robots.update(robots_txt, &RobotsState::Known(body), at, &self.crawl.config);
            }
            (RobotsState::Unreachable, None) => {}
            (state, _) => self.robots.update(robots_txt, &state, file.at, &self.crawl.config),
        }
    }

    /// Treats a server that is not requested in this crawl as unreachable.
    fn give_up_robots(&mut self, task: RobotsTask, reason: &SkipReason, now: Timestamp) {
        self.robots.update(&task.origin, &RobotsState::Unreachable, now, &self.crawl.config);
        self.robots.set_reason(&task.origin, &reason.to_string());
        self.frontier.robots_known(task.origin.id().site());
    }

    fn start_task(&mut self, task: FetchTask, now: Timestamp) {
        self.gate.request_started(&task.url().site(), now);
        self.frontier.request_started(task.url().id().site(), now);
        if let FetchTask::Page(page) = &task {
            self.follow_seed(page);
            self.pages_in_progress += 1;
            if !page.visited {
                self.gate.first_visit_started(page.url.id());
            }
        }
        let request = self.requests.spawn(self.worker.clone().execute(task.clone()));
        self.tasks.insert(request.id(), task);
    }

    /// Remembers a seed whose outcome is reported to the operator.
    fn follow_seed(&mut self, page: &DuePage) {
        if page.depth == 0 {
            self.seeds_in_progress.insert(page.url.id());
        }
    }

    /// Reports a page that is not fetched in this crawl, if it is a seed or its site reached a limit.
    fn report_skipped(&mut self, page: &DuePage, reason: &SkipReason) {
        let mut log = self.crawl.status.log();
        if let SkipReason::Limit(limit) = reason {
            log.add(page.url.site().to_string(), limit.clone(), Some(Remedy::Limit), true);
            log.count_over_limit(page.url.id());
        } else if page.depth == 0 && !page.visited {
            log.add(page.url.to_string(), reason.to_string(), None, false);
        }
    }

    /// Reports the seeds among applied pages that yield nothing.
    async fn report_seeds(&mut self, applied: &[PageId]) -> Result<(), CrawlError> {
        let seeds: Vec<PageId> =
            applied.iter().filter(|page| self.seeds_in_progress.remove(page)).copied().collect();
        if seeds.is_empty() {
            return Ok(());
        }
        let pages = self
            .read_catalog(move |catalog| {
                seeds.iter().map(|page| catalog.page(*page)).collect::<Result<Vec<_>, _>>()
            })
            .await?;
        let mut log = self.crawl.status.log();
        for page in pages.into_iter().flatten() {
            // The seed of a known page whose last visit failed is still searchable.
            if let Some(problem) = page.problem.filter(|_| !page.indexable) {
                let reason = page.reason.unwrap_or_default();
                let remedy = Remedy::for_problem(problem, &reason);
                log.add(page.url.to_string(), reason, remedy, false);
            }
        }
        Ok(())
    }

    /// Returns `true` if the last failure of a server must be recorded for a seed: each one once, and at least one in
    /// every crawl.
    fn is_unrecorded_failure(&self, page: &DuePage, robots_txt: &PageUrl) -> bool {
        let is_new = page.attempts < self.robots.failures(robots_txt)
            || !self.unreachable_seeds.contains(&page.url.id());
        page.depth == 0 && !page.visited && is_new && self.unreachable_seeds.len() < MAX_UNREACHABLE_SEEDS
    }

    /// Records that a seed cannot be fetched because its server does not respond.
    async fn record_unreachable(
        &mut self,
        page: &DuePage,
        reason: String,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        self.follow_seed(page);
        self.unreachable_seeds.insert(page.url.id());
        let event = LibraryEvent::Failed { reason };
        self.send_record(page_record(page, now, RecordContent::Event(event))).await?;
        self.frontier.page_refused(page);
        Ok(())
    }

    async fn record_refusal(&mut self, page: &DuePage, rule: &str, now: Timestamp) -> Result<(), CrawlError> {
        self.follow_seed(page);
        self.crawl.status.log().counts.count_refusal(rule);
        self.summary.problems.count_refusal(rule);
        let event = LibraryEvent::Refused { reason: rule.to_string() };
        self.send_record(page_record(page, now, RecordContent::Event(event))).await?;
        self.frontier.page_refused(page);
        self.summary.refused += 1;
        CrawlStatus::add(&self.crawl.status.refused, 1);
        Ok(())
    }

    /// Handles a completed request, successful or not.
    async fn handle_completed(
        &mut self,
        joined: Result<(Id, FetchReport), JoinError>,
    ) -> Result<(), CrawlError> {
        let id = match &joined {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(task) = self.tasks.remove(&id) else { return Ok(()) };
        self.pages_in_progress -= u64::from(matches!(task, FetchTask::Page(_)));
        let FetchReport { ended, request, outcome } = match joined {
            Ok((_, report)) => report,
            Err(error) => {
                let (ended, reason) = (self.crawl.clock.now(), panic_text(error));
                self.send_record(task.failure_record(reason.clone(), ended)).await?;
                FetchReport {
                    ended,
                    request: CompletedRequest::default(),
                    outcome: task.failure_outcome(reason),
                }
            }
        };
        match (&task, outcome) {
            (FetchTask::Page(_), FetchOutcome::Page { bytes, status }) => {
                self.summary.problems.count_response(status);
                self.crawl.status.log().counts.count_response(status);
                self.summary.pages += 1;
                self.summary.bytes += bytes as u64;
                CrawlStatus::add(&self.crawl.status.pages, 1);
                CrawlStatus::add(&self.crawl.status.bytes, bytes);
            }
            (FetchTask::Robots(robots), FetchOutcome::Robots(state, failed)) => {
                if let Some(reason) = &failed {
                    self.record_failure(&robots.origin, reason);
                }
                self.robots.update(&robots.origin, &state, ended, &self.crawl.config);
                if let Some(reason) = failed {
                    self.robots.set_reason(&robots.origin, &reason);
                }
                self.without_robots.remove(&robots.origin);
                self.frontier.robots_known(robots.origin.id().site());
            }
            (FetchTask::Robots(robots), FetchOutcome::RobotsMoved(url)) => {
                self.frontier.enqueue_robots(RobotsTask {
                    origin: robots.origin.clone(),
                    url,
                    hops: robots.hops + 1,
                });
            }
            (_, FetchOutcome::NoContact(error)) => self.handle_no_contact(&task, error.to_string(), ended)?,
            (_, FetchOutcome::Failed(reason)) => self.record_failure(task.url(), &reason),
            (_, FetchOutcome::UnwantedType) => {
                self.summary.refused += 1;
                self.summary.problems.by_type += 1;
                self.crawl.status.log().counts.by_type += 1;
                CrawlStatus::add(&self.crawl.status.refused, 1);
            }
            (_, FetchOutcome::Closed) => return Err(CrawlError::Closed),
            (_, FetchOutcome::Page { .. } | FetchOutcome::Robots(..) | FetchOutcome::RobotsMoved(_)) => {}
        }
        let url = task.url();
        let cached = self.robots.get(&url.robots_txt(), ended);
        let rules = if let Some(RobotsVerdict::Rules(rules)) = &cached { Some(rules.as_ref()) } else { None };
        let request = CompletedRequest { crawl_delay: crawl_delay(&self.crawl.config, rules), ..request };
        let wait = self.gate.request_ended(&url.site(), ended, request);
        self.frontier.request_ended(url.id().site(), ended, wait);
        Ok(())
    }

    fn record_failure(&mut self, url: &PageUrl, reason: &str) {
        debug!(%url, reason, "no response");
        self.summary.failed += 1;
        self.summary.problems.count_failure(reason);
        self.crawl.status.log().counts.count_failure(reason);
        self.summary.last_failure = Some(format!("{url}: {reason}"));
        CrawlStatus::add(&self.crawl.status.failed, 1);
    }

    /// Handles a public server without a contact address: an error for a seed, a skipped page otherwise.
    fn handle_no_contact(
        &mut self,
        task: &FetchTask,
        reason: String,
        at: Timestamp,
    ) -> Result<(), CrawlError> {
        warn!(url = %task.url(), reason, "request not permitted");
        self.record_failure(task.url(), &reason);
        let obstacle = RobotsObstacle::NoContact(reason.clone());
        match task {
            FetchTask::Robots(robots) => {
                self.robots.block(&robots.origin, obstacle, at, &self.crawl.config);
                self.frontier.robots_known(robots.origin.id().site());
            }
            FetchTask::Page(page) if self.is_initial_seed(page) => {
                return Err(CrawlError::NoContact { url: page.url.to_string(), reason });
            }
            FetchTask::Page(page) => {
                self.robots.block(&page.url.robots_txt(), obstacle, at, &self.crawl.config);
                self.gate.page_settled(page.url.id());
                let retry = at.plus(self.crawl.config.retry_delay);
                self.frontier.park(page, self.crawl.keep_going.then_some(retry));
            }
        }
        Ok(())
    }

    async fn handle_applied(&mut self, applied: AppliedRecords) -> Result<(), CrawlError> {
        self.quiet = false;
        for stored_pages in &applied.stored_pages {
            self.gate.page_stored(stored_pages);
        }
        for page in &applied.pages {
            self.gate.page_settled(*page);
            self.frontier.page_applied(*page);
        }
        self.report_seeds(&applied.pages).await?;
        for removal in &applied.removed {
            self.frontier.remove(removal);
        }
        for site in applied.due_sites {
            self.frontier.wake(site);
        }
        if applied.new_rules && self.reload_rules().await? {
            self.check_known_pages();
        }
        for page in applied.requested {
            if let Some(due) = self.read_catalog(move |catalog| catalog.due_page(page)).await? {
                self.frontier.enqueue_first(due);
            }
        }
        self.detect_mirrors(&applied.stored_pages).await
    }

    /// Reloads the rules in force and the seed sites. Returns `true` if the rules changed.
    async fn reload_rules(&mut self) -> Result<bool, CrawlError> {
        let initial = rules_from_config(&self.crawl.config);
        // The crawl loop checks pages and discovers none.
        let scope = self.read_catalog(move |catalog| CrawlScope::load(catalog, initial, ByteSize(0))).await?;
        let timeless = |rules: &CrawlRules| CrawlRules { fresh_since: None, ..rules.clone() };
        let is_changed = timeless(self.scope.rules()) != timeless(scope.rules());
        self.scope = Arc::new(scope);
        Ok(is_changed)
    }

    /// Makes seeds due that got no response: their server may have recovered, or the settings may permit them now.
    async fn retry_failed_seeds(&mut self) -> Result<(), CrawlError> {
        let query = PageFailureQuery {
            problem: Some(PageProblem::Failed),
            seeds_only: true,
            limit: MAX_RETRIED_SEEDS,
            ..PageFailureQuery::default()
        };
        let seeds = self
            .read_catalog(move |catalog| {
                let failed = catalog.failures(&query)?;
                failed.iter().map(|seed| catalog.due_page(seed.url.id())).collect::<Result<Vec<_>, _>>()
            })
            .await?;
        for seed in seeds.into_iter().flatten().filter(|seed| !seed.visited) {
            self.frontier.enqueue_first(seed);
        }
        Ok(())
    }

    /// Starts to apply the rules in force to all known pages. A check under earlier rules ends.
    fn check_known_pages(&mut self) {
        if let Some(running) = self.rule_check.take() {
            running.abort();
        }
        let (catalog, clock) = (self.crawl.catalog.clone(), self.crawl.clock.clone());
        let (records, status) = (self.crawl.records.clone(), self.crawl.status.clone());
        let scope = Arc::clone(&self.scope);
        self.rule_check = Some(tokio::spawn(async move {
            apply_rules(catalog, clock, records, scope).await;
            // Wakes the crawl loop, which may have nothing else to do.
            status.changed.notify_one();
        }));
    }

    /// Checks whether the sites of these pages mirror other sites.
    async fn detect_mirrors(&mut self, stored_pages: &[StoredPageInfo]) -> Result<(), CrawlError> {
        let Some((homes, open)) = self.gate.due_comparisons(stored_pages) else { return Ok(()) };
        let (alike, compared) =
            self.read_catalog(move |catalog| FetchGate::compare(catalog, homes, open)).await?;
        let now = self.crawl.clock.now();
        for (copy, of) in self.gate.apply_comparisons(compared, now) {
            info!(%copy, %of, "mirror site found");
            let event = LibraryEvent::Alias { of };
            self.send_record(LibraryRecord::new(copy, now, RecordContent::Event(event))).await?;
        }
        for homes in alike {
            let sites = self.gate.with_request_counts(homes, now);
            let pairs =
                self.read_catalog(move |catalog| MirrorDetector::pair_candidates(catalog, sites)).await?;
            self.gate.add_suspects(pairs, now);
        }
        Ok(())
    }

    /// Finds sites that became due by time, and schedules the next scan.
    async fn scan_due_sites(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        let may_wait = self.crawl.keep_going && self.frontier.is_idle();
        let (sites, next_due) = self
            .read_catalog(move |catalog| {
                Ok((catalog.due_sites(now)?, if may_wait { catalog.next_due(now)? } else { None }))
            })
            .await?;
        for site in sites {
            self.frontier.wake(site);
        }
        self.frontier.prune(now);
        self.gate.prune(now);
        let latest = now.plus(SCAN_INTERVAL);
        self.next_visit = [next_due, self.frontier.next_release()].into_iter().flatten().min();
        self.scan_at = next_due.map_or(latest, |due| due.min(latest));
        self.quiet = true;
        Ok(())
    }

    /// Refills site queues. The state of new sites is read in the same call: a separate read for each of thousands of
    /// sites would delay all of them.
    async fn refill_queues(
        &mut self,
        requests: Vec<RefillRequest>,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        let is_new: Vec<bool> = requests.iter().map(|request| self.gate.is_new_site(request.site)).collect();
        let due = self
            .read_catalog(move |catalog| {
                let read_pages = |(RefillRequest { site, sub_queues }, is_new): (&RefillRequest, &bool)| {
                    let pages =
                        sub_queues.iter().map(|(order, limit)| catalog.due_pages(*site, now, *order, *limit));
                    let pages = pages.collect::<Result<Vec<_>, _>>()?;
                    let first = pages.iter().flatten().next().filter(|_| *is_new);
                    let new_site = first.map(|page| NewSite::load(catalog, &page.url)).transpose()?;
                    Ok((*site, pages, new_site))
                };
                requests.iter().zip(&is_new).map(read_pages).collect::<Result<Vec<_>, _>>()
            })
            .await?;
        for (site, pages, new_site) in due {
            if let Some(new_site) = new_site {
                self.register_site(new_site, now);
            }
            if self.frontier.refill(site, pages) > 0 {
                self.quiet = false;
            }
        }
        Ok(())
    }

    fn register_site(&mut self, new_site: NewSite, now: Timestamp) {
        let NewSite { name, report, robots_txt, file } = new_site;
        // Where pages per day are counted, the site is restored when its turn comes.
        if !self.gate.has_daily_limit(&name) {
            self.gate.restore_site(&name, report.as_ref(), 0, now);
        }
        match file {
            Some(file) => self.restore_robots(&robots_txt, file, now),
            None if self.without_robots.len() < MAX_WITHOUT_ROBOTS => {
                self.without_robots.insert(robots_txt);
            }
            None => {}
        }
    }

    /// Reads the catalog on a blocking thread.
    async fn read_catalog<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Catalog) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, CrawlError> {
        let catalog = self.crawl.catalog.clone();
        let done = tokio::task::spawn_blocking(move || read(catalog.as_ref())).await;
        Ok(done.map_err(|e| StoreError::Catalog(format!("reading the catalog was interrupted: {e}")))??)
    }

    async fn send_record(&self, record: LibraryRecord) -> Result<(), CrawlError> {
        self.crawl.records.send(record).await.map_err(|_| CrawlError::Closed)
    }

    fn publish_status(&self) {
        let status = &self.crawl.status;
        CrawlStatus::set(&status.in_flight, self.requests.len());
        CrawlStatus::set(&status.queued, self.frontier.queued());
        CrawlStatus::set(&status.sites, self.frontier.active_sites());
        // The second name is that of release 0.1.
        for name in ["pharos_crawl_requests_in_flight", "pharos_crawl_requests_under_way"] {
            metrics::gauge!(name).set(self.requests.len() as f64);
        }
        metrics::gauge!("pharos_crawl_pages_queued").set(self.frontier.queued() as f64);
        metrics::gauge!("pharos_crawl_sites_active").set(self.frontier.active_sites() as f64);
        let waiting = self.crawl.records.max_capacity() - self.crawl.records.capacity();
        metrics::gauge!("pharos_crawl_records_waiting").set(waiting as f64);
    }

    /// Lets requests in progress finish within a short time limit.
    async fn finish(mut self, ended: EndReason) -> CrawlSummary {
        if matches!(ended, EndReason::Stopped | EndReason::Time | EndReason::Disk) {
            let rest = async {
                while let Some(joined) = self.requests.join_next_with_id().await {
                    if self.handle_completed(joined).await.is_err() {
                        break;
                    }
                }
            };
            // Requests that take longer are cancelled, and their pages stay due.
            let _ = timeout(GRACE_PERIOD, rest).await;
        }
        self.requests.shutdown().await;
        if let Some(check) = self.rule_check.take() {
            check.abort();
            // Its sender is dropped only when the task has ended.
            let _ = check.await;
        }
        self.publish_status();
        for (site, SiteTraffic { requests, bytes }) in self.gate.busiest_sites(LOGGED_SITES) {
            info!(%site, requests, bytes, "today's traffic");
        }
        self.summary.ended = ended;
        self.summary.problems.over_limit = self.crawl.status.log().counts.over_limit;
        self.summary
    }
}

fn with_lower_case_types(config: &CrawlConfig) -> Arc<CrawlConfig> {
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
