//! Index and search: `index`, `search`, `suggest`, `clean`, `segment`, `words`.

pub(crate) mod clean;
pub(crate) mod index;
pub(crate) mod index_explain;
pub(crate) mod index_stats;
pub(crate) mod query;
pub(crate) mod segment;
pub(crate) mod suggest;
pub(crate) mod words;

use std::sync::Arc;

use pharos_core::Config;
use pharos_index::EmbeddedIndex;
use pharos_mining::Logs;
use pharos_query::SearchService;
use pharos_store::DataDir;

/// Opens the search service of a data directory for a command: the logs are read once, and nothing is logged.
pub(crate) fn open_service(data: &DataDir, config: &Config) -> anyhow::Result<SearchService> {
    let index = Arc::new(EmbeddedIndex::open_reader(&data.index())?);
    Ok(SearchService::open(index, Logs::open_reader(data, config), &data.models(), config)?)
}
