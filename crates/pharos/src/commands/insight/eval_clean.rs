//! `pharos eval clean`: evaluates page cleaning against manually marked text.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use pharos_core::PageUrl;
use pharos_core::config::CleanConfig;
use pharos_html::cleaning::TableLimits;
use pharos_html::cleaning::evaluation::{
    CleaningOutcome as Effect, ExtractionScore, Metric, classify_outcome, line_accuracy,
};
use pharos_html::{CleaningScope, ExtractOptions, RuleSet};
use serde::{Deserialize, Serialize};

use crate::cli::{EvalCleanArgs, Global};
use crate::commands::search::clean;
use crate::{CommandOutcome, console, settings};

/// Manually marked content of a page.
#[derive(Deserialize)]
struct GoldPage {
    text: String,
    /// Test set, which determines the metric; empty for Chinese pages.
    #[serde(default)]
    set: String,
    #[serde(default, rename = "type")]
    page_type: String,
}

/// Evaluation of one page.
#[derive(Serialize)]
struct PageEvaluation {
    id: String,
    set: String,
    f1: f64,
    precision: f64,
    recall: f64,
    #[serde(skip)]
    score: ExtractionScore,
    #[serde(skip)]
    effect: Effect,
    /// Fraction of correctly classified lines, if lines are classified.
    verdicts: Option<f64>,
}

/// One row of the table.
#[derive(Serialize)]
struct SetRow {
    set: String,
    pages: usize,
    f1: f64,
    low: f64,
    high: f64,
    correct: usize,
    wrong: usize,
    no_effect: usize,
    verdicts: Option<f64>,
}

#[derive(Serialize)]
struct CleanReport {
    sets: Vec<SetRow>,
    pages_per_second: f64,
    bytes_before: usize,
    bytes_after: usize,
    pages: Vec<PageEvaluation>,
}

pub(crate) fn run(global: &Global, args: &EvalCleanArgs) -> anyhow::Result<CommandOutcome> {
    let path = args.dir.join("gold.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let gold: BTreeMap<String, GoldPage> =
        serde_json::from_str(&text).with_context(|| format!("invalid gold data in {}", path.display()))?;
    if gold.is_empty() {
        bail!("{} contains no pages", path.display());
    }
    let report = evaluate(args, &settings::load(global)?.clean, &gold)?;
    if global.json {
        console::print_json(&report)?;
    } else {
        print(&report, args.worst)?;
    }
    Ok(CommandOutcome::Good)
}

fn evaluate(
    args: &EvalCleanArgs,
    config: &CleanConfig,
    gold: &BTreeMap<String, GoldPage>,
) -> anyhow::Result<CleanReport> {
    let name = args.rules.as_deref().unwrap_or(&config.rules);
    let voting = if name == "tables" { "pharos" } else { name };
    let rules = RuleSet::named(voting, |path| fs::read_to_string(path))?;
    let limits = TableLimits {
        width_pixels: config.delta1 as f32,
        width_percent: config.delta2 as f32,
        height_percent: config.delta3 as f32,
        ..TableLimits::default()
    };
    let options = ExtractOptions { rules: &rules, scope: CleaningScope::Body, ..ExtractOptions::default() };
    let url = PageUrl::parse("http://localhost/")?;
    let (mut pages, mut took) = (Vec::new(), Duration::ZERO);
    let (mut before, mut after) = (0, 0);
    let mut by_set: BTreeMap<String, (Metric, Vec<usize>)> = BTreeMap::new();
    for (id, truth) in gold {
        let mut bytes = Vec::new();
        clean::read_file(&args.dir.join("html").join(format!("{id}.html.gz")), &mut bytes)?;
        let started = Instant::now();
        let text = match name {
            "tables" => pharos_html::topic_by_tables(&pharos_html::decode_body(&bytes), &limits),
            _ => pharos_html::extract_page_with(&url, Some("text/html"), &bytes, &options).text,
        };
        took += started.elapsed();
        let visible = pharos_html::skim(&url, Some("text/html"), &bytes).text;
        (before, after) = (before + visible.len(), after + text.len());
        // The table algorithm does not classify lines.
        let explanation = (name != "tables")
            .then(|| pharos_html::explain_cleaning(&url, Some("text/html"), &bytes, options.rules));
        let metric = metric(&truth.set);
        let score = metric.score(&text, &truth.text);
        let set = if truth.set.is_empty() { "zh".to_string() } else { truth.set.clone() };
        by_set.entry(set.clone()).or_insert((metric, Vec::new())).1.push(pages.len());
        if metric == Metric::Words {
            by_set
                .entry(format!("{set} {}", truth.page_type))
                .or_insert((metric, Vec::new()))
                .1
                .push(pages.len());
        }
        pages.push(PageEvaluation {
            id: id.clone(),
            set,
            f1: score.f1(),
            precision: score.precision,
            recall: score.recall,
            score,
            effect: classify_outcome(score, text.len(), visible.len()),
            verdicts: explanation.map(|explanation| line_accuracy(&explanation, &truth.text)),
        });
    }
    let sets =
        by_set.into_iter().map(|(set, (metric, members))| set_row(set, metric, &members, &pages)).collect();
    let pages_per_second = pages.len() as f64 / took.as_secs_f64();
    pages.sort_by(|a, b| a.f1.total_cmp(&b.f1));
    Ok(CleanReport { sets, pages_per_second, bytes_before: before, bytes_after: after, pages })
}

/// Returns the metric of a test set, as defined by the README of the data.
fn metric(set: &str) -> Metric {
    match set {
        "aeb" => Metric::WordShingles,
        _ if set.starts_with("wcxb") => Metric::Words,
        _ => Metric::CharShingles,
    }
}

fn set_row(set: String, metric: Metric, members: &[usize], pages: &[PageEvaluation]) -> SetRow {
    let scores: Vec<ExtractionScore> = members.iter().map(|m| pages[*m].score).collect();
    let (low, high) = metric.interval(&scores);
    let count = |effect: Effect| members.iter().filter(|m| pages[**m].effect == effect).count();
    SetRow {
        set,
        pages: members.len(),
        f1: metric.mean(&scores),
        low,
        high,
        correct: count(Effect::Correct),
        wrong: count(Effect::Wrong),
        no_effect: count(Effect::NoEffect),
        verdicts: members
            .iter()
            .map(|m| pages[*m].verdicts)
            .sum::<Option<f64>>()
            .map(|all| all / members.len() as f64),
    }
}

fn print(report: &CleanReport, worst: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<20} {:>5} {:>7} {:>16} {:>8} {:>6} {:>10} {:>14}",
        "set", "pages", "F1", "95 % interval", "correct", "wrong", "no effect", "correct lines"
    )?;
    for l in &report.sets {
        writeln!(
            out,
            "{:<20} {:>5} {:>7.4} {:>16} {:>8} {:>6} {:>10} {:>14}",
            l.set,
            l.pages,
            l.f1,
            format!("{:.3} to {:.3}", l.low, l.high),
            l.correct,
            l.wrong,
            l.no_effect,
            l.verdicts.map_or_else(String::new, |part| format!("{:.1} %", 100.0 * part))
        )?;
    }
    writeln!(
        out,
        "\n{:.0} pages/s; {:.1} MB of text before, {:.1} MB after",
        report.pages_per_second,
        report.bytes_before as f64 / 1e6,
        report.bytes_after as f64 / 1e6
    )?;
    if worst > 0 {
        writeln!(out, "\nworst pages          F1  precision  recall")?;
    }
    for page in report.pages.iter().take(worst) {
        writeln!(
            out,
            "{:<6} {:.3} {:>6.3} {:>6.3}  {}",
            page.set, page.f1, page.precision, page.recall, page.id
        )?;
    }
    Ok(())
}
