//! `pharos crawl`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use pharos_core::PageUrl;
use pharos_core::config::{Config, StrategyName};
use pharos_crawl::rules::explain::RuleDecision;
use pharos_crawl::{CrawlSummary, EndReason, UrlExplanation};
use pharos_engine::status::depth_limit::find_referrer_at_limit;
use pharos_engine::{Engine, EngineError, RunOptions, Stores};
use pharos_store::DataDir;

use crate::cli::{CrawlArgs, CrawlOnlyArgs, Global};
use crate::crawl_reporter::CrawlReporter;
use crate::settings::{self, ConfigSource};
use crate::{CommandOutcome, commands, console};

pub(crate) fn run(global: &Global, args: CrawlOnlyArgs) -> anyhow::Result<CommandOutcome> {
    let seeds = seeds(&args.crawl)?;
    let data = settings::data_dir(global);
    let flags = args.crawl.clone();
    let source = ConfigSource::new(global, settings::decided_by(&flags), move |config| {
        settings::apply_crawl(config, &flags)
    });
    let config = source.load()?;
    if let Some(url) = &args.explain {
        return explain(global, &data, &config, &seeds, url);
    }
    let root = data.root().to_path_buf();
    let engine = Arc::new(Engine::open(data, config, "crawl", false)?);
    let (summary, stored, reporter) = commands::runtime()?.block_on(async {
        let stop = console::stop_signal()?;
        let controlled = Arc::clone(&engine);
        source.follow(move |config| Ok(controlled.reconfigure(config)?))?;
        let _publisher = engine.publish_status("crawl")?;
        let reporter = CrawlReporter::start(engine.status(), global.quiet, None);
        let summary = engine.run(RunOptions { seeds, keep_going: false, stop }).await;
        anyhow::Ok((summary, engine.stored_pages()?, reporter))
    })?;
    let summary = match summary {
        Err(EngineError::Stopped) => return Ok(CommandOutcome::Good),
        other => other?,
    };
    refuse_nothing(&summary, stored, &reporter)?;
    reporter.finish();
    report(global, &root, &summary)
}

/// Returns an error if no page could be fetched.
fn refuse_nothing(summary: &CrawlSummary, stored: u64, reporter: &CrawlReporter) -> anyhow::Result<()> {
    if stored > 0 || summary.ended != EndReason::NothingDue {
        return Ok(());
    }
    let reason = reporter.first_problem().or_else(|| summary.last_failure.clone());
    reason.map_or(Ok(()), |reason| bail!("no page could be fetched: {reason}"))
}

/// Returns the start URLs of the command line and of the seed file.
pub(crate) fn seeds(args: &CrawlArgs) -> anyhow::Result<Vec<PageUrl>> {
    let mut seeds = parse_seeds(&args.seeds)?;
    if let Some(file) = &args.seeds_file {
        seeds.extend(seeds_of_file(file)?);
    }
    Ok(seeds)
}

/// Reads one URL per line; empty lines and lines that begin with # are ignored.
pub(crate) fn seeds_of_file(file: &Path) -> anyhow::Result<Vec<PageUrl>> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).context("cannot read URLs from standard input")?
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
    seeds.iter().map(|seed| PageUrl::parse(seed).context("invalid seed")).collect()
}

fn report(global: &Global, data: &Path, summary: &CrawlSummary) -> anyhow::Result<CommandOutcome> {
    if global.json {
        console::print_json(&serde_json::json!({
            "pages": summary.pages,
            "bytes": summary.bytes,
            "failed": summary.failed,
            "refused": summary.refused,
            "problems": summary.problems,
            "ended": format!("{:?}", summary.ended),
            "last_failure": summary.last_failure,
        }))?;
    } else {
        let why = match summary.ended {
            EndReason::NothingDue => "no more pages are due",
            EndReason::MaxPages => "page limit reached",
            EndReason::Time => "time limit reached",
            EndReason::Disk => "disk limit reached (crawl.max_disk)",
            EndReason::Stopped => "stopped",
        };
        console::out!(
            "{} ({}) stored in {}, {} failed, {} refused: {why}",
            console::count(summary.pages, "page", "pages"),
            console::bytes(summary.bytes),
            data.display(),
            summary.failed,
            summary.refused
        );
        let problems = summary.problems.described();
        if !problems.is_empty() {
            let parts: Vec<String> = problems.iter().map(|(what, pages)| format!("{pages} {what}")).collect();
            console::out!("of these and of the pages left out: {}", parts.join(", "));
        }
    }
    Ok(CommandOutcome::Good)
}

/// Explains the crawl rules for a URL. Works alongside a running crawl, because it only reads.
fn explain(
    global: &Global,
    data: &DataDir,
    config: &Config,
    seeds: &[PageUrl],
    url: &str,
) -> anyhow::Result<CommandOutcome> {
    let stores = Stores::open(data, config)?;
    let catalog = stores.catalog()?;
    let mut explanation = pharos_crawl::explain(catalog.as_deref(), &config.crawl, seeds, url)?;
    if let (Some(limit), Some(page)) = (explanation.open_depth_limit(), explanation.url.clone())
        && let Some(referrer) =
            find_referrer_at_limit(&stores, &page, limit, config.crawl.body_limit.bytes())?
    {
        explanation.set_referrer_at_limit(&referrer);
    }
    if global.json {
        console::print_json(&explanation)?;
    } else {
        print_explanation(&explanation, config.crawl.strategy)?;
    }
    Ok(if explanation.admitted { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn print_explanation(explanation: &UrlExplanation, strategy: StrategyName) -> anyhow::Result<()> {
    console::out!("{}", console::printable(&explanation.input));
    for line in &explanation.lines {
        let ruling = match line.ruling {
            RuleDecision::Admits => "admits",
            RuleDecision::Refuses => "refuses",
            RuleDecision::Open => "open",
        };
        console::out!("  {:<10} {ruling:<8} {}", line.rule, console::printable(&line.why));
    }
    for part in &explanation.weights {
        console::out!("  weight     {:<8} {}", part.weight, console::printable(&part.part));
    }
    if !explanation.weights.is_empty() && !strategy.uses_weights() {
        console::out!("  weight     unused   the strategy {strategy} does not order pages by weight");
    }
    let rules = match explanation.rules_in_force {
        true => "by the rules of the last crawl",
        false => "by the rules of a crawl started now",
    };
    match explanation.refusal() {
        Some(line) => console::out!("refused: {} ({}; {rules})", console::printable(&line.why), line.rule),
        None => console::out!("admitted ({rules})"),
    }
    Ok(())
}
