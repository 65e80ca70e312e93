//! `pharos import`.

use std::path::PathBuf;

use anyhow::Context as _;
use pharos_core::PageUrl;
use pharos_engine::{ImportSummary, Sources, import};

use crate::cli::{Global, ImportArgs};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: ImportArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let base_url = args.base_url.as_deref().map(PageUrl::parse).transpose().context("--base-url")?;
    let sources = Sources { paths: args.paths.iter().map(PathBuf::from).collect(), base_url };
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let done = import(&settings::data_dir(global), &config, &sources, &stop, |so_far| {
        line.set_message(format!(
            "{} records read, {} pages taken in, {} known already, {} damaged",
            so_far.records, so_far.taken, so_far.known, so_far.damaged
        ));
    });
    line.finish_and_clear();
    let summary = done?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        print(&summary)?;
    }
    Ok(Outcome::Good)
}

fn print(summary: &ImportSummary) -> anyhow::Result<()> {
    let files = if summary.files == 1 { "file" } else { "files" };
    console::out!(
        "{} pages taken in from {} {files}, {} records: {} known already, {} removed for good, {} passed over, {} damaged",
        summary.taken,
        summary.files,
        summary.records,
        summary.known,
        summary.removed,
        summary.passed_over,
        summary.damaged
    );
    if summary.stopped {
        console::say(false, "stopped before the end: the same command goes on");
    }
    Ok(())
}
