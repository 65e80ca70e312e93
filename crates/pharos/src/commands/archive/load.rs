//! `pharos load`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use anyhow::Context as _;
use pharos_engine::exchange::data_feed::{LoadSummary, load_feed};

use crate::cli::{Global, LoadArgs};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: LoadArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let mut input: Box<dyn BufRead> = if args.input == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.input).and_then(|file| match file.metadata()?.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => Ok(file),
        });
        Box::new(BufReader::with_capacity(
            256 << 10,
            file.with_context(|| format!("cannot read {}", args.input))?,
        ))
    };
    let summary = LongTask::run(|task| {
        load_feed(&settings::data_dir(global), &config, &mut *input, task.stop(), |so_far| {
            let lines = console::count(so_far.lines, "line", "lines");
            task.report(format!("{lines} read, {} invalid", so_far.bad));
        })
    })?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        print(&summary)?;
    }
    Ok(if summary.bad == 0 { CommandOutcome::Good } else { CommandOutcome::PartlyBad })
}

fn print(summary: &LoadSummary) -> anyhow::Result<()> {
    console::out!(
        "{}: {} loaded, {}, {}, {} cancelled, {} removed permanently, {} invalid",
        console::count(summary.lines, "line", "lines"),
        console::count(summary.added, "page", "pages"),
        console::count(summary.known, "duplicate", "duplicates"),
        console::count(summary.deleted, "deletion", "deletions"),
        console::count(summary.dropped, "pending addition", "pending additions"),
        summary.removed,
        summary.bad
    );
    if summary.stopped {
        console::print_message(false, "stopped before the end: load the rest of the feed again");
    }
    Ok(())
}
