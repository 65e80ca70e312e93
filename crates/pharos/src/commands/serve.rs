//! `pharos serve`: the search page and the API, beside whoever crawls.

use std::sync::Arc;

use pharos_index::EmbeddedIndex;
use pharos_mining::system::Readings;
use pharos_query::Search;
use pharos_store::DiskLibrary;
use pharos_web::{Learning, Service};

use crate::cli::{Global, ListenArgs};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: ListenArgs) -> anyhow::Result<Outcome> {
    let mut config = settings::load(global)?;
    settings::apply_listen(&mut config, &args);
    pharos_web::check_desk(&config)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let index = Arc::new(EmbeddedIndex::open_reader(&data.index())?);
    index.serve()?;
    let search = Arc::new(Search::new(index, &config));
    let service = Service {
        data: data.clone(),
        learning: Arc::new(Learning::start(&data, &config, Arc::clone(&search), Readings::default)?),
        search,
        library: Arc::new(DiskLibrary::open_reader(&data.library())?),
        config: Arc::new(config.clone()),
        metrics: pharos_web::install_metrics()?,
    };
    super::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        let listener = super::up::listen(&config.web.listen).await?;
        console::say(
            global.quiet,
            &format!("searching at http://{}/  (Ctrl-C stops)", listener.local_addr()?),
        );
        pharos_web::serve(listener, service, console::stopped(stop)).await?;
        Ok(Outcome::Good)
    })
}
