//! `pharos serve`: the search page and the API, alongside a crawling process.

use std::sync::Arc;

use pharos_engine::Stores;
use pharos_engine::build::runner::BuildRunner;
use pharos_engine::maintenance::backup::runner::BackupRunner;
use pharos_mining::Logs;
use pharos_mining::system::SystemCounters;
use pharos_query::SearchService;
use pharos_web::Service;

use crate::cli::{Global, ListenArgs};
use crate::settings::{self, ConfigSource};
use crate::{CommandOutcome, commands, console};

pub(crate) fn run(global: &Global, args: ListenArgs) -> anyhow::Result<CommandOutcome> {
    let decided = args.listen.is_some().then_some("web.listen").into_iter().collect();
    let source = ConfigSource::new(global, decided, move |config| {
        settings::apply_listen(config, &args);
        Ok(())
    });
    let config = source.load()?;
    pharos_web::check_desk(&config)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let stores = Stores::open(&data, &config)?;
    let index = stores.index()?;
    Arc::clone(&index).serve()?;
    let logs = Logs::open(&data, &config, SystemCounters::default);
    let search = Arc::new(SearchService::open(index, logs, &data.models(), &config)?);
    let service = Service {
        data: data.clone(),
        search: Arc::clone(&search),
        library: stores.library()?,
        backups: Arc::new(BackupRunner::new(stores.clone())),
        stores,
        config: Arc::new(config.clone()),
        metrics: pharos_web::install_metrics()?,
        settings: source.for_desk(),
        builds: Arc::new(BuildRunner::new(data, &config)),
    };
    commands::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        source.follow(move |config| {
            search.processor().set_ranking(&config.rank);
            Ok(())
        })?;
        let listener = super::up::listen(&config.web.listen).await?;
        let home = super::up::home_page(&config, listener.local_addr()?);
        console::print_message(global.quiet, &format!("serving {home}  (Ctrl-C to stop)"));
        pharos_web::serve(listener, service, console::stopped(stop)).await?;
        Ok(CommandOutcome::Good)
    })
}
