//! `pharos segment`: word segmentation line by line; and `pharos segment train`.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use pharos_text::dictionary::Dictionary;
use pharos_text::keywords::{KeywordOptions, extract_keywords};
use pharos_text::segment::smoothing::Smoothing;
use pharos_text::segment::tagger::{Corpus, Tagger, Training};
use pharos_text::segment::{
    BigramModel, Hmm, SegmentationExplanation, SegmentationMethod, Segmenter, SegmenterResources,
    TrainedModel, explain, segmenter,
};
use pharos_text::{Analyser, normalise, pinyin, segment_with};

use crate::cli::{Global, SegmentArgs, SegmentCommand, SegmentTrainArgs};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console};

/// Name of the method that is not dictionary-based.
pub(crate) const TAGGER: &str = "tagger";

/// Frequency of words without corpus counts in the base dictionary.
const DEFAULT_FREQUENCY: u32 = 3;

/// Maximum size of a model file, which is read completely.
const MAX_MODEL_BYTES: u64 = 1 << 30;

pub(crate) fn run(global: &Global, args: SegmentArgs) -> anyhow::Result<CommandOutcome> {
    if let Some(SegmentCommand::Train(args)) = &args.command {
        return train(global, args);
    }
    let models = Models::load(args.model.as_slice(), args.smoothing.as_deref())?;
    let segmentation = Segmentation::new(args.mode.as_deref(), &models, args.max_len)?;
    let input = open_input(&args.input)?;
    if let Some(count) = args.keywords {
        return print_keywords(global, input, count);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in input.split(b'\n') {
        let line = line?;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\r');
        if args.pinyin {
            let read = pinyin::pinyin(text).map(|syllable| syllable.reading.unwrap_or(syllable.text));
            let read: Vec<&str> = read.map(str::trim).filter(|syllable| !syllable.is_empty()).collect();
            writeln!(out, "{}", read.join(" "))?;
            continue;
        }
        if args.explain {
            segmentation.explain(text, global.json, &mut out)?;
            continue;
        }
        let words = segmentation.words(text);
        if global.json {
            serde_json::to_writer(&mut out, &words).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", words.join("  "))?;
        }
    }
    out.flush()?;
    Ok(CommandOutcome::Good)
}

/// Opens the input: standard input, a file, or the text itself.
fn open_input(arguments: &[String]) -> anyhow::Result<Box<dyn BufRead>> {
    let text = arguments.join(" ");
    if text.is_empty() || text == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    if Path::new(&text).is_file() || is_file_name(&text) {
        let file = File::open(&text).with_context(|| format!("cannot read `{text}`"))?;
        return Ok(Box::new(BufReader::new(file)));
    }
    Ok(Box::new(io::Cursor::new(text.into_bytes())))
}

/// Returns `true` if a text can only be meant as the name of a file: ASCII with a directory or an extension, no spaces.
fn is_file_name(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str());
    let has_extension =
        extension.is_some_and(|e| (1..=5).contains(&e.len()) && e.bytes().all(|b| b.is_ascii_alphanumeric()));
    text.is_ascii() && !text.contains(char::is_whitespace) && (text.contains('/') || has_extension)
}

/// Maximum size of a text for keyword extraction; the rest is ignored.
const MAX_TEXT_BYTES: u64 = 16 << 20;

fn print_keywords(global: &Global, input: impl Read, count: usize) -> anyhow::Result<CommandOutcome> {
    let mut bytes = Vec::new();
    input.take(MAX_TEXT_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let found = extract_keywords(&text, &KeywordOptions { count, ..KeywordOptions::default() });
    if global.json {
        let found: Vec<_> =
            found.iter().map(|k| serde_json::json!({"word": k.text, "weight": k.weight})).collect();
        console::print_json(&found)?;
    } else {
        for keyword in &found {
            console::out!("{}\t{:.3}", keyword.text, keyword.weight);
        }
    }
    Ok(if found.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

/// Trained models, loaded from files.
#[derive(Default)]
pub(crate) struct Models {
    tagger: Option<Tagger>,
    bigrams: Option<BigramModel>,
    hmm: Option<Hmm>,
}

impl Models {
    pub(crate) fn load(paths: &[PathBuf], smoothing: Option<&str>) -> anyhow::Result<Self> {
        let mut models = Self::default();
        for path in paths {
            let failed = || format!("cannot use the model {}", path.display());
            if fs::metadata(path).with_context(failed)?.len() > MAX_MODEL_BYTES {
                bail!("{}: the file is too large", failed());
            }
            let bytes = fs::read(path).with_context(failed)?;
            match TrainedModel::from_bytes(&bytes).with_context(failed)? {
                TrainedModel::Tagger(tagger) => models.tagger = Some(tagger),
                TrainedModel::Bigrams(bigrams) => models.bigrams = Some(bigrams),
                TrainedModel::Hmm(hmm) => models.hmm = Some(hmm),
            }
        }
        if let Some(name) = smoothing {
            let smoothing: Smoothing = name.parse()?;
            models.bigrams = models.bigrams.map(|bigrams| bigrams.with_smoothing(smoothing));
        }
        Ok(models)
    }

    /// Returns the methods that the loaded models support.
    pub(crate) fn methods(&self) -> Vec<&'static str> {
        let needed = |method: &SegmentationMethod| !method.needs_model() || self.bigrams.is_some();
        let tagger = self.tagger.as_ref().map(|_| TAGGER);
        SegmentationMethod::ALL
            .into_iter()
            .filter(needed)
            .map(SegmentationMethod::name)
            .chain(tagger)
            .collect()
    }
}

/// A segmentation method with its resources.
pub(crate) enum Segmentation<'a> {
    /// The segmentation of pages and queries.
    Analyser,
    Dictionary(SegmentationMethod, SegmenterResources<'a>, Box<dyn Segmenter + 'a>),
    Tagger(&'a Tagger),
}

impl<'a> Segmentation<'a> {
    pub(crate) fn new(
        mode: Option<&str>,
        models: &'a Models,
        max_len: Option<usize>,
    ) -> anyhow::Result<Self> {
        let train = "train one with `pharos segment train` and specify it with --model";
        match mode {
            None => Ok(Segmentation::Analyser),
            Some(TAGGER) => match &models.tagger {
                Some(tagger) => Ok(Segmentation::Tagger(tagger)),
                None => bail!("the method `{TAGGER}` needs a trained model: {train}"),
            },
            Some(name) => {
                let method: SegmentationMethod =
                    name.parse().map_err(|unknown| anyhow::anyhow!("{unknown}, {TAGGER}"))?;
                let resources = SegmenterResources {
                    max_len,
                    hmm: models.hmm.as_ref(),
                    bigrams: models.bigrams.as_ref(),
                    ..SegmenterResources::default()
                };
                let segmenter = segmenter(method, &resources).with_context(|| train.to_string())?;
                Ok(Segmentation::Dictionary(method, resources, segmenter))
            }
        }
    }

    pub(crate) fn words<'t>(&self, line: &'t str) -> Vec<&'t str> {
        match self {
            Segmentation::Analyser => Analyser::shared().segment(line),
            Segmentation::Dictionary(_, _, method) => segment_with(method.as_ref(), line),
            Segmentation::Tagger(tagger) => segment_with(*tagger, line),
        }
    }

    fn explain(&self, line: &str, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
        // The explanation refers to the normalised line, which is what is segmented.
        let line = normalise(line);
        let explanation = match self {
            Segmentation::Analyser => {
                explain(&line, SegmentationMethod::Hmm, &SegmenterResources::default())?
            }
            Segmentation::Dictionary(method, resources, _) => explain(&line, *method, resources)?,
            Segmentation::Tagger(_) => {
                bail!("--explain is not supported by the tagger: its decisions are sums of feature weights")
            }
        };
        if json {
            serde_json::to_writer(&mut *out, &explanation).map_err(io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        Ok(print(&explanation, out)?)
    }
}

fn print(explanation: &SegmentationExplanation<'_>, out: &mut impl Write) -> io::Result<()> {
    for word in &explanation.words {
        let what = serde_json::to_value(word.piece_type).map_err(io::Error::from)?;
        write!(out, "{}\t{}", word.word, what.as_str().unwrap_or_default())?;
        if let (Some(code), Some(frequency)) = (word.code, word.frequency) {
            write!(out, "\tcode {code}\tfrequency {frequency}\t{}", word.tag.as_deref().unwrap_or_default())?;
        }
        writeln!(out)?;
    }
    for graph in &explanation.graphs {
        writeln!(out, "word graph of {}: {} segmentations", graph.run, graph.paths)?;
        for edge in &graph.edges {
            let taken = if edge.taken { "*" } else { " " };
            writeln!(out, "{taken} {:>3} → {:<3} {:>6.2}  {}", edge.from, edge.to, edge.cost, edge.word)?;
        }
    }
    for directions in &explanation.directions {
        writeln!(out, "forward         {}", directions.forward.join("/"))?;
        writeln!(out, "reverse         {}", directions.reverse.join("/"))?;
        if !directions.differ.is_empty() {
            writeln!(out, "differences     {}", directions.differ.join(", "))?;
        }
    }
    Ok(())
}

fn train(global: &Global, args: &SegmentTrainArgs) -> anyhow::Result<CommandOutcome> {
    let shown = args.corpus.display();
    let file = File::open(&args.corpus).with_context(|| format!("cannot read {shown}"))?;
    let mut corpus = Corpus::default();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.with_context(|| format!("cannot read {shown}"))?;
        corpus
            .add_line(&String::from_utf8_lossy(&line))
            .with_context(|| format!("invalid corpus {shown}"))?;
    }
    if corpus.is_empty() {
        bail!("{shown} contains no words: expected one sentence per line, words separated by spaces");
    }
    let bytes = match args.method.as_str() {
        "bigram" => BigramModel::train(corpus.sentences()).to_bytes(),
        "hmm" => Hmm::train(corpus.sentences()).to_text().into_bytes(),
        _ => train_tagger(args, &corpus)?,
    };
    pharos_files::replace(&args.out, &bytes)
        .with_context(|| format!("cannot write {}", args.out.display()))?;
    let message = format!(
        "trained on {} words: {}, {}",
        corpus.len(),
        args.out.display(),
        console::bytes(bytes.len() as u64)
    );
    console::print_message(global.quiet, &message);
    Ok(CommandOutcome::Good)
}

fn train_tagger(args: &SegmentTrainArgs, corpus: &Corpus) -> anyhow::Result<Vec<u8>> {
    let mut training = Training { seed: args.seed, ..Training::default() };
    training.epochs = args.epochs.unwrap_or(training.epochs);
    let base = Dictionary::base();
    let mut words = base.words();
    // Hints are words seen in texts; other dictionary words have this default frequency.
    words.retain(|(_, code)| base.frequency(*code) > DEFAULT_FREQUENCY);
    words.sort_unstable_by_key(|(_, code)| *code);
    let hints = words.iter().map(|(word, _)| word.as_str());
    let model = LongTask::run(|task| {
        task.report(format!("training on {} words", corpus.len()));
        training.run(corpus, hints, |progress| {
            let (done, all) = (progress.epoch, progress.epochs);
            task.report(format!("epoch {done} of {all}, loss {:.4}", progress.loss))
        })
    })?;
    Ok(model.to_bytes())
}
