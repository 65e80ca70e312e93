//! `pharos classify …`: trains, tests and applies text classifiers.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use pharos_learn::classify::dataset::{ClassColumn, Dataset};
use pharos_learn::classify::evaluation::{Evaluation, RollUp, evaluate};
use pharos_learn::classify::features::selection::{SelectionMethod, SelectionSize};
use pharos_learn::classify::features::terms::TermKind;
use pharos_learn::classify::validation::{cross_validate, learning_curve};
use pharos_learn::classify::{
    Algorithm, ClassifierModel, DecisiveTerm, ThresholdStrategy, TrainingOptions, TrainingSummary,
};
use serde::Serialize;

use super::categories;
use super::input::{for_each_line, open, shown};
use crate::cli::{
    ClassifyCommand, ClassifyModel, ClassifyOptions, ClassifySelection, ClassifyTerms, ClassifyTestArgs,
    ClassifyTextArgs, ClassifyValidateArgs, Global,
};
use crate::{CommandOutcome, console};

/// Number of decisive terms of a class.
const DECISIVE_TERMS: usize = 10;

pub(crate) fn run(global: &Global, command: ClassifyCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        ClassifyCommand::Train(args) => match (&args.tsv, &args.out) {
            (Some(tsv), Some(out)) => train(global, tsv, out, &args.options),
            _ => categories::train(global, &options(&args.options)?, args.min_confidence, args.deploy),
        },
        ClassifyCommand::Test(args) => test(global, &args),
        ClassifyCommand::Validate(args) => validate(global, &args),
        ClassifyCommand::Text(args) => classify_lines(global, &args),
        of_data_directory => categories::run(global, of_data_directory),
    }
}

/// Result of the training.
#[derive(Serialize)]
struct TrainingReport<'a> {
    model: &'static str,
    classes: usize,
    multi_label: bool,
    #[serde(flatten)]
    summary: &'a TrainingSummary,
    model_bytes: usize,
    seconds: f64,
}

fn train(global: &Global, tsv: &Path, out: &Path, given: &ClassifyOptions) -> anyhow::Result<CommandOutcome> {
    let options = options(given)?;
    let data = read(global, tsv, class_column(given), &[])?;
    let start = Instant::now();
    let model = ClassifierModel::train(&data, &options).context(shown(tsv))?;
    let bytes = model.to_bytes().len();
    model.save(out)?;
    let report = TrainingReport {
        model: model.algorithm().name(),
        classes: model.classes().len(),
        multi_label: model.separator().is_some(),
        summary: model.summary(),
        model_bytes: bytes,
        seconds: start.elapsed().as_secs_f64(),
    };
    if global.json {
        console::print_json(&report)?;
        return Ok(CommandOutcome::Good);
    }
    let TrainingSummary { examples, empty, contradictory, features, held_out } = *report.summary;
    console::out!(
        "{} texts, {} classes, {} features; {} in {:.1} s",
        console::grouped(examples as u64),
        console::grouped(report.classes as u64),
        console::grouped(features as u64),
        console::bytes(bytes as u64),
        report.seconds
    );
    if empty > 0 {
        console::out!("texts without a known term, not used: {empty}");
    }
    if contradictory > 0 {
        console::out!("texts that occur with different classes: {contradictory}");
    }
    if let Some(results) = held_out {
        console::out!(
            "held-out texts: accuracy {:.4}, micro F1 {:.4}, macro F1 {:.4} ({} texts)",
            results.accuracy,
            results.micro_f1,
            results.macro_f1,
            results.examples
        );
    }
    Ok(CommandOutcome::Good)
}

fn test(global: &Global, args: &ClassifyTestArgs) -> anyhow::Result<CommandOutcome> {
    let model = ClassifierModel::load(&args.model_file)?;
    let column = model.separator().map_or(ClassColumn::Single, ClassColumn::Separated);
    let data = read(global, &args.tsv, column, model.classes())?;
    if data.examples.is_empty() {
        bail!("{}: no text with a class: expected lines with a text, a tab and a class", shown(&args.tsv));
    }
    let texts: Vec<&str> = data.examples.iter().map(|example| example.text.as_str()).collect();
    let start = Instant::now();
    let assigned = model.classify_all(&texts);
    let seconds = start.elapsed().as_secs_f64();
    let right = data.examples.iter().map(|example| example.classes.as_slice());
    let pairs = right.zip(assigned.iter().map(Vec::as_slice));
    let mut evaluation = if args.top {
        let tops = RollUp::new(&data.classes);
        let rolled: Vec<(Vec<u32>, Vec<u32>)> =
            pairs.map(|(right, assigned)| (tops.apply(right), tops.apply(assigned))).collect();
        evaluate(&tops.names, rolled.iter().map(|(right, assigned)| (right.as_slice(), assigned.as_slice())))
    } else {
        evaluate(&data.classes, pairs)
    };
    evaluation.confusions.truncate(args.confusions);
    print_evaluation(global, &evaluation)?;
    let rate = texts.len() as f64 / seconds.max(1e-9);
    console::print_message(
        global.quiet,
        &format!("classified in {seconds:.2} s, {} texts per second", console::grouped(rate as u64)),
    );
    Ok(CommandOutcome::Good)
}

fn validate(global: &Global, args: &ClassifyValidateArgs) -> anyhow::Result<CommandOutcome> {
    let options = options(&args.options)?;
    let data = read(global, &args.tsv, class_column(&args.options), &[])?;
    if args.curve.is_empty() {
        let evaluation =
            cross_validate(&data, &options, usize::from(args.folds)).context(shown(&args.tsv))?;
        print_evaluation(global, &evaluation)?;
        return Ok(CommandOutcome::Good);
    }
    let points = learning_curve(&data, &options, &args.curve).context(shown(&args.tsv))?;
    if global.json {
        console::print_json(&points)?;
        return Ok(CommandOutcome::Good);
    }
    console::out!("{:>10} {:>9} {:>9} {:>9}", "per class", "texts", "micro F1", "macro F1");
    for point in points {
        console::out!(
            "{:>10} {:>9} {:>9.4} {:>9.4}",
            point.per_class,
            point.examples,
            point.micro_f1,
            point.macro_f1
        );
    }
    Ok(CommandOutcome::Good)
}

/// A classified text.
#[derive(Serialize)]
struct ClassifiedText<'a> {
    text: &'a str,
    classes: Vec<AssignedClass<'a>>,
}

#[derive(Serialize)]
struct AssignedClass<'a> {
    class: &'a str,
    confidence: f32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    terms: Vec<DecisiveTerm>,
}

fn classify_lines(global: &Global, args: &ClassifyTextArgs) -> anyhow::Result<CommandOutcome> {
    let model = ClassifierModel::load(&args.model_file)?;
    let mut out = io::stdout().lock();
    let mut found = false;
    for_each_line(&args.file, |text| {
        let assigned = |prediction: pharos_learn::classify::Prediction| AssignedClass {
            class: &model.classes()[prediction.class as usize],
            confidence: prediction.confidence,
            terms: if args.explain {
                model.decisive_terms(text, prediction.class, DECISIVE_TERMS)
            } else {
                Vec::new()
            },
        };
        let classes: Vec<AssignedClass<'_>> = model.classify(text).into_iter().map(assigned).collect();
        found |= !classes.is_empty();
        let classified = ClassifiedText { text, classes };
        if global.json {
            serde_json::to_writer(&mut out, &classified).map_err(io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        let shown = |class: &AssignedClass<'_>| {
            let terms =
                class.terms.iter().map(|t| format!("{} {:+.3}", console::printable(&t.term), t.contribution));
            let terms: Vec<String> = terms.collect();
            let terms = if terms.is_empty() { String::new() } else { format!(" [{}]", terms.join(", ")) };
            format!("{} {:.2}{terms}", console::printable(class.class), class.confidence)
        };
        let classes: Vec<String> = classified.classes.iter().map(shown).collect();
        writeln!(out, "{}\t{}", console::printable(text), classes.join("; "))?;
        Ok(())
    })?;
    Ok(if found { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn print_evaluation(global: &Global, evaluation: &Evaluation) -> anyhow::Result<()> {
    if global.json {
        return console::print_json(evaluation);
    }
    console::out!(
        "{} texts: accuracy {:.4}, micro F1 {:.4}, macro F1 {:.4}",
        console::grouped(evaluation.examples),
        evaluation.accuracy,
        evaluation.micro_f1,
        evaluation.macro_f1
    );
    console::out!("{:>9} {:>9} {:>9} {:>9} {:>9}  class", "precision", "recall", "F1", "texts", "assigned");
    for class in &evaluation.classes {
        console::out!(
            "{:>9.4} {:>9.4} {:>9.4} {:>9} {:>9}  {}",
            class.measures.precision,
            class.measures.recall,
            class.measures.f1,
            class.support,
            class.assigned,
            console::printable(&class.class)
        );
    }
    if !evaluation.confusions.is_empty() {
        console::out!("confusions (right → assigned):");
    }
    for confusion in &evaluation.confusions {
        let (right, assigned) =
            (console::printable(&confusion.right), console::printable(&confusion.assigned));
        console::out!("{:>9} {right} → {assigned}", confusion.count);
    }
    Ok(())
}

/// Reads texts with their classes, and reports what was skipped.
fn read(global: &Global, path: &Path, column: ClassColumn, known: &[String]) -> anyhow::Result<Dataset> {
    let data =
        Dataset::read(open(path)?, column, known).with_context(|| format!("cannot read {}", shown(path)))?;
    let skipped = data.skipped;
    if skipped.header > 0 {
        console::print_message(global.quiet, "the first line contains column names");
    }
    if skipped.without_class + skipped.too_long > 0 {
        let message = format!(
            "{}: {} lines without a class and {} too long lines skipped",
            shown(path),
            skipped.without_class,
            skipped.too_long
        );
        console::print_message(global.quiet, &message);
    }
    if let (Some(separator), ClassColumn::Detect) = (data.separator, column) {
        console::print_message(
            global.quiet,
            &format!("texts have several classes, separated by `{separator}`"),
        );
    }
    if known.is_empty() && data.examples.len() >= 20 && data.classes.len() * 2 > data.examples.len() {
        let message = format!(
            "{} classes in {} texts: the class must be in the last column",
            data.classes.len(),
            data.examples.len()
        );
        console::print_message(global.quiet, &message);
    }
    Ok(data)
}

fn class_column(args: &ClassifyOptions) -> ClassColumn {
    match (args.multi_label, args.single_label) {
        (Some(separator), _) => ClassColumn::Separated(separator),
        (None, true) => ClassColumn::Single,
        (None, false) => ClassColumn::Detect,
    }
}

fn options(args: &ClassifyOptions) -> anyhow::Result<TrainingOptions> {
    let algorithm = match args.model {
        ClassifyModel::Linear => Algorithm::Linear,
        ClassifyModel::Svm => Algorithm::Svm,
        ClassifyModel::BayesPlain => Algorithm::BayesPlain,
        ClassifyModel::Bayes => Algorithm::Bayes,
        ClassifyModel::BayesComplement => Algorithm::BayesComplement,
        ClassifyModel::Rocchio => Algorithm::Rocchio,
        ClassifyModel::Knn => Algorithm::Knn,
        ClassifyModel::KnnEuclid => Algorithm::KnnEuclid,
        ClassifyModel::KnnCanberra => Algorithm::KnnCanberra,
        ClassifyModel::KnnHierarchical => Algorithm::KnnHierarchical,
        ClassifyModel::Tree => Algorithm::Tree,
    };
    let terms = args.terms.map(|terms| match terms {
        ClassifyTerms::Words => TermKind::Words,
        ClassifyTerms::NGrams => TermKind::NGrams,
    });
    let selection = match args.select {
        None => None,
        Some(method) => Some((selection_method(method), selection_size(&args.features)?)),
    };
    if !(args.cost > 0.0 && args.cost.is_finite()) {
        bail!("--cost must be above 0, not {}", args.cost);
    }
    if args.k == 0 {
        bail!("--k must be at least 1");
    }
    let thresholds = strategy(&args.thresholds)?;
    Ok(TrainingOptions {
        algorithm,
        terms,
        selection,
        thresholds,
        k: args.k,
        cost: args.cost,
        seed: args.seed,
    })
}

fn selection_method(method: ClassifySelection) -> SelectionMethod {
    match method {
        ClassifySelection::Df => SelectionMethod::Df,
        ClassifySelection::Ig => SelectionMethod::Ig,
        ClassifySelection::Mi => SelectionMethod::Mi,
        ClassifySelection::Chi => SelectionMethod::Chi,
        ClassifySelection::Ts => SelectionMethod::Ts,
    }
}

fn selection_size(text: &str) -> anyhow::Result<SelectionSize> {
    let size = match text.strip_suffix('%') {
        Some(share) => share
            .trim()
            .parse()
            .ok()
            .filter(|share| (0.0..=100.0).contains(share))
            .map(|share: f64| SelectionSize::Share(share / 100.0)),
        None => text.parse().ok().filter(|&number| number > 0).map(SelectionSize::Number),
    };
    size.with_context(|| format!("--features must be a number or a share such as 15%, not `{text}`"))
}

fn strategy(text: &str) -> anyhow::Result<ThresholdStrategy> {
    let strategy = match text.split_once('=') {
        None if text == "auto" => Some(ThresholdStrategy::Auto),
        None if text == "scut" => Some(ThresholdStrategy::SCut),
        None if text == "rcut" => Some(ThresholdStrategy::RCut(1)),
        None if text == "pcut" => Some(ThresholdStrategy::PCut(1.0)),
        Some(("rcut", k)) => k.parse().ok().filter(|&k| k > 0).map(ThresholdStrategy::RCut),
        Some(("pcut", x)) => {
            x.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0).map(ThresholdStrategy::PCut)
        }
        _ => None,
    };
    strategy.with_context(|| format!("--thresholds must be auto, rcut=K, pcut=X or scut, not `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_strategies_are_parsed_or_refused() {
        assert_eq!(selection_size("15%").unwrap(), SelectionSize::Share(0.15));
        assert_eq!(selection_size("300").unwrap(), SelectionSize::Number(300));
        assert!(["", "0", "-1", "101%", "NaN%", "x"].iter().all(|text| selection_size(text).is_err()));
        assert_eq!(strategy("rcut=3").unwrap(), ThresholdStrategy::RCut(3));
        assert_eq!(strategy("pcut=1.5").unwrap(), ThresholdStrategy::PCut(1.5));
        assert_eq!(strategy("scut").unwrap(), ThresholdStrategy::SCut);
        assert!(
            ["rcut=0", "pcut=-1", "pcut=inf", "best", "scut=1"].iter().all(|text| strategy(text).is_err())
        );
    }
}
