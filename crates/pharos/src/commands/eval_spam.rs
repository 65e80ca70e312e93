//! `pharos eval spam`: what tricks gain, with either way of joining the parts of a score.

use anyhow::Context as _;
use pharos_query::spam;

use crate::cli::Global;
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let place = tempfile::tempdir().context("cannot make a folder for the index")?;
    let gains = spam::gains(place.path(), &config)?;
    if global.json {
        console::print_json(&gains)?;
        return Ok(Outcome::Good);
    }
    console::out!(
        "a page that says next to nothing of the query, among 100 that do; settings: model {}",
        config.rank.model
    );
    console::out!(
        "{:<14} {:>7} {:>8} {:>8} {:>12} {:>16}",
        "trick",
        "effort",
        "gain",
        "at most",
        "rank (sum)",
        "rank (product)"
    );
    for gain in gains {
        console::out!(
            "{:<14} {:>7} {:>8.3} {:>8.3} {:>12} {:>16}",
            gain.trick.name(),
            gain.effort,
            gain.sum,
            gain.bound,
            gain.rank_by_sum,
            gain.rank_by_product
        );
    }
    Ok(Outcome::Good)
}
