//! Applies a batch of changes.
//!
//! A change affects one page, one site, or neither, and only the order of changes to the same page matters. The
//! changes of a batch are therefore sorted by page: rows are accessed in file order, and a page that occurs often,
//! as in the navigation of a site, is looked up once.

use std::collections::HashMap;

use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};

use super::plan::read_plan;
use super::recrawl::recrawl_site;
use super::rows::{page_columns, problem_number, read_page, signed, state_number};
use super::signals;
use crate::catalog::page_entry::{self, ChangeContext, PageEntry};
use crate::catalog::{
    ApplyResult, CatalogChange, DiscoveredLink, ListUsage, PageState, Removal, RobotsFile, RobotsState,
    VisitOutcome,
};
use crate::interpret::refresh::{RefreshPlan, SiteSignals};

/// Applies all changes within the caller's transaction.
pub(super) fn apply_changes(
    connection: &Connection,
    changes: &[CatalogChange],
) -> rusqlite::Result<ApplyResult> {
    let is_whole_site = |change: &CatalogChange| {
        matches!(change, CatalogChange::Recrawl { whole_site: true, .. } | CatalogChange::Alias { .. })
    };
    if !changes.iter().any(is_whole_site) {
        return apply_page_changes(connection, changes);
    }
    // A whole-site recrawl and a mirror affect all pages as they are between two changes, so the changes before are
    // applied first. Both are rare.
    let mut due_sites = Vec::new();
    for part in changes.split_inclusive(is_whole_site) {
        due_sites.extend(apply_page_changes(connection, part)?.due_sites);
        if let Some(CatalogChange::Recrawl { url, whole_site: true, at }) = part.last() {
            let site = url.site().id();
            due_sites.extend(recrawl_site(connection, site, *at)?.then_some(site));
        }
    }
    due_sites.retain(|id| {
        !changes.iter().any(|c| matches!(c, CatalogChange::Removed(Removal::Site(name)) if name.id() == *id))
    });
    due_sites.sort_unstable();
    due_sites.dedup();
    Ok(ApplyResult { due_sites, outdated: find_outdated(connection, changes)? })
}

/// Returns the responses among applied changes that are not current now.
pub(super) fn find_outdated(
    connection: &Connection,
    changes: &[CatalogChange],
) -> rusqlite::Result<Vec<(PageId, LibraryPosition)>> {
    let mut outdated = Vec::new();
    for change in changes {
        if let (Some(url), Some(position)) = (change.page(), change.response_position()) {
            let id = url.id();
            let current: Option<Option<i64>> = connection
                .prepare_cached(
                    "SELECT position FROM visits WHERE site = (SELECT site FROM sites WHERE id = ?1) AND page = ?2",
                )?
                .query_row([signed(id.site().0), signed(id.page())], |r| r.get(0))
                .optional()?;
            if current.flatten() != Some(signed(position.to_u64())) {
                outdated.push((id, position));
            }
        }
    }
    Ok(outdated)
}

/// Applies changes that each affect one page, or a site but not its pages.
fn apply_page_changes(connection: &Connection, changes: &[CatalogChange]) -> rusqlite::Result<ApplyResult> {
    let mut batch = ChangeBatch::new(connection, changes)?;
    batch.remove_sites()?;
    let entries = batch.sort_changes()?;
    for group in entries.chunk_by(|a, b| (a.site, a.page) == (b.site, b.page)) {
        batch.apply_to_page(group)?;
    }
    batch.apply_aliases()?;
    batch.finish()
}

/// A change of one page. The derived order is the order of application.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PageChange {
    site: i64,
    page: i64,
    /// Index of the change in the batch.
    change: usize,
    /// Index of the site in the batch.
    slot: usize,
}

/// Changes of a batch to one site, written once at the end of the batch.
struct BatchSite {
    id: SiteId,
    number: i64,
    removed: bool,
    seed: bool,
    due: bool,
    /// `true` if the last discovered page of the site was new, which makes it likely that the next one is new, too.
    likely_new: bool,
    visited_at: Option<Timestamp>,
    back_off: Option<BackOff>,
    /// Time of the last whole-site recrawl request before this batch.
    recrawl_at: Option<Timestamp>,
    counts: StateCounts,
    /// Trust in the signals of the site, once it is read, and whether it changed.
    signals: Option<Option<SiteSignals>>,
    has_new_signals: bool,
}

/// A back-off requested by a server: time of the last request and the latest end.
#[derive(Clone, Copy)]
struct BackOff {
    requested_at: Timestamp,
    until: Timestamp,
}

/// Page counts in `sites`: all, stored, indexable, failed, refused, deleted.
type StateCounts = [i64; 6];

struct ChangeBatch<'c> {
    connection: &'c Connection,
    changes: &'c [CatalogChange],
    sites: Vec<BatchSite>,
    slots: HashMap<SiteId, usize>,
    outdated: Vec<(PageId, LibraryPosition)>,
    /// Number of new pages that each response led to.
    new_links: HashMap<(PageId, LibraryPosition), u32>,
    /// `true` if the index on weights exists already.
    has_weight_index: bool,
    find_page: CachedStatement<'c>,
    insert_page: CachedStatement<'c>,
    update_path: CachedStatement<'c>,
    update_weight: CachedStatement<'c>,
    plan: RefreshPlan,
}

impl<'c> ChangeBatch<'c> {
    fn new(connection: &'c Connection, changes: &'c [CatalogChange]) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            changes,
            sites: Vec::new(),
            slots: HashMap::new(),
            outdated: Vec::new(),
            new_links: HashMap::new(),
            has_weight_index: false,
            find_page: connection.prepare_cached(
                "SELECT state, depth, weight, linked_by FROM pages WHERE site = ?1 AND page = ?2",
            )?,
            insert_page: connection.prepare_cached(
                "INSERT INTO pages (site, page, path, https, state, depth, hops, found_at, anchor, origin, weight,
                     linked_by)
                 VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
            )?,
            update_path: connection.prepare_cached(
                "UPDATE pages SET depth = ?3, hops = ?4, origin = ?5 WHERE site = ?1 AND page = ?2",
            )?,
            update_weight: connection.prepare_cached(
                "UPDATE pages SET weight = ?3, linked_by = ?4 WHERE site = ?1 AND page = ?2",
            )?,
            plan: read_plan(connection)?.unwrap_or_default(),
        })
    }

    /// Applies removals of sites. They override all other changes, so they can be applied first.
    fn remove_sites(&mut self) -> rusqlite::Result<()> {
        for change in self.changes {
            let CatalogChange::Removed(Removal::Site(name)) = change else { continue };
            let slot = self.slot(name.id(), || name.clone())?;
            let site = &mut self.sites[slot];
            site.removed = true;
            self.connection
                .prepare_cached(
                    "UPDATE sites SET removed = 1, seed = 0, visited_at = NULL, pages = 0, stored = 0, indexable = 0,
                            failed = 0, refused = 0, deleted = 0, not_before = NULL, asked_at = NULL, recrawl_at = NULL
                     WHERE site = ?1",
                )?
                .execute([site.number])?;
            for table in ["pages", "visits", "versions", "lists", "signals"] {
                self.connection
                    .prepare_cached(&format!("DELETE FROM {table} WHERE site = ?1"))?
                    .execute([site.number])?;
            }
        }
        Ok(())
    }

    /// Applies the changes that affect no page and returns the others in file order.
    fn sort_changes(&mut self) -> rusqlite::Result<Vec<PageChange>> {
        let mut entries = Vec::with_capacity(self.changes.len());
        for (change, page_change) in self.changes.iter().enumerate() {
            let url = match page_change {
                CatalogChange::Rules(rules) => {
                    let json = serde_json::to_string(rules).unwrap_or_default();
                    self.connection
                        .prepare_cached("INSERT OR REPLACE INTO meta VALUES ('rules', ?1)")?
                        .execute([json])?;
                    continue;
                }
                CatalogChange::Robots(robots) => {
                    self.save_robots(robots)?;
                    continue;
                }
                CatalogChange::BackOff { site, at, until } => {
                    let slot = self.slot(site.id(), || site.clone())?;
                    self.sites[slot].back_off(*at, *until);
                    continue;
                }
                // Back-offs requested earlier end, even if they are replayed later.
                CatalogChange::Recrawl { url, whole_site: true, .. } => {
                    self.slot(url.site().id(), || url.site())?;
                    continue;
                }
                // A recrawl request does not create a site.
                CatalogChange::Recrawl { url, .. } if !self.is_known_site(url.site().id())? => continue,
                CatalogChange::Filtered { rule, links } => {
                    self.connection
                        .prepare_cached(
                            "INSERT INTO filtered VALUES (?1, ?2) ON CONFLICT DO UPDATE SET links = links + ?2",
                        )?
                        .execute(params![rule, i64::try_from(*links).unwrap_or(i64::MAX)])?;
                    continue;
                }
                CatalogChange::Listed { site, usage } => {
                    let slot = self.slot(site.id(), || site.clone())?;
                    self.save_list_usage(slot, *usage)?;
                    continue;
                }
                CatalogChange::Submitted { url, at } => {
                    self.save_submission(url, *at, None)?;
                    continue;
                }
                CatalogChange::Decided { url, at, accepted } => {
                    self.save_submission(url, *at, Some(*accepted))?;
                    continue;
                }
                _ => match page_change.page() {
                    Some(url) => url,
                    None => continue,
                },
            };
            let id = url.id();
            let slot = self.slot(id.site(), || url.site())?;
            let site = &mut self.sites[slot];
            if site.removed {
                self.outdated.extend(page_change.response_position().map(|position| (id, position)));
                continue;
            }
            // These belong to the site and hold even if the page was removed.
            site.seed |= matches!(page_change, CatalogChange::Seed { .. });
            site.visited_at = site.visited_at.max(requested_at(page_change));
            entries.push(PageChange { site: site.number, page: signed(id.page()), change, slot });
        }
        entries.sort_unstable();
        Ok(entries)
    }

    /// Returns the index of the site in this batch and inserts unknown sites.
    fn slot(&mut self, id: SiteId, name: impl FnOnce() -> SiteName) -> rusqlite::Result<usize> {
        if let Some(slot) = self.slots.get(&id) {
            return Ok(*slot);
        }
        let known = self
            .connection
            .prepare_cached("SELECT site, removed, recrawl_at FROM sites WHERE id = ?1")?
            .query_row([signed(id.0)], |r| {
                let recrawl_at: Option<i64> = r.get(2)?;
                Ok((r.get(0)?, r.get(1)?, recrawl_at.map(Timestamp::from_millis)))
            })
            .optional()?;
        let new = known.is_none();
        let (number, removed, recrawl_at) = match known {
            Some(known) => known,
            None => {
                let number = self
                    .connection
                    .prepare_cached("INSERT INTO sites (id, name) VALUES (?1, ?2)")?
                    .insert(params![signed(id.0), name().as_str()])?;
                (number, false, None)
            }
        };
        let slot = self.sites.len();
        let counts = StateCounts::default();
        self.sites.push(BatchSite {
            id,
            number,
            removed,
            seed: false,
            due: false,
            likely_new: new,
            visited_at: None,
            back_off: None,
            recrawl_at,
            counts,
            signals: None,
            has_new_signals: false,
        });
        self.slots.insert(id, slot);
        Ok(slot)
    }

    /// Returns `true` if the site is known from the catalog or from this batch.
    fn is_known_site(&self, site: SiteId) -> rusqlite::Result<bool> {
        if self.slots.contains_key(&site) {
            return Ok(true);
        }
        self.connection.prepare_cached("SELECT 1 FROM sites WHERE id = ?1")?.exists([signed(site.0)])
    }

    /// Applies all changes of one page.
    fn apply_to_page(&mut self, group: &[PageChange]) -> rusqlite::Result<()> {
        let Some(&entry) = group.first() else { return Ok(()) };
        let is_plain = |found: &DiscoveredLink| found.stale_before.is_none() && found.modified.is_none();
        if group
            .iter()
            .all(|e| matches!(&self.changes[e.change], CatalogChange::Found(found) if is_plain(found)))
        {
            return self.apply_links(entry, group);
        }
        let changes = self.changes;
        let Some(url) = changes[entry.change].page() else { return Ok(()) };
        let before = self.load(entry)?;
        let mut now = before.clone();
        for change in group.iter().map(|e| &changes[e.change]) {
            let removed = now.as_ref().is_some_and(|page| page.state == PageState::Removed);
            if let (Some(page), CatalogChange::Visited { at, outcome, .. }) = (&now, change)
                && !removed
                && page.is_misdated(*at, outcome)
            {
                self.correct_version_dates(entry, *at)?;
            }
            let new_version = !removed && self.add_version(entry, change)?;
            let content_at = match change {
                CatalogChange::Deleted { .. } => self.content_at(entry)?,
                _ => None,
            };
            let signals = match change {
                CatalogChange::Found(found) if found.modified.is_some() => self.signals(entry.slot)?,
                _ => None,
            };
            let context = ChangeContext {
                new_version,
                content_at,
                plan: &self.plan,
                signals: signals.unwrap_or_default(),
            };
            let effect = page_entry::apply_change(&mut now, change, &context);
            self.sites[entry.slot].due |= effect.due;
            if effect.announced && signals.is_none() {
                self.set_signals(entry.slot, SiteSignals::default());
            }
            // Sites that never announced anything have no signals to judge.
            if let Some(visit) = effect.observed
                && let Some(mut signals) = self.signals(entry.slot)?
            {
                signals.observe(&visit);
                self.set_signals(entry.slot, signals);
            }
            if let CatalogChange::Found(found) = change
                && effect.new
            {
                self.count_new_link(found);
            }
        }
        let Some(now) = now else { return Ok(()) };
        for position in group.iter().filter_map(|e| changes[e.change].response_position()) {
            if !now.is_current(position) {
                self.outdated.push((url.id(), position));
            }
        }
        if before.as_ref() != Some(&now) {
            let (before_counts, after_counts) =
                (before.as_ref().map_or(StateCounts::default(), count_states), count_states(&now));
            for (sum, (before, after)) in
                self.sites[entry.slot].counts.iter_mut().zip(before_counts.into_iter().zip(after_counts))
            {
                *sum += after - before;
            }
            self.save(entry, url, &now)?;
        }
        Ok(())
    }

    /// Returns the trust in the signals of a site, or `None` if it never announced anything.
    fn signals(&mut self, slot: usize) -> rusqlite::Result<Option<SiteSignals>> {
        let site = &mut self.sites[slot];
        match site.signals {
            Some(known) => Ok(known),
            None => {
                let read = signals::read(self.connection, site.number)?;
                site.signals = Some(read);
                Ok(read)
            }
        }
    }

    fn set_signals(&mut self, slot: usize, signals: SiteSignals) {
        let site = &mut self.sites[slot];
        (site.signals, site.has_new_signals) = (Some(Some(signals)), true);
    }

    /// Applies links to a page without any other change, which is by far the most frequent case in a crawl.
    /// Equivalent to [`PageEntry::discovered`] and [`PageEntry::rediscover`], without loading columns they do not
    /// need.
    fn apply_links(&mut self, entry: PageChange, group: &[PageChange]) -> rusqlite::Result<()> {
        let changes = self.changes;
        let links = || {
            group.iter().filter_map(|e| match &changes[e.change] {
                CatalogChange::Found(found) => Some(found),
                _ => None,
            })
        };
        let Some(first) = links().next() else { return Ok(()) };
        // The first of equally short paths.
        let Some(shortest) = links().min_by_key(|link| link.depth) else { return Ok(()) };
        let (site_number, page) = (entry.site, entry.page);
        // A lookup before the insert is cheap for known pages and wasted for new ones.
        let likely = self.sites[entry.slot].likely_new || first.likely_new;
        let mut added = likely && self.insert(entry, first, shortest, links().skip(1))?;
        if !added {
            let read_row = |r: &Row<'_>| {
                Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?, r.get::<_, u32>(2)?, r.get::<_, u32>(3)?))
            };
            match self.find_page.query_row([site_number, page], read_row).optional()? {
                None => added = self.insert(entry, first, shortest, links().skip(1))?,
                Some((state, depth, weight, linked_by)) => {
                    let waits = state == state_number(PageState::Waiting);
                    let (mut heavier, mut more) = (weight, linked_by);
                    for link in links() {
                        let weighed = page_entry::add_link_weight(heavier, more, link);
                        (heavier, more) = (if waits { weighed.0 } else { heavier }, weighed.1);
                    }
                    let removed = state == state_number(PageState::Removed);
                    if (heavier, more) != (weight, linked_by) && !removed {
                        self.update_weight.execute(params![site_number, page, heavier, more])?;
                    }
                    if waits && shortest.depth < depth {
                        let (hops, origin) = (shortest.hops, &shortest.origin);
                        self.update_path.execute(params![site_number, page, shortest.depth, hops, origin])?;
                        self.sites[entry.slot].due = true;
                    }
                }
            }
        }
        let site = &mut self.sites[entry.slot];
        site.likely_new = added;
        site.due |= added;
        site.counts[0] += i64::from(added);
        if added {
            self.count_new_link(first);
        }
        Ok(())
    }

    /// Inserts a page that was discovered through the link `first`, with the shortest path `shortest` and further
    /// links. Returns `true` if the page was new.
    fn insert<'l>(
        &mut self,
        entry: PageChange,
        first: &DiscoveredLink,
        shortest: &DiscoveredLink,
        others: impl Iterator<Item = &'l DiscoveredLink>,
    ) -> rusqlite::Result<bool> {
        let mut weighed = page_entry::initial_weight(first);
        for link in others {
            weighed = page_entry::add_link_weight(weighed.0, weighed.1, link);
        }
        if weighed.0 > 0 && !self.has_weight_index {
            // Only a crawl that computes weights queries by weight.
            self.connection.execute_batch(
                "CREATE INDEX IF NOT EXISTS waiting_by_weight ON pages (site, weight DESC, depth, found_at)
                 WHERE state = 0",
            )?;
            self.has_weight_index = true;
        }
        let (path, https) = (first.url.path_and_query(), first.url.is_https());
        let anchor = Some(first.anchor.as_str()).filter(|a| !a.is_empty());
        let added = self.insert_page.execute(params![
            entry.site,
            entry.page,
            path,
            https,
            shortest.depth,
            shortest.hops,
            first.at.millis(),
            anchor,
            shortest.origin,
            weighed.0,
            weighed.1,
        ])?;
        Ok(added > 0)
    }

    /// Counts a new page for the response that contains the link.
    fn count_new_link(&mut self, found: &DiscoveredLink) {
        if let Some(from) = found.from {
            *self.new_links.entry(from).or_default() += 1;
        }
    }

    /// Records mirrors, which are not fetched. Waiting pages of a mirror become known at the original.
    fn apply_aliases(&mut self) -> rusqlite::Result<()> {
        for change in self.changes {
            let CatalogChange::Alias { home, of } = change else { continue };
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO aliases VALUES (?1, ?2)")?
                .execute([home.as_str(), of.as_str()])?;
            let slot = self.slot(home.site().id(), || home.site())?;
            let site = self.sites[slot].number;
            let scheme = if home.is_https() { 2 } else { 1 };
            self.connection
                .prepare_cached("UPDATE sites SET alias = alias | ?2 WHERE site = ?1")?
                .execute([site, scheme])?;
            let waiting: Vec<(String, u32, i64)> = self
                .connection
                .prepare_cached(
                    "SELECT path, depth, found_at FROM pages WHERE site = ?1 AND state = 0 AND https = ?2",
                )?
                .query_map(params![site, home.is_https()], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
                .collect::<Result<_, _>>()?;
            for (path, depth, found_at) in waiting {
                let Ok(url) = of.join(&path) else { continue };
                let id = url.id();
                let slot = self.slot(id.site(), || url.site())?;
                if !self.sites[slot].removed {
                    let entry = PageChange {
                        site: self.sites[slot].number,
                        page: signed(id.page()),
                        change: 0,
                        slot,
                    };
                    let link = DiscoveredLink::new(url, depth, Timestamp::from_millis(found_at));
                    let added = self.insert(entry, &link, &link, std::iter::empty())?;
                    self.sites[slot].due |= added;
                    self.sites[slot].counts[0] += i64::from(added);
                }
            }
        }
        Ok(())
    }

    fn save_list_usage(&self, slot: usize, usage: ListUsage) -> rusqlite::Result<()> {
        let ListUsage { hour, lists, entries, bytes } = usage;
        let number = |number| i64::try_from(number).unwrap_or(i64::MAX);
        if !self.sites[slot].removed {
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO lists VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![
                    self.sites[slot].number,
                    hour,
                    number(lists),
                    number(entries),
                    number(bytes)
                ])?;
        }
        Ok(())
    }

    fn save_submission(&self, url: &PageUrl, at: Timestamp, accepted: Option<bool>) -> rusqlite::Result<()> {
        // A submission that was decided is not reopened.
        self.connection
            .prepare_cached(
                "INSERT INTO submissions VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET at = ?2, accepted = ?3 WHERE ?3 IS NOT NULL AND at <= ?2",
            )?
            .execute(params![url.as_str(), at.millis(), accepted])?;
        Ok(())
    }

    fn load(&self, entry: PageChange) -> rusqlite::Result<Option<PageEntry>> {
        self.connection
            .prepare_cached(concat!(
                "SELECT ",
                page_columns!(),
                " FROM pages p LEFT JOIN visits v USING (site, page) WHERE p.site = ?1 AND p.page = ?2"
            ))?
            .query_row([entry.site, entry.page], |r| read_page(r, 0))
            .optional()
    }

    fn save(&self, entry: PageChange, url: &PageUrl, page: &PageEntry) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO pages (site, page, path, https, state, depth, hops, found_at, due, anchor, origin, weight,
                     linked_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
                 ON CONFLICT DO UPDATE SET state = ?5, depth = ?6, hops = ?7, found_at = ?8, due = ?9, anchor = ?10,
                     origin = ?11, weight = ?12, linked_by = ?13",
            )?
            .execute(params![
                entry.site,
                entry.page,
                url.path_and_query(),
                url.is_https(),
                state_number(page.state),
                page.path.depth,
                page.path.hops,
                page.found_at.millis(),
                page.due.map(Timestamp::millis),
                Some(page.anchor.as_str()).filter(|a| !a.is_empty()),
                page.path.origin,
                page.weight,
                page.linked_by,
            ])?;
        if page.state == PageState::Removed {
            for table in ["visits", "versions"] {
                self.connection
                    .prepare_cached(&format!("DELETE FROM {table} WHERE site = ?1 AND page = ?2"))?
                    .execute([entry.site, entry.page])?;
            }
        } else if page.visited_at.is_some() || page.settled_at.is_some() {
            let response = page.response.as_ref();
            let (rate, rhythm) = page.refresh.to_columns();
            self.connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO visits
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                         ?17, ?18)",
                )?
                .execute(params![
                    entry.site,
                    entry.page,
                    page.visited_at.map(Timestamp::millis),
                    page.visits,
                    page.attempts,
                    page.reason,
                    page.settled_at.map(Timestamp::millis),
                    response.map(|a| a.status),
                    response.map(|a| signed(a.position.to_u64())),
                    response.map(|a| signed(a.digest)),
                    response.map(|a| a.indexable),
                    response.filter(|a| a.text != 0).map(|a| signed(a.text)),
                    page.changes,
                    response.and_then(|a| a.validators.etag.as_ref()),
                    response.and_then(|a| a.validators.last_modified.as_ref()),
                    page.problem.map(problem_number),
                    rate,
                    rhythm,
                ])?;
        }
        Ok(())
    }

    /// Sets the dates of versions after `at` to `at`.
    fn correct_version_dates(&self, entry: PageChange, at: Timestamp) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("UPDATE versions SET at = ?3 WHERE site = ?1 AND page = ?2 AND at > ?3")?
            .execute([entry.site, entry.page, at.millis()])?;
        Ok(())
    }

    /// Stores the version that the change delivers. Returns `true` if it was not stored before.
    fn add_version(&self, entry: PageChange, change: &CatalogChange) -> rusqlite::Result<bool> {
        let CatalogChange::Visited { at, outcome: VisitOutcome::Responded(response), .. } = change else {
            return Ok(false);
        };
        let added = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO versions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8)")?
            .execute(params![
                entry.site,
                entry.page,
                signed(response.position.to_u64()),
                at.millis(),
                response.status,
                signed(response.digest),
                response.links,
                response.inconclusive,
            ])?;
        Ok(added > 0)
    }

    /// Returns the time of the newest version of a page that is no temporary error.
    fn content_at(&self, entry: PageChange) -> rusqlite::Result<Option<Timestamp>> {
        let newest: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT max(at) FROM versions WHERE site = ?1 AND page = ?2 AND inconclusive = 0",
            )?
            .query_row([entry.site, entry.page], |row| row.get(0))?;
        Ok(newest.map(Timestamp::from_millis))
    }

    fn save_robots(&self, robots: &RobotsFile) -> rusqlite::Result<()> {
        let (state, body) = match &robots.state {
            RobotsState::Missing => (0, None),
            RobotsState::Unreachable => (1, None),
            RobotsState::Known(body) => (2, Some(body)),
        };
        self.connection
            .prepare_cached(
                "INSERT INTO robots (url, at, state, reason) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET at = ?2, state = ?3, reason = ?4 WHERE at <= ?2",
            )?
            .execute(params![robots.url.as_str(), robots.at.millis(), state, robots.reason])?;
        if body.is_some() {
            self.connection
                .prepare_cached(
                    "UPDATE robots SET body = ?3, known_at = ?2
                     WHERE url = ?1 AND (known_at IS NULL OR known_at <= ?2)",
                )?
                .execute(params![robots.url.as_str(), robots.at.millis(), body])?;
        }
        Ok(())
    }

    fn finish(self) -> rusqlite::Result<ApplyResult> {
        for site in self.sites.iter().filter(|s| !s.removed) {
            if site.counts != StateCounts::default() {
                let [pages, stored, indexable, failed, refused, deleted] = site.counts;
                self.connection
                    .prepare_cached(
                        "UPDATE sites SET pages = pages + ?2, stored = stored + ?3, indexable = indexable + ?4,
                                failed = failed + ?5, refused = refused + ?6, deleted = deleted + ?7
                         WHERE site = ?1",
                    )?
                    .execute(params![site.number, pages, stored, indexable, failed, refused, deleted])?;
            }
            if let Some(at) = site.visited_at {
                self.connection
                    .prepare_cached(
                        "UPDATE sites SET visited_at = ?2
                         WHERE site = ?1 AND (visited_at IS NULL OR visited_at < ?2)",
                    )?
                    .execute(params![site.number, at.millis()])?;
            }
            if let Some(back_off) = site.back_off {
                self.connection
                    .prepare_cached(
                        "UPDATE sites SET not_before = max(coalesce(not_before, ?2), ?2),
                                asked_at = max(coalesce(asked_at, ?3), ?3)
                         WHERE site = ?1",
                    )?
                    .execute(params![site.number, back_off.until.millis(), back_off.requested_at.millis()])?;
            }
            if let Some(Some(signals)) = site.signals.filter(|_| site.has_new_signals) {
                signals::write(self.connection, site.number, &signals)?;
            }
            if site.seed {
                self.connection
                    .prepare_cached("UPDATE sites SET seed = 1 WHERE site = ?1 AND seed = 0")?
                    .execute([site.number])?;
            }
        }
        for ((page, position), count) in &self.new_links {
            self.connection
                .prepare_cached(
                    "UPDATE versions SET new_links = new_links + ?4
                     WHERE site = (SELECT site FROM sites WHERE id = ?1) AND page = ?2 AND position = ?3",
                )?
                .execute(params![
                    signed(page.site().0),
                    signed(page.page()),
                    signed(position.to_u64()),
                    count
                ])?;
        }
        let mut due_sites: Vec<SiteId> = self.sites.iter().filter(|s| s.due).map(|s| s.id).collect();
        due_sites.sort_unstable();
        Ok(ApplyResult { due_sites, outdated: self.outdated })
    }
}

impl BatchSite {
    /// Applies a back-off request, unless it is older than the operator's last recrawl request.
    fn back_off(&mut self, at: Timestamp, until: Timestamp) {
        if Some(at) >= self.recrawl_at {
            let current = self.back_off.unwrap_or(BackOff { requested_at: at, until });
            self.back_off =
                Some(BackOff { requested_at: current.requested_at.max(at), until: current.until.max(until) });
        }
    }
}

fn count_states(page: &PageEntry) -> StateCounts {
    let is = |state| i64::from(page.state == state);
    [
        1 - is(PageState::Removed),
        is(PageState::Stored) + is(PageState::Quarantined),
        i64::from(page.is_indexable()),
        is(PageState::Failed),
        is(PageState::Refused),
        is(PageState::Deleted),
    ]
}

/// Returns the time of the request to the server, if there was one. Refused pages are not requested.
fn requested_at(change: &CatalogChange) -> Option<Timestamp> {
    match change {
        CatalogChange::Visited { outcome: VisitOutcome::Refused { .. }, .. } => None,
        CatalogChange::Visited { at, .. } => Some(*at),
        _ => None,
    }
}
