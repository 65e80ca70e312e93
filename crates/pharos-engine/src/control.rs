//! What operators do to an engine while it runs: orders, and other settings.
//!
//! Orders come through the inbox, from whichever process the operator uses. Those that change what is known become records
//! and take the way of fetched pages, so that all stores see them in the order of the library; those to the crawl itself
//! are followed at once. Settings come from whoever read them ([`Engine::reconfigure`]).

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use pharos_core::Clock;
use pharos_core::config::Config;
use pharos_crawl::{CrawlStatus, Fetcher, SiteTable, changed_rules, check_rules, rules_of};
use pharos_store::{Catalog, CrawlRules, Record};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::engine::TICK;
use crate::inbox::{CrawlOrder, Inbox, Order, PATIENCE, home_of};
use crate::live::Phase;
use crate::{Engine, EngineError};

const IS_RUNNING: &str = "the crawl is running already";
pub(crate) const IS_NOT_RUNNING: &str = "no crawl is running";

/// Why an engine whose crawl had ended has something to do again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attended {
    /// It is told to stop altogether.
    Stop,
    /// The operator wants the crawl to begin again, or named the first pages of all.
    Crawl,
}

/// Can an engine be run by these settings?
pub fn check_settings(config: &Config) -> Result<(), EngineError> {
    let wrong = |error: String| EngineError::Settings(error);
    check_rules(&config.crawl).map_err(|error| wrong(error.to_string()))?;
    SiteTable::parse(&config.crawl.site_settings).map_err(|error| wrong(error.to_string()))?;
    // Certificates are read and addresses parsed.
    Fetcher::new(&config.crawl).map_err(|error| wrong(error.to_string()))?;
    Ok(())
}

/// Passes on what operators order while the crawl runs.
pub(crate) struct PassingOn {
    pub(crate) inbox: Inbox,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) status: Arc<CrawlStatus>,
    /// Ends the crawl.
    pub(crate) halt: watch::Sender<bool>,
    /// The engine is to stop altogether, which ends the crawl, too.
    pub(crate) stop: watch::Receiver<bool>,
}

impl PassingOn {
    pub(crate) async fn run(mut self, records: mpsc::Sender<Record>) {
        let mut stop = self.stop.clone();
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => {}
            () = self.pass_on(records) => {}
        }
        // Whoever is to stop does not wait for what is being passed on.
        let _ = self.halt.send(*stop.borrow());
    }

    async fn pass_on(&mut self, records: mpsc::Sender<Record>) {
        loop {
            tokio::time::sleep(TICK).await;
            for (path, order) in self.inbox.waiting() {
                if let Order::Crawl(order) = order {
                    let done = self.obey(order);
                    self.inbox.answer(&path, done.as_ref().copied().map_err(|e| e as &dyn std::fmt::Display));
                    continue;
                }
                let (at, rules) = (self.clock.now(), self.rules());
                for record in order.records(at, rules, &*self.catalog) {
                    if records.send(record).await.is_err() {
                        return;
                    }
                }
                let patience = Instant::now() + PATIENCE;
                loop {
                    match order.is_done(&*self.catalog, at) {
                        Ok(true) => break self.inbox.answer(&path, Ok(())),
                        // Whoever gave it has taken it back.
                        Ok(false) if !path.exists() => break,
                        // Nobody takes back what was left; others must not wait for it for ever.
                        Ok(false) if Instant::now() > patience => {
                            break self.inbox.answer(&path, Err(&"nothing came of it"));
                        }
                        Ok(false) => tokio::time::sleep(TICK / 4).await,
                        Err(error) => break self.inbox.answer(&path, Err(&error)),
                    }
                }
            }
        }
    }

    fn rules(&self) -> CrawlRules {
        let known = self.catalog.rules().ok().flatten();
        known.unwrap_or_else(|| rules_of(&self.config.borrow().crawl))
    }

    fn obey(&self, order: CrawlOrder) -> Result<(), &'static str> {
        match order {
            CrawlOrder::Pause => self.status.set_held(true),
            CrawlOrder::Resume => self.status.set_held(false),
            CrawlOrder::Stop => {
                let _ = self.halt.send(true);
            }
            CrawlOrder::Start => return Err(IS_RUNNING),
        }
        info!(?order, "the operator steers the crawl");
        Ok(())
    }
}

impl Engine {
    /// Goes on doing what builders and operators ask for, after a run has ended, until there is more to do than that.
    pub async fn attend(&self, mut stop: watch::Receiver<bool>) -> Attended {
        let attended = self.wait_for_work(&mut stop).await;
        self.is_attended.store(true, Ordering::Relaxed);
        attended
    }

    async fn wait_for_work(&self, stop: &mut watch::Receiver<bool>) -> Attended {
        let (_, never) = watch::channel(false);
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let contact = self.config().crawl.contact.clone();
        let was_empty = phase == Phase::Empty && matches!(self.catalog.rules(), Ok(None));
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return Attended::Stop,
                () = tokio::time::sleep(TICK) => {}
            }
            let (crawl, others) = self.crawl_orders();
            if others {
                let done = tokio::task::block_in_place(|| self.intake(&never)?.attend());
                if let Err(error) = done {
                    warn!(%error, "could not do what the operator asked for");
                }
            }
            let has_first = was_empty && others && matches!(self.catalog.rules(), Ok(Some(_)));
            // Public sites are not asked before there is somebody to turn to: now there is.
            let has_contact = matches!(phase, Phase::Failed(_)) && self.config().crawl.contact != contact;
            if crawl || has_first || has_contact {
                return Attended::Crawl;
            }
            if let Some(index) = self.index.clone()
                && self.generations.waiting().is_some()
                && let Ok(Err(error)) = tokio::task::spawn_blocking(move || index.fulfil_wish()).await
            {
                warn!(%error, "could not do what the builder asked for");
            }
        }
    }

    /// Answers the orders to a crawl that does not run. Is it to begin, and are there other orders?
    fn crawl_orders(&self) -> (bool, bool) {
        let inbox = Inbox::of(&self.data);
        let (mut begin, mut others) = (false, false);
        for (path, order) in inbox.waiting() {
            match order {
                Order::Crawl(CrawlOrder::Start) => {
                    begin = true;
                    inbox.answer(&path, Ok(()));
                }
                Order::Crawl(_) => inbox.answer(&path, Err(&IS_NOT_RUNNING)),
                _ => others = true,
            }
        }
        (begin, others)
    }

    /// Goes by other settings from now on, as far as a running engine can: manners and limits of the crawl, the budget of
    /// the disk, and the rules of the crawl, whose change is recorded. Everything else holds from the next start.
    pub fn reconfigure(&self, config: Config) -> Result<(), EngineError> {
        check_settings(&config)?;
        let before = self.config();
        if *before == config {
            return Ok(());
        }
        self.record_rules(&before, &config)?;
        self.status.set_settings(Arc::new(config.crawl.clone()));
        self.config.send_replace(Arc::new(config));
        Ok(())
    }

    /// Has other rules recorded, where there is a crawl that they are for.
    fn record_rules(&self, before: &Config, now: &Config) -> Result<(), EngineError> {
        // What waits to be recorded counts as well.
        let mut intended = self.intended.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(in_force) =
            intended.clone().map_or_else(|| self.catalog.rules(), |rules| Ok(Some(rules)))?
        else {
            return Ok(());
        };
        let rules = changed_rules(in_force.clone(), &before.crawl, &now.crawl);
        let seeds = self.catalog.seed_sites()?;
        let Some(about) = seeds.iter().find_map(home_of).filter(|_| rules != in_force) else { return Ok(()) };
        let order = Order::Rules { about, rules: Box::new(rules.clone()) };
        Inbox::of(&self.data).leave_in_turn(&order)?;
        *intended = Some(rules);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::config::Scope;
    use pharos_core::{PageUrl, config};
    use pharos_store::DataDir;

    use super::*;
    use crate::Run;

    fn config(change: impl FnOnce(&mut config::CrawlConfig)) -> Config {
        let mut config = Config::default();
        // Nothing here leaves the machine, and nothing is there.
        config.crawl.allow_private = true;
        change(&mut config.crawl);
        config
    }

    /// Runs, with somebody who gives orders, until told to stop.
    async fn run_with<T: Send + 'static>(
        engine: &Arc<Engine>,
        seeds: Vec<PageUrl>,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let (tell, stop) = watch::channel(false);
        let acting = tokio::task::spawn_blocking(move || {
            let acted = act();
            let _ = tell.send(true);
            acted
        });
        engine.run(Run { seeds, keep_going: true, stop }).await.unwrap();
        acting.await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn orders_and_settings_reach_a_crawl_that_runs() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), config(|_| {}), "up", true).unwrap();
        let engine = Arc::new(engine);
        let seed = PageUrl::parse("http://127.0.0.1:9/").unwrap();
        let (steered, there) = (Arc::clone(&engine), data.clone());
        run_with(&engine, vec![seed.clone()], move || {
            let order = |order| crate::carry_out(&there, &Config::default(), "desk", &order);
            order(Order::Crawl(CrawlOrder::Pause)).unwrap();
            assert!(steered.status().is_held());
            order(Order::Crawl(CrawlOrder::Resume)).unwrap();
            assert!(!steered.status().is_held());
            let error = order(Order::Crawl(CrawlOrder::Start)).unwrap_err().to_string();
            assert!(error.contains(IS_RUNNING), "{error}");
            order(Order::Recrawl(vec![seed.clone(), seed.join("/new").unwrap()])).unwrap();
            assert!(steered.catalog().page(seed.join("/new").unwrap().id()).unwrap().is_some());
            order(Order::RecrawlSite(seed.site())).unwrap();

            steered.reconfigure(config(|crawl| crawl.scope = Scope::Domain)).unwrap();
            let patience = Instant::now() + PATIENCE;
            while steered.catalog().rules().unwrap().unwrap().scope != Scope::Domain {
                assert!(Instant::now() < patience, "the rules never change");
                std::thread::sleep(TICK);
            }
            assert!(steered.reconfigure(config(|crawl| crawl.include = vec![String::new()])).is_err());
            assert_eq!(steered.config().crawl.scope, Scope::Domain, "what cannot be used changes nothing");
        })
        .await;
        assert_eq!(engine.config().crawl.scope, Scope::Domain);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_engine_without_a_crawl_waits_for_one() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), config(|_| {}), "up", true).unwrap();
        let (_tell, stop) = watch::channel(false);
        let nothing = engine.run(Run { seeds: Vec::new(), keep_going: true, stop: stop.clone() }).await;
        assert!(matches!(nothing, Err(EngineError::NoSeeds { .. })));
        let there = data.clone();
        let acting = tokio::task::spawn_blocking(move || {
            let order = |order| crate::carry_out(&there, &Config::default(), "desk", &order);
            let error = order(Order::Crawl(CrawlOrder::Pause)).unwrap_err().to_string();
            assert!(error.contains(IS_NOT_RUNNING), "{error}");
            order(Order::Add(vec![PageUrl::parse("http://127.0.0.1:9/").unwrap()])).unwrap();
        });
        assert_eq!(engine.attend(stop).await, Attended::Crawl, "the first page of all");
        acting.await.unwrap();
        let seeds = engine.catalog().seed_sites().unwrap();
        assert_eq!(seeds.len(), 1);
        drop(engine);
        let nobody = crate::carry_out(&data, &Config::default(), "desk", &Order::Crawl(CrawlOrder::Pause));
        assert!(matches!(nobody, Err(EngineError::NotRunning)));
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
        let begun = run(config(|crawl| (crawl.scope, crawl.max_depth) = (Scope::Any, 3)), vec![seed]).await;
        assert_eq!((begun.scope, begun.max_depth), (Scope::Any, 3));
        let same = run(config(|_| {}), Vec::new()).await;
        assert_eq!(same, begun, "what nobody sets stays as it was begun");
        let changed = run(config(|crawl| crawl.max_depth = 9), Vec::new()).await;
        assert_eq!((changed.scope, changed.max_depth), (Scope::Any, 9));
    }
}
