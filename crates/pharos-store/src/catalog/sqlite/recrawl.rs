//! Recrawl of a whole site: an operator's request that affects pages not named in the batch.

use pharos_core::{SiteId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::signed;

/// SQL expression equivalent to `PageEntry::last_event_at`. A deleted page has no response.
macro_rules! last_event_at {
    () => {
        "iif(position IS NULL, max(coalesce(visited_at, settled_at), coalesce(settled_at, visited_at)), visited_at)"
    };
}

/// Makes all pages of a site due that were last visited before `at`, as `PageEntry::recrawl` does for one page, and
/// ends back-offs requested earlier. Returns `true` if a page becomes due.
pub(super) fn recrawl_site(connection: &Connection, site: SiteId, at: Timestamp) -> rusqlite::Result<bool> {
    let number: Option<i64> = connection
        .prepare_cached("SELECT site FROM sites WHERE id = ?1 AND removed = 0")?
        .query_row([signed(site.0)], |r| r.get(0))
        .optional()?;
    let Some(number) = number else { return Ok(false) };
    let values = params![number, at.millis()];
    let due = connection
        .prepare_cached(concat!(
            "UPDATE pages SET due = ?2
             WHERE site = ?1 AND page IN (SELECT page FROM visits WHERE site = ?1 AND ",
            last_event_at!(),
            " < ?2) AND state BETWEEN 1 AND 4 AND (due IS NULL OR due > ?2)"
        ))?
        .execute(values)?;
    connection
        .prepare_cached(concat!(
            "UPDATE visits SET attempts = 0 WHERE site = ?1 AND attempts > 0 AND ",
            last_event_at!(),
            " < ?2"
        ))?
        .execute(values)?;
    let back_offs_ended = connection
        .prepare_cached(
            "UPDATE sites SET not_before = NULL, asked_at = NULL
             WHERE site = ?1 AND not_before IS NOT NULL AND coalesce(asked_at < ?2, 1)",
        )?
        .execute(values)?;
    connection
        .prepare_cached("UPDATE sites SET recrawl_at = max(coalesce(recrawl_at, ?2), ?2) WHERE site = ?1")?
        .execute(values)?;
    Ok(due + back_offs_ended > 0)
}
