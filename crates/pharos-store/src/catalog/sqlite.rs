//! The catalog in SQLite: one writer, readers beside it (WAL).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pharos_core::{LibraryPosition, NORMALISER_VERSION, PageId, PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, params};

use super::{
    Catalog, CatalogCounts, Change, CrawlRules, DuePage, Outcome, PageState, PageStory, RobotsFile,
    RobotsState, SiteCounts,
};
use crate::StoreError;

/// Each entry brings the schema one version further; `user_version` counts how many were applied.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE sites (
        site INTEGER PRIMARY KEY,               -- hash of the name
        name TEXT NOT NULL,
        seed INTEGER NOT NULL DEFAULT 0         -- 1: an operator named a page of it
    ) STRICT;
    CREATE TABLE robots (
        url TEXT PRIMARY KEY,
        at INTEGER NOT NULL,                    -- milliseconds since 1970
        state INTEGER NOT NULL,                 -- 0 missing, 1 unreachable, 2 known
        body BLOB
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE pages (
        site INTEGER NOT NULL,                  -- hash of the site, then of the URL: pages of a site lie together
        page INTEGER NOT NULL,
        url TEXT NOT NULL,
        state INTEGER NOT NULL DEFAULT 0,       -- 0 waiting, 1 stored, 2 failed, 3 refused
        due INTEGER,                            -- when to visit; NULL: never
        depth INTEGER NOT NULL,                 -- clicks from a seed
        hops INTEGER NOT NULL DEFAULT 0,        -- redirects in a row that led here
        found_at INTEGER NOT NULL,
        anchor TEXT NOT NULL DEFAULT '',
        visited_at INTEGER,
        visits INTEGER NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,    -- failures in a row
        status INTEGER,
        reason TEXT,
        position INTEGER,                       -- of the last answer: file << 40 | offset
        digest INTEGER,
        indexable INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (site, page)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX due_pages ON pages (site, depth, found_at, due) WHERE due IS NOT NULL;
"];

/// The catalog in SQLite.
pub struct SqliteCatalog {
    path: PathBuf,
    writer: Option<Mutex<Connection>>,
    reader: Mutex<Connection>,
}

impl SqliteCatalog {
    /// Opens for writing, creating or migrating it; the caller owns the data directory.
    pub fn open_writer(path: &Path) -> Result<Self, StoreError> {
        let writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        let failed = |e| sql_error(path, e);
        writer.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        // The library is the truth: a commit lost with the power is replayed from there.
        writer.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        migrate(path, &writer)?;
        let reader = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Self { path: path.to_path_buf(), writer: Some(Mutex::new(writer)), reader: Mutex::new(reader) })
    }

    /// Opens for reading, beside whoever writes. `None` when there is no catalog yet.
    pub fn open_reader(path: &Path) -> Result<Option<Self>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        let reader = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        if format(path, &reader)? == 0 {
            return Ok(None);
        }
        Ok(Some(Self { path: path.to_path_buf(), writer: None, reader: Mutex::new(reader) }))
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> StoreError {
        |e| sql_error(&self.path, e)
    }

    fn one<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let reader = self.reader();
        let mut statement = reader.prepare_cached(sql).map_err(self.failed())?;
        statement.query_row(values, read).optional().map_err(self.failed())
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let reader = self.reader();
        let mut statement = reader.prepare_cached(sql).map_err(self.failed())?;
        statement.query_map(values, read).and_then(Iterator::collect).map_err(self.failed())
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|e| sql_error(path, e))?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(|e| sql_error(path, e))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn format(path: &Path, connection: &Connection) -> Result<u32, StoreError> {
    let found =
        connection.pragma_query_value(None, "user_version", |r| r.get(0)).map_err(|e| sql_error(path, e))?;
    let known = MIGRATIONS.len() as u32;
    if found > known {
        return Err(StoreError::NewerFormat { path: path.to_path_buf(), found, known });
    }
    Ok(found)
}

fn migrate(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let found = format(path, connection)?;
    for (version, sql) in (1..).zip(MIGRATIONS).skip(found as usize) {
        connection
            .execute_batch(&format!("BEGIN; {sql} PRAGMA user_version = {version}; COMMIT;"))
            .map_err(|e| sql_error(path, e))?;
    }
    connection
        .execute("INSERT OR IGNORE INTO meta VALUES ('url_normaliser', ?1)", [NORMALISER_VERSION.to_string()])
        .map_err(|e| sql_error(path, e))?;
    Ok(())
}

fn sql_error(path: &Path, error: rusqlite::Error) -> StoreError {
    let io = |action, kind| {
        let source = std::io::Error::new(kind, error.to_string());
        StoreError::Io { action, path: path.to_path_buf(), source }
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::CatalogDamaged { path: path.to_path_buf(), detail: error.to_string() }
        }
        // A write that fails half-way is nearly always a disk without room, and SQLite does not always know.
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            io("write", std::io::ErrorKind::StorageFull)
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            io("open", std::io::ErrorKind::PermissionDenied)
        }
        _ => StoreError::Catalog(error.to_string()),
    }
}

/// Ids are unsigned, SQLite's integers are not: the bits are kept.
fn signed(id: u64) -> i64 {
    id.cast_signed()
}

impl Catalog for SqliteCatalog {
    fn absorbed(&self) -> Result<LibraryPosition, StoreError> {
        let packed: Option<String> =
            self.one("SELECT value FROM meta WHERE key = 'absorbed'", [], |r| r.get(0))?;
        Ok(packed.and_then(|p| p.parse().ok()).map_or(LibraryPosition::START, LibraryPosition::from_u64))
    }

    fn apply(&self, changes: &[Change], absorbed: LibraryPosition) -> Result<Vec<SiteId>, StoreError> {
        let Some(writer) = &self.writer else {
            return Err(StoreError::Catalog("opened for reading only".into()));
        };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if absorbed <= self.absorbed()? {
            return Ok(Vec::new());
        }
        let transaction = writer.transaction().map_err(self.failed())?;
        let mut woken = Vec::new();
        for change in changes {
            apply_one(&transaction, change, &mut woken).map_err(self.failed())?;
        }
        transaction
            .execute("INSERT OR REPLACE INTO meta VALUES ('absorbed', ?1)", [absorbed.to_u64().to_string()])
            .map_err(self.failed())?;
        transaction.commit().map_err(self.failed())?;
        woken.sort_unstable();
        woken.dedup();
        Ok(woken)
    }

    fn rules(&self) -> Result<Option<CrawlRules>, StoreError> {
        let json: Option<String> =
            self.one("SELECT value FROM meta WHERE key = 'rules'", [], |r| r.get(0))?;
        Ok(json.and_then(|j| serde_json::from_str(&j).ok()))
    }

    fn seed_sites(&self) -> Result<Vec<SiteName>, StoreError> {
        self.all("SELECT name FROM sites WHERE seed = 1", [], |r| r.get(0).map(SiteName::from_stored))
    }

    fn due_sites(&self, now: Timestamp) -> Result<Vec<SiteId>, StoreError> {
        self.all(
            "SELECT site FROM sites WHERE EXISTS (SELECT 1 FROM pages WHERE pages.site = sites.site AND due <= ?1)",
            [now.millis()],
            |r| r.get::<_, i64>(0).map(|s| SiteId(s.cast_unsigned())),
        )
    }

    fn due_pages(&self, site: SiteId, now: Timestamp, limit: usize) -> Result<Vec<DuePage>, StoreError> {
        let rows = self.all(
            "SELECT url, depth, hops, attempts FROM pages INDEXED BY due_pages
             WHERE site = ?1 AND due IS NOT NULL AND due <= ?2 ORDER BY depth, found_at LIMIT ?3",
            params![signed(site.0), now.millis(), limit as i64],
            |r| Ok((r.get::<_, String>(0)?, r.get(1)?, r.get(2)?, r.get(3)?)),
        )?;
        rows.into_iter()
            .map(|(url, depth, hops, attempts)| Ok(DuePage { url: stored_url(&url)?, depth, hops, attempts }))
            .collect()
    }

    fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let due: Option<Option<i64>> =
            self.one("SELECT min(due) FROM pages WHERE due > ?1", [now.millis()], |r| r.get(0))?;
        Ok(due.flatten().map(Timestamp::from_millis))
    }

    fn robots(&self, robots_txt: &PageUrl) -> Result<Option<RobotsFile>, StoreError> {
        self.one("SELECT at, state, body FROM robots WHERE url = ?1", [robots_txt.as_str()], |r| {
            let state = match r.get::<_, u32>(1)? {
                0 => RobotsState::Missing,
                1 => RobotsState::Unreachable,
                _ => RobotsState::Known(r.get::<_, Option<Vec<u8>>>(2)?.unwrap_or_default()),
            };
            Ok(RobotsFile { url: robots_txt.clone(), at: Timestamp::from_millis(r.get(0)?), state })
        })
    }

    fn page(&self, id: PageId) -> Result<Option<PageStory>, StoreError> {
        let story = self.one(
            "SELECT url, state, depth, hops, anchor, found_at, visited_at, visits, attempts, status, reason, position,
                    indexable, due
             FROM pages WHERE site = ?1 AND page = ?2",
            [signed(id.site().0), signed(id.page())],
            |r| {
                let url: String = r.get(0)?;
                let position: Option<i64> = r.get(11)?;
                Ok(stored_url(&url).map(|url| PageStory {
                    url,
                    state: match r.get(1) {
                        Ok(1u32) => PageState::Stored,
                        Ok(2) => PageState::Failed,
                        Ok(3) => PageState::Refused,
                        _ => PageState::Waiting,
                    },
                    depth: r.get(2).unwrap_or_default(),
                    hops: r.get(3).unwrap_or_default(),
                    anchor: r.get(4).unwrap_or_default(),
                    found_at: Timestamp::from_millis(r.get(5).unwrap_or_default()),
                    visited_at: r.get::<_, Option<i64>>(6).unwrap_or_default().map(Timestamp::from_millis),
                    visits: r.get(7).unwrap_or_default(),
                    attempts: r.get(8).unwrap_or_default(),
                    status: r.get(9).unwrap_or_default(),
                    reason: r.get(10).unwrap_or_default(),
                    position: position.map(|p| LibraryPosition::from_u64(p.cast_unsigned())),
                    indexable: r.get(12).unwrap_or_default(),
                    due: r.get::<_, Option<i64>>(13).unwrap_or_default().map(Timestamp::from_millis),
                }))
            },
        )?;
        story.transpose()
    }

    fn counts(&self) -> Result<CatalogCounts, StoreError> {
        let mut counts = CatalogCounts {
            sites: self.one("SELECT count(*) FROM sites", [], |r| r.get(0))?.unwrap_or_default(),
            ..Default::default()
        };
        let states =
            self.all("SELECT state, count(*), sum(indexable) FROM pages GROUP BY state", [], |r| {
                Ok((r.get::<_, u32>(0)?, r.get::<_, u64>(1)?, r.get::<_, u64>(2)?))
            })?;
        for (state, pages, indexable) in states {
            counts.pages += pages;
            counts.indexable += indexable;
            match state {
                0 => counts.waiting = pages,
                1 => counts.stored = pages,
                2 => counts.failed = pages,
                _ => counts.refused = pages,
            }
        }
        Ok(counts)
    }

    fn sites(&self, limit: usize) -> Result<Vec<SiteCounts>, StoreError> {
        self.all(
            "SELECT name, count(*) AS known, sum(state = 1) FROM pages JOIN sites USING (site)
             GROUP BY site ORDER BY known DESC, name LIMIT ?1",
            [limit as i64],
            |r| {
                Ok(SiteCounts { site: SiteName::from_stored(r.get(0)?), pages: r.get(1)?, stored: r.get(2)? })
            },
        )
    }
}

fn stored_url(text: &str) -> Result<PageUrl, StoreError> {
    PageUrl::parse(text).map_err(|e| StoreError::Catalog(format!("a stored address is not one: {e}")))
}

fn apply_one(t: &Transaction<'_>, change: &Change, woken: &mut Vec<SiteId>) -> rusqlite::Result<()> {
    match change {
        Change::Rules(rules) => {
            let json = serde_json::to_string(rules).unwrap_or_default();
            t.prepare_cached("INSERT OR REPLACE INTO meta VALUES ('rules', ?1)")?.execute([json])?;
        }
        Change::Seed { url, at, hops } => {
            know_site(t, &url.site(), true)?;
            know_page(t, url, 0, *hops, "", *at, woken)?;
            if *hops == 0 {
                try_again(t, url, *at, woken)?;
            }
        }
        Change::Found { url, depth, hops, anchor, at } => {
            know_site(t, &url.site(), false)?;
            know_page(t, url, *depth, *hops, anchor, *at, woken)?;
        }
        Change::Visited { url, at, outcome, next_due } => {
            know_site(t, &url.site(), false)?;
            let id = url.id();
            let key = (signed(id.site().0), signed(id.page()));
            // Records may come without a link that led to them: an import, a lost beginning. Where a link did, the
            // way to the page stays as it was.
            t.prepare_cached(
                "INSERT OR IGNORE INTO pages (site, page, url, depth, found_at) VALUES (?1, ?2, ?3, 0, ?4)",
            )?
            .execute(params![key.0, key.1, url.as_str(), at.millis()])?;
            let due = next_due.map(Timestamp::millis);
            match outcome {
                Outcome::Answered { status, position, digest, indexable, attempts } => t
                    .prepare_cached(
                        "UPDATE pages SET state = 1, due = ?3, visited_at = ?4, visits = visits + 1, attempts = ?9,
                                status = ?5, reason = NULL, position = ?6, digest = ?7, indexable = ?8
                         WHERE site = ?1 AND page = ?2 AND (position IS NULL OR position < ?6)",
                    )?
                    .execute(params![
                        key.0, key.1, due, at.millis(), status, signed(position.to_u64()), signed(*digest),
                        indexable,
                        attempts
                    ])?,
                Outcome::Failed { reason, attempt } => t
                    .prepare_cached(
                        "UPDATE pages SET state = CASE state WHEN 1 THEN 1 ELSE 2 END, due = ?3, visited_at = ?4,
                                attempts = ?5, reason = ?6 WHERE site = ?1 AND page = ?2",
                    )?
                    .execute(params![key.0, key.1, due, at.millis(), attempt, reason])?,
                Outcome::Refused { reason } => t
                    .prepare_cached(
                        "UPDATE pages SET state = CASE state WHEN 1 THEN 1 ELSE 3 END, due = ?3, visited_at = ?4,
                                reason = ?5 WHERE site = ?1 AND page = ?2",
                    )?
                    .execute(params![key.0, key.1, due, at.millis(), reason])?,
            };
        }
        Change::Robots(robots) => {
            let (state, body) = match &robots.state {
                RobotsState::Missing => (0, None),
                RobotsState::Unreachable => (1, None),
                RobotsState::Known(body) => (2, Some(body)),
            };
            t.prepare_cached("INSERT OR REPLACE INTO robots VALUES (?1, ?2, ?3, ?4)")?.execute(params![
                robots.url.as_str(),
                robots.at.millis(),
                state,
                body
            ])?;
        }
    }
    Ok(())
}

/// Naming a page again is asking to try it again, where it failed or was refused.
fn try_again(
    t: &Transaction<'_>,
    url: &PageUrl,
    at: Timestamp,
    woken: &mut Vec<SiteId>,
) -> rusqlite::Result<()> {
    let id = url.id();
    let again = t
        .prepare_cached(
            "UPDATE pages SET due = ?3, attempts = 0
             WHERE site = ?1 AND page = ?2 AND (state IN (2, 3) OR status >= 400)",
        )?
        .execute(params![signed(id.site().0), signed(id.page()), at.millis()])?;
    if again > 0 {
        woken.push(id.site());
    }
    Ok(())
}

fn know_site(t: &Transaction<'_>, site: &SiteName, seed: bool) -> rusqlite::Result<()> {
    t.prepare_cached(
        "INSERT INTO sites VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET seed = 1 WHERE excluded.seed = 1 AND seed = 0",
    )?
    .execute(params![signed(site.id().0), site.as_str(), seed])?;
    Ok(())
}

/// A page is known once; a shorter way to it is remembered while it waits.
fn know_page(
    t: &Transaction<'_>,
    url: &PageUrl,
    depth: u32,
    hops: u32,
    anchor: &str,
    at: Timestamp,
    woken: &mut Vec<SiteId>,
) -> rusqlite::Result<()> {
    let id = url.id();
    let changed = t
        .prepare_cached(
            "INSERT INTO pages (site, page, url, due, depth, hops, found_at, anchor)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?4, ?7)
             ON CONFLICT DO UPDATE SET depth = excluded.depth, hops = excluded.hops
             WHERE state = 0 AND excluded.depth < depth",
        )?
        .execute(params![
            signed(id.site().0),
            signed(id.page()),
            url.as_str(),
            at.millis(),
            depth,
            hops,
            anchor
        ])?;
    if changed > 0 {
        woken.push(id.site());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::config::Scope;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://example.org{path}")).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn position(offset: u64) -> LibraryPosition {
        LibraryPosition { file: 1, offset }
    }

    fn found(path: &str, depth: u32) -> Change {
        Change::Found { url: url(path), depth, hops: 0, anchor: "words".into(), at: at(1) }
    }

    fn answered(path: &str, offset: u64) -> Change {
        let outcome = Outcome::Answered {
            status: 200,
            position: position(offset),
            digest: u64::MAX,
            indexable: true,
            attempts: 0,
        };
        Change::Visited { url: url(path), at: at(2), outcome, next_due: None }
    }

    fn catalog() -> (tempfile::TempDir, SqliteCatalog) {
        let dir = tempfile::tempdir().unwrap();
        let catalog = SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap();
        (dir, catalog)
    }

    fn due(catalog: &dyn Catalog) -> Vec<String> {
        let pages = catalog.due_pages(url("/").site().id(), at(100), 10).unwrap();
        pages.iter().map(|p| p.url.path_and_query().to_string()).collect()
    }

    #[test]
    fn pages_come_due_breadth_first_and_once() {
        let (_dir, catalog) = catalog();
        let seed = Change::Seed { url: url("/"), at: at(0), hops: 0 };
        let woken = catalog.apply(&[seed, found("/deep", 3), found("/near", 1)], position(10)).unwrap();
        assert_eq!(woken, [url("/").site().id()]);
        assert_eq!(due(&catalog), ["/", "/near", "/deep"]);
        assert!(catalog.apply(&[found("/near", 1)], position(11)).unwrap().is_empty(), "known already");
        catalog.apply(&[answered("/", 5), found("/", 0)], position(12)).unwrap();
        assert_eq!(due(&catalog), ["/near", "/deep"]);
        catalog.apply(&[found("/deep", 0)], position(13)).unwrap();
        assert_eq!(due(&catalog), ["/deep", "/near"], "a shorter way is remembered");
        assert_eq!(catalog.absorbed().unwrap(), position(13));
        assert_eq!(catalog.seed_sites().unwrap(), [url("/").site()]);
        assert_eq!(catalog.due_sites(at(100)).unwrap(), [url("/").site().id()]);
        assert!(catalog.due_sites(Timestamp::EPOCH.plus(Duration::ZERO)).unwrap().len() <= 1);
    }

    #[test]
    fn replaying_changes_nothing() {
        let (_dir, catalog) = catalog();
        let changes = [found("/a", 1), answered("/a", 7), found("/b", 2)];
        catalog.apply(&changes, position(9)).unwrap();
        let before = (catalog.page(url("/a").id()).unwrap(), catalog.counts().unwrap(), due(&catalog));
        catalog.apply(&changes, position(9)).unwrap();
        assert_eq!(before, (catalog.page(url("/a").id()).unwrap(), catalog.counts().unwrap(), due(&catalog)));
        assert_eq!(before.0.unwrap().position, Some(position(7)));
    }

    #[test]
    fn failures_wait_and_stories_are_told() {
        let (_dir, catalog) = catalog();
        let outcome = Outcome::Failed { reason: "timed out".into(), attempt: 1 };
        let failed = Change::Visited { url: url("/a"), at: at(2), outcome, next_due: Some(at(500)) };
        let outcome = Outcome::Refused { reason: "robots.txt".into() };
        let refused = Change::Visited { url: url("/b"), at: at(2), outcome, next_due: None };
        catalog.apply(&[found("/a", 1), found("/b", 1), failed, refused], position(1)).unwrap();
        assert!(due(&catalog).is_empty());
        assert_eq!(catalog.next_due(at(100)).unwrap(), Some(at(500)));
        let story = catalog.page(url("/a").id()).unwrap().unwrap();
        assert_eq!(
            (story.state, story.reason.as_deref(), story.anchor.as_str()),
            (PageState::Failed, Some("timed out"), "words")
        );
        let counts = catalog.counts().unwrap();
        assert_eq!((counts.pages, counts.failed, counts.refused, counts.sites), (2, 1, 1, 1));
        assert_eq!(catalog.page(url("/none").id()).unwrap(), None);
    }

    #[test]
    fn rules_and_robots_are_kept() {
        let (_dir, catalog) = catalog();
        assert_eq!(catalog.rules().unwrap(), None);
        let rules = CrawlRules { scope: Scope::Domain, max_depth: 3, max_redirects: 5 };
        let robots = RobotsFile {
            url: url("/").robots_txt(),
            at: at(1),
            state: RobotsState::Known(b"User-agent: *".into()),
        };
        catalog.apply(&[Change::Rules(rules.clone()), Change::Robots(robots.clone())], position(1)).unwrap();
        assert_eq!(catalog.rules().unwrap(), Some(rules));
        assert_eq!(catalog.robots(&robots.url).unwrap(), Some(robots));
    }

    #[test]
    fn readers_see_what_the_writer_committed() {
        let (dir, catalog) = catalog();
        let path = dir.path().join("catalog.db");
        let reader = SqliteCatalog::open_reader(&path).unwrap().unwrap();
        catalog.apply(&[found("/a", 1)], position(1)).unwrap();
        assert_eq!(reader.counts().unwrap().pages, 1);
        assert!(reader.apply(&[], position(2)).is_err());
        assert!(SqliteCatalog::open_reader(&dir.path().join("none.db")).unwrap().is_none());
    }

    #[test]
    fn a_visit_does_not_change_the_way_to_a_page() {
        let (_dir, catalog) = catalog();
        let outcome = Outcome::Failed { reason: "connection refused".into(), attempt: 1 };
        let failed = Change::Visited { url: url("/a"), at: at(2), outcome, next_due: Some(at(3)) };
        catalog.apply(&[found("/a", 5), failed], position(1)).unwrap();
        let due = catalog.due_pages(url("/a").site().id(), at(3), 10).unwrap();
        assert_eq!((due[0].depth, due[0].attempts), (5, 1));
        catalog.apply(&[answered("/unheard-of", 2)], position(2)).unwrap();
        assert_eq!(catalog.page(url("/unheard-of").id()).unwrap().unwrap().depth, 0);
    }

    #[test]
    fn damage_and_newer_formats_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        std::fs::write(&path, vec![b'x'; 8192]).unwrap();
        let error = SqliteCatalog::open_writer(&path).err().unwrap().to_string();
        assert!(error.contains("damaged") && error.contains("rebuilt from the library"), "{error}");
        let path = dir.path().join("newer.db");
        SqliteCatalog::open_writer(&path).unwrap();
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(SqliteCatalog::open_writer(&path), Err(StoreError::NewerFormat { found: 99, .. })));
    }
}
