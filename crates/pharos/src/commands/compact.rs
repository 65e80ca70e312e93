//! `pharos compact`.

use pharos_engine::{EngineError, compact};

use crate::cli::Global;
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let done = compact(&data, &config, |file| {
        line.set_message(format!("looking through file {file} of the library"));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let done = match done {
        Err(EngineError::Stopped) => return Ok(Outcome::Good),
        done => done?,
    };
    if global.json {
        console::print_json(&done)?;
    } else {
        console::out!(
            "{} files written again: {} versions let go, {} records erased, {} freed",
            done.files,
            done.dropped,
            done.erased,
            console::bytes(done.before.saturating_sub(done.after))
        );
    }
    Ok(Outcome::Good)
}
