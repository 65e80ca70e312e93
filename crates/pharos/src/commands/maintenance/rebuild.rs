//! `pharos rebuild`.

use pharos_engine::maintenance::rebuild::{RebuildPart as Part, RebuildProgress, ReplayProgress, rebuild};

use crate::cli::{Global, RebuildArgs, RebuildPart};
use crate::commands::search::index::report_build;
use crate::console::count;
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: RebuildArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let mut parts: Vec<Part> = args.parts.into_iter().map(part).collect();
    if parts.is_empty() {
        parts = Part::ALL.to_vec();
    }
    let rebuilt =
        LongTask::run(|task| rebuild(&data, &config, &parts, args.force, |step| report(task, step)))?;
    if global.json {
        console::print_json(&rebuilt)?;
        return Ok(CommandOutcome::Good);
    }
    for part in &rebuilt.parts {
        match part {
            Part::Catalog => console::out!("catalog: {}", count(rebuilt.pages, "page", "pages")),
            Part::Links => console::out!("page objects and links: rebuilt"),
            Part::Index => {
                let pages = rebuilt.index.as_ref().map_or(0, |index| index.pages);
                console::out!("index: {} searchable", count(pages, "page", "pages"));
            }
        }
    }
    Ok(CommandOutcome::Good)
}

fn part(part: RebuildPart) -> Part {
    match part {
        RebuildPart::Catalog => Part::Catalog,
        RebuildPart::Links => Part::Links,
        RebuildPart::Index => Part::Index,
    }
}

fn report(task: &LongTask, step: RebuildProgress) -> bool {
    match step {
        RebuildProgress::Reading(part, ReplayProgress { records, done, total }) => {
            let store = if part == Part::Catalog { "catalog" } else { "page objects and links" };
            task.report_part(done, total, format!("{store}: {} read", count(records, "record", "records")))
        }
        RebuildProgress::Index(progress) => report_build(task, "index: ", progress),
    }
}
