//! Taking in a batch of changes.
//!
//! A change concerns one page, or one site, or neither, and only the order among changes of one page matters. So
//! the changes of a batch are sorted by page: rows are touched in the order they lie in the file, and a page that
//! occurs often, as in the navigation of a site, is looked up once.

use std::collections::HashMap;

use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};

use super::rows::{page_columns, read_page, signed, state_number};
use crate::catalog::page::{self, Page};
use crate::catalog::{Applied, Change, Outcome, PageState, Removal, RobotsFile, RobotsState};

/// Applies all changes within the caller's transaction.
pub(super) fn apply_all(connection: &Connection, changes: &[Change]) -> rusqlite::Result<Applied> {
    let mut batch = Batch::new(connection, changes)?;
    batch.remove_sites()?;
    let entries = batch.sort()?;
    for group in entries.chunk_by(|a, b| (a.site, a.page) == (b.site, b.page)) {
        batch.page(group)?;
    }
    batch.finish()
}

/// One change of one page, in the order in which they are applied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    site: i64,
    page: i64,
    /// Which change of the batch.
    change: usize,
    /// Which site of the batch.
    slot: usize,
}

/// What a batch does to one site, written once at its end.
struct Site {
    id: SiteId,
    number: i64,
    removed: bool,
    seed: bool,
    woken: bool,
    /// Was the last page found on it new? Then the next probably is.
    growing: bool,
    visited_at: Option<Timestamp>,
    tally: Tally,
}

/// Columns of `sites` that count pages: all, stored, indexable, failed, refused, deleted.
type Tally = [i64; 6];

struct Batch<'c> {
    connection: &'c Connection,
    changes: &'c [Change],
    sites: Vec<Site>,
    slots: HashMap<SiteId, usize>,
    outdated: Vec<(PageId, LibraryPosition)>,
    find: CachedStatement<'c>,
    add: CachedStatement<'c>,
    nearer: CachedStatement<'c>,
}

impl<'c> Batch<'c> {
    fn new(connection: &'c Connection, changes: &'c [Change]) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            changes,
            sites: Vec::new(),
            slots: HashMap::new(),
            outdated: Vec::new(),
            find: connection
                .prepare_cached("SELECT state, depth FROM pages WHERE site = ?1 AND page = ?2")?,
            add: connection.prepare_cached(
                "INSERT INTO pages (site, page, path, https, state, depth, hops, found_at, anchor, origin)
                 VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
            )?,
            nearer: connection.prepare_cached(
                "UPDATE pages SET depth = ?3, hops = ?4, origin = ?5 WHERE site = ?1 AND page = ?2",
            )?,
        })
    }

    /// A removed site wins over everything before and after it, so it may come first.
    fn remove_sites(&mut self) -> rusqlite::Result<()> {
        for change in self.changes {
            let Change::Removed(Removal::Site(name)) = change else { continue };
            let slot = self.slot(name.id(), || name.clone())?;
            let site = &mut self.sites[slot];
            site.removed = true;
            self.connection
                .prepare_cached(
                    "UPDATE sites SET removed = 1, seed = 0, visited_at = NULL, pages = 0, stored = 0, indexable = 0,
                            failed = 0, refused = 0, deleted = 0 WHERE site = ?1",
                )?
                .execute([site.number])?;
            for table in ["pages", "visits", "versions"] {
                self.connection
                    .prepare_cached(&format!("DELETE FROM {table} WHERE site = ?1"))?
                    .execute([site.number])?;
            }
        }
        Ok(())
    }

    /// Does what concerns no page, and lists the rest in the order of the file.
    fn sort(&mut self) -> rusqlite::Result<Vec<Entry>> {
        let mut entries = Vec::with_capacity(self.changes.len());
        for (change, what) in self.changes.iter().enumerate() {
            let url = match what {
                Change::Rules(rules) => {
                    let json = serde_json::to_string(rules).unwrap_or_default();
                    self.connection
                        .prepare_cached("INSERT OR REPLACE INTO meta VALUES ('rules', ?1)")?
                        .execute([json])?;
                    continue;
                }
                Change::Robots(robots) => {
                    self.robots(robots)?;
                    continue;
                }
                _ => match what.page() {
                    Some(url) => url,
                    None => continue,
                },
            };
            let id = url.id();
            let slot = self.slot(id.site(), || url.site())?;
            let site = &mut self.sites[slot];
            if site.removed {
                self.outdated.extend(what.answer().map(|position| (id, position)));
                continue;
            }
            // Of the site, not of the page: these hold whether or not the page was removed.
            site.seed |= matches!(what, Change::Seed { .. });
            site.visited_at = site.visited_at.max(asked_at(what));
            entries.push(Entry { site: site.number, page: signed(id.page()), change, slot });
        }
        entries.sort_unstable();
        Ok(entries)
    }

    /// The site's place in this batch; a site unheard of becomes known.
    fn slot(&mut self, id: SiteId, name: impl FnOnce() -> SiteName) -> rusqlite::Result<usize> {
        if let Some(slot) = self.slots.get(&id) {
            return Ok(*slot);
        }
        let known = self
            .connection
            .prepare_cached("SELECT site, removed FROM sites WHERE id = ?1")?
            .query_row([signed(id.0)], |r| Ok((r.get(0)?, r.get(1)?)))
            .optional()?;
        let new = known.is_none();
        let (number, removed) = match known {
            Some(known) => known,
            None => {
                let number = self
                    .connection
                    .prepare_cached("INSERT INTO sites (id, name) VALUES (?1, ?2)")?
                    .insert(params![signed(id.0), name().as_str()])?;
                (number, false)
            }
        };
        let slot = self.sites.len();
        let tally = Tally::default();
        self.sites.push(Site {
            id,
            number,
            removed,
            seed: false,
            woken: false,
            growing: new,
            visited_at: None,
            tally,
        });
        self.slots.insert(id, slot);
        Ok(slot)
    }

    /// All changes of one page.
    fn page(&mut self, group: &[Entry]) -> rusqlite::Result<()> {
        let Some(&entry) = group.first() else { return Ok(()) };
        if group.iter().all(|e| matches!(self.changes[e.change], Change::Found { .. })) {
            return self.found(entry, group);
        }
        let changes = self.changes;
        let Some(url) = changes[entry.change].page() else { return Ok(()) };
        let before = self.load(entry)?;
        let mut now = before.clone();
        for change in group.iter().map(|e| &changes[e.change]) {
            let removed = now.as_ref().is_some_and(|page| page.state == PageState::Removed);
            let new_version = !removed && self.add_version(entry, change)?;
            self.sites[entry.slot].woken |= page::apply(&mut now, change, new_version);
        }
        let Some(now) = now else { return Ok(()) };
        for position in group.iter().filter_map(|e| changes[e.change].answer()) {
            if !now.is_current(position) {
                self.outdated.push((url.id(), position));
            }
        }
        if before.as_ref() != Some(&now) {
            let (was, is) = (before.as_ref().map_or(Tally::default(), tally), tally(&now));
            for (sum, (was, is)) in self.sites[entry.slot].tally.iter_mut().zip(was.into_iter().zip(is)) {
                *sum += is - was;
            }
            self.save(entry, url, &now)?;
        }
        Ok(())
    }

    /// A page that was found, once or many times, and nothing else: nearly all changes of a crawl. The same as
    /// [`Page::found`] and [`Page::found_again`] in turn, without loading what they do not need.
    fn found(&mut self, entry: Entry, group: &[Entry]) -> rusqlite::Result<()> {
        let changes = self.changes;
        let ways = || {
            group.iter().filter_map(|e| match &changes[e.change] {
                Change::Found { url, depth, hops, origin, anchor, at } => {
                    Some((url, *depth, hops, origin, anchor, at))
                }
                _ => None,
            })
        };
        let Some((url, _, _, _, anchor, at)) = ways().next() else { return Ok(()) };
        // The first of equally short ways.
        let Some((_, depth, hops, origin, ..)) = ways().min_by_key(|way| way.1) else { return Ok(()) };
        let anchor = Some(anchor.as_str()).filter(|a| !a.is_empty());
        let (site_number, page) = (entry.site, entry.page);
        let (path, https, found_at) = (url.path_and_query(), url.is_https(), at.millis());
        let new = params![site_number, page, path, https, depth, hops, found_at, anchor, origin];
        let site = &mut self.sites[entry.slot];
        // A look first is cheap where the page is known, and wasted where it is not.
        let mut added = site.growing && self.add.execute(new)? > 0;
        if !added {
            let look = |r: &Row<'_>| Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?));
            match self.find.query_row([site_number, page], look).optional()? {
                None => added = self.add.execute(new)? > 0,
                Some((state, known)) if state == state_number(PageState::Waiting) && depth < known => {
                    self.nearer.execute(params![site_number, page, depth, hops, origin])?;
                    site.woken = true;
                }
                Some(_) => {}
            }
        }
        site.growing = added;
        site.woken |= added;
        site.tally[0] += i64::from(added);
        Ok(())
    }

    fn load(&self, entry: Entry) -> rusqlite::Result<Option<Page>> {
        self.connection
            .prepare_cached(concat!(
                "SELECT ",
                page_columns!(),
                " FROM pages p LEFT JOIN visits v USING (site, page) WHERE p.site = ?1 AND p.page = ?2"
            ))?
            .query_row([entry.site, entry.page], |r| read_page(r, 0))
            .optional()
    }

    fn save(&self, entry: Entry, url: &PageUrl, page: &Page) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO pages (site, page, path, https, state, depth, hops, found_at, due, anchor, origin)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                 ON CONFLICT DO UPDATE SET state = ?5, depth = ?6, hops = ?7, found_at = ?8, due = ?9, anchor = ?10,
                     origin = ?11",
            )?
            .execute(params![
                entry.site,
                entry.page,
                url.path_and_query(),
                url.is_https(),
                state_number(page.state),
                page.way.depth,
                page.way.hops,
                page.found_at.millis(),
                page.due.map(Timestamp::millis),
                Some(page.anchor.as_str()).filter(|a| !a.is_empty()),
                page.way.origin,
            ])?;
        if page.state == PageState::Removed {
            for table in ["visits", "versions"] {
                self.connection
                    .prepare_cached(&format!("DELETE FROM {table} WHERE site = ?1 AND page = ?2"))?
                    .execute([entry.site, entry.page])?;
            }
        } else if page.visited_at.is_some() || page.settled_at.is_some() {
            let answer = page.answer.as_ref();
            self.connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO visits VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                )?
                .execute(params![
                    entry.site,
                    entry.page,
                    page.visited_at.map(Timestamp::millis),
                    page.visits,
                    page.attempts,
                    page.reason,
                    page.settled_at.map(Timestamp::millis),
                    answer.map(|a| a.status),
                    answer.map(|a| signed(a.position.to_u64())),
                    answer.map(|a| signed(a.digest)),
                    answer.map(|a| a.indexable),
                ])?;
        }
        Ok(())
    }

    /// Was it an answer, and one not known yet?
    fn add_version(&self, entry: Entry, change: &Change) -> rusqlite::Result<bool> {
        let Change::Visited { at, outcome: Outcome::Answered { status, position, digest, .. }, .. } = change
        else {
            return Ok(false);
        };
        let added = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO versions VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![
                entry.site,
                entry.page,
                signed(position.to_u64()),
                at.millis(),
                status,
                signed(*digest)
            ])?;
        Ok(added > 0)
    }

    fn robots(&self, robots: &RobotsFile) -> rusqlite::Result<()> {
        let (state, body) = match &robots.state {
            RobotsState::Missing => (0, None),
            RobotsState::Unreachable => (1, None),
            RobotsState::Known(body) => (2, Some(body)),
        };
        self.connection
            .prepare_cached(
                "INSERT INTO robots VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET at = ?2, state = ?3, body = ?4 WHERE at <= ?2",
            )?
            .execute(params![robots.url.as_str(), robots.at.millis(), state, body])?;
        Ok(())
    }

    fn finish(self) -> rusqlite::Result<Applied> {
        for site in self.sites.iter().filter(|s| !s.removed) {
            if site.tally != Tally::default() {
                let [pages, stored, indexable, failed, refused, deleted] = site.tally;
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
            if site.seed {
                self.connection
                    .prepare_cached("UPDATE sites SET seed = 1 WHERE site = ?1 AND seed = 0")?
                    .execute([site.number])?;
            }
        }
        let mut woken: Vec<SiteId> = self.sites.iter().filter(|s| s.woken).map(|s| s.id).collect();
        woken.sort_unstable();
        Ok(Applied { woken, outdated: self.outdated })
    }
}

fn tally(page: &Page) -> Tally {
    let is = |state| i64::from(page.state == state);
    [
        1 - is(PageState::Removed),
        is(PageState::Stored),
        i64::from(page.is_indexable()),
        is(PageState::Failed),
        is(PageState::Refused),
        is(PageState::Deleted),
    ]
}

/// When the server was asked, if it was: what a rule refuses is not asked for.
fn asked_at(change: &Change) -> Option<Timestamp> {
    match change {
        Change::Visited { outcome: Outcome::Refused { .. }, .. } => None,
        Change::Visited { at, .. } => Some(*at),
        _ => None,
    }
}
