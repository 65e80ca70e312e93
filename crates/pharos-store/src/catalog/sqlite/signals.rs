//! Trust in the signals of each site.

use pharos_core::SiteName;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::interpret::refresh::SiteSignals;

/// Reads the trust in the signals of a site, or `None` if it never announced anything.
pub(super) fn read(connection: &Connection, site: i64) -> rusqlite::Result<Option<SiteSignals>> {
    connection
        .prepare_cached("SELECT confirmed, false_alarms, missed, days FROM signals WHERE site = ?1")?
        .query_row([site], |row| read_row(row, 0))
        .optional()
}

pub(super) fn write(connection: &Connection, site: i64, signals: &SiteSignals) -> rusqlite::Result<()> {
    let SiteSignals { confirmed, false_alarms, missed, days } = *signals;
    connection
        .prepare_cached("INSERT OR REPLACE INTO signals VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![site, confirmed, false_alarms, missed, days])?;
    Ok(())
}

/// Returns the sites with the most signals. A file of an earlier release that was not opened for writing has none.
pub(super) fn list(connection: &Connection, limit: i64) -> rusqlite::Result<Vec<(SiteName, SiteSignals)>> {
    if !connection.table_exists(None, "signals")? {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(
            "SELECT s.name, g.confirmed, g.false_alarms, g.missed, g.days FROM signals g JOIN sites s USING (site)
             ORDER BY g.confirmed + g.false_alarms DESC, s.name LIMIT ?1",
        )?
        .query_map([limit], |row| Ok((SiteName::from_stored(row.get(0)?), read_row(row, 1)?)))?
        .collect()
}

fn read_row(row: &Row<'_>, first: usize) -> rusqlite::Result<SiteSignals> {
    Ok(SiteSignals {
        confirmed: row.get(first)?,
        false_alarms: row.get(first + 1)?,
        missed: row.get(first + 2)?,
        days: row.get(first + 3)?,
    })
}
