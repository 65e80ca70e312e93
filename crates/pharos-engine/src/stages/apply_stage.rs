//! The apply stage: writes analysed records to the catalog, the derived stores and the index, in library order.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pharos_core::config::Config;
use pharos_core::{Clock, LibraryPosition, LibraryPositions, PageId, PageUrl, SiteName};
use pharos_crawl::{AppliedRecords, StoredPageInfo, rules_from_config};
use pharos_graph::anchors::informative_anchor;
use pharos_index::{BuilderRequest, GenerationStore, Index, IndexChange, IndexError, Query};
use pharos_store::catalog::CatalogChange;
use pharos_store::catalog::{PageDetails, current_version};
use pharos_store::interpret::{CrawlScope, IndexEffect, RecordOutcome, RemovedPages, interpret};
use pharos_store::{Catalog, DerivedWriter, PageState};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use crate::EngineError;
use crate::stages::analyse::{AnalysedRecord, AnalysisDepth};
use crate::stages::carry_over::CarryOver;
use crate::stages::refresh_planner::{RefreshPlanner, store_plan};
use crate::stores::Stores;

/// Applies records to the catalog, the derived stores and the latest index generation.
///
/// Each store remembers the library position it has applied; replay starts from the lowest of them.
pub(crate) struct RecordApplier {
    /// Current settings; operators can change them while the engine runs.
    config: watch::Receiver<Arc<Config>>,
    stores: Stores,
    /// Requests of builders arrive here.
    generations: Option<Arc<dyn GenerationStore>>,
    catalog: Arc<dyn Catalog>,
    scope: CrawlScope,
    catalog_at: LibraryPositions,
    /// `None` if this run does not write derived data; a later run derives it from the library.
    derived: Option<DerivedWriter>,
    index: Option<IndexUpdater>,
    carry: CarryOver,
    clock: Arc<dyn Clock>,
    planner: RefreshPlanner,
    /// Becomes `true` when no further record is applied; the next start replays the rest.
    abandoned: Arc<AtomicBool>,
}

struct IndexUpdater {
    index: Arc<dyn Index>,
    /// Changes not yet passed to the index.
    pending: Vec<IndexChange>,
    /// Positions up to which records were passed to the index, committed or not.
    at: LibraryPositions,
    committed: LibraryPositions,
    last_commit: Instant,
}

impl RecordApplier {
    pub(crate) fn new(
        config: watch::Receiver<Arc<Config>>,
        stores: Stores,
        catalog: Arc<dyn Catalog>,
        derived: Option<DerivedWriter>,
        index: Option<Arc<dyn Index>>,
        carry: CarryOver,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EngineError> {
        let index = match index {
            None => None,
            Some(index) => {
                let at = index.applied_positions()?;
                Some(IndexUpdater {
                    index,
                    pending: Vec::new(),
                    committed: at.clone(),
                    at,
                    last_commit: Instant::now(),
                })
            }
        };
        let scope = {
            let config = &config.borrow().crawl;
            CrawlScope::load(&*catalog, rules_from_config(config), config.seen_memory)?
        };
        store_plan(&*catalog, &config.borrow())?;
        let catalog_at = catalog.applied_positions()?;
        let generations = stores.generations();
        let abandoned = Arc::default();
        Ok(Self {
            config,
            stores,
            generations,
            catalog,
            scope,
            catalog_at,
            derived,
            index,
            carry,
            clock,
            planner: RefreshPlanner::default(),
            abandoned,
        })
    }

    /// Applies nothing more once `abandoned` becomes `true`.
    pub(crate) fn abandon_when(&mut self, abandoned: Arc<AtomicBool>) {
        self.abandoned = abandoned;
    }

    /// Returns the positions from which the library must be replayed for every store to catch up.
    pub(crate) fn replay_start(&self) -> LibraryPositions {
        let mut start = self.catalog_at.clone();
        if let Some(derived) = &self.derived {
            // Derived data exists for one log.
            let derived = derived.pending_position();
            start.set(derived.earlier(start.get(derived.log)));
        }
        self.index.as_ref().map_or_else(|| start.clone(), |updater| start.lowest(&updater.at))
    }

    /// Returns how thoroughly pages must be analysed for the stores of this run.
    pub(crate) fn analysis_depth(&self) -> AnalysisDepth {
        let needs_language = !self.config.borrow().crawl.wanted.is_empty();
        let no_consumers = self.derived.is_none() && self.index.is_none();
        if no_consumers && !needs_language { AnalysisDepth::Links } else { AnalysisDepth::Everything }
    }

    /// Applies a group of records and returns the outcome that the crawler needs.
    ///
    /// A sitemap or feed is applied alone: the pages it may add depend on the state of the catalog after all earlier
    /// records, and it may have tens of thousands of entries.
    pub(crate) fn apply(&mut self, group: Vec<AnalysedRecord>) -> Result<AppliedRecords, EngineError> {
        let mut report = AppliedRecords::default();
        let mut rest = group.into_iter().peekable();
        while rest.peek().is_some() && !self.abandoned.load(Ordering::Relaxed) {
            let mut part: Vec<AnalysedRecord> = Vec::new();
            while let Some(read) = rest.next_if(|read| part.is_empty() || !read.is_list()) {
                let is_list = read.is_list();
                part.push(read);
                if is_list {
                    break;
                }
            }
            report.merge(self.apply_part(part)?);
        }
        Ok(report)
    }

    /// Applies one list, or records without lists, in one transaction.
    fn apply_part(&mut self, group: Vec<AnalysedRecord>) -> Result<AppliedRecords, EngineError> {
        let mut report = AppliedRecords::default();
        let Some(end) = group.last().map(|r| r.stored.next) else { return Ok(report) };
        let (mut all, mut effects) = (Vec::new(), Vec::with_capacity(group.len()));
        let config = Arc::clone(&self.config.borrow());
        let rules_before = self.scope.rules().clone();
        if group[0].is_list() && !self.catalog_at.covers(end) {
            self.scope.set_list_state(self.catalog.list_state(group[0].stored.record.url.id().site())?);
        }
        // Records the catalog has already applied must not reinstate the rules in force at that time.
        let mut replay_scope = self.catalog_at.covers(group[0].stored.next).then(|| self.scope.clone());
        for read in &group {
            let scope = match &mut replay_scope {
                Some(replayed) if self.catalog_at.covers(read.stored.next) => replayed,
                _ => &mut self.scope,
            };
            let summary = read.page.as_ref().map(|analysed| &analysed.summary);
            let meaning = interpret(scope, &config.crawl, &read.stored, summary);
            let mut changes = meaning.catalog;
            effects.push((meaning.outcome, meaning.index));
            if self.catalog_at.covers(read.stored.next) {
                // The catalog has applied this record; only the `Visited` changes are needed, to detect outdated responses.
                changes.retain(|change| matches!(change, CatalogChange::Visited { .. }));
            }
            all.extend(changes);
        }
        let applied = self.catalog.apply(&all, &end.into())?;
        self.catalog_at.advance(end);
        report.due_sites = applied.due_sites;
        report.new_rules = *self.scope.rules() != rules_before;
        for change in all {
            match change {
                CatalogChange::Removed(what) => report.removed.push(what),
                CatalogChange::Seed { .. } | CatalogChange::Alias { .. } => report.new_rules = true,
                CatalogChange::Recrawl { url, whole_site: false, .. } => report.requested.push(url.id()),
                _ => {}
            }
        }
        report.pages = group
            .iter()
            .zip(&effects)
            .filter(|(_, (outcome, _))| outcome.is_fetch_attempt())
            .map(|(read, _)| read.stored.record.url.id())
            .collect();
        report.stored_pages = group
            .iter()
            .filter_map(|read| {
                let page = read.stored.record.url.clone();
                let is_revisit = read.stored.record.is_refetch;
                read.page.as_ref().map(|analysed| StoredPageInfo {
                    page,
                    is_revisit,
                    sketch: analysed.sketch,
                })
            })
            .collect();
        if self.index.as_ref().is_some_and(|updater| !updater.at.covers(end)) {
            self.index_group(&group, &effects, &applied.outdated.into_iter().collect(), end)?;
        }
        if let Some(derived) = &mut self.derived {
            derived.add(group.into_iter().map(AnalysedRecord::analysed))?;
        }
        Ok(report)
    }

    fn index_group(
        &mut self,
        group: &[AnalysedRecord],
        effects: &[(RecordOutcome, IndexEffect)],
        outdated: &HashSet<(PageId, LibraryPosition)>,
        end: LibraryPosition,
    ) -> Result<(), EngineError> {
        let Some(updater) = &mut self.index else { return Ok(()) };
        let at = updater.at.clone();
        let before = updater.index.view()?;
        self.carry.refresh();
        for (read, (outcome, effect)) in group.iter().zip(effects).filter(|(r, _)| !at.covers(r.stored.next))
        {
            let record = &read.stored.record;
            let id = record.url.id();
            let mut change = match effect {
                _ if outdated.contains(&(id, read.stored.position))
                    && !is_shown_version(&*self.catalog, id, read.stored.position)? =>
                {
                    None
                }
                IndexEffect::Keep => None,
                IndexEffect::Replace => read.document().map(|document| IndexChange::Put(Box::new(document))),
                IndexEffect::Remove(RemovedPages::Site(site)) => {
                    updater.remove_site(site)?;
                    None
                }
                IndexEffect::Remove(RemovedPages::Mirror(home)) => {
                    updater.remove_copy(&*self.catalog, home)?;
                    None
                }
                IndexEffect::Remove(RemovedPages::Page(page)) => {
                    let applies = match outcome {
                        // These apply unless there is a newer version.
                        RecordOutcome::Deleted | RecordOutcome::Refused => {
                            let versions = self.catalog.versions(*page)?;
                            current_version(&versions).is_some_and(|version| version.at <= record.at)
                        }
                        _ => true,
                    };
                    applies.then_some(IndexChange::Gone(*page))
                }
            };
            if let Some(IndexChange::Put(document)) = &mut change {
                let text = read.page.as_ref().map_or(0, |analysed| analysed.summary.text);
                self.carry.complete(document, text, before.link_figures_of(id)?);
                if let Some(entry) = self.catalog.page(id)?
                    && let Some(anchor) = informative_anchor(&entry.anchor)
                    && !document.anchors.iter().any(|known| known.text == anchor)
                {
                    document.anchors.push(anchor.into());
                }
            }
            updater.pending.extend(change);
        }
        updater.apply()?;
        updater.at.advance(end);
        Ok(())
    }

    /// Commits the index when a commit is due and serves pending builder requests. Called periodically.
    pub(crate) fn tick(&mut self) -> Result<(), EngineError> {
        let commit_every = self.config.borrow().index.commit_every;
        if let Some(updater) = &mut self.index
            && updater.at != updater.committed
            && updater.last_commit.elapsed() >= commit_every
        {
            updater.commit()?;
        }
        match &self.generations {
            Some(generations) if generations.pending_request().is_some() => {
                self.serve_builder_request(&Arc::clone(generations))
            }
            _ => Ok(()),
        }
    }

    /// Applies the refresh plan to the next pages. Called periodically while the engine crawls: a replay alone schedules all
    /// visits with the same plan.
    pub(crate) fn plan_refresh(&mut self) -> Result<(), EngineError> {
        let config = Arc::clone(&self.config.borrow());
        Ok(self.planner.tick(&*self.catalog, &self.stores, &config, self.clock.now())?)
    }

    fn serve_builder_request(&mut self, generations: &Arc<dyn GenerationStore>) -> Result<(), EngineError> {
        let index = match &mut self.index {
            Some(updater) => {
                updater.commit()?;
                Ok(Arc::clone(&updater.index))
            }
            // A crawl without indexing still owns the chain of generations.
            None => self.stores.own_index(),
        };
        match index {
            Ok(index) => {
                log_builder_request(index.generational().map_or(Ok(None), |index| index.serve_request()))
            }
            Err(error) => {
                generations.clear_request();
                warn!(%error, "builder request failed");
            }
        }
        Ok(())
    }

    /// Flushes the derived stores and commits the index.
    pub(crate) fn finish(&mut self) -> Result<(), EngineError> {
        if let Some(derived) = &mut self.derived {
            derived.flush()?;
        }
        self.index.as_mut().map_or(Ok(()), IndexUpdater::commit)
    }
}

impl IndexUpdater {
    fn apply(&mut self) -> Result<(), EngineError> {
        Ok(self.index.apply(std::mem::take(&mut self.pending))?)
    }

    /// Removes every URL of a site from the index, including URLs indexed as copies of another page.
    ///
    /// Commits first, so that the search sees all changes applied so far.
    fn remove_site(&mut self, site: &SiteName) -> Result<(), EngineError> {
        self.apply()?;
        self.index.commit(&self.at)?;
        let view = self.index.view()?;
        let found = view.search_addresses(&Query::Site(site.host().to_string()), usize::MAX)?;
        // The query also matches subdomains and other ports.
        let pages = found.candidates.iter().map(|candidate| candidate.page);
        self.pending.extend(pages.filter(|page| page.site() == site.id()).map(IndexChange::Gone));
        Ok(())
    }

    /// Removes every page of a site under the scheme of `home`.
    fn remove_copy(&mut self, catalog: &dyn Catalog, home: &PageUrl) -> Result<(), EngineError> {
        let before = self.pending.len();
        self.remove_site(&home.site())?;
        let mut removed = self.pending.split_off(before.min(self.pending.len()));
        for change in removed.drain(..) {
            let IndexChange::Gone(page) = change else { continue };
            if catalog.page(page)?.is_some_and(|entry| entry.url.is_https() == home.is_https()) {
                self.pending.push(IndexChange::Gone(page));
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), EngineError> {
        if self.at != self.committed {
            self.index.commit(&self.at)?;
            self.committed = self.at.clone();
            debug!(position = %self.at, "committed");
        }
        self.last_commit = Instant::now();
        Ok(())
    }
}

/// Returns `true` if this version is the one shown to users, although a newer response was an error.
fn is_shown_version(
    catalog: &dyn Catalog,
    page: PageId,
    position: LibraryPosition,
) -> Result<bool, EngineError> {
    let gone = |entry: PageDetails| matches!(entry.state, PageState::Deleted | PageState::Removed);
    if catalog.page(page)?.is_none_or(gone) {
        return Ok(false);
    }
    Ok(current_version(&catalog.versions(page)?).is_some_and(|v| v.position == position))
}

/// Logs the outcome of a builder request. A failed request concerns the builder only; the crawl continues.
fn log_builder_request(fulfilled: Result<Option<BuilderRequest>, IndexError>) {
    match fulfilled {
        Ok(request) => info!(wish = ?request, "builder request done"),
        Err(error) => warn!(%error, "builder request failed"),
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Timestamp;
    use pharos_index::{IndexDocument, PageCopy};
    use pharos_store::DataDir;

    use super::*;
    use crate::stores::test_stores;

    fn url(address: &str) -> PageUrl {
        PageUrl::parse(&format!("http://{address}")).unwrap()
    }

    fn page(address: &str, copies: &[&str]) -> IndexDocument {
        let at = LibraryPosition::START;
        let copy = |address: &&str| PageCopy { url: url(address), position: at, fetched: Timestamp::EPOCH };
        IndexDocument { copies: copies.iter().map(copy).collect(), ..IndexDocument::new(url(address)) }
    }

    #[test]
    fn a_site_that_is_removed_is_gone_from_the_copies_too() {
        let dir = tempfile::tempdir().unwrap();
        let stores = test_stores(&DataDir::at(dir.path()));
        let (index, generations) = (stores.own_index().unwrap(), stores.generations().unwrap());
        let _builder = generations.lock_builder().unwrap();
        let mut history = generations.build_directory().begin(1, 16 << 20, 1 << 20).unwrap();
        history.add(&page("a.example/", &["b.example/1", "b.example/2", "sub.b.example/"])).unwrap();
        history.add(&page("b.example/3", &["b.example/4", "c.example/"])).unwrap();
        history.add(&page("b.example/5", &[])).unwrap();
        generations.install(history.finish(LibraryPositions::START).unwrap()).unwrap();

        let at = LibraryPositions::from(LibraryPosition::new(1, 1));
        let last_commit = Instant::now();
        let mut updater = IndexUpdater {
            index: Arc::clone(&index),
            pending: Vec::new(),
            committed: at.clone(),
            at,
            last_commit,
        };
        updater.remove_site(&url("b.example/").site()).unwrap();
        updater.apply().unwrap();
        index.commit(&updater.at).unwrap();
        let view = index.view().unwrap();
        let left = view.search_addresses(&Query::All, 9).unwrap().candidates;
        let mut left: Vec<String> =
            view.result_fields(&left).unwrap().into_iter().map(|card| card.url).collect();
        left.sort();
        assert_eq!(left, ["http://a.example/", "http://c.example/", "http://sub.b.example/"]);
        assert_eq!(view.pages().unwrap(), 2);
    }
}
