//! The format of the file: what it is now, and the way from older ones.

use std::path::Path;

use pharos_core::NORMALISER_VERSION;
use rusqlite::{Connection, params};

use super::sql_error;
use crate::StoreError;

/// The schema as it is now.
const SCHEMA: &str = include_str!("../schema.sql");

/// The format that [`SCHEMA`] describes; `user_version` of the file.
const CURRENT: u32 = 2;

/// The entry at `n` brings format `n + 1` one further.
const MIGRATIONS: &[&[&str]] = &[&[
    "ALTER TABLE meta RENAME TO old_meta;
     ALTER TABLE sites RENAME TO old_sites;
     ALTER TABLE robots RENAME TO old_robots;
     ALTER TABLE pages RENAME TO old_pages;",
    SCHEMA,
    include_str!("../migrate_1_to_2.sql"),
]];

/// The format of a file that we can read; 0 for an empty one.
pub(super) fn format(path: &Path, connection: &Connection) -> Result<u32, StoreError> {
    let found =
        connection.pragma_query_value(None, "user_version", |r| r.get(0)).map_err(|e| sql_error(path, e))?;
    if found > CURRENT {
        return Err(StoreError::NewerFormat { path: path.to_path_buf(), found, known: CURRENT });
    }
    Ok(found)
}

/// Is the file as this pharos writes it?
pub(super) fn is_current(path: &Path, connection: &Connection) -> Result<bool, StoreError> {
    Ok(format(path, connection)? == CURRENT)
}

/// Brings a file to the present format: all the way or not at all.
pub(super) fn migrate(path: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let failed = |e| sql_error(path, e);
    let found = format(path, connection)?;
    if found == CURRENT {
        return Ok(());
    }
    let transaction = connection.transaction().map_err(failed)?;
    if found == 0 {
        transaction.execute_batch(SCHEMA).map_err(failed)?;
    } else {
        for steps in MIGRATIONS.iter().skip(found as usize - 1) {
            for sql in *steps {
                transaction.execute_batch(sql).map_err(failed)?;
            }
        }
    }
    transaction
        .execute(
            "INSERT OR IGNORE INTO meta VALUES ('url_normaliser', ?1)",
            params![NORMALISER_VERSION.to_string()],
        )
        .map_err(failed)?;
    transaction.pragma_update(None, "user_version", CURRENT).map_err(failed)?;
    transaction.commit().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, PageState, SqliteCatalog};
    use pharos_core::{PageUrl, Timestamp};

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
        INSERT INTO meta VALUES ('absorbed', '1099511627786'), ('url_normaliser', '1');
        PRAGMA user_version = 1;";

    #[test]
    fn a_catalog_of_format_1_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("catalog.db");
        let url = |text: &str| PageUrl::parse(text).unwrap();
        let (waiting, stored) = (url("https://a.example:8443/w?x=1"), url("http://b.example/"));
        let (failed, refused) = (url("http://b.example/failed"), url("http://b.example/refused"));
        let old = Connection::open(&path).unwrap();
        old.execute_batch(FORMAT_1).unwrap();
        for (site, seed) in [(waiting.site(), 0), (stored.site(), 1)] {
            old.execute(
                "INSERT INTO sites VALUES (?1, ?2, ?3)",
                params![site.id().0.cast_signed(), site.as_str(), seed],
            )
            .unwrap();
        }
        for (url, rest) in [
            (&waiting, "0, 7, 3, 1, 7, 'words', NULL, 0, 0, NULL, NULL, NULL, NULL, 0"),
            (&stored, "1, 90, 0, 0, 1, '', 50, 3, 0, 200, NULL, 1099511627781, -1, 1"),
            (&failed, "2, 60, 1, 0, 2, 'f', 40, 0, 2, NULL, 'timed out', NULL, NULL, 0"),
            (&refused, "3, NULL, 1, 0, 2, 'r', 41, 0, 0, NULL, 'robots.txt', NULL, NULL, 0"),
        ] {
            let id = url.id();
            old.execute(
                &format!("INSERT INTO pages VALUES (?1, ?2, ?3, {rest})"),
                params![id.site().0.cast_signed(), id.page().cast_signed(), url.as_str()],
            )
            .unwrap();
        }
        drop(old);

        assert!(SqliteCatalog::open_reader(&path).is_err(), "a reader does not migrate");
        let catalog = SqliteCatalog::open_writer(&path).unwrap();
        assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
        assert_eq!(catalog.absorbed().unwrap().offset, 10);
        assert_eq!(catalog.seed_sites().unwrap(), [stored.site()]);
        let story = catalog.page(waiting.id()).unwrap().unwrap();
        assert_eq!((&story.url, story.state, story.depth, story.hops), (&waiting, PageState::Waiting, 3, 1));
        assert_eq!((story.anchor.as_str(), story.due), ("words", Some(Timestamp::from_millis(7))));
        let story = catalog.page(stored.id()).unwrap().unwrap();
        assert_eq!((story.state, story.visits, story.status), (PageState::Stored, 3, Some(200)));
        assert_eq!((story.digest, story.indexable), (Some(u64::MAX), true));
        assert_eq!(catalog.versions(stored.id()).unwrap().len(), 1);
        let story = catalog.page(failed.id()).unwrap().unwrap();
        assert_eq!(
            (story.state, story.reason.as_deref(), story.attempts),
            (PageState::Failed, Some("timed out"), 2)
        );
        assert_eq!(story.due, Some(Timestamp::from_millis(60)));
        let counts = catalog.counts().unwrap();
        assert_eq!((counts.sites, counts.pages, counts.waiting, counts.indexable), (2, 4, 1, 1));
        let longest = catalog.longest_unvisited(5).unwrap();
        assert_eq!(longest, [(waiting.site(), None), (stored.site(), Some(Timestamp::from_millis(50)))]);
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
