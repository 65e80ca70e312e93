//! `pharos backup` and `pharos restore`.

use crate::cli::{BackupArgs, Global, RestoreArgs};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn backup(global: &Global, args: BackupArgs) -> anyhow::Result<CommandOutcome> {
    let stores = settings::stores(global)?;
    let summary = LongTask::run(|task| {
        pharos_engine::backup(&stores, &args.to, |bytes| {
            task.report(format!("{} copied", console::bytes(bytes)))
        })
    })?;
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
    let config =
        || settings::load(global).map_err(|error| pharos_engine::EngineError::Settings(format!("{error:#}")));
    let summary = LongTask::run(|task| {
        pharos_engine::restore(&args.from, &data, config, |bytes| {
            task.report(format!("{} restored", console::bytes(bytes)))
        })
    })?;
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
