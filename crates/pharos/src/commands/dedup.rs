//! `pharos dedup …`: pages that say the same.

use std::collections::HashMap;
use std::io::{self, Read as _};

use anyhow::{Context as _, bail};
use pharos_core::{PageId, PageUrl};
use pharos_engine::measure_copies;
use pharos_graph::Relations;
use pharos_graph::duplicates::mirrors::MirrorRule;
use pharos_graph::duplicates::{Extent, Layout};
use pharos_graph::relations::Group;
use serde::{Deserialize, Serialize};

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

/// A group as it is printed.
#[derive(Serialize)]
struct ShownGroup {
    representative: String,
    copies: Vec<ShownCopy>,
}

#[derive(Serialize)]
struct ShownCopy {
    url: String,
    /// The very same words as the representative, or another copy.
    exact: bool,
    extent: Extent,
    layout: Layout,
}

fn shown(relations: &Relations, group: &Group) -> anyhow::Result<ShownGroup> {
    let copy = |member: &pharos_graph::duplicates::Member| -> anyhow::Result<ShownCopy> {
        Ok(ShownCopy {
            url: relations.url(member.page)?,
            exact: relations.original(member.page) == group.representative,
            extent: member.extent,
            layout: member.layout,
        })
    };
    let copies = group.members.iter().map(copy).collect::<anyhow::Result<_>>()?;
    Ok(ShownGroup { representative: relations.url(group.representative)?, copies })
}

fn print_group(group: &ShownGroup) -> anyhow::Result<()> {
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

/// What `report` prints.
#[derive(Serialize)]
struct Report {
    pages: u64,
    groups: u64,
    /// Pages that stand in a group.
    pages_in_groups: u64,
    /// Pages that a result list need not show.
    pages_too_many: u64,
    /// Of these, pages with the very same words as another.
    exact_copies: u64,
    largest: Vec<ShownGroup>,
    mirrors: Vec<Mirror>,
    sites: Vec<SiteShare>,
}

/// Sites that show the same pages.
#[derive(Serialize)]
struct Mirror {
    sites: Vec<String>,
}

/// How much of a site is copied from elsewhere or from itself.
#[derive(Serialize)]
struct SiteShare {
    site: String,
    pages: u64,
    copies: u64,
}

fn report(global: &Global, args: &DedupReportArgs) -> anyhow::Result<Outcome> {
    let relations = open(global)?;
    let groups = relations.groups();
    let mut largest = Vec::new();
    for group in groups.iter().take(args.count) {
        largest.push(shown(&relations, group)?);
    }
    let name = |site: u32| relations.sites()[site as usize].as_str().to_owned();
    let mut shares: HashMap<u32, (u64, u64)> = HashMap::new();
    for page in relations.pages_with_text() {
        let share = shares.entry(relations.site(*page)).or_default();
        share.0 += 1;
        share.1 += u64::from(relations.representative(*page).is_some_and(|other| other != *page));
    }
    let mut sites: Vec<SiteShare> = shares
        .into_iter()
        .filter(|(_, (_, copies))| *copies > 0)
        .map(|(site, (pages, copies))| SiteShare { site: name(site), pages, copies })
        .collect();
    sites.sort_by(|one, other| other.copies.cmp(&one.copies).then_with(|| one.site.cmp(&other.site)));
    sites.truncate(args.count);
    let aliases = relations.aliases(&MirrorRule::default());
    let mut mirrors: Vec<Mirror> =
        aliases.into_iter().map(|sites| Mirror { sites: sites.into_iter().map(name).collect() }).collect();
    mirrors.sort_by_key(|mirror| std::cmp::Reverse(mirror.sites.len()));
    mirrors.truncate(args.count);
    let too_many: u64 = groups.iter().map(|group| group.members.len() as u64).sum();
    let report = Report {
        pages: relations.pages_with_text().len() as u64,
        groups: groups.len() as u64,
        pages_in_groups: too_many + groups.len() as u64,
        pages_too_many: too_many,
        exact_copies: relations
            .pages_with_text()
            .iter()
            .filter(|page| relations.original(**page) != **page)
            .count() as u64,
        largest,
        mirrors,
        sites,
    };
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
    let group = relations.group(page).map(|group| shown(&relations, &group)).transpose()?;
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
    let found = found.map(|group| shown(&relations, group)).collect::<anyhow::Result<Vec<_>>>()?;
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
    let table = measure_copies(&data, &config, &labels, |pages| {
        line.set_message(format!("reading pages: {pages}"));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let table = table?;
    if global.json {
        console::print_json(&table)?;
    } else {
        console::out!("{}", table.to_string().trim_end());
    }
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
