//! `pharos up`: crawl, index and serve in one process.

use std::mem::take;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use pharos_core::{Config, PageUrl};
use pharos_engine::control::dispatch::WakeReason;
use pharos_engine::{Engine, EngineError, RunOptions, Stores, index_status};
use pharos_mining::Logs;
use pharos_query::SearchService;
use pharos_store::DataDir;
use pharos_web::Service;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cli::{Global, UpArgs};
use crate::crawl_reporter::{Announcement, CrawlReporter};
use crate::settings::{self, ConfigSource};
use crate::{CommandOutcome, commands, console};

pub(crate) fn run(global: &Global, args: UpArgs) -> anyhow::Result<CommandOutcome> {
    let seeds = commands::crawl::run::seeds(&args.crawl)?;
    let mut decided = settings::decided_by(&args.crawl);
    decided.extend(args.listen.listen.is_some().then_some("web.listen"));
    let source = ConfigSource::new(global, decided, move |config| {
        settings::apply_crawl(config, &args.crawl)?;
        settings::apply_listen(config, &args.listen);
        Ok(())
    });
    let data = settings::data_dir(global);
    commands::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        up(global, data, source, seeds, false, stop).await
    })
}

/// Runs engine and web server until stopped. The demo announces itself in other words.
pub(crate) async fn up(
    global: &Global,
    data: DataDir,
    source: ConfigSource,
    mut seeds: Vec<PageUrl>,
    is_demo: bool,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<CommandOutcome> {
    let config = source.load()?;
    pharos_web::check_desk(&config)?;
    pharos_engine::control::dispatch::check_settings(&config)?;
    let listener = listen(&config.web.listen).await?;
    let address = listener.local_addr()?;
    let engine = tokio::task::block_in_place(|| {
        let engine = Engine::open(data.clone(), config.clone(), "up", true)?;
        engine.prepare_serving()?;
        Ok::<_, EngineError>(engine)
    })?;
    let engine = Arc::new(engine);
    let index = engine.index().context("the engine runs without an index")?;
    let logs = Logs::open(&data, &config, engine.readings());
    let search = Arc::new(SearchService::open(index, logs, &data.models(), &config)?);
    let home = home_page(&config, address);
    let first_build = tokio::task::block_in_place(|| index_status(&data, &config))?.first_build;
    let service = Service {
        data: data.clone(),
        search: Arc::clone(&search),
        library: engine.library(),
        stores: Stores::open(&data, &config)?,
        config: Arc::new(config),
        metrics: pharos_web::install_metrics()?,
        settings: source.for_desk(),
        builds: engine.builds(),
        backups: engine.backups(),
    };
    let counted = Arc::clone(&search);
    let serving = tokio::spawn(pharos_web::serve(listener, service, console::stopped(stop.clone())));
    let controlled = Arc::clone(&engine);
    source.follow(move |config| {
        search.processor().set_ranking(&config.rank);
        Ok(controlled.reconfigure(config)?)
    })?;
    let _publisher = engine.publish_status("up")?;
    let announcement = Announcement {
        address: home.clone(),
        is_demo,
        searchable: Box::new(move || counted.processor().pages().unwrap_or_default()),
    };
    let reporter = CrawlReporter::start(engine.status(), global.quiet, Some(announcement));
    console::print_message(global.quiet, &format!("serving {home}  (Ctrl-C to stop)"));
    if let Some(pages) = first_build.filter(|_| !is_demo) {
        let pages = console::count(pages, "page", "pages");
        let message = format!(
            "ranking improves with the first build: when the crawl pauses, or at {pages} (index.first_build)"
        );
        console::print_message(global.quiet, &message);
    }
    let builds = engine.start_build_schedule(stop.clone())?;
    let backups = engine.start_backup_schedule(stop.clone())?;
    let alerts = tokio::spawn(pharos_engine::alerts::watch_alerts(engine.alert_sources(), stop.clone()));
    let recrawls = engine.start_recrawl_schedule(stop.clone())?;
    // Requests of the command line that fail are errors; those of the desk are reported there.
    let mut is_first = true;
    loop {
        let is_requested = is_first && !seeds.is_empty();
        let ran =
            engine.run(RunOptions { seeds: take(&mut seeds), keep_going: true, stop: stop.clone() }).await;
        match ran {
            Ok(_) | Err(EngineError::Stopped) => {}
            Err(EngineError::NoSeeds { .. }) => console::print_message(
                global.quiet,
                &format!("nothing to crawl yet: add the first pages at {home}admin or with `pharos add`"),
            ),
            Err(EngineError::Crawl(error)) if !is_requested => {
                console::print_message(global.quiet, &format!("the crawl cannot continue: {error}"));
            }
            Err(error) => {
                reporter.finish();
                serving.abort();
                return Err(error.into());
            }
        }
        is_first = false;
        // A limit or an operator ends the crawl, not the service.
        if engine.wait_for_work(stop.clone()).await == WakeReason::Stop {
            break;
        }
    }
    reporter.finish();
    alerts.abort();
    tokio::task::block_in_place(|| {
        recrawls.shut_down();
        backups.shut_down();
        builds.shut_down();
    });
    serving.await.context("the web server failed")??;
    Ok(CommandOutcome::Good)
}

/// Returns the URL of the search page at an address.
pub(super) fn home_page(config: &Config, address: SocketAddr) -> String {
    let scheme = if config.web.certificate.is_empty() { "http" } else { "https" };
    format!("{scheme}://{address}/")
}

pub(crate) async fn listen(address: &str) -> anyhow::Result<TcpListener> {
    pharos_web::listen(address)
        .await
        .with_context(|| format!("cannot listen on {address}: choose another address with --listen"))
}
