//! `pharos dedup …`: pages that say the same.

use std::collections::HashMap;
use std::io::{self, Read as _};

use anyhow::{Context as _, bail};
use pharos_core::{PageId, PageUrl};
use pharos_engine::{Measured, measure_copies};
use pharos_graph::duplicates::{Extent, Layout, Report, ReportedGroup};
use pharos_graph::relations::Group;
use serde::Deserialize;

use super::graph::{number, open};
use crate::cli::{DedupCommand, DedupGroupsArgs, DedupMeasureArgs, DedupOfArgs, DedupReportArgs, Global};
use crate::{Outcome, console, settings};

/// Labels of more bytes than this are no labels.
const MAX_LABELS: u64 = 1 << 30;

pub(crate) fn run(global: &Global, command: DedupCommand) -> anyhow::Result<Outcome> {
    match command {
        DedupCommand::Report(args) => report(global, &args),
        DedupCommand::Of(args) => of(global, &args),
        DedupCommand::Groups(args) => groups(global, &args),
        DedupCommand::Measure(args) => measure(global, &args),
    }
}

fn print_group(group: &ReportedGroup) -> anyhow::Result<()> {
    console::out!("{}", group.representative);
    for copy in &group.copies {
        let label = match (copy.exact, copy.extent) {
            (true, _) => "same words",
            (false, Extent::Whole) => "whole",
            (false, Extent::Partial) => "part",
        };
        let layout = match copy.layout {
            Layout::Same => "same layout",
            Layout::Different => "other layout",
            Layout::Unknown => "",
        };
        console::out!("  {label:<10} {layout:<12} {}", copy.url);
    }
    Ok(())
}

fn report(global: &Global, args: &DedupReportArgs) -> anyhow::Result<Outcome> {
    let report = Report::of(&open(global)?, args.count)?;
    if global.json {
        console::print_json(&report)?;
        return Ok(Outcome::Good);
    }
    let share = 100.0 * report.pages_too_many as f64 / report.pages.max(1) as f64;
    console::out!("{} pages with a text", report.pages);
    console::out!(
        "{} groups of {} pages: {} need not be shown ({share:.1} %)",
        report.groups,
        report.pages_in_groups,
        report.pages_too_many
    );
    console::out!("{} of these have the very same words as another", report.exact_copies);
    if !report.largest.is_empty() {
        console::out!("\nlargest groups");
        for group in &report.largest {
            console::out!("  {:>6}  {}", group.copies.len() + 1, group.representative);
        }
    }
    if !report.mirrors.is_empty() {
        console::out!("\nmirrors of whole sites");
        for mirror in &report.mirrors {
            console::out!("  {}", mirror.sites.join(" = "));
        }
    }
    if !report.sites.is_empty() {
        console::out!("\nsites with copies");
        for site in &report.sites {
            let share = 100.0 * site.copies as f64 / site.pages.max(1) as f64;
            console::out!("  {:<40} {:>8} of {:>8} pages  {share:5.1} %", site.site, site.copies, site.pages);
        }
    }
    Ok(Outcome::Good)
}

fn of(global: &Global, args: &DedupOfArgs) -> anyhow::Result<Outcome> {
    let relations = open(global)?;
    let page = number(&relations, &args.url)?;
    let group = relations.group(page).map(|group| ReportedGroup::of(&relations, &group)).transpose()?;
    if global.json {
        console::print_json(&group)?;
    } else if let Some(group) = &group {
        print_group(group)?;
    } else {
        console::say(global.quiet, "no other page says the same");
    }
    Ok(if group.is_some() { Outcome::Good } else { Outcome::NothingFound })
}

fn groups(global: &Global, args: &DedupGroupsArgs) -> anyhow::Result<Outcome> {
    let relations = open(global)?;
    let site = |page: u32| relations.sites()[relations.site(page) as usize].as_str();
    let wanted = |group: &Group| {
        let Some(wanted) = &args.site else { return true };
        let members = group.members.iter().map(|member| member.page);
        members.chain([group.representative]).any(|page| site(page) == wanted)
    };
    let all = relations.groups();
    let found = all.iter().filter(|group| wanted(group)).take(args.count.unwrap_or(usize::MAX));
    let found = found.map(|group| ReportedGroup::of(&relations, group)).collect::<Result<Vec<_>, _>>()?;
    if global.json {
        console::print_json(&found)?;
    } else {
        for group in &found {
            print_group(group)?;
            console::out!("");
        }
    }
    Ok(if found.is_empty() { Outcome::NothingFound } else { Outcome::Good })
}

/// A line of a file of labels that is a JSON object.
#[derive(Deserialize)]
struct Labelled {
    url: String,
    content: Option<String>,
}

fn measure(global: &Global, args: &DedupMeasureArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let labels = read_labels(&args.labels)?;
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let measured = measure_copies(&data, &config, &labels, |pages| {
        line.set_message(format!("reading pages: {pages}"));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let measured = measured?;
    if measured.pages == 0 {
        console::say(global.quiet, "none of the labels is of a page with a text in the library");
        return Ok(Outcome::NothingFound);
    }
    if global.json {
        console::print_json(&measured)?;
        return Ok(Outcome::Good);
    }
    let Measured { pages, pairs, labels_not_found, rows } = measured;
    console::out!(
        "{pages} pages with {pairs} pairs of copies; {labels_not_found} labels are of no page here\n"
    );
    console::out!("{}", rows.to_string().trim_end());
    Ok(Outcome::Good)
}

fn read_labels(file: &str) -> anyhow::Result<HashMap<PageId, String>> {
    let mut text = String::new();
    let read = if file == "-" {
        io::stdin().lock().take(MAX_LABELS).read_to_string(&mut text)
    } else {
        let file = std::fs::File::open(file).with_context(|| format!("{file} cannot be opened"))?;
        file.take(MAX_LABELS).read_to_string(&mut text)
    };
    read.with_context(|| format!("{file} cannot be read"))?;
    let mut labels = HashMap::new();
    for (place, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let (url, label) = match line.split_once('\t') {
            Some((url, label)) => (url.to_owned(), label.to_owned()),
            None => match serde_json::from_str::<Labelled>(line) {
                // Whoever has no label is a copy of nothing.
                Ok(labelled) => (labelled.url.clone(), labelled.content.unwrap_or(labelled.url)),
                Err(_) => bail!(
                    "{file} line {place}: neither an address, a tab and a label, nor a JSON object with `url`"
                ),
            },
        };
        let url =
            PageUrl::parse(&url).with_context(|| format!("{file} line {place}: {url} is no address"))?;
        labels.insert(url.id(), label);
    }
    if labels.is_empty() {
        bail!("{file} has no labels");
    }
    Ok(labels)
}
