//! Putting the configuration together: defaults, file, environment, flags.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use pharos_core::config::Config;
use pharos_crawl::CrawlStatus;
use pharos_store::DataDir;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{CrawlArgs, Global, ListenArgs};
use crate::console;

/// Variables of ours that are no settings.
const RESERVED: &[&str] =
    &["PHAROS_DATA", "PHAROS_CONFIG", "PHAROS_LOG", "PHAROS_LONG", pharos_web::SETUP_CODE_VARIABLE];

pub(crate) fn data_dir(global: &Global) -> DataDir {
    DataDir::at(global.data.clone().unwrap_or_else(|| PathBuf::from("data")))
}

/// Defaults, then the file, then the environment.
pub(crate) fn load(global: &Global) -> anyhow::Result<Config> {
    let mut config = Config::default();
    let path = global.config.clone().unwrap_or_else(|| data_dir(global).config());
    match std::fs::read_to_string(&path) {
        Ok(text) => config.read_toml(&path.display().to_string(), &text)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound && global.config.is_none() => {}
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    }
    config.read_environment(std::env::vars(), RESERVED)?;
    Ok(config)
}

/// On SIGHUP the configuration is read again, and what a crawl can change while it runs is changed: how many requests
/// are under way at once.
pub(crate) fn reload_on_hangup(global: &Global, status: Arc<CrawlStatus>) -> anyhow::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    let global = global.clone();
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            let told = match load(&global) {
                Ok(config) => {
                    status.set_fetchers(config.crawl.fetchers);
                    format!("{} requests at once from now on (crawl.fetchers)", config.crawl.fetchers)
                }
                Err(error) => format!("everything stays as it was: {error:#}"),
            };
            console::say(global.quiet, &told);
        }
    });
    Ok(())
}

pub(crate) fn apply_crawl(config: &mut Config, args: &CrawlArgs) -> anyhow::Result<()> {
    let flags = [
        ("crawl.mode", "--mode", &args.mode),
        ("crawl.max_pages", "--max-pages", &args.max_pages),
        ("crawl.max_depth", "--max-depth", &args.max_depth),
        ("crawl.run_for", "--for", &args.run_for),
        ("crawl.strategy", "--strategy", &args.strategy),
        ("crawl.restart", "--restart", &args.restart),
        ("crawl.scope", "--scope", &args.scope),
        ("crawl.politeness", "--politeness", &args.politeness),
        ("crawl.contact", "--contact", &args.contact),
    ];
    for (key, flag, value) in flags {
        if let Some(value) = value {
            config.set(key, value, flag)?;
        }
    }
    config.crawl.allow_private |= args.allow_private;
    config.crawl.resolve.extend(args.resolve.iter().cloned());
    config.crawl.connect_to.extend(args.connect_to.iter().cloned());
    config.crawl.include.extend(args.include.iter().cloned());
    config.crawl.exclude.extend(args.exclude.iter().cloned());
    pharos_crawl::check_rules(&config.crawl)?;
    Ok(())
}

pub(crate) fn apply_listen(config: &mut Config, args: &ListenArgs) {
    if let Some(listen) = &args.listen {
        config.web.listen.clone_from(listen);
    }
}
