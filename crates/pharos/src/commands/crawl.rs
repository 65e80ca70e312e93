//! `pharos crawl`.

use std::path::Path;

use anyhow::{Context as _, bail};
use pharos_core::PageUrl;
use pharos_engine::{CrawlSummary, Ended, Engine, EngineError, Run};

use crate::cli::{CrawlArgs, Global};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: CrawlArgs) -> anyhow::Result<Outcome> {
    let mut config = settings::load(global)?;
    settings::apply_crawl(&mut config, &args)?;
    let seeds = parse_seeds(&args.seeds)?;
    let data = settings::data_dir(global);
    let root = data.root().to_path_buf();
    let engine = Engine::open(data, config, "crawl", false)?;
    let (summary, stored) = super::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
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
