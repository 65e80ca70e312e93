//! `pharos eval spam`: measures the effect of ranking spam under both ways of combining score components.

use anyhow::Context as _;
use pharos_engine::Stores;
use pharos_query::evaluate::spam;

use crate::cli::Global;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let place = tempfile::tempdir().context("cannot create a directory for the index")?;
    let gains =
        spam::measure_gains(&config, |name| Stores::scratch_index(&place.path().join(name), &config))?;
    if global.json {
        console::print_json(&gains)?;
        return Ok(CommandOutcome::Good);
    }
    console::out!("an almost irrelevant page among 100 relevant ones; ranking model {}", config.rank.model);
    console::out!(
        "{:<14} {:>7} {:>8} {:>8} {:>12} {:>16}",
        "spam",
        "effort",
        "gain",
        "at most",
        "rank (sum)",
        "rank (product)"
    );
    for gain in gains {
        console::out!(
            "{:<14} {:>7} {:>8.3} {:>8.3} {:>12} {:>16}",
            gain.technique.name(),
            gain.effort,
            gain.sum,
            gain.bound,
            gain.rank_by_sum,
            gain.rank_by_product
        );
    }
    Ok(CommandOutcome::Good)
}
