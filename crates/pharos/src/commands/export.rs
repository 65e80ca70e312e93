//! `pharos export`.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use pharos_core::config::Config;
use pharos_core::{PageId, PageUrl, SiteName, Timestamp};
use pharos_engine::{Format, Selection, Target, export, parse_moment};
use pharos_index::EmbeddedIndex;
use pharos_query::Search;
use pharos_store::DataDir;

use crate::cli::{ExportArgs, ExportFormat, Global};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: ExportArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let format = match args.format {
        ExportFormat::Warc => Format::Warc,
        ExportFormat::Cdxj => Format::Cdxj,
        ExportFormat::Tianwang => Format::Tianwang,
        ExportFormat::Jsonl => Format::Jsonl,
        ExportFormat::Soif => Format::Soif,
        ExportFormat::Forward => Format::Forward,
    };
    let selection = Selection {
        sites: args.sites.iter().map(|site| site_name(site)).collect::<anyhow::Result<_>>()?,
        from: args.from.as_deref().map(moment).transpose()?,
        to: args.to.as_deref().map(moment).transpose()?,
        pages: args.query.as_deref().map(|query| found(&data, &config, query)).transpose()?,
        all_versions: if format.holds_all_versions() { !args.current } else { args.all_versions },
    };
    let to_stdout = args.out == "-";
    let mut stdout = io::stdout().lock();
    let target = if to_stdout {
        Target::Stream(&mut stdout)
    } else {
        Target::Path { path: Path::new(&args.out), force: args.force }
    };
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    let done = export(&data, &config, format, &selection, target, &stop, |so_far| {
        line.set_message(format!("{} written, {} damaged", so_far.written, so_far.damaged));
    });
    line.finish_and_clear();
    drop(stdout);
    let summary = done?;
    let told = format!("{} written, {} damaged records left out", summary.written, summary.damaged);
    match (to_stdout, global.json) {
        // The output itself is the result.
        (true, _) => console::say(global.quiet, &told),
        (false, true) => console::print_json(&summary)?,
        (false, false) => console::out!("{told}"),
    }
    Ok(if summary.written > 0 { Outcome::Good } else { Outcome::NothingFound })
}

/// The pages that a query finds.
fn found(data: &DataDir, config: &Config, query: &str) -> anyhow::Result<HashSet<PageId>> {
    let index = EmbeddedIndex::open_reader(&data.index())?;
    let search = Search::new(Arc::new(index), config);
    Ok(search.matching(query)?.into_iter().collect())
}

fn site_name(text: &str) -> anyhow::Result<SiteName> {
    if text.contains('/') {
        bail!("`{text}` is no site: write it as in www.example.org");
    }
    Ok(PageUrl::parse(&format!("http://{text}/")).context("this is no site")?.site())
}

fn moment(text: &str) -> anyhow::Result<Timestamp> {
    parse_moment(text)
        .with_context(|| format!("`{text}` is no date: write 2026-01-31 or 2026-01-31T12:00:00Z"))
}
