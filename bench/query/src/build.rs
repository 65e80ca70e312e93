//! Builds the two indexes on disk once, and reuses them if they match the options.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use pharos_core::{Config, LibraryPositions};
use pharos_graph::Relations;
use pharos_index::{GenerationStore as _, Generations, IndexDocument};

use crate::Outcome;
use crate::pages::{self, Pages};
use crate::raw::Raw;

const THREADS: usize = 2;

/// Number of pages that queries are generated from.
const SAMPLE: usize = 5_000;

/// Interval of progress messages in pages.
const PROGRESS_INTERVAL: usize = 50_000;

/// Paths of all files.
pub struct Paths {
    pub index: PathBuf,
    pub raw: PathBuf,
    graph: PathBuf,
    sample: PathBuf,
}

impl Paths {
    pub fn at(dir: &Path) -> Self {
        let [index, raw, graph, sample] = ["index", "raw", "graph", "sample.tsv"].map(|name| dir.join(name));
        Self { index, raw, graph, sample }
    }

    /// Builds the missing parts.
    pub fn fill(&self, count: usize) -> Outcome<()> {
        let parts = [&self.graph, &self.index, &self.raw];
        if parts.into_iter().all(|part| is_done(part, count)) {
            return Ok(());
        }
        let started = Instant::now();
        let web = pages::web(count);
        let pages = Pages::of(&web, count);
        print_elapsed("web", started);
        if !is_done(&self.graph, count) {
            clear(&self.graph)?;
            let started = Instant::now();
            pages.relate(&self.graph)?;
            print_elapsed("links, ranks, anchors and copies", started);
            done(&self.graph, count)?;
        }
        let relations = Relations::open(&self.graph)?;
        let config = Config::default();
        let memory = config.index.memory.bytes();
        if !is_done(&self.index, count) {
            clear(&self.index)?;
            let started = Instant::now();
            let generations = Generations::at(&self.index);
            let _builder = generations.lock_builder()?;
            let body_limit = config.index.body_limit.bytes();
            let mut history = generations.build_directory().begin(THREADS, memory, body_limit)?
                .with_maxima(pages::maxima(&relations))?;
            let mut sample = BufWriter::new(File::create(&self.sample)?);
            for (nth, page) in pages.documents(&relations).enumerate() {
                let page = page?;
                if nth % (count / SAMPLE).max(1) == 0 {
                    writeln!(
                        sample,
                        "{}\t{}\t{}",
                        page.url,
                        page.title,
                        page.body.replace(['\t', '\n'], " ")
                    )?;
                }
                history.add(&page)?;
                print_progress(nth, started);
            }
            sample.flush()?;
            let history = history.finish(LibraryPositions::START)?;
            generations.install(history)?;
            print_elapsed("Pharos index", started);
            done(&self.index, count)?;
        }
        if !is_done(&self.raw, count) {
            clear(&self.raw)?;
            let started = Instant::now();
            let pages = pages.documents(&relations).enumerate().map(|(nth, page)| -> Outcome<IndexDocument> {
                print_progress(nth, started);
                page
            });
            Raw::build(&self.raw, pages, THREADS, memory)?;
            print_elapsed("tantivy index", started);
            done(&self.raw, count)?;
        }
        Ok(())
    }

    /// Returns the pages that queries are generated from: address, title, text.
    pub fn sample(&self) -> Outcome<Vec<[String; 3]>> {
        let mut pages = Vec::new();
        for line in BufReader::new(File::open(&self.sample)?).lines() {
            let line = line?;
            let mut parts = line.splitn(3, '\t').map(String::from);
            if let (Some(url), Some(title), Some(text)) = (parts.next(), parts.next(), parts.next()) {
                pages.push([url, title, text]);
            }
        }
        Ok(pages)
    }
}

/// Returns the stamp of a finished part, which names its options.
fn stamp(count: usize) -> String {
    format!("{count} pages, seed {}, analyser {}\n", pages::SEED, pharos_text::version())
}

fn stamp_file(part: &Path) -> PathBuf {
    part.with_extension("stamp")
}

fn is_done(part: &Path, count: usize) -> bool {
    fs::read_to_string(stamp_file(part)).is_ok_and(|text| text == stamp(count))
}

fn done(part: &Path, count: usize) -> Outcome<()> {
    Ok(fs::write(stamp_file(part), stamp(count))?)
}

fn clear(part: &Path) -> Outcome<()> {
    if part.exists() {
        fs::remove_dir_all(part)?;
    }
    Ok(fs::create_dir_all(part)?)
}

fn print_elapsed(what: &str, started: Instant) {
    eprintln!("{what}: {:.0} s", started.elapsed().as_secs_f64());
}

fn print_progress(nth: usize, started: Instant) {
    if nth > 0 && nth.is_multiple_of(PROGRESS_INTERVAL) {
        eprintln!("  {nth} pages after {:.0} s", started.elapsed().as_secs_f64());
    }
}
