//! `pharos page`: the status and stored versions of one page.

use std::io::{self, Write as _};

use anyhow::{Context as _, bail};
use pharos_core::{Clock as _, PageUrl, SystemClock};
use pharos_engine::Stores;
use pharos_engine::status::page_report::{PageReport, VersionContent, page_report, read_version};
use pharos_store::PageState;

use super::refresh;
use crate::cli::{Global, PageArgs};
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: PageArgs) -> anyhow::Result<CommandOutcome> {
    let stores = settings::stores(global)?;
    let url = PageUrl::parse(&args.url).context("invalid URL")?;
    let Some(mut report) = page_report(&stores, &url)? else {
        console::print_message(global.quiet, &format!("unknown page {url}"));
        return Ok(CommandOutcome::NothingFound);
    };
    report.add_crawl_window(&settings::load(global)?.crawl, SystemClock.now());
    match args.show {
        Some(number) => show(global, &args, &stores, &report, number),
        None if global.json => {
            console::print_json(&report)?;
            Ok(CommandOutcome::Good)
        }
        None => {
            print(&report)?;
            let stored = !report.versions.is_empty();
            Ok(if stored { CommandOutcome::Good } else { CommandOutcome::NothingFound })
        }
    }
}

/// Prints one version: the body as received, or its text.
fn show(
    global: &Global,
    args: &PageArgs,
    stores: &Stores,
    report: &PageReport,
    number: usize,
) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let count = report.versions.len();
    let Some(wanted) = number.checked_sub(1).and_then(|n| report.versions.get(n)) else {
        bail!(
            "version {number} not found: stored versions of {} are 1 (the newest) to {count}",
            report.page.url
        );
    };
    if wanted.kept == VersionContent::Dropped {
        bail!("version {number} of {} was dropped by the retention policy", report.page.url);
    }
    let response = read_version(stores, wanted.version.position)?;
    let body = response.content(config.crawl.body_limit.bytes());
    if args.text || global.json {
        let page = pharos_html::extract_page(&report.page.url, response.header("Content-Type"), &body);
        if global.json {
            console::print_json(&page)?;
        } else {
            console::out!("{}", page.text);
        }
    } else {
        io::stdout().lock().write_all(&body)?;
    }
    Ok(CommandOutcome::Good)
}

fn print(report: &PageReport) -> anyhow::Result<()> {
    let page = &report.page;
    let state = match page.state {
        PageState::Waiting => "waiting: not fetched yet",
        PageState::Stored => "stored",
        PageState::Failed => "failed",
        PageState::Refused => "refused",
        PageState::Deleted => "deleted by a data feed",
        PageState::Removed => "removed permanently",
        PageState::Quarantined => "quarantined",
    };
    let status = page.status.map(|s| format!(", status {s}")).unwrap_or_default();
    let reason = page.reason.as_ref().map(|r| format!(": {}", console::printable(r))).unwrap_or_default();
    console::out!("{}", page.url);
    console::out!("  state    {state}{status}{reason}");
    if page.state == PageState::Removed {
        return Ok(());
    }
    let searched = if page.indexable { "yes" } else { "no" };
    console::out!("  search   {searched}");
    let clicks = match page.depth {
        0 => "seed or imported".to_string(),
        1 => "1 click from a seed".to_string(),
        n => format!("{n} clicks from a seed"),
    };
    let anchor = console::printable(&page.anchor);
    let anchor = if anchor.is_empty() { anchor } else { format!(", anchor text “{anchor}”") };
    console::out!("  found    {}, {clicks}{anchor}", page.found_at);
    if let Some(origin) = &page.origin {
        console::out!("  origin   redirected from {}", console::printable(origin));
    }
    if let Some(visited) = page.visited_at {
        console::out!("  visited  {visited}, {} responses", page.visits);
    }
    if let Some(due) = page.due {
        console::out!("  due      {due}");
    }
    if let Some(reason) = &report.next_visit {
        let source = if reason.is_learned { "learned" } else { "assumed" };
        let every = refresh::time(86_400.0 / reason.change_rate);
        let interest = match reason.interest {
            factor if (factor - 1.0).abs() < 0.01 => String::new(),
            factor => format!(" (×{factor:.2} by queries, clicks, links and operators)"),
        };
        let announced = if reason.is_announced { ", a change was announced" } else { "" };
        console::out!(
            "  refresh  {} policy, a change every {every} ({source}), weight {:.2}{interest}{announced}",
            reason.policy,
            reason.weight
        );
    }
    for other in &report.same {
        console::out!("  same     identical to {other}");
    }
    for (number, stored) in (1..).zip(&report.versions) {
        let kept = match stored.kept {
            VersionContent::Whole(bytes) => console::bytes(bytes as u64),
            VersionContent::Unchanged => "unchanged".into(),
            VersionContent::Dropped => "dropped".into(),
            VersionContent::Damaged => "damaged".into(),
        };
        let version = &stored.version;
        console::out!(
            "  version  {number:>3}  {}  {}  {kept:>10}  at {}",
            version.at,
            version.status,
            version.position
        );
    }
    Ok(())
}
