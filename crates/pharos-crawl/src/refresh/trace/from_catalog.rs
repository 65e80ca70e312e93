//! The trace of the visits that a crawl has made.

use std::collections::HashMap;

use pharos_core::PageId;
use pharos_store::catalog::PageVersion;
use pharos_store::{Catalog, StoreError};

use super::{MAX_CHANGES, MAX_PAGES, Trace};

/// Number of pages read from the catalog in one query.
const BATCH: usize = 1_000;

impl Trace {
    /// Reads the pages with at least two visits that returned content. A change is known only to lie between two visits;
    /// the middle is assumed. Pages beyond the limits of a trace are left out.
    pub fn from_catalog(catalog: &dyn Catalog) -> Result<Self, StoreError> {
        let mut trace = Self::default();
        let mut sites = HashMap::new();
        let mut after: Option<PageId> = None;
        loop {
            let pages = catalog.pages(None, after, BATCH)?;
            let Some(last) = pages.last() else { return Ok(trace) };
            after = Some(last.url.id());
            for page in &pages {
                if trace.pages.len() >= MAX_PAGES || trace.changes.len() >= MAX_CHANGES {
                    return Ok(trace);
                }
                if page.visits < 2 {
                    continue;
                }
                let id = page.url.id();
                let versions = catalog.versions(id)?;
                let next = sites.len() as u32;
                let site = *sites.entry(id.site()).or_insert(next);
                // Bodies that differ in markup alone count as one: the catalog has counted changes of the text.
                let has_changed = page.changes > 0;
                trace.push_versions(site, &versions, has_changed);
            }
        }
    }

    /// Adds a page by its versions, newest first.
    fn push_versions(&mut self, site: u32, versions: &[PageVersion], has_changed: bool) {
        let mut conclusive =
            versions.iter().rev().filter(|version| !version.inconclusive && version.status < 400);
        let Some(first) = conclusive.next() else { return };
        let (mut last, mut changes) = (first, Vec::new());
        for version in conclusive {
            if has_changed && version.digest != last.digest {
                changes.push(last.at.seconds() / 2 + version.at.seconds() / 2);
            }
            last = version;
        }
        let (from, to) = (first.at.seconds(), last.at.seconds());
        if from < to && to - from < i64::from(u32::MAX) {
            self.push(site, 1.0, 0.0, from, to, &mut changes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::{LibraryPosition, Timestamp};

    fn version(day: i64, digest: u64, status: u16) -> PageVersion {
        PageVersion {
            position: LibraryPosition::new(1, day as u64 + 1),
            at: Timestamp::from_millis(day * 86_400_000),
            status,
            digest,
            links: 0,
            new_links: 0,
            inconclusive: false,
        }
    }

    #[test]
    fn a_change_lies_between_two_visits() {
        let versions = [version(8, 2, 200), version(4, 1, 200), version(2, 1, 200), version(1, 9, 500)];
        let mut trace = Trace::default();
        trace.push_versions(0, &versions, true);
        trace.push_versions(0, &versions, false);
        trace.push_versions(0, &versions[..1], true);
        assert_eq!(trace.pages().len(), 2, "one visit shows no change");
        assert_eq!(trace.changes_of(&trace.pages()[0]), [4 * 86_400]);
        assert_eq!(trace.pages()[1].changes(), 0);
    }
}
