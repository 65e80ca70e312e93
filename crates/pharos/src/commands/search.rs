//! Index and search: `index`, `search`, `suggest`, `clean`, `segment`, `words`, `curate`.

pub(crate) mod clean;
pub(crate) mod curate;
pub(crate) mod index;
pub(crate) mod index_explain;
pub(crate) mod index_stats;
pub(crate) mod query;
pub(crate) mod segment;
pub(crate) mod suggest;
pub(crate) mod words;

use pharos_core::Config;
use pharos_engine::Stores;
use pharos_mining::Logs;
use pharos_query::SearchService;
use pharos_store::DataDir;

/// Reason why a command that reads posting lists is impossible.
const NO_POSTING_LISTS: &str = "the configured index does not expose its posting lists";

/// Opens the search service of a data directory for a command: the logs are read once, and nothing is logged.
pub(crate) fn open_service(data: &DataDir, config: &Config) -> anyhow::Result<SearchService> {
    let index = Stores::open(data, config)?.index()?;
    Ok(SearchService::open(index, Logs::open_reader(data, config), &data.models(), config)?)
}
