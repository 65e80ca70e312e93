//! Control of a running engine: order dispatch and reconfiguration.
//!
//! Orders arrive through the order queue, from any process the operator uses. Orders that change stored knowledge become
//! records and pass through the pipeline like fetched pages, so that all stores see them in library order. Orders to the
//! crawl itself take effect at once. New settings are passed in by the process that read them ([`Engine::reconfigure`]).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use pharos_core::Clock;
use pharos_core::config::Config;
use pharos_crawl::politeness::site_settings::SiteSettingsTable;
use pharos_crawl::{CrawlStatus, Fetcher, apply_changed_settings, check_rules, rules_from_config};
use pharos_index::{Index, IndexError};
use pharos_store::interpret::refresh::OperatorWeights;
use pharos_store::{Catalog, CrawlRules, LibraryRecord};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::alerts::check_endpoints;
use crate::control::orders::{CrawlOrder, OWNER_TIMEOUT, Order, OrderQueue, home_page};
use crate::control::recrawls::RecrawlRule;
use crate::engine::TICK;
use crate::maintenance::backup::series::SeriesPlan;
use crate::status::engine_status::CrawlPhase;
use crate::{Engine, EngineError};

const ALREADY_RUNNING: &str = "the crawl is running already";
pub(crate) const NOT_RUNNING: &str = "no crawl is running";

/// The reason why an idle engine returns from waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// The engine was requested to stop.
    Stop,
    /// An operator started the crawl again or added the first pages.
    Crawl,
}

/// Checks that an engine can run with these settings.
pub fn check_settings(config: &Config) -> Result<(), EngineError> {
    let wrong = |error: String| EngineError::Settings(error);
    check_rules(&config.crawl).map_err(|error| wrong(error.to_string()))?;
    SiteSettingsTable::parse(&config.crawl.site_settings).map_err(|error| wrong(error.to_string()))?;
    OperatorWeights::from_config(&config.crawl, &config.refresh).map_err(|error| wrong(error.to_string()))?;
    check_endpoints(config)?;
    RecrawlRule::parse_all(&config.crawl)?;
    if !config.backup.directory.is_empty() {
        SeriesPlan::from_config(config)?;
    }
    // Reads certificates and parses addresses.
    Fetcher::new(&config.crawl).map_err(|error| wrong(error.to_string()))?;
    Ok(())
}

/// Dispatches operators' orders while the crawl runs.
pub(crate) struct OrderDispatcher {
    pub(crate) orders: OrderQueue,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) status: Arc<CrawlStatus>,
    /// Signals the crawl to end.
    pub(crate) halt: watch::Sender<bool>,
    /// Signals the engine, and with it the crawl, to stop.
    pub(crate) stop: watch::Receiver<bool>,
}

impl OrderDispatcher {
    pub(crate) async fn run(mut self, records: mpsc::Sender<LibraryRecord>) {
        let mut stop = self.stop.clone();
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => {}
            () = self.dispatch(records) => {}
        }
        // A stop does not wait for orders in flight.
        let _ = self.halt.send(*stop.borrow());
    }

    async fn dispatch(&mut self, records: mpsc::Sender<LibraryRecord>) {
        loop {
            tokio::time::sleep(TICK).await;
            for (path, order) in self.orders.pending() {
                if let Order::Crawl(order) = order {
                    let done = self.control_crawl(order);
                    self.orders
                        .resolve(&path, done.as_ref().copied().map_err(|e| e as &dyn std::fmt::Display));
                    continue;
                }
                let (at, rules) = (self.clock.now(), self.rules());
                for record in order.records(at, rules, &*self.catalog) {
                    if records.send(record).await.is_err() {
                        return;
                    }
                }
                let deadline = Instant::now() + OWNER_TIMEOUT;
                loop {
                    match order.is_done(&*self.catalog, at) {
                        Ok(true) => break self.orders.resolve(&path, Ok(())),
                        // The caller has withdrawn the order.
                        Ok(false) if !path.exists() => break,
                        // Unattended orders are never withdrawn; they must not block the queue.
                        Ok(false) if Instant::now() > deadline => {
                            break self.orders.resolve(&path, Err(&"the order had no effect in time"));
                        }
                        Ok(false) => tokio::time::sleep(TICK / 4).await,
                        Err(error) => break self.orders.resolve(&path, Err(&error)),
                    }
                }
            }
        }
    }

    fn rules(&self) -> CrawlRules {
        let known = self.catalog.rules().ok().flatten();
        known.unwrap_or_else(|| rules_from_config(&self.config.borrow().crawl))
    }

    fn control_crawl(&self, order: CrawlOrder) -> Result<(), &'static str> {
        match order {
            CrawlOrder::Pause => self.status.set_paused(true),
            CrawlOrder::Resume => self.status.set_paused(false),
            CrawlOrder::Stop => {
                let _ = self.halt.send(true);
            }
            CrawlOrder::Start => return Err(ALREADY_RUNNING),
        }
        info!(?order, "order to the crawl");
        Ok(())
    }
}

impl Engine {
    /// Serves builder requests and operators' orders after a run has ended, until there is a reason to run or stop.
    pub async fn wait_for_work(&self, mut stop: watch::Receiver<bool>) -> WakeReason {
        let reason = self.wait_until_needed(&mut stop).await;
        self.resumed_by_operator.store(true, Ordering::Relaxed);
        reason
    }

    async fn wait_until_needed(&self, stop: &mut watch::Receiver<bool>) -> WakeReason {
        let (_, never) = watch::channel(false);
        let phase = self.phase.lock().clone();
        let contact = self.config().crawl.contact.clone();
        let was_empty = phase == CrawlPhase::Empty && matches!(self.catalog.rules(), Ok(None));
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return WakeReason::Stop,
                () = tokio::time::sleep(TICK) => {}
            }
            let (crawl, others) = self.answer_crawl_orders();
            if others {
                let done = tokio::task::block_in_place(|| self.ingest(&never)?.execute_pending_orders());
                if let Err(error) = done {
                    warn!(%error, "orders failed");
                }
            }
            let has_first = was_empty && others && matches!(self.catalog.rules(), Ok(Some(_)));
            // Public sites are not crawled without a contact address; one has now been set.
            let has_contact =
                matches!(phase, CrawlPhase::Failed(_)) && self.config().crawl.contact != contact;
            if crawl || has_first || has_contact {
                return WakeReason::Crawl;
            }
            if let Some(index) = self.index.clone() {
                let served = tokio::task::spawn_blocking(move || serve_builder_request(&*index)).await;
                if let Ok(Err(error)) = served {
                    warn!(%error, "builder request failed");
                }
            }
        }
    }

    /// Resolves orders to a crawl that is not running. Returns whether to start it, and whether other orders are pending.
    fn answer_crawl_orders(&self) -> (bool, bool) {
        let orders = OrderQueue::open(&self.data);
        let (mut begin, mut others) = (false, false);
        for (path, order) in orders.pending() {
            match order {
                Order::Crawl(CrawlOrder::Start) => {
                    begin = true;
                    orders.resolve(&path, Ok(()));
                }
                Order::Crawl(_) => orders.resolve(&path, Err(&NOT_RUNNING)),
                _ => others = true,
            }
        }
        (begin, others)
    }

    /// Applies new settings to the running engine.
    ///
    /// Crawl politeness and limits, the disk budget and the crawl rules take effect at once; a change of rules is recorded.
    /// All other settings take effect at the next start.
    pub fn reconfigure(&self, config: Config) -> Result<(), EngineError> {
        check_settings(&config)?;
        let before = self.config();
        if *before == config {
            return Ok(());
        }
        self.record_rules(&before, &config)?;
        let crawl = Arc::new(config.crawl.clone());
        self.config.send_replace(Arc::new(config));
        self.apply_refresh_settings()?;
        self.status.set_settings(crawl);
        Ok(())
    }

    /// Enqueues an order that records changed crawl rules, if a crawl has been started.
    fn record_rules(&self, before: &Config, now: &Config) -> Result<(), EngineError> {
        // Rules that are queued but not yet recorded count as current.
        let mut intended = self.intended.lock();
        let Some(in_force) =
            intended.clone().map_or_else(|| self.catalog.rules(), |rules| Ok(Some(rules)))?
        else {
            return Ok(());
        };
        let rules = apply_changed_settings(in_force.clone(), &before.crawl, &now.crawl);
        let seeds = self.catalog.seed_sites()?;
        let Some(about) = seeds.iter().find_map(home_page).filter(|_| rules != in_force) else {
            return Ok(());
        };
        let order = Order::Rules { about, rules: Box::new(rules.clone()) };
        OrderQueue::open(&self.data).enqueue_in_order(&order)?;
        *intended = Some(rules);
        Ok(())
    }
}

/// Serves the pending request of a builder, if any.
fn serve_builder_request(index: &dyn Index) -> Result<(), IndexError> {
    match index.generational() {
        Some(index) if index.generations().pending_request().is_some() => index.serve_request().map(|_| ()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::config::LinkScope;
    use pharos_core::{PageUrl, config};
    use pharos_store::DataDir;

    use super::*;
    use crate::RunOptions;

    fn config(change: impl FnOnce(&mut config::CrawlConfig)) -> Config {
        let mut config = Config::default();
        // No request leaves the machine, and no server listens at the seed.
        config.crawl.allow_private = true;
        change(&mut config.crawl);
        config
    }

    /// Runs the engine while `act` gives orders, then stops it.
    async fn run_with<T: Send + 'static>(
        engine: &Arc<Engine>,
        seeds: Vec<PageUrl>,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let (stop_sender, stop) = watch::channel(false);
        let acting = tokio::task::spawn_blocking(move || {
            let acted = act();
            let _ = stop_sender.send(true);
            acted
        });
        engine.run(RunOptions { seeds, keep_going: true, stop }).await.unwrap();
        acting.await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn orders_and_settings_reach_a_crawl_that_runs() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), config(|_| {}), "up", true).unwrap();
        let engine = Arc::new(engine);
        let seed = PageUrl::parse("http://127.0.0.1:9/").unwrap();
        let (controlled, there) = (Arc::clone(&engine), data.clone());
        run_with(&engine, vec![seed.clone()], move || {
            let order = |order| crate::execute_order(&there, &Config::default(), "desk", &order);
            order(Order::Crawl(CrawlOrder::Pause)).unwrap();
            assert!(controlled.status().is_paused());
            order(Order::Crawl(CrawlOrder::Resume)).unwrap();
            assert!(!controlled.status().is_paused());
            let error = order(Order::Crawl(CrawlOrder::Start)).unwrap_err().to_string();
            assert!(error.contains(ALREADY_RUNNING), "{error}");
            order(Order::Recrawl(vec![seed.clone(), seed.join("/new").unwrap()])).unwrap();
            assert!(controlled.catalog().page(seed.join("/new").unwrap().id()).unwrap().is_some());
            order(Order::RecrawlSite(seed.site())).unwrap();

            controlled.reconfigure(config(|crawl| crawl.scope = LinkScope::Domain)).unwrap();
            let deadline = Instant::now() + OWNER_TIMEOUT;
            while controlled.catalog().rules().unwrap().unwrap().scope != LinkScope::Domain {
                assert!(Instant::now() < deadline, "the rules never change");
                std::thread::sleep(TICK);
            }
            assert!(controlled.reconfigure(config(|crawl| crawl.include = vec![String::new()])).is_err());
            assert_eq!(controlled.config().crawl.scope, LinkScope::Domain, "invalid settings change nothing");
        })
        .await;
        assert_eq!(engine.config().crawl.scope, LinkScope::Domain);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_engine_without_a_crawl_waits_for_one() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), config(|_| {}), "up", true).unwrap();
        let (_tell, stop) = watch::channel(false);
        let nothing =
            engine.run(RunOptions { seeds: Vec::new(), keep_going: true, stop: stop.clone() }).await;
        assert!(matches!(nothing, Err(EngineError::NoSeeds { .. })));
        let there = data.clone();
        let acting = tokio::task::spawn_blocking(move || {
            let order = |order| crate::execute_order(&there, &Config::default(), "desk", &order);
            let error = order(Order::Crawl(CrawlOrder::Pause)).unwrap_err().to_string();
            assert!(error.contains(NOT_RUNNING), "{error}");
            order(Order::Add(vec![PageUrl::parse("http://127.0.0.1:9/").unwrap()])).unwrap();
        });
        assert_eq!(engine.wait_for_work(stop).await, WakeReason::Crawl, "the first page of all");
        acting.await.unwrap();
        let seeds = engine.catalog().seed_sites().unwrap();
        assert_eq!(seeds.len(), 1);
        drop(engine);
        let result =
            crate::execute_order(&data, &Config::default(), "desk", &Order::Crawl(CrawlOrder::Pause));
        assert!(matches!(result, Err(EngineError::NotRunning)));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn rules_that_were_set_while_nothing_ran_hold_when_it_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let seed = PageUrl::parse("http://127.0.0.1:9/").unwrap();
        let run = async |config: Config, seeds: Vec<PageUrl>| {
            let engine = Arc::new(Engine::open(data.clone(), config, "up", true).unwrap());
            run_with(&engine, seeds, || {}).await;
            engine.catalog().rules().unwrap().unwrap()
        };
        let begun =
            run(config(|crawl| (crawl.scope, crawl.max_depth) = (LinkScope::Any, 3)), vec![seed]).await;
        assert_eq!((begun.scope, begun.max_depth), (LinkScope::Any, 3));
        let same = run(config(|_| {}), Vec::new()).await;
        assert_eq!(same, begun, "rules that are not set stay as recorded");
        let changed = run(config(|crawl| crawl.max_depth = 9), Vec::new()).await;
        assert_eq!((changed.scope, changed.max_depth), (LinkScope::Any, 9));
    }
}
