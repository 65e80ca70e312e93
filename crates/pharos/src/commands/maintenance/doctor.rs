//! `pharos doctor`.

use pharos_engine::maintenance::doctor::{DoctorProgress, DoctorReport, Repair, Severity, doctor};

use crate::cli::{DoctorArgs, Global};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: DoctorArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let repair = match (args.repair, args.force) {
        (false, _) => Repair::No,
        (true, false) => Repair::Safe,
        (true, true) => Repair::Forced,
    };
    let report = LongTask::run(|task| doctor(&data, &config, repair, |step| task.report(describe(step))))?;
    if global.json {
        console::print_json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(if report.is_healthy() { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn describe(step: DoctorProgress) -> String {
    match step {
        DoctorProgress::Library(records) => format!("reading the library: {records} records"),
        DoctorProgress::Catalog(pages) => format!("comparing the catalog: {pages} pages"),
        DoctorProgress::Derived => "verifying page objects and links".into(),
        DoctorProgress::Index(pages) => format!("comparing the index: {pages} pages"),
        DoctorProgress::Repairing(store) => format!("repairing: {}", store.as_str()),
    }
}

fn print(report: &DoctorReport) -> anyhow::Result<()> {
    for finding in &report.findings {
        let store = finding.store.as_str();
        let place = console::printable(&finding.place);
        let what = console::printable(&finding.what);
        if finding.grade == Severity::Note {
            console::out!("{store}: {place}: {what} (note)");
            continue;
        }
        let state = if finding.repaired { "repaired" } else { "defect" };
        console::out!("{store}: {place}: {what} ({state})");
        if !finding.repaired {
            console::out!("    effect  {}", finding.cost);
            if !finding.cure.is_empty() {
                console::out!("    action  {}", finding.cure);
            }
        }
    }
    let state = if report.is_healthy() { "healthy" } else { "not healthy" };
    let DoctorReport { records, pages, searchable, .. } = report;
    let records = console::count(*records, "record", "records");
    let pages = console::count(*pages, "page", "pages");
    console::out!("{state}: {records}, {pages} in the catalog, {searchable} searchable");
    Ok(())
}
