//! The index compared with raw tantivy, on the same pages and queries in the same run.
//!
//! `cargo run --release -p bench-index -- [PAGES.jsonl] [--pages N] [--orders | --tier | --build-only]`
//!
//! Without a file, N pages are generated (50,000). `--orders` compares document orders, `--tier` a small index of
//! important words that is searched first, `--build-only` prints the memory of a build. Otherwise prints indexing
//! speed, sizes, and the time to the top ten for queries of two to four words that occur together on a page: plain
//! BM25, and BM25 with a share of the static rank.

mod pages;
mod raw;

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use pharos_core::LibraryPositions;
use pharos_index::{IndexDocument, EmbeddedIndex, GenerationStore as _, Generations, Index as _, LinkMaxima, Query, RetrievalRequest};
use pharos_text::Analyser;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use raw::{Raw, Sequence, Shape};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

const THREADS: usize = 2;
const MEMORY: usize = 256 << 20;
const QUERIES: usize = 500;
const ROUNDS: usize = 7;
/// Score of a static rank of 1: about as much as a rare word.
const RANK_WEIGHT: f32 = 5.0;

/// Generated or read pages.
enum Pages {
    Made(pages::Made),
    Read(Vec<IndexDocument>),
}

impl Pages {
    fn count(&self) -> usize {
        match self {
            Pages::Made(made) => made.count,
            Pages::Read(pages) => pages.len(),
        }
    }

    fn page(&self, n: usize) -> IndexDocument {
        match self {
            Pages::Made(made) => made.page(n),
            Pages::Read(pages) => pages[n].clone(),
        }
    }

    fn all(&self) -> impl Iterator<Item = IndexDocument> + '_ {
        (0..self.count()).map(|n| self.page(n))
    }
}

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let (mut file, mut count, mut what) = (None, 50_000, String::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--pages" => count = arguments.next().ok_or("--pages needs a number")?.parse()?,
            "--orders" | "--tier" | "--build-only" => what = argument,
            path => file = Some(path.to_string()),
        }
    }
    let pages = match file {
        Some(path) => Pages::Read(pages::read(&path)?),
        None => Pages::Made(pages::Made::new(count)),
    };
    let (mut maxima, mut bytes) = (LinkMaxima::default(), 0);
    for page in pages.all() {
        maxima.include(&page.link_figures);
        bytes += page.title.len() + page.body.len();
    }
    println!("{} pages of {:.1} KB of text\n", pages.count(), bytes as f64 / 1e3 / pages.count() as f64);
    let place = tempfile::tempdir()?;
    match what.as_str() {
        "--orders" => compare_orders(&pages, &maxima),
        "--tier" => compare_tier(&pages, &maxima),
        "--build-only" => {
            let took = ours(place.path(), &pages, &maxima)?.0;
            let rate = pages.count() as f64 / took.as_secs_f64();
            println!("{rate:.0} pages/s, {:.0} MB peak", peak_megabytes());
            Ok(())
        }
        _ => compare(place.path(), &pages, &maxima),
    }
}

fn ours(dir: &Path, pages: &Pages, maxima: &LinkMaxima) -> Outcome<(Duration, EmbeddedIndex)> {
    let generations = Generations::at(dir);
    let _builder = generations.lock_builder()?;
    let started = Instant::now();
    let mut history = generations.build_directory().begin(THREADS, MEMORY, 1 << 20)?.with_maxima(*maxima)?;
    for page in pages.all() {
        history.add(&page)?;
    }
    let history = history.finish(LibraryPositions::START)?;
    let took = started.elapsed();
    generations.install(history)?;
    Ok((took, EmbeddedIndex::open_reader(dir)?))
}

fn compare(place: &Path, pages: &Pages, maxima: &LinkMaxima) -> Outcome<()> {
    let generating = time(|| Ok(pages.all().for_each(|page| drop(black_box(page)))))?;
    let dirs = ["two", "one", "ours"].map(|name| place.join(name));
    dirs.iter().try_for_each(fs::create_dir)?;
    let mut raws = Vec::new();
    println!("| | pages/s | | KB/page | |\n|---|---|---|---|---|");
    let mut first: Option<(f64, f64)> = None;
    let mut row = |name: &str, took: Duration, dir: &Path| -> Outcome<()> {
        let rate = pages.count() as f64 / (took - generating.min(took / 2)).as_secs_f64();
        let size = bytes_of(dir)? as f64 / 1e3 / pages.count() as f64;
        let (rate_of, size_of) = *first.get_or_insert((rate, size));
        println!("| {name} | {rate:.0} | {:.2} × | {size:.2} | {:.2} × |", rate / rate_of, size / size_of);
        Ok(())
    };
    let shapes = [("tantivy, title and body", Shape::TwoFields), ("tantivy, one field", Shape::OneField)];
    for ((name, shape), dir) in shapes.iter().zip(&dirs) {
        let started = Instant::now();
        let raw =
            Raw::build(dir, *shape, &mut pages.all(), maxima, &Sequence::CrawlOrder, (THREADS, MEMORY))?;
        row(name, started.elapsed(), dir)?;
        raws.push(raw);
    }
    let (took, index) = ours(&dirs[2], pages, maxima)?;
    row("Pharos", took, &dirs[2])?;
    let view = index.view()?;

    println!("\nTop ten of {QUERIES} queries, one thread, µs: mean (p99)\n");
    println!("| | AND | | OR | |\n|---|---|---|---|---|");
    let queries = queries(pages);
    let [two, one] = &raws[..] else { return Err("two raw indexes".into()) };
    let ask = |words: &[String], all: bool, rank_weight: f32, count_up_to: u64| {
        let query = question(words, all);
        let asked = RetrievalRequest { rank_weight, count_up_to, ..RetrievalRequest::new(&query, 10) };
        view.retrieve(&asked)
    };
    let list = |words: &[String], all: bool| -> Outcome<usize> {
        let found = ask(words, all, 0.0, 0)?;
        Ok(view.result_fields(&found.candidates)?.iter().map(|fields| fields.url.len()).sum())
    };
    type Work<'a> = Box<dyn Fn(&[String], bool) -> Outcome<usize> + 'a>;
    let groups: Vec<Vec<(&str, Work<'_>)>> = vec![
        vec![
            ("BM25: tantivy, two fields", Box::new(|w, all| Ok(two.best(w, all)?.len()))),
            ("BM25: tantivy, one field", Box::new(|w, all| Ok(one.best(w, all)?.len()))),
            ("BM25: Pharos", Box::new(|w, all| Ok(ask(w, all, 0.0, 0)?.candidates.len()))),
        ],
        vec![
            (
                "BM25 + rank: tantivy, one field",
                Box::new(|w, all| Ok(one.best_ranked(w, all, RANK_WEIGHT)?.len())),
            ),
            ("BM25 + rank: Pharos", Box::new(|w, all| Ok(ask(w, all, RANK_WEIGHT, 0)?.candidates.len()))),
        ],
        vec![
            ("with count: tantivy, one field", Box::new(|w, all| one.best_and_count(w, all))),
            (
                "with count up to 10,000: Pharos",
                Box::new(|w, all| Ok(ask(w, all, 0.0, 10_000)?.candidates.len())),
            ),
        ],
        vec![
            ("with addresses: tantivy, one field", Box::new(|w, all| Ok(one.addresses(w, all)?.len()))),
            ("with addresses: Pharos", Box::new(list)),
        ],
    ];
    for group in groups {
        let mut means = vec![Vec::new(); group.len()];
        for all in [true, false] {
            let mut best = vec![vec![Duration::MAX; queries.len()]; group.len()];
            for _ in 0..ROUNDS {
                for (nth, words) in queries.iter().enumerate() {
                    for ((_, work), best) in group.iter().zip(&mut best) {
                        best[nth] = best[nth].min(time(|| Ok(drop(black_box(work(words, all)?))))?);
                    }
                }
            }
            for (means, mut times) in means.iter_mut().zip(best) {
                times.sort_unstable();
                let mean = times.iter().sum::<Duration>().as_secs_f64() * 1e6 / times.len() as f64;
                means.push((mean, times[times.len() * 99 / 100].as_secs_f64() * 1e6));
            }
        }
        for ((name, _), times) in group.iter().zip(&means) {
            let cell = |of: usize| {
                format!("{:.0} ({:.0}) | {:.2} ×", times[of].0, times[of].1, means[0][of].0 / times[of].0)
            };
            println!("| {name} | {} | {} |", cell(0), cell(1));
        }
    }
    Ok(())
}

/// Compares document orders by size and query time.
fn compare_orders(pages: &Pages, maxima: &LinkMaxima) -> Outcome<()> {
    let queries = queries(pages);
    let mut addresses: Vec<(String, usize)> =
        (0..pages.count()).map(|n| (pages.page(n).url.to_string(), n)).collect();
    addresses.sort_unstable();
    let mut by_address = vec![0u64; pages.count()];
    addresses.iter().zip(0..).for_each(|((_, n), place)| by_address[*n] = place);
    let rank = |page: &IndexDocument| (maxima.static_rank(&page.link_figures) * 65_535.0).round() as u64;
    // Pages whose titles begin alike have similar content.
    let cluster = |page: &IndexDocument| {
        let word = page.title.split_whitespace().min().unwrap_or_default();
        word.bytes().fold(0u64, |hash, byte| (hash * 31 + u64::from(byte)) % 1_000_000)
    };
    let by_url = |n: usize, _: &IndexDocument| by_address[n];
    let by_rank = |_: usize, page: &IndexDocument| 65_535 - rank(page);
    let by_tier = |n: usize, page: &IndexDocument| ((65_535 - rank(page)) / 8_192) << 40 | by_address[n];
    let by_cluster = |_: usize, page: &IndexDocument| cluster(page);
    let orders: [(&str, Sequence<'_>); 5] = [
        ("crawl", Sequence::CrawlOrder),
        ("address", Sequence::By(&by_url)),
        ("static rank", Sequence::By(&by_rank)),
        ("tiers of rank, each by address", Sequence::By(&by_tier)),
        ("clustered by title", Sequence::By(&by_cluster)),
    ];
    println!("| order | KB/page | AND, µs | OR, µs |\n|---|---|---|---|");
    let mut made = Vec::new();
    for (name, order) in &orders {
        let dir = tempfile::tempdir()?;
        let raw = Raw::build(dir.path(), Shape::OneField, &mut pages.all(), maxima, order, (1, MEMORY))?;
        let size = bytes_of(dir.path())? as f64 / 1e3 / pages.count() as f64;
        made.push((name, raw, size, dir));
    }
    let mut means = vec![[0.0f64; 2]; made.len()];
    for (column, all) in [true, false].into_iter().enumerate() {
        for words in &queries {
            let mut best = vec![Duration::MAX; made.len()];
            for _ in 0..ROUNDS {
                for ((_, raw, ..), best) in made.iter().zip(&mut best) {
                    *best = (*best).min(time(|| Ok(drop(black_box(raw.best(words, all)?))))?);
                }
            }
            best.iter()
                .zip(&mut means)
                .for_each(|(t, means)| means[column] += t.as_secs_f64() * 1e6 / queries.len() as f64);
        }
    }
    for ((name, _, size, _), [and, or]) in made.iter().zip(means) {
        println!("| {name} | {size:.2} | {and:.0} | {or:.0} |");
    }
    Ok(())
}

/// Evaluates a small index of important words that is searched first: how often it suffices, and whether its top ten
/// are the true top ten.
fn compare_tier(pages: &Pages, maxima: &LinkMaxima) -> Outcome<()> {
    let dirs = [tempfile::tempdir()?, tempfile::tempdir()?];
    let build = |dir: &tempfile::TempDir, shape| {
        Raw::build(dir.path(), shape, &mut pages.all(), maxima, &Sequence::CrawlOrder, (THREADS, MEMORY))
    };
    let (small, whole) = (build(&dirs[0], Shape::Important)?, build(&dirs[1], Shape::OneField)?);
    println!("| | sufficient | same top ten | small, µs | full, µs | small, then full, µs |");
    println!("|---|---|---|---|---|---|");
    for (name, all) in [("AND", true), ("OR", false)] {
        let (mut enough, mut same) = (0, 0);
        let mut means = [0.0f64; 2];
        let queries = queries(pages);
        for words in &queries {
            let (few, ten) = (small.addresses(words, all)?, whole.addresses(words, all)?);
            enough += usize::from(few.len() == 10);
            same += usize::from(few.len() == 10 && few == ten);
            for (raw, mean) in [&small, &whole].into_iter().zip(&mut means) {
                let mut best = Duration::MAX;
                for _ in 0..ROUNDS {
                    best = best.min(time(|| Ok(drop(black_box(raw.best(words, all)?))))?);
                }
                *mean += best.as_secs_f64() * 1e6 / queries.len() as f64;
            }
        }
        let share = enough as f64 / queries.len() as f64;
        println!(
            "| {name} | {:.1} % | {:.1} % | {:.0} | {:.0} | {:.0} |",
            100.0 * share,
            100.0 * same as f64 / queries.len() as f64,
            means[0],
            means[1],
            means[0] + (1.0 - share) * means[1]
        );
    }
    Ok(())
}

/// Returns queries of two to four words that occur on one page, as segmented by the analyser.
fn queries(pages: &Pages) -> Vec<Vec<String>> {
    let mut random = StdRng::seed_from_u64(3);
    let mut queries = Vec::new();
    while queries.len() < QUERIES {
        let page = pages.page(random.random_range(0..pages.count()));
        let words: Vec<String> =
            Analyser::shared().tokens(&page.body).into_iter().map(|token| token.text).collect();
        if words.len() < 10 {
            continue;
        }
        let wanted = 2 + queries.len() % 3;
        let mut chosen: Vec<String> =
            (0..wanted).map(|_| words[random.random_range(0..words.len())].clone()).collect();
        chosen.sort();
        chosen.dedup();
        if chosen.len() == wanted {
            queries.push(chosen);
        }
    }
    queries
}

fn question(words: &[String], all: bool) -> Query {
    let words = words.iter().cloned().map(Query::Word).collect();
    if all { Query::And(words) } else { Query::Or(words) }
}

fn time(work: impl FnOnce() -> Outcome<()>) -> Outcome<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

fn bytes_of(dir: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { bytes_of(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

fn peak_megabytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0
        / 1e6
}
