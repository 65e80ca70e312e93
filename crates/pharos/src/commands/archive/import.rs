//! `pharos import`.

use std::path::PathBuf;

use anyhow::Context as _;
use pharos_core::PageUrl;
use pharos_engine::exchange::import::{ImportSources, ImportSummary, import};

use crate::cli::{Global, ImportArgs};
use crate::console::count;
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: ImportArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let base_url = args.base_url.as_deref().map(PageUrl::parse).transpose().context("--base-url")?;
    let sources = ImportSources { paths: args.paths.iter().map(PathBuf::from).collect(), base_url };
    let summary = LongTask::run(|task| {
        import(&settings::data_dir(global), &config, &sources, task.stop(), |so_far| {
            let text = format!(
                "{} read, {} imported, {}, {} damaged",
                count(so_far.records, "record", "records"),
                count(so_far.imported, "page", "pages"),
                count(so_far.known, "duplicate", "duplicates"),
                so_far.damaged
            );
            task.report_part(so_far.read_bytes, so_far.total_bytes, text);
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
    console::out!(
        "{} imported from {}, {}: {}, {} removed permanently, {} skipped, {} damaged",
        count(summary.imported, "page", "pages"),
        count(summary.files, "file", "files"),
        count(summary.records, "record", "records"),
        count(summary.known, "duplicate", "duplicates"),
        summary.removed,
        summary.skipped,
        summary.damaged
    );
    if summary.stopped {
        console::print_message(false, "stopped before the end: repeat the command to continue");
    }
    Ok(())
}
