//! `pharos crawl`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;
use pharos_crawl::{Explanation, Ruling};
use pharos_engine::{CrawlSummary, Ended, Engine, EngineError, Run};
use pharos_store::{Catalog, DataDir, SqliteCatalog};

use crate::cli::{CrawlArgs, CrawlOnlyArgs, Global};
use crate::settings::{self, Source};
use crate::{Outcome, console};

pub(crate) fn run(global: &Global, args: CrawlOnlyArgs) -> anyhow::Result<Outcome> {
    let seeds = seeds(&args.crawl)?;
    let data = settings::data_dir(global);
    let flags = args.crawl.clone();
    let source = Source::new(global, settings::decided_by(&flags), move |config| {
        settings::apply_crawl(config, &flags)
    });
    let config = source.load()?;
    if let Some(url) = &args.explain {
        return explain(global, &data, &config.crawl, &seeds, url);
    }
    let root = data.root().to_path_buf();
    let engine = Arc::new(Engine::open(data, config, "crawl", false)?);
    let (summary, stored) = super::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        let steered = Arc::clone(&engine);
        source.follow(move |config| Ok(steered.reconfigure(config)?))?;
        let _telling = engine.tell("crawl")?;
        let progress = console::crawl_progress(engine.status());
        let summary = engine.run(Run { seeds, keep_going: false, stop }).await;
        progress.abort();
        anyhow::Ok((summary, engine.stored_pages()?))
    })?;
    let summary = match summary {
        Err(EngineError::Stopped) => return Ok(Outcome::Good),
        other => other?,
    };
    report(global, &root, &summary, stored)
}

/// What a crawl starts from: named on the command line, or in a file.
pub(crate) fn seeds(args: &CrawlArgs) -> anyhow::Result<Vec<PageUrl>> {
    let mut seeds = parse_seeds(&args.seeds)?;
    if let Some(file) = &args.seeds_file {
        seeds.extend(seeds_of_file(file)?);
    }
    Ok(seeds)
}

/// One address a line; empty lines and those that begin with # say nothing.
pub(crate) fn seeds_of_file(file: &Path) -> anyhow::Result<Vec<PageUrl>> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).context("cannot read addresses from standard input")?
    } else {
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines
        .map(|(number, line)| {
            PageUrl::parse(line).with_context(|| format!("{} line {number}", file.display()))
        })
        .collect()
}

pub(crate) fn parse_seeds(seeds: &[String]) -> anyhow::Result<Vec<PageUrl>> {
    seeds.iter().map(|seed| PageUrl::parse(seed).context("this seed cannot be crawled")).collect()
}

fn report(global: &Global, data: &Path, summary: &CrawlSummary, stored: u64) -> anyhow::Result<Outcome> {
    if stored == 0
        && summary.ended == Ended::NothingDue
        && let Some(reason) = &summary.last_failure
    {
        bail!("nothing could be fetched: {reason}");
    }
    if global.json {
        console::print_json(&serde_json::json!({
            "pages": summary.pages,
            "bytes": summary.bytes,
            "failed": summary.failed,
            "refused": summary.refused,
            "ended": format!("{:?}", summary.ended),
            "last_failure": summary.last_failure,
        }))?;
    } else {
        let why = match summary.ended {
            Ended::NothingDue => "nothing more is due",
            Ended::MaxPages => "the page limit is reached",
            Ended::Time => "time is up",
            Ended::Disk => "there is as much on the disk as there may be (crawl.max_disk)",
            Ended::Stopped => "stopped",
        };
        console::out!(
            "{} pages ({}) stored in {}, {} failed, {} refused: {why}",
            summary.pages,
            console::bytes(summary.bytes),
            data.display(),
            summary.failed,
            summary.refused
        );
    }
    Ok(Outcome::Good)
}

/// Reads only, so that it works beside a crawl.
fn explain(
    global: &Global,
    data: &DataDir,
    config: &CrawlConfig,
    seeds: &[PageUrl],
    url: &str,
) -> anyhow::Result<Outcome> {
    let catalog = SqliteCatalog::open_reader(&data.catalog())?;
    let catalog = catalog.as_ref().map(|catalog| catalog as &dyn Catalog);
    let explanation = pharos_crawl::explain(catalog, config, seeds, url)?;
    if global.json {
        console::print_json(&explanation)?;
    } else {
        print_explanation(&explanation)?;
    }
    Ok(if explanation.admitted { Outcome::Good } else { Outcome::NothingFound })
}

fn print_explanation(explanation: &Explanation) -> anyhow::Result<()> {
    console::out!("{}", console::printable(&explanation.asked));
    for line in &explanation.lines {
        let ruling = match line.ruling {
            Ruling::Admits => "admits",
            Ruling::Refuses => "refuses",
            Ruling::Open => "open",
        };
        console::out!("  {:<10} {ruling:<8} {}", line.rule, console::printable(&line.why));
    }
    for part in &explanation.weights {
        console::out!("  weight     {:<8} {}", part.weight, console::printable(&part.part));
    }
    let rules = match explanation.rules_in_force {
        true => "by the rules that the last crawl was started with",
        false => "by the rules that a crawl would be started with now",
    };
    match explanation.refusal() {
        Some(line) => console::out!("refused: {} ({}; {rules})", console::printable(&line.why), line.rule),
        None => console::out!("admitted ({rules})"),
    }
    Ok(())
}
