//! Format version of the catalog, and migrations from older formats.

use std::path::Path;

use pharos_core::NORMALISER_VERSION;
use rusqlite::{Connection, OptionalExtension, params};
use tracing::{info, warn};

use super::sql_error;
use crate::StoreError;

/// The current schema.
const SCHEMA: &str = include_str!("../schema.sql");

/// Line of [`SCHEMA`] that precedes the views.
const VIEWS: &str = "-- Views for interactive use.\n";

/// Format version described by [`SCHEMA`], stored as `user_version`.
const CURRENT_FORMAT: u32 = 6;

/// Returns the format version of a file, or 0 if it is empty. Newer formats are an error.
pub(super) fn read_format(path: &Path, connection: &Connection) -> Result<u32, StoreError> {
    let found =
        connection.pragma_query_value(None, "user_version", |r| r.get(0)).map_err(|e| sql_error(path, e))?;
    if found > CURRENT_FORMAT {
        return Err(StoreError::NewerFormat { path: path.to_path_buf(), found, known: CURRENT_FORMAT });
    }
    Ok(found)
}

/// Returns `true` if the file has the current format and the ids of the current URL normalisation.
pub(super) fn is_current(path: &Path, connection: &Connection) -> Result<bool, StoreError> {
    Ok(read_format(path, connection)? == CURRENT_FORMAT
        && normaliser_version(connection).map_err(|e| sql_error(path, e))? == NORMALISER_VERSION)
}

/// Returns the version of the URL normalisation that produced the ids.
fn normaliser_version(connection: &Connection) -> rusqlite::Result<u32> {
    let sql = "SELECT value FROM meta WHERE key = 'url_normaliser'";
    let value: Option<String> = connection.query_row(sql, [], |r| r.get(0)).optional()?;
    Ok(value.and_then(|v| v.parse().ok()).unwrap_or_default())
}

/// Migration from format 3, which adds the columns and indexes of the operator's desk. All other data is kept,
/// because replaying a library of millions of pages takes hours.
const FROM_3: &str = "
    ALTER TABLE sites ADD COLUMN asked_at INTEGER;
    ALTER TABLE sites ADD COLUMN recrawl_at INTEGER;
    ALTER TABLE visits ADD COLUMN trouble INTEGER;
    UPDATE visits SET trouble = (
        SELECT state FROM pages p WHERE p.site = visits.site AND p.page = visits.page AND state IN (2, 3))
    WHERE settled_at IS NULL;
    CREATE INDEX troubles ON visits (trouble, visited_at, site, page, reason) WHERE trouble IS NOT NULL;
    CREATE INDEX troubles_of_site ON visits (site, trouble, visited_at, page) WHERE trouble IS NOT NULL;";

/// SQL expression that is true if a version `v` of format 4 leaves open what the page is. Errors do, and so does a 404
/// after a success: a page is missing when it is missing twice.
const INCONCLUSIVE: &str = "
    CASE v.status
        WHEN 404 THEN coalesce(404 <> (
            SELECT b.status FROM main.versions b
            WHERE b.site = v.site AND b.page = v.page
                AND (b.status BETWEEN 200 AND 399 OR b.status IN (404, 410))
                AND (b.at, b.position) < (v.at, v.position)
            ORDER BY b.at DESC, b.position DESC LIMIT 1), 0)
        ELSE v.status NOT BETWEEN 200 AND 399 AND v.status <> 410
    END";

/// Migration from format 4. Format 5 stores with every version whether it determines what the page is, and knows
/// quarantined pages.
fn migrate_from_4(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "ALTER TABLE versions ADD COLUMN inconclusive INTEGER NOT NULL DEFAULT 0;
         UPDATE versions AS v SET inconclusive = {INCONCLUSIVE};"
    ))?;
    drop_all(connection, &["view"])?;
    connection.execute_batch(SCHEMA.split_once(VIEWS).map_or("", |(_, views)| views))
}

/// Migration from format 5. Format 6 stores the change rate of each page. Rates are learned from the next visits on.
const FROM_5: &str = "
    ALTER TABLE visits ADD COLUMN rate INTEGER;
    ALTER TABLE visits ADD COLUMN rhythm INTEGER;";

/// The table of signals, which files of format 6 may lack. Readers understand both, so that the format stays the same.
const SIGNALS: &str = "
    CREATE TABLE IF NOT EXISTS signals (
        site INTEGER PRIMARY KEY, confirmed REAL NOT NULL, false_alarms REAL NOT NULL, missed REAL NOT NULL,
        days REAL NOT NULL) STRICT;";

/// The table of list limits, which files of format 5 may lack. Readers do not use it, so that the format stays the same.
const LISTS: &str = "
    CREATE TABLE IF NOT EXISTS lists (
        site INTEGER PRIMARY KEY, hour INTEGER NOT NULL, lists INTEGER NOT NULL, entries INTEGER NOT NULL,
        bytes INTEGER NOT NULL) STRICT;";

/// The index of stored pages that are not searchable, which files of format 5 may lack. Files without it list no error
/// responses as problems. Readers understand both, so that the format stays the same.
const PROBLEMS: &str = "
    UPDATE visits SET reason = 'status ' || status, trouble = CASE
            WHEN status IN (404, 410) THEN 7 WHEN status BETWEEN 400 AND 499 AND status <> 429 THEN 8 ELSE 9 END
        WHERE position IS NOT NULL AND reason IS NULL AND trouble IS NULL AND status NOT BETWEEN 200 AND 399;
    UPDATE visits SET trouble = iif(indexable = 0 AND status BETWEEN 200 AND 299, 3, 2)
        WHERE position IS NOT NULL AND reason IS NOT NULL AND trouble IS NULL;
    CREATE INDEX unsearchable ON visits (status, trouble) WHERE position IS NOT NULL AND indexable = 0;";

/// Adds what files of formats 5 and 6 may lack.
fn complete(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(LISTS)?;
    connection.execute_batch(SIGNALS)?;
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = 'unsearchable'";
    if connection.prepare(sql)?.exists([])? { Ok(()) } else { connection.execute_batch(PROBLEMS) }
}

/// Prepares a read-only connection: files of formats 4 and 5 are read as if they were migrated. Returns `false` for other formats
/// that are not current.
pub(super) fn prepare_reader(path: &Path, connection: &Connection) -> Result<bool, StoreError> {
    let failed = |e| sql_error(path, e);
    if is_current(path, connection)? {
        return Ok(true);
    }
    let found = read_format(path, connection)?;
    let is_readable =
        matches!(found, 4 | 5) && normaliser_version(connection).map_err(failed)? == NORMALISER_VERSION;
    if is_readable {
        // A temporary view hides the table of the same name.
        let rates = "CREATE TEMP VIEW visits AS SELECT v.*, NULL AS rate, NULL AS rhythm FROM main.visits v;";
        let versions = format!(
            "CREATE TEMP VIEW versions AS SELECT v.*, {INCONCLUSIVE} AS inconclusive FROM main.versions v;"
        );
        let views = if found == 4 { format!("{rates}{versions}") } else { rates.into() };
        connection.execute_batch(&views).map_err(failed)?;
    }
    Ok(is_readable)
}

/// Migrates a file to the current format, completely or not at all.
///
/// All data is derived from the library. A file in a format without a migration is therefore emptied, and the caller
/// replays the library.
pub(super) fn migrate(path: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let failed = |e| sql_error(path, e);
    let found = read_format(path, connection)?;
    if found != 0 && is_current(path, connection)? {
        let transaction = connection.transaction().map_err(failed)?;
        complete(&transaction).map_err(failed)?;
        return transaction.commit().map_err(failed);
    }
    if matches!(found, 3..=5) && normaliser_version(connection).map_err(failed)? == NORMALISER_VERSION {
        info!(path = %path.display(), "migrating the catalog to the current format");
        let transaction = connection.transaction().map_err(failed)?;
        if found == 3 {
            transaction.execute_batch(FROM_3).map_err(failed)?;
        }
        if found < 5 {
            migrate_from_4(&transaction).map_err(failed)?;
        }
        transaction.execute_batch(FROM_5).map_err(failed)?;
        complete(&transaction).map_err(failed)?;
        transaction.pragma_update(None, "user_version", CURRENT_FORMAT).map_err(failed)?;
        return transaction.commit().map_err(failed);
    }
    if found != 0 {
        warn!(path = %path.display(), "the catalog has an older format and is rebuilt from the library");
    }
    let transaction = connection.transaction().map_err(failed)?;
    drop_all(&transaction, &["table", "view"]).map_err(failed)?;
    transaction.execute_batch(SCHEMA).map_err(failed)?;
    transaction
        .execute("INSERT INTO meta VALUES ('url_normaliser', ?1)", params![NORMALISER_VERSION.to_string()])
        .map_err(failed)?;
    transaction.pragma_update(None, "user_version", CURRENT_FORMAT).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Drops all objects of the given types, views first.
fn drop_all(connection: &Connection, types: &[&str]) -> rusqlite::Result<()> {
    let sql = "SELECT type, 'DROP ' || type || ' \"' || name || '\"' FROM sqlite_master
               WHERE name NOT LIKE 'sqlite_%' ORDER BY type DESC";
    let objects: Vec<(String, String)> =
        connection.prepare(sql)?.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<Result<_, _>>()?;
    let drops = objects.iter().filter(|(kind, _)| types.contains(&kind.as_str()));
    drops.into_iter().try_for_each(|(_, drop)| connection.execute_batch(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{
        Catalog, CatalogChange, CatalogCounts, DiscoveredLink, PageFailureQuery, ResponseSummary,
        SqliteCatalog, VisitOutcome,
    };
    use pharos_core::{LibraryPosition, LibraryPositions, PageUrl, Timestamp};

    /// The schema of format 1.
    const FORMAT_1: &str = "
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE sites (site INTEGER PRIMARY KEY, name TEXT NOT NULL, seed INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE TABLE robots (url TEXT PRIMARY KEY, at INTEGER NOT NULL, state INTEGER NOT NULL, body BLOB)
            STRICT, WITHOUT ROWID;
        CREATE TABLE pages (
            site INTEGER NOT NULL, page INTEGER NOT NULL, url TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0,
            due INTEGER, depth INTEGER NOT NULL, hops INTEGER NOT NULL DEFAULT 0, found_at INTEGER NOT NULL,
            anchor TEXT NOT NULL DEFAULT '', visited_at INTEGER, visits INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0, status INTEGER, reason TEXT, position INTEGER, digest INTEGER,
            indexable INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (site, page)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX due_pages ON pages (site, depth, found_at, due) WHERE due IS NOT NULL;
        CREATE VIEW due AS SELECT url FROM pages;
        INSERT INTO meta VALUES ('absorbed', '1099511627786'), ('url_normaliser', '1');
        PRAGMA user_version = 1;";

    #[test]
    fn a_catalog_of_another_format_is_rebuilt_from_the_library() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        Connection::open(&path).unwrap().execute_batch(FORMAT_1).unwrap();
        assert!(SqliteCatalog::open_reader(&path).is_err(), "a reader does not migrate");
        let catalog = SqliteCatalog::open_writer(&path).unwrap();
        assert_eq!(
            catalog.applied_positions().unwrap(),
            LibraryPositions::START,
            "the library is replayed from the start"
        );
        assert_eq!(catalog.counts().unwrap(), CatalogCounts::default());
        assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
        let page = PageUrl::parse("http://example.org/").unwrap();
        catalog
            .apply(
                &[CatalogChange::Found(DiscoveredLink::new(page, 0, Timestamp::EPOCH))],
                &LibraryPosition::new(1, 9).into(),
            )
            .unwrap();
        drop(catalog);

        // Ids of another normalisation invalidate the catalog, too.
        assert_eq!(SqliteCatalog::open_writer(&path).unwrap().counts().unwrap().pages, 1);
        Connection::open(&path)
            .unwrap()
            .execute("UPDATE meta SET value = '0' WHERE key = 'url_normaliser'", [])
            .unwrap();
        assert_eq!(SqliteCatalog::open_writer(&path).unwrap().counts().unwrap().pages, 0);
    }

    /// The schema of format 3.
    const FORMAT_3: &str = include_str!("format_3.sql");

    /// Returns all indexes and views, and all columns of all tables.
    fn shape(path: &Path) -> Vec<String> {
        let connection = Connection::open(path).unwrap();
        let sql =
            "SELECT concat_ws(' ', m.type, m.name, m.tbl_name, c.cid, c.name, c.type, c.\"notnull\", c.pk,
                       iif(m.type = 'index', m.sql, NULL))
                   FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c ORDER BY 1";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |r| r.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_catalog_of_format_3_is_migrated() {
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new.db"), dir.path().join("old.db"));
        let url = |path: &str| PageUrl::parse(&format!("http://example.org{path}")).unwrap();
        let (at, due) = (Timestamp::from_millis, |due: i64| Some(Timestamp::from_millis(due)));
        let answer = ResponseSummary {
            status: 200,
            indexable: true,
            position: LibraryPosition::new(1, 2),
            ..ResponseSummary::default()
        };
        let visit = |path: &str, moment, outcome, next_due| CatalogChange::Visited {
            url: url(path),
            at: at(moment),
            outcome,
            next_due,
        };
        let failed = || VisitOutcome::Failed { reason: "timed out".into(), attempt: 1 };
        let changes = [
            CatalogChange::Found(DiscoveredLink::new(url("/waiting"), 1, at(1))),
            visit("/failed", 5, failed(), due(9)),
            visit("/refused", 6, VisitOutcome::Refused { reason: "robots.txt".into() }, None),
            visit("/stored", 7, VisitOutcome::Responded(answer), due(90)),
            visit("/stored", 8, failed(), due(60)),
            CatalogChange::Deleted { url: url("/deleted"), at: at(3) },
            CatalogChange::BackOff { site: url("/").site(), at: at(8), until: at(70) },
        ];
        let wanted = PageFailureQuery { limit: 9, ..PageFailureQuery::default() };
        let applied = LibraryPositions::from(LibraryPosition::new(1, 9));
        let expected = {
            let catalog = SqliteCatalog::open_writer(&new).unwrap();
            catalog.apply(&changes, &applied).unwrap();
            (catalog.pages(None, None, 99).unwrap(), catalog.failures(&wanted).unwrap())
        };
        assert_eq!((expected.0.len(), expected.1.len()), (5, 3));
        {
            let connection = Connection::open(&old).unwrap();
            connection.execute_batch(FORMAT_3).unwrap();
            connection.execute("ATTACH ?1 AS new", [new.to_str().unwrap()]).unwrap();
            for table in ["meta", "sites", "pages", "visits", "versions"] {
                let sql = "SELECT group_concat(name) FROM pragma_table_info(?1, 'main')";
                let columns: String = connection.query_row(sql, [table], |r| r.get(0)).unwrap();
                let copy = format!("INSERT INTO main.{table} SELECT {columns} FROM new.{table}");
                connection.execute(&copy, []).unwrap();
            }
            connection.pragma_update(None, "user_version", 3).unwrap();
        }
        assert!(SqliteCatalog::open_reader(&old).is_err(), "a reader does not migrate");
        let catalog = SqliteCatalog::open_writer(&old).unwrap();
        assert_eq!(catalog.applied_positions().unwrap(), applied, "nothing is replayed");
        assert_eq!((catalog.pages(None, None, 99).unwrap(), catalog.failures(&wanted).unwrap()), expected);
        assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
        let request = CatalogChange::Recrawl { url: url("/"), whole_site: true, at: at(50) };
        catalog.apply(&[request], &LibraryPosition::new(1, 10).into()).unwrap();
        let site = catalog.site(url("/").site().id()).unwrap().unwrap();
        assert_eq!(site.not_before, None, "a back-off without a request time ends");
        drop(catalog);
        assert_eq!(shape(&old), shape(&new));
        assert!(SqliteCatalog::open_reader(&old).unwrap().is_some());
    }

    #[test]
    fn error_responses_of_earlier_files_become_problems() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let query = PageFailureQuery { limit: 9, ..PageFailureQuery::default() };
        let expected = {
            let catalog = SqliteCatalog::open_writer(&path).unwrap();
            let visits: Vec<CatalogChange> = [(404, 1), (403, 2), (429, 3), (500, 4), (200, 5), (301, 6)]
                .into_iter()
                .map(|(status, place)| {
                    let position = LibraryPosition::new(1, place);
                    let response = ResponseSummary { status, position, ..ResponseSummary::default() };
                    CatalogChange::Visited {
                        url: PageUrl::parse(&format!("http://example.org/{status}")).unwrap(),
                        at: Timestamp::from_millis(1000 * place as i64),
                        outcome: VisitOutcome::Responded(response),
                        next_due: None,
                    }
                })
                .collect();
            catalog.apply(&visits, &LibraryPosition::new(1, 9).into()).unwrap();
            catalog.failures(&query).unwrap()
        };
        assert_eq!(expected.len(), 4);
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("DROP INDEX unsearchable; UPDATE visits SET trouble = NULL, reason = NULL")
            .unwrap();
        drop(connection);
        assert_eq!(SqliteCatalog::open_reader(&path).unwrap().unwrap().failures(&query).unwrap(), []);
        let catalog = SqliteCatalog::open_writer(&path).unwrap();
        assert_eq!(catalog.failures(&query).unwrap(), expected);
        assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn versions_of_format_4_say_what_they_determine() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let url = PageUrl::parse("http://example.org/").unwrap();
        let statuses = [200, 404, 503, 404, 200, 404, 410];
        {
            let catalog = SqliteCatalog::open_writer(&path).unwrap();
            for (second, status) in (1..).zip(statuses) {
                let position = LibraryPosition::new(1, second);
                let response = ResponseSummary { status, position, ..ResponseSummary::default() };
                let visited = CatalogChange::Visited {
                    url: url.clone(),
                    at: Timestamp::from_millis(1000 * second as i64),
                    outcome: VisitOutcome::Responded(response),
                    next_due: None,
                };
                catalog.apply(&[visited], &LibraryPosition::new(1, second + 1).into()).unwrap();
            }
            let connection = Connection::open(&path).unwrap();
            connection.execute_batch("ALTER TABLE versions DROP COLUMN inconclusive").unwrap();
            drop_rates(&connection);
            connection.pragma_update(None, "user_version", 4).unwrap();
        }
        let reader = SqliteCatalog::open_reader(&path).unwrap().unwrap();
        let mut versions = reader.versions(url.id()).unwrap();
        assert_eq!(reader.check().unwrap(), Vec::<String>::new(), "a reader does not migrate");
        assert_eq!(SqliteCatalog::open_writer(&path).unwrap().versions(url.id()).unwrap(), versions);
        versions.reverse();
        let settled: Vec<u16> = versions.iter().filter(|v| !v.inconclusive).map(|v| v.status).collect();
        assert_eq!(versions.iter().map(|v| v.status).collect::<Vec<_>>(), statuses);
        assert_eq!(settled, [200, 404, 200, 410]);
    }

    /// Removes the columns that format 6 added.
    fn drop_rates(connection: &Connection) {
        connection
            .execute_batch("ALTER TABLE visits DROP COLUMN rate; ALTER TABLE visits DROP COLUMN rhythm")
            .unwrap();
    }

    #[test]
    fn a_catalog_of_format_5_is_read_and_migrated() {
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new.db"), dir.path().join("old.db"));
        let url = PageUrl::parse("http://example.org/").unwrap();
        let response = ResponseSummary {
            status: 200,
            position: LibraryPosition::new(1, 2),
            ..ResponseSummary::default()
        };
        let visited = CatalogChange::Visited {
            url: url.clone(),
            at: Timestamp::from_millis(5),
            outcome: VisitOutcome::Responded(response),
            next_due: Some(Timestamp::from_millis(90)),
        };
        for path in [&new, &old] {
            let catalog = SqliteCatalog::open_writer(path).unwrap();
            catalog.apply(std::slice::from_ref(&visited), &LibraryPosition::new(1, 9).into()).unwrap();
        }
        {
            let connection = Connection::open(&old).unwrap();
            drop_rates(&connection);
            connection.pragma_update(None, "user_version", 5).unwrap();
        }
        let reader = SqliteCatalog::open_reader(&old).unwrap().unwrap();
        let page = reader.page(url.id()).unwrap();
        assert_eq!(
            reader.refresh_sample(Timestamp::EPOCH, None).unwrap().pages(),
            1,
            "a reader does not migrate"
        );
        drop(reader);
        let catalog = SqliteCatalog::open_writer(&old).unwrap();
        assert_eq!(catalog.page(url.id()).unwrap(), page);
        assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
        drop(catalog);
        assert_eq!(shape(&old), shape(&new));
    }

    #[test]
    fn the_views_can_be_read() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        for view in
            ["settings", "known_sites", "known_pages", "due", "outcomes", "all_versions", "known_robots"]
        {
            connection.prepare(&format!("SELECT * FROM {view}")).unwrap();
        }
    }
}
