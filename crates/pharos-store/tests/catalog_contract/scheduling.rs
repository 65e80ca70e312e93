//! Checks of the order and the times at which pages are due.

use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_store::catalog::RefreshIntervals;

use crate::*;

pub(super) fn pages_come_due_breadth_first_and_once(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let site = url("/").site();
    let applied =
        catalog.apply(&[seed("/", 0), found("/deep", 3), found("/near", 1)], &position(10).into()).unwrap();
    assert_eq!(applied, ApplyResult { due_sites: vec![site.id()], outdated: vec![] });
    assert_eq!(due(&*catalog, 100), ["/", "/near", "/deep"]);
    let again = catalog.apply(&[found("/near", 1), found("/near", 2)], &position(11).into()).unwrap();
    assert_eq!(again, ApplyResult::default(), "known already");
    catalog.apply(&[answered("/", 2, 5), found("/", 0)], &position(12).into()).unwrap();
    assert_eq!(due(&*catalog, 100), ["/near", "/deep"]);
    assert_eq!(catalog.apply(&[found("/deep", 0)], &position(13).into()).unwrap().due_sites, [site.id()]);
    assert_eq!(due(&*catalog, 100), ["/deep", "/near"], "the shorter path is kept");
    assert_eq!(catalog.applied_positions().unwrap(), position(13).into());
    assert_eq!(catalog.seed_sites().unwrap(), std::slice::from_ref(&site));
    assert_eq!(catalog.due_sites(at(100)).unwrap(), [site.id()]);
    // Scheduled pages are returned among the others, in the same order, once they are due.
    catalog.apply(&[failed("/deep", 20, 1, Some(at(50))), found("/x", 2)], &position(14).into()).unwrap();
    assert_eq!(due(&*catalog, 49), ["/near", "/x"]);
    assert_eq!(due(&*catalog, 50), ["/deep", "/near", "/x"]);
    assert_eq!(catalog.due_pages(site.id(), at(50), DueOrder::Nearest, 2).unwrap().len(), 2);
    catalog.apply(&[answered("/near", 21, 15), answered("/x", 21, 16)], &position(17).into()).unwrap();
    assert_eq!(catalog.due_sites(at(49)).unwrap(), []);
    assert_eq!(catalog.due_sites(at(50)).unwrap(), [site.id()]);
    assert_eq!((catalog.next_due(at(0)).unwrap(), catalog.next_due(at(50)).unwrap()), (Some(at(50)), None));
}

pub(super) fn failures_are_scheduled_and_reported(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [found("/a", 1), found("/b", 1), failed("/a", 2, 1, Some(at(500))), refused("/b", 2)];
    catalog.apply(&changes, &position(1).into()).unwrap();
    assert_eq!(due(&*catalog, 100), Vec::<String>::new());
    assert_eq!(catalog.next_due(at(100)).unwrap(), Some(at(500)));
    let a = report(&*catalog, "/a");
    assert_eq!((a.state, a.reason.as_deref(), a.attempts), (PageState::Failed, Some("timed out"), 1));
    assert_eq!((a.anchor.as_str(), a.found_at, a.visited_at), ("words", at(1), Some(at(2))));
    assert_eq!(report(&*catalog, "/b").state, PageState::Refused);
    let expected = CatalogCounts {
        sites: 1,
        sites_visited: 1,
        sites_refused: 1,
        pages: 2,
        failed: 1,
        refused: 1,
        ..Default::default()
    };
    assert_eq!(catalog.counts().unwrap(), expected);
    assert_eq!(catalog.page(url("/none").id()).unwrap(), None);
    // A response is kept when a later visit fails.
    let unwell = failed("/a", 9, 1, Some(at(20)));
    catalog.apply(&[answered("/a", 8, 2), unwell, found("/w", 3)], &position(3).into()).unwrap();
    let a = report(&*catalog, "/a");
    assert_eq!((a.state, a.status, a.indexable, a.due), (PageState::Stored, Some(200), true, Some(at(20))));
    assert_eq!((a.digest, a.visits, a.visited_at), (Some(u64::MAX - 2), 1, Some(at(9))));
    let w = report(&*catalog, "/w");
    assert_eq!((w.state, w.due), (PageState::Waiting, Some(at(1))));
    let sites = catalog.sites(5).unwrap();
    assert_eq!((sites.len(), sites[0].pages, sites[0].stored), (1, 3, 1));
}

pub(super) fn adding_a_seed_again_retries_it(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [
        failed("/failed", 2, 3, None),
        refused("/refused", 2),
        visited("/missing", 2, answer(404, 1), None),
        answered("/well", 2, 2),
        deleted("/gone", 2),
    ];
    catalog.apply(&changes, &position(3).into()).unwrap();
    assert_eq!(due(&*catalog, 100), Vec::<String>::new());
    let redirected =
        CatalogChange::Seed { url: url("/failed"), at: at(5), hops: 1, origin: None, stale_before: None };
    assert_eq!(catalog.apply(&[redirected], &position(4).into()).unwrap().due_sites, []);
    let named = ["/failed", "/refused", "/missing", "/well", "/gone"].map(|path| seed(path, 6));
    assert_eq!(catalog.apply(&named, &position(5).into()).unwrap().due_sites.len(), 1);
    let again: HashSet<String> = due(&*catalog, 100).into_iter().collect();
    assert_eq!(again, ["/failed", "/refused", "/missing", "/gone"].map(String::from).into());
    assert_eq!(report(&*catalog, "/failed").attempts, 0);
    // An old capture that arrives later does not make the last visit a success.
    catalog
        .apply(&[failed("/late", 2, 1, None), answered("/late", 1, 6), seed("/late", 6)], &position(7).into())
        .unwrap();
    assert_eq!(
        (report(&*catalog, "/late").state, report(&*catalog, "/late").due),
        (PageState::Stored, Some(at(6)))
    );
}

pub(super) fn the_least_recently_visited_sites_come_first(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let page = |host: &str, path: &str| PageUrl::parse(&format!("http://{host}{path}")).unwrap();
    let visit = |host: &str, path: &str, seconds, outcome| CatalogChange::Visited {
        url: page(host, path),
        at: at(seconds),
        outcome,
        next_due: None,
    };
    let refusal = VisitOutcome::Refused { reason: "robots.txt".into() };
    let failure = VisitOutcome::Failed { reason: "timed out".into(), attempt: 1 };
    let changes = [
        visit("late.example", "/", 30, answer(200, 1)),
        visit("early.example", "/", 10, answer(200, 2)),
        visit("between.example", "/", 20, failure),
        visit("late.example", "/old", 5, answer(200, 3)),
        visit("never.example", "/", 40, refusal),
    ];
    catalog.apply(&changes, &position(4).into()).unwrap();
    let site = |host: &str, seconds: Option<i64>| (page(host, "/").site(), seconds.map(at));
    let expected = [
        site("never.example", None),
        site("early.example", Some(10)),
        site("between.example", Some(20)),
        site("late.example", Some(30)),
    ];
    assert_eq!(catalog.least_recently_visited(9).unwrap(), expected);
    assert_eq!(catalog.least_recently_visited(2).unwrap(), expected[..2]);
    catalog.apply(&[visit("early.example", "/", 50, answer(200, 5))], &position(6).into()).unwrap();
    assert_eq!(catalog.least_recently_visited(9).unwrap()[3], site("early.example", Some(50)));
}

fn paths(pages: &[pharos_store::catalog::DuePage]) -> Vec<&str> {
    pages.iter().map(|p| p.url.path_and_query()).collect()
}

pub(super) fn due_pages_come_in_the_requested_order(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let found = |path: &str, depth, weight, seconds| {
        CatalogChange::Found(DiscoveredLink { weight, ..DiscoveredLink::new(url(path), depth, at(seconds)) })
    };
    let changes = [
        found("/a", 1, 10, 1),
        found("/b", 1, 30, 2),
        found("/c", 2, 20, 3),
        found("/d", 3, 30, 4),
        seed("/e", 5),
    ];
    catalog.apply(&changes, &position(1).into()).unwrap();
    // Scheduled, and therefore among the others.
    catalog.apply(&[visited("/e", 6, answer(200, 2), Some(at(7)))], &position(2).into()).unwrap();
    let site = url("/").site().id();
    let due = |order, limit| {
        let pages = catalog.due_pages(site, at(9), order, limit).unwrap();
        paths(&pages).iter().map(|p| p.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(due(DueOrder::Nearest, 9), ["/e", "/a", "/b", "/c", "/d"]);
    assert_eq!(due(DueOrder::Deepest, 9), ["/d", "/c", "/b", "/a", "/e"]);
    assert_eq!(due(DueOrder::Heaviest, 9), ["/b", "/d", "/c", "/a", "/e"]);
    assert_eq!(due(DueOrder::Heaviest, 2), ["/b", "/d"]);
    let mut firsts: Vec<String> = (0..64u64).flat_map(|n| due(DueOrder::Random(n << 58), 1)).collect();
    assert_eq!(due(DueOrder::Random(7), 9).len(), 5, "a sample of all is all");
    firsts.sort();
    firsts.dedup();
    assert!(firsts.len() > 1, "another seed gives another sample: {firsts:?}");
    let page = catalog.due_pages(site, at(9), DueOrder::Nearest, 1).unwrap().remove(0);
    assert!(page.visited && page.validators.is_empty());
}

pub(super) fn stale_pages_are_due_again(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    catalog.apply(&[visited("/", 10, answer(200, 1), Some(at(500)))], &position(2).into()).unwrap();
    let listed = |seconds| {
        CatalogChange::Found(DiscoveredLink {
            stale_before: Some(at(seconds)),
            ..DiscoveredLink::new(url("/"), 1, at(20))
        })
    };
    assert_eq!(catalog.apply(&[listed(10)], &position(3).into()).unwrap().due_sites, []);
    assert!(due(&*catalog, 499).is_empty());
    assert_eq!(catalog.apply(&[listed(11)], &position(4).into()).unwrap().due_sites, [url("/").site().id()]);
    assert_eq!(due(&*catalog, 20), ["/"]);
    catalog.apply(&[answered("/", 30, 5)], &position(6).into()).unwrap();
    assert_eq!(catalog.apply(&[listed(11)], &position(7).into()).unwrap().due_sites, [], "visited since");
}

pub(super) fn back_offs_are_respected(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let site = url("/").site();
    let until = |seconds| CatalogChange::BackOff { site: site.clone(), at: at(1), until: at(seconds) };
    catalog.apply(&[found("/a", 1), until(50), until(40)], &position(1).into()).unwrap();
    assert_eq!((catalog.due_sites(at(49)).unwrap(), due(&*catalog, 49)), (vec![], vec![]));
    assert_eq!(catalog.next_due(at(10)).unwrap(), Some(at(50)));
    assert_eq!(
        (catalog.due_sites(at(50)).unwrap(), due(&*catalog, 50)),
        (vec![site.id()], vec!["/a".into()])
    );
    assert_eq!(catalog.site(site.id()).unwrap().unwrap().not_before, Some(at(50)));
}

pub(super) fn mirrors_are_not_fetched(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let page = |text: &str| PageUrl::parse(text).unwrap();
    let waiting = |text: &str| CatalogChange::Found(DiscoveredLink::new(page(text), 2, at(1)));
    let (http, https) = (page("http://example.org/"), page("https://example.org/"));
    let changes = [waiting("http://example.org/a"), waiting("https://example.org/b")];
    catalog.apply(&changes, &position(1).into()).unwrap();
    catalog
        .apply(&[CatalogChange::Alias { home: http.clone(), of: https.clone() }], &position(2).into())
        .unwrap();
    let due = catalog.due_pages(http.site().id(), at(9), DueOrder::Nearest, 1).unwrap();
    assert_eq!(due.len(), 1, "pages that are not fetched do not hide the others");
    let mut due: Vec<String> = catalog
        .due_pages(http.site().id(), at(9), DueOrder::Nearest, 9)
        .unwrap()
        .iter()
        .map(|p| p.url.to_string())
        .collect();
    due.sort();
    assert_eq!(due, ["https://example.org/a", "https://example.org/b"]);
    assert_eq!(catalog.aliases().unwrap(), [(http, https.clone())]);
    let other = page("https://copy.example/");
    catalog.apply(&[waiting("https://copy.example/c")], &position(3).into()).unwrap();
    let alias = CatalogChange::Alias { home: other.clone(), of: https.clone() };
    assert_eq!(catalog.apply(&[alias], &position(4).into()).unwrap().due_sites, [https.site().id()]);
    assert_eq!(catalog.due_pages(other.site().id(), at(9), DueOrder::Nearest, 9).unwrap(), []);
    assert_eq!(catalog.due_sites(at(9)).unwrap(), [https.site().id()]);
    assert_eq!(catalog.due_pages(https.site().id(), at(9), DueOrder::Nearest, 9).unwrap().len(), 3);
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
}

pub(super) fn pages_dated_in_the_future_are_due(path: &Path, open: Open<'_>) {
    const DAY: i64 = 86_400;
    let catalog = open(path);
    let live = |path: &str, seconds: i64, offset| {
        let VisitOutcome::Responded(response) = answer(200, offset) else { panic!("no response") };
        let outcome = VisitOutcome::Responded(ResponseSummary { is_live: true, ..response });
        visited(path, seconds, outcome, Some(at(seconds + 7 * DAY)))
    };
    let future = 3650 * DAY;
    let back_off = CatalogChange::BackOff { site: url("/").site(), at: at(future), until: at(future + 3600) };
    let changes = [seed("/", 1), live("/", future, 10), live("/right", DAY, 20), back_off];
    catalog.apply(&changes, &position(30).into()).unwrap();
    let site = url("/").site().id();
    let due = |seconds: i64| {
        let pages = catalog.due_pages(site, at(seconds), DueOrder::Nearest, 9).unwrap();
        let random = catalog.due_pages(site, at(seconds), DueOrder::Random(7), 9).unwrap();
        assert_eq!(pages.len(), random.len());
        assert_eq!(!pages.is_empty(), !catalog.due_sites(at(seconds)).unwrap().is_empty());
        pages.iter().map(|page| page.url.path_and_query().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(due(2 * DAY), ["/"], "the clock was wrong");
    let failure = VisitOutcome::Failed { reason: "timed out".into(), attempt: 1 };
    catalog.apply(&[visited("/", 2 * DAY, failure, Some(at(2 * DAY + 60)))], &position(40).into()).unwrap();
    assert!(due(2 * DAY + 1).is_empty(), "a failed attempt is not repeated at once");
    catalog.apply(&[live("/", 2 * DAY + 60, 50)], &position(60).into()).unwrap();
    assert!(due(2 * DAY + 61).is_empty());
    assert_eq!(due(2 * DAY + 60 + 7 * DAY), ["/", "/right"]);
    let page = catalog.page(url("/").id()).unwrap().unwrap();
    assert_eq!((page.position, page.visited_at), (Some(position(50)), Some(at(2 * DAY + 60))));
    let versions = catalog.versions(url("/").id()).unwrap();
    assert_eq!(
        versions.iter().map(|version| version.position).collect::<Vec<_>>(),
        [position(50), position(10)]
    );
    // An import of an old capture is still only a version.
    catalog.apply(&[answered("/right", -DAY, 70)], &position(80).into()).unwrap();
    assert_eq!(catalog.page(url("/right").id()).unwrap().unwrap().position, Some(position(20)));
}

pub(crate) fn changed_refresh_intervals_apply_to_known_pages(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let config = |refresh: u64, home: u64| CrawlConfig {
        refresh: Duration::from_secs(refresh),
        refresh_home: Duration::from_secs(home),
        refresh_hub: Duration::from_secs(50),
        refresh_feed: Duration::from_secs(20),
        refresh_at_most_every: Duration::from_secs(10),
        ..CrawlConfig::default()
    };
    let set = |refresh, home| {
        catalog.set_refresh_intervals(&RefreshIntervals::from_config(&config(refresh, home))).unwrap()
    };
    assert_eq!(set(100, 100), 0, "no page is known");
    let changes = [
        visited("/", 1_000, answer(200, 1), Some(at(1_100))),
        visited("/page", 1_000, answer(200, 2), Some(at(1_100))),
        visited("/hub", 1_000, answer(200, 3), Some(at(1_050))),
        visited("/broken", 1_000, answer(500, 4), Some(at(1_100))),
        visited("/never", 1_000, answer(200, 5), None),
    ];
    catalog.apply(&changes, &position(9).into()).unwrap();
    let due = |path: &str| report(&*catalog, path).due;
    assert_eq!(set(100, 100), 0, "unchanged");
    assert_eq!(set(1, 100), 1);
    assert_eq!((due("/page"), due("/")), (Some(at(1_010)), Some(at(1_100))), "never more often than allowed");
    assert_eq!((due("/hub"), due("/broken"), due("/never")), (Some(at(1_050)), Some(at(1_100)), None));
    drop(catalog);
    // The intervals are remembered across restarts.
    let catalog = open(path);
    let intervals = RefreshIntervals::from_config(&config(500, 0));
    assert_eq!(catalog.set_refresh_intervals(&intervals).unwrap(), 2);
    assert_eq!((report(&*catalog, "/page").due, report(&*catalog, "/").due), (Some(at(1_500)), None));
}
