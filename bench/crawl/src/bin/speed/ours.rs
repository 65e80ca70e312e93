//! Pharos, through the engine that the commands use.

use pharos_core::PageUrl;
use pharos_core::config::{Config, LibraryFormat, PolitenessProfile};
use pharos_engine::{Engine, RunOptions};
use pharos_store::DataDir;
use tokio::sync::watch;

use crate::{Outcome, Task};

pub(crate) async fn crawl(task: Task, indexing: bool, format: LibraryFormat) -> Outcome<()> {
    let dir = tempfile::tempdir()?;
    let mut config = Config::default();
    config.crawl.allow_private = true;
    config.crawl.politeness = PolitenessProfile::OwnSite;
    config.library.format = format;
    let seeds = task.seeds.iter().map(|seed| PageUrl::parse(seed)).collect::<Result<_, _>>()?;
    let command = if indexing { "up" } else { "crawl" };
    let engine = Engine::open(DataDir::at(dir.path()), config, command, indexing)?;
    let (_stop, stop) = watch::channel(false);
    engine.run(RunOptions { seeds, keep_going: false, stop }).await?;
    Ok(())
}
