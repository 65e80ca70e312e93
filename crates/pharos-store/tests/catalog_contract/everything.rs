//! The complete content of a catalog, for comparisons.

use std::collections::HashSet;

use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_store::catalog::{
    Catalog, CatalogCounts, CrawlRules, DueOrder, PageDetails, PageFailure, PageFailureQuery, PageVersion,
    RobotsFile, SiteOrder, SiteQuery, SiteRow,
};

use crate::*;

/// The complete content of a catalog, in an order independent of its history.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    pub(crate) reports: Vec<(PageDetails, Vec<PageVersion>)>,
    counts: CatalogCounts,
    rules: Option<CrawlRules>,
    robots: Option<RobotsFile>,
    seeds: Vec<SiteName>,
    unvisited: Vec<(SiteName, Option<Timestamp>)>,
    sites: Vec<SiteRow>,
    failures: Vec<PageFailure>,
    removed: Vec<String>,
    due: [HashSet<PageUrl>; 3],
    next_due: Option<Timestamp>,
}

pub(crate) fn everything(catalog: &dyn Catalog) -> Everything {
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
    let mut reports: Vec<_> = catalog
        .pages(None, None, 10_000)
        .unwrap()
        .into_iter()
        .map(|report| (report.clone(), catalog.versions(report.url.id()).unwrap()))
        .collect();
    reports.sort_by(|a, b| a.0.url.cmp(&b.0.url));
    let counts = catalog.counts().unwrap();
    let visible = reports.iter().filter(|(report, _)| report.state != PageState::Removed).count();
    assert_eq!(counts.pages, visible as u64);
    for (report, versions) in &reports {
        assert_eq!(catalog.page(report.url.id()).unwrap().as_ref(), Some(report));
        assert_eq!(report.visits as usize, versions.len());
    }
    let mut seeds = catalog.seed_sites().unwrap();
    seeds.sort();
    let mut unvisited = catalog.least_recently_visited(100).unwrap();
    assert!(unvisited.is_sorted_by_key(|(_, visited_at)| *visited_at));
    unvisited.sort();
    let by_name = SiteQuery { order: SiteOrder::Name, limit: 100, ..SiteQuery::default() };
    let sites = catalog.list_sites(&by_name).unwrap();
    assert_eq!(sites.total, sites.rows.len() as u64);
    let mut failures =
        catalog.failures(&PageFailureQuery { limit: 10_000, ..PageFailureQuery::default() }).unwrap();
    assert!(failures.is_sorted_by(|a, b| a.at >= b.at));
    assert!(failures.len() as u64 >= counts.failed + counts.refused);
    failures.sort_by(|a, b| a.url.cmp(&b.url));
    let mut removed: Vec<String> = catalog.removed().unwrap().iter().map(|r| format!("{r:?}")).collect();
    removed.sort();
    let due = [0, 5, 100].map(|now| {
        let sites = catalog.due_sites(at(now)).unwrap();
        let pages =
            sites.iter().flat_map(|site| catalog.due_pages(*site, at(now), DueOrder::Nearest, 1000).unwrap());
        pages.map(|page| page.url).collect()
    });
    Everything {
        reports,
        counts,
        rules: catalog.rules().unwrap(),
        robots: catalog.robots(&url("/robots.txt")).unwrap(),
        seeds,
        unvisited,
        sites: sites.rows,
        failures,
        removed,
        due,
        next_due: catalog.next_due(at(3)).unwrap(),
    }
}
