//! Measurements, printed as tables.

use std::cmp::Reverse;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pharos_core::Config;
use pharos_index::{EmbeddedIndex, Index};
use pharos_query::{QueryProcessor, SearchRequest};

use crate::Outcome;
use crate::build::Paths;
use crate::queries::{BenchQuery, Kind};
use crate::raw::Raw;
use crate::stages::{Stage, TimedIndex};
use crate::times::Times;

const ROUNDS: usize = 3;
const PROFILED: Duration = Duration::from_secs(30);

/// Maximum 99th percentile of the query time in µs.
const MAX_P99: f64 = 100_000.0;
const MAX_THREADS: usize = 64;

/// Both indexes and the queries.
pub struct Bench {
    index: Arc<dyn Index>,
    raw: Raw,
    queries: Vec<BenchQuery>,
    config: Config,
}

impl Bench {
    pub fn open(paths: &Paths, queries: Vec<BenchQuery>, config: Config) -> Outcome<Self> {
        let index = Arc::new(EmbeddedIndex::open_reader(&paths.index)?);
        Ok(Self { index, raw: Raw::open(&paths.raw)?, queries, config })
    }

    /// Returns a query service with an empty cache.
    fn service(&self) -> QueryProcessor {
        QueryProcessor::new(Arc::clone(&self.index), &self.config)
    }

    /// Prints the kinds of queries and their results, and loads the files into the page cache.
    pub fn print_mix(&self) -> Outcome<()> {
        let (search, queries) = (self.service(), &self.queries);
        println!("{} pages, {} queries\n", self.index.view()?.pages()?, queries.len());
        println!("| kind | queries | examples | no page with all words | results, median | timed out |");
        println!("|---|---|---|---|---|---|");
        for (kind, _) in Kind::MIX {
            let (mut relaxed, mut partial, mut totals) = (0, 0, Vec::new());
            let of_kind: Vec<&BenchQuery> = queries.iter().filter(|asked| asked.kind == kind).collect();
            for asked in &of_kind {
                let answer = search.run(&SearchRequest::new(asked.text.as_str()))?;
                relaxed += usize::from(answer.relaxed || answer.total == 0);
                partial += usize::from(answer.partial);
                totals.push(answer.total);
            }
            totals.sort_unstable();
            let examples: Vec<String> =
                of_kind.iter().take(2).map(|asked| format!("`{}`", asked.text)).collect();
            println!(
                "| {} | {} | {} | {relaxed} | {} | {partial} |",
                kind.name(),
                of_kind.len(),
                examples.join(", "),
                totals.get(totals.len() / 2).copied().unwrap_or_default()
            );
        }
        Ok(())
    }

    pub fn print_times(&self) -> Outcome<()> {
        let Self { raw, queries, .. } = self;
        for asked in queries {
            black_box(raw.answer(asked)?);
        }
        let mut best = vec![[Duration::MAX; 2]; queries.len()];
        for _ in 0..ROUNDS {
            let search = self.service();
            for (asked, [ours, theirs]) in queries.iter().zip(&mut best) {
                let started = Instant::now();
                black_box(search.run(&SearchRequest::new(asked.text.as_str()))?);
                *ours = started.elapsed().min(*ours);
                let started = Instant::now();
                black_box(raw.answer(asked)?);
                *theirs = started.elapsed().min(*theirs);
            }
        }
        println!("\nOne thread, µs:\n");
        println!("| | Pharos: p50 | p90 | p99 | max | mean | tantivy: p50 | p90 | p99 | max | mean |");
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        let row = |name: &str, is_meant: &dyn Fn(&BenchQuery) -> bool| {
            let of = |which: usize| {
                let times = queries.iter().zip(&best).filter(|(asked, _)| is_meant(asked));
                Times::of(times.map(|(_, times)| times[which])).cells()
            };
            println!("| {name} | {} | {} |", of(0), of(1));
        };
        for (kind, _) in Kind::MIX {
            row(&kind.name(), &|asked| asked.kind == kind);
        }
        row("English", &|asked| asked.words.is_ascii());
        row("Chinese, or both", &|asked| !asked.words.is_ascii());
        row("**all**", &|_| true);
        let mut slowest: Vec<(Duration, &str)> =
            queries.iter().zip(&best).map(|(asked, [ours, _])| (*ours, asked.text.as_str())).collect();
        slowest.sort_unstable_by(|a, b| b.cmp(a));
        let slowest = slowest.iter().take(5).map(|(took, text)| format!("`{text}` {} µs", took.as_micros()));
        println!("\nSlowest of Pharos: {}", slowest.collect::<Vec<String>>().join(", "));
        Ok(())
    }

    pub fn print_stages(&self) -> Outcome<()> {
        let queries = &self.queries;
        let noted = Arc::new(TimedIndex::over(Arc::clone(&self.index)));
        let notes = Arc::clone(&noted.notes);
        let search = QueryProcessor::new(noted, &self.config);
        let mut taken = Vec::new();
        for asked in queries {
            let started = Instant::now();
            black_box(search.words(&asked.text));
            let parsing = started.elapsed();
            notes.take();
            let started = Instant::now();
            black_box(search.run(&SearchRequest::new(asked.text.as_str()))?);
            let whole = started.elapsed();
            let (stages, candidates) = notes.take();
            taken.push(Taken { whole, parsing, stages, candidates });
        }
        taken.sort_unstable_by_key(|taken| Reverse(taken.whole));
        let slowest = &taken[..taken.len() / 10];
        println!("\nTime by stage, µs, each query once:\n");
        println!(
            "| | p50 | p90 | p99 | max | mean | mean of the slowest tenth |\n|---|---|---|---|---|---|---|"
        );
        let row = |name: &str, of: &dyn Fn(&Taken) -> Duration| {
            let (all, slow) = (Times::of(taken.iter().map(of)), Times::of(slowest.iter().map(of)));
            println!("| {name} | {} | {:.0} |", all.cells(), slow.mean());
        };
        for (stage, name) in Stage::ALL {
            row(name, &|taken| taken.stages[stage as usize]);
        }
        row("remainder: parsing, scoring, folding, arranging, snippets", &|taken| {
            taken.whole.saturating_sub(taken.stages.iter().sum())
        });
        row("parsing only", &|taken| taken.parsing);
        let candidates =
            |of: &[Taken]| of.iter().map(|taken| taken.candidates).sum::<u64>() / of.len().max(1) as u64;
        println!(
            "\nMean number of ranked candidates: {}, {} for the slowest tenth.",
            candidates(&taken),
            candidates(slowest)
        );
        Ok(())
    }

    /// Measures throughput: each thread sends its next query when it has an answer, until every query was run once.
    pub fn print_throughput(&self) -> Outcome<()> {
        let Self { raw, queries, .. } = self;
        println!(
            "\n| threads | Pharos: queries/s | p50, µs | p99, µs | tantivy: queries/s | p50, µs | p99, µs |"
        );
        println!("|---|---|---|---|---|---|---|");
        let (mut threads, mut most) = (1, None);
        while threads <= MAX_THREADS {
            let search = self.service();
            let ours = concurrently(threads, queries, |asked| {
                search.run(&SearchRequest::new(asked.text.as_str())).map(drop).map_err(|e| e.to_string())
            })?;
            let theirs = concurrently(threads, queries, |asked| {
                raw.answer(asked).map(drop).map_err(|e| e.to_string())
            })?;
            let cells = |(rate, times): &(f64, Times)| {
                format!("{rate:.0} | {:.0} | {:.0}", times.part(0.5), times.part(0.99))
            };
            println!("| {threads} | {} | {} |", cells(&ours), cells(&theirs));
            if ours.1.part(0.99) > MAX_P99 {
                break;
            }
            let better = most.is_none_or(|(rate, _)| ours.0 > rate);
            most = if better { Some((ours.0, threads)) } else { most };
            threads *= 2;
        }
        if let Some((rate, threads)) = most {
            println!("\n{rate:.0} queries/s with {threads} threads and a p99 below {:.0} ms.", MAX_P99 / 1e3);
        }
        Ok(())
    }

    pub fn profile(&self) -> Outcome<()> {
        let (search, started) = (self.service(), Instant::now());
        while started.elapsed() < PROFILED {
            for asked in &self.queries {
                black_box(search.run(&SearchRequest::new(asked.text.as_str()))?);
            }
        }
        Ok(())
    }
}

/// Time of one query.
struct Taken {
    whole: Duration,
    parsing: Duration,
    stages: [Duration; Stage::ALL.len()],
    candidates: u64,
}

fn concurrently(
    threads: usize,
    queries: &[BenchQuery],
    answer: impl Fn(&BenchQuery) -> Result<(), String> + Sync,
) -> Outcome<(f64, Times)> {
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let work = || -> Result<Vec<Duration>, String> {
        let mut times = Vec::new();
        while let Some(asked) = queries.get(next.fetch_add(1, Ordering::Relaxed)) {
            let started = Instant::now();
            answer(asked)?;
            times.push(started.elapsed());
        }
        Ok(times)
    };
    let times = thread::scope(|scope| -> Outcome<Vec<Duration>> {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut times = Vec::new();
        for worker in workers {
            times.extend(worker.join().map_err(|_| "a thread panicked")??);
        }
        Ok(times)
    })?;
    Ok((queries.len() as f64 / started.elapsed().as_secs_f64(), Times::of(times)))
}
