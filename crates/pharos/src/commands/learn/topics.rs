//! `pharos topics …`: learns topics of texts and applies them.

use std::io::{self, Write as _};
use std::time::Instant;

use anyhow::bail;
use pharos_learn::topics::corpus::{Corpus, CorpusLimits};
use pharos_learn::topics::gibbs::{GibbsParameters, sample};
use pharos_learn::topics::variational::{EmParameters, fit};
use pharos_learn::topics::{TopicModel, TopicShare};
use serde::Serialize;

use super::input::{for_each_line, shown};
use crate::cli::{Global, TopicsCommand, TopicsInferArgs, TopicsMethod, TopicsShowArgs, TopicsTrainArgs};
use crate::{CommandOutcome, console};

/// Maximum size of all texts of a training in bytes.
const MAX_BYTES: usize = 2 << 30;

/// One of so many texts is held out.
const HELD_OUT: usize = 10;

pub(crate) fn run(global: &Global, command: TopicsCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        TopicsCommand::Train(args) => train(global, &args),
        TopicsCommand::Show(args) => show(global, &args),
        TopicsCommand::Infer(args) => infer(global, &args),
    }
}

/// Result of the training.
#[derive(Serialize)]
struct TrainingReport {
    texts: usize,
    held_out: usize,
    words: usize,
    tokens: usize,
    topics: usize,
    /// Perplexity of the held-out texts; `None` if none has two known words.
    perplexity: Option<f64>,
    seconds: f64,
}

fn train(global: &Global, args: &TopicsTrainArgs) -> anyhow::Result<CommandOutcome> {
    for (name, value) in [("--alpha", args.alpha), ("--beta", args.beta), ("--tolerance", args.tolerance)] {
        if !(value > 0.0 && value.is_finite()) {
            bail!("{name} must be above 0, not {value}");
        }
    }
    let (mut texts, mut bytes) = (Vec::new(), 0);
    for_each_line(&args.file, |line| {
        bytes += line.len();
        if bytes > MAX_BYTES {
            bail!("the texts exceed {}: train on a part of them", console::bytes(MAX_BYTES as u64));
        }
        if !line.trim().is_empty() {
            texts.push(line.to_string());
        }
        Ok(())
    })?;
    let limits = CorpusLimits { words: args.words, min_texts: args.min_texts, ..CorpusLimits::default() };
    let mut corpus = Corpus::new(texts.iter().map(String::as_str), limits);
    if corpus.words.is_empty() {
        bail!(
            "{}: no word occurs in {} texts: use more texts or --min-texts",
            shown(&args.file),
            args.min_texts
        );
    }
    let mut held_out: Vec<Vec<u32>> = Vec::new();
    let mut place = 0;
    corpus.texts.retain_mut(|text| {
        place += 1;
        let is_held_out = place % HELD_OUT == 0;
        if is_held_out {
            held_out.push(std::mem::take(text));
        }
        !is_held_out
    });
    let start = Instant::now();
    let (topics, alpha, beta, seed) = (usize::from(args.topics), args.alpha, args.beta, args.seed);
    let model = match args.method {
        TopicsMethod::Gibbs => {
            let passes = args.passes.unwrap_or(GibbsParameters::default().passes);
            sample(&corpus, GibbsParameters { topics, alpha, beta, passes, seed })
        }
        TopicsMethod::Em => {
            let iterations = args.passes.unwrap_or(EmParameters::default().iterations);
            let tolerance = args.tolerance;
            fit(&corpus, EmParameters { topics, alpha, beta, iterations, tolerance, seed })
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    model.save(&args.out)?;
    let tested: Vec<&[u32]> = held_out.iter().map(Vec::as_slice).collect();
    let perplexity = Some(model.perplexity(&tested)).filter(|perplexity| perplexity.is_finite());
    let report = TrainingReport {
        texts: corpus.texts.len(),
        held_out: held_out.len(),
        words: corpus.words.len(),
        tokens: corpus.texts.iter().map(Vec::len).sum(),
        topics: model.topic_count(),
        perplexity,
        seconds,
    };
    if global.json {
        console::print_json(&report)?;
        return Ok(CommandOutcome::Good);
    }
    console::out!(
        "{} topics from {} texts with {} words ({} different) in {seconds:.1} s",
        report.topics,
        console::grouped(report.texts as u64),
        console::grouped(report.tokens as u64),
        console::grouped(report.words as u64)
    );
    if let Some(perplexity) = perplexity {
        console::out!("perplexity of {} held-out texts: {perplexity:.1}", report.held_out);
    }
    Ok(CommandOutcome::Good)
}

/// A topic with its words.
#[derive(Serialize)]
struct ShownTopic {
    topic: usize,
    share: f64,
    words: Vec<ShownWord>,
}

#[derive(Serialize)]
struct ShownWord {
    word: String,
    probability: f64,
}

fn show(global: &Global, args: &TopicsShowArgs) -> anyhow::Result<CommandOutcome> {
    let model = TopicModel::load(&args.model)?;
    let shares = model.topic_shares().into_iter().enumerate();
    let topic = |(topic, share)| {
        let words = model.top_words(topic, args.words).into_iter();
        ShownTopic {
            topic,
            share,
            words: words.map(|(word, probability)| ShownWord { word, probability }).collect(),
        }
    };
    let mut topics: Vec<ShownTopic> = shares.map(topic).collect();
    topics.sort_by(|a, b| b.share.total_cmp(&a.share));
    if global.json {
        console::print_json(&topics)?;
        return Ok(CommandOutcome::Good);
    }
    for topic in topics {
        let words: Vec<String> = topic.words.iter().map(|word| console::printable(&word.word)).collect();
        console::out!("{:>5} {:>5.1} %  {}", topic.topic, 100.0 * topic.share, words.join(" "));
    }
    Ok(CommandOutcome::Good)
}

/// A text with its topics.
#[derive(Serialize)]
struct InferredText<'a> {
    text: &'a str,
    topics: Vec<TopicShare>,
}

fn infer(global: &Global, args: &TopicsInferArgs) -> anyhow::Result<CommandOutcome> {
    let model = TopicModel::load(&args.model)?;
    let mut found = false;
    let mut out = io::stdout().lock();
    for_each_line(&args.file, |text| {
        let mut topics = model.infer(text);
        topics.truncate(args.topics);
        found |= !topics.is_empty();
        if global.json {
            serde_json::to_writer(&mut out, &InferredText { text, topics }).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            let topics: Vec<String> = topics.iter().map(|t| format!("{} {:.2}", t.topic, t.share)).collect();
            writeln!(out, "{}\t{}", console::printable(text), topics.join("; "))?;
        }
        Ok(())
    })?;
    Ok(if found { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}
