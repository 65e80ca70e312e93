//! Building a history generation from the library, beside whoever owns the data directory.
//!
//! Three steps: over the library, which record of each page is the current one ([`Pages`]); what pages say about each
//! other ([`relate`]: an anchor belongs to its target, a copy to its original, so all pages must be read before the first
//! is indexed); the pages themselves.

use std::thread;
use std::time::{Duration, Instant};

use pharos_core::LibraryPosition;
use pharos_core::config::Config;
use pharos_index::{Generations, History, HistoryBuilder, IndexError, Wish};
use pharos_store::{DataDir, StoreError};
use tracing::info;

use crate::EngineError;
use crate::absorb::open_index;
use crate::pages::{Pages, Templates};
use crate::readers::reading_threads;
use crate::reading::{document, is_searchable};
use crate::relate::{Related, check_rules, relate};

/// How long the owner may take to react.
const OWNER_PATIENCE: Duration = Duration::from_secs(60);

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Looking for the newest record of each page; so many records seen.
    Surveying(u64),
    /// Looking for copies; so many of so many pages.
    Comparing(u64, u64),
    /// Reading links; so many of so many pages.
    Linking(u64, u64),
    /// Computing ranks.
    Ranking,
    /// Indexing; so many of so many pages.
    Indexing(u64, u64),
    /// Being put in place.
    Switching,
}

/// What was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BuildSummary {
    /// Number of the generation.
    pub generation: u64,
    /// Pages in it.
    pub pages: u64,
    /// Library position it was built up to.
    pub to: LibraryPosition,
}

/// Builds a history generation and puts it in place. `progress` is told how far it is and says whether to go on.
pub fn build_history(
    data: &DataDir,
    config: &Config,
    mut progress: impl FnMut(Progress) -> bool,
) -> Result<BuildSummary, EngineError> {
    check_rules(config)?;
    let generations = Generations::at(data.index());
    let _builder = generations.lock_builder()?;
    let mut check = |p: Progress| if progress(p) { Ok(()) } else { Err(EngineError::Stopped) };

    let open = generations.current()?.open().number;
    ask_owner(data, config, &generations, Wish::Seal(open))?;
    let (history, pages) = build_generation(data, config, &generations, &mut check)?;
    check(Progress::Switching)?;
    ask_owner(data, config, &generations, Wish::Install(history))?;
    info!(generation = history.number, pages, "a new history generation is in place");
    Ok(BuildSummary { generation: history.number, pages, to: history.to })
}

/// Drops every generation but a new one, built from the library alone, for whoever owns the data directory. The old
/// ones answer until it is done, where they can be read at all.
pub(crate) fn rebuild_index(
    data: &DataDir,
    config: &Config,
    check: &mut dyn FnMut(Progress) -> Result<(), EngineError>,
) -> Result<BuildSummary, EngineError> {
    check_rules(config)?;
    let generations = Generations::at(data.index());
    let _builder = generations.lock_builder()?;
    generations.wish_done();
    match generations.current() {
        Ok(_) => {}
        Err(IndexError::Damaged { .. } | IndexError::OlderFormat { .. }) => {
            generations.start_over(None)?;
        }
        Err(error) => return Err(error.into()),
    }
    let (history, pages) = build_generation(data, config, &generations, check)?;
    check(Progress::Switching)?;
    generations.start_over(Some(history))?;
    info!(generation = history.number, pages, "the index was made again");
    Ok(BuildSummary { generation: history.number, pages, to: history.to })
}

/// Builds a generation up to the end of the library. Nobody sees it yet.
fn build_generation(
    data: &DataDir,
    config: &Config,
    generations: &Generations,
    check: &mut dyn FnMut(Progress) -> Result<(), EngineError>,
) -> Result<(History, u64), EngineError> {
    let pages = Pages::of(data, config, &mut |n| check(Progress::Surveying(n)))?;
    let (total, to) = (pages.count(), pages.to());
    let (relations, _) = relate(data, config, &pages, check)?;

    let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
    let mut builder = HistoryBuilder::begin(generations, reading_threads(config), memory, body_limit)?;
    let mut templates = Templates::new(config);
    let related = Related::new(&relations, &pages);
    pages.each(&mut |n| check(Progress::Indexing(n, total)), &mut |url, at, position, page| {
        if is_searchable(page) {
            let mut document = document(url, at, position, page);
            templates.strip(url, &mut document.body);
            if related.complete(&mut document)? {
                builder.add(&document)?;
            }
        }
        Ok(())
    })?;
    let pages = builder.pages();
    Ok((builder.finish(to)?, pages))
}

/// Has the owner change the chain of generations; without an owner, owns the directory for that moment.
fn ask_owner(
    data: &DataDir,
    config: &Config,
    generations: &Generations,
    wish: Wish,
) -> Result<(), EngineError> {
    let patience = Instant::now() + OWNER_PATIENCE;
    generations.wish(wish)?;
    loop {
        match data.own("index build") {
            Ok(_owner) => {
                if !is_fulfilled(generations, wish)? {
                    open_index(generations, config)?.fulfil_wish()?;
                }
                generations.wish_done();
                return Ok(());
            }
            Err(StoreError::InUse { owner, .. }) => {
                // The owner takes a wish away once it has done with it. Until then another must not be left: it would
                // be taken away too.
                if generations.waiting() != Some(wish) {
                    let fulfilled = is_fulfilled(generations, wish)?;
                    return if fulfilled { Ok(()) } else { Err(EngineError::WishRefused { owner }) };
                }
                if Instant::now() > patience {
                    // The wish stays: a finished generation is put in place as soon as the owner looks.
                    return Err(EngineError::OwnerSilent { owner });
                }
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_fulfilled(generations: &Generations, wish: Wish) -> Result<bool, EngineError> {
    let current = generations.current()?;
    Ok(match wish {
        Wish::Seal(number) => current.open().number > number,
        Wish::Install(history) => current.history == Some(history),
    })
}
