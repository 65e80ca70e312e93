//! Taking in a batch of changes.
//!
//! A change concerns one page, or one site, or neither, and only the order among changes of one page matters. So
//! the changes of a batch are sorted by page: rows are touched in the order they lie in the file, and a page that
//! occurs often, as in the navigation of a site, is looked up once.

use std::collections::HashMap;

use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};

use super::recrawl::recrawl_site;
use super::rows::{page_columns, read_page, signed, state_number};
use crate::catalog::page::{self, Page};
use crate::catalog::{Applied, Change, Found, Outcome, PageState, Removal, RobotsFile, RobotsState};

/// Applies all changes within the caller's transaction.
pub(super) fn apply_all(connection: &Connection, changes: &[Change]) -> rusqlite::Result<Applied> {
    let is_of_a_site = |change: &Change| matches!(change, Change::Recrawl { whole_site: true, .. });
    if !changes.iter().any(is_of_a_site) {
        return apply_part(connection, changes);
    }
    // All pages of a site, as they are between two changes: what comes before is done first. It is an operator's word,
    // and rare.
    let mut woken = Vec::new();
    for part in changes.split_inclusive(is_of_a_site) {
        woken.extend(apply_part(connection, part)?.woken);
        if let Some(Change::Recrawl { url, whole_site: true, at }) = part.last() {
            let site = url.site().id();
            woken.extend(recrawl_site(connection, site, *at)?.then_some(site));
        }
    }
    woken.retain(|id| {
        !changes.iter().any(|c| matches!(c, Change::Removed(Removal::Site(name)) if name.id() == *id))
    });
    woken.sort_unstable();
    woken.dedup();
    Ok(Applied { woken, outdated: outdated(connection, changes)? })
}

/// Answers among changes that were applied, and are not current now.
pub(super) fn outdated(
    connection: &Connection,
    changes: &[Change],
) -> rusqlite::Result<Vec<(PageId, LibraryPosition)>> {
    let mut outdated = Vec::new();
    for change in changes {
        if let (Some(url), Some(position)) = (change.page(), change.answer()) {
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

/// Changes that each concern one page, or a site but not its pages.
fn apply_part(connection: &Connection, changes: &[Change]) -> rusqlite::Result<Applied> {
    let mut batch = Batch::new(connection, changes)?;
    batch.remove_sites()?;
    let entries = batch.sort()?;
    for group in entries.chunk_by(|a, b| (a.site, a.page) == (b.site, b.page)) {
        batch.page(group)?;
    }
    batch.aliases()?;
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
    patience: Option<Patience>,
    /// When an operator last wanted all of it again, before this batch.
    recrawl_at: Option<Timestamp>,
    tally: Tally,
}

/// What a server asked for: when it last did, and until when to wait at the longest.
#[derive(Clone, Copy)]
struct Patience {
    asked_at: Timestamp,
    until: Timestamp,
}

/// Columns of `sites` that count pages: all, stored, indexable, failed, refused, deleted.
type Tally = [i64; 6];

struct Batch<'c> {
    connection: &'c Connection,
    changes: &'c [Change],
    sites: Vec<Site>,
    slots: HashMap<SiteId, usize>,
    outdated: Vec<(PageId, LibraryPosition)>,
    /// How many pages nobody knew each answer led to.
    new_links: HashMap<(PageId, LibraryPosition), u32>,
    /// Pages are weighed, and the index for that is there.
    weighing: bool,
    find: CachedStatement<'c>,
    add: CachedStatement<'c>,
    nearer: CachedStatement<'c>,
    weigh: CachedStatement<'c>,
}

impl<'c> Batch<'c> {
    fn new(connection: &'c Connection, changes: &'c [Change]) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            changes,
            sites: Vec::new(),
            slots: HashMap::new(),
            outdated: Vec::new(),
            new_links: HashMap::new(),
            weighing: false,
            find: connection.prepare_cached(
                "SELECT state, depth, weight, linked_by FROM pages WHERE site = ?1 AND page = ?2",
            )?,
            add: connection.prepare_cached(
                "INSERT INTO pages (site, page, path, https, state, depth, hops, found_at, anchor, origin, weight,
                     linked_by)
                 VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
            )?,
            nearer: connection.prepare_cached(
                "UPDATE pages SET depth = ?3, hops = ?4, origin = ?5 WHERE site = ?1 AND page = ?2",
            )?,
            weigh: connection.prepare_cached(
                "UPDATE pages SET weight = ?3, linked_by = ?4 WHERE site = ?1 AND page = ?2",
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
                            failed = 0, refused = 0, deleted = 0, not_before = NULL, asked_at = NULL, recrawl_at = NULL
                     WHERE site = ?1",
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
                Change::BackOff { site, at, until } => {
                    let slot = self.slot(site.id(), || site.clone())?;
                    self.sites[slot].back_off(*at, *until);
                    continue;
                }
                // Patience asked for before is over, also where it is told later.
                Change::Recrawl { url, whole_site: true, .. } => {
                    self.slot(url.site().id(), || url.site())?;
                    continue;
                }
                // Nobody gets to know a site by wanting a page of it again.
                Change::Recrawl { url, .. } if !self.knows(url.site().id())? => continue,
                Change::Filtered { rule, links } => {
                    self.connection
                        .prepare_cached(
                            "INSERT INTO filtered VALUES (?1, ?2) ON CONFLICT DO UPDATE SET links = links + ?2",
                        )?
                        .execute(params![rule, i64::try_from(*links).unwrap_or(i64::MAX)])?;
                    continue;
                }
                Change::Submitted { url, at } => {
                    self.submission(url, *at, None)?;
                    continue;
                }
                Change::Decided { url, at, accepted } => {
                    self.submission(url, *at, Some(*accepted))?;
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
        let tally = Tally::default();
        self.sites.push(Site {
            id,
            number,
            removed,
            seed: false,
            woken: false,
            growing: new,
            visited_at: None,
            patience: None,
            recrawl_at,
            tally,
        });
        self.slots.insert(id, slot);
        Ok(slot)
    }

    /// Was this site heard of, before the batch or in it so far?
    fn knows(&self, site: SiteId) -> rusqlite::Result<bool> {
        if self.slots.contains_key(&site) {
            return Ok(true);
        }
        self.connection.prepare_cached("SELECT 1 FROM sites WHERE id = ?1")?.exists([signed(site.0)])
    }

    /// All changes of one page.
    fn page(&mut self, group: &[Entry]) -> rusqlite::Result<()> {
        let Some(&entry) = group.first() else { return Ok(()) };
        let is_plain = |found: &Found| found.stale_before.is_none();
        if group.iter().all(|e| matches!(&self.changes[e.change], Change::Found(found) if is_plain(found))) {
            return self.found(entry, group);
        }
        let changes = self.changes;
        let Some(url) = changes[entry.change].page() else { return Ok(()) };
        let before = self.load(entry)?;
        let mut now = before.clone();
        for change in group.iter().map(|e| &changes[e.change]) {
            let removed = now.as_ref().is_some_and(|page| page.state == PageState::Removed);
            let new_version = !removed && self.add_version(entry, change)?;
            let effect = page::apply(&mut now, change, new_version);
            self.sites[entry.slot].woken |= effect.due;
            if let Change::Found(found) = change
                && effect.new
            {
                self.credit(found);
            }
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
        let links = || {
            group.iter().filter_map(|e| match &changes[e.change] {
                Change::Found(found) => Some(found),
                _ => None,
            })
        };
        let Some(first) = links().next() else { return Ok(()) };
        // The first of equally short ways.
        let Some(shortest) = links().min_by_key(|link| link.depth) else { return Ok(()) };
        let (site_number, page) = (entry.site, entry.page);
        // A look first is cheap where the page is known, and wasted where it is not.
        let likely = self.sites[entry.slot].growing || first.surely_new;
        let mut added = likely && self.add(entry, first, shortest, links().skip(1))?;
        if !added {
            let look = |r: &Row<'_>| {
                Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?, r.get::<_, u32>(2)?, r.get::<_, u32>(3)?))
            };
            match self.find.query_row([site_number, page], look).optional()? {
                None => added = self.add(entry, first, shortest, links().skip(1))?,
                Some((state, depth, weight, linked_by)) => {
                    let waits = state == state_number(PageState::Waiting);
                    let (mut heavier, mut more) = (weight, linked_by);
                    for link in links() {
                        let weighed = page::weighed(heavier, more, link);
                        (heavier, more) = (if waits { weighed.0 } else { heavier }, weighed.1);
                    }
                    let removed = state == state_number(PageState::Removed);
                    if (heavier, more) != (weight, linked_by) && !removed {
                        self.weigh.execute(params![site_number, page, heavier, more])?;
                    }
                    if waits && shortest.depth < depth {
                        let (hops, origin) = (shortest.hops, &shortest.origin);
                        self.nearer.execute(params![site_number, page, shortest.depth, hops, origin])?;
                        self.sites[entry.slot].woken = true;
                    }
                }
            }
        }
        let site = &mut self.sites[entry.slot];
        site.growing = added;
        site.woken |= added;
        site.tally[0] += i64::from(added);
        if added {
            self.credit(first);
        }
        Ok(())
    }

    /// Adds a page that was found first here, on this shortest way, and then on more ways.
    fn add<'l>(
        &mut self,
        entry: Entry,
        first: &Found,
        shortest: &Found,
        others: impl Iterator<Item = &'l Found>,
    ) -> rusqlite::Result<bool> {
        let mut weighed = page::first_weight(first);
        for link in others {
            weighed = page::weighed(weighed.0, weighed.1, link);
        }
        if weighed.0 > 0 && !self.weighing {
            // Only a crawl that weighs pages asks for them by weight.
            self.connection.execute_batch(
                "CREATE INDEX IF NOT EXISTS waiting_by_weight ON pages (site, weight DESC, depth, found_at)
                 WHERE state = 0",
            )?;
            self.weighing = true;
        }
        let (path, https) = (first.url.path_and_query(), first.url.is_https());
        let anchor = Some(first.anchor.as_str()).filter(|a| !a.is_empty());
        let added = self.add.execute(params![
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

    /// The answer that this link stands in led to a page that was not known.
    fn credit(&mut self, found: &Found) {
        if let Some(from) = found.from {
            *self.new_links.entry(from).or_default() += 1;
        }
    }

    /// Copies of sites are not asked for. Pages that were only known there become known at the original.
    fn aliases(&mut self) -> rusqlite::Result<()> {
        for change in self.changes {
            let Change::Alias { home, of } = change else { continue };
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
                    let entry =
                        Entry { site: self.sites[slot].number, page: signed(id.page()), change: 0, slot };
                    let link = Found::new(url, depth, Timestamp::from_millis(found_at));
                    let added = self.add(entry, &link, &link, std::iter::empty())?;
                    self.sites[slot].woken |= added;
                    self.sites[slot].tally[0] += i64::from(added);
                }
            }
        }
        Ok(())
    }

    fn submission(&self, url: &PageUrl, at: Timestamp, accepted: Option<bool>) -> rusqlite::Result<()> {
        // What was decided is not asked again.
        self.connection
            .prepare_cached(
                "INSERT INTO submissions VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET at = ?2, accepted = ?3 WHERE ?3 IS NOT NULL AND at <= ?2",
            )?
            .execute(params![url.as_str(), at.millis(), accepted])?;
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
                page.way.depth,
                page.way.hops,
                page.found_at.millis(),
                page.due.map(Timestamp::millis),
                Some(page.anchor.as_str()).filter(|a| !a.is_empty()),
                page.way.origin,
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
            let answer = page.answer.as_ref();
            self.connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO visits
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
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
                    answer.filter(|a| a.text != 0).map(|a| signed(a.text)),
                    page.changes,
                    answer.and_then(|a| a.validators.etag.as_ref()),
                    answer.and_then(|a| a.validators.last_modified.as_ref()),
                    matches!(page.state, PageState::Failed | PageState::Refused)
                        .then(|| state_number(page.state)),
                ])?;
        }
        Ok(())
    }

    /// Was it an answer, and one not known yet?
    fn add_version(&self, entry: Entry, change: &Change) -> rusqlite::Result<bool> {
        let Change::Visited { at, outcome: Outcome::Answered(answer), .. } = change else { return Ok(false) };
        let added = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO versions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)")?
            .execute(params![
                entry.site,
                entry.page,
                signed(answer.position.to_u64()),
                at.millis(),
                answer.status,
                signed(answer.digest),
                answer.links,
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
            if let Some(patience) = site.patience {
                self.connection
                    .prepare_cached(
                        "UPDATE sites SET not_before = max(coalesce(not_before, ?2), ?2),
                                asked_at = max(coalesce(asked_at, ?3), ?3)
                         WHERE site = ?1",
                    )?
                    .execute(params![site.number, patience.until.millis(), patience.asked_at.millis()])?;
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
        let mut woken: Vec<SiteId> = self.sites.iter().filter(|s| s.woken).map(|s| s.id).collect();
        woken.sort_unstable();
        Ok(Applied { woken, outdated: self.outdated })
    }
}

impl Site {
    /// Its server asked for patience. What it asked before an operator wanted the site again is over.
    fn back_off(&mut self, at: Timestamp, until: Timestamp) {
        if Some(at) >= self.recrawl_at {
            let asked = self.patience.unwrap_or(Patience { asked_at: at, until });
            self.patience =
                Some(Patience { asked_at: asked.asked_at.max(at), until: asked.until.max(until) });
        }
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
