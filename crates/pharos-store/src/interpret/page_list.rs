//! Limits of sitemaps and feeds, so that a server cannot fill the catalog with URLs that cost it nothing.
//!
//! Each site has an hourly allowance of lists, entries and bytes, and its lists add no more pages than its budget lets
//! the crawler use. Usage is counted in the catalog ([`ListState`]), so that a replay admits the same entries.

use pharos_core::{PageUrl, Timestamp};

use super::scope::CrawlScope;
use crate::LibraryRecord;
use crate::catalog::{CatalogChange, ListState, ListUsage};

/// Maximum length of a chain of sitemap indexes. The protocol permits one index (sitemaps.org 0.9).
const MAX_INDEX_CHAIN: u32 = 3;
/// Maximum number of lists of a site per hour.
const MAX_LISTS: u64 = 1_000;
/// Maximum number of entries of these lists.
const MAX_ENTRIES: u64 = 200_000;
/// Maximum size of these lists in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Known pages that lists may add, for each page of `crawl.site_budget`.
const KNOWN_PER_BUDGET: u64 = 50;
/// Known pages that lists may add for each stored page.
const KNOWN_PER_STORED: u64 = 10;
/// Name of these limits in the count of filtered links.
const RULE: &str = "list limits";

/// A sitemap or feed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageList {
    /// The URLs, with the time of the last change if given.
    pub entries: Vec<(PageUrl, Option<Timestamp>)>,
    /// `true` if the entries are further sitemaps.
    pub is_index: bool,
    pub bytes: u64,
}

/// The part of a list that is followed.
#[derive(Default)]
pub(super) struct AdmittedList<'l> {
    pub(super) entries: &'l [(PageUrl, Option<Timestamp>)],
    /// Number of redirects and indexes that led to an entry.
    pub(super) hops: u32,
    /// Changes of the counts.
    pub(super) changes: Vec<CatalogChange>,
}

/// Admits the entries of a list within the limits of its site.
pub(super) fn admit_list<'l>(
    scope: &mut CrawlScope,
    record: &LibraryRecord,
    list: &'l PageList,
) -> AdmittedList<'l> {
    let state = scope.take_list_state();
    let usage = usage_with(state.usage, record.at, list);
    let is_within = usage.lists <= MAX_LISTS
        && usage.bytes <= MAX_BYTES
        && !(list.is_index && record.hops >= MAX_INDEX_CHAIN);
    let room =
        (MAX_ENTRIES - usage.entries.min(MAX_ENTRIES)).min(known_room(&state, scope.rules().site_budget));
    let room = if is_within { usize::try_from(room).unwrap_or(usize::MAX) } else { 0 };
    let entries = &list.entries[..list.entries.len().min(room)];
    let usage = ListUsage { entries: usage.entries + entries.len() as u64, ..usage };
    let mut changes = vec![CatalogChange::Listed { site: record.url.site(), usage }];
    let ignored = (list.entries.len() - entries.len()) as u64;
    if ignored > 0 {
        changes.push(CatalogChange::Filtered { rule: RULE.into(), links: ignored });
    }
    let hops = if list.is_index { record.hops.saturating_add(1) } else { 0 };
    AdmittedList { entries, hops, changes }
}

/// Returns the usage of the hour, including this list without its entries.
fn usage_with(before: ListUsage, at: Timestamp, list: &PageList) -> ListUsage {
    let hour = at.seconds().div_euclid(3600);
    let before = if before.hour == hour { before } else { ListUsage::default() };
    ListUsage {
        hour,
        lists: before.lists.saturating_add(1),
        entries: before.entries,
        bytes: before.bytes.saturating_add(list.bytes),
    }
}

/// Returns how many pages lists may add to a site: its budget counts pages that are known, not only stored ones.
fn known_room(state: &ListState, site_budget: u64) -> u64 {
    if site_budget == 0 {
        return u64::MAX;
    }
    let limit = KNOWN_PER_BUDGET
        .saturating_mul(site_budget)
        .saturating_add(KNOWN_PER_STORED.saturating_mul(state.stored));
    limit.saturating_sub(state.pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CrawlRules, RecordContent};

    fn list(entries: usize) -> PageList {
        let url = |n| PageUrl::parse(&format!("http://a.example/{n}")).unwrap();
        PageList { entries: (0..entries).map(|n| (url(n), None)).collect(), is_index: false, bytes: 100 }
    }

    fn record(second: i64, hops: u32) -> LibraryRecord {
        let url = PageUrl::parse("http://a.example/sitemap.xml").unwrap();
        let content = RecordContent::Response(crate::RawResponse::default());
        LibraryRecord { hops, ..LibraryRecord::new(url, Timestamp::from_millis(second * 1000), content) }
    }

    /// Returns the number of admitted entries and the usage afterwards.
    fn admit(state: ListState, budget: u64, record: &LibraryRecord, list: &PageList) -> (usize, ListUsage) {
        let mut scope = CrawlScope::new(CrawlRules { site_budget: budget, ..CrawlRules::default() });
        scope.set_list_state(state);
        let admitted = admit_list(&mut scope, record, list);
        let CatalogChange::Listed { usage, .. } = &admitted.changes[0] else { panic!("no usage") };
        let ignored = list.entries.len() - admitted.entries.len();
        assert_eq!(admitted.changes.len(), 1 + usize::from(ignored > 0));
        (admitted.entries.len(), *usage)
    }

    #[test]
    fn lists_have_an_hourly_allowance() {
        let full = ListUsage { hour: 1, lists: 5, entries: MAX_ENTRIES - 3, bytes: 0 };
        let state = ListState { usage: full, ..ListState::default() };
        let (admitted, usage) = admit(state, 0, &record(3600, 0), &list(10));
        assert_eq!((admitted, usage.lists, usage.entries, usage.bytes), (3, 6, MAX_ENTRIES, 100));
        let (admitted, usage) = admit(ListState { usage, ..state }, 0, &record(7199, 0), &list(10));
        assert_eq!((admitted, usage.lists), (0, 7));
        let (admitted, usage) = admit(ListState { usage, ..state }, 0, &record(7200, 0), &list(10));
        assert_eq!((admitted, usage), (10, ListUsage { hour: 2, lists: 1, entries: 10, bytes: 100 }));
        for spent in [ListUsage { lists: MAX_LISTS, ..full }, ListUsage { bytes: MAX_BYTES, ..full }] {
            let spent = ListState { usage: ListUsage { entries: 0, ..spent }, ..state };
            assert_eq!(admit(spent, 0, &record(3600, 0), &list(10)).0, 0);
        }
    }

    #[test]
    fn the_budget_counts_known_pages() {
        let known = |pages, stored| ListState { pages, stored, ..ListState::default() };
        let admitted = |state, budget| admit(state, budget, &record(0, 0), &list(100)).0;
        assert_eq!(admitted(known(10, 0), 1), 40);
        assert_eq!(admitted(known(10, 5), 1), 90);
        assert_eq!(admitted(known(500, 5), 1), 0);
        assert_eq!(admitted(known(500, 5), 0), 100, "no limit");
    }

    #[test]
    fn chains_of_indexes_end() {
        let index = PageList { is_index: true, ..list(2) };
        for (hops, expected) in [(0, 2), (MAX_INDEX_CHAIN - 1, 2), (MAX_INDEX_CHAIN, 0), (u32::MAX, 0)] {
            assert_eq!(admit(ListState::default(), 0, &record(0, hops), &index).0, expected, "{hops}");
        }
        assert_eq!(admit(ListState::default(), 0, &record(0, MAX_INDEX_CHAIN), &list(2)).0, 2, "pages");
        let mut scope = CrawlScope::new(CrawlRules::default());
        assert_eq!(admit_list(&mut scope, &record(0, 1), &index).hops, 2);
        assert_eq!(admit_list(&mut scope, &record(0, 1), &list(1)).hops, 0);
    }
}
