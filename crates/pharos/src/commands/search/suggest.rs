//! `pharos suggest`: completes a partial query.

use crate::cli::{Global, SuggestArgs};
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: &SuggestArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let count = args.number.unwrap_or(config.suggest.count).clamp(1, 1000);
    let suggestions = super::open_service(&data, &config)?.suggest(&args.typed.join(" "), count)?;
    if global.json {
        console::print_json(&suggestions)?;
    } else {
        for suggestion in &suggestions {
            console::out!("{}", console::printable(&suggestion.text));
        }
    }
    Ok(if suggestions.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}
