//! A catalog laid open, to be compared with another.

use std::collections::HashSet;

use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_store::{
    Catalog, CatalogCounts, CrawlRules, DueOrder, PageStory, RobotsFile, SiteOrder, SiteQuery, SiteRow,
    Trouble, TroubleQuery, Version,
};

use crate::*;

/// All that a catalog tells, in an order that does not depend on how it came about.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    pub(crate) stories: Vec<(PageStory, Vec<Version>)>,
    counts: CatalogCounts,
    rules: Option<CrawlRules>,
    robots: Option<RobotsFile>,
    seeds: Vec<SiteName>,
    unvisited: Vec<(SiteName, Option<Timestamp>)>,
    sites: Vec<SiteRow>,
    troubles: Vec<Trouble>,
    removed: Vec<String>,
    due: [HashSet<PageUrl>; 3],
    next_due: Option<Timestamp>,
}

pub(crate) fn everything(catalog: &dyn Catalog) -> Everything {
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
    let mut stories: Vec<_> = catalog
        .pages(None, None, 10_000)
        .unwrap()
        .into_iter()
        .map(|story| (story.clone(), catalog.versions(story.url.id()).unwrap()))
        .collect();
    stories.sort_by(|a, b| a.0.url.cmp(&b.0.url));
    let counts = catalog.counts().unwrap();
    let visible = stories.iter().filter(|(story, _)| story.state != PageState::Removed).count();
    assert_eq!(counts.pages, visible as u64);
    for (story, versions) in &stories {
        assert_eq!(catalog.page(story.url.id()).unwrap().as_ref(), Some(story));
        assert_eq!(story.visits as usize, versions.len());
    }
    let mut seeds = catalog.seed_sites().unwrap();
    seeds.sort();
    let mut unvisited = catalog.longest_unvisited(100).unwrap();
    assert!(unvisited.is_sorted_by_key(|(_, visited_at)| *visited_at));
    unvisited.sort();
    let by_name = SiteQuery { order: SiteOrder::Name, limit: 100, ..SiteQuery::default() };
    let sites = catalog.list_sites(&by_name).unwrap();
    assert_eq!(sites.total, sites.rows.len() as u64);
    let mut troubles = catalog.troubles(&TroubleQuery { limit: 10_000, ..TroubleQuery::default() }).unwrap();
    assert!(troubles.is_sorted_by(|a, b| a.at >= b.at));
    assert_eq!(troubles.len() as u64, counts.failed + counts.refused);
    troubles.sort_by(|a, b| a.url.cmp(&b.url));
    let mut removed: Vec<String> = catalog.removed().unwrap().iter().map(|r| format!("{r:?}")).collect();
    removed.sort();
    let due = [0, 5, 100].map(|now| {
        let sites = catalog.due_sites(at(now)).unwrap();
        let pages =
            sites.iter().flat_map(|site| catalog.due_pages(*site, at(now), DueOrder::Nearest, 1000).unwrap());
        pages.map(|page| page.url).collect()
    });
    Everything {
        stories,
        counts,
        rules: catalog.rules().unwrap(),
        robots: catalog.robots(&url("/robots.txt")).unwrap(),
        seeds,
        unvisited,
        sites: sites.rows,
        troubles,
        removed,
        due,
        next_due: catalog.next_due(at(3)).unwrap(),
    }
}
