//! Configuration from defaults, file, environment and flags, reloaded when the file changes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use pharos_core::config::{Config, KEYS, environment_name};
use pharos_crawl::politeness::site_settings::SiteSettingsTable;
use pharos_engine::Stores;
use pharos_store::interpret::refresh::OperatorWeights;
use pharos_store::{DataDir, LibraryPosition};
use pharos_web::{LoadedSettings, SettingsSource};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{CrawlArgs, Global, ListenArgs};
use crate::console;

/// Environment variables that are not settings.
const RESERVED: &[&str] =
    &["PHAROS_DATA", "PHAROS_CONFIG", "PHAROS_LOG", "PHAROS_LONG", pharos_web::SETUP_CODE_VARIABLE];

/// Interval of the checks for changes of the file.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) fn data_dir(global: &Global) -> DataDir {
    DataDir::at(global.data.clone().unwrap_or_else(|| PathBuf::from("data")))
}

/// Opens the stores of an existing data directory.
pub(crate) fn stores(global: &Global) -> anyhow::Result<Stores> {
    let data = data_dir(global);
    require_data_dir(&data)?;
    Ok(Stores::open(&data, &load(global)?)?)
}

/// Returns an error if the data directory does not exist, which usually means a mistyped path.
pub(crate) fn require_data_dir(data: &DataDir) -> anyhow::Result<()> {
    if !data.root().is_dir() {
        bail!(
            "data directory {} not found: start a crawl first, or specify another directory with --data",
            data.root().display()
        );
    }
    Ok(())
}

/// Removes a data directory that a failed command created, unless it holds a record.
pub(crate) fn remove_without_records(data: &DataDir) {
    if data.root().is_dir() && !data.is_owned() && !has_records(data) {
        // Remains of it do no harm.
        let _ = fs::remove_dir_all(data.root());
    }
}

/// Returns `true` if the library has a record, or if this is unknown.
fn has_records(data: &DataDir) -> bool {
    if !data.library().exists() {
        return false;
    }
    let first = Stores::open(data, &Config::default())
        .and_then(|stores| Ok(stores.library()?.scan(LibraryPosition::START, None)?.next()));
    !matches!(first, Ok(None))
}

/// Returns the path of the configuration file.
fn file(global: &Global) -> PathBuf {
    global.config.clone().unwrap_or_else(|| data_dir(global).config())
}

/// Loads and checks defaults, then the file, then the environment.
pub(crate) fn load(global: &Global) -> anyhow::Result<Config> {
    let mut config = Config::default();
    let path = file(global);
    match fs::read_to_string(&path) {
        Ok(text) => config.read_toml(&path.display().to_string(), &text)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound && global.config.is_none() => {}
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    }
    config.read_environment(std::env::vars(), RESERVED)?;
    pharos_crawl::check_rules(&config.crawl)?;
    SiteSettingsTable::parse(&config.crawl.site_settings)?;
    OperatorWeights::from_config(&config.crawl, &config.refresh)?;
    Ok(config)
}

/// Source of the settings of a long-running process, which reloads them when the file changes.
#[derive(Clone)]
pub(crate) struct ConfigSource {
    global: Global,
    flags: Arc<FlagOverrides>,
}

/// Applies the flags of the command line to settings.
type Apply = Box<dyn Fn(&mut Config) -> anyhow::Result<()> + Send + Sync>;

struct FlagOverrides {
    apply: Apply,
    /// Settings that the flags determine.
    keys: Vec<&'static str>,
}

impl ConfigSource {
    /// Creates a source of file, environment and `flags`, which determine `keys`.
    pub(crate) fn new(
        global: &Global,
        keys: Vec<&'static str>,
        flags: impl Fn(&mut Config) -> anyhow::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { global: global.clone(), flags: Arc::new(FlagOverrides { apply: Box::new(flags), keys }) }
    }

    /// Loads and checks all settings.
    pub(crate) fn load(&self) -> anyhow::Result<Config> {
        let mut config = load(&self.global)?;
        (self.flags.apply)(&mut config)?;
        pharos_crawl::check_rules(&config.crawl)?;
        Ok(config)
    }

    /// Returns the source for the operator's desk, which shows and edits the file.
    pub(crate) fn for_desk(&self) -> SettingsSource {
        let source = self.clone();
        SettingsSource::new(file(&self.global), move || {
            let config = source.load().map_err(|error| format!("{error:#}"))?;
            let from_outside = KEYS
                .iter()
                .map(|key| key.name)
                .filter(|key| std::env::var_os(environment_name(key)).is_some());
            let mut overrides: BTreeMap<&str, &str> = from_outside.map(|key| (key, "environment")).collect();
            overrides.extend(source.flags.keys.iter().map(|key| (*key, "command line")));
            Ok(LoadedSettings { config, overrides })
        })
    }

    /// Calls `take` with new settings whenever the file changes or SIGHUP arrives.
    pub(crate) fn follow(
        &self,
        take: impl Fn(Config) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let mut hangup = signal(SignalKind::hangup())?;
        let source = self.clone();
        tokio::spawn(async move {
            let path = file(&source.global);
            let stamp = || fs::metadata(&path).and_then(|file| Ok((file.modified()?, file.len()))).ok();
            let mut known = stamp();
            loop {
                tokio::select! {
                    received = hangup.recv() => if received.is_none() { return },
                    () = tokio::time::sleep(CHECK_INTERVAL) => if stamp() == known { continue },
                }
                known = stamp();
                let message = match tokio::task::block_in_place(|| source.load().and_then(&take)) {
                    Ok(()) => "settings reloaded".to_string(),
                    Err(error) => format!("settings not reloaded: {error:#}"),
                };
                console::print_message(source.global.quiet, &message);
            }
        });
        Ok(())
    }
}

/// Applies the crawl flags of the command line to settings.
pub(crate) fn apply_crawl(config: &mut Config, args: &CrawlArgs) -> anyhow::Result<()> {
    for (key, flag, value) in crawl_flags(args) {
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

fn crawl_flags(args: &CrawlArgs) -> [(&'static str, &'static str, &Option<String>); 9] {
    [
        ("crawl.mode", "--mode", &args.mode),
        ("crawl.max_pages", "--max-pages", &args.max_pages),
        ("crawl.max_depth", "--max-depth", &args.max_depth),
        ("crawl.run_for", "--for", &args.run_for),
        ("crawl.strategy", "--strategy", &args.strategy),
        ("crawl.restart", "--restart", &args.restart),
        ("crawl.scope", "--scope", &args.scope),
        ("crawl.politeness", "--politeness", &args.politeness),
        ("crawl.contact", "--contact", &args.contact),
    ]
}

/// Returns the settings that the command line determines, whatever the file says. Lists are extended, not determined.
pub(crate) fn decided_by(args: &CrawlArgs) -> Vec<&'static str> {
    let mut keys: Vec<&str> =
        crawl_flags(args).into_iter().filter(|(.., value)| value.is_some()).map(|(key, ..)| key).collect();
    if args.allow_private {
        keys.push("crawl.allow_private");
    }
    keys
}

pub(crate) fn apply_listen(config: &mut Config, args: &ListenArgs) {
    if let Some(listen) = &args.listen {
        config.web.listen.clone_from(listen);
    }
}
