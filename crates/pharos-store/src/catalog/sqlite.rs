//! The catalog in SQLite: one writer and concurrent readers (WAL mode).

mod apply;
mod check;
mod due;
mod failures;
mod migration;
mod plan;
mod recrawl;
mod refresh;
pub(super) mod replacement;
mod rows;
mod signals;
mod sites;

use std::io::{Error as IoError, ErrorKind};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use pharos_core::{LibraryPosition, LibraryPositions, PageId, PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};

use super::{
    ApplyResult, Catalog, CatalogChange, CatalogCounts, CrawlRules, DeadLinks, DueOrder, DuePage, ListState,
    ListUsage, LocalCatalog, PageDetails, PageFailure, PageFailureQuery, PageVersion, RefreshIntervals,
    RefreshSample, Removal, RobotsFile, RobotsState, SiteCounts, SiteList, SiteQuery, SiteReport, SiteRow,
    Submission, UnsearchableCounts,
};
use crate::StoreError;
use crate::catalog::page_entry::PageEntry;
use crate::interpret::refresh::{PageInterest, RefreshPlan, SiteSignals};
use rows::{page_columns, read_page, read_url, signed};

/// Page cache in KiB: of a reader, and the minimum and maximum of the writer.
const READER_CACHE: i64 = 8 * 1024;
const WRITER_CACHE: RangeInclusive<i64> = 8 * 1024..=64 * 1024;

/// The writer's page cache is this fraction of the file size, within its bounds.
const CACHE_FRACTION: i64 = 8;

/// Number of batches after which the writer's cache is adapted to the file size.
const CACHE_RESIZE_INTERVAL: u64 = 16;

/// Number of pages in the WAL that triggers a checkpoint. Batches of a crawl modify the same pages repeatedly, so a
/// longer WAL writes each page to the database less often.
const WAL_CHECKPOINT_PAGES: i64 = 16 * 1024;

/// Size in bytes to which the WAL file is truncated after a checkpoint.
const WAL_SIZE_LIMIT: i64 = 128 << 20;

/// A [`Catalog`] stored in a SQLite database.
pub struct SqliteCatalog {
    path: PathBuf,
    /// Dropped before the writer: only a read-write connection can remove the WAL when it closes last.
    reader: Mutex<Connection>,
    writer: Option<Mutex<Connection>>,
    /// Number of applied batches.
    batches: AtomicU64,
}

impl SqliteCatalog {
    /// Opens the catalog for writing and creates or migrates it. The caller must own the data directory.
    pub fn open_writer(path: &Path) -> Result<Self, StoreError> {
        let mut writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        let failed = |e| sql_error(path, e);
        writer.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        // The library is the source of truth: a commit lost in a power failure is replayed from it.
        writer.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        writer.pragma_update(None, "wal_autocheckpoint", WAL_CHECKPOINT_PAGES).map_err(failed)?;
        writer.pragma_update(None, "journal_size_limit", WAL_SIZE_LIMIT).map_err(failed)?;
        migration::migrate(path, &mut writer)?;
        resize_cache(&writer).map_err(failed)?;
        let reader = connect_reader(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            writer: Some(Mutex::new(writer)),
            reader: Mutex::new(reader),
            batches: AtomicU64::new(0),
        })
    }

    /// Opens the catalog for reading, concurrently with a writer. Returns `None` if there is no catalog yet.
    pub fn open_reader(path: &Path) -> Result<Option<Self>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        let reader = connect_reader(path)?;
        if migration::read_format(path, &reader)? == 0 {
            return Ok(None);
        }
        if !migration::prepare_reader(path, &reader)? {
            return Err(StoreError::Catalog(format!(
                "{} has an older format: it is migrated when the next crawl starts",
                path.display()
            )));
        }
        Ok(Some(Self {
            path: path.to_path_buf(),
            writer: None,
            reader: Mutex::new(reader),
            batches: AtomicU64::new(0),
        }))
    }

    /// Reads the positions that a catalog of any format has applied, without migrating it. Returns `None` if there is no
    /// catalog, or if it is damaged.
    pub fn read_applied_positions(path: &Path) -> Result<Option<LibraryPositions>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        let read = connect_reader(path)
            .and_then(|reader| read_applied_positions(&reader).map_err(|error| sql_error(path, error)));
        match read {
            Ok(applied) => Ok(Some(applied)),
            Err(StoreError::CatalogDamaged { .. } | StoreError::Catalog(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock()
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> StoreError {
        |e| sql_error(&self.path, e)
    }

    fn query_one<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let reader = self.reader();
        let mut statement = reader.prepare_cached(sql).map_err(self.failed())?;
        statement.query_row(values, read).optional().map_err(self.failed())
    }

    fn query_all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let reader = self.reader();
        let mut statement = reader.prepare_cached(sql).map_err(self.failed())?;
        statement.query_map(values, read).and_then(Iterator::collect).map_err(self.failed())
    }

    /// Runs a change of the catalog in a transaction.
    fn write<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let Some(writer) = &self.writer else {
            return Err(StoreError::Catalog("the catalog is open for reading only".into()));
        };
        let mut writer = writer.lock();
        let transaction = writer.transaction().map_err(self.failed())?;
        let result = change(&transaction).map_err(self.failed())?;
        transaction.commit().map_err(self.failed())?;
        Ok(result)
    }

    /// Returns the row number of a site in this database.
    fn site_number(&self, site: SiteId) -> Result<Option<i64>, StoreError> {
        self.query_one("SELECT site FROM sites WHERE id = ?1", [signed(site.0)], |r| r.get(0))
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|e| sql_error(path, e))?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(|e| sql_error(path, e))?;
    connection.set_prepared_statement_cache_capacity(64);
    // Without QPSG, SQLite inspects bound values because of the partial indexes, and plans every query again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(|e| sql_error(path, e))?;
    Ok(connection)
}

/// Sets the writer's page cache in proportion to the file size.
fn resize_cache(writer: &Connection) -> rusqlite::Result<()> {
    let pages: i64 = writer.pragma_query_value(None, "page_count", |r| r.get(0))?;
    let page_size: i64 = writer.pragma_query_value(None, "page_size", |r| r.get(0))?;
    writer.pragma_update(None, "cache_size", -cache_kib(pages.saturating_mul(page_size)))
}

/// Returns the cache size in KiB for a file of `bytes` bytes.
fn cache_kib(bytes: i64) -> i64 {
    (bytes / 1024 / CACHE_FRACTION).clamp(*WRITER_CACHE.start(), *WRITER_CACHE.end())
}

fn connect_reader(path: &Path) -> Result<Connection, StoreError> {
    let mut reader = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if is_without_log(path, &reader) {
        reader =
            connect(&immutable_uri(path), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?;
    }
    reader.pragma_update(None, "cache_size", -READER_CACHE).map_err(|e| sql_error(path, e))?;
    Ok(reader)
}

/// Returns `true` if the database cannot be read because SQLite may not create its WAL beside it. No process writes to it
/// then: a writer keeps its WAL.
fn is_without_log(path: &Path, reader: &Connection) -> bool {
    let read = reader.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0));
    let is_denied = read.is_err_and(|error| {
        matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
    });
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    is_denied && !Path::new(&log).exists()
}

/// Returns the URI of a database that is read as it is, without a WAL.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte))
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

fn sql_error(path: &Path, error: rusqlite::Error) -> StoreError {
    let io = |action, kind| {
        let source = IoError::new(kind, error.to_string());
        StoreError::Io { action, path: path.to_path_buf(), source }
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::CatalogDamaged { path: path.to_path_buf(), detail: error.to_string() }
        }
        // A failed write is nearly always caused by a full disk, which SQLite does not always report as such.
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => io("write", ErrorKind::StorageFull),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            io("open", ErrorKind::PermissionDenied)
        }
        _ => StoreError::Catalog(error.to_string()),
    }
}

fn read_applied_positions(connection: &Connection) -> rusqlite::Result<LibraryPositions> {
    let packed: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'absorbed'")?
        .query_row([], |r| r.get(0))
        .optional()?;
    Ok(packed.and_then(|p| LibraryPositions::from_packed(&p)).unwrap_or_default())
}

/// Builds a query that returns [`ReportRow`]s.
macro_rules! pages_where {
    ($condition:literal) => {
        concat!(
            "SELECT p.https, s.name, p.path, ",
            page_columns!(),
            " FROM pages p CROSS JOIN sites s USING (site) LEFT JOIN visits v USING (site, page) WHERE ",
            $condition
        )
    };
}

const ALL_PAGES: &str = pages_where!("(p.site, p.page) >= (?1, ?2) ORDER BY p.site, p.page LIMIT ?3");
const SITE_PAGES: &str = pages_where!("p.site = ?1 AND p.page >= ?2 ORDER BY p.page LIMIT ?3");
const ONE_PAGE: &str = pages_where!("p.site = (SELECT site FROM sites WHERE id = ?1) AND p.page = ?2");

/// URL parts and entry of a page.
type ReportRow = (bool, String, String, PageEntry);

fn read_report_row(row: &Row<'_>) -> rusqlite::Result<ReportRow> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, read_page(row, 3)?))
}

fn to_report((https, site, path, page): ReportRow) -> Result<PageDetails, StoreError> {
    Ok(page.into_report(read_url(https, &site, &path)?))
}

fn parse_stored_url(url: &str) -> Result<PageUrl, StoreError> {
    PageUrl::parse(url).map_err(|e| StoreError::Catalog(format!("invalid stored URL: {e}")))
}

/// Converts a limit for SQLite, in which a negative value would mean no limit.
fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl Catalog for SqliteCatalog {
    fn applied_positions(&self) -> Result<LibraryPositions, StoreError> {
        read_applied_positions(&self.reader()).map_err(self.failed())
    }

    fn apply(
        &self,
        changes: &[CatalogChange],
        reached: &LibraryPositions,
    ) -> Result<ApplyResult, StoreError> {
        let Some(writer) = &self.writer else {
            return Err(StoreError::Catalog("the catalog is open for reading only".into()));
        };
        let mut writer = writer.lock();
        let before = read_applied_positions(&writer).map_err(self.failed())?;
        if before.covers_all(reached) {
            let outdated = apply::find_outdated(&writer, changes).map_err(self.failed())?;
            return Ok(ApplyResult { due_sites: Vec::new(), outdated });
        }
        let transaction = writer.transaction().map_err(self.failed())?;
        let applied = apply::apply_changes(&transaction, changes).map_err(self.failed())?;
        transaction
            .prepare_cached("INSERT OR REPLACE INTO meta VALUES ('absorbed', ?1)")
            .and_then(|mut s| s.execute([before.highest(reached).to_packed()]))
            .map_err(self.failed())?;
        transaction.commit().map_err(self.failed())?;
        if self.batches.fetch_add(1, Ordering::Relaxed) % CACHE_RESIZE_INTERVAL == CACHE_RESIZE_INTERVAL - 1 {
            resize_cache(&writer).map_err(self.failed())?;
        }
        Ok(applied)
    }

    fn set_refresh_intervals(&self, intervals: &RefreshIntervals) -> Result<u64, StoreError> {
        self.write(|connection| refresh::set_intervals(connection, intervals))
    }

    fn refresh_plan(&self) -> Result<Option<RefreshPlan>, StoreError> {
        plan::read_plan(&self.reader()).map_err(self.failed())
    }

    fn set_refresh_plan(&self, new: &RefreshPlan) -> Result<(), StoreError> {
        self.write(|connection| plan::write_plan(connection, new))
    }

    fn apply_refresh_plan(
        &self,
        now: Timestamp,
        limit: usize,
        interest: &dyn Fn(&PageUrl) -> Option<PageInterest>,
        sample: &mut RefreshSample,
    ) -> Result<bool, StoreError> {
        self.write(|connection| plan::apply_plan(connection, now, sql_limit(limit), interest, sample))
    }

    fn site_signals(&self, limit: usize) -> Result<Vec<(SiteName, SiteSignals)>, StoreError> {
        signals::list(&self.reader(), sql_limit(limit)).map_err(self.failed())
    }

    fn dead_links(&self, limit: usize) -> Result<Vec<DeadLinks>, StoreError> {
        plan::read_dead_links(&self.reader(), sql_limit(limit)).map_err(self.failed())
    }

    fn refresh_sample(&self, now: Timestamp, site: Option<SiteId>) -> Result<RefreshSample, StoreError> {
        // A separate connection, because reading all pages takes long and must not block other readers.
        let connection = connect_reader(&self.path)?;
        migration::prepare_reader(&self.path, &connection)?;
        plan::read_sample(&connection, now, site).map_err(self.failed())
    }

    fn rules(&self) -> Result<Option<CrawlRules>, StoreError> {
        let json: Option<String> =
            self.query_one("SELECT value FROM meta WHERE key = 'rules'", [], |r| r.get(0))?;
        Ok(json.and_then(|j| serde_json::from_str(&j).ok()))
    }

    fn seed_sites(&self) -> Result<Vec<SiteName>, StoreError> {
        self.query_all("SELECT name FROM sites WHERE seed = 1", [], |r| r.get(0).map(SiteName::from_stored))
    }

    fn due_sites(&self, now: Timestamp) -> Result<Vec<SiteId>, StoreError> {
        self.query_all(
            concat!(
                "SELECT id FROM sites s WHERE ",
                due::may_be_requested!(),
                " AND (
                EXISTS (SELECT 1 FROM pages p
                        WHERE p.site = s.site AND state = 0 AND (s.alias >> p.https) & 1 = 0)
                OR EXISTS (SELECT 1 FROM pages p
                           WHERE p.site = s.site AND due <= ?1 AND (s.alias >> p.https) & 1 = 0)
                OR (s.visited_at > ?2 AND EXISTS (
                    SELECT 1 FROM visits v JOIN pages p USING (site, page)
                    WHERE v.site = s.site AND v.visited_at > ?2 AND p.due IS NOT NULL
                        AND (s.alias >> p.https) & 1 = 0)))"
            ),
            [now.millis(), due::latest_credible(now)],
            |r| r.get::<_, i64>(0).map(|s| SiteId(s.cast_unsigned())),
        )
    }

    fn due_pages(
        &self,
        site: SiteId,
        now: Timestamp,
        order: DueOrder,
        limit: usize,
    ) -> Result<Vec<DuePage>, StoreError> {
        due::find_due_pages(self, site, now, order, limit)
    }

    fn due_page(&self, page: PageId) -> Result<Option<DuePage>, StoreError> {
        due::find_page(self, page)
    }

    fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        // One index lookup per site.
        let due: Option<Option<i64>> = self.query_one(
            "SELECT min(next) FROM (
                 SELECT max(next, coalesce(not_before, next)) AS next FROM (
                     SELECT not_before, CASE WHEN not_before > ?1
                         AND EXISTS (SELECT 1 FROM pages p WHERE p.site = s.site AND (state = 0 OR due <= ?1))
                         THEN not_before
                         ELSE (SELECT min(due) FROM pages p WHERE p.site = s.site AND due > ?1) END AS next
                     FROM sites s))",
            [now.millis()],
            |r| r.get(0),
        )?;
        Ok(due.flatten().map(Timestamp::from_millis))
    }

    fn site(&self, site: SiteId) -> Result<Option<SiteReport>, StoreError> {
        let moment = |m: Option<i64>| m.map(Timestamp::from_millis);
        self.query_one(
            "SELECT name, pages, stored, visited_at, not_before,
                 (SELECT count(DISTINCT text) FROM visits v WHERE v.site = s.site)
             FROM sites s WHERE id = ?1",
            [signed(site.0)],
            |r| {
                Ok(SiteReport {
                    site: SiteName::from_stored(r.get(0)?),
                    pages: r.get(1)?,
                    stored: r.get(2)?,
                    visited_at: moment(r.get(3)?),
                    not_before: moment(r.get(4)?),
                    texts: r.get(5)?,
                })
            },
        )
    }

    fn list_state(&self, site: SiteId) -> Result<ListState, StoreError> {
        let state = self.query_one(
            "SELECT s.pages, s.stored, l.hour, l.lists, l.entries, l.bytes
             FROM sites s LEFT JOIN lists l USING (site) WHERE s.id = ?1",
            [signed(site.0)],
            |r| {
                let number = |column| r.get::<_, Option<u64>>(column).map(Option::unwrap_or_default);
                let hour = r.get::<_, Option<i64>>(2)?.unwrap_or_default();
                let usage = ListUsage { hour, lists: number(3)?, entries: number(4)?, bytes: number(5)? };
                Ok(ListState { usage, pages: r.get(0)?, stored: r.get(1)? })
            },
        )?;
        Ok(state.unwrap_or_default())
    }

    fn responses_since(&self, site: SiteId, since: Timestamp) -> Result<u64, StoreError> {
        let answers = self.query_one(
            "SELECT count(*) FROM versions WHERE site = (SELECT site FROM sites WHERE id = ?1) AND at >= ?2",
            [signed(site.0), since.millis()],
            |r| r.get(0),
        )?;
        Ok(answers.unwrap_or_default())
    }

    fn aliases(&self) -> Result<Vec<(PageUrl, PageUrl)>, StoreError> {
        let rows = self.query_all("SELECT home, of FROM aliases", [], |r| {
            Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?))
        })?;
        rows.iter().map(|(home, of)| Ok((parse_stored_url(home)?, parse_stored_url(of)?))).collect()
    }

    fn pages_with_text(
        &self,
        text: u64,
        limit: usize,
    ) -> Result<Vec<(PageUrl, LibraryPosition)>, StoreError> {
        let rows = self.query_all(
            "SELECT p.https, s.name, p.path, v.position
             FROM visits v CROSS JOIN pages p USING (site, page) CROSS JOIN sites s USING (site)
             WHERE v.text = ?1 AND v.position IS NOT NULL LIMIT ?2",
            params![signed(text), sql_limit(limit)],
            |r| {
                let parts: (bool, String, String) = (r.get(0)?, r.get(1)?, r.get(2)?);
                Ok((parts, LibraryPosition::from_u64(r.get::<_, i64>(3)?.cast_unsigned())))
            },
        )?;
        rows.into_iter()
            .map(|((https, site, path), position)| Ok((read_url(https, &site, &path)?, position)))
            .collect()
    }

    fn filtered(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.query_all("SELECT rule, links FROM filtered ORDER BY links DESC, rule", [], |r| {
            Ok((r.get(0)?, r.get(1)?))
        })
    }

    fn submissions(&self) -> Result<Vec<Submission>, StoreError> {
        let rows = self.query_all("SELECT url, at, accepted FROM submissions ORDER BY at, url", [], |r| {
            Ok((r.get::<_, String>(0)?, r.get(1)?, r.get(2)?))
        })?;
        rows.into_iter()
            .map(|(url, at, accepted)| {
                Ok(Submission { url: parse_stored_url(&url)?, at: Timestamp::from_millis(at), accepted })
            })
            .collect()
    }

    fn least_recently_visited(&self, limit: usize) -> Result<Vec<(SiteName, Option<Timestamp>)>, StoreError> {
        self.query_all(
            "SELECT name, visited_at FROM sites WHERE removed = 0 ORDER BY visited_at LIMIT ?1",
            [sql_limit(limit)],
            |r| {
                let visited_at: Option<i64> = r.get(1)?;
                Ok((SiteName::from_stored(r.get(0)?), visited_at.map(Timestamp::from_millis)))
            },
        )
    }

    fn last_visit(&self) -> Result<Option<Timestamp>, StoreError> {
        let last: Option<Option<i64>> =
            self.query_one("SELECT max(visited_at) FROM sites WHERE removed = 0", [], |r| r.get(0))?;
        Ok(last.flatten().map(Timestamp::from_millis))
    }

    fn robots(&self, robots_txt: &PageUrl) -> Result<Option<RobotsFile>, StoreError> {
        self.query_one(
            "SELECT at, state, body, known_at, reason FROM robots WHERE url = ?1",
            [robots_txt.as_str()],
            |r| {
                let body: Option<Vec<u8>> = r.get(2)?;
                let known_at: Option<i64> = r.get(3)?;
                let (state, before) = match r.get::<_, u32>(1)? {
                    0 => (RobotsState::Missing, None),
                    1 => (RobotsState::Unreachable, known_at.map(Timestamp::from_millis).zip(body)),
                    _ => (RobotsState::Known(body.unwrap_or_default()), None),
                };
                let at = Timestamp::from_millis(r.get(0)?);
                Ok(RobotsFile { url: robots_txt.clone(), at, state, reason: r.get(4)?, before })
            },
        )
    }

    fn page(&self, id: PageId) -> Result<Option<PageDetails>, StoreError> {
        let row = self.query_one(ONE_PAGE, [signed(id.site().0), signed(id.page())], read_report_row)?;
        row.map(to_report).transpose()
    }

    fn pages(
        &self,
        site: Option<SiteId>,
        after: Option<PageId>,
        limit: usize,
    ) -> Result<Vec<PageDetails>, StoreError> {
        // The smallest key to return.
        let mut from = match after {
            None => (i64::MIN, i64::MIN),
            Some(id) => match (self.site_number(id.site())?, signed(id.page()).checked_add(1)) {
                (None, _) => return Ok(Vec::new()),
                (Some(number), Some(page)) => (number, page),
                (Some(number), None) => (number.saturating_add(1), i64::MIN),
            },
        };
        if let Some(id) = site {
            match self.site_number(id)? {
                Some(number) if from.0 <= number => from = from.max((number, i64::MIN)),
                _ => return Ok(Vec::new()),
            }
        }
        let sql = if site.is_some() { SITE_PAGES } else { ALL_PAGES };
        let rows = self.query_all(sql, params![from.0, from.1, sql_limit(limit)], read_report_row)?;
        rows.into_iter().map(to_report).collect()
    }

    fn versions(&self, page: PageId) -> Result<Vec<PageVersion>, StoreError> {
        self.query_all(
            "SELECT r.position, r.at, r.status, r.digest, r.links, r.new_links, r.inconclusive
             FROM sites s JOIN versions r USING (site)
             WHERE s.id = ?1 AND r.page = ?2 ORDER BY r.at DESC, r.position < 0 DESC, r.position DESC",
            [signed(page.site().0), signed(page.page())],
            |r| {
                Ok(PageVersion {
                    position: LibraryPosition::from_u64(r.get::<_, i64>(0)?.cast_unsigned()),
                    at: Timestamp::from_millis(r.get(1)?),
                    status: r.get(2)?,
                    digest: r.get::<_, i64>(3)?.cast_unsigned(),
                    links: r.get(4)?,
                    new_links: r.get(5)?,
                    inconclusive: r.get(6)?,
                })
            },
        )
    }

    fn removed(&self) -> Result<Vec<Removal>, StoreError> {
        let sites = self.query_all("SELECT name FROM sites WHERE removed = 1", [], |r| {
            r.get(0).map(|name| Removal::Site(SiteName::from_stored(name)))
        })?;
        let pages = self.query_all(
            "SELECT p.https, s.name, p.path FROM pages p CROSS JOIN sites s USING (site) WHERE p.state = 5",
            [],
            |r| Ok((r.get::<_, bool>(0)?, r.get::<_, String>(1)?, r.get::<_, String>(2)?)),
        )?;
        let pages = pages.iter().map(|(https, site, path)| read_url(*https, site, path).map(Removal::Page));
        sites.into_iter().map(Ok).chain(pages).collect()
    }

    fn is_removed(&self, url: &PageUrl) -> Result<bool, StoreError> {
        let id = url.id();
        let removed = self.query_one(
            "SELECT removed OR EXISTS (
                 SELECT 1 FROM pages p WHERE p.site = s.site AND p.page = ?2 AND p.state = 5)
             FROM sites s WHERE id = ?1",
            [signed(id.site().0), signed(id.page())],
            |r| r.get(0),
        )?;
        Ok(removed.unwrap_or(false))
    }

    fn counts(&self) -> Result<CatalogCounts, StoreError> {
        let counts = self.query_one(
            concat!(
                "SELECT count(*), sum(pages), sum(stored), sum(indexable), sum(failed), sum(refused), sum(deleted),
                     count(visited_at), count(iif(refused > 0 AND stored = 0, 1, NULL)), sum(",
                sites::mirrored_count!(),
                ") FROM sites WHERE removed = 0 HAVING count(*) > 0"
            ),
            [],
            |r| {
                let (pages, stored, failed): (u64, u64, u64) = (r.get(1)?, r.get(2)?, r.get(4)?);
                let (refused, deleted, mirrored): (u64, u64, u64) = (r.get(5)?, r.get(6)?, r.get(9)?);
                Ok(CatalogCounts {
                    sites: r.get(0)?,
                    sites_visited: r.get(7)?,
                    sites_refused: r.get(8)?,
                    pages,
                    waiting: pages.saturating_sub(stored + failed + refused + deleted + mirrored),
                    mirrored,
                    stored,
                    indexable: r.get(3)?,
                    failed,
                    refused,
                    deleted,
                })
            },
        )?;
        Ok(counts.unwrap_or_default())
    }

    fn unsearchable(&self) -> Result<UnsearchableCounts, StoreError> {
        failures::count_unsearchable(self)
    }

    fn sites(&self, limit: usize) -> Result<Vec<SiteCounts>, StoreError> {
        self.query_all(
            "SELECT name, pages, stored FROM sites WHERE pages > 0 ORDER BY pages DESC, name LIMIT ?1",
            [sql_limit(limit)],
            |r| {
                Ok(SiteCounts { site: SiteName::from_stored(r.get(0)?), pages: r.get(1)?, stored: r.get(2)? })
            },
        )
    }

    fn list_sites(&self, query: &SiteQuery) -> Result<SiteList, StoreError> {
        sites::list_sites(self, query)
    }

    fn site_row(&self, site: SiteId) -> Result<Option<SiteRow>, StoreError> {
        sites::site_row(self, site)
    }

    fn failures(&self, query: &PageFailureQuery) -> Result<Vec<PageFailure>, StoreError> {
        failures::find_failures(self, query)
    }

    fn failure_reasons(&self, of: usize) -> Result<Vec<(String, u64)>, StoreError> {
        failures::count_reasons(self, of)
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        // A separate connection, because the check takes long and must not block other readers.
        check::check(&self.path, &connect_reader(&self.path)?)
    }

    fn local(&self) -> Option<&dyn LocalCatalog> {
        Some(self)
    }
}

impl LocalCatalog for SqliteCatalog {
    fn backup(&self, to: &Path) -> Result<(), StoreError> {
        if to.exists() {
            return Err(StoreError::io("create", to)(IoError::new(
                ErrorKind::AlreadyExists,
                "the file exists already",
            )));
        }
        let mut part = to.as_os_str().to_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        pharos_files::remove_if_exists(&part).map_err(StoreError::io("remove", &part))?;
        let Some(name) = part.to_str() else {
            return Err(StoreError::io("create", to)(IoError::new(
                ErrorKind::InvalidInput,
                "the file name is not UTF-8",
            )));
        };
        connect_reader(&self.path)?.execute("VACUUM INTO ?1", [name]).map_err(|e| sql_error(&part, e))?;
        // SQLite does not sync the copy.
        pharos_files::install(&part, to).map_err(StoreError::io("rename", &part))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::catalog::DiscoveredLink;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://example.org{path}")).unwrap()
    }

    fn position(offset: u64) -> LibraryPosition {
        LibraryPosition::new(1, offset)
    }

    fn found(path: &str) -> CatalogChange {
        CatalogChange::Found(DiscoveredLink::new(url(path), 1, Timestamp::EPOCH))
    }

    #[test]
    fn the_cache_grows_with_the_file_up_to_a_limit() {
        assert_eq!([0, 256 << 20, 1 << 40].map(cache_kib), [8 << 10, 32 << 10, 64 << 10]);
    }

    #[test]
    fn readers_see_what_the_writer_committed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let catalog = SqliteCatalog::open_writer(&path).unwrap();
        let reader = SqliteCatalog::open_reader(&path).unwrap().unwrap();
        catalog.apply(&[found("/a")], &position(1).into()).unwrap();
        assert_eq!(reader.counts().unwrap().pages, 1);
        assert!(reader.apply(&[], &position(2).into()).is_err());
        assert!(SqliteCatalog::open_reader(&dir.path().join("none.db")).unwrap().is_none());
    }

    #[test]
    fn a_backup_survives_a_power_cut() {
        let (dir, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let catalog = SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap();
        catalog.apply(&[found("/a")], &position(1).into()).unwrap();
        let backup = || catalog.backup(&to.path().join("catalog.db")).unwrap();
        pharos_files::power_cut::check(to.path(), backup).unwrap();
    }

    #[test]
    fn a_closed_catalog_is_one_file() {
        let dir = tempfile::tempdir().unwrap();
        drop(SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn damage_and_newer_formats_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        fs::write(&path, vec![b'x'; 8192]).unwrap();
        let error = SqliteCatalog::open_writer(&path).err().unwrap().to_string();
        assert!(error.contains("damaged") && error.contains("rebuilt from the library"), "{error}");
        let path = dir.path().join("newer.db");
        SqliteCatalog::open_writer(&path).unwrap();
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(SqliteCatalog::open_writer(&path), Err(StoreError::NewerFormat { found: 99, .. })));
    }

    #[test]
    fn a_check_finds_inconsistencies() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let catalog = SqliteCatalog::open_writer(&path).unwrap();
        catalog.apply(&[found("/a"), found("/b")], &position(1).into()).unwrap();
        assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
        let sqlite = Connection::open(&path).unwrap();
        for (damage, expected) in [
            ("UPDATE sites SET pages = 3", "counts 3"),
            (
                "INSERT INTO visits (site, page, visits, attempts, trouble) SELECT site, page, 0, 0, 2 FROM pages",
                "its failure index says 2",
            ),
            ("UPDATE pages SET path = '/c' WHERE path = '/b'", "http://example.org/c is stored under"),
            ("INSERT INTO versions VALUES (1, 2, 3, 4, 5, 6, 0, 0, 0)", "a version but no visit"),
            (
                "INSERT INTO visits (site, page, visits, attempts) VALUES (1, 2, 3, 4)",
                "a visit but no page row",
            ),
            ("UPDATE pages SET site = 9", "unknown or removed"),
        ] {
            sqlite.execute(damage, []).unwrap();
            let problems = catalog.check().unwrap();
            assert!(problems.iter().any(|p| p.contains(expected)), "{damage}: {problems:?}");
        }
    }

    #[test]
    fn due_queries_use_indexes() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap();
        for (sql, index) in [
            (
                "SELECT site, depth, found_at, page FROM pages WHERE site = 1 AND state = 0 ORDER BY depth, found_at",
                "COVERING INDEX waiting_pages",
            ),
            (
                "SELECT site, depth, found_at, page FROM pages WHERE site = 1 AND due <= 5 ORDER BY depth, found_at",
                "COVERING INDEX scheduled_pages",
            ),
            ("SELECT min(due) FROM pages p WHERE p.site = 1 AND due > 5", "COVERING INDEX scheduled_pages"),
            ("SELECT name FROM sites WHERE removed = 0 ORDER BY visited_at LIMIT 5", "sites_by_visit"),
            (ALL_PAGES, "SEARCH p USING PRIMARY KEY ((site,page)>(?,?))"),
            (SITE_PAGES, "SEARCH p USING PRIMARY KEY (site=? AND page>?)"),
            (ONE_PAGE, "SEARCH p USING PRIMARY KEY (site=? AND page=?)"),
            ("SELECT page FROM pages WHERE state = 5", "removed_pages"),
        ] {
            let reader = catalog.reader();
            let mut statement = reader.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            // A query plan needs no bound values.
            let steps = statement.raw_query().mapped(|r| r.get::<_, String>(3));
            let plan: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(plan.iter().any(|step| step.contains(index)), "{sql}: {plan:?}");
        }
    }
}
