//! `pharos export`.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use anyhow::{Context as _, bail};
use pharos_core::config::Config;
use pharos_core::{PageId, PageUrl, SiteName, Timestamp};
use pharos_engine::Stores;
use pharos_engine::exchange::data_feed::parse_time;
use pharos_engine::exchange::export::{ExportFormat as Format, ExportSelection, ExportTarget, export};
use pharos_query::QueryProcessor;
use pharos_store::DataDir;
use pharos_store::catalog::SiteQuery;

use crate::cli::{ExportArgs, ExportFormat, Global};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: ExportArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let format = match args.format {
        ExportFormat::Warc => Format::Warc,
        ExportFormat::Cdxj => Format::Cdxj,
        ExportFormat::Tianwang => Format::Tianwang,
        ExportFormat::Jsonl => Format::Jsonl,
        ExportFormat::Soif => Format::Soif,
        ExportFormat::Forward => Format::Forward,
    };
    let sites = match selected_sites(&data, &config, &args.sites)? {
        Ok(sites) => sites,
        Err(unknown) => {
            console::print_error(&format!(
                "no page of the site `{unknown}` is stored: `pharos stats` lists the largest sites"
            ));
            return Ok(CommandOutcome::NothingFound);
        }
    };
    let selection = ExportSelection {
        sites,
        from: args.from.as_deref().map(time).transpose()?,
        to: args.to.as_deref().map(time).transpose()?,
        pages: args.query.as_deref().map(|query| matching_pages(&data, &config, query)).transpose()?,
        all_versions: if format.holds_all_versions() { !args.current } else { args.all_versions },
    };
    let to_stdout = args.out == "-";
    let mut stdout = io::stdout().lock();
    let target = if to_stdout {
        ExportTarget::Stream(&mut stdout)
    } else {
        ExportTarget::Path { path: Path::new(&args.out), force: args.force }
    };
    let done = LongTask::run(|task| {
        export(&data, &config, format, &selection, target, task.stop(), |so_far| {
            task.report(format!("{} written, {} damaged", so_far.written, so_far.damaged));
        })
    });
    drop(stdout);
    let summary = done?;
    if summary.written == 0 && summary.damaged == 0 {
        console::print_error("no stored page matches the selection: check --site, --from, --to and --query");
    }
    let message = format!("{} written, {} damaged records skipped", summary.written, summary.damaged);
    match (to_stdout, global.json) {
        // The exported data itself is the result.
        (true, _) => console::print_message(global.quiet, &message),
        (false, true) => console::print_json(&summary)?,
        (false, false) => console::out!("{message}"),
    }
    Ok(if summary.written > 0 { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

/// Returns the known sites that the options name, or the first name without a known site. A name without port matches
/// all ports of the host.
fn selected_sites(
    data: &DataDir,
    config: &Config,
    names: &[String],
) -> anyhow::Result<Result<Vec<SiteName>, String>> {
    if names.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let catalog = Stores::open(data, config)?.catalog()?;
    let known = match &catalog {
        Some(catalog) => {
            let query = SiteQuery { limit: usize::MAX, ..SiteQuery::default() };
            catalog.list_sites(&query)?.rows.into_iter().map(|row| row.site).collect()
        }
        None => Vec::new(),
    };
    let mut sites = Vec::new();
    for name in names {
        let wanted = site_name(name)?;
        let has_port = wanted.as_str() != wanted.host();
        let is_named = |site: &&SiteName| **site == wanted || (!has_port && site.host() == wanted.host());
        let matching: Vec<SiteName> = known.iter().filter(is_named).cloned().collect();
        if matching.is_empty() {
            return Ok(Err(name.clone()));
        }
        sites.extend(matching);
    }
    Ok(Ok(sites))
}

/// Returns the pages that match a query.
fn matching_pages(data: &DataDir, config: &Config, query: &str) -> anyhow::Result<HashSet<PageId>> {
    let search = QueryProcessor::new(Stores::open(data, config)?.index()?, config);
    Ok(search.matching(query)?.into_iter().collect())
}

fn site_name(text: &str) -> anyhow::Result<SiteName> {
    if text.contains('/') {
        bail!("invalid site `{text}`: expected a form such as www.example.org");
    }
    Ok(PageUrl::parse(&format!("http://{text}/")).context("invalid site")?.site())
}

fn time(text: &str) -> anyhow::Result<Timestamp> {
    parse_time(text)
        .with_context(|| format!("invalid time `{text}`: expected 2026-01-31 or 2026-01-31T12:00:00Z"))
}
