//! Building a history generation from the library, beside whoever owns the data directory.
//!
//! Three passes: over the library, which record of each page is the current one; over the links, what pages call each
//! other (an anchor belongs to its target, so all pages must be read before the first is indexed); over the page
//! objects, the pages themselves. Links and page objects come from the derived stores; where those have a gap, the raw
//! pages are read again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, Link, PageId, PageObject, PageUrl, SiteId, Timestamp};
use pharos_html::Template;
use pharos_index::{Generations, History, HistoryBuilder, IndexError, Wish};
use pharos_store::{DataDir, DerivedReader, DiskLibrary, Library, Piece, StoreError};
use tracing::info;

use crate::EngineError;
use crate::absorb::open_index;
use crate::intake::next_group;
use crate::readers::{Readers, reading_threads};
use crate::reading::{Wanted, document, is_searchable, is_telling};
use crate::survey::{Current, survey};

/// Anchors kept for one page; more of them say nothing new.
const MAX_ANCHORS: usize = 32;
/// Sites whose templates are known at a time. When there are more, all are forgotten: a few pages teach them again.
const MAX_SITES: usize = 1_000;
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
    let (total, to) = (pages.current.len() as u64, pages.to);
    let mut anchors = pages.anchors(&mut |n| check(Progress::Linking(n, total)))?;

    let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
    let mut builder = HistoryBuilder::begin(generations, reading_threads(config), memory, body_limit)?;
    let mut templates = Templates { share: config.clean.template, known: HashMap::new() };
    pages.each(&mut |n| check(Progress::Indexing(n, total)), &mut |url, at, position, page| {
        if is_searchable(page) {
            let mut document = document(url, at, position, page);
            templates.strip(url, &mut document.body);
            document.anchors = anchors.remove(&url.id()).unwrap_or_default();
            builder.add(&document)?;
        }
        Ok(())
    })?;
    let pages = builder.pages();
    Ok((builder.finish(to)?, pages))
}

/// What the pages of each site have in common. Pages come in the order of the library, so that a rebuild finds the
/// same.
struct Templates {
    share: f64,
    known: HashMap<SiteId, Template>,
}

impl Templates {
    /// Takes away what stands on other pages of the site, too.
    fn strip(&mut self, url: &PageUrl, body: &mut String) {
        if self.share <= 0.0 {
            return;
        }
        let site = url.id().site();
        if self.known.len() >= MAX_SITES && !self.known.contains_key(&site) {
            self.known.clear();
        }
        let template = self.known.entry(site).or_default();
        if let Cow::Owned(own) = template.own_text(url.as_str(), body, self.share) {
            *body = own;
        }
    }
}

/// The current version of every page, up to a point of the library, and the means to read them.
pub(crate) struct Pages<'a> {
    library: DiskLibrary,
    derived: DerivedReader,
    readers: Readers,
    config: &'a Config,
    current: Current,
    to: LibraryPosition,
}

/// What is to be done with a page: its address, when it was fetched, where it stands, what it says.
pub(crate) type Each<'a> =
    &'a mut dyn FnMut(&PageUrl, Timestamp, LibraryPosition, &PageObject) -> Result<(), EngineError>;

impl<'a> Pages<'a> {
    /// All pages of the library as it is now. `check` is told how many records were looked at.
    pub(crate) fn of(
        data: &DataDir,
        config: &'a Config,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        let library = DiskLibrary::open_reader(&data.library())?;
        let surveyed = survey(&library, check)?;
        let derived = DerivedReader::open(&data.library(), pharos_html::VERSION);
        let readers = Readers::of(config)?;
        Ok(Self { library, derived, readers, config, current: surveyed.current, to: surveyed.to })
    }

    /// What other pages call each page.
    fn anchors(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
    ) -> Result<HashMap<PageId, Vec<String>>, EngineError> {
        let mut anchors = Anchors {
            current: &self.current,
            known: HashMap::new(),
            // As much memory as the index writer gets later; what comes when it is used up is left to better means.
            left: self.config.index.memory.bytes(),
        };
        let mut done = 0;
        for piece in self.derived.links(LibraryPosition::START, self.to) {
            match piece? {
                Piece::Kept(page) if self.is_current(page.url.id(), page.position) => {
                    anchors.add(page.url.id(), &page.links);
                    done += 1;
                }
                Piece::Kept(_) => {}
                Piece::Gap { from, to } => {
                    self.read_again(from, to, &mut |url, _, _, page| {
                        anchors.add(url.id(), &page.links);
                        done += 1;
                        Ok(())
                    })?;
                }
            }
            if done % 256 == 0 {
                check(done)?;
            }
        }
        Ok(anchors.known)
    }

    /// Gives all pages, in the order of the library.
    pub(crate) fn each(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: Each<'_>,
    ) -> Result<(), EngineError> {
        let mut done = 0;
        for piece in self.derived.pages_without_links(LibraryPosition::START, self.to) {
            match piece? {
                Piece::Kept(kept) if self.is_current(kept.url.id(), kept.position) => {
                    each(&kept.url, kept.at, kept.position, &kept.page)?;
                    done += 1;
                }
                Piece::Kept(_) => {}
                Piece::Gap { from, to } => self.read_again(from, to, &mut |url, at, position, page| {
                    done += 1;
                    each(url, at, position, page)
                })?,
            }
            if done % 256 == 0 {
                check(done)?;
            }
        }
        Ok(())
    }

    fn is_current(&self, page: PageId, position: LibraryPosition) -> bool {
        self.current.get(&page).is_some_and(|(_, current)| *current == position)
    }

    /// Reads the raw pages of a stretch of the library, on all cores.
    fn read_again(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
        each: Each<'_>,
    ) -> Result<(), EngineError> {
        let scan = self.library.scan(from, Some(to))?;
        let mut scan = scan.filter(|stored| {
            let current = |s: &pharos_store::StoredRecord| self.is_current(s.record.url.id(), s.position);
            stored.as_ref().map_or_else(|e| !matches!(e, StoreError::Damaged { .. }), current)
        });
        loop {
            let group = next_group(&mut scan)?;
            if group.is_empty() {
                return Ok(());
            }
            for read in self.readers.read(group, &self.library, self.config, Wanted::Everything) {
                if let Some(facts) = &read.page {
                    each(&read.stored.record.url, read.stored.record.at, read.stored.position, &facts.page)?;
                }
            }
        }
    }
}

/// What pages are called by others.
struct Anchors<'a> {
    current: &'a Current,
    known: HashMap<PageId, Vec<String>>,
    /// Bytes that may still be kept.
    left: usize,
}

impl Anchors<'_> {
    fn add(&mut self, from: PageId, links: &[Link]) {
        for link in links {
            let target = link.url.id();
            if target == from || !self.current.contains_key(&target) || !is_telling(&link.anchor) {
                continue;
            }
            let known = self.known.entry(target).or_default();
            if known.len() < MAX_ANCHORS && self.left >= link.anchor.len() && !known.contains(&link.anchor) {
                self.left -= link.anchor.len();
                known.push(link.anchor.clone());
            }
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
