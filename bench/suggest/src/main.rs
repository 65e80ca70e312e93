//! Memory and time of suggestions from many phrases, compared with an FST of the same phrases.
//!
//! `cargo run --release -p bench-suggest -- [--phrases N]`
//!
//! N phrases (1,000,000) of two to five words, half of them Chinese words of the base dictionary, half generated words
//! of letters, with weights by Zipf's law. Prefixes of one to eight characters of phrases, drawn by weight, are
//! completed to ten: as written, in pinyin, in initials, and from a word in the middle. The FST (crate `fst`, as used
//! for suggestions in search engines) contains the written form only, and visits every phrase with the prefix to find
//! the ten heaviest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::env;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use fst::automaton::{Automaton as _, Str};
use fst::{IntoStreamer as _, Streamer as _};
use pharos_text::dictionary::Dictionary;
use pharos_text::phrase_index::{PhraseIndex, PhraseIndexBuilder};
use pharos_text::{normalise, pinyin};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SEED: u64 = 7;
const ASKED: usize = 4_000;
const WANTED: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut count = 1_000_000;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--phrases" => count = arguments.next().ok_or("--phrases needs a number")?.parse()?,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let phrases = phrases(count);
    let bytes: usize = phrases.iter().map(String::len).sum();
    println!("{} phrases of {:.1} bytes", phrases.len(), bytes as f64 / phrases.len() as f64);

    let started = Instant::now();
    let mut writer = PhraseIndexBuilder::default();
    for (rank, phrase) in phrases.iter().enumerate() {
        writer.add(phrase, weight(rank));
    }
    let image = writer.finish(usize::MAX).to_image();
    let built = started.elapsed();
    let started = Instant::now();
    let book = PhraseIndex::from_image(&image)?;
    let loaded = started.elapsed();
    drop(image);
    println!(
        "phrase index: {} phrases, {:.1} MB; built in {:.1} s, loaded in {:.2} s",
        book.len(),
        book.bytes() as f64 / 1e6,
        built.as_secs_f64(),
        loaded.as_secs_f64()
    );

    let started = Instant::now();
    let mut keys: Vec<(String, u64)> =
        phrases.iter().enumerate().map(|(rank, phrase)| (normalise(phrase), rank as u64)).collect();
    keys.sort();
    keys.dedup_by(|a, b| a.0 == b.0);
    let fst = fst::Map::from_iter(keys.iter().map(|(key, rank)| (key.as_str(), *rank)))?;
    drop(keys);
    println!(
        "FST: {} phrases, {:.1} MB; built in {:.1} s\n",
        fst.len(),
        fst.as_fst().size() as f64 / 1e6,
        started.elapsed().as_secs_f64()
    );

    println!(
        "{:<22} {:>8} {:>10} {:>10} {:>10} {:>10}",
        "input", "results", "p50 µs", "p99 µs", "max µs", "prefixes"
    );
    let mut all = Vec::new();
    for way in Way::ALL {
        let prefixes = prefixes(&phrases, way);
        let mut found = 0;
        let mut times: Vec<Duration> = Vec::with_capacity(prefixes.len());
        for prefix in &prefixes {
            let started = Instant::now();
            let completions = black_box(book.complete(prefix, WANTED)).len();
            let took = started.elapsed();
            found += completions;
            times.push(took);
            all.push((completions, took));
        }
        print_row(way.name(), found as f64 / prefixes.len() as f64, times);
    }
    let found = all.iter().map(|(found, _)| *found as f64).sum::<f64>() / all.len() as f64;
    print_row("all", found, all.into_iter().map(|(_, time)| time).collect());
    let written = prefixes(&phrases, Way::Written);
    let mut found = 0;
    let mut times = Vec::new();
    for prefix in &written {
        let started = Instant::now();
        found += black_box(best_of(&fst, &normalise(prefix))).len();
        times.push(started.elapsed());
    }
    print_row("FST, as written", found as f64 / written.len() as f64, times);
    Ok(())
}

fn print_row(name: &str, found: f64, mut times: Vec<Duration>) {
    times.sort_unstable();
    let micros = |at: f64| times[((times.len() - 1) as f64 * at) as usize].as_secs_f64() * 1e6;
    println!(
        "{name:<22} {found:>8.1} {:>10.1} {:>10.1} {:>10.1} {:>10}",
        micros(0.5),
        micros(0.99),
        micros(1.0),
        times.len()
    );
}

/// Returns the weight of a rank by Zipf's law.
fn weight(rank: usize) -> f32 {
    1e6 / (rank + 1) as f32
}

fn phrases(count: usize) -> Vec<String> {
    let mut random = StdRng::seed_from_u64(SEED);
    let dictionary = Dictionary::base();
    let mut chinese: Vec<_> =
        dictionary.words().into_iter().filter(|(word, _)| word.chars().count() >= 2).collect();
    chinese.sort_by_key(|(_, code)| Reverse(dictionary.frequency(*code)));
    let english: Vec<String> = (0..20_000).map(|_| made_up_word(&mut random)).collect();
    let mut phrases = Vec::with_capacity(count);
    while phrases.len() < count {
        let words = random.random_range(2..=5);
        let zipf = |random: &mut StdRng, len: usize| {
            ((len as f64).powf(random.random::<f64>()) as usize).min(len - 1)
        };
        if phrases.len() % 2 == 0 {
            phrases.push((0..words).map(|_| chinese[zipf(&mut random, chinese.len())].0.as_str()).collect());
        } else {
            let words: Vec<&str> =
                (0..words).map(|_| english[zipf(&mut random, english.len())].as_str()).collect();
            phrases.push(format!("{} {}", words.join(" "), phrases.len() % 10_000));
        }
    }
    phrases
}

fn made_up_word(random: &mut StdRng) -> String {
    const BEGIN: [&str; 20] = [
        "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "st", "tr", "br", "sh", "th", "w",
        "k",
    ];
    const END: [&str; 16] =
        ["a", "e", "i", "o", "an", "er", "in", "on", "ar", "ea", "ou", "est", "ing", "al", "ent", "ight"];
    let syllable = |random: &mut StdRng| {
        [BEGIN[random.random_range(0..BEGIN.len())], END[random.random_range(0..END.len())]].concat()
    };
    (0..random.random_range(1..=3)).map(|_| syllable(random)).collect()
}

#[derive(Clone, Copy)]
enum Way {
    Written,
    Pinyin,
    Initials,
    Middle,
}

impl Way {
    const ALL: [Way; 4] = [Way::Written, Way::Pinyin, Way::Initials, Way::Middle];

    fn name(self) -> &'static str {
        match self {
            Way::Written => "as written",
            Way::Pinyin => "pinyin",
            Way::Initials => "initials",
            Way::Middle => "a word in the middle",
        }
    }
}

/// Returns prefixes of phrases, drawn by weight.
fn prefixes(phrases: &[String], way: Way) -> Vec<String> {
    let mut random = StdRng::seed_from_u64(SEED + 1);
    let mut prefixes = Vec::with_capacity(ASKED);
    while prefixes.len() < ASKED {
        let rank = ((phrases.len() as f64).powf(random.random::<f64>()) as usize).min(phrases.len() - 1);
        let phrase = normalise(&phrases[rank]);
        let letters = random.random_range(1..=8);
        let typed = match way {
            Way::Written => phrase,
            Way::Pinyin => pinyin::spell(&phrase),
            Way::Initials => pinyin::initials(&phrase),
            Way::Middle => phrase.split(' ').nth(1).unwrap_or_default().to_string(),
        };
        let prefix: String = typed.chars().take(letters).collect();
        if !prefix.is_empty() {
            prefixes.push(prefix);
        }
    }
    prefixes
}

/// Returns the heaviest phrases with a prefix, by visiting all of them.
fn best_of(map: &fst::Map<Vec<u8>>, prefix: &str) -> Vec<Reverse<u64>> {
    let mut best: BinaryHeap<u64> = BinaryHeap::new();
    let mut stream = map.search(Str::new(prefix).starts_with()).into_stream();
    while let Some((_, rank)) = stream.next() {
        if best.len() < WANTED {
            best.push(rank);
        } else if best.peek().is_some_and(|worst| rank < *worst) {
            best.pop();
            best.push(rank);
        }
    }
    best.into_iter().map(Reverse).collect()
}
