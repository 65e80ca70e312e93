//! Absorbing: what was read becomes catalog and index, in the order of the library.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageId, PageUrl, SiteName};
use pharos_crawl::{Absorbed, PageFacts as Facts, Says, Scoping, Shown, changes};
use pharos_graph::anchors::telling;
use pharos_index::{Change, EmbeddedIndex, Index, IndexError, Query, Wish};
use pharos_store::Change as Known;
use pharos_store::{Catalog, Content, DerivedWriter, Event, PageState, PageStory, Record, Removal};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use crate::EngineError;
use crate::carry::CarryOver;
use crate::reading::{Read, Wanted, is_searchable, settled};

/// Catalog, latest and the derived stores, and how far each has come.
pub(crate) struct Absorber {
    /// As it is now: operators change it while the engine runs.
    config: watch::Receiver<Arc<Config>>,
    catalog: Arc<dyn Catalog>,
    scoping: Scoping,
    catalog_at: LibraryPosition,
    /// `None` where that is left to whoever needs it: reading the library again from there on gives the same.
    derived: Option<DerivedWriter>,
    index: Option<IndexSide>,
    carry: CarryOver,
}

struct IndexSide {
    index: Arc<EmbeddedIndex>,
    /// Changes not yet handed to the index.
    waiting: Vec<Change>,
    /// What has been applied; committed or not.
    at: LibraryPosition,
    committed: LibraryPosition,
    last_commit: Instant,
}

impl Absorber {
    pub(crate) fn new(
        config: watch::Receiver<Arc<Config>>,
        catalog: Arc<dyn Catalog>,
        derived: Option<DerivedWriter>,
        index: Option<Arc<EmbeddedIndex>>,
        carry: CarryOver,
    ) -> Result<Self, EngineError> {
        let index = match index {
            None => None,
            Some(index) => {
                let at = index.absorbed()?;
                Some(IndexSide { index, waiting: Vec::new(), at, committed: at, last_commit: Instant::now() })
            }
        };
        let scoping = Scoping::load(&*catalog, &config.borrow().crawl)?;
        let catalog_at = catalog.absorbed()?;
        Ok(Self { config, catalog, scoping, catalog_at, derived, index, carry })
    }

    /// Where the library must be read from for all to catch up.
    pub(crate) fn behind(&self) -> LibraryPosition {
        let derived = self.derived.as_ref().map_or(self.catalog_at, DerivedWriter::reached);
        let at = self.catalog_at.min(derived);
        self.index.as_ref().map_or(at, |side| side.at.min(at))
    }

    /// How closely the pages must have been read.
    pub(crate) fn wanted(&self) -> Wanted {
        let weighed_by_language = !self.config.borrow().crawl.wanted.is_empty();
        let unread = self.derived.is_none() && self.index.is_none();
        if unread && !weighed_by_language { Wanted::Links } else { Wanted::Everything }
    }

    /// Takes in a group of records, and gives what the crawl wants to know of that.
    pub(crate) fn absorb(&mut self, group: Vec<Read>) -> Result<Absorbed, EngineError> {
        let mut absorbed = Absorbed::default();
        let Some(end) = group.last().map(|r| r.stored.next) else { return Ok(absorbed) };
        let mut all = Vec::new();
        let config = Arc::clone(&self.config.borrow());
        let rules_before = self.scoping.rules().clone();
        // What the catalog knows already must not bring back the rules of then.
        let mut then = (group[0].stored.next <= self.catalog_at).then(|| self.scoping.clone());
        for read in &group {
            let scoping = match &mut then {
                Some(then) if read.stored.next <= self.catalog_at => then,
                _ => &mut self.scoping,
            };
            let facts = read.page.as_ref().map(|facts| Facts {
                links: &facts.follow,
                listed: &facts.listed,
                kind: facts.kind,
                indexable: is_searchable(&facts.page),
                digest: facts.digest,
                text: facts.text,
                says: Says {
                    title: &facts.page.title,
                    text: &facts.page.text,
                    language: &facts.page.lang,
                    charset: &facts.page.charset,
                },
            });
            let mut changes = changes(scoping, &config.crawl, &read.stored, facts);
            if read.stored.next <= self.catalog_at {
                // The catalog knows it all, but for which answers are outdated now.
                changes.retain(|change| matches!(change, Known::Visited { .. }));
            }
            all.extend(changes);
        }
        let applied = self.catalog.apply(&all, end)?;
        self.catalog_at = self.catalog_at.max(end);
        absorbed.woken = applied.woken;
        absorbed.new_rules = *self.scoping.rules() != rules_before;
        for change in all {
            match change {
                Known::Removed(what) => absorbed.removed.push(what),
                Known::Seed { .. } | Known::Alias { .. } => absorbed.new_rules = true,
                Known::Recrawl { url, whole_site: false, .. } => absorbed.wanted.push(url.id()),
                _ => {}
            }
        }
        absorbed.pages =
            group.iter().map(|r| &r.stored.record).filter(|r| is_visit(r)).map(|r| r.url.id()).collect();
        absorbed.shown = group
            .iter()
            .filter_map(|read| {
                let page = read.stored.record.url.clone();
                let again = read.stored.record.again;
                read.page.as_ref().map(|facts| Shown { page, again, sketch: facts.sketch })
            })
            .collect();
        if self.index.as_ref().is_some_and(|side| end > side.at) {
            self.index_group(&group, &applied.outdated.into_iter().collect(), end)?;
        }
        if let Some(derived) = &mut self.derived {
            derived.add(group.into_iter().map(Read::analysed))?;
        }
        Ok(absorbed)
    }

    fn index_group(
        &mut self,
        group: &[Read],
        outdated: &HashSet<(PageId, LibraryPosition)>,
        end: LibraryPosition,
    ) -> Result<(), EngineError> {
        let Some(side) = &mut self.index else { return Ok(()) };
        let at = side.at;
        let before = side.index.snapshot()?;
        self.carry.refresh();
        for read in group.iter().filter(|r| r.stored.next > at) {
            let record = &read.stored.record;
            let id = record.url.id();
            let mut change = match &record.content {
                // Of a copy of a site nothing is shown.
                Content::Response(_) if self.scoping.is_copy(&record.url) => None,
                _ if outdated.contains(&(id, read.stored.position))
                    && !is_what_people_find(&*self.catalog, id, read.stored.position)? =>
                {
                    None
                }
                Content::Event(Event::Removed { what: Removal::Site(site) }) => {
                    side.remove_site(site)?;
                    None
                }
                Content::Event(Event::Alias { .. }) => {
                    side.remove_copy(&*self.catalog, &record.url)?;
                    None
                }
                // A feed's deletion counts unless something newer is known.
                Content::Event(Event::Deleted) => {
                    let versions = self.catalog.versions(id)?;
                    settled(&versions).is_none_or(|v| v.at <= record.at).then_some(Change::Gone(id))
                }
                // What may not be asked for any more is not shown any more.
                Content::Event(Event::Refused { .. }) => {
                    let versions = self.catalog.versions(id)?;
                    settled(&versions).is_some_and(|v| v.at <= record.at).then_some(Change::Gone(id))
                }
                _ => read.index_change(),
            };
            if let Some(Change::Put(document)) = &mut change {
                let text = read.page.as_ref().map_or(0, |facts| facts.text);
                self.carry.complete(document, text, before.figures_of(id)?);
                if let Some(story) = self.catalog.page(id)?
                    && let Some(anchor) = telling(&story.anchor)
                    && !document.anchors.iter().any(|known| known.text == anchor)
                {
                    document.anchors.push(anchor.into());
                }
            }
            side.waiting.extend(change);
        }
        side.apply()?;
        side.at = end;
        Ok(())
    }

    /// Called now and then: makes fetched pages searchable, and does what a builder asked for.
    pub(crate) fn tick(&mut self, generations: &pharos_index::Generations) -> Result<(), EngineError> {
        let config = Arc::clone(&self.config.borrow());
        match &mut self.index {
            Some(side) => {
                if side.at > side.committed && side.last_commit.elapsed() >= config.index.commit_every {
                    side.commit()?;
                }
                if generations.waiting().is_some() {
                    side.commit()?;
                    told(side.index.fulfil_wish());
                }
            }
            // A crawl that does not index still owns the chain of generations.
            None if generations.waiting().is_some() => match open_index(generations, &config) {
                Ok(index) => told(index.fulfil_wish()),
                Err(error) => {
                    generations.wish_done();
                    warn!(%error, "could not do what the builder asked for");
                }
            },
            None => {}
        }
        Ok(())
    }

    /// Makes everything visible and durable.
    pub(crate) fn finish(&mut self) -> Result<(), EngineError> {
        if let Some(derived) = &mut self.derived {
            derived.flush()?;
        }
        self.index.as_mut().map_or(Ok(()), IndexSide::commit)
    }
}

impl IndexSide {
    fn apply(&mut self) -> Result<(), EngineError> {
        Ok(self.index.apply(std::mem::take(&mut self.waiting))?)
    }

    /// Takes out every address of a site, those of copies too. The index itself knows best which it holds, once it sees
    /// what was applied.
    fn remove_site(&mut self, site: &SiteName) -> Result<(), EngineError> {
        self.apply()?;
        self.index.commit(self.at)?;
        let snapshot = self.index.snapshot()?;
        let found = snapshot.search_addresses(&Query::Site(site.host().to_string()), usize::MAX)?;
        // The query takes in the hosts below and other ports too.
        let pages = found.candidates.iter().map(|candidate| candidate.page);
        self.waiting.extend(pages.filter(|page| page.site() == site.id()).map(Change::Gone));
        Ok(())
    }

    /// Takes out every page of a site under the scheme of this home page.
    fn remove_copy(&mut self, catalog: &dyn Catalog, home: &PageUrl) -> Result<(), EngineError> {
        let before = self.waiting.len();
        self.remove_site(&home.site())?;
        let mut removed = self.waiting.split_off(before.min(self.waiting.len()));
        for change in removed.drain(..) {
            let Change::Gone(page) = change else { continue };
            if catalog.page(page)?.is_some_and(|story| story.url.is_https() == home.is_https()) {
                self.waiting.push(Change::Gone(page));
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), EngineError> {
        if self.at > self.committed {
            self.index.commit(self.at)?;
            self.committed = self.at;
            debug!(position = %self.at, "committed");
        }
        self.last_commit = Instant::now();
        Ok(())
    }
}

/// Is this the answer that tells what the page says, although the server has since answered that it cannot serve it?
fn is_what_people_find(
    catalog: &dyn Catalog,
    page: PageId,
    position: LibraryPosition,
) -> Result<bool, EngineError> {
    let gone = |story: PageStory| matches!(story.state, PageState::Deleted | PageState::Removed);
    if catalog.page(page)?.is_none_or(gone) {
        return Ok(false);
    }
    Ok(settled(&catalog.versions(page)?).is_some_and(|v| v.position == position))
}

/// Is a record about an attempt to have a page?
fn is_visit(record: &Record) -> bool {
    match &record.content {
        Content::Response(_) | Content::Revisit(_) => true,
        Content::Event(event) => matches!(event, Event::Failed { .. } | Event::Refused { .. }),
    }
}

/// A builder's wish that fails is the builder's trouble: the crawl goes on.
fn told(fulfilled: Result<Option<Wish>, IndexError>) {
    match fulfilled {
        Ok(wish) => info!(?wish, "did what the builder asked for"),
        Err(error) => warn!(%error, "could not do what the builder asked for"),
    }
}

/// The index, for whoever owns the data directory.
pub(crate) fn open_index(
    generations: &pharos_index::Generations,
    config: &Config,
) -> Result<EmbeddedIndex, EngineError> {
    let open = || {
        let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
        EmbeddedIndex::open_writer(generations.dir(), memory, body_limit)
    };
    match open() {
        // All that is in it is read from the library again.
        Err(error @ IndexError::OlderFormat { .. }) => {
            info!(%error, "the index is made again");
            let _builder = generations.lock_builder()?;
            generations.start_over(None)?;
            Ok(open()?)
        }
        opened => {
            let index = opened?;
            go_back_from_damage(&index)?;
            Ok(index)
        }
    }
}

/// A history that is damaged is left for the one before, for good. Where that leaves a gap, the owner replays the library
/// from there: it must not have begun to absorb.
pub(crate) fn go_back_from_damage(index: &EmbeddedIndex) -> Result<(), EngineError> {
    if let Some(damaged) = index.refused()? {
        index.close_gap()?;
        let back = index.roll_back()?;
        let before = back.history.map_or(0, |history| history.number);
        warn!(damaged = damaged.number, before, "went back to the history before the last build");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pharos_core::Timestamp;
    use pharos_index::{Copy, Document, HistoryBuilder};

    use super::*;

    fn url(address: &str) -> PageUrl {
        PageUrl::parse(&format!("http://{address}")).unwrap()
    }

    fn page(address: &str, copies: &[&str]) -> Document {
        let at = LibraryPosition::START;
        let copy = |address: &&str| Copy { url: url(address), position: at, fetched: Timestamp::EPOCH };
        Document { copies: copies.iter().map(copy).collect(), ..Document::new(url(address)) }
    }

    #[test]
    fn a_site_that_is_removed_is_gone_from_the_copies_too() {
        let dir = tempfile::tempdir().unwrap();
        let index = Arc::new(EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap());
        let _builder = index.generations().lock_builder().unwrap();
        let mut history = HistoryBuilder::begin(index.generations(), 1, 16 << 20, 1 << 20).unwrap();
        history.add(&page("a.example/", &["b.example/1", "b.example/2", "sub.b.example/"])).unwrap();
        history.add(&page("b.example/3", &["b.example/4", "c.example/"])).unwrap();
        history.add(&page("b.example/5", &[])).unwrap();
        index.generations().install(history.finish(LibraryPosition::START).unwrap()).unwrap();

        let at = LibraryPosition { file: 1, offset: 1 };
        let last_commit = Instant::now();
        let mut side =
            IndexSide { index: Arc::clone(&index), waiting: Vec::new(), at, committed: at, last_commit };
        side.remove_site(&url("b.example/").site()).unwrap();
        side.apply().unwrap();
        index.commit(at).unwrap();
        let snapshot = index.snapshot().unwrap();
        let left = snapshot.search_addresses(&Query::All, 9).unwrap().candidates;
        let mut left: Vec<String> = snapshot.cards(&left).unwrap().into_iter().map(|card| card.url).collect();
        left.sort();
        assert_eq!(left, ["http://a.example/", "http://c.example/", "http://sub.b.example/"]);
        assert_eq!(snapshot.pages().unwrap(), 2);
    }
}
