//! `pharos rank clicks`: trains a click model on sessions.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use pharos_learn::ranking::clicks::{
    ClickFigures, ClickModel, ClickModelKind, Sessions, evaluate_clicks, inverse_propensity_weights,
};
use serde::Serialize;

use crate::cli::{Global, RankClicksArgs};
use crate::{CommandOutcome, console};

/// Largest weight of a click, which bounds the variance of counterfactual estimates.
const LARGEST_WEIGHT: f64 = 20.0;

#[derive(Serialize)]
struct ClicksOutput {
    model: String,
    sessions: usize,
    pairs: usize,
    train: ClickFigures,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<ClickFigures>,
    /// Probability that a position is examined, relative to the first.
    propensities: Vec<f64>,
    /// Weight of a click on each position in counterfactual learning.
    weights: Vec<f64>,
}

pub(crate) fn run(global: &Global, args: &RankClicksArgs) -> anyhow::Result<CommandOutcome> {
    let kind: ClickModelKind = args.model.parse().map_err(|error| anyhow::anyhow!("--model: {error}"))?;
    let mut data = Sessions::default();
    read(&mut data, &args.sessions)?;
    if data.sessions.len() < args.least {
        bail!(
            "{} sessions are too few to estimate a click model: {} more are needed (--least)",
            data.sessions.len(),
            args.least - data.sessions.len()
        );
    }
    let model = ClickModel::train(kind, &data);
    let train = evaluate_clicks(&model, &data);
    let test = if args.test.is_empty() {
        None
    } else {
        // The pairs of training keep their numbers.
        let mut held_out = data.clone();
        held_out.sessions.clear();
        read(&mut held_out, &args.test)?;
        Some(evaluate_clicks(&model, &held_out))
    };
    let propensities = model.propensities(&data);
    if let Some(path) = &args.out {
        let write = || -> std::io::Result<()> {
            let mut out = BufWriter::new(File::create(path)?);
            for (number, (query, result)) in (0..).zip(&data.pairs) {
                writeln!(out, "{}\t{}\t{:.4}", plain(query), plain(result), model.relevance(number))?;
            }
            out.flush()
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
    }
    let weights = inverse_propensity_weights(&propensities, LARGEST_WEIGHT);
    let output = ClicksOutput {
        model: args.model.clone(),
        sessions: data.sessions.len(),
        pairs: data.pairs.len(),
        train,
        test,
        propensities,
        weights,
    };
    if global.json {
        console::print_json(&output)?;
    } else {
        print_text(&output)?;
    }
    Ok(CommandOutcome::Good)
}

fn read(sessions: &mut Sessions, paths: &[PathBuf]) -> anyhow::Result<()> {
    for path in paths {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        sessions.read(path, BufReader::new(file))?;
    }
    Ok(())
}

/// Replaces separators of columns and lines.
fn plain(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

fn print_text(output: &ClicksOutput) -> anyhow::Result<()> {
    console::out!(
        "{}: {} sessions, {} pairs of query and result",
        output.model,
        output.sessions,
        output.pairs
    );
    for (name, figures) in [("training", Some(&output.train)), ("test", output.test.as_ref())] {
        if let Some(figures) = figures {
            console::out!(
                "{name:<8} log-likelihood {:.4}, perplexity {:.4}",
                figures.log_likelihood,
                figures.perplexity
            );
        }
    }
    console::out!("position  propensity  weight");
    for (position, (propensity, weight)) in (1..).zip(output.propensities.iter().zip(&output.weights)) {
        console::out!("{position:>8}  {propensity:>10.4}  {weight:>6.2}");
    }
    Ok(())
}
