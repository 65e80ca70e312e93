//! Building a history generation from the library, beside whoever owns the data directory.
//!
//! Three passes over the library: which record of each page is the newest; what pages call each other (an anchor
//! belongs to its target, so all pages must be read before the first is indexed); the pages themselves.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageId};
use pharos_index::{Change, Generations, HistoryBuilder, Wish};
use pharos_store::{Content, DataDir, DiskLibrary, Library, StoreError, StoredRecord};
use tracing::{info, warn};

use crate::EngineError;
use crate::absorb::open_index;
use crate::engine::{read_group, reading_pool, reading_threads};
use crate::reading::{Read, is_telling, settles};

/// Anchors kept for one page; more of them say nothing new.
const MAX_ANCHORS: usize = 32;
/// Pages read at a time; each may be as large as `crawl.body_limit`.
const GROUP: usize = 64;
/// How long the owner may take to react.
const OWNER_PATIENCE: Duration = Duration::from_secs(60);

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Looking for the newest record of each page; so many records seen.
    Surveying(u64),
    /// Reading links; so many of so many pages.
    Linking(u64, u64),
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
    let generations = Generations::at(data.index());
    let _builder = generations.lock_builder()?;
    let mut check = |p: Progress| if progress(p) { Ok(()) } else { Err(EngineError::Stopped) };

    let open = generations.current()?.open().number;
    ask_owner(data, config, &generations, Wish::Seal(open))?;

    let threads = reading_threads(config);
    let library = DiskLibrary::open_reader(&data.library())?;
    let (newest, to) = survey(&library, &mut check)?;
    let total = newest.len() as u64;
    let pages = Pages { library, pool: reading_pool(threads)?, config, newest, to };
    let mut anchors = pages.anchors(&mut |n| check(Progress::Linking(n, total)))?;

    let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
    let mut builder = HistoryBuilder::begin(&generations, threads, memory, body_limit)?;
    pages.each(&mut |n| check(Progress::Indexing(n, total)), &mut |mut read| {
        if let Some(Change::Put(mut document)) = read.index_change() {
            document.anchors = anchors.remove(&document.url.id()).unwrap_or_default();
            builder.add(&document)?;
        }
        Ok(())
    })?;
    let pages = builder.pages();
    let history = builder.finish(to)?;
    check(Progress::Switching)?;
    ask_owner(data, config, &generations, Wish::Install(history))?;
    info!(generation = history.number, pages, "a new history generation is in place");
    Ok(BuildSummary { generation: history.number, pages, to })
}

/// The record, or nothing where the library is damaged: that is told once and costs no more than it hits.
fn whole(stored: Result<StoredRecord, StoreError>, tell: bool) -> Result<Option<StoredRecord>, EngineError> {
    match stored {
        Ok(stored) => Ok(Some(stored)),
        Err(damage @ StoreError::Damaged { .. }) => {
            if tell {
                warn!("{damage}");
            }
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The newest answer of each page that settles what it says, and where the library ended.
type Newest = HashMap<PageId, LibraryPosition>;

fn survey(
    library: &dyn Library,
    check: &mut impl FnMut(Progress) -> Result<(), EngineError>,
) -> Result<(Newest, LibraryPosition), EngineError> {
    let mut newest = Newest::new();
    let mut to = LibraryPosition::START;
    let mut records = 0;
    for stored in library.scan(LibraryPosition::START)? {
        let Some(stored) = whole(stored, true)? else { continue };
        to = stored.next;
        if let Content::Response(response) = &stored.record.content
            && settles(response)
        {
            newest.insert(stored.record.url.id(), stored.position);
        }
        records += 1;
        if records % 1024 == 0 {
            check(Progress::Surveying(records))?;
        }
    }
    Ok((newest, to))
}

/// The newest record of every page, up to a point of the library, and the means to read them.
struct Pages<'a> {
    library: DiskLibrary,
    pool: rayon::ThreadPool,
    config: &'a Config,
    newest: Newest,
    to: LibraryPosition,
}

impl Pages<'_> {
    /// What other pages call each page.
    fn anchors(
        &self,
        check: &mut impl FnMut(u64) -> Result<(), EngineError>,
    ) -> Result<HashMap<PageId, Vec<String>>, EngineError> {
        let mut anchors: HashMap<PageId, Vec<String>> = HashMap::new();
        // As much memory as the index writer gets later; what comes when it is used up is left to better means.
        let mut left = self.config.index.memory.bytes();
        self.each(check, &mut |read| {
            let from = read.stored.record.url.id();
            for link in read.page.iter().flat_map(|p| &p.links) {
                let target = link.url.id();
                if target == from || !self.newest.contains_key(&target) || !is_telling(&link.anchor) {
                    continue;
                }
                let known = anchors.entry(target).or_default();
                if known.len() < MAX_ANCHORS && left >= link.anchor.len() && !known.contains(&link.anchor) {
                    left -= link.anchor.len();
                    known.push(link.anchor.clone());
                }
            }
            Ok(())
        })?;
        Ok(anchors)
    }

    /// Reads them all, on all cores, in the order of the library.
    fn each(
        &self,
        check: &mut impl FnMut(u64) -> Result<(), EngineError>,
        each: &mut impl FnMut(Read) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut scan = self.library.scan(LibraryPosition::START)?;
        let mut done = 0;
        loop {
            let mut group = Vec::with_capacity(GROUP);
            for stored in scan.by_ref() {
                let Some(stored) = whole(stored, false)? else { continue };
                if stored.position >= self.to {
                    break;
                }
                if self.newest.get(&stored.record.url.id()) == Some(&stored.position) {
                    group.push(stored);
                }
                if group.len() == GROUP {
                    break;
                }
            }
            if group.is_empty() {
                return Ok(());
            }
            done += group.len() as u64;
            read_group(&self.pool, group, self.config).into_iter().try_for_each(&mut *each)?;
            check(done)?;
        }
    }
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
                if is_fulfilled(generations, wish)? {
                    return Ok(());
                }
                if generations.waiting() != Some(wish) {
                    return Err(EngineError::WishRefused { owner });
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
