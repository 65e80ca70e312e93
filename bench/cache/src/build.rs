//! Builds the index on disk once, and reuses it if it matches the options.

use std::fs;
use std::path::Path;
use std::time::Instant;

use pharos_core::{Config, LibraryPositions};
use pharos_index::{GenerationStore as _, Generations};

use crate::Outcome;
use crate::pages::{self, Pages};

const THREADS: usize = 2;

/// Builds the index in `dir/index`, unless it exists.
pub fn fill(dir: &Path, count: usize) -> Outcome<()> {
    let stamp = format!("{count} pages, seed {}\n", pages::SEED);
    let (index, graph, stamp_file) = (dir.join("index"), dir.join("graph"), dir.join("stamp"));
    if fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp) {
        return Ok(());
    }
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(&graph)?;
    fs::create_dir_all(&index)?;
    let started = Instant::now();
    let web = pages::web(count);
    let pages = Pages::of(&web, count);
    let relations = pages.relate(&graph)?;
    let config = Config::default();
    let generations = Generations::at(&index);
    let _builder = generations.lock_builder()?;
    let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
    let mut history = generations.build_directory().begin(THREADS, memory, body_limit)?
        .with_maxima(pages::maxima(&relations))?;
    for page in pages.documents(&relations) {
        history.add(&page?)?;
    }
    generations.install(history.finish(LibraryPositions::START)?)?;
    eprintln!("{count} pages: {:.0} s", started.elapsed().as_secs_f64());
    Ok(fs::write(&stamp_file, stamp)?)
}
