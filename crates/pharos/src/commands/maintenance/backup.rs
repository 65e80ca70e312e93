//! `pharos backup` and `pharos restore`.

use crate::cli::{BackupArgs, Global, RestoreArgs};
use crate::{CommandOutcome, commands, console, settings};

pub(crate) fn backup(global: &Global, args: BackupArgs) -> anyhow::Result<CommandOutcome> {
    let stores = settings::stores(global)?;
    let runtime = commands::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let copied = pharos_engine::backup(&stores, &args.to, |bytes| {
        line.set_message(format!("{} copied", console::bytes(bytes)));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let summary = copied?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!(
            "{} files ({}) in {}, {} copied: library up to {}",
            summary.files,
            console::bytes(summary.bytes),
            args.to.display(),
            console::bytes(summary.copied),
            summary.end
        );
    }
    Ok(CommandOutcome::Good)
}

pub(crate) fn restore(global: &Global, args: RestoreArgs) -> anyhow::Result<CommandOutcome> {
    let data = settings::data_dir(global);
    let runtime = commands::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let restored = pharos_engine::restore(
        &args.from,
        &data,
        || settings::load(global).map_err(|error| pharos_engine::EngineError::Settings(format!("{error:#}"))),
        |bytes| {
            line.set_message(format!("{} restored", console::bytes(bytes)));
            !*stop.borrow()
        },
    );
    line.finish_and_clear();
    let summary = restored?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!(
            "{} files ({}) restored to {}, as of {}",
            summary.files,
            console::bytes(summary.bytes),
            data.root().display(),
            summary.taken
        );
    }
    Ok(CommandOutcome::Good)
}
