//! `pharos up`: crawl, index and serve in one process.

use std::mem::take;
use std::sync::Arc;

use anyhow::Context as _;
use pharos_core::PageUrl;
use pharos_engine::{Attended, Engine, EngineError, Run};
use pharos_query::Search;
use pharos_store::DataDir;
use pharos_web::{Learning, Service};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cli::{Global, UpArgs};
use crate::settings::{self, Source};
use crate::{Outcome, console};

pub(crate) fn run(global: &Global, args: UpArgs) -> anyhow::Result<Outcome> {
    let seeds = super::crawl::seeds(&args.crawl)?;
    let mut decided = settings::decided_by(&args.crawl);
    decided.extend(args.listen.listen.is_some().then_some("web.listen"));
    let source = Source::new(global, decided, move |config| {
        settings::apply_crawl(config, &args.crawl)?;
        settings::apply_listen(config, &args.listen);
        Ok(())
    });
    let data = settings::data_dir(global);
    super::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        up(global, data, source, seeds, stop).await
    })
}

/// Runs engine and web page side by side until stopped.
pub(crate) async fn up(
    global: &Global,
    data: DataDir,
    source: Source,
    mut seeds: Vec<PageUrl>,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<Outcome> {
    let config = source.load()?;
    pharos_web::check_desk(&config)?;
    let listener = listen(&config.web.listen).await?;
    let address = listener.local_addr()?;
    let engine = tokio::task::block_in_place(|| {
        let engine = Engine::open(data.clone(), config.clone(), "up", true)?;
        engine.serve()?;
        Ok::<_, EngineError>(engine)
    })?;
    let engine = Arc::new(engine);
    let index = engine.index().context("the engine runs without an index")?;
    let search = Arc::new(Search::new(index, &config));
    let service = Service {
        data: data.clone(),
        learning: Arc::new(Learning::start(&data, &config, Arc::clone(&search), engine.readings())?),
        search: Arc::clone(&search),
        library: engine.library(),
        config: Arc::new(config),
        metrics: pharos_web::install_metrics()?,
        settings: source.for_desk(),
        builds: engine.builds(),
    };
    let serving = tokio::spawn(pharos_web::serve(listener, service, console::stopped(stop.clone())));
    let steered = Arc::clone(&engine);
    source.follow(move |config| {
        search.set_ranking(&config.rank);
        Ok(steered.reconfigure(config)?)
    })?;
    let _telling = engine.tell("up")?;
    let progress = console::crawl_progress(engine.status());
    console::say(global.quiet, &format!("searching at http://{address}/  (Ctrl-C stops)"));
    let builds = engine.build_by_schedule(stop.clone())?;
    // What the command line asks for and cannot be done is an error; what the desk asks for is told there.
    let mut is_first = true;
    loop {
        let is_asked_for = is_first && !seeds.is_empty();
        let ran = engine.run(Run { seeds: take(&mut seeds), keep_going: true, stop: stop.clone() }).await;
        match ran {
            Ok(_) | Err(EngineError::Stopped) => {}
            Err(EngineError::NoSeeds { .. }) => console::say(
                global.quiet,
                &format!(
                    "nothing to crawl yet: name the first pages at http://{address}/admin, or by `pharos add`"
                ),
            ),
            Err(EngineError::Crawl(error)) if !is_asked_for => {
                console::say(global.quiet, &format!("the crawl cannot go on: {error}"));
            }
            Err(error) => {
                progress.abort();
                serving.abort();
                return Err(error.into());
            }
        }
        is_first = false;
        // A limit or the operator ends the crawl, not the service.
        if engine.attend(stop.clone()).await == Attended::Stop {
            break;
        }
    }
    progress.abort();
    tokio::task::block_in_place(|| builds.end());
    serving.await.context("the web page broke down")??;
    Ok(Outcome::Good)
}

pub(crate) async fn listen(address: &str) -> anyhow::Result<TcpListener> {
    pharos_web::listen(address)
        .await
        .with_context(|| format!("cannot listen on {address}: choose another address with --listen"))
}
