//! `pharos compact`.

use pharos_engine::{EngineError, compact};

use crate::cli::Global;
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let done = LongTask::run(|task| {
        match compact(&data, &config, |file| task.report(format!("compacting library file {file}"))) {
            Err(EngineError::Stopped) => Ok(None),
            done => done.map(Some),
        }
    })?;
    let Some(done) = done else { return Ok(CommandOutcome::Good) };
    if global.json {
        console::print_json(&done)?;
    } else {
        console::out!(
            "{} rewritten: {} dropped, {} erased, {} freed",
            console::count(done.files, "file", "files"),
            console::count(done.dropped, "version", "versions"),
            console::count(done.erased, "record", "records"),
            console::bytes(done.before.saturating_sub(done.after))
        );
    }
    Ok(CommandOutcome::Good)
}
