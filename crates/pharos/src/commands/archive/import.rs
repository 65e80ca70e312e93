//! `pharos import`.

use std::path::PathBuf;

use anyhow::Context as _;
use pharos_core::PageUrl;
use pharos_engine::exchange::import::{ImportSources, ImportSummary, import};

use crate::cli::{Global, ImportArgs};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: ImportArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let base_url = args.base_url.as_deref().map(PageUrl::parse).transpose().context("--base-url")?;
    let sources = ImportSources { paths: args.paths.iter().map(PathBuf::from).collect(), base_url };
    let summary = LongTask::run(|task| {
        import(&settings::data_dir(global), &config, &sources, task.stop(), |so_far| {
            task.report(format!(
                "{} records read, {} pages imported, {} duplicates, {} damaged",
                so_far.records, so_far.imported, so_far.known, so_far.damaged
            ));
        })
    })?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        print(&summary)?;
    }
    Ok(CommandOutcome::Good)
}

fn print(summary: &ImportSummary) -> anyhow::Result<()> {
    let files = if summary.files == 1 { "file" } else { "files" };
    console::out!(
        "{} pages imported from {} {files}, {} records: {} duplicates, {} removed permanently, {} skipped, {} damaged",
        summary.imported,
        summary.files,
        summary.records,
        summary.known,
        summary.removed,
        summary.skipped,
        summary.damaged
    );
    if summary.stopped {
        console::print_message(false, "stopped before the end: repeat the command to continue");
    }
    Ok(())
}
