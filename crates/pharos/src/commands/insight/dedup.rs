//! `pharos dedup …`: duplicates and mirror sites.

use std::collections::HashMap;
use std::io::{self, Read as _};

use anyhow::{Context as _, bail};
use pharos_core::{PageId, PageUrl};
use pharos_engine::build::link_analysis::{DedupEvaluation, evaluate_dedup};
use pharos_graph::duplicates::{DuplicateReport, LayoutMatch, MatchExtent, ReportedGroup};
use pharos_graph::relations::DuplicateGroup;
use serde::Deserialize;

use super::graph::{number, open};
use crate::cli::{DedupCommand, DedupGroupsArgs, DedupMeasureArgs, DedupOfArgs, DedupReportArgs, Global};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

/// Maximum size of a file of labels.
const MAX_LABELS: u64 = 1 << 30;

pub(crate) fn run(global: &Global, command: DedupCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        DedupCommand::Report(args) => report(global, &args),
        DedupCommand::Of(args) => duplicates_of(global, &args),
        DedupCommand::Groups(args) => groups(global, &args),
        DedupCommand::Measure(args) => measure(global, &args),
    }
}

fn print_group(group: &ReportedGroup) -> anyhow::Result<()> {
    console::out!("{}", group.representative);
    for copy in &group.copies {
        let label = match (copy.exact, copy.extent) {
            (true, _) => "exact",
            (false, MatchExtent::Whole) => "whole",
            (false, MatchExtent::Partial) => "part",
        };
        let layout = match copy.layout {
            LayoutMatch::Same => "same layout",
            LayoutMatch::Different => "other layout",
            LayoutMatch::Unknown => "",
        };
        console::out!("  {label:<10} {layout:<12} {}", copy.url);
    }
    Ok(())
}

fn report(global: &Global, args: &DedupReportArgs) -> anyhow::Result<CommandOutcome> {
    let report = DuplicateReport::from_relations(&open(global)?, args.count)?;
    if global.json {
        console::print_json(&report)?;
        return Ok(CommandOutcome::Good);
    }
    let share = 100.0 * report.pages_too_many as f64 / report.pages.max(1) as f64;
    console::out!("{} pages with text", report.pages);
    console::out!(
        "{} groups of {} pages: {} are redundant ({share:.1} %)",
        report.groups,
        report.pages_in_groups,
        report.pages_too_many
    );
    console::out!("{} of these are exact duplicates", report.exact_copies);
    if !report.largest.is_empty() {
        console::out!("\nlargest groups");
        for group in &report.largest {
            console::out!("  {:>6}  {}", group.copies.len() + 1, group.representative);
        }
    }
    if !report.mirrors.is_empty() {
        console::out!("\nmirror sites");
        for mirror in &report.mirrors {
            console::out!("  {}", mirror.sites.join(" = "));
        }
    }
    if !report.sites.is_empty() {
        console::out!("\nsites with duplicates");
        for site in &report.sites {
            let share = 100.0 * site.copies as f64 / site.pages.max(1) as f64;
            console::out!("  {:<40} {:>8} of {:>8} pages  {share:5.1} %", site.site, site.copies, site.pages);
        }
    }
    Ok(CommandOutcome::Good)
}

fn duplicates_of(global: &Global, args: &DedupOfArgs) -> anyhow::Result<CommandOutcome> {
    let relations = open(global)?;
    let page = number(&relations, &args.url)?;
    let group =
        relations.group(page).map(|group| ReportedGroup::from_group(&relations, &group)).transpose()?;
    if global.json {
        console::print_json(&group)?;
    } else if let Some(group) = &group {
        print_group(group)?;
    } else {
        console::print_message(global.quiet, "the page has no duplicates");
    }
    Ok(if group.is_some() { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn groups(global: &Global, args: &DedupGroupsArgs) -> anyhow::Result<CommandOutcome> {
    let relations = open(global)?;
    let site = |page: u32| relations.sites()[relations.site(page) as usize].as_str();
    let wanted = |group: &DuplicateGroup| {
        let Some(wanted) = &args.site else { return true };
        let members = group.members.iter().map(|member| member.page);
        members.chain([group.representative]).any(|page| site(page) == wanted)
    };
    let all = relations.groups();
    let found = all.iter().filter(|group| wanted(group)).take(args.count.unwrap_or(usize::MAX));
    let found =
        found.map(|group| ReportedGroup::from_group(&relations, group)).collect::<Result<Vec<_>, _>>()?;
    if global.json {
        console::print_json(&found)?;
    } else {
        for group in &found {
            print_group(group)?;
            console::out!("");
        }
    }
    Ok(if found.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

/// A JSON line of a file of labels.
#[derive(Deserialize)]
struct LabelLine {
    url: String,
    content: Option<String>,
}

fn measure(global: &Global, args: &DedupMeasureArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let labels = read_labels(&args.labels)?;
    let measured = LongTask::run(|task| {
        evaluate_dedup(&data, &config, &labels, |pages| task.report(format!("reading pages: {pages}")))
    })?;
    if measured.pages == 0 {
        console::print_message(global.quiet, "no labelled page with text is in the library");
        return Ok(CommandOutcome::NothingFound);
    }
    if global.json {
        console::print_json(&measured)?;
        return Ok(CommandOutcome::Good);
    }
    let DedupEvaluation { pages, pairs, labels_not_found, rows } = measured;
    console::out!(
        "{pages} pages with {pairs} pairs of duplicates; {labels_not_found} labels without a page\n"
    );
    console::out!("{}", rows.to_string().trim_end());
    Ok(CommandOutcome::Good)
}

fn read_labels(file: &str) -> anyhow::Result<HashMap<PageId, String>> {
    let mut text = String::new();
    let read = if file == "-" {
        io::stdin().lock().take(MAX_LABELS).read_to_string(&mut text)
    } else {
        let file = std::fs::File::open(file).with_context(|| format!("cannot open {file}"))?;
        file.take(MAX_LABELS).read_to_string(&mut text)
    };
    read.with_context(|| format!("cannot read {file}"))?;
    let mut labels = HashMap::new();
    for (place, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let (url, label) = match line.split_once('\t') {
            Some((url, label)) => (url.to_owned(), label.to_owned()),
            None => match serde_json::from_str::<LabelLine>(line) {
                // A page without a label is a duplicate of nothing.
                Ok(labelled) => (labelled.url.clone(), labelled.content.unwrap_or(labelled.url)),
                Err(_) => bail!(
                    "{file} line {place}: expected a URL, a tab and a label, or a JSON object with `url`"
                ),
            },
        };
        let url =
            PageUrl::parse(&url).with_context(|| format!("{file} line {place}: invalid URL `{url}`"))?;
        labels.insert(url.id(), label);
    }
    if labels.is_empty() {
        bail!("{file} contains no labels");
    }
    Ok(labels)
}
