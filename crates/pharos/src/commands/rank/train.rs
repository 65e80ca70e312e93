//! `pharos rank train`: trains a ranking model.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context as _, bail};
use pharos_learn::ranking::files;
use pharos_learn::ranking::grid::{GridPoint, search};
use pharos_learn::ranking::train::{Algorithm, Trained, Training, train};
use serde::Serialize;

use super::read_data;
use crate::cli::{Global, RankTrainArgs};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console};

#[derive(Serialize)]
struct TrainOutput<'a> {
    model: String,
    out: String,
    queries: usize,
    rows: usize,
    features: usize,
    parameters: &'a BTreeMap<String, f64>,
    rounds: usize,
    measure: String,
    /// Figure on the validation data or on the queries held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    grid: Vec<GridPoint>,
    seconds: f64,
    /// Features of the largest weight with their shares.
    importance: Vec<(usize, f64)>,
}

pub(crate) fn run(global: &Global, args: &RankTrainArgs) -> anyhow::Result<CommandOutcome> {
    let algorithm: Algorithm = args.model.parse().map_err(|error| anyhow::anyhow!("--model: {error}"))?;
    let mut parameters = BTreeMap::new();
    for setting in &args.parameters {
        let (name, value) = split_setting(setting, "--set")?;
        parameters.insert(name.to_owned(), parse_number(value, "--set", setting)?);
    }
    let mut grid = Vec::new();
    for setting in &args.grid {
        let (name, values) = split_setting(setting, "--grid")?;
        let values: Result<Vec<f64>, _> =
            values.split(',').map(|value| parse_number(value, "--grid", setting)).collect();
        grid.push((name.to_owned(), values?));
    }
    if !(0.0..=0.5).contains(&args.holdout) {
        bail!("--holdout {}: expected a share from 0 to 0.5", args.holdout);
    }
    let data = read_data(&args.letor, &args.data)?;
    let valid = if args.valid.is_empty() { None } else { Some(read_data(&args.valid, &args.data)?) };
    let began = Instant::now();
    let (trained, points) = LongTask::run(|task| -> anyhow::Result<(Trained, Vec<GridPoint>)> {
        // The progress line belongs to this thread; training calls from it, too.
        let stop = task.stop().clone();
        let progress = |done: usize, total: usize, figure: Option<f64>| {
            let figure = figure.map_or(String::new(), |figure| format!(", validation {figure:.4}"));
            task.report_part(done as u64, total as u64, format!("round {done}{figure}")) && !*stop.borrow()
        };
        let training = Training {
            parameters,
            normalisation: args.normalise.parse().map_err(|error| anyhow::anyhow!("--normalise: {error}"))?,
            measure: args.measure.parse().map_err(|error| anyhow::anyhow!("--measure: {error}"))?,
            relevant_from: args.data.relevant_from,
            patience: args.patience.max(1),
            holdout: args.holdout,
            seed: args.seed,
            progress: &progress,
        };
        if grid.is_empty() {
            return Ok((train(algorithm, &training, &data, valid.as_ref())?, Vec::new()));
        }
        let folds = args.folds as usize;
        Ok(search(algorithm, &training, &grid, &data, valid.as_ref(), folds)?)
    })?;
    files::write(&args.out, &trained.model)
        .with_context(|| format!("the model was trained, but cannot be written to {}", args.out.display()))?;
    let mut importance: Vec<(usize, f64)> =
        trained.model.importance().into_iter().enumerate().filter(|(_, share)| *share > 0.0).collect();
    importance.sort_by(|a, b| b.1.total_cmp(&a.1));
    importance.truncate(20);
    let output = TrainOutput {
        model: algorithm.to_string(),
        out: args.out.display().to_string(),
        queries: data.queries().len(),
        rows: data.len(),
        features: data.features().saturating_sub(1),
        parameters: &trained.model.parameters,
        rounds: trained.rounds,
        measure: args.measure.clone(),
        validation: trained.validation,
        grid: points,
        seconds: began.elapsed().as_secs_f64(),
        importance,
    };
    if global.json {
        console::print_json(&output)?;
    } else {
        print_text(&output)?;
    }
    Ok(CommandOutcome::Good)
}

fn print_text(output: &TrainOutput<'_>) -> anyhow::Result<()> {
    console::out!("{} queries, {} rows, {} features", output.queries, output.rows, output.features);
    for point in &output.grid {
        let values: Vec<String> =
            point.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        console::out!("  {:<40} {} {:.4}", values.join(" "), output.measure, point.figure);
    }
    let rounds = if output.rounds > 0 { format!(", {} rounds", output.rounds) } else { String::new() };
    console::out!("{}{rounds}, {:.1} s", output.model, output.seconds);
    if let Some(figure) = output.validation {
        console::out!("validation {} {figure:.4}", output.measure);
    }
    let first = output.importance.iter().take(10);
    let features: Vec<String> =
        first.map(|(feature, share)| format!("{feature} ({:.0} %)", share * 100.0)).collect();
    console::out!("most important features: {}", features.join(", "));
    console::out!("wrote {}", output.out);
    Ok(())
}

fn split_setting<'s>(setting: &'s str, option: &str) -> anyhow::Result<(&'s str, &'s str)> {
    let (name, value) =
        setting.split_once('=').with_context(|| format!("{option} {setting}: expected name=value"))?;
    Ok((name.trim(), value.trim()))
}

fn parse_number(value: &str, option: &str, setting: &str) -> anyhow::Result<f64> {
    match value.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => bail!("{option} {setting}: `{value}` is not a number"),
    }
}
