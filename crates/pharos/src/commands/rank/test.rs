//! `pharos rank test`: evaluates a ranking model.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::time::Instant;

use anyhow::Context as _;
use pharos_learn::ranking::evaluate::{EmptyQueries, QueryFigures, RankingReport, evaluate, order_by_score};
use pharos_learn::ranking::files;
use pharos_learn::run::{Rankings, write_run};
use serde::Serialize;

use super::read_data;
use crate::cli::{Global, RankTestArgs};
use crate::{CommandOutcome, console};

#[derive(Serialize)]
struct TestOutput<'a> {
    model: &'a str,
    #[serde(flatten)]
    report: &'a RankingReport,
    /// Time of scoring, without reading.
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<&'a [QueryFigures]>,
}

pub(crate) fn run(global: &Global, args: &RankTestArgs) -> anyhow::Result<CommandOutcome> {
    let empty: EmptyQueries = args.empty.parse().map_err(|error| anyhow::anyhow!("--empty: {error}"))?;
    let model = files::read(&args.model_file)?;
    let data = read_data(&args.letor, &args.data)?;
    let began = Instant::now();
    let scores = model.score(&data);
    let seconds = began.elapsed().as_secs_f64();
    if let Some(path) = &args.scores {
        let write = || -> std::io::Result<()> {
            let mut out = BufWriter::new(File::create(path)?);
            for score in &scores {
                writeln!(out, "{score}")?;
            }
            out.flush()
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.run {
        let ranked = data.queries().iter().map(|query| {
            let order = order_by_score(&scores[query.rows.clone()]);
            let documents = order.into_iter().map(|place| data.document(query.rows.start + place));
            (query.id.to_string(), documents.collect())
        });
        write_run(path, &ranked.collect::<Rankings>(), &model.algorithm)?;
    }
    let report = evaluate(&data, &scores, args.data.relevant_from, empty);
    if global.json {
        let per_query = args.per_query.then_some(&report.per_query[..]);
        console::print_json(&TestOutput { model: &model.algorithm, report: &report, seconds, per_query })?;
    } else {
        print_text(&report)?;
    }
    Ok(if report.empty_queries == report.queries {
        CommandOutcome::NothingFound
    } else {
        CommandOutcome::Good
    })
}

fn print_text(report: &RankingReport) -> anyhow::Result<()> {
    console::out!(
        "{} queries, {} rows; {} queries without a relevant document {}",
        report.queries,
        report.rows,
        report.empty_queries,
        report.empty
    );
    let depths = (1..=10).map(|n| format!("nDCG@{n}"));
    let others = ["P@1", "P@3", "P@5", "P@10", "MAP", "MRR", "ERR"].map(str::to_owned);
    for name in depths.chain(others) {
        let mean = report.mean(&name).unwrap_or_default();
        console::out!("{name:<8} {mean:.4}");
    }
    console::out!(
        "discount of nDCG at position j: 1/log2(1+j); relevant from grade {}",
        report.relevant_from
    );
    Ok(())
}
