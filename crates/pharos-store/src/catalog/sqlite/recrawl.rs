//! All of a site again: what an operator's word does to pages that a batch does not name.

use pharos_core::{SiteId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::signed;

/// When a page was last heard of, as `Page::last_heard_of` says: of one that is gone, there is no answer.
macro_rules! last_heard_of {
    () => {
        "iif(position IS NULL, max(coalesce(visited_at, settled_at), coalesce(settled_at, visited_at)), visited_at)"
    };
}

/// Makes all pages of a site due that were last visited before that moment, the same as `Page::wanted_again` one by
/// one, and ends the patience that its server asked for before. Is anything due because of it?
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
            last_heard_of!(),
            " < ?2) AND state BETWEEN 1 AND 4 AND (due IS NULL OR due > ?2)"
        ))?
        .execute(values)?;
    connection
        .prepare_cached(concat!(
            "UPDATE visits SET attempts = 0 WHERE site = ?1 AND attempts > 0 AND ",
            last_heard_of!(),
            " < ?2"
        ))?
        .execute(values)?;
    let patience_over = connection
        .prepare_cached(
            "UPDATE sites SET not_before = NULL, asked_at = NULL
             WHERE site = ?1 AND not_before IS NOT NULL AND coalesce(asked_at < ?2, 1)",
        )?
        .execute(values)?;
    connection
        .prepare_cached("UPDATE sites SET recrawl_at = max(coalesce(recrawl_at, ?2), ?2) WHERE site = ?1")?
        .execute(values)?;
    Ok(due + patience_over > 0)
}
