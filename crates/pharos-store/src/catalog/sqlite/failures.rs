//! Queries over pages with a problem, served by their indexes.
//!
//! A search for a part of a reason reads many rows. It runs in chunks, each in a transaction of its own that
//! continues where the last one ended. This keeps the connection available to other readers and allows checkpoints
//! of the WAL in between.

use std::collections::HashMap;

use pharos_core::{PageUrl, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::rows::{problem_number, read_problem, read_url};
use super::{SqliteCatalog, sql_limit};
use crate::StoreError;
use crate::catalog::listing::mask_reason;
use crate::catalog::{MAX_FAILURES_SCANNED, PageFailure, PageFailureQuery, PageProblem, UnsearchableCounts};
use crate::interpret::status::StatusMeaning;

/// Number of rows read in one transaction.
const CHUNK_ROWS: usize = 1_000;

/// Sort key of a failure: time, row number of the site, page.
type FailureKey = (i64, i64, i64);

/// The key before the newest failure.
const START_KEY: FailureKey = (i64::MAX, i64::MAX, i64::MAX);

/// A row of a failure index.
struct FailureRow {
    key: FailureKey,
    problem: PageProblem,
    reason: String,
}

/// The rows of the indexes that a query covers.
struct FailureScope {
    /// Row number of the only site, if the query is restricted to one.
    site: Option<i64>,
    problems: Vec<PageProblem>,
}

/// Returns pages with a problem, newest first.
pub(super) fn find_failures(
    catalog: &SqliteCatalog,
    query: &PageFailureQuery,
) -> Result<Vec<PageFailure>, StoreError> {
    let Some(scope) = FailureScope::from_query(catalog, query)? else { return Ok(Vec::new()) };
    let mut from = match query.before {
        None => START_KEY,
        // An unknown site has no failures left at that time.
        Some((at, page)) => match catalog.site_number(page.site())? {
            Some(site) => (at.millis(), site, page.page().cast_signed()),
            None => (at.millis(), i64::MIN, i64::MIN),
        },
    };
    let part = query.contains.to_lowercase();
    let is_selective = !part.is_empty() || query.seeds_only;
    let mut left = if is_selective { MAX_FAILURES_SCANNED } else { query.limit };
    let mut found = Vec::new();
    while left > 0 && found.len() < query.limit {
        let chunk = CHUNK_ROWS.min(if is_selective { left } else { query.limit - found.len() });
        let mut seen = 0;
        let reader = catalog.reader();
        scope
            .visit_rows(&reader, from, chunk, |entry| {
                seen += 1;
                from = entry.key;
                if found.len() < query.limit
                    && (part.is_empty() || entry.reason.to_lowercase().contains(&part))
                {
                    found.extend(read_failure(&reader, entry, query.seeds_only)?);
                }
                Ok(())
            })
            .map_err(catalog.failed())?;
        left -= seen;
        if seen < chunk {
            break;
        }
    }
    found.into_iter().collect()
}

/// Returns the reasons of the newest failures with their counts.
pub(super) fn count_reasons(catalog: &SqliteCatalog, of: usize) -> Result<Vec<(String, u64)>, StoreError> {
    let scope = FailureScope { site: None, problems: PageProblem::ALL.to_vec() };
    let mut from = START_KEY;
    let mut left = of.min(MAX_FAILURES_SCANNED);
    let mut counts: HashMap<String, u64> = HashMap::new();
    while left > 0 {
        let chunk = CHUNK_ROWS.min(left);
        let mut seen = 0;
        scope
            .visit_rows(&catalog.reader(), from, chunk, |entry| {
                seen += 1;
                from = entry.key;
                *counts.entry(mask_reason(&entry.reason)).or_default() += 1;
                Ok(())
            })
            .map_err(catalog.failed())?;
        left -= seen;
        if seen < chunk {
            break;
        }
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|(reason, count), (other, more)| more.cmp(count).then_with(|| reason.cmp(other)));
    Ok(counts)
}

/// Counts the stored pages that are not searchable, by reason.
pub(super) fn count_unsearchable(catalog: &SqliteCatalog) -> Result<UnsearchableCounts, StoreError> {
    let rows = catalog.query_all(
        "SELECT status, trouble, count(*) FROM visits WHERE position IS NOT NULL AND indexable = 0
         GROUP BY status, trouble",
        [],
        |row| Ok((row.get::<_, u16>(0)?, read_problem(row, 1)?, row.get::<_, u64>(2)?)),
    )?;
    let mut counts = UnsearchableCounts::default();
    for (status, problem, pages) in rows {
        let count = match (PageProblem::from_status(status), problem) {
            (Some(PageProblem::NotFound), _) => &mut counts.not_found,
            (Some(PageProblem::Denied), _) => &mut counts.denied,
            (Some(_), _) => &mut counts.server_errors,
            (None, _) if StatusMeaning::from_status(status) == StatusMeaning::Moved => &mut counts.moved,
            (None, Some(PageProblem::Refused)) => &mut counts.refused,
            (None, Some(PageProblem::Quarantined)) => &mut counts.quarantined,
            (None, _) => &mut counts.without_text,
        };
        *count += pages;
    }
    let mirrored = "SELECT sum(indexable) FROM sites WHERE alias <> 0 AND removed = 0";
    let mirrored = catalog.query_one(mirrored, [], |row| row.get::<_, Option<u64>>(0))?;
    Ok(UnsearchableCounts { mirrored: mirrored.flatten().unwrap_or_default(), ..counts })
}

impl FailureScope {
    /// Returns the scope of a query, or `None` if no page can match.
    fn from_query(catalog: &SqliteCatalog, query: &PageFailureQuery) -> Result<Option<Self>, StoreError> {
        let problems = query.problem.map_or_else(|| PageProblem::ALL.to_vec(), |problem| vec![problem]);
        let site = match query.site {
            None => None,
            Some(id) => match catalog.site_number(id)? {
                None => return Ok(None),
                number => number,
            },
        };
        Ok(Some(Self { site, problems }))
    }

    /// Visits up to `chunk` rows after a key, within one transaction.
    fn visit_rows(
        &self,
        reader: &Connection,
        from: FailureKey,
        chunk: usize,
        mut each: impl FnMut(FailureRow) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = reader.prepare_cached(&self.sql())?;
        let mut rows =
            statement.query(params![from.0, from.1, from.2, sql_limit(chunk), self.site.unwrap_or(0)])?;
        while let Some(row) = rows.next()? {
            each(read_row(row)?)?;
        }
        Ok(())
    }

    /// Returns the query. The rows of each problem are a sorted range of the index; the ranges of several problems
    /// are merged.
    fn sql(&self) -> String {
        let (of_site, behind) = match self.site {
            Some(_) => ("site = ?5 AND", "(visited_at, page) < (?1, ?3) AND ?2 = ?2"),
            None => ("?5 = ?5 AND", "(visited_at, site, page) < (?1, ?2, ?3)"),
        };
        let range = |problem: &PageProblem| {
            format!(
                "SELECT visited_at, site, page, trouble, reason FROM visits
                 WHERE {of_site} trouble = {} AND {behind}",
                problem_number(*problem)
            )
        };
        let ranges: Vec<String> = self.problems.iter().map(range).collect();
        format!("{} ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ?4", ranges.join(" UNION ALL "))
    }
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<FailureRow> {
    Ok(FailureRow {
        key: (row.get(0)?, row.get(1)?, row.get(2)?),
        problem: read_problem(row, 3)?.unwrap_or(PageProblem::Failed),
        reason: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
    })
}

/// Returns the page of an index row, or `None` if it is no seed and only seeds are wanted.
fn read_failure(
    reader: &Connection,
    entry: FailureRow,
    seeds_only: bool,
) -> rusqlite::Result<Option<Result<PageFailure, StoreError>>> {
    let (at, site, page) = entry.key;
    let found = reader
        .prepare_cached(
            "SELECT p.https, s.name, p.path, p.due, v.attempts, p.depth
             FROM pages p CROSS JOIN visits v USING (site, page) CROSS JOIN sites s USING (site)
             WHERE p.site = ?1 AND p.page = ?2 AND (p.depth = 0 OR ?3 = 0)",
        )?
        .query_row(params![site, page, seeds_only], |r| {
            let (https, name, path): (bool, String, String) = (r.get(0)?, r.get(1)?, r.get(2)?);
            Ok((read_url(https, &name, &path), r.get::<_, Option<i64>>(3)?, r.get(4)?, r.get::<_, u32>(5)?))
        })
        .optional()?;
    Ok(found.map(|(url, due, attempts, depth): (Result<PageUrl, StoreError>, _, _, _)| {
        Ok(PageFailure {
            url: url?,
            problem: entry.problem,
            is_seed: depth == 0,
            reason: entry.reason,
            attempts,
            at: Timestamp::from_millis(at),
            due: due.map(Timestamp::from_millis),
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_queries_use_indexes_without_sorting() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap();
        for (site, index) in [
            (None, "COVERING INDEX troubles (trouble=? AND (visited_at,site,page)<(?,?,?))"),
            (Some(1), "INDEX troubles_of_site (site=? AND trouble=? AND (visited_at,page)<(?,?))"),
        ] {
            for problems in [vec![PageProblem::Failed], PageProblem::ALL.to_vec()] {
                let scope = FailureScope { site, problems };
                let reader = catalog.reader();
                let mut statement = reader.prepare(&format!("EXPLAIN QUERY PLAN {}", scope.sql())).unwrap();
                let steps = statement.raw_query().mapped(|r| r.get::<_, String>(3));
                let plan: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
                let found = plan.iter().filter(|step| step.contains(index)).count();
                assert_eq!(found, scope.problems.len(), "{plan:#?}");
                let sorted = plan.iter().any(|step| step.contains("TEMP B-TREE"));
                assert!(!sorted, "no sort step: {plan:#?}");
            }
        }
    }
}
