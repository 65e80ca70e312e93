//! `pharos refresh`: state of the refresh, and simulation of its policies.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter};

use anyhow::{Context as _, bail};
use pharos_core::config::{InsertedVisit, RefreshPolicyName, SettingValue as _};
use pharos_core::{Clock as _, PageUrl, SiteName, SystemClock};
use pharos_crawl::refresh::simulate::{
    LearnedIntervals, PaperIntervals, PolicyFigures, SimulationOptions, VisitIntervals, lag_figure, simulate,
};
use pharos_crawl::refresh::trace::{ChangeLaw, SyntheticTrace, Trace, TraceReader, TraceSummary};
use pharos_engine::status::refresh::refresh_report;
use pharos_store::interpret::refresh::policy_by_name;
use serde_json::json;

use crate::cli::{
    Global, RefreshCommand, RefreshSimulateArgs, RefreshStatusArgs, RefreshTraceArgs, TraceLaw,
};
use crate::{CommandOutcome, console, settings};

/// Maximum number of invalid lines that are printed.
const MAX_REPORTED: u64 = 20;

pub(crate) fn run(global: &Global, command: RefreshCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        RefreshCommand::Status(args) => status(global, &args),
        RefreshCommand::Simulate(args) => run_simulation(global, &args),
        RefreshCommand::Trace(args) => write_trace(&args),
    }
}

fn status(global: &Global, args: &RefreshStatusArgs) -> anyhow::Result<CommandOutcome> {
    let site = args.site.as_deref().map(site_name).transpose()?;
    let (stores, config) = (settings::stores(global)?, settings::load(global)?);
    let report = refresh_report(&stores, &config, SystemClock.now(), site.as_ref())?;
    let Some(report) = report.filter(|report| report.pages > 0) else {
        console::print_message(global.quiet, "no stored page has a next visit");
        return Ok(CommandOutcome::NothingFound);
    };
    if global.json {
        console::print_json(&report)?;
        return Ok(CommandOutcome::Good);
    }
    console::out!("policy       {}, θ = {:.4}", report.policy, report.threshold);
    console::out!(
        "pages        {}, {} with a learned change rate",
        console::grouped(report.pages),
        console::grouped(report.learned)
    );
    console::out!("budget       {:.1} visits a day, {:.1} scheduled", report.budget, report.scheduled_visits);
    console::out!("expected lag {}", time(report.expected_lag));
    console::out!("useless      {:.1} % of the visits found no change", 100.0 * report.useless_share);
    console::out!(
        "weights      {} pages raised by queries, clicks, links or operators",
        console::grouped(report.raised)
    );
    console::out!("due now      {}", console::grouped(report.due));
    if let Some(page) = &report.longest_unvisited {
        console::out!("unvisited    since {}: {}", page.visited_at, page.url);
    }
    console::out!("");
    console::out!("pages by interval:");
    for class in &report.intervals {
        console::out!("  up to {:<8} {:>12}", class.up_to, console::grouped(class.pages));
    }
    console::out!("pages by time between changes:");
    for class in &report.change_times {
        console::out!("  up to {:<8} {:>12}", class.up_to, console::grouped(class.pages));
    }
    if !report.signals.is_empty() {
        console::out!(
            "sitemaps, feeds and notices by site: share that was right, share of changes announced"
        );
    }
    for site in &report.signals {
        let (right, announced) = (100.0 * site.precision, 100.0 * site.recall);
        console::out!("  {:<30} {right:>5.0} % {announced:>5.0} %  {:.0} visits", site.site, site.visits);
    }
    if !report.dead_links.is_empty() {
        console::out!("dead links by site: pages that no longer exist, share of the visited pages");
    }
    for site in &report.dead_links {
        console::out!(
            "  {:<30} {:>12} {:>5.1} %",
            site.site,
            console::grouped(site.dead),
            100.0 * site.share
        );
    }
    Ok(CommandOutcome::Good)
}

/// Parses the name of a site: a host, with its port unless it is the default one.
fn site_name(typed: &str) -> anyhow::Result<SiteName> {
    let url = PageUrl::parse(&format!("http://{typed}/")).ok();
    let url = url.filter(|url| url.path_and_query() == "/");
    Ok(url.with_context(|| format!("--site: `{typed}` is no host name"))?.site())
}

fn run_simulation(global: &Global, args: &RefreshSimulateArgs) -> anyhow::Result<CommandOutcome> {
    if !(args.budget > 0.0 && args.budget.is_finite()) {
        bail!("--budget: {} is no positive number of visits per day", args.budget);
    }
    if args.longest.is_nan() || args.longest <= 0.0 {
        bail!("--longest: {} is no positive number of days", args.longest);
    }
    let policies: Vec<SimulatedPolicy> =
        args.policy.iter().map(|name| SimulatedPolicy::from_name(name.trim())).collect::<Result<_, _>>()?;
    let (trace, invalid) = match &args.trace {
        Some(file) => read_trace(global, file)?,
        None => match settings::stores(global)?.catalog()? {
            Some(catalog) => (Trace::from_catalog(&*catalog)?, 0),
            None => (Trace::default(), 0),
        },
    };
    if trace.pages().is_empty() {
        if args.from_library {
            console::print_message(global.quiet, "no page was fetched twice yet");
            return Ok(CommandOutcome::NothingFound);
        }
        bail!("the trace has no valid page");
    }
    let options = SimulationOptions { budget: args.budget, longest: args.longest };
    let mut results = Vec::new();
    for policy in policies {
        let figures = simulate(&trace, &options, &mut *policy.intervals(&trace, &options))?;
        results.push((policy.name(), figures));
    }
    if let Some(file) = &args.figure {
        std::fs::write(file, lag_figure(&results).as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let summary = trace.summary();
    if global.json {
        console::print_json(&to_json(&summary, args, invalid, &results))?;
    } else {
        print_table(&summary, args, &results)?;
    }
    Ok(if invalid == 0 { CommandOutcome::Good } else { CommandOutcome::PartlyBad })
}

/// A policy that can be simulated.
#[derive(Clone, Copy)]
enum SimulatedPolicy {
    Named(RefreshPolicyName),
    PaperGolden,
    Oracle,
}

impl SimulatedPolicy {
    fn from_name(name: &str) -> anyhow::Result<Self> {
        match name {
            "oracle" => Ok(Self::Oracle),
            "paper-golden" => Ok(Self::PaperGolden),
            _ => RefreshPolicyName::from_text(name).map(Self::Named).with_context(|| {
                format!(
                    "--policy: unknown policy `{name}`: expected {}, paper-golden or oracle",
                    RefreshPolicyName::expected()
                )
            }),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Named(name) => name.to_string(),
            Self::PaperGolden => "paper-golden".into(),
            Self::Oracle => "oracle".into(),
        }
    }

    fn intervals(self, trace: &Trace, options: &SimulationOptions) -> Box<dyn VisitIntervals> {
        let paper = |place| Box::new(PaperIntervals::new(trace, options, place));
        match self {
            Self::Named(RefreshPolicyName::Paper) => paper(InsertedVisit::Midpoint),
            Self::PaperGolden => paper(InsertedVisit::GoldenSection),
            Self::Named(name) => Box::new(LearnedIntervals::new(policy_by_name(name), trace, options)),
            Self::Oracle => Box::new(LearnedIntervals::oracle(trace, options)),
        }
    }
}

/// Reads a trace and returns it with the number of invalid lines, which are reported.
fn read_trace(global: &Global, file: &str) -> anyhow::Result<(Trace, u64)> {
    let input: Box<dyn BufRead> = if file == "-" {
        Box::new(io::stdin().lock())
    } else {
        let opened = File::open(file).and_then(|opened| match opened.metadata()?.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => Ok(opened),
        });
        Box::new(BufReader::with_capacity(256 << 10, opened.with_context(|| format!("cannot read {file}"))?))
    };
    let (mut reader, mut reported) = (TraceReader::default(), 0);
    reader
        .read(input, &mut |invalid| {
            reported += 1;
            if reported <= MAX_REPORTED {
                console::print_error(&format!("{file}: {invalid}"));
            }
        })
        .with_context(|| format!("cannot read {file}"))?;
    if reader.invalid > MAX_REPORTED {
        console::print_error(&format!("{file}: {} more invalid lines", reader.invalid - MAX_REPORTED));
    }
    if reader.changes_outside > 0 {
        let message =
            format!("{} changes lie outside the time of their page and are left out", reader.changes_outside);
        console::print_message(global.quiet, &message);
    }
    let invalid = reader.invalid;
    Ok((reader.into_trace(), invalid))
}

fn to_json(
    summary: &TraceSummary,
    args: &RefreshSimulateArgs,
    invalid: u64,
    results: &[(String, PolicyFigures)],
) -> serde_json::Value {
    let policies: Vec<serde_json::Value> = results
        .iter()
        .map(|(name, figures)| {
            let mut line = json!(figures);
            line["policy"] = json!(name);
            line
        })
        .collect();
    json!({
        "budget": args.budget,
        "trace": {
            "pages": summary.pages,
            "sites": summary.sites,
            "changes": summary.changes,
            "days": summary.days,
            "mean_rate": summary.mean_rate,
            "spread": summary.spread,
            "has_rates": summary.has_rates,
            "invalid_lines": invalid,
        },
        "policies": policies,
    })
}

fn print_table(
    summary: &TraceSummary,
    args: &RefreshSimulateArgs,
    results: &[(String, PolicyFigures)],
) -> anyhow::Result<()> {
    console::out!(
        "{} pages of {} sites, {} changes in {:.1} days; {} visits a day; spread of ln λ {:.2}{}",
        console::grouped(summary.pages as u64),
        console::grouped(summary.sites as u64),
        console::grouped(summary.changes as u64),
        summary.days,
        args.budget,
        summary.spread,
        if summary.has_rates { "" } else { " (estimated)" }
    );
    console::out!("");
    console::out!(
        "{:<13} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10} {:>10}",
        "policy",
        "mean lag",
        "relative",
        "p90 lag",
        "freshness",
        "useless",
        "longest",
        "visits"
    );
    let uniform = results.iter().find(|(name, _)| name == "uniform").map(|(_, figures)| figures.mean_lag);
    for (name, figures) in results {
        let relative = uniform.filter(|lag| *lag > 0.0).map_or_else(
            || "–".to_string(),
            |lag| format!("{:+.1} %", 100.0 * (figures.mean_lag / lag - 1.0)),
        );
        console::out!(
            "{:<13} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10} {:>10}",
            name,
            time(figures.mean_lag),
            relative,
            time(figures.p90_lag),
            format!("{:.1} %", 100.0 * figures.freshness),
            format!("{:.1} %", 100.0 * figures.useless_share),
            time(figures.longest_unvisited),
            console::grouped(figures.visits)
        );
    }
    Ok(())
}

/// Formats a number of seconds with its most suitable unit.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 2.0 * 86_400.0 => format!("{:.1} d", seconds / 86_400.0),
        _ if seconds >= 7_200.0 => format!("{:.1} h", seconds / 3_600.0),
        _ if seconds >= 120.0 => format!("{:.1} min", seconds / 60.0),
        _ => format!("{seconds:.1} s"),
    }
}

fn write_trace(args: &RefreshTraceArgs) -> anyhow::Result<CommandOutcome> {
    for (flag, number, range) in [
        ("days", args.days, 0.01..=36_500.0),
        ("rate", args.rate, 1e-6..=10_000.0),
        ("spread", args.spread, 0.0..=5.0),
        ("zipf", args.zipf, 0.0..=5.0),
    ] {
        if !range.contains(&number) {
            bail!("--{flag}: {number} is not between {} and {}", range.start(), range.end());
        }
    }
    let trace = SyntheticTrace {
        pages: args.pages,
        sites: args.sites,
        days: args.days,
        mean_rate: args.rate,
        spread: args.spread,
        zipf: args.zipf,
        law: match args.law {
            TraceLaw::Constant => ChangeLaw::Constant,
            TraceLaw::Bursty => ChangeLaw::Bursty,
            TraceLaw::Daily => ChangeLaw::Daily,
        },
        seed: args.seed,
    };
    match &args.out {
        None => trace.write(io::stdout().lock())?,
        Some(file) => {
            let created = File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
            trace.write(BufWriter::new(created))?;
        }
    }
    Ok(CommandOutcome::Good)
}
