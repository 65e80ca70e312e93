//! `pharos compact`.

use pharos_engine::{EngineError, compact};

use crate::cli::Global;
use crate::{CommandOutcome, commands, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let runtime = commands::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let done = compact(&data, &config, |file| {
        line.set_message(format!("compacting library file {file}"));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let done = match done {
        Err(EngineError::Stopped) => return Ok(CommandOutcome::Good),
        done => done?,
    };
    if global.json {
        console::print_json(&done)?;
    } else {
        console::out!(
            "{} files rewritten: {} versions dropped, {} records erased, {} freed",
            done.files,
            done.dropped,
            done.erased,
            console::bytes(done.before.saturating_sub(done.after))
        );
    }
    Ok(CommandOutcome::Good)
}
