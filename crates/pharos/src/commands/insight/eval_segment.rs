//! `pharos eval segment`: evaluates word segmentation against a manually segmented text.

use std::collections::HashSet;
use std::fs;
use std::time::Instant;

use anyhow::{Context as _, bail};
use pharos_text::dictionary::Dictionary;
use pharos_text::segment::evaluation::SegmentationScore;
use pharos_text::{is_han, normalise};
use serde::Serialize;

use crate::cli::{EvalSegmentArgs, Global};
use crate::commands::search::segment::{Models, Segmentation};
use crate::{CommandOutcome, console};

/// Results of one method.
#[derive(Serialize)]
struct MethodRow {
    method: String,
    precision: f64,
    recall: f64,
    f1: f64,
    /// Fraction of unknown words found.
    unknown_recall: Option<f64>,
    known_recall: Option<f64>,
    megabytes_per_second: f64,
}

#[derive(Serialize)]
struct SegmentReport {
    sentences: usize,
    words: usize,
    /// Fraction of unknown words in the text.
    unknown: Option<f64>,
    methods: Vec<MethodRow>,
}

pub(crate) fn run(global: &Global, args: &EvalSegmentArgs) -> anyhow::Result<CommandOutcome> {
    let shown = args.gold.display();
    let text = fs::read_to_string(&args.gold).with_context(|| format!("cannot read {shown}"))?;
    let gold: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    if gold.iter().all(Vec::is_empty) {
        bail!("{shown} contains no words: expected one sentence per line, words separated by spaces");
    }
    let known = match &args.known {
        Some(file) => {
            let words =
                fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            Some(words.split_whitespace().map(normalise).collect::<HashSet<String>>())
        }
        None => None,
    };
    let is_known = |word: &str| match &known {
        Some(words) => words.contains(&normalise(word)),
        // Numbers and punctuation are not in the dictionary but count as known.
        None => !word.contains(is_han) || Dictionary::base().contains(&normalise(word)),
    };
    let models = Models::load(&args.model, None)?;
    let modes = match &args.mode {
        Some(mode) => vec![Some(mode.as_str())],
        None => std::iter::once(None).chain(models.methods().into_iter().map(Some)).collect(),
    };

    let mut report = SegmentReport { sentences: gold.len(), words: 0, unknown: None, methods: Vec::new() };
    for mode in modes {
        let segmentation = Segmentation::new(mode, &models, None)?;
        let mut score = SegmentationScore::default();
        let (mut bytes, mut seconds) = (0, 0.0);
        for words in &gold {
            let sentence = words.concat();
            let started = Instant::now();
            let found = segmentation.words(&sentence);
            seconds += started.elapsed().as_secs_f64();
            bytes += sentence.len();
            score
                .add(words.iter().copied(), found.iter().copied(), is_known)
                .with_context(|| shown.to_string())?;
        }
        (report.words, report.unknown) = (score.gold_words(), score.unknown_rate());
        report.methods.push(MethodRow {
            method: mode.unwrap_or("default").to_string(),
            precision: score.precision(),
            recall: score.recall(),
            f1: score.f1(),
            unknown_recall: score.unknown_recall(),
            known_recall: score.known_recall(),
            megabytes_per_second: bytes as f64 / 1e6 / seconds.max(f64::EPSILON),
        });
    }
    if global.json {
        console::print_json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(CommandOutcome::Good)
}

fn print(report: &SegmentReport) -> anyhow::Result<()> {
    let part = |part: Option<f64>| part.map_or("-".into(), |part| format!("{part:.3}"));
    let unknown =
        report.unknown.map_or(String::new(), |part| format!(", {:.1} % of them unknown", part * 100.0));
    console::out!("{} sentences, {} words{unknown}", report.sentences, report.words);
    console::out!(
        "{:<14} {:>6} {:>6} {:>6} {:>8} {:>6} {:>7}",
        "",
        "P",
        "R",
        "F1",
        "unknown",
        "known",
        "MB/s"
    );
    for line in &report.methods {
        console::out!(
            "{:<14} {:>6.3} {:>6.3} {:>6.3} {:>8} {:>6} {:>7.1}",
            line.method,
            line.precision,
            line.recall,
            line.f1,
            part(line.unknown_recall),
            part(line.known_recall),
            line.megabytes_per_second
        );
    }
    Ok(())
}
