//! Applies changed refresh intervals to scheduled pages.

use rusqlite::{Connection, OptionalExtension, params};

use crate::catalog::RefreshIntervals;
use crate::catalog::refresh_intervals::IntervalChange;

/// Stores the intervals and reschedules the pages whose interval changed, in the caller's transaction. Returns the number of
/// pages.
pub(super) fn set_intervals(connection: &Connection, now: &RefreshIntervals) -> rusqlite::Result<u64> {
    let before: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE key = 'refresh'", [], |row| row.get(0))
        .optional()?;
    let before: Option<RefreshIntervals> = before.and_then(|text| serde_json::from_str(&text).ok());
    if before.as_ref() == Some(now) {
        return Ok(0);
    }
    let json = serde_json::to_string(now).unwrap_or_default();
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('refresh', ?1)", [json])?;
    // The pages of a catalog without remembered intervals were scheduled with the present ones.
    let changes = before.map(|before| before.changes(now)).unwrap_or_default();
    reschedule(connection, &changes)
}

/// Reschedules pages by the distance of their next visit from the last one. All changes are applied in one statement,
/// because one could move pages to the distance of another.
fn reschedule(connection: &Connection, changes: &[IntervalChange]) -> rusqlite::Result<u64> {
    if changes.is_empty() {
        return Ok(0);
    }
    let distance = "pages.due - v.visited_at";
    let case = |change: &IntervalChange| {
        let IntervalChange { before, now, home } = change;
        let path = match home {
            Some(true) => " AND pages.path = '/'",
            Some(false) => " AND pages.path <> '/'",
            None => "",
        };
        let due = if *now > 0 { format!("v.visited_at + {now}") } else { "NULL".into() };
        (format!("{distance} = {before}{path}"), due)
    };
    let cases: Vec<(String, String)> = changes.iter().map(case).collect();
    let when: String = cases.iter().map(|(when, due)| format!(" WHEN {when} THEN {due}")).collect();
    let any: Vec<String> = cases.iter().map(|(when, _)| format!("({when})")).collect();
    // Visits that failed have their own schedule.
    let sql = format!(
        "UPDATE pages SET due = CASE{when} END FROM visits v
         WHERE v.site = pages.site AND v.page = pages.page AND pages.state = 1 AND pages.due IS NOT NULL
             AND v.trouble IS NULL AND ({})",
        any.join(" OR ")
    );
    Ok(connection.execute(&sql, params![])? as u64)
}
