//! `pharos segment`: words separated by two spaces, line by line; and `pharos segment train`.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use pharos_text::dictionary::Dictionary;
use pharos_text::keywords::{Options, keywords_of};
use pharos_text::segment::smoothing::Smoothing;
use pharos_text::segment::tagger::{Corpus, Tagger, Training};
use pharos_text::segment::{
    BigramModel, Explanation, Hmm, Method, Resources, Segmenter, Trained, explain, segmenter,
};
use pharos_text::{Analyser, normalise, pinyin, segment_with};

use crate::cli::{Global, SegmentArgs, SegmentCommand, SegmentTrainArgs};
use crate::{Outcome, console};

/// The name of the method that is not one of the dictionary's.
pub(crate) const TAGGER: &str = "tagger";

/// What the base dictionary says of words that were never counted.
const NEVER_SEEN: u32 = 3;

/// Models are read whole; a larger file is none.
const MAX_MODEL_BYTES: u64 = 1 << 30;

pub(crate) fn run(global: &Global, args: SegmentArgs) -> anyhow::Result<Outcome> {
    if let Some(SegmentCommand::Train(args)) = &args.command {
        return train(global, args);
    }
    let models = Models::load(args.model.as_slice(), args.smoothing.as_deref())?;
    let cut = Cut::of(args.mode.as_deref(), &models, args.max_len)?;
    let input: Box<dyn BufRead> = match args.input.as_str() {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(BufReader::new(File::open(path).with_context(|| format!("cannot read {path}"))?)),
    };
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
            cut.explain(text, global.json, &mut out)?;
            continue;
        }
        let words = cut.words(text);
        if global.json {
            serde_json::to_writer(&mut out, &words).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", words.join("  "))?;
        }
    }
    out.flush()?;
    Ok(Outcome::Good)
}

/// Longer texts are not read to their end: what they are about is clear by then.
const MAX_TEXT_BYTES: u64 = 16 << 20;

fn print_keywords(global: &Global, input: impl Read, count: usize) -> anyhow::Result<Outcome> {
    let mut bytes = Vec::new();
    input.take(MAX_TEXT_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let found = keywords_of(&text, &Options { count, ..Options::default() });
    if global.json {
        let found: Vec<_> =
            found.iter().map(|k| serde_json::json!({"word": k.text, "weight": k.weight})).collect();
        console::print_json(&found)?;
    } else {
        for keyword in &found {
            console::out!("{}\t{:.3}", keyword.text, keyword.weight);
        }
    }
    Ok(if found.is_empty() { Outcome::NothingFound } else { Outcome::Good })
}

/// What was learnt, from the files of models.
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
                bail!("{}: it is too large for a model", failed());
            }
            let bytes = fs::read(path).with_context(failed)?;
            match Trained::from_bytes(&bytes).with_context(failed)? {
                Trained::Tagger(tagger) => models.tagger = Some(tagger),
                Trained::Bigrams(bigrams) => models.bigrams = Some(bigrams),
                Trained::Hmm(hmm) => models.hmm = Some(hmm),
            }
        }
        if let Some(name) = smoothing {
            let smoothing: Smoothing = name.parse()?;
            models.bigrams = models.bigrams.map(|bigrams| bigrams.with_smoothing(smoothing));
        }
        Ok(models)
    }

    /// The methods that work with what is there.
    pub(crate) fn methods(&self) -> Vec<&'static str> {
        let needed = |method: &Method| !method.needs_model() || self.bigrams.is_some();
        let tagger = self.tagger.as_ref().map(|_| TAGGER);
        Method::ALL.into_iter().filter(needed).map(Method::name).chain(tagger).collect()
    }
}

/// A way of cutting, ready to cut.
pub(crate) enum Cut<'a> {
    /// What pages and queries are cut with.
    Analyser,
    Dictionary(Method, Resources<'a>, Box<dyn Segmenter + 'a>),
    Tagger(&'a Tagger),
}

impl<'a> Cut<'a> {
    pub(crate) fn of(mode: Option<&str>, models: &'a Models, max_len: Option<usize>) -> anyhow::Result<Self> {
        let train = "make one with `pharos segment train` and name it with --model";
        match mode {
            None => Ok(Cut::Analyser),
            Some(TAGGER) => match &models.tagger {
                Some(tagger) => Ok(Cut::Tagger(tagger)),
                None => bail!("the method `{TAGGER}` needs a trained model: {train}"),
            },
            Some(name) => {
                let method: Method =
                    name.parse().map_err(|unknown| anyhow::anyhow!("{unknown}, {TAGGER}"))?;
                let resources = Resources {
                    max_len,
                    hmm: models.hmm.as_ref(),
                    bigrams: models.bigrams.as_ref(),
                    ..Resources::default()
                };
                let cut = segmenter(method, &resources).with_context(|| train.to_string())?;
                Ok(Cut::Dictionary(method, resources, cut))
            }
        }
    }

    pub(crate) fn words<'t>(&self, line: &'t str) -> Vec<&'t str> {
        match self {
            Cut::Analyser => Analyser::shared().segment(line),
            Cut::Dictionary(_, _, method) => segment_with(method.as_ref(), line),
            Cut::Tagger(tagger) => segment_with(*tagger, line),
        }
    }

    fn explain(&self, line: &str, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
        // The reasons are those of the normalised line, which is what is cut.
        let line = normalise(line);
        let explanation = match self {
            Cut::Analyser => explain(&line, Method::Hmm, &Resources::default())?,
            Cut::Dictionary(method, resources, _) => explain(&line, *method, resources)?,
            Cut::Tagger(_) => {
                bail!("--explain is for dictionary methods: the tagger's reasons are its weights")
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

fn print(explanation: &Explanation<'_>, out: &mut impl Write) -> io::Result<()> {
    for word in &explanation.words {
        let what = serde_json::to_value(word.what).map_err(io::Error::from)?;
        write!(out, "{}\t{}", word.word, what.as_str().unwrap_or_default())?;
        if let (Some(code), Some(frequency)) = (word.code, word.frequency) {
            write!(out, "\tcode {code}\tfrequency {frequency}\t{}", word.tag.as_deref().unwrap_or_default())?;
        }
        writeln!(out)?;
    }
    for graph in &explanation.graphs {
        writeln!(out, "word graph of {}: {} ways to cut", graph.run, graph.paths)?;
        for edge in &graph.edges {
            let taken = if edge.taken { "*" } else { " " };
            writeln!(out, "{taken} {:>3} → {:<3} {:>6.2}  {}", edge.from, edge.to, edge.cost, edge.word)?;
        }
    }
    for cuts in &explanation.directions {
        writeln!(out, "from the left   {}", cuts.forward.join("/"))?;
        writeln!(out, "from the right  {}", cuts.reverse.join("/"))?;
        if !cuts.differ.is_empty() {
            writeln!(out, "they differ in  {}", cuts.differ.join(", "))?;
        }
    }
    Ok(())
}

fn train(global: &Global, args: &SegmentTrainArgs) -> anyhow::Result<Outcome> {
    let shown = args.corpus.display();
    let file = File::open(&args.corpus).with_context(|| format!("cannot read {shown}"))?;
    let mut corpus = Corpus::default();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.with_context(|| format!("cannot read {shown}"))?;
        corpus.add_line(&String::from_utf8_lossy(&line)).with_context(|| format!("{shown} is no corpus"))?;
    }
    if corpus.is_empty() {
        bail!("{shown} has no words: one sentence a line, its words separated by spaces");
    }
    let bytes = match args.method.as_str() {
        "bigram" => BigramModel::train(corpus.sentences()).to_bytes(),
        "hmm" => Hmm::train(corpus.sentences()).to_text().into_bytes(),
        _ => train_tagger(args, &corpus)?,
    };
    let failed = || format!("cannot write {}", args.out.display());
    let new = args.out.with_added_extension("new");
    fs::write(&new, &bytes).with_context(failed)?;
    fs::rename(&new, &args.out).with_context(failed)?;
    let message = format!(
        "{} words learnt: {}, {}",
        corpus.len(),
        args.out.display(),
        console::bytes(bytes.len() as u64)
    );
    console::say(global.quiet, &message);
    Ok(Outcome::Good)
}

fn train_tagger(args: &SegmentTrainArgs, corpus: &Corpus) -> anyhow::Result<Vec<u8>> {
    let mut training = Training { seed: args.seed, ..Training::default() };
    training.epochs = args.epochs.unwrap_or(training.epochs);
    let base = Dictionary::base();
    let mut words = base.words();
    // Hints are words that were seen in texts; the others of the dictionary have this frequency.
    words.retain(|(_, code)| base.frequency(*code) > NEVER_SEEN);
    words.sort_unstable_by_key(|(_, code)| *code);
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    line.set_message(format!("learning from {} words", corpus.len()));
    let model = training.run(corpus, words.iter().map(|(word, _)| word.as_str()), |progress| {
        let (done, all) = (progress.epoch, progress.epochs);
        line.set_message(format!("{done} of {all} times through the corpus, loss {:.4}", progress.loss));
        !*stop.borrow()
    });
    line.finish_and_clear();
    Ok(model?.to_bytes())
}
