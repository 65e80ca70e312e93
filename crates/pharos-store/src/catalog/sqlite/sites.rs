//! The operator's table of sites. There are thousands of them, not millions: all are looked through.

use pharos_core::{PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::{Row, params};

use super::rows::signed;
use super::{SqliteCatalog, limited};
use crate::StoreError;
use crate::catalog::{SiteList, SiteOrder, SiteQuery, SiteRow, SiteState};

/// Pages of a site not yet asked for.
macro_rules! waiting {
    () => {
        "pages - stored - failed - refused - deleted"
    };
}

/// Are the pages of a site the same on another site? The same under its other scheme do not make it a copy.
macro_rules! copy {
    () => {
        "(alias <> 0 AND EXISTS (
             SELECT 1 FROM aliases WHERE home IN ('http://' || name || '/', 'https://' || name || '/')
                 AND of NOT IN ('http://' || name || '/', 'https://' || name || '/')))"
    };
}

/// What [`read_row`] reads.
const COLUMNS: &str = concat!(
    "name, seed, removed, removed = 0 AND ",
    copy!(),
    ", pages, ",
    waiting!(),
    ", stored, indexable, failed, refused, deleted, visited_at, not_before"
);

/// Sites that match, and how many do.
pub(super) fn list(catalog: &SqliteCatalog, wanted: &SiteQuery) -> Result<SiteList, StoreError> {
    let condition = format!("instr(name, ?1) > 0 AND {}", condition(wanted.state));
    let order = order(wanted.order);
    let name = part_of_name(&wanted.contains);
    let reader = catalog.reader();
    // One transaction, so that the number and the rows agree.
    let both = || {
        let transaction = reader.unchecked_transaction()?;
        let total = transaction
            .prepare_cached(&format!("SELECT count(*) FROM sites WHERE {condition}"))?
            .query_row([&name], |r| r.get(0))?;
        let rows = transaction
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM sites WHERE {condition} ORDER BY {order} LIMIT ?2 OFFSET ?3"
            ))?
            .query_map(params![name, limited(wanted.limit), limited(wanted.offset)], read_row)?
            .collect::<Result<_, _>>()?;
        Ok(SiteList { rows, total })
    };
    both().map_err(catalog.failed())
}

/// One site.
pub(super) fn row(catalog: &SqliteCatalog, site: SiteId) -> Result<Option<SiteRow>, StoreError> {
    catalog.one(&format!("SELECT {COLUMNS} FROM sites WHERE id = ?1"), [signed(site.0)], read_row)
}

/// What a state means in the table.
fn condition(state: Option<SiteState>) -> &'static str {
    match state {
        None => "1",
        Some(SiteState::Seed) => "removed = 0 AND seed = 1",
        Some(SiteState::Found) => "removed = 0 AND seed = 0",
        Some(SiteState::Waiting) => concat!("removed = 0 AND ", waiting!(), " > 0"),
        Some(SiteState::Failing) => "removed = 0 AND failed > 0",
        Some(SiteState::Refused) => "removed = 0 AND refused > 0 AND stored = 0",
        Some(SiteState::Patient) => "removed = 0 AND not_before IS NOT NULL",
        Some(SiteState::Copy) => concat!("removed = 0 AND ", copy!()),
        Some(SiteState::Removed) => "removed = 1",
    }
}

fn order(order: SiteOrder) -> &'static str {
    match order {
        SiteOrder::Pages => "pages DESC, name",
        SiteOrder::Stored => "stored DESC, name",
        SiteOrder::Failed => "failed DESC, name",
        SiteOrder::Waiting => concat!(waiting!(), " DESC, name"),
        SiteOrder::Visited => "visited_at DESC, name",
        SiteOrder::Name => "name",
    }
}

/// A part of a name as names are stored: in small letters, and others than English ones as addresses write them.
fn part_of_name(text: &str) -> String {
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
