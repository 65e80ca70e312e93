//! `pharos demo`: crawls, indexes and serves the sample web on loopback.

use std::io;
use std::net::Ipv4Addr;

use pharos_core::config::PolitenessProfile;
use pharos_core::{Clock as _, PageUrl, SystemClock};
use pharos_learn::categories::CategoryStore;
use pharos_learn::categories::training::{TrainingSettings, train};
use pharos_store::DataDir;
use pharos_testweb::{ServeOptions, Server, Web};

use crate::cli::{Global, ListenArgs};
use crate::commands::learn::categories::install_starter;
use crate::settings::{self, ConfigSource};
use crate::{CommandOutcome, commands, console};

/// Port of the sample web; fixed, so that the URLs of a kept demo stay valid.
const PORT: u16 = 8081;

pub(crate) fn run(global: &Global, args: ListenArgs) -> anyhow::Result<CommandOutcome> {
    // The demo uses a temporary directory unless --data is given.
    let temporary = tempfile::Builder::new().prefix("pharos-demo-").tempdir()?;
    let data = DataDir::at(global.data.clone().unwrap_or_else(|| temporary.path().to_path_buf()));
    prepare_categories(&data)?;
    commands::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        let server = start_web().await?;
        // A separate directory has its own settings.
        let own = Global { data: Some(data.root().to_path_buf()), config: None, ..global.clone() };
        let resolve = server.resolve_args();
        let mut decided = vec!["crawl.politeness", "crawl.allow_private"];
        decided.extend(args.listen.is_some().then_some("web.listen"));
        let source = ConfigSource::new(&own, decided, move |config| {
            config.crawl.politeness = PolitenessProfile::OwnSite;
            config.crawl.allow_private = true;
            config.crawl.resolve.extend(resolve.iter().cloned());
            settings::apply_listen(config, &args);
            Ok(())
        });
        let seeds = server.seeds().iter().map(|s| PageUrl::parse(s)).collect::<Result<Vec<_>, _>>()?;
        console::print_message(
            global.quiet,
            &format!("serving a sample web of {} sites on this machine", seeds.len()),
        );
        let ended = super::up::up(global, data, source, seeds, true, stop).await;
        server.stop().await;
        ended
    })
}

/// Trains and deploys a model of the starter taxonomy, unless the directory has categories already.
fn prepare_categories(data: &DataDir) -> anyhow::Result<()> {
    let store = CategoryStore::at(&data.models());
    if !store.taxonomy()?.is_empty() {
        return Ok(());
    }
    let taxonomy = install_starter(&store)?;
    let texts: Vec<(String, String)> =
        store.examples()?.into_iter().map(|example| (example.value, example.category)).collect();
    let trained = SystemClock.now().to_string();
    let (model, card) = train(&texts, &taxonomy, &TrainingSettings::default(), &trained)?;
    Ok(store.deploy(store.add_model(&model, &taxonomy, card)?.version)?)
}

/// Starts the sample web, on a port chosen by the system if the default one is in use.
async fn start_web() -> io::Result<Server> {
    let on = |port| ServeOptions { listen: (Ipv4Addr::LOCALHOST, port).into(), ..ServeOptions::default() };
    match Server::start(Web::demo(), on(PORT)).await {
        Err(e) if e.kind() == io::ErrorKind::AddrInUse => Server::start(Web::demo(), on(0)).await,
        started => started,
    }
}
