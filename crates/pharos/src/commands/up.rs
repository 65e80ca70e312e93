//! `pharos up`: crawl, index and serve in one process.

use std::sync::Arc;

use anyhow::Context as _;
use pharos_core::{Config, PageUrl};
use pharos_engine::{Engine, EngineError, Run};
use pharos_query::Search;
use pharos_store::DataDir;
use pharos_web::{Learning, Service};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cli::{Global, UpArgs};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: UpArgs) -> anyhow::Result<Outcome> {
    let mut config = settings::load(global)?;
    settings::apply_crawl(&mut config, &args.crawl)?;
    settings::apply_listen(&mut config, &args.listen);
    let seeds = super::crawl::seeds(&args.crawl)?;
    let data = settings::data_dir(global);
    super::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        up(global, data, config, seeds, stop).await
    })
}

/// Runs engine and web page side by side until stopped.
pub(crate) async fn up(
    global: &Global,
    data: DataDir,
    config: Config,
    seeds: Vec<PageUrl>,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<Outcome> {
    let listener = listen(&config.web.listen).await?;
    let address = listener.local_addr()?;
    let engine = tokio::task::block_in_place(|| {
        let engine = Engine::open(data.clone(), config.clone(), "up", true)?;
        engine.serve()?;
        Ok::<_, EngineError>(engine)
    })?;
    let index = engine.index().context("the engine runs without an index")?;
    let search = Arc::new(Search::new(index, &config));
    let is_new = seeds.is_empty() && search.pages()? == 0;
    let service = Service {
        data: data.clone(),
        learning: Arc::new(Learning::start(&data, &config, Arc::clone(&search), engine.readings())?),
        search,
        library: engine.library(),
        config: Arc::new(config),
        metrics: pharos_web::install_metrics()?,
    };
    let serving = tokio::spawn(pharos_web::serve(listener, service, console::stopped(stop.clone())));
    settings::reload_on_hangup(global, engine.status())?;
    let progress = console::crawl_progress(engine.status());
    console::say(global.quiet, &format!("searching at http://{address}/  (Ctrl-C stops)"));
    if is_new {
        console::say(
            global.quiet,
            "nothing is known yet: `pharos add https://www.example.org/` says what to crawl",
        );
    }
    let builds = engine.build_by_schedule(stop.clone())?;
    let ran = engine.run(Run { seeds, keep_going: true, stop: stop.clone() }).await;
    progress.abort();
    if let Err(error) = ran
        && !matches!(error, EngineError::Stopped)
    {
        serving.abort();
        return Err(error.into());
    }
    // A limit ends the crawl, not the service.
    engine.attend(stop).await;
    tokio::task::block_in_place(|| builds.end());
    serving.await.context("the web page broke down")??;
    Ok(Outcome::Good)
}

pub(crate) async fn listen(address: &str) -> anyhow::Result<TcpListener> {
    pharos_web::listen(address)
        .await
        .with_context(|| format!("cannot listen on {address}: choose another address with --listen"))
}
