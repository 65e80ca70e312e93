//! `pharos log report`.

use anyhow::Context as _;
use pharos_engine::behaviour::report_inputs;
use pharos_mining::behaviour::html::render_page;
use pharos_mining::behaviour::plot::number;
use pharos_mining::behaviour::texts::{ReportLang, text};
use pharos_mining::behaviour::{BehaviourReport, ReportInputs, build_report};

use super::source::{read_searches, zone_of};
use crate::cli::{Global, LogReportArgs, ReportLangArg};
use crate::{CommandOutcome, console, settings};

pub(super) fn run(global: &Global, args: &LogReportArgs) -> anyhow::Result<CommandOutcome> {
    let log = read_searches(global, &args.source)?;
    let zone = zone_of(&args.source)?;
    // The pages of the data directory say nothing about the clicks of another engine.
    let inputs = match args.source.log {
        None => report_inputs(&settings::stores(global)?, &log, zone)?,
        Some(_) => ReportInputs { zone: Some(zone), ..ReportInputs::default() },
    };
    let report = build_report(&log, inputs);
    let lang = match args.lang {
        ReportLangArg::En => ReportLang::En,
        ReportLangArg::Zh => ReportLang::Zh,
    };
    if global.json {
        console::print_json(&report)?;
    } else if let Some(path) = &args.output {
        pharos_files::replace(path, render_page(&report, lang).as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        console::print_message(global.quiet, &format!("report written to {}", path.display()));
    } else {
        print_summary(&report, lang)?;
    }
    if log.searches.is_empty() {
        console::print_message(global.quiet, "the log has no queries");
        return Ok(CommandOutcome::NothingFound);
    }
    Ok(CommandOutcome::Good)
}

fn print_summary(report: &BehaviourReport, lang: ReportLang) -> anyhow::Result<()> {
    for statistic in &report.statistics {
        console::out!("{}  [{}]", text(statistic.name, lang), statistic.source);
        if let Some(reason) = statistic.missing {
            console::out!("  {}", text(reason, lang));
        }
        for (name, value) in &statistic.figures {
            console::out!("  {:>12}  {}", number(*value), text(name, lang));
        }
    }
    Ok(())
}
