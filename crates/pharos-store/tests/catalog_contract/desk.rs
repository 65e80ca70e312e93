//! Queries of the operator's desk.

use pharos_store::catalog::{
    PageFailure, PageFailureQuery, PageProblem, SiteOrder, SiteQuery, SiteRow, SiteState, UnsearchableCounts,
};

use crate::*;

fn at_site(host: &str, path: &str) -> PageUrl {
    PageUrl::parse(&format!("http://{host}{path}")).unwrap()
}

fn visit(url: PageUrl, seconds: i64, outcome: VisitOutcome) -> CatalogChange {
    CatalogChange::Visited { url, at: at(seconds), outcome, next_due: None }
}

fn failure(reason: &str) -> VisitOutcome {
    VisitOutcome::Failed { reason: reason.into(), attempt: 1 }
}

fn refusal(reason: &str) -> VisitOutcome {
    VisitOutcome::Refused { reason: reason.into() }
}

fn wanting(state: Option<SiteState>, order: SiteOrder) -> SiteQuery {
    SiteQuery { state, order, limit: 100, ..SiteQuery::default() }
}

pub(crate) fn sites_are_filtered_and_sorted(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let found =
        |host: &str, path: &str| CatalogChange::Found(DiscoveredLink::new(at_site(host, path), 1, at(1)));
    let seed = at_site("alpha.example", "/");
    let changes = [
        CatalogChange::Seed { url: seed.clone(), at: at(1), hops: 0, origin: None, stale_before: None },
        visit(seed.clone(), 10, answer(200, 1)),
        found("alpha.example", "/1"),
        found("alpha.example", "/2"),
        visit(at_site("beta.example", "/"), 30, failure("timed out")),
        visit(at_site("beta.example", "/2"), 20, failure("timed out")),
        visit(at_site("gamma.example", "/"), 40, refusal("robots.txt: /")),
        visit(at_site("delta.example:8080", "/"), 50, answer(404, 2)),
        CatalogChange::Deleted { url: at_site("delta.example:8080", "/x"), at: at(5) },
        CatalogChange::BackOff { site: at_site("delta.example:8080", "/").site(), at: at(50), until: at(99) },
        found("copy.example", "/"),
        found("xn--fiqs8s.example", "/"),
        CatalogChange::Removed(Removal::Site(at_site("removed.example", "/").site())),
        CatalogChange::Alias { home: at_site("copy.example", "/"), of: seed.clone() },
        // The same content under the other scheme only.
        CatalogChange::Alias {
            home: at_site("beta.example", "/"),
            of: PageUrl::parse("https://beta.example/").unwrap(),
        },
    ];
    catalog.apply(&changes, &position(1).into()).unwrap();
    let names = |wanted: &SiteQuery| {
        let list = catalog.list_sites(wanted).unwrap();
        for row in &list.rows {
            assert_eq!(catalog.site_row(row.site.id()).unwrap().as_ref(), Some(row));
        }
        (
            list.rows
                .iter()
                .map(|row| row.site.host().split('.').next().unwrap().to_string())
                .collect::<Vec<_>>(),
            list.total,
        )
    };
    let listed =
        |names: &[&str]| (names.iter().map(ToString::to_string).collect::<Vec<_>>(), names.len() as u64);
    for (state, expected) in [
        (None, &["alpha", "beta", "copy", "delta", "gamma", "removed", "xn--fiqs8s"][..]),
        (Some(SiteState::Seed), &["alpha"]),
        (Some(SiteState::Found), &["beta", "copy", "delta", "gamma", "xn--fiqs8s"]),
        (Some(SiteState::Waiting), &["alpha", "xn--fiqs8s"]),
        (Some(SiteState::Failing), &["beta"]),
        (Some(SiteState::Refused), &["gamma"]),
        (Some(SiteState::BackingOff), &["delta"]),
        (Some(SiteState::Copy), &["copy"]),
        (Some(SiteState::Removed), &["removed"]),
    ] {
        assert_eq!(names(&wanting(state, SiteOrder::Name)), listed(expected), "{state:?}");
    }
    for (order, first) in [
        (SiteOrder::Pages, &["alpha", "beta", "delta", "copy"][..]),
        (SiteOrder::Stored, &["alpha", "delta", "beta", "copy"]),
        (SiteOrder::Failed, &["beta", "alpha", "copy", "delta"]),
        (SiteOrder::Waiting, &["alpha", "xn--fiqs8s", "beta", "copy"]),
        (SiteOrder::Visited, &["delta", "beta", "alpha", "copy"]),
    ] {
        assert_eq!(names(&wanting(None, order)).0[..4], *first, "{order:?}");
    }
    let part = |contains: &str, offset, limit| {
        let contains = contains.to_string();
        names(&SiteQuery { contains, offset, limit, order: SiteOrder::Name, state: None })
    };
    assert_eq!(part("ETA.ex", 0, 9), listed(&["beta"]));
    assert_eq!(part(":8080", 0, 9), listed(&["delta"]));
    assert_eq!(part("中国", 0, 9), listed(&["xn--fiqs8s"]));
    assert_eq!(part("100%", 0, 9), listed(&[]));
    assert_eq!(part("example", 2, 2), (listed(&["copy", "delta"]).0, 7));
    assert_eq!(part("example", 7, 2), (vec![], 7), "after the last");
    assert_eq!(part("example", 0, 0), (vec![], 7), "count only");
    let delta = at_site("delta.example:8080", "/").site();
    let expected = SiteRow {
        site: delta.clone(),
        seed: false,
        removed: false,
        copy: false,
        pages: 2,
        waiting: 0,
        stored: 1,
        indexable: 0,
        failed: 0,
        refused: 0,
        deleted: 1,
        visited_at: Some(at(50)),
        not_before: Some(at(99)),
    };
    assert_eq!(catalog.site_row(delta.id()).unwrap(), Some(expected));
    assert_eq!(catalog.site_row(at_site("unknown.example", "/").site().id()).unwrap(), None);
}

pub(crate) fn pages_under_the_other_scheme_do_not_wait(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let url = |address: &str| PageUrl::parse(address).unwrap();
    let found = |address: &str| CatalogChange::Found(DiscoveredLink::new(url(address), 1, at(1)));
    let of = url("https://twin.example/");
    let changes = [
        found("http://twin.example/a"),
        found("http://twin.example/b"),
        found("https://twin.example/b"),
        found("http://copy.example/c"),
        CatalogChange::Alias { home: url("http://twin.example/"), of: of.clone() },
        CatalogChange::Alias { home: url("http://copy.example/"), of },
    ];
    catalog.apply(&changes, &position(1).into()).unwrap();
    // Found after the comparison of both schemes.
    catalog.apply(&[found("http://twin.example/late")], &position(2).into()).unwrap();
    let row = |host: &str| catalog.site_row(at_site(host, "/").site().id()).unwrap().unwrap();
    // Waiting are /a, /b and /c under https.
    assert_eq!((row("twin.example").waiting, row("copy.example").waiting), (3, 0));
    let counts = catalog.counts().unwrap();
    assert_eq!((counts.pages, counts.waiting, counts.mirrored), (7, 3, 4));
    let waiting = catalog.list_sites(&wanting(Some(SiteState::Waiting), SiteOrder::Name)).unwrap();
    assert_eq!(waiting.total, 1);
}

fn places(failures: &[PageFailure]) -> Vec<String> {
    failures.iter().map(|t| t.url.as_str().trim_start_matches("http://").replace(".example", "")).collect()
}

pub(crate) fn failures_come_newest_first(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [
        visit(at_site("a.example", "/1"), 10, failure("timed out after 30 s")),
        CatalogChange::Visited {
            url: at_site("b.example", "/2"),
            at: at(20),
            outcome: VisitOutcome::Failed { reason: "Name not found".into(), attempt: 2 },
            next_due: Some(at(70)),
        },
        visit(at_site("a.example", "/3"), 30, refusal("robots.txt: /3")),
        visit(at_site("a.example", "/4"), 40, failure("timed out after 5 s")),
        // A stored page whose last visit failed.
        visit(at_site("a.example", "/stored"), 5, answer(200, 1)),
        visit(at_site("a.example", "/stored"), 6, failure("timed out after 5 s")),
        // These have not failed, or not any more.
        visit(at_site("b.example", "/better"), 10, failure("timed out after 5 s")),
        visit(at_site("b.example", "/better"), 80, answer(200, 2)),
        visit(at_site("b.example", "/removed"), 90, failure("timed out after 5 s")),
        CatalogChange::Removed(Removal::Page(at_site("b.example", "/removed"))),
        visit(at_site("c.example", "/"), 90, failure("timed out after 5 s")),
        CatalogChange::Removed(Removal::Site(at_site("c.example", "/").site())),
        visit(at_site("b.example", "/gone"), 15, refusal("robots.txt: /gone")),
        CatalogChange::Deleted { url: at_site("b.example", "/gone"), at: at(90) },
        CatalogChange::Found(DiscoveredLink::new(at_site("b.example", "/waiting"), 1, at(1))),
    ];
    catalog.apply(&changes, &position(3).into()).unwrap();
    let all = PageFailureQuery { limit: 10, ..PageFailureQuery::default() };
    let query = |wanted: &PageFailureQuery| places(&catalog.failures(wanted).unwrap());
    assert_eq!(query(&all), ["a/4", "a/3", "b/2", "a/1", "a/stored"]);
    let of_a = PageFailureQuery { site: Some(at_site("a.example", "/").site().id()), ..all.clone() };
    assert_eq!(query(&of_a), ["a/4", "a/3", "a/1", "a/stored"]);
    let failed =
        |query: &PageFailureQuery| PageFailureQuery { problem: Some(PageProblem::Failed), ..query.clone() };
    let refused =
        |query: &PageFailureQuery| PageFailureQuery { problem: Some(PageProblem::Refused), ..query.clone() };
    assert_eq!(
        (query(&failed(&all)), query(&refused(&all))),
        (vec!["a/4".into(), "b/2".into(), "a/1".into(), "a/stored".into()], vec!["a/3".into()])
    );
    assert_eq!(
        (query(&failed(&of_a)), query(&refused(&of_a))),
        (vec!["a/4".into(), "a/1".into(), "a/stored".into()], vec!["a/3".into()])
    );
    assert_eq!(
        query(&PageFailureQuery { problem: Some(PageProblem::NotFound), ..all.clone() }),
        Vec::<String>::new()
    );
    let nowhere = PageFailureQuery { site: Some(url("/").site().id()), ..all.clone() };
    assert_eq!(query(&nowhere), Vec::<String>::new());
    let saying =
        |text: &str, query: &PageFailureQuery| PageFailureQuery { contains: text.into(), ..query.clone() };
    assert_eq!(query(&saying("TIMED", &all)), ["a/4", "a/1", "a/stored"]);
    assert_eq!(query(&saying("name", &all)), ["b/2"]);
    assert_eq!(query(&saying("name", &of_a)), Vec::<String>::new());
    assert_eq!(query(&PageFailureQuery { limit: 1, ..saying("timed", &all) }), ["a/4"]);
    assert_eq!(query(&PageFailureQuery { limit: 0, ..all.clone() }), Vec::<String>::new());
    let b = &catalog.failures(&saying("name", &all)).unwrap()[0];
    let expected = PageFailure {
        url: at_site("b.example", "/2"),
        problem: PageProblem::Failed,
        is_seed: true,
        reason: "Name not found".into(),
        attempts: 2,
        at: at(20),
        due: Some(at(70)),
    };
    assert_eq!(*b, expected);
    let reasons = catalog.failure_reasons(100).unwrap();
    let count = |reason: &str, count| (reason.to_string(), count);
    assert_eq!(
        reasons,
        [count("timed out after # s", 3), count("Name not found", 1), count("robots.txt: …", 1)]
    );
    assert_eq!(
        catalog.failure_reasons(2).unwrap(),
        [count("robots.txt: …", 1), count("timed out after # s", 1)]
    );
    assert_eq!(catalog.failure_reasons(0).unwrap(), []);
    // Removing a site removes its failures.
    catalog
        .apply(
            &[CatalogChange::Removed(Removal::Site(at_site("a.example", "/").site()))],
            &position(4).into(),
        )
        .unwrap();
    assert_eq!(query(&all), ["b/2"]);
}

pub(crate) fn failures_are_paged_to_the_end(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    // Many failures at the same time, on several sites.
    let changes: Vec<CatalogChange> = (0..60)
        .map(|n| {
            let url = at_site(&format!("site-{}.example", n % 4), &format!("/{n}"));
            let outcome =
                if n % 3 == 0 { refusal("robots.txt") } else { failure(&format!("reason {}", n % 2)) };
            visit(url, n / 25, outcome)
        })
        .collect();
    catalog.apply(&changes, &position(1).into()).unwrap();
    let walk = |query: PageFailureQuery| {
        let mut met: Vec<PageFailure> = Vec::new();
        loop {
            let before = met.last().map(|t| (t.at, t.url.id()));
            let part = catalog.failures(&PageFailureQuery { before, limit: 7, ..query.clone() }).unwrap();
            if part.is_empty() {
                break;
            }
            met.extend(part);
        }
        assert!(met.iter().is_sorted_by(|a, b| a.at >= b.at));
        let different: HashSet<&str> = met.iter().map(|t| t.url.as_str()).collect();
        assert_eq!(different.len(), met.len());
        met.len()
    };
    let site = Some(at_site("site-1.example", "/").site().id());
    assert_eq!(walk(PageFailureQuery::default()), 60);
    assert_eq!(walk(PageFailureQuery { site, ..PageFailureQuery::default() }), 15);
    assert_eq!(
        walk(PageFailureQuery { problem: Some(PageProblem::Refused), ..PageFailureQuery::default() }),
        20
    );
    assert_eq!(
        walk(PageFailureQuery { site, problem: Some(PageProblem::Failed), ..PageFailureQuery::default() }),
        10
    );
    assert_eq!(walk(PageFailureQuery { contains: "reason 1".into(), ..PageFailureQuery::default() }), 20);
}

pub(crate) fn quarantined_pages_are_stored_and_listed(path: &Path, open: Open<'_>) {
    let reason = "analysis abandoned: took too long";
    let response = |place, quarantine: Option<&str>| {
        VisitOutcome::Responded(ResponseSummary {
            status: 200,
            position: position(place),
            digest: place,
            indexable: quarantine.is_none(),
            quarantine: quarantine.map(str::to_string),
            ..ResponseSummary::default()
        })
    };
    let changes = [
        visited("/hostile", 5, response(1, Some(reason)), Some(at(900))),
        visited("/good", 5, response(2, None), Some(at(900))),
    ];
    open(path).apply(&changes, &position(2).into()).unwrap();
    // The state survives a restart.
    let catalog = open(path);
    let listed = || {
        let query = PageFailureQuery {
            problem: Some(PageProblem::Quarantined),
            limit: 10,
            ..PageFailureQuery::default()
        };
        let failures = catalog.failures(&query).unwrap();
        failures.into_iter().map(|failure| (failure.url, failure.reason)).collect::<Vec<_>>()
    };
    assert_eq!(listed(), [(url("/hostile"), reason.to_string())]);
    assert_eq!(catalog.failure_reasons(10).unwrap(), [(reason.to_string(), 1)]);
    let counts = catalog.counts().unwrap();
    assert_eq!((counts.stored, counts.failed, counts.waiting, counts.indexable), (2, 0, 0, 1));
    let details = catalog.page(url("/hostile").id()).unwrap().unwrap();
    assert_eq!((details.state, details.due), (PageState::Quarantined, Some(at(900))));
    // A failed attempt changes nothing, a version that can be analysed ends it.
    catalog.apply(&[failed("/hostile", 6, 1, None)], &position(3).into()).unwrap();
    assert_eq!(catalog.page(url("/hostile").id()).unwrap().unwrap().state, PageState::Quarantined);
    catalog.apply(&[visited("/hostile", 7, response(3, None), None)], &position(4).into()).unwrap();
    assert_eq!(catalog.page(url("/hostile").id()).unwrap().unwrap().state, PageState::Stored);
    assert_eq!(listed(), []);
    assert_eq!(catalog.counts().unwrap().indexable, 2);
}

pub(crate) fn error_responses_are_problems(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let responded = |status, place, indexable| {
        VisitOutcome::Responded(ResponseSummary {
            status,
            position: position(place),
            indexable,
            is_live: true,
            links: 1,
            ..ResponseSummary::default()
        })
    };
    let changes = [
        found("/missing", 2),
        visited("/missing", 5, responded(404, 1, false), None),
        visited("/denied", 6, responded(403, 2, false), None),
        visited("/broken", 7, responded(500, 3, false), None),
        visited("/moved", 8, responded(301, 4, false), None),
        visited("/good", 9, responded(200, 5, true), None),
        visited("/noindex", 10, responded(200, 6, false), None),
        visited("/excluded", 11, responded(200, 7, true), None),
        visited("/excluded", 12, refusal("matches `*` of crawl.exclude"), None),
        visited("/better", 13, responded(503, 8, false), None),
        visited("/better", 14, responded(200, 9, true), None),
    ];
    catalog.apply(&changes, &position(99).into()).unwrap();
    let all = PageFailureQuery { limit: 10, ..PageFailureQuery::default() };
    let listed = |query: &PageFailureQuery| {
        let failures = catalog.failures(query).unwrap();
        failures
            .into_iter()
            .map(|f| (f.url.path_and_query().to_string(), f.problem, f.reason))
            .collect::<Vec<_>>()
    };
    let row = |path: &str, problem, reason: &str| (path.to_string(), problem, reason.to_string());
    let expected = [
        row("/excluded", PageProblem::Refused, "matches `*` of crawl.exclude"),
        row("/broken", PageProblem::ServerError, "status 500"),
        row("/denied", PageProblem::Denied, "status 403"),
        row("/missing", PageProblem::NotFound, "status 404"),
    ];
    assert_eq!(listed(&all), expected);
    // Pages that were named by an operator, or imported, have depth 0.
    let seeds = PageFailureQuery { seeds_only: true, ..all.clone() };
    assert_eq!(listed(&seeds), expected[..3]);
    let counts = catalog.unsearchable().unwrap();
    let expected = UnsearchableCounts {
        not_found: 1,
        denied: 1,
        server_errors: 1,
        moved: 1,
        refused: 1,
        without_text: 1,
        ..UnsearchableCounts::default()
    };
    assert_eq!(counts, expected);
    assert_eq!(catalog.counts().unwrap().stored, 8);
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
}

pub(crate) fn a_seed_that_leads_nowhere_is_a_problem(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let responded = |place, links, indexable| {
        let response =
            ResponseSummary { status: 200, is_live: true, links, indexable, ..ResponseSummary::default() };
        VisitOutcome::Responded(ResponseSummary { position: position(place), ..response })
    };
    let changes = [
        found("/deep", 3),
        visited("/deep", 5, responded(1, 0, false), None),
        visited("/empty", 6, responded(2, 0, false), None),
        visited("/hub", 7, responded(3, 4, false), None),
        visited("/text", 8, responded(4, 0, true), None),
    ];
    catalog.apply(&changes, &position(9).into()).unwrap();
    let all = PageFailureQuery { limit: 10, ..PageFailureQuery::default() };
    let failures = catalog.failures(&all).unwrap();
    let listed: Vec<_> = failures.iter().map(|f| (f.url.path_and_query(), f.problem)).collect();
    assert_eq!(listed, [("/empty", PageProblem::Empty)]);
}

pub(crate) fn any_page_can_be_a_fetch_task(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let validators = Validators { etag: Some("\"x\"".into()), last_modified: None };
    let answered =
        ResponseSummary { status: 200, position: position(1), validators, ..ResponseSummary::default() };
    let changes = [
        found("/waiting", 3),
        found("/stored", 2),
        visited("/stored", 5, VisitOutcome::Responded(answered), Some(at(900))),
        visited("/missing", 5, answer(404, 2), None),
        failed("/failed", 5, 2, None),
        removed("/removed"),
        CatalogChange::BackOff { site: url("/").site(), at: at(5), until: at(800) },
    ];
    catalog.apply(&changes, &position(3).into()).unwrap();
    let given = |path: &str| catalog.due_page(url(path).id()).unwrap();
    let stored = given("/stored").unwrap();
    assert_eq!((&stored.url, stored.depth, stored.visited, stored.exists), (&url("/stored"), 2, true, true));
    assert_eq!((stored.found_at, stored.validators.etag.as_deref()), (at(1), Some("\"x\"")));
    let missing = given("/missing").unwrap();
    assert_eq!((missing.visited, missing.exists), (true, false));
    assert_eq!(given("/failed").unwrap().attempts, 2);
    for page in ["/removed", "/unknown"] {
        assert_eq!(given(page), None, "{page}");
    }
    assert_eq!(catalog.due_page(at_site("unknown.example", "/").id()).unwrap(), None);
    // Only the crawl receives due pages.
    for page in catalog.due_pages(url("/").site().id(), at(1000), DueOrder::Nearest, 10).unwrap() {
        assert_eq!(catalog.due_page(page.url.id()).unwrap(), Some(page));
    }
    assert!(given("/waiting").is_some_and(|page| page.depth == 3));
}

/// Many sites have no icon.
pub(crate) fn a_missing_icon_is_no_problem(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [
        visit(url("/favicon.ico"), 10, answer(404, 1)),
        visit(url("/x"), 10, answer(404, 2)),
        visit(at_site("a.example", "/favicon.ico"), 20, refusal("robots.txt: /")),
    ];
    catalog.apply(&changes, &position(3).into()).unwrap();
    let all = PageFailureQuery { limit: 10, ..PageFailureQuery::default() };
    let listed: Vec<_> = catalog.failures(&all).unwrap().into_iter().map(|failure| failure.url).collect();
    assert_eq!(listed, [at_site("a.example", "/favicon.ico"), url("/x")]);
}
