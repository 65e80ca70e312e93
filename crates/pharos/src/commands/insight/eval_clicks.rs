//! `pharos eval clicks`: measures the gain of clicks with simulated users.

use anyhow::Context as _;
use pharos_engine::Stores;
use pharos_learn::collection::Collection;
use pharos_query::RetrievalEvaluation;
use pharos_query::evaluate::click_gains::{ClickSignal, ClickSimulation, measure_click_gains};

use crate::cli::{EvalClicksArgs, Global};
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: &EvalClicksArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let measure = args.measure.parse().map_err(|error| anyhow::anyhow!("--measure: {error}"))?;
    let collection = Collection::read(&args.dir)?;
    let place = tempfile::tempdir().context("cannot create a directory for the index")?;
    let trial = RetrievalEvaluation::index(&collection, Stores::scratch_index(place.path(), &config)?)?;
    let simulation = ClickSimulation { users: args.users, seed: args.seed, measure };
    let gains = measure_click_gains(&trial, &collection, &config, &simulation)?;
    if global.json {
        console::print_json(&gains)?;
        return Ok(CommandOutcome::Good);
    }
    console::out!("{measure}, {} users of each query with clicks", args.users);
    console::out!(
        "{:<12} {:<16} {:>8} {:>9} {:>9} {:>9}",
        "signal",
        "queries",
        "number",
        "without",
        "with",
        "gain"
    );
    for gain in gains {
        let signal = match gain.signal {
            ClickSignal::OwnClicks => "own-clicks",
            ClickSignal::ClickWords => "click-words",
        };
        let group = if gain.has_clicks { "with clicks" } else { "without clicks" };
        console::out!(
            "{signal:<12} {group:<16} {:>8} {:>9.4} {:>9.4} {:>+9.4}",
            gain.queries,
            gain.before,
            gain.after,
            gain.after - gain.before
        );
    }
    Ok(CommandOutcome::Good)
}
