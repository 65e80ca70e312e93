//! The pages of a library as they are now, one after the other: whatever is made from all of them is made through here.

use std::borrow::Cow;
use std::collections::HashMap;

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, Link, PageId, PageObject, PageUrl, SiteId, Timestamp};
use pharos_html::Template;
use pharos_store::{DataDir, DerivedReader, DiskLibrary, Library as _, Piece, StoreError, StoredPage};

use crate::EngineError;
use crate::intake::next_group;
use crate::readers::Readers;
use crate::reading::Wanted;
use crate::survey::{Survey, survey};

/// Sites whose templates are known at a time. When there are more, all are forgotten: a few pages teach them again.
const MAX_SITES: usize = 1_000;

/// What the pages of each site have in common. Pages come in the order of the library, so that a rebuild finds the
/// same.
pub(crate) struct Templates {
    share: f64,
    known: HashMap<SiteId, Template>,
}

impl Templates {
    pub(crate) fn new(config: &Config) -> Self {
        Self { share: config.clean.template, known: HashMap::new() }
    }

    /// Takes away what stands on other pages of the site, too.
    pub(crate) fn strip(&mut self, url: &PageUrl, body: &mut String) {
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
    surveyed: Survey,
}

/// What is to be done with a page: its address, when it was fetched, where it stands, what it says.
pub(crate) type Each<'a> =
    &'a mut dyn FnMut(&PageUrl, Timestamp, LibraryPosition, &PageObject) -> Result<(), EngineError>;

/// What is to be done with the links of a page.
pub(crate) type EachLinks<'a> = &'a mut dyn FnMut(&PageUrl, &[Link]) -> Result<(), EngineError>;

impl<'a> Pages<'a> {
    /// All pages of the library as it is now. `check` is told how many records were looked at.
    pub(crate) fn of(
        data: &DataDir,
        config: &'a Config,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        Self::up_to(None, data, config, check)
    }

    /// All pages as they were at a point of the library, or as they are now.
    pub(crate) fn up_to(
        to: Option<LibraryPosition>,
        data: &DataDir,
        config: &'a Config,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        let library = DiskLibrary::open_reader(&data.library())?;
        let surveyed = survey(&library, to, check)?;
        let derived = DerivedReader::open(&data.library(), pharos_html::VERSION);
        let readers = Readers::of(config)?;
        Ok(Self { library, derived, readers, config, surveyed })
    }

    /// How many pages there are.
    pub(crate) fn count(&self) -> u64 {
        self.surveyed.current.len() as u64
    }

    /// The point of the library up to which they are known.
    pub(crate) fn to(&self) -> LibraryPosition {
        self.surveyed.to
    }

    /// Addresses that lead elsewhere, and where to.
    pub(crate) fn redirects(&self) -> impl Iterator<Item = (PageId, &PageUrl)> {
        self.surveyed.redirects.iter().map(|(page, target)| (*page, target))
    }

    /// Did operators take this page or its site out?
    pub(crate) fn is_removed(&self, url: &PageUrl) -> bool {
        let id = url.id();
        self.surveyed.removed_pages.contains(&id) || self.surveyed.removed_sites.contains(&id.site())
    }

    /// When a page was there for the first time.
    pub(crate) fn first_seen(&self, page: PageId) -> Option<Timestamp> {
        self.surveyed.first_seen.get(&page).copied()
    }

    /// When and where the page said what it says now.
    pub(crate) fn version(&self, page: PageId) -> Option<(Timestamp, LibraryPosition)> {
        self.surveyed.current.get(&page).copied()
    }

    /// The library they are read from.
    pub(crate) fn library(&self) -> &DiskLibrary {
        &self.library
    }

    /// The words that matter most in a page, as a vector of length one; none for a page that says nothing.
    pub(crate) fn terms(&self, page: PageId) -> Result<Option<HashMap<String, f64>>, EngineError> {
        let Some((_, position)) = self.version(page) else { return Ok(None) };
        let mut terms: HashMap<String, f64> = HashMap::new();
        let mut read = |page: &PageObject| {
            terms = page.terms.iter().map(|term| (term.term.clone(), f64::from(term.weight))).collect();
        };
        match self.derived.page_without_links(position)? {
            Some(kept) => read(&kept.page),
            None => {
                let behind = LibraryPosition { offset: position.offset + 1, ..position };
                self.read_again(position, behind, &mut |_, _, _, page| {
                    read(page);
                    Ok(())
                })?;
            }
        }
        let length = terms.values().map(|weight| weight * weight).sum::<f64>().sqrt();
        Ok((length > 0.0).then(|| terms.into_iter().map(|(term, weight)| (term, weight / length)).collect()))
    }

    /// Gives the links of all pages, in the order of the library.
    pub(crate) fn links(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: EachLinks<'_>,
    ) -> Result<(), EngineError> {
        let mut done = 0;
        for piece in self.derived.links(LibraryPosition::START, self.surveyed.to) {
            match piece? {
                Piece::Kept(page) if self.is_current(page.url.id(), page.position) => {
                    each(&page.url, &page.links)?;
                    done += 1;
                }
                Piece::Kept(_) => {}
                Piece::Gap { from, to } => self.read_again(from, to, &mut |url, _, _, page| {
                    done += 1;
                    each(url, if page.no_follow() { &[] } else { &page.links })
                })?,
            }
            if done % 256 == 0 {
                check(done)?;
            }
        }
        Ok(())
    }

    /// Gives all pages, in the order of the library. Their links may be missing.
    pub(crate) fn each(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: Each<'_>,
    ) -> Result<(), EngineError> {
        let pieces = self.derived.pages_without_links(LibraryPosition::START, self.surveyed.to);
        self.each_of(pieces, check, each)
    }

    /// Gives all pages with their links, in the order of the library.
    pub(crate) fn each_with_links(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: Each<'_>,
    ) -> Result<(), EngineError> {
        let pieces = self.derived.pages(LibraryPosition::START, self.surveyed.to);
        self.each_of(pieces, check, each)
    }

    fn each_of(
        &self,
        pieces: impl Iterator<Item = Result<Piece<StoredPage>, StoreError>>,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: Each<'_>,
    ) -> Result<(), EngineError> {
        let mut done = 0;
        for piece in pieces {
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
        self.surveyed.current.get(&page).is_some_and(|(_, current)| *current == position)
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
