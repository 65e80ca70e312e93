//! `pharos backup` and `pharos restore`.

use pharos_engine::maintenance::backup::backup_size;

use crate::cli::{BackupArgs, Global, RestoreArgs};
use crate::console::count;
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn backup(global: &Global, args: BackupArgs) -> anyhow::Result<CommandOutcome> {
    let stores = settings::stores(global)?;
    let summary = LongTask::run(|task| {
        pharos_engine::backup(&stores, &args.to, |at| {
            task.report_part(at.done, at.total, format!("{} copied", console::bytes(at.copied)))
        })
    })?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!(
            "{} ({}) in {}, {} copied: library up to {}",
            count(summary.files, "file", "files"),
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
    let total = backup_size(&args.from);
    let summary = LongTask::run(|task| {
        // Every file is verified first, then restored.
        let (mut last, mut verb) = (0, "verified");
        pharos_engine::restore(&args.from, &data, config, |bytes| {
            verb = if bytes < last { "restored" } else { verb };
            last = bytes;
            task.report_part(bytes, total, format!("{} {verb}", console::bytes(bytes)))
        })
    })?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!(
            "{} ({}) restored to {}, as of {}",
            count(summary.files, "file", "files"),
            console::bytes(summary.bytes),
            data.root().display(),
            summary.taken
        );
    }
    Ok(CommandOutcome::Good)
}
