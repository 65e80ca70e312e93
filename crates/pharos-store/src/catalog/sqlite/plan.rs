//! Applies the refresh plan to the pages that are scheduled already, in small batches.

use pharos_core::{PageUrl, SiteId, SiteName, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::rows::{problem_number, read_url, signed};
use crate::catalog::{DeadLinks, PageProblem, RefreshSample};
use crate::interpret::refresh::{DemandHistogram, PageInterest, RefreshClass, RefreshPlan, RefreshState};

/// A next visit is moved only if its interval changes by more than this share.
const TOLERANCE: f64 = 0.05;

const DAY_MILLIS: f64 = 86_400_000.0;

/// Stored pages with content and a next visit, after the page `(?1, ?2)`. Redirects and visits with a problem have their own
/// schedule.
const SCHEDULED: &str = "
    SELECT v.site, v.page, p.due, p.weight, v.visited_at, v.visits, v.changes, v.rate, v.rhythm, p.https, s.name, p.path
    FROM visits v CROSS JOIN pages p USING (site, page) CROSS JOIN sites s USING (site)
    WHERE (v.site, v.page) > (?1, ?2) AND p.state = 1 AND p.due IS NOT NULL AND v.trouble IS NULL
        AND v.visited_at IS NOT NULL AND (v.status BETWEEN 200 AND 299 OR v.status = 304)
    ORDER BY v.site, v.page LIMIT ?3";

/// Reads the stored plan.
pub(super) fn read_plan(connection: &Connection) -> rusqlite::Result<Option<RefreshPlan>> {
    let json: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'refresh_plan'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
}

/// Stores a plan. Its application starts with the first page.
pub(super) fn write_plan(connection: &Connection, plan: &RefreshPlan) -> rusqlite::Result<()> {
    let json = serde_json::to_string(plan).unwrap_or_default();
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('refresh_plan', ?1)", [json])?;
    connection.execute("DELETE FROM meta WHERE key = 'refresh_cursor'", [])?;
    Ok(())
}

/// A row of [`SCHEDULED`].
struct ScheduledPage {
    key: (i64, i64),
    due: i64,
    weight: u32,
    visited_at: i64,
    visits: u64,
    changes: u64,
    state: RefreshState,
    is_https: bool,
    site: String,
    path: String,
}

impl ScheduledPage {
    fn url(&self) -> Option<PageUrl> {
        read_url(self.is_https, &self.site, &self.path).ok()
    }
}

fn read_row(row: &Row<'_>, plan: &RefreshPlan) -> rusqlite::Result<ScheduledPage> {
    let (due, visited_at, path): (i64, i64, String) = (row.get(2)?, row.get(4)?, row.get(11)?);
    let packed: Option<i64> = row.get(8)?;
    let mut state = RefreshState::from_columns(row.get(7)?, packed);
    if packed.is_none() {
        state.class = infer_class(plan, &path, (due - visited_at) as f64 / DAY_MILLIS);
    }
    Ok(ScheduledPage {
        key: (row.get(0)?, row.get(1)?),
        due,
        weight: row.get(3)?,
        visited_at,
        visits: row.get(5)?,
        changes: row.get(6)?,
        state,
        is_https: row.get(9)?,
        site: row.get(10)?,
        path,
    })
}

/// Returns the class of a page that was visited by an earlier release, by its URL and its interval.
fn infer_class(plan: &RefreshPlan, path: &str, interval: f64) -> RefreshClass {
    let has_interval = |class| (interval - plan.fixed_interval(class)).abs() < 1e-6;
    match path {
        "/" => RefreshClass::Home,
        _ if has_interval(RefreshClass::Page) => RefreshClass::Page,
        _ if has_interval(RefreshClass::Hub) => RefreshClass::Hub,
        _ if has_interval(RefreshClass::Feed) => RefreshClass::Feed,
        _ => RefreshClass::Page,
    }
}

/// Applies the plan to the next `limit` pages and adds them to the sample. Returns `true` after the last page.
pub(super) fn apply_plan(
    connection: &Connection,
    now: Timestamp,
    limit: i64,
    interest: &dyn Fn(&PageUrl) -> Option<PageInterest>,
    sample: &mut RefreshSample,
) -> rusqlite::Result<bool> {
    let Some(plan) = read_plan(connection)? else { return Ok(true) };
    let cursor: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'refresh_cursor'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    let after = cursor.and_then(|text| {
        let (site, page) = text.split_once(' ')?;
        Some((site.parse().ok()?, page.parse().ok()?))
    });
    let (mut pages, last) = read_pages(connection, &plan, after, limit)?;
    for page in &mut pages {
        update_interest(connection, page, interest)?;
        let due = next_due(&plan, page);
        let interval = (page.due - page.visited_at) as f64;
        // A page that is due now stays so: its visit may have been requested. A change that was announced is not put off.
        let moved = due.filter(|due| {
            let is_kept = page.due <= now.millis() || page.state.is_announced && *due > page.due;
            !is_kept && (due - page.due).abs() as f64 > TOLERANCE * interval
        });
        if let Some(due) = moved {
            connection
                .prepare_cached("UPDATE pages SET due = ?3 WHERE site = ?1 AND page = ?2")?
                .execute(params![page.key.0, page.key.1, due])?;
            sample.rescheduled += 1;
        }
        count(sample, &plan, page, moved.unwrap_or(page.due), now);
    }
    match last {
        Some((site, page)) => connection
            .prepare_cached("INSERT OR REPLACE INTO meta VALUES ('refresh_cursor', ?1)")?
            .execute([format!("{site} {page}")])?,
        None => connection.execute("DELETE FROM meta WHERE key = 'refresh_cursor'", [])?,
    };
    Ok(last.is_none())
}

/// Stores the interest in a page if it changed.
fn update_interest(
    connection: &Connection,
    page: &mut ScheduledPage,
    interest: &dyn Fn(&PageUrl) -> Option<PageInterest>,
) -> rusqlite::Result<()> {
    let Some(now) = page.url().and_then(|url| interest(&url)).filter(|now| *now != page.state.interest)
    else {
        return Ok(());
    };
    page.state.interest = now;
    let (_, rhythm) = page.state.to_columns();
    connection
        .prepare_cached("UPDATE visits SET rhythm = ?3 WHERE site = ?1 AND page = ?2")?
        .execute(params![page.key.0, page.key.1, rhythm])?;
    Ok(())
}

/// Reads the sample of the pages of a site, or of all pages, without changing them.
pub(super) fn read_sample(
    connection: &Connection,
    now: Timestamp,
    site: Option<SiteId>,
) -> rusqlite::Result<RefreshSample> {
    let (plan, mut sample) = (read_plan(connection)?.unwrap_or_default(), RefreshSample::default());
    let site = match site {
        None => None,
        Some(site) => {
            let sql = "SELECT site FROM sites WHERE id = ?1";
            let number: Option<i64> =
                connection.prepare_cached(sql)?.query_row([signed(site.0)], |row| row.get(0)).optional()?;
            match number {
                Some(number) => Some(number),
                None => return Ok(sample),
            }
        }
    };
    let is_wanted = |key: &PageKey| site.is_none_or(|site| key.0 == site);
    let mut after = site.map(|site| (site, i64::MIN));
    loop {
        let (pages, last) = read_pages(connection, &plan, after, 1_000)?;
        let wanted = pages.iter().take_while(|page| is_wanted(&page.key));
        wanted.for_each(|page| count(&mut sample, &plan, page, page.due, now));
        after = last.filter(is_wanted);
        if after.is_none() {
            return Ok(sample);
        }
    }
}

/// Returns the sites with the most pages that no longer exist.
pub(super) fn read_dead_links(connection: &Connection, limit: i64) -> rusqlite::Result<Vec<DeadLinks>> {
    let sql = "
        SELECT s.name, d.dead, (SELECT count(*) FROM visits v WHERE v.site = d.site)
        FROM (SELECT site, count(*) AS dead FROM visits WHERE trouble = ?2 GROUP BY site
              ORDER BY dead DESC, site LIMIT ?1) d
        JOIN sites s USING (site) ORDER BY d.dead DESC, s.name";
    let number = |row: &Row<'_>, column| row.get(column).map(|number: i64| number.unsigned_abs());
    connection
        .prepare_cached(sql)?
        .query_map(params![limit, problem_number(PageProblem::NotFound)], |row| {
            let site = SiteName::from_stored(row.get(0)?);
            Ok(DeadLinks { site, dead: number(row, 1)?, visited: number(row, 2)? })
        })?
        .collect()
}

/// Site and page of a row.
type PageKey = (i64, i64);

/// Returns the next pages and the last of them, or `None` if there are no more.
fn read_pages(
    connection: &Connection,
    plan: &RefreshPlan,
    after: Option<PageKey>,
    limit: i64,
) -> rusqlite::Result<(Vec<ScheduledPage>, Option<PageKey>)> {
    let (site, page) = after.unwrap_or((i64::MIN, i64::MIN));
    let mut statement = connection.prepare_cached(SCHEDULED)?;
    let rows = statement.query_map(params![site, page, limit], |row| read_row(row, plan))?;
    let pages: Vec<ScheduledPage> = rows.collect::<Result<_, _>>()?;
    let is_full = i64::try_from(pages.len()).is_ok_and(|read| read == limit);
    let last = pages.last().map(|page| page.key).filter(|_| is_full);
    Ok((pages, last))
}

/// Returns the time of the next visit by the plan, or `None` if the page class is not refreshed.
fn next_due(plan: &RefreshPlan, page: &ScheduledPage) -> Option<i64> {
    let fixed = plan.fixed_interval(page.state.class);
    let millis = match plan.interval(&page.state, page.weight) {
        _ if fixed <= 0.0 => return None,
        Some(interval) => interval.as_millis() as f64,
        None => (fixed * DAY_MILLIS).round(),
    };
    Some(page.visited_at.saturating_add(millis as i64))
}

fn count(sample: &mut RefreshSample, plan: &RefreshPlan, page: &ScheduledPage, due: i64, now: Timestamp) {
    let fixed = plan.fixed_interval(page.state.class);
    let demand = plan.demand(&page.state, page.weight);
    sample.demands.add(DemandHistogram::bin(demand));
    sample.fixed_visits += if fixed > 0.0 { 1.0 / fixed } else { 0.0 };
    sample.learned += u64::from(!page.state.history.is_empty());
    sample.raised += u64::from(page.state.interest.factor() > 1.0);
    sample.revisits += page.visits.saturating_sub(1);
    sample.changes += page.changes;
    sample.count_interval((due - page.visited_at) as f64 / DAY_MILLIS);
    sample.due += u64::from(due <= now.millis());
    let visited = Timestamp::from_millis(page.visited_at);
    if sample.longest_unvisited.as_ref().is_none_or(|(oldest, _)| visited < *oldest)
        && let Some(url) = page.url()
    {
        sample.longest_unvisited = Some((visited, url));
    }
}
