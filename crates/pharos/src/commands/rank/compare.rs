//! `pharos rank compare`: compares ranking models on the same judged results.

use anyhow::bail;
use pharos_learn::compare::{ExperimentRules, error_rate, paired_t_test, run_experiments};
use pharos_learn::ranking::evaluate::{EmptyQueries, RankingReport, evaluate};
use pharos_learn::ranking::files;
use pharos_learn::report::Measure;
use serde::Serialize;

use super::read_data;
use crate::cli::{Global, RankCompareArgs};
use crate::{CommandOutcome, console};

/// A model with its difference from the first.
#[derive(Serialize)]
struct Compared {
    model_file: String,
    model: String,
    #[serde(flatten)]
    report: RankingReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_first: Option<Difference>,
}

#[derive(Serialize)]
struct Difference {
    measure: String,
    /// This model minus the first.
    mean_difference: f64,
    t: f64,
    p: f64,
    is_significant: bool,
    /// Fraction of smaller query sets that would have given the opposite result.
    error_rate: f64,
}

pub(crate) fn run(global: &Global, args: &RankCompareArgs) -> anyhow::Result<CommandOutcome> {
    let empty: EmptyQueries = args.empty.parse().map_err(|error| anyhow::anyhow!("--empty: {error}"))?;
    let measure: Measure = args.measure.parse().map_err(|error| anyhow::anyhow!("--measure: {error}"))?;
    if args.model_file.len() < 2 {
        bail!("a comparison needs at least two models: repeat --model-file");
    }
    let data = read_data(&args.letor, &args.data)?;
    let mut compared: Vec<Compared> = Vec::new();
    for path in &args.model_file {
        let model = files::read(path)?;
        let report = evaluate(&data, &model.score(&data), args.data.relevant_from, empty);
        if report.mean(&args.measure).is_none() {
            bail!("--measure {}: not a measure of this report", args.measure);
        }
        let against_first = match compared.first() {
            None => None,
            Some(first) => {
                let (own, other) = (report.values(measure), first.report.values(measure));
                let test = paired_t_test(&own, &other)?;
                let outcomes = run_experiments(&own, &other, &ExperimentRules::default())?;
                Some(Difference {
                    measure: measure.to_string(),
                    mean_difference: test.mean_difference,
                    t: test.t,
                    p: test.p,
                    is_significant: test.is_significant(),
                    error_rate: error_rate(&[outcomes]),
                })
            }
        };
        let model_file = path.display().to_string();
        compared.push(Compared { model_file, model: model.algorithm, report, against_first });
    }
    if global.json {
        console::print_json(&compared)?;
    } else {
        print_table(&compared, empty)?;
    }
    Ok(CommandOutcome::Good)
}

fn print_table(compared: &[Compared], empty: EmptyQueries) -> anyhow::Result<()> {
    const COLUMNS: [&str; 7] = ["nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10", "P@10", "MAP", "ERR"];
    let width = compared.iter().map(|each| each.model_file.chars().count()).max().unwrap_or(0).max(5);
    if let Some(first) = compared.first() {
        let report = &first.report;
        console::out!(
            "{} queries; {} without a relevant document {empty}",
            report.queries,
            report.empty_queries
        );
    }
    let heads: Vec<String> = COLUMNS.iter().map(|column| format!("{column:>8}")).collect();
    console::out!("{:<width$} {:<18} {}", "model", "algorithm", heads.join(" "));
    for each in compared {
        let means: Vec<String> = COLUMNS
            .iter()
            .map(|column| format!("{:>8.4}", each.report.mean(column).unwrap_or_default()))
            .collect();
        console::out!("{:<width$} {:<18} {}", each.model_file, each.model, means.join(" "));
    }
    for each in compared {
        if let Some(difference) = &each.against_first {
            let Difference { measure, mean_difference, t, p, is_significant, error_rate } = difference;
            let verdict = match (is_significant, *mean_difference > 0.0) {
                (false, _) => "no significant difference from the first",
                (true, true) => "better than the first",
                (true, false) => "worse than the first",
            };
            console::out!(
                "{}: {measure} {mean_difference:+.4}, t = {t:.2}, p = {p:.4}: {verdict}; error rate {error_rate:.3}",
                each.model_file
            );
        }
    }
    Ok(())
}
