//! Conversion between column values and Rust types.

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use rusqlite::{Row, types::Type};

use crate::StoreError;
use crate::catalog::page_entry::{CurrentResponse, DiscoveryPath, PageEntry};
use crate::catalog::{PageProblem, PageState, Validators};
use crate::interpret::refresh::RefreshState;

/// Columns read by [`read_page`], from `pages p LEFT JOIN visits v`.
macro_rules! page_columns {
    () => {
        "p.state, p.depth, p.hops, p.origin, p.anchor, p.found_at, p.due, v.visited_at, coalesce(v.visits, 0), \
         coalesce(v.attempts, 0), v.reason, v.settled_at, v.status, v.position, v.digest, v.indexable, p.weight, \
         p.linked_by, coalesce(v.changes, 0), coalesce(v.text, 0), v.etag, v.modified, v.trouble, \
         v.rate, v.rhythm"
    };
}
pub(super) use page_columns;

/// Converts an unsigned id to SQLite's signed integer with the same bits.
pub(super) fn signed(id: u64) -> i64 {
    id.cast_signed()
}

/// Reads a page entry from its [`page_columns`], the first of which is column `first` of the row.
pub(super) fn read_page(row: &Row<'_>, first: usize) -> rusqlite::Result<PageEntry> {
    let moment = |column| row.get(first + column).map(|m: Option<i64>| m.map(Timestamp::from_millis));
    let response = match row.get::<_, Option<i64>>(first + 13)? {
        None => None,
        Some(position) => Some(CurrentResponse {
            status: row.get(first + 12)?,
            position: LibraryPosition::from_u64(position.cast_unsigned()),
            digest: row.get::<_, i64>(first + 14)?.cast_unsigned(),
            indexable: row.get(first + 15)?,
            text: row.get::<_, i64>(first + 19)?.cast_unsigned(),
            validators: Validators { etag: row.get(first + 20)?, last_modified: row.get(first + 21)? },
        }),
    };
    Ok(PageEntry {
        state: read_state(row, first)?,
        path: DiscoveryPath {
            depth: row.get(first + 1)?,
            hops: row.get(first + 2)?,
            origin: row.get(first + 3)?,
        },
        anchor: row.get::<_, Option<String>>(first + 4)?.unwrap_or_default(),
        found_at: Timestamp::from_millis(row.get(first + 5)?),
        due: moment(6)?,
        visited_at: moment(7)?,
        visits: row.get(first + 8)?,
        weight: row.get(first + 16)?,
        linked_by: row.get(first + 17)?,
        changes: row.get(first + 18)?,
        attempts: row.get(first + 9)?,
        problem: read_problem(row, first + 22)?,
        reason: row.get(first + 10)?,
        settled_at: moment(11)?,
        response,
        refresh: RefreshState::from_columns(row.get(first + 23)?, row.get(first + 24)?),
    })
}

/// Builds the URL of a page from its stored parts.
pub(super) fn read_url(https: bool, site: &str, path: &str) -> Result<PageUrl, StoreError> {
    let scheme = if https { "https" } else { "http" };
    PageUrl::parse(&format!("{scheme}://{site}{path}"))
        .map_err(|e| StoreError::Catalog(format!("invalid stored URL: {e}")))
}

/// Reads the state of a page.
pub(super) fn read_state(row: &Row<'_>, column: usize) -> rusqlite::Result<PageState> {
    Ok(match row.get::<_, i64>(column)? {
        0 => PageState::Waiting,
        1 => PageState::Stored,
        2 => PageState::Failed,
        3 => PageState::Refused,
        4 => PageState::Deleted,
        5 => PageState::Removed,
        6 => PageState::Quarantined,
        other => {
            let problem = format!("invalid page state {other}").into();
            return Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, problem));
        }
    })
}

/// Returns the number of a state, as listed in the schema.
pub(super) fn state_number(state: PageState) -> i64 {
    match state {
        PageState::Waiting => 0,
        PageState::Stored => 1,
        PageState::Failed => 2,
        PageState::Refused => 3,
        PageState::Deleted => 4,
        PageState::Removed => 5,
        PageState::Quarantined => 6,
    }
}

/// Reads the problem of a page.
pub(super) fn read_problem(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<PageProblem>> {
    let Some(number) = row.get::<_, Option<i64>>(column)? else { return Ok(None) };
    match PageProblem::ALL.into_iter().find(|problem| problem_number(*problem) == number) {
        None => {
            let problem = format!("invalid page problem {number}").into();
            Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, problem))
        }
        found => Ok(found),
    }
}

/// Returns the number of a problem, as listed in the schema.
pub(super) fn problem_number(problem: PageProblem) -> i64 {
    match problem {
        PageProblem::Failed => 2,
        PageProblem::Refused => 3,
        PageProblem::Quarantined => 6,
        PageProblem::NotFound => 7,
        PageProblem::Denied => 8,
        PageProblem::ServerError => 9,
        PageProblem::Empty => 10,
    }
}
