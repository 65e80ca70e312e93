//! Quality, speed and memory of duplicate detection: every detector and gaoya, in the same run.
//!
//! `cargo run --release -p bench-dedup -- [--pages 100000] [--seed 1] [--only TEXT] [--language English|Chinese]`
//!
//! `--only Hash` selects the contestants whose names contain the text, for runs with a million pages. Detectors that
//! keep kilobytes per page get the first 20,000. Pages are generated on demand, and already segmented.
//!
//! A hundred pages go through all contestants, in rotating order, before the next are generated, and the processor time
//! of one core counts, so that background load affects all alike. Signatures are not all the memory that a build needs:
//! `--collector true` prints the peak memory per page of a build instead of the tables.

mod collector;
mod contest;
mod pages;
mod peers;

use std::env;
use std::error::Error;

use pharos_graph::duplicates::{KeywordDetector, ChunkSize, ExactBytes, ExactText, IMatch, MinHash, KeywordRule, Segments, Shingles, SimHash, FrequentWordList, WordStatistics};
use rayon::prelude::*;

use self::contest::{Entry, Ours, Row};
use self::pages::{Language, Page, Pages};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

const PAGES_PER_TURN: usize = 100;
/// Number of pages for detectors that keep kilobytes per page, and for the word statistics of I-Match.
const FEW_PAGES: usize = 20_000;
const MAX_WORDS: usize = 1_000_000;

fn main() -> Outcome<()> {
    let arguments = Arguments::parse()?;
    for language in [Language::English, Language::Chinese] {
        if arguments.language.as_ref().is_none_or(|wanted| *wanted == language.to_string()) {
            let pages = Pages::new(language, arguments.pages, arguments.seed);
            if arguments.collector {
                collector::print(&pages)?;
            } else {
                run(&pages, language, &arguments);
            }
        }
    }
    Ok(())
}

fn run(pages: &Pages, language: Language, arguments: &Arguments) {
    let mut entries = entries(pages, |name| name.contains(&arguments.only));
    let contestants = entries.len().max(1);
    let mut bytes = 0;
    for (turn, first) in (0..pages.count()).step_by(PAGES_PER_TURN).enumerate() {
        let some = some_pages(pages, first);
        bytes += some.iter().map(|page| page.body.len()).sum::<usize>();
        let cuts: Vec<_> = some.iter().map(|page| pages.slices(page)).collect();
        let texts: Vec<_> = cuts.iter().map(|cut| cut.text()).collect();
        for which in 0..contestants {
            if let Some(entry) = entries.get_mut((which + turn) % contestants) {
                entry.sign(&texts);
            }
        }
    }
    println!("\n{language}: {} pages, {} bytes of cleaned text each\n", pages.count(), bytes / pages.count());
    println!(
        "| method | pages | precision | recall | fingerprints/s | grouped/s | both/s | bytes/signature |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for entry in entries {
        let row = entry.finish(|page| pages.content(page));
        print(&row);
        rows.push(row);
    }
    for kind in ["MinHash", "SimHash"] {
        let of = |peer: bool| {
            let is_meant = |row: &&Row| row.name.contains(kind) && row.name.contains("gaoya") == peer;
            rows.iter().rfind(is_meant).and_then(both_per_second)
        };
        if let (Some(ours), Some(theirs)) = (of(false), of(true)) {
            println!(
                "\n{kind}: Pharos processes {:.1} times as many pages per second as gaoya.",
                ours / theirs
            );
        }
    }
}

/// Returns every detector with the parameters of its source and, where these differ, of Pharos; then the peers.
fn entries(pages: &Pages, wanted: impl Fn(&str) -> bool) -> Vec<Entry> {
    let mut statistics = WordStatistics::new(MAX_WORDS);
    let counted = if wanted("I-Match") { pages.count().min(FEW_PAGES) } else { 0 };
    for first in (0..counted).step_by(PAGES_PER_TURN) {
        some_pages(pages, first).iter().for_each(|page| statistics.add(pages.slices(page).text().words));
    }
    let (all, count) = (usize::MAX, pages.count());
    let mut entries =
        vec![Entry::new(Ours::new(ExactBytes, count), all), Entry::new(Ours::new(ExactText, count), all)];
    let rules = [
        KeywordRule::Abstract,
        KeywordRule::OrderedKeywords,
        KeywordRule::OrderedKeywordsAndWeights,
        KeywordRule::KeywordsAndWeights,
        KeywordRule::Keywords,
        KeywordRule::AbstractOrKeywords,
    ];
    entries.extend(rules.map(|rule| Entry::new(Ours::new(KeywordDetector::new(rule), count), all)));
    entries.push(Entry::new(Ours::new(FrequentWordList::default(), count), all));
    entries.push(Entry::new(Ours::new(IMatch::new(statistics), count), all));
    let chunks = [ChunkSize::Whole, ChunkSize::Lines(4), ChunkSize::Lines(2)];
    entries.extend(
        chunks.map(|chunk| Entry::new(Ours::new(Segments { chunk, ..Segments::default() }, count), all)),
    );
    entries.push(Entry::new(Ours::new(Shingles::book_example(), count), FEW_PAGES));
    entries.push(Entry::new(Ours::new(Shingles::default(), count), FEW_PAGES));
    entries.push(Entry::new(Ours::new(SimHash { distance: 3, ..SimHash::default() }, count), all));
    entries.push(Entry::new(Ours::new(SimHash::default(), count), all));
    entries.push(Entry::new(Ours::new(MinHash::default(), count), all));
    entries.push(Entry::new(peers::gaoya_min_hash(), all));
    entries.push(Entry::new(peers::GaoyaSimHash::default(), all));
    entries.push(Entry::new(peers::BareSimHash::default(), all));
    entries.retain(|entry| wanted(&entry.name()));
    entries
}

fn some_pages(pages: &Pages, first: usize) -> Vec<Page> {
    let end = (first + PAGES_PER_TURN).min(pages.count());
    (first..end).into_par_iter().map(|number| pages.page(number)).collect()
}

/// Returns the pages per second for signing and grouping.
fn both_per_second(row: &Row) -> Option<f64> {
    row.grouped.as_ref().map(|grouped| 1.0 / (1.0 / row.signed_per_second + 1.0 / grouped.per_second))
}

fn print(row: &Row) {
    let Row { name, pages, signed_per_second, bytes_per_page, grouped } = row;
    match (grouped, both_per_second(row)) {
        (Some(grouped), Some(both)) => println!(
            "| {name} | {pages} | {:.4} | {:.4} | {signed_per_second:.0} | {:.0} | {both:.0} | {bytes_per_page:.0} |",
            grouped.precision, grouped.recall, grouped.per_second,
        ),
        _ => println!("| {name} | {pages} | | | {signed_per_second:.0} | | | {bytes_per_page:.0} |"),
    }
}

struct Arguments {
    pages: usize,
    seed: u64,
    only: String,
    language: Option<String>,
    collector: bool,
}

impl Arguments {
    fn parse() -> Outcome<Self> {
        let mut parsed =
            Self { pages: 100_000, seed: 1, only: String::new(), language: None, collector: false };
        let mut arguments = env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name}: a value is missing"))?;
            match name.as_str() {
                "--pages" => parsed.pages = value.parse()?,
                "--seed" => parsed.seed = value.parse()?,
                "--only" => parsed.only = value,
                "--language" => parsed.language = Some(value),
                "--collector" => parsed.collector = value.parse()?,
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(parsed)
    }
}
