//! `pharos rebuild`.

use pharos_engine::{Part, Progress, Rebuilding, rebuild};

use crate::cli::{Global, RebuildArgs, RebuildPart};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: RebuildArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let mut parts: Vec<Part> = args.parts.into_iter().map(part).collect();
    if parts.is_empty() {
        parts = Part::ALL.to_vec();
    }
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let done = rebuild(&data, &config, &parts, |step| {
        line.set_message(match step {
            Rebuilding::Reading(Part::Catalog, records) => format!("catalog: {records} records read"),
            Rebuilding::Reading(_, records) => format!("page objects and links: {records} records read"),
            Rebuilding::Index(Progress::Surveying(records)) => format!("index: {records} records seen"),
            Rebuilding::Index(Progress::Comparing(done, all)) => {
                format!("index: looking for copies, {done} of {all} pages")
            }
            Rebuilding::Index(Progress::Ranking) => "index: computing ranks".into(),
            Rebuilding::Index(Progress::Linking(done, all)) => {
                format!("index: links of {done} of {all} pages")
            }
            Rebuilding::Index(Progress::Indexing(done, all)) => format!("index: {done} of {all} pages"),
            Rebuilding::Index(Progress::Verifying) => "index: verifying".into(),
            Rebuilding::Index(Progress::Warming(_)) => "index: first queries".into(),
            Rebuilding::Index(Progress::Sealing | Progress::Switching) => "index: putting it in place".into(),
        });
        !*stop.borrow()
    });
    line.finish_and_clear();
    let rebuilt = done?;
    if global.json {
        console::print_json(&rebuilt)?;
        return Ok(Outcome::Good);
    }
    for part in &rebuilt.parts {
        match part {
            Part::Catalog => console::out!("catalog: {} pages known", rebuilt.pages),
            Part::Links => console::out!("page objects and links: made again"),
            Part::Index => {
                let pages = rebuilt.index.map_or(0, |index| index.pages);
                console::out!("index: {pages} pages searchable");
            }
        }
    }
    Ok(Outcome::Good)
}

fn part(part: RebuildPart) -> Part {
    match part {
        RebuildPart::Catalog => Part::Catalog,
        RebuildPart::Links => Part::Links,
        RebuildPart::Index => Part::Index,
    }
}
