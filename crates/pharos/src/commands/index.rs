//! `pharos index …`.

use pharos_engine::{Progress, build_history, stats};
use pharos_index::Generations;

use crate::cli::Global;
use crate::{Outcome, console, settings};

pub(crate) fn build(global: &Global) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let built = build_history(&data, &config, |progress| {
        line.set_message(describe(progress));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let summary = built?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!("history generation {}: {} pages", summary.generation, summary.pages);
    }
    Ok(Outcome::Good)
}

pub(crate) fn status(global: &Global) -> anyhow::Result<Outcome> {
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let current = Generations::at(data.index()).current()?;
    if global.json {
        console::print_json(&current)?;
        return Ok(Outcome::Good);
    }
    match current.history {
        Some(history) => {
            console::out!("history  generation {}, knows the library up to {}", history.number, history.to)
        }
        None => console::out!("history  none yet: `pharos index build` makes one"),
    }
    for latest in &current.latest {
        let state = if latest.number == current.open().number { "open" } else { "sealed" };
        console::out!("latest   generation {}, from {}, {state}", latest.number, latest.from);
    }
    let stats = stats(&data)?;
    console::out!("{} pages searchable, {} on disk", stats.searchable, console::bytes(stats.index_bytes));
    Ok(Outcome::Good)
}

/// What a build is doing.
pub(crate) fn describe(progress: Progress) -> String {
    match progress {
        Progress::Surveying(records) => format!("looking through the library: {records} records"),
        Progress::Comparing(done, all) => format!("looking for copies: {done} of {all} pages"),
        Progress::Ranking => "computing ranks".into(),
        Progress::Linking(done, all) => format!("reading links: {done} of {all} pages"),
        Progress::Indexing(done, all) => format!("indexing: {done} of {all} pages"),
        Progress::Switching => "putting the new generation in place".into(),
    }
}
