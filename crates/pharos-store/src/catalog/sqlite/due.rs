//! Queries for due pages of a site in the order required by a crawl strategy.

use pharos_core::{PageId, SiteId, Timestamp};
use rusqlite::{Row, params};

use super::rows::{read_url, signed};
use super::{SqliteCatalog, sql_limit};
use crate::StoreError;
use crate::catalog::{DueOrder, DuePage, Validators};
use crate::interpret::status::StatusMeaning;

/// Columns read by [`read_due`], from `pages p LEFT JOIN visits v`.
macro_rules! due_columns {
    () => {
        "p.path, p.https, p.depth, p.hops, p.origin, coalesce(v.attempts, 0), p.weight,
             v.position IS NOT NULL, p.found_at, v.etag, v.modified, v.status"
    };
}

/// Returns pages of a site due at `now`, in the given order.
pub(super) fn find_due_pages(
    catalog: &SqliteCatalog,
    site: SiteId,
    now: Timestamp,
    order: DueOrder,
    limit: usize,
) -> Result<Vec<DuePage>, StoreError> {
    let site = catalog.query_one(
        "SELECT site, name, alias FROM sites WHERE id = ?1 AND coalesce(not_before, ?2) <= ?2",
        [signed(site.0), now.millis()],
        |r| Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?, r.get::<_, i64>(2)?)),
    )?;
    let Some((number, name, alias)) = site.filter(|(_, _, alias)| *alias != 3) else {
        return Ok(Vec::new());
    };
    let start = if let DueOrder::Random(seed) = order { signed(seed) } else { 0 };
    let values = params![number, now.millis(), sql_limit(limit), start];
    let rows = catalog.query_all(&query(order, alias), values, |r| read_due(r, &name))?;
    rows.into_iter().collect()
}

/// Returns a page as a fetch task, whether or not it is due.
pub(super) fn find_page(catalog: &SqliteCatalog, page: PageId) -> Result<Option<DuePage>, StoreError> {
    let row = catalog.query_one(
        concat!(
            "SELECT ",
            due_columns!(),
            ", s.name FROM sites s CROSS JOIN pages p USING (site) LEFT JOIN visits v USING (site, page)
             WHERE s.id = ?1 AND p.page = ?2 AND p.state <> 5"
        ),
        [signed(page.site().0), signed(page.page())],
        |r| read_due(r, &r.get::<_, String>(12)?),
    )?;
    row.transpose()
}

fn read_due(r: &Row<'_>, site: &str) -> rusqlite::Result<Result<DuePage, StoreError>> {
    let validators = Validators { etag: r.get(9)?, last_modified: r.get(10)? };
    let (path, https): (String, bool) = (r.get(0)?, r.get(1)?);
    let (depth, hops, origin): (u32, u32, Option<String>) = (r.get(2)?, r.get(3)?, r.get(4)?);
    let (attempts, weight, visited): (u32, u32, bool) = (r.get(5)?, r.get(6)?, r.get(7)?);
    let found_at = Timestamp::from_millis(r.get(8)?);
    let status: Option<u16> = r.get(11)?;
    let exists = status.is_some_and(|status| !StatusMeaning::from_status(status).is_absent());
    let url = read_url(https, site, &path);
    Ok(url.map(|url| DuePage {
        url,
        depth,
        hops,
        origin,
        attempts,
        weight,
        visited,
        exists,
        found_at,
        validators,
    }))
}

/// Returns the query for an order. Waiting pages are read in index order; scheduled pages are sorted first, by their
/// index alone where possible; then both are merged.
fn query(order: DueOrder, alias: i64) -> String {
    // If both schemes of a site have the same pages, only those of the original scheme are fetched.
    let scheme = match alias {
        1 => "AND https = 1",
        2 => "AND https = 0",
        _ => "",
    };
    let part = |columns: &str, condition: &str, order: &str| {
        format!(
            "SELECT * FROM (SELECT site, page, {columns} FROM pages WHERE site = ?1 AND {condition} {scheme}
                 ORDER BY {order} LIMIT ?3)"
        )
    };
    let merged = |columns, order: &'static str| {
        (part(columns, "state = 0", order), part(columns, "due <= ?2", order), order)
    };
    let (one, other, order) = match order {
        DueOrder::Nearest => merged("depth, found_at", "depth, found_at"),
        DueOrder::Deepest => merged("depth, found_at", "depth DESC, found_at DESC"),
        DueOrder::Heaviest => merged("weight, depth, found_at", "weight DESC, depth, found_at"),
        // Ids are hashes, so their order is random. Pages after the start key come first, then those before it.
        DueOrder::Random(_) => (
            part("0 AS round", "page >= ?4 AND (state = 0 OR due <= ?2)", "page"),
            part("1 AS round", "page < ?4 AND (state = 0 OR due <= ?2)", "page"),
            "round, page",
        ),
    };
    format!(
        "SELECT {}, ?4
         FROM ({one} UNION ALL {other} ORDER BY {order} LIMIT ?3) d
         CROSS JOIN pages p USING (site, page) LEFT JOIN visits v USING (site, page)
         ORDER BY d.{}",
        due_columns!(),
        order.replace(", ", ", d.")
    )
}
