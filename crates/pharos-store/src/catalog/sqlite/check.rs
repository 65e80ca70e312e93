//! Integrity and consistency check of the catalog.

use std::path::Path;

use rusqlite::Connection;

use super::rows::{read_url, signed};
use super::sql_error;
use crate::StoreError;

/// Maximum number of problems listed per check.
const MAX_LISTED: usize = 20;

/// Queries that return one line per inconsistency.
const CONSISTENCY_QUERIES: &[&str] = &[
    "SELECT 'page ' || printf('%016x', page) || ' belongs to site number ' || site || ', which is unknown or removed'
     FROM pages WHERE site NOT IN (SELECT site FROM sites WHERE removed = 0)",
    "SELECT 'page ' || printf('%016x', page) || ' of site number ' || site || ' has a visit but no page row'
     FROM visits v WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.site = v.site AND p.page = v.page)",
    "SELECT 'page ' || printf('%016x', page) || ' of site number ' || site || ' has a version but no visit'
     FROM versions r WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.site = r.site AND v.page = r.page)",
    "SELECT 'the current response of ' || url || ' is not among its versions' FROM (
         SELECT iif(p.https, 'https://', 'http://') || s.name || p.path AS url
         FROM visits v JOIN pages p USING (site, page) JOIN sites s USING (site)
         WHERE v.position IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM versions r WHERE r.site = v.site AND r.page = v.page AND r.position = v.position))",
    "SELECT 'page ' || printf('%016x', page) || ' of site number ' || site || ' is in state ' || state
         || ', its failure index says ' || coalesce(trouble, 'none')
     FROM visits JOIN pages USING (site, page)
     WHERE (state IN (2, 3) AND trouble IS NOT state) OR (state = 6 AND trouble IS NULL)
         OR (state = 0 AND trouble IS NOT NULL)
         OR trouble NOT IN (2, 3, 6, 7, 8, 9, 10)",
    "SELECT 'site ' || name || ' counts ' || known || ' pages (stored, indexable, failed, refused, deleted), found '
         || found
     FROM (SELECT name, concat_ws(' ', pages, '(' || stored, indexable, failed, refused, deleted || ')') AS known,
             (SELECT concat_ws(' ', count(*), '(' || count(iif(state IN (1, 6), 1, NULL)), count(iif(indexable, 1, NULL)),
                     count(iif(state = 2, 1, NULL)), count(iif(state = 3, 1, NULL)),
                     count(iif(state = 4, 1, NULL)) || ')')
              FROM pages p LEFT JOIN visits v USING (site, page) WHERE p.site = s.site AND p.state <> 5) AS found
         FROM sites s)
     WHERE known <> found",
];

/// Returns one line per problem.
pub(super) fn check(path: &Path, connection: &Connection) -> Result<Vec<String>, StoreError> {
    match problems(connection) {
        Ok(problems) => Ok(problems),
        // Damage that aborts the check is a finding, not an error.
        Err(error) => match sql_error(path, error) {
            damaged @ StoreError::CatalogDamaged { .. } => Ok(vec![damaged.to_string()]),
            other => Err(other),
        },
    }
}

fn problems(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    // One transaction, so that all queries see the same state.
    let transaction = connection.unchecked_transaction()?;
    let mut problems = query_lines(&transaction, &format!("PRAGMA integrity_check({MAX_LISTED})"))?;
    problems.retain(|line| line != "ok");
    if !problems.is_empty() {
        return Ok(problems);
    }
    for sql in CONSISTENCY_QUERIES {
        problems.extend(query_lines(&transaction, &format!("{sql} LIMIT {MAX_LISTED}"))?);
    }
    problems.extend(misplaced_pages(&transaction)?);
    Ok(problems)
}

fn query_lines(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map([], |r| r.get(0))?.collect()
}

/// Returns pages whose key does not match their URL.
fn misplaced_pages(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut statement = connection.prepare(
        "SELECT s.id, p.page, p.https, s.name, p.path FROM pages p CROSS JOIN sites s USING (site)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (site, page): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (name, path): (String, String) = (row.get(3)?, row.get(4)?);
        match read_url(row.get(2)?, &name, &path) {
            Ok(url) if (signed(url.id().site().0), signed(url.id().page())) == (site, page) => continue,
            Ok(url) => problems.push(format!("{url} is stored under the page id {site:016x}{page:016x}")),
            Err(error) => problems.push(error.to_string()),
        }
        if problems.len() >= MAX_LISTED {
            break;
        }
    }
    Ok(problems)
}
