//! The format of the file: what it is now, and the way from older ones.

use std::path::Path;

use pharos_core::NORMALISER_VERSION;
use rusqlite::{Connection, OptionalExtension, params};
use tracing::warn;

use super::sql_error;
use crate::StoreError;

/// The schema as it is now.
const SCHEMA: &str = include_str!("../schema.sql");

/// The format that [`SCHEMA`] describes; `user_version` of the file.
const CURRENT: u32 = 3;

/// The format of a file that we can read; 0 for an empty one.
pub(super) fn format(path: &Path, connection: &Connection) -> Result<u32, StoreError> {
    let found =
        connection.pragma_query_value(None, "user_version", |r| r.get(0)).map_err(|e| sql_error(path, e))?;
    if found > CURRENT {
        return Err(StoreError::NewerFormat { path: path.to_path_buf(), found, known: CURRENT });
    }
    Ok(found)
}

/// Is the file as this pharos writes it, with the ids that it gives to addresses?
pub(super) fn is_current(path: &Path, connection: &Connection) -> Result<bool, StoreError> {
    Ok(format(path, connection)? == CURRENT
        && normaliser(connection).map_err(|e| sql_error(path, e))? == NORMALISER_VERSION)
}

/// The version of the function that made the ids.
fn normaliser(connection: &Connection) -> rusqlite::Result<u32> {
    let sql = "SELECT value FROM meta WHERE key = 'url_normaliser'";
    let value: Option<String> = connection.query_row(sql, [], |r| r.get(0)).optional()?;
    Ok(value.and_then(|v| v.parse().ok()).unwrap_or_default())
}

/// Brings a file to the present format: all the way or not at all. Everything in it follows from the library, so one
/// of another format becomes empty, and whoever opened it replays the library.
pub(super) fn migrate(path: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let failed = |e| sql_error(path, e);
    let found = format(path, connection)?;
    if found != 0 && is_current(path, connection)? {
        return Ok(());
    }
    if found != 0 {
        warn!(path = %path.display(), "the catalog is of an older format: it is made again from the library");
    }
    let transaction = connection.transaction().map_err(failed)?;
    clear(&transaction).map_err(failed)?;
    transaction.execute_batch(SCHEMA).map_err(failed)?;
    transaction
        .execute("INSERT INTO meta VALUES ('url_normaliser', ?1)", params![NORMALISER_VERSION.to_string()])
        .map_err(failed)?;
    transaction.pragma_update(None, "user_version", CURRENT).map_err(failed)?;
    transaction.commit().map_err(failed)
}

fn clear(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT 'DROP ' || type || ' \"' || name || '\"' FROM sqlite_master
               WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY type DESC";
    let drops: Vec<String> =
        connection.prepare(sql)?.query_map([], |r| r.get(0))?.collect::<Result<_, _>>()?;
    drops.iter().try_for_each(|drop| connection.execute_batch(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, CatalogCounts, Change, Found, SqliteCatalog};
    use pharos_core::{LibraryPosition, PageUrl, Timestamp};

    /// The schema of format 1, as it was.
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
    fn a_catalog_of_another_format_is_made_again_from_the_library() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        Connection::open(&path).unwrap().execute_batch(FORMAT_1).unwrap();
        assert!(SqliteCatalog::open_reader(&path).is_err(), "a reader changes nothing");
        let catalog = SqliteCatalog::open_writer(&path).unwrap();
        assert_eq!(catalog.absorbed().unwrap(), LibraryPosition::START, "the library is replayed from there");
        assert_eq!(catalog.counts().unwrap(), CatalogCounts::default());
        assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
        let page = PageUrl::parse("http://example.org/").unwrap();
        catalog
            .apply(
                &[Change::Found(Found::new(page, 0, Timestamp::EPOCH))],
                LibraryPosition { file: 1, offset: 9 },
            )
            .unwrap();
        drop(catalog);

        // Ids of another kind are as bad as another format.
        assert_eq!(SqliteCatalog::open_writer(&path).unwrap().counts().unwrap().pages, 1);
        Connection::open(&path)
            .unwrap()
            .execute("UPDATE meta SET value = '0' WHERE key = 'url_normaliser'", [])
            .unwrap();
        assert_eq!(SqliteCatalog::open_writer(&path).unwrap().counts().unwrap().pages, 0);
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
