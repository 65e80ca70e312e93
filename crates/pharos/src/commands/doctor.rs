//! `pharos doctor`.

use pharos_engine::{Diagnosis, Examining, Grade, doctor};

use crate::cli::{DoctorArgs, Global};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: DoctorArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let examined = doctor(&data, &config, args.repair, |step| {
        line.set_message(match step {
            Examining::Library(records) => format!("reading the library: {records} records"),
            Examining::Catalog(pages) => format!("comparing the catalog: {pages} pages"),
            Examining::Derived => "reading page objects and links".into(),
            Examining::Index(pages) => format!("comparing the index: {pages} pages"),
            Examining::Mending(store) => format!("mending: {}", store.as_str()),
        });
        !*stop.borrow()
    });
    line.finish_and_clear();
    let diagnosis = examined?;
    if global.json {
        console::print_json(&diagnosis)?;
    } else {
        print(&diagnosis)?;
    }
    Ok(if diagnosis.is_healthy() { Outcome::Good } else { Outcome::NothingFound })
}

fn print(diagnosis: &Diagnosis) -> anyhow::Result<()> {
    for finding in &diagnosis.findings {
        let store = finding.store.as_str();
        let place = console::printable(&finding.place);
        let what = console::printable(&finding.what);
        if finding.grade == Grade::Note {
            console::out!("{store}: {place}: {what} (a note)");
            continue;
        }
        let state = if finding.mended { "mended" } else { "wrong" };
        console::out!("{store}: {place}: {what} ({state})");
        if !finding.mended {
            console::out!("    cost  {}", finding.cost);
            if !finding.cure.is_empty() {
                console::out!("    cure  {}", finding.cure);
            }
        }
    }
    let state = if diagnosis.is_healthy() { "healthy" } else { "not healthy" };
    let Diagnosis { records, pages, searchable, .. } = diagnosis;
    console::out!("{state}: {records} records, {pages} pages known, {searchable} searchable");
    Ok(())
}
