//! Iteration over the current version of every page of the library, the input of all batch computations.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, LibraryPositions, Link, PageId, PageObject, PageUrl, SiteId, Timestamp};
use pharos_html::cleaning::SiteTemplate;
use pharos_store::derived::{DerivedItem, DerivedPage};
use pharos_store::{DataDir, DerivedReader, Library, StoreError};

use crate::EngineError;
use crate::build::survey::{LibrarySurvey, survey_library};
use crate::stages::analyse::AnalysisDepth;
use crate::stages::analysis_pool::AnalysisPool;
use crate::stages::ingest::{ReplayProgress, next_group};
use crate::stores::Stores;

/// Maximum number of templates of one kind in memory. Beyond it all are dropped; a few pages suffice to learn them again.
const MAX_TEMPLATES: usize = 500;

/// The templates of sites and folders. Pages arrive in library order, so a rebuild learns the same templates.
pub(crate) struct SiteTemplates {
    share: f64,
    by_site: HashMap<SiteId, SiteTemplate>,
    /// Templates of the other text, by site.
    other_by_site: HashMap<SiteId, SiteTemplate>,
    /// Templates of the other text, by the identifier of the folder: a section may have a menu of its own.
    other_by_folder: HashMap<PageId, SiteTemplate>,
}

impl SiteTemplates {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            share: config.clean.template,
            by_site: HashMap::new(),
            other_by_site: HashMap::new(),
            other_by_folder: HashMap::new(),
        }
    }

    /// Removes text that other pages of the site share.
    pub(crate) fn strip(&mut self, url: &PageUrl, body: &mut String) {
        if self.share <= 0.0 {
            return;
        }
        let template = template_of(&mut self.by_site, url.id().site());
        if let Cow::Owned(own) = template.remove_shared_lines(url.as_str(), body, self.share) {
            *body = own;
        }
    }

    /// Removes lines of the other text that other pages of the site, or of the folder, repeat. No lines may be left.
    pub(crate) fn strip_other(&mut self, url: &PageUrl, other: &mut String) {
        if self.share <= 0.0 || other.is_empty() {
            return;
        }
        let mut templates = vec![template_of(&mut self.other_by_site, url.id().site())];
        if let Ok(folder) = url.join(".") {
            templates.push(template_of(&mut self.other_by_folder, folder.id()));
        }
        for template in templates {
            if let Cow::Owned(own) = template.remove_all_shared_lines(url.as_str(), other, self.share) {
                *other = own;
            }
        }
    }
}

fn template_of<K: Hash + Eq>(templates: &mut HashMap<K, SiteTemplate>, key: K) -> &mut SiteTemplate {
    if templates.len() >= MAX_TEMPLATES && !templates.contains_key(&key) {
        templates.clear();
    }
    templates.entry(key).or_default()
}

/// The current version of every page up to a library position, with access to their content.
pub(crate) struct CurrentPages<'a> {
    library: Arc<dyn Library>,
    derived: DerivedReader,
    pool: AnalysisPool,
    config: &'a Config,
    survey: LibrarySurvey,
}

/// Callback for a page: URL, fetch time, position, page object.
pub(crate) type PageVisitor<'a> =
    &'a mut dyn FnMut(&PageUrl, Timestamp, LibraryPosition, &PageObject) -> Result<(), EngineError>;

/// Callback for the links of a page.
pub(crate) type LinkVisitor<'a> = &'a mut dyn FnMut(&PageUrl, &[Link]) -> Result<(), EngineError>;

impl<'a> CurrentPages<'a> {
    /// Finds the current pages of the whole library. `check` receives the number of records read.
    pub(crate) fn find(
        data: &DataDir,
        config: &'a Config,
        check: &mut dyn FnMut(ReplayProgress) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        Self::find_up_to(None, data, config, check)
    }

    /// Finds the current pages as of a library position, or of the whole library.
    pub(crate) fn find_up_to(
        to: Option<&LibraryPositions>,
        data: &DataDir,
        config: &'a Config,
        check: &mut dyn FnMut(ReplayProgress) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        let library = Stores::open(data, config)?.library()?;
        let survey = survey_library(&*library, to, config.library.file_size.0, check)?;
        let derived = DerivedReader::open(&data.library(), pharos_html::VERSION);
        let pool = AnalysisPool::from_config(config)?;
        Ok(Self { library, derived, pool, config, survey })
    }

    /// Returns the number of pages.
    pub(crate) fn count(&self) -> u64 {
        self.survey.current.len() as u64
    }

    /// Returns the library positions up to which pages are included.
    pub(crate) fn to(&self) -> &LibraryPositions {
        &self.survey.to
    }

    /// Returns the redirecting pages and their targets.
    pub(crate) fn redirects(&self) -> impl Iterator<Item = (PageId, &PageUrl)> {
        self.survey.redirects.iter().map(|(page, target)| (*page, target))
    }

    /// Returns `true` if an operator removed this page or its site.
    pub(crate) fn is_removed(&self, url: &PageUrl) -> bool {
        let id = url.id();
        self.survey.removed_pages.contains(&id) || self.survey.removed_sites.contains(&id.site())
    }

    /// Returns the time at which a page was first fetched successfully.
    pub(crate) fn first_seen(&self, page: PageId) -> Option<Timestamp> {
        self.survey.first_seen.get(&page).copied()
    }

    /// Returns time and position of the current version.
    pub(crate) fn current_version(&self, page: PageId) -> Option<(Timestamp, LibraryPosition)> {
        self.survey.current.get(&page).copied()
    }

    /// Returns the library.
    pub(crate) fn library(&self) -> &dyn Library {
        &*self.library
    }

    /// Returns the most important terms of a page as a unit vector, or `None` for a page without text.
    pub(crate) fn terms(&self, page: PageId) -> Result<Option<HashMap<String, f64>>, EngineError> {
        let Some((_, position)) = self.current_version(page) else { return Ok(None) };
        let mut terms: HashMap<String, f64> = HashMap::new();
        let mut read = |page: &PageObject| {
            terms = page.terms.iter().map(|term| (term.term.clone(), f64::from(term.weight))).collect();
        };
        match self.derived.page_without_links(position)? {
            Some(stored) => read(&stored.page),
            None => {
                let behind = LibraryPosition { offset: position.offset + 1, ..position };
                self.parse_again(position, behind, &mut |_, _, _, page| {
                    read(page);
                    Ok(())
                })?;
            }
        }
        let length = terms.values().map(|weight| weight * weight).sum::<f64>().sqrt();
        Ok((length > 0.0).then(|| terms.into_iter().map(|(term, weight)| (term, weight / length)).collect()))
    }

    /// Calls `each` with the links of every page, in library order.
    pub(crate) fn for_each_links(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: LinkVisitor<'_>,
    ) -> Result<(), EngineError> {
        let mut done = 0;
        for piece in self.ranges().flat_map(|(from, to)| self.derived.links(from, to)) {
            match piece? {
                DerivedItem::Present(page) if self.is_current(page.url.id(), page.position) => {
                    each(&page.url, &page.links)?;
                    done += 1;
                }
                DerivedItem::Present(_) => {}
                DerivedItem::Gap { from, to } => self.parse_again(from, to, &mut |url, _, _, page| {
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

    /// Calls `each` with every page, in library order. Links may be missing.
    pub(crate) fn for_each(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: PageVisitor<'_>,
    ) -> Result<(), EngineError> {
        let pieces = self.ranges().flat_map(|(from, to)| self.derived.pages_without_links(from, to));
        self.visit_pieces(pieces, check, each)
    }

    /// Calls `each` with every page including its links, in library order.
    pub(crate) fn for_each_with_links(
        &self,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: PageVisitor<'_>,
    ) -> Result<(), EngineError> {
        let pieces = self.ranges().flat_map(|(from, to)| self.derived.pages(from, to));
        self.visit_pieces(pieces, check, each)
    }

    /// Returns the surveyed range of each log.
    fn ranges(&self) -> impl Iterator<Item = (LibraryPosition, LibraryPosition)> {
        self.survey.to.iter().map(|to| (LibraryPosition::start_of_log(to.log), to))
    }

    fn visit_pieces(
        &self,
        pieces: impl Iterator<Item = Result<DerivedItem<DerivedPage>, StoreError>>,
        check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
        each: PageVisitor<'_>,
    ) -> Result<(), EngineError> {
        let mut done = 0;
        for piece in pieces {
            match piece? {
                DerivedItem::Present(stored) if self.is_current(stored.url.id(), stored.position) => {
                    each(&stored.url, stored.at, stored.position, &stored.page)?;
                    done += 1;
                }
                DerivedItem::Present(_) => {}
                DerivedItem::Gap { from, to } => {
                    self.parse_again(from, to, &mut |url, at, position, page| {
                        done += 1;
                        each(url, at, position, page)
                    })?
                }
            }
            if done % 256 == 0 {
                check(done)?;
            }
        }
        Ok(())
    }

    fn is_current(&self, page: PageId, position: LibraryPosition) -> bool {
        self.survey.current.get(&page).is_some_and(|(_, current)| *current == position)
    }

    /// Parses the raw pages of a library range on all cores.
    fn parse_again(
        &self,
        from: LibraryPosition,
        to: LibraryPosition,
        each: PageVisitor<'_>,
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
            for read in self.pool.analyse(group, &*self.library, self.config, AnalysisDepth::Everything)? {
                if let Some(analysed) = read.page.as_ref().filter(|page| !page.is_quarantined()) {
                    each(
                        &read.stored.record.url,
                        read.stored.record.at,
                        read.stored.position,
                        &analysed.summary.page,
                    )?;
                }
            }
        }
    }
}
