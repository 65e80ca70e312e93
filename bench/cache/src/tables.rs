//! Measurements, printed as tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use pharos_core::{Clock as _, Config, LibraryPosition, PageUrl, SystemClock};
use pharos_index::{IndexChange, IndexDocument, EmbeddedIndex, Index};
use pharos_mining::log::records::ShownResult;
use pharos_mining::{ImpressionRecord, LogWriter, QueryRecord, VisitHasher, new_id};
use pharos_query::cache::policy::{DECAY, PolicyKind, eta};
use pharos_mining::CacheUse;
use pharos_query::{QueryProcessor, SearchRequest};
use pharos_store::DataDir;
use pharos_testweb::QuerySpec;

use crate::front::{Front, Service};
use crate::{Options, Outcome, pages};

/// Without a cache, one query in this number is run.
const SPARSE: usize = 50;

/// Number of cached queries for the warm rate.
const WARM: usize = 1_000;

/// Number of queries for timing.
const TIMED: usize = 500;

/// An index and the query stream.
pub struct Bench {
    index: Arc<EmbeddedIndex>,
    /// Distinct queries, the most frequent first, and the stream as indexes into them.
    texts: Vec<String>,
    asked: Vec<usize>,
    options: Options,
}

/// Results of running the query stream.
struct StreamStats {
    queries_per_second: f64,
    /// Counts by [`CacheUse`].
    uses: [usize; 3],
}

impl StreamStats {
    fn part(&self, of: CacheUse) -> f64 {
        self.uses[of as usize] as f64 / self.uses.iter().sum::<usize>().max(1) as f64
    }
}

impl Bench {
    pub fn open(options: Options) -> Outcome<Self> {
        let config = Config::default();
        let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
        let index = EmbeddedIndex::open_writer(&options.dir.join("index"), memory, body_limit)?;
        let web = pages::web(options.pages);
        let mut queries = web.queries(&QuerySpec { distinct: options.distinct, ..QuerySpec::default() });
        let asked = (0..options.queries).map_while(|_| queries.draw()).collect();
        Ok(Self { index: Arc::new(index), texts: queries.texts().to_vec(), asked, options })
    }

    fn search(&self, config: &Config) -> QueryProcessor {
        QueryProcessor::new(Arc::clone(&self.index) as Arc<dyn Index>, config)
    }

    fn uncached(&self) -> QueryProcessor {
        let mut config = Config::default();
        config.cache.memory.0 = 0;
        self.search(&config)
    }

    /// Runs the stream on several threads; each thread sends its next query when it has an answer.
    fn run_stream(&self, service: &dyn Service, asked: &[usize]) -> Outcome<StreamStats> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<[usize; 3], String> {
            let mut uses = [0; 3];
            while let Some(query) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
                let of_cache = service.query(&self.texts[*query]).map_err(|error| error.to_string())?;
                uses[of_cache as usize] += 1;
            }
            Ok(uses)
        };
        let started = Instant::now();
        let done: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.options.threads).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let queries_per_second = asked.len() as f64 / started.elapsed().as_secs_f64();
        let mut uses = [0; 3];
        for of_thread in done {
            let of_thread = of_thread.map_err(|_| "a thread panicked")??;
            uses.iter_mut().zip(of_thread).for_each(|(all, some)| *all += some);
        }
        Ok(StreamStats { queries_per_second, uses })
    }

    pub fn print_policies(&self) -> Outcome<()> {
        let Options { entries, threads, .. } = self.options;
        println!(
            "{} pages, {} queries, {} distinct, {threads} threads\n",
            self.index.view()?.pages()?,
            self.asked.len(),
            self.texts.len()
        );
        // Loads the files into the page cache.
        self.run_stream(&self.uncached(), &self.asked[..self.asked.len().min(2_000)])?;
        println!("| cache | hits | partial hits | η, measured | 1 − p | queries/s |");
        println!("|---|---|---|---|---|---|");
        let sparse: Vec<usize> = self.asked.iter().step_by(SPARSE).copied().collect();
        let without = self.run_stream(&self.uncached(), &sparse)?;
        let row = |name: &str, stats: &StreamStats| {
            let missed = eta(stats.part(CacheUse::Hit), 0.0);
            let measured = without.queries_per_second / stats.queries_per_second;
            println!(
                "| {name} | {:.4} | {:.4} | {measured:.4} | {missed:.4} | {:.0} |",
                stats.part(CacheUse::Hit),
                stats.part(CacheUse::Partly),
                stats.queries_per_second
            );
        };
        row("none", &without);
        for kind in PolicyKind::all(DECAY).into_iter().filter(|kind| *kind != PolicyKind::WTinyLfu) {
            let front = Front::new(kind, entries, self.uncached());
            row(&format!("{}, {entries} entries", kind.name()), &self.run_stream(&front, &self.asked)?);
        }
        let ours = self.search(&Config::default());
        row(&format!("Pharos, {}", Config::default().cache.memory), &self.run_stream(&ours, &self.asked)?);
        row("Pharos, second run", &self.run_stream(&ours, &self.asked)?);
        Ok(())
    }

    /// Measures cached queries only.
    pub fn print_warm(&self) -> Outcome<()> {
        let search = self.search(&Config::default());
        let known = self.texts.len().min(WARM);
        search.warm(self.texts[..known].iter().map(String::as_str))?;
        let asked: Vec<usize> = self.asked.iter().copied().filter(|query| *query < known).collect();
        let warm = self.run_stream(&search, &asked)?;
        println!(
            "\n{:.0} queries/s for {known} cached queries ({:.4} hits), {} threads",
            warm.queries_per_second,
            warm.part(CacheUse::Hit),
            self.options.threads
        );
        Ok(())
    }

    /// Measures the time of one query by cache state.
    pub fn print_times(&self) -> Outcome<()> {
        let search = self.search(&Config::default());
        let texts = &self.texts[..self.texts.len().min(TIMED)];
        let mean = |page: usize| -> Outcome<(f64, usize)> {
            let (started, mut searched) = (Instant::now(), 0);
            for text in texts {
                let request = SearchRequest { page, ..SearchRequest::new(text.as_str()) };
                searched += usize::from(search.run(&request)?.cache == CacheUse::Miss);
            }
            Ok((started.elapsed().as_secs_f64() * 1e6 / texts.len().max(1) as f64, searched))
        };
        println!("\n| one thread, {} queries | µs | complete searches |", texts.len());
        println!("|---|---|---|");
        let row =
            |name: &str, (took, searched): (f64, usize)| println!("| {name} | {took:.0} | {searched} |");
        row("not cached", mean(1)?);
        row("cached", mean(1)?);
        row("second result page", mean(2)?);
        row("logging a query and its impressions", (self.measure_logging(&search, texts)?, 0));
        let url = PageUrl::parse("http://new.example/")?;
        let page = IndexDocument { title: "new".into(), body: "said just now".into(), ..IndexDocument::new(url) };
        self.index.apply(vec![IndexChange::Put(Box::new(page))])?;
        self.index.commit(&LibraryPosition::new(1, 1).into())?;
        row("cached, but latest has changed", mean(1)?);
        Ok(())
    }

    /// Measures the cost in µs of logging a query and its ten results on the query thread. Disk writes and compression
    /// run on the log's own thread, here on the same cores.
    fn measure_logging(&self, search: &QueryProcessor, texts: &[String]) -> Outcome<f64> {
        let (data, config) = (DataDir::at(self.options.dir.join("logged")), Config::default());
        let clock = Arc::new(SystemClock);
        let log = LogWriter::open(&data, &config.log, clock.clone());
        let visits = VisitHasher::open(&data, &config.log, clock.clone());
        let answers: Vec<_> = texts.iter().map(|text| search.run(&SearchRequest::new(text.as_str()))).collect();
        let (started, mut written) = (Instant::now(), 0_u32);
        for answer in answers {
            let answer = answer?;
            let (id, at) = (new_id(), clock.now());
            let results =
                (1..).zip(&answer.hits).map(|(rank, hit)| ShownResult { rank, url: hit.url.clone() });
            let impression = ImpressionRecord {
                id: id.clone(),
                at,
                query: answer.query.clone(),
                results: results.collect(),
                ..ImpressionRecord::default()
            };
            log.query(QueryRecord {
                id,
                at,
                visit: visits.name("192.0.2.1", "a browser"),
                query: answer.query,
                page: 1,
                total: Some(answer.total),
                took_ms: Some(answer.took_ms),
                generation: answer.generation,
                ..QueryRecord::default()
            });
            log.impression(impression);
            written += 1;
        }
        let took = started.elapsed().as_secs_f64() * 1e6 / f64::from(written.max(1));
        log.flush();
        if log.lost() > 0 {
            println!("{} log records were dropped", log.lost());
        }
        Ok(took)
    }
}
