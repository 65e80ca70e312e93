//! Quality and speed of word segmentation: every method and jieba-rs, in the same run.
//!
//! `cargo run --release -p bench-segment -- --gold FILE [--train FILE] [--rounds N]`
//!
//! FILE has one sentence per line, words separated by white space, with or without a tag (`word/n`); its normalised
//! text is segmented. `--train` adds the methods that need a trained model, and its words count as known; without it
//! the words of the base dictionary do.
//!
//! Every hundred lines go through all methods, in rotating order, before the next, and processor time counts, so that
//! background load affects all alike. They are segmented twice and the second time counts, which excludes cache misses
//! caused by other methods.

use std::collections::HashSet;
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;
use std::{env, fs};

use jieba_rs::Jieba;
use pharos_text::dictionary::Dictionary;
use pharos_text::segment::evaluation::SegmentationScore;
use pharos_text::segment::smoothing::Smoothing;
use pharos_text::segment::tagger::{Corpus, Tagger, Training};
use pharos_text::segment::{BigramModel, Hmm, SegmentationMethod, SegmenterResources, Segmenter, SegmenterBuffers, segmenter};
use rustix::time::ClockId;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

const LINES_PER_TURN: usize = 100;

/// A sentence and the ends of its words.
struct Line {
    text: String,
    gold: Vec<usize>,
}

/// Returns the ends of the words of a text.
type SegmentFn<'a> = Box<dyn FnMut(&str, &mut Vec<usize>) + 'a>;

/// A method or peer with its measurements.
struct Contestant<'a> {
    name: String,
    segment: SegmentFn<'a>,
    time: Duration,
    score: SegmentationScore,
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse()?;
    let lines = lines_of(&corpus(&arguments.gold)?);
    let bytes: usize = lines.iter().map(|line| line.text.len()).sum();
    println!("{} lines, {:.2} MB, {} rounds", lines.len(), bytes as f64 / 1e6, arguments.rounds);

    // Measured first, before anything is loaded.
    let text = "他来到了网易杭研大厦";
    let (ours, first_word) = timed(|| pharos_text::segment::default_segmenter().words(text).len());
    let (hmm, _) = timed(Hmm::shipped);
    let (theirs, jieba) = timed(Jieba::new);
    black_box((first_word, jieba.cut(text, true).len()));
    println!("load time: default {ours:?}, its hidden Markov model {hmm:?}, jieba-rs {theirs:?}");

    let corpus = arguments.train.as_deref().map(corpus).transpose()?.unwrap_or_default();
    let training = lines_of(&corpus);
    let words = |line: &'_ Line| -> Vec<String> { line.words().map(str::to_string).collect() };
    let known: HashSet<String> = training.iter().flat_map(words).collect();
    let is_known =
        |word: &str| if known.is_empty() { Dictionary::base().contains(word) } else { known.contains(word) };
    let models: Vec<BigramModel> = if training.is_empty() {
        Vec::new()
    } else {
        let train = || BigramModel::train(training.iter().map(Line::words));
        Smoothing::ALL.into_iter().map(|smoothing| train().with_smoothing(smoothing)).collect()
    };

    let tagger = if training.is_empty() { None } else { Some(train_tagger(&corpus)?) };

    let mut contestants = contestants(&models, tagger.as_ref(), &jieba)?;
    let mut ends = Vec::new();
    for round in 0..arguments.rounds {
        for (number, lines) in lines.chunks(LINES_PER_TURN).enumerate() {
            for turn in 0..contestants.len() {
                let which = (turn + number + round) % contestants.len();
                let Contestant { segment, time, score, .. } = &mut contestants[which];
                for line in lines {
                    ends.clear();
                    segment(&line.text, &mut ends);
                    if round == 0 {
                        score.add(line.words(), split_at_ends(&line.text, &ends), is_known)?;
                    }
                }
                let before = processor_time();
                for line in lines {
                    ends.clear();
                    segment(&line.text, &mut ends);
                    black_box(&ends);
                }
                *time += processor_time() - before;
            }
        }
    }
    print(&contestants, bytes * arguments.rounds);
    Ok(())
}

/// Trains the same model as `pharos segment train`.
fn train_tagger(corpus: &Corpus) -> Outcome<Tagger> {
    let base = Dictionary::base();
    let mut words = base.words();
    words.retain(|(_, code)| base.frequency(*code) > 3);
    words.sort_unstable_by_key(|(_, code)| *code);
    let before = processor_time();
    let model =
        Training::default().run(corpus, words.iter().map(|(word, _)| word.as_str()), |_| true)?.to_bytes();
    let learnt = processor_time() - before;
    let (ready, tagger) = timed(|| Tagger::load(&model));
    println!("tagger: trained in {learnt:.1?}, {:.2} MB, loaded in {ready:.1?}", model.len() as f64 / 1e6);
    Ok(tagger?)
}

/// Returns all methods, then the peers.
fn contestants<'a>(
    models: &'a [BigramModel],
    tagger: Option<&'a Tagger>,
    jieba: &'a Jieba,
) -> Outcome<Vec<Contestant<'a>>> {
    let mut all = Vec::new();
    for method in SegmentationMethod::ALL.into_iter().filter(|method| !method.needs_model()) {
        all.push(ours(method.to_string(), segmenter(method, &SegmenterResources::default())?));
    }
    for model in models {
        let resources = SegmenterResources { bigrams: Some(model), ..SegmenterResources::default() };
        let name = format!("{} {}", SegmentationMethod::Bigram, model.smoothing());
        all.push(ours(name, segmenter(SegmentationMethod::Bigram, &resources)?));
    }
    if let Some(tagger) = tagger {
        let mut work = SegmenterBuffers::default();
        let segment = move |text: &str, ends: &mut Vec<usize>| tagger.segment(text, &mut work, ends);
        all.push(Contestant {
            name: "tagger".into(),
            segment: Box::new(segment),
            time: Duration::ZERO,
            score: SegmentationScore::default(),
        });
    }
    for (name, hmm) in [("jieba-rs, hmm", true), ("jieba-rs", false)] {
        let segment = move |text: &str, ends: &mut Vec<usize>| {
            ends.extend(jieba.cut(text, hmm).iter().map(|token| token.byte_end));
        };
        all.push(Contestant {
            name: name.to_string(),
            segment: Box::new(segment),
            time: Duration::ZERO,
            score: SegmentationScore::default(),
        });
    }
    Ok(all)
}

fn ours<'a>(name: String, segmenter: Box<dyn Segmenter + 'a>) -> Contestant<'a> {
    let mut work = SegmenterBuffers::default();
    let segment = move |text: &str, ends: &mut Vec<usize>| segmenter.segment(text, &mut work, ends);
    Contestant { name, segment: Box::new(segment), time: Duration::ZERO, score: SegmentationScore::default() }
}

fn print(contestants: &[Contestant<'_>], bytes: usize) {
    let peer = contestants.iter().find(|c| c.name == "jieba-rs, hmm").map_or(0.0, |c| c.time.as_secs_f64());
    println!(
        "{:<20} {:>7} {:>7} {:>7} {:>7} {:>8} {:>10}",
        "method", "F1", "P", "R", "R oov", "MB/s", "× jieba"
    );
    for contestant in contestants {
        let (time, score) = (contestant.time.as_secs_f64(), &contestant.score);
        println!(
            "{:<20} {:>7.4} {:>7.4} {:>7.4} {:>7.4} {:>8.1} {:>10.2}",
            contestant.name,
            score.f1(),
            score.precision(),
            score.recall(),
            score.unknown_recall().unwrap_or_default(),
            bytes as f64 / time / 1e6,
            peer / time,
        );
    }
}

struct Arguments {
    gold: String,
    train: Option<String>,
    rounds: usize,
}

impl Arguments {
    fn parse() -> Outcome<Self> {
        let (mut gold, mut train, mut rounds) = (None, None, 5);
        let mut arguments = env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name}: a value is missing"))?;
            match name.as_str() {
                "--gold" => gold = Some(value),
                "--train" => train = Some(value),
                "--rounds" => rounds = value.parse()?,
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(Self { gold: gold.ok_or("--gold FILE is missing")?, train, rounds })
    }
}

impl Line {
    fn words(&self) -> impl Iterator<Item = &str> {
        split_at_ends(&self.text, &self.gold)
    }
}

fn corpus(path: &str) -> Outcome<Corpus> {
    let file = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut corpus = Corpus::default();
    file.lines().try_for_each(|line| corpus.add_line(line)).map_err(|e| format!("{path}, {e}"))?;
    Ok(corpus)
}

fn lines_of(corpus: &Corpus) -> Vec<Line> {
    let lines = corpus.sentences().map(|words| {
        let (mut text, mut gold) = (String::new(), Vec::new());
        for word in words {
            text.push_str(word);
            gold.push(text.len());
        }
        Line { text, gold }
    });
    lines.collect()
}

fn split_at_ends<'t>(text: &'t str, ends: &[usize]) -> impl Iterator<Item = &'t str> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| &text[start..*end])
}

fn timed<T>(f: impl FnOnce() -> T) -> (Duration, T) {
    let before = processor_time();
    let value = f();
    (processor_time() - before, value)
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
