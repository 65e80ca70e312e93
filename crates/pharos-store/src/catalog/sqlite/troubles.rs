//! Pages in trouble, from their indexes.
//!
//! Looking for a part of a reason means reading many rows. That is done in short pieces, each a transaction of its own
//! that goes on where the last one ended: nobody waits long for the connection, and the log of the writer can be put
//! away in between.

use std::collections::HashMap;

use pharos_core::{PageUrl, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::rows::{read_url, state_number};
use super::{SqliteCatalog, limited};
use crate::StoreError;
use crate::catalog::listing::folded;
use crate::catalog::{PageState, TROUBLES_LOOKED_AT, Trouble, TroubleQuery};

/// Rows read in one transaction.
const PIECE: usize = 1_000;

/// A place in the order of troubles: moment, number of the site, page.
type Place = (i64, i64, i64);

/// Where the newest trouble is yet to come.
const BEGINNING: Place = (i64::MAX, i64::MAX, i64::MAX);

/// A row of an index, and the reason.
struct Entry {
    place: Place,
    state: PageState,
    reason: String,
}

/// Which rows of the indexes.
struct Scope {
    /// The number of the one site.
    site: Option<i64>,
    states: Vec<PageState>,
}

/// Pages in trouble, the newest first.
pub(super) fn troubles(catalog: &SqliteCatalog, wanted: &TroubleQuery) -> Result<Vec<Trouble>, StoreError> {
    let Some(scope) = Scope::of(catalog, wanted)? else { return Ok(Vec::new()) };
    let mut from = match wanted.before {
        None => BEGINNING,
        // Of a site that is not known here, nothing of that moment is left.
        Some((at, page)) => match catalog.site_number(page.site())? {
            Some(site) => (at.millis(), site, page.page().cast_signed()),
            None => (at.millis(), i64::MIN, i64::MIN),
        },
    };
    let part = wanted.contains.to_lowercase();
    let mut left = if part.is_empty() { wanted.limit } else { TROUBLES_LOOKED_AT };
    let mut found = Vec::new();
    while left > 0 && found.len() < wanted.limit {
        let piece = if part.is_empty() { PIECE.min(wanted.limit - found.len()) } else { PIECE.min(left) };
        let mut seen = 0;
        let reader = catalog.reader();
        scope
            .walk(&reader, from, piece, |entry| {
                seen += 1;
                from = entry.place;
                if found.len() < wanted.limit
                    && (part.is_empty() || entry.reason.to_lowercase().contains(&part))
                {
                    found.extend(known_page(&reader, entry)?);
                }
                Ok(())
            })
            .map_err(catalog.failed())?;
        left -= seen;
        if seen < piece {
            break;
        }
    }
    found.into_iter().collect()
}

/// How many of the newest troubles have which reason.
pub(super) fn reasons(catalog: &SqliteCatalog, of: usize) -> Result<Vec<(String, u64)>, StoreError> {
    let scope = Scope { site: None, states: vec![PageState::Failed, PageState::Refused] };
    let mut from = BEGINNING;
    let mut left = of.min(TROUBLES_LOOKED_AT);
    let mut counts: HashMap<String, u64> = HashMap::new();
    while left > 0 {
        let piece = PIECE.min(left);
        let mut seen = 0;
        scope
            .walk(&catalog.reader(), from, piece, |entry| {
                seen += 1;
                from = entry.place;
                *counts.entry(folded(&entry.reason)).or_default() += 1;
                Ok(())
            })
            .map_err(catalog.failed())?;
        left -= seen;
        if seen < piece {
            break;
        }
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|(reason, count), (other, more)| more.cmp(count).then_with(|| reason.cmp(other)));
    Ok(counts)
}

impl Scope {
    /// Nothing where no page can match.
    fn of(catalog: &SqliteCatalog, wanted: &TroubleQuery) -> Result<Option<Self>, StoreError> {
        let states = match wanted.state {
            None => vec![PageState::Failed, PageState::Refused],
            Some(state @ (PageState::Failed | PageState::Refused)) => vec![state],
            Some(_) => return Ok(None),
        };
        let site = match wanted.site {
            None => None,
            Some(id) => match catalog.site_number(id)? {
                None => return Ok(None),
                number => number,
            },
        };
        Ok(Some(Self { site, states }))
    }

    /// Up to `piece` rows behind a place, within one transaction.
    fn walk(
        &self,
        reader: &Connection,
        from: Place,
        piece: usize,
        mut each: impl FnMut(Entry) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = reader.prepare_cached(&self.query())?;
        let mut rows =
            statement.query(params![from.0, from.1, from.2, limited(piece), self.site.unwrap_or(0)])?;
        while let Some(row) = rows.next()? {
            each(read_entry(row)?)?;
        }
        Ok(())
    }

    /// Each state is a stretch of its index that is in order already; two of them are merged.
    fn query(&self) -> String {
        let (of_site, behind) = match self.site {
            Some(_) => ("site = ?5 AND", "(visited_at, page) < (?1, ?3) AND ?2 = ?2"),
            None => ("?5 = ?5 AND", "(visited_at, site, page) < (?1, ?2, ?3)"),
        };
        let stretch = |state: &PageState| {
            format!(
                "SELECT visited_at, site, page, trouble, reason FROM visits
                 WHERE {of_site} trouble = {} AND {behind}",
                state_number(*state)
            )
        };
        let stretches: Vec<String> = self.states.iter().map(stretch).collect();
        format!("{} ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ?4", stretches.join(" UNION ALL "))
    }
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let refused = row.get::<_, i64>(3)? == state_number(PageState::Refused);
    Ok(Entry {
        place: (row.get(0)?, row.get(1)?, row.get(2)?),
        state: if refused { PageState::Refused } else { PageState::Failed },
        reason: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
    })
}

/// The page of a row, with what else is told of it.
fn known_page(reader: &Connection, entry: Entry) -> rusqlite::Result<Option<Result<Trouble, StoreError>>> {
    let (at, site, page) = entry.place;
    let found = reader
        .prepare_cached(
            "SELECT p.https, s.name, p.path, p.due, v.attempts
             FROM pages p CROSS JOIN visits v USING (site, page) CROSS JOIN sites s USING (site)
             WHERE p.site = ?1 AND p.page = ?2",
        )?
        .query_row([site, page], |r| {
            let (https, name, path): (bool, String, String) = (r.get(0)?, r.get(1)?, r.get(2)?);
            Ok((read_url(https, &name, &path), r.get::<_, Option<i64>>(3)?, r.get(4)?))
        })
        .optional()?;
    Ok(found.map(|(url, due, attempts): (Result<PageUrl, StoreError>, _, _)| {
        Ok(Trouble {
            url: url?,
            state: entry.state,
            reason: entry.reason,
            attempts,
            at: Timestamp::from_millis(at),
            due: due.map(Timestamp::from_millis),
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_come_from_their_indexes_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap();
        for (site, index) in [
            (None, "COVERING INDEX troubles (trouble=? AND (visited_at,site,page)<(?,?,?))"),
            (Some(1), "INDEX troubles_of_site (site=? AND trouble=? AND (visited_at,page)<(?,?))"),
        ] {
            for states in [vec![PageState::Failed], vec![PageState::Failed, PageState::Refused]] {
                let scope = Scope { site, states };
                let reader = catalog.reader();
                let mut statement = reader.prepare(&format!("EXPLAIN QUERY PLAN {}", scope.query())).unwrap();
                let steps = statement.raw_query().mapped(|r| r.get::<_, String>(3));
                let plan: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
                let found = plan.iter().filter(|step| step.contains(index)).count();
                assert_eq!(found, scope.states.len(), "{plan:#?}");
                let sorted = plan.iter().any(|step| step.contains("TEMP B-TREE"));
                assert!(!sorted, "as the index has them: {plan:#?}");
            }
        }
    }
}
