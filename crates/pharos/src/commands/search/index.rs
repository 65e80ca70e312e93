//! `pharos index …`.

use pharos_engine::maintenance::rebuild::ReplayProgress;
use pharos_engine::status::index_status::GenerationStatus;
use pharos_engine::{BuildProgress, EngineError, build_history, index_status, roll_back};
use pharos_index::IndexError;
use pharos_index::generations::verify::{GenerationFlaw, GenerationReport};
use serde_json::{Value, json};

use crate::cli::{Global, IndexBuildArgs};
use crate::console::count;
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

const INTERRUPTED: &str = "the build was interrupted; searches are unaffected, and the next build resumes it";

pub(crate) fn build(global: &Global, args: &IndexBuildArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let summary = LongTask::run(|task| {
        let report = |progress| report_build(task, "", progress);
        build_history(&data, &config, args.force, report).map_err(|error| {
            let is_disk = match &error {
                EngineError::Graph(_)
                | EngineError::Index(IndexError::Tantivy { .. } | IndexError::Io { .. }) => true,
                EngineError::Store(error) => error.is_disk_full(),
                _ => false,
            };
            let error = anyhow::Error::from(error);
            if is_disk { error.context(INTERRUPTED) } else { error }
        })
    })?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        let pages = count(summary.pages, "page", "pages");
        console::out!("history generation {}: {pages}", summary.generation);
    }
    Ok(CommandOutcome::Good)
}

pub(crate) fn status(global: &Global) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let status = index_status(&data, &config)?;
    if global.json {
        console::print_json(&status)?;
        return Ok(CommandOutcome::Good);
    }
    if status.history.is_none() {
        console::out!("history  none yet: run `pharos index build`");
    }
    let open = status.latest.last().map(|open| open.number);
    for one in status.history.iter().chain(&status.latest) {
        let state = match (one.kind, Some(one.number) == open) {
            ("history", _) => "",
            (_, true) => ", open",
            (_, false) => ", sealed",
        };
        console::out!("{}{state}", line(one));
    }
    for one in &status.previous {
        console::out!("{}, kept for `pharos index rollback`", line(one));
    }
    if status.refused {
        console::out!(
            "the history generation is damaged: the previous one serves queries (see `pharos index verify`)"
        );
    }
    let searchable = count(status.searchable, "page", "pages");
    console::out!("{searchable} searchable, {} on disk", console::bytes(status.bytes));
    if let Some(share) = status.latest_share {
        console::out!("latest has {:.1} % of the pages of history", 100.0 * share);
    }
    if status.outdated {
        console::out!(
            "made by an earlier release: it lacks the text outside the main content; run `pharos index build`"
        );
    }
    match (&status.unfinished, status.building) {
        (Some(build), true) => console::out!("a build is running: {} pages saved", build.saved),
        (None, true) => console::out!("a build is running"),
        (Some(build), false) if build.goes_on => {
            console::out!("a build was interrupted: the next one resumes with {} pages", build.saved);
        }
        (Some(_), false) => {
            console::out!("a build with other settings was interrupted: the next one starts over")
        }
        (None, false) => {}
    }
    match &status.next_build {
        Some(at) => console::out!("next scheduled build: {at}"),
        None if status.first_build.is_some() => {}
        None => console::out!("no build is due"),
    }
    if let Some(pages) = status.first_build {
        console::out!(
            "ranking improves with the first build, at {} or when the crawl pauses (index.first_build)",
            count(pages, "page", "pages")
        );
    }
    Ok(CommandOutcome::Good)
}

fn line(one: &GenerationStatus) -> String {
    let to = one.to.as_ref().map_or(String::new(), |to| format!(" to {to}"));
    let since = one.since.as_deref().unwrap_or("an unknown time");
    let word = if one.kind == "history" { "built" } else { "started" };
    let (pages, bytes) = (count(one.pages, "page", "pages"), console::bytes(one.bytes));
    let span = if one.kind == "history" { to } else { format!(" from {}{to}", one.from) };
    format!("{:<8} generation {}, {pages}, {bytes},{span}, {word} {since}", one.kind, one.number)
}

pub(crate) fn verify(global: &Global) -> anyhow::Result<CommandOutcome> {
    let reports = settings::stores(global)?.require_generations("a verification")?.verify()?;
    let is_good = reports.iter().all(|report| report.flaws.is_empty());
    if global.json {
        let generations: Vec<_> = reports.iter().map(as_json).collect();
        console::print_json(&json!({ "good": is_good, "generations": generations }))?;
    } else {
        for report in &reports {
            let kept = if report.previous { " (kept for rollback)" } else { "" };
            if report.flaws.is_empty() {
                console::out!("{}{kept}: ok", report.name);
            }
            for flaw in &report.flaws {
                console::out!("{}{kept}: {}: {}", report.name, flaw.path.display(), flaw.problem);
            }
        }
        if !is_good {
            let cure = "`pharos index rollback` reinstalls the previous history; `pharos doctor --repair` rebuilds \
                        damaged parts";
            console::print_message(global.quiet, cure);
        }
    }
    Ok(if is_good { CommandOutcome::Good } else { CommandOutcome::PartlyBad })
}

fn as_json(report: &GenerationReport) -> Value {
    let flaw = |flaw: &GenerationFlaw| json!({ "path": flaw.path, "problem": flaw.problem.to_string() });
    let flaws: Vec<Value> = report.flaws.iter().map(flaw).collect();
    json!({ "name": report.name, "previous": report.previous, "good": flaws.is_empty(), "flaws": flaws })
}

pub(crate) fn rollback(global: &Global) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let summary = roll_back(&data, &config)?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!("reinstalled history generation {}, dropped {}", summary.to, summary.from);
    }
    Ok(CommandOutcome::Good)
}

/// Shows the progress of a build after a prefix, with percentage and remaining time where they are known. Returns
/// `false` if the build must stop.
pub(crate) fn report_build(task: &LongTask, prefix: &str, progress: BuildProgress) -> bool {
    let text = format!("{prefix}{}", describe(progress));
    match progress {
        BuildProgress::Comparing(done, all)
        | BuildProgress::Linking(done, all)
        | BuildProgress::Indexing(done, all)
        | BuildProgress::Analysing(ReplayProgress { done, total: all, .. })
        | BuildProgress::Surveying(ReplayProgress { done, total: all, .. }) => {
            task.report_part(done, all, text)
        }
        _ => task.report(text),
    }
}

/// Describes the progress of a build.
fn describe(progress: BuildProgress) -> String {
    match progress {
        BuildProgress::Analysing(read) => {
            format!("analysing new pages: {}", count(read.records, "record", "records"))
        }
        BuildProgress::Surveying(scan) => {
            format!("scanning the library: {}", count(scan.records, "record", "records"))
        }
        BuildProgress::Comparing(done, all) => format!("detecting duplicates: {done} of {all} pages"),
        BuildProgress::Ranking => "computing ranks".into(),
        BuildProgress::Linking(done, all) => format!("reading links: {done} of {all} pages"),
        BuildProgress::Indexing(done, all) => format!("indexing: {done} of {all} pages"),
        BuildProgress::Sealing => "waiting for the owner of the data directory".into(),
        BuildProgress::Verifying => "verifying the new generation".into(),
        BuildProgress::Warming(done) => format!("warming up the new generation: {done} queries"),
        BuildProgress::Switching => "installing the new generation".into(),
    }
}
