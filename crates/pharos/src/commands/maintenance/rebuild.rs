//! `pharos rebuild`.

use pharos_engine::BuildProgress;
use pharos_engine::maintenance::rebuild::{RebuildPart as Part, RebuildProgress, rebuild};

use crate::cli::{Global, RebuildArgs, RebuildPart};
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
    let rebuilt = LongTask::run(|task| {
        rebuild(&data, &config, &parts, args.force, |step| task.report(describe(step)))
    })?;
    if global.json {
        console::print_json(&rebuilt)?;
        return Ok(CommandOutcome::Good);
    }
    for part in &rebuilt.parts {
        match part {
            Part::Catalog => console::out!("catalog: {} pages", rebuilt.pages),
            Part::Links => console::out!("page objects and links: rebuilt"),
            Part::Index => {
                let pages = rebuilt.index.as_ref().map_or(0, |index| index.pages);
                console::out!("index: {pages} pages searchable");
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

fn describe(step: RebuildProgress) -> String {
    match step {
        RebuildProgress::Reading(Part::Catalog, records) => format!("catalog: {records} records read"),
        RebuildProgress::Reading(_, records) => format!("page objects and links: {records} records read"),
        RebuildProgress::Index(BuildProgress::Surveying(records)) => {
            format!("index: {records} records scanned")
        }
        RebuildProgress::Index(BuildProgress::Comparing(done, all)) => {
            format!("index: detecting duplicates, {done} of {all} pages")
        }
        RebuildProgress::Index(BuildProgress::Ranking) => "index: computing ranks".into(),
        RebuildProgress::Index(BuildProgress::Linking(done, all)) => {
            format!("index: links of {done} of {all} pages")
        }
        RebuildProgress::Index(BuildProgress::Indexing(done, all)) => {
            format!("index: {done} of {all} pages")
        }
        RebuildProgress::Index(BuildProgress::Verifying) => "index: verifying".into(),
        RebuildProgress::Index(BuildProgress::Warming(_)) => "index: warming up".into(),
        RebuildProgress::Index(BuildProgress::Sealing | BuildProgress::Switching) => {
            "index: installing".into()
        }
    }
}
