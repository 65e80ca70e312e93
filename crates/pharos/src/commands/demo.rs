//! `pharos demo`: the sample web on loopback, crawled, indexed and served.

use std::io;
use std::net::Ipv4Addr;

use pharos_core::PageUrl;
use pharos_core::config::Politeness;
use pharos_store::DataDir;
use pharos_testweb::{ServeOptions, Server, Web};

use crate::cli::{Global, ListenArgs};
use crate::settings::{self, Source};
use crate::{Outcome, console};

/// Where the sample web listens; the same address each time, so that a kept demo stays right.
const PORT: u16 = 8081;

pub(crate) fn run(global: &Global, args: ListenArgs) -> anyhow::Result<Outcome> {
    // A demo leaves nothing behind, unless it is told where.
    let temporary = tempfile::Builder::new().prefix("pharos-demo-").tempdir()?;
    let data = DataDir::at(global.data.clone().unwrap_or_else(|| temporary.path().to_path_buf()));
    super::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        let server = start_web().await?;
        // A directory of its own has settings of its own.
        let own = Global { data: Some(data.root().to_path_buf()), config: None, ..global.clone() };
        let resolve = server.resolve_args();
        let mut decided = vec!["crawl.politeness", "crawl.allow_private"];
        decided.extend(args.listen.is_some().then_some("web.listen"));
        let source = Source::new(&own, decided, move |config| {
            config.crawl.politeness = Politeness::OwnSite;
            config.crawl.allow_private = true;
            config.crawl.resolve.extend(resolve.iter().cloned());
            settings::apply_listen(config, &args);
            Ok(())
        });
        let seeds = server.seeds().iter().map(|s| PageUrl::parse(s)).collect::<Result<Vec<_>, _>>()?;
        console::say(global.quiet, &format!("a sample web of {} sites runs on this machine", seeds.len()));
        let ended = super::up::up(global, data, source, seeds, stop).await;
        server.stop().await;
        ended
    })
}

/// The sample web, on a port of the system's choice where ours is taken.
async fn start_web() -> io::Result<Server> {
    let on = |port| ServeOptions { listen: (Ipv4Addr::LOCALHOST, port).into(), ..ServeOptions::default() };
    match Server::start(Web::demo(), on(PORT)).await {
        Err(e) if e.kind() == io::ErrorKind::AddrInUse => Server::start(Web::demo(), on(0)).await,
        started => started,
    }
}
