//! `pharos index …`.

use pharos_engine::{EngineError, GenerationStatus, Progress, build_history, index_status, roll_back};
use pharos_index::{GenerationFlaw, GenerationReport, IndexError, verify_generations};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::{Outcome, console, settings};

const CUT_SHORT: &str =
    "the build was cut short; searches go on as before, and the next build goes on where this one was";

pub(crate) fn build(global: &Global) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let built = build_history(&data, &config, |progress| {
        line.set_message(describe(progress));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let summary = built.map_err(|error| {
        let is_disk = matches!(
            error,
            EngineError::Graph(_) | EngineError::Index(IndexError::Tantivy { .. } | IndexError::Io { .. })
        );
        let error = anyhow::Error::from(error);
        if is_disk { error.context(CUT_SHORT) } else { error }
    })?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!("history generation {}: {} pages", summary.generation, summary.pages);
    }
    Ok(Outcome::Good)
}

pub(crate) fn status(global: &Global) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let status = index_status(&data, &config)?;
    if global.json {
        console::print_json(&status)?;
        return Ok(Outcome::Good);
    }
    if status.history.is_none() {
        console::out!("history  none yet: `pharos index build` makes one");
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
        console::out!("the history in place is damaged: the one before answers (`pharos index verify`)");
    }
    console::out!("{} pages searchable, {} on disk", status.searchable, console::bytes(status.bytes));
    if let Some(share) = status.latest_share {
        console::out!("latest holds {:.1} % of the pages of history", 100.0 * share);
    }
    match (&status.unfinished, status.building) {
        (Some(build), true) => console::out!("a build is running: {} pages saved", build.saved),
        (None, true) => console::out!("a build is running"),
        (Some(build), false) if build.goes_on => {
            console::out!("a build was cut short: the next one goes on with {} pages", build.saved);
        }
        (Some(_), false) => {
            console::out!("a build was cut short, by other settings: the next one begins anew")
        }
        (None, false) => {}
    }
    match &status.next_build {
        Some(at) => console::out!("`pharos up` builds the next history at {at}"),
        None => console::out!("no build is due"),
    }
    Ok(Outcome::Good)
}

fn line(one: &GenerationStatus) -> String {
    let to = one.to.map_or(String::new(), |to| format!(" to {to}"));
    let since = one.since.as_deref().unwrap_or("an unknown moment");
    let word = if one.kind == "history" { "built" } else { "begun" };
    let (pages, bytes) = (one.pages, console::bytes(one.bytes));
    let span = if one.kind == "history" { to } else { format!(" from {}{to}", one.from) };
    format!("{:<8} generation {}, {pages} pages, {bytes},{span}, {word} {since}", one.kind, one.number)
}

pub(crate) fn verify(global: &Global) -> anyhow::Result<Outcome> {
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let reports = verify_generations(&data.index())?;
    let is_good = reports.iter().all(|report| report.flaws.is_empty());
    if global.json {
        let generations: Vec<_> = reports.iter().map(as_json).collect();
        console::print_json(&json!({ "good": is_good, "generations": generations }))?;
    } else {
        for report in &reports {
            let kept = if report.previous { " (kept for going back)" } else { "" };
            if report.flaws.is_empty() {
                console::out!("{}{kept}: good", report.name);
            }
            for flaw in &report.flaws {
                console::out!("{}{kept}: {}: {}", report.name, flaw.path.display(), flaw.problem);
            }
        }
        if !is_good {
            let cure = "`pharos index rollback` goes back to the history before the last build, `pharos doctor --repair` \
                        makes again what is damaged";
            console::say(global.quiet, cure);
        }
    }
    Ok(if is_good { Outcome::Good } else { Outcome::PartlyBad })
}

fn as_json(report: &GenerationReport) -> Value {
    let flaw = |flaw: &GenerationFlaw| json!({ "path": flaw.path, "problem": flaw.problem.to_string() });
    let flaws: Vec<Value> = report.flaws.iter().map(flaw).collect();
    json!({ "name": report.name, "previous": report.previous, "good": flaws.is_empty(), "flaws": flaws })
}

pub(crate) fn rollback(global: &Global) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let summary = roll_back(&data, &config)?;
    if global.json {
        console::print_json(&summary)?;
    } else {
        console::out!("history generation {} is in place again, {} is gone", summary.to, summary.from);
    }
    Ok(Outcome::Good)
}

/// What a build is doing.
pub(crate) fn describe(progress: Progress) -> String {
    match progress {
        Progress::Surveying(records) => format!("looking through the library: {records} records"),
        Progress::Comparing(done, all) => format!("looking for copies: {done} of {all} pages"),
        Progress::Ranking => "computing ranks".into(),
        Progress::Linking(done, all) => format!("reading links: {done} of {all} pages"),
        Progress::Indexing(done, all) => format!("indexing: {done} of {all} pages"),
        Progress::Sealing => "waiting for the owner of the data directory".into(),
        Progress::Verifying => "verifying the new generation".into(),
        Progress::Warming(asked) => format!("asking the new generation its first queries: {asked}"),
        Progress::Switching => "putting the new generation in place".into(),
    }
}
