//! Queries of the operator's site table. There are thousands of sites, not millions, so all of them are scanned.

use pharos_core::{PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::{Row, params};

use super::rows::signed;
use super::{SqliteCatalog, sql_limit};
use crate::StoreError;
use crate::catalog::{SiteList, SiteOrder, SiteQuery, SiteRow, SiteState};

/// SQL expression for the number of waiting pages of a site that are not fetched, because the same pages are fetched under
/// another site name or the other scheme.
macro_rules! mirrored_count {
    () => {
        "iif(alias = 0, 0, (SELECT count(*) FROM pages p
             WHERE p.site = sites.site AND p.state = 0 AND (sites.alias >> p.https) & 1 = 1))"
    };
}
pub(super) use mirrored_count;

/// SQL expression for the number of pages of a site that wait for their first visit.
macro_rules! waiting_count {
    () => {
        concat!("(pages - stored - failed - refused - deleted - ", mirrored_count!(), ")")
    };
}

/// SQL condition for a mirror of another site. The same content under the other scheme of the same site is not
/// a mirror.
macro_rules! is_mirror {
    () => {
        "(alias <> 0 AND EXISTS (
             SELECT 1 FROM aliases WHERE home IN ('http://' || name || '/', 'https://' || name || '/')
                 AND of NOT IN ('http://' || name || '/', 'https://' || name || '/')))"
    };
}

/// Columns read by [`read_row`].
const COLUMNS: &str = concat!(
    "name, seed, removed, removed = 0 AND ",
    is_mirror!(),
    ", pages, ",
    waiting_count!(),
    ", stored, indexable, failed, refused, deleted, visited_at, not_before"
);

/// Returns the matching sites and their number.
pub(super) fn list_sites(catalog: &SqliteCatalog, query: &SiteQuery) -> Result<SiteList, StoreError> {
    let condition = format!("instr(name, ?1) > 0 AND {}", condition(query.state));
    let order = order(query.order);
    let name = normalise_name_part(&query.contains);
    let reader = catalog.reader();
    // One transaction, so that count and rows are consistent.
    let both = || {
        let transaction = reader.unchecked_transaction()?;
        let total = transaction
            .prepare_cached(&format!("SELECT count(*) FROM sites WHERE {condition}"))?
            .query_row([&name], |r| r.get(0))?;
        let rows = transaction
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM sites WHERE {condition} ORDER BY {order} LIMIT ?2 OFFSET ?3"
            ))?
            .query_map(params![name, sql_limit(query.limit), sql_limit(query.offset)], read_row)?
            .collect::<Result<_, _>>()?;
        Ok(SiteList { rows, total })
    };
    both().map_err(catalog.failed())
}

/// Returns the row of one site.
pub(super) fn site_row(catalog: &SqliteCatalog, site: SiteId) -> Result<Option<SiteRow>, StoreError> {
    catalog.query_one(&format!("SELECT {COLUMNS} FROM sites WHERE id = ?1"), [signed(site.0)], read_row)
}

/// Returns the SQL condition of a state.
fn condition(state: Option<SiteState>) -> &'static str {
    match state {
        None => "1",
        Some(SiteState::Seed) => "removed = 0 AND seed = 1",
        Some(SiteState::Found) => "removed = 0 AND seed = 0",
        Some(SiteState::Waiting) => concat!("removed = 0 AND ", waiting_count!(), " > 0"),
        Some(SiteState::Failing) => "removed = 0 AND failed > 0",
        Some(SiteState::Refused) => "removed = 0 AND refused > 0 AND stored = 0",
        Some(SiteState::BackingOff) => "removed = 0 AND not_before IS NOT NULL",
        Some(SiteState::Copy) => concat!("removed = 0 AND ", is_mirror!()),
        Some(SiteState::Removed) => "removed = 1",
    }
}

fn order(order: SiteOrder) -> &'static str {
    match order {
        SiteOrder::Pages => "pages DESC, name",
        SiteOrder::Stored => "stored DESC, name",
        SiteOrder::Failed => "failed DESC, name",
        SiteOrder::Waiting => concat!(waiting_count!(), " DESC, name"),
        SiteOrder::Visited => "visited_at DESC, name",
        SiteOrder::Name => "name",
    }
}

/// Normalises a part of a site name as names are stored: lower case, with non-ASCII labels in punycode.
fn normalise_name_part(text: &str) -> String {
    let text = text.trim().to_lowercase();
    if text.is_ascii() {
        return text;
    }
    PageUrl::parse(&format!("http://{text}/")).map_or(text, |url| url.site().as_str().to_string())
}

fn read_row(r: &Row<'_>) -> rusqlite::Result<SiteRow> {
    let moment = |column| r.get(column).map(|m: Option<i64>| m.map(Timestamp::from_millis));
    Ok(SiteRow {
        site: SiteName::from_stored(r.get(0)?),
        seed: r.get(1)?,
        removed: r.get(2)?,
        copy: r.get(3)?,
        pages: r.get(4)?,
        waiting: r.get(5)?,
        stored: r.get(6)?,
        indexable: r.get(7)?,
        failed: r.get(8)?,
        refused: r.get(9)?,
        deleted: r.get(10)?,
        visited_at: moment(11)?,
        not_before: moment(12)?,
    })
}
