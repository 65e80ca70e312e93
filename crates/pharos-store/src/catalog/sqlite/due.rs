//! Queries for due pages of a site in the order required by a crawl strategy.

use std::time::Duration;

use pharos_core::{PageId, SiteId, Timestamp};
use rusqlite::{Row, params};

use super::rows::{read_url, signed};
use super::{SqliteCatalog, sql_limit};
use crate::StoreError;
use crate::catalog::{CLOCK_TOLERANCE, DueOrder, DuePage, Validators};
use crate::interpret::schedule::MAX_REQUESTED_WAIT;
use crate::interpret::status::StatusMeaning;

/// Columns read by [`read_due`], from `pages p LEFT JOIN visits v`.
macro_rules! due_columns {
    () => {
        "p.path, p.https, p.depth, p.hops, p.origin, coalesce(v.attempts, 0), p.weight,
             v.position IS NOT NULL, p.found_at, v.etag, v.modified, v.status"
    };
}

/// Condition on `sites`: the server requests no back-off at `?1`. One that ends after `?2` has a wrong date.
macro_rules! may_be_requested {
    () => {
        "(coalesce(not_before, ?1) <= ?1 OR not_before > ?2)"
    };
}
pub(super) use may_be_requested;

/// Returns the latest date that a visit, or a back-off requested by a server, can have at `now`.
pub(super) fn latest_credible(now: Timestamp) -> i64 {
    now.plus(MAX_REQUESTED_WAIT.max(CLOCK_TOLERANCE)).plus(Duration::from_secs(3600)).millis()
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
        concat!(
            "SELECT site, name, alias, coalesce(visited_at, 0) > ?2 FROM sites WHERE id = ?3 AND ",
            may_be_requested!()
        ),
        [now.millis(), latest_credible(now), signed(site.0)],
        |r| Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?, r.get::<_, i64>(2)?, r.get::<_, bool>(3)?)),
    )?;
    let Some((number, name, alias, is_misdated)) = site.filter(|(_, _, alias, _)| *alias != 3) else {
        return Ok(Vec::new());
    };
    let start = if let DueOrder::Random(seed) = order { signed(seed) } else { 0 };
    let values = params![number, now.millis(), sql_limit(limit), start, latest_credible(now)];
    let rows = catalog.query_all(&query(order, alias, is_misdated), values, |r| read_due(r, &name))?;
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
///
/// If the last visit of the site is in the future, pages visited in the future are due.
fn query(order: DueOrder, alias: i64, is_misdated: bool) -> String {
    let due = if is_misdated {
        "due IS NOT NULL AND (due <= ?2 OR (SELECT visited_at FROM visits v
             WHERE v.site = pages.site AND v.page = pages.page) > ?5)"
    } else {
        "due <= ?2"
    };
    let waiting_or_due = format!("(state = 0 OR ({due}))");
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
    let merged =
        |columns, order: &'static str| (part(columns, "state = 0", order), part(columns, due, order), order);
    let (one, other, order) = match order {
        DueOrder::Nearest => merged("depth, found_at", "depth, found_at"),
        DueOrder::Deepest => merged("depth, found_at", "depth DESC, found_at DESC"),
        DueOrder::Heaviest => merged("weight, depth, found_at", "weight DESC, depth, found_at"),
        // Ids are hashes, so their order is random. Pages after the start key come first, then those before it.
        DueOrder::Random(_) => (
            part("0 AS round", &format!("page >= ?4 AND {waiting_or_due}"), "page"),
            part("1 AS round", &format!("page < ?4 AND {waiting_or_due}"), "page"),
            "round, page",
        ),
    };
    format!(
        "SELECT {}, ?4, ?5
         FROM ({one} UNION ALL {other} ORDER BY {order} LIMIT ?3) d
         CROSS JOIN pages p USING (site, page) LEFT JOIN visits v USING (site, page)
         ORDER BY d.{}",
        due_columns!(),
        order.replace(", ", ", d.")
    )
}
