//! `pharos suggest`: completes a partial query.

use std::sync::Arc;

use pharos_core::{Clock as _, Config, SystemClock};
use pharos_index::EmbeddedIndex;
use pharos_mining::LogStatistics;
use pharos_query::{SearchService, SuggestionSources};
use pharos_store::DataDir;

use crate::cli::{Global, SuggestArgs};
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: &SuggestArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let search = SearchService::new(Arc::new(EmbeddedIndex::open_reader(&data.index())?), &config);
    let help = gather(&data, &config, &search)?;
    let count = args.number.unwrap_or(config.suggest.count).clamp(1, 1000);
    let suggestions = help.suggest(&args.typed.join(" "), count);
    if global.json {
        console::print_json(&suggestions)?;
    } else {
        for suggestion in &suggestions {
            console::out!("{}", console::printable(&suggestion.text));
        }
    }
    Ok(if suggestions.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

/// Loads the data for suggestions and corrections of the current index.
pub(crate) fn gather(
    data: &DataDir,
    config: &Config,
    search: &SearchService,
) -> anyhow::Result<SuggestionSources> {
    let view = search.view()?;
    let queries = LogStatistics::open(data, config, SystemClock.now())?.phrases();
    Ok(SuggestionSources::collect(
        &data.models(),
        &*view,
        queries,
        &config.suggest,
        &SuggestionSources::default(),
    )?)
}
