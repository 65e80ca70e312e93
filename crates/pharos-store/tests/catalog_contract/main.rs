//! Conformance tests of the catalog: every implementation passes [`conforms`] unchanged.

#![allow(clippy::unwrap_used, reason = "tests")]

mod desk;
mod everything;
mod properties;
mod recrawl;
mod refresh;
mod removal;
mod scheduling;

use std::collections::HashSet;
use std::path::Path;

use pharos_core::config::LinkScope;
use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_store::LibraryPosition;
use pharos_store::catalog::{
    ApplyResult, Catalog, CatalogChange, CatalogCounts, CrawlRules, DiscoveredLink, DueOrder, PageDetails,
    PageState, PageVersion, Removal, ResponseSummary, RobotsFile, RobotsState, SqliteCatalog, Validators,
    VisitOutcome,
};

use desk::{
    a_missing_icon_is_no_problem, a_seed_that_leads_nowhere_is_a_problem, any_page_can_be_a_fetch_task,
    error_responses_are_problems, failures_are_paged_to_the_end, failures_come_newest_first,
    pages_under_the_other_scheme_do_not_wait, quarantined_pages_are_stored_and_listed,
    sites_are_filtered_and_sorted,
};
use everything::everything;
use properties::{batches_and_overlaps_make_no_difference, removals_win_in_any_order};
use recrawl::{a_page_can_be_recrawled, a_site_can_be_recrawled};
use refresh::{
    a_plan_is_applied_to_scheduled_pages_in_batches, a_plan_schedules_by_learned_change_rates,
    dead_links_are_counted_by_site, signals_count_as_far_as_their_site_can_be_trusted,
    wrong_clocks_have_a_bounded_effect_on_change_rates,
};
use removal::{
    a_deletion_before_a_temporary_error_holds, a_removed_page_stays_removed, a_removed_site_stays_removed,
    deleted_pages_return_with_a_later_response,
};
use scheduling::{
    adding_a_seed_again_retries_it, back_offs_are_respected, changed_refresh_intervals_apply_to_known_pages,
    due_pages_come_in_the_requested_order, failures_are_scheduled_and_reported, mirrors_are_not_fetched,
    pages_come_due_breadth_first_and_once, pages_dated_in_the_future_are_due, stale_pages_are_due_again,
    the_least_recently_visited_sites_come_first,
};

#[test]
fn sqlite_conforms() {
    conforms(&|path| Box::new(SqliteCatalog::open_writer(path).unwrap()));
}

/// Opens the catalog at a path for writing and creates it if necessary.
type Open<'o> = &'o dyn Fn(&Path) -> Box<dyn Catalog>;

/// Checks every guarantee of [`Catalog`].
fn conforms(open: &dyn Fn(&Path) -> Box<dyn Catalog>) {
    for check in [
        pages_come_due_breadth_first_and_once,
        applied_batches_change_nothing,
        each_log_has_its_own_position,
        failures_are_scheduled_and_reported,
        changed_refresh_intervals_apply_to_known_pages,
        adding_a_seed_again_retries_it,
        rules_and_robots_are_kept,
        a_visit_does_not_change_the_path_to_a_page,
        origins_belong_to_the_path,
        old_captures_are_versions_only,
        a_deletion_before_a_temporary_error_holds,
        deleted_pages_return_with_a_later_response,
        a_removed_page_stays_removed,
        a_removed_site_stays_removed,
        the_least_recently_visited_sites_come_first,
        paging_returns_every_page_once,
        ports_and_schemes_are_distinguished,
        changes_of_a_page_are_applied_in_order,
        a_closed_catalog_can_be_reopened,
        copies_are_catalogs,
        due_pages_come_in_the_requested_order,
        changes_and_new_links_are_counted,
        stale_pages_are_due_again,
        back_offs_are_respected,
        pages_dated_in_the_future_are_due,
        mirrors_are_not_fetched,
        pages_under_the_other_scheme_do_not_wait,
        links_to_a_page_add_to_its_weight,
        submissions_wait_for_a_decision,
        sites_are_filtered_and_sorted,
        failures_come_newest_first,
        failures_are_paged_to_the_end,
        any_page_can_be_a_fetch_task,
        quarantined_pages_are_stored_and_listed,
        error_responses_are_problems,
        a_missing_icon_is_no_problem,
        a_seed_that_leads_nowhere_is_a_problem,
        a_page_can_be_recrawled,
        a_site_can_be_recrawled,
        a_plan_schedules_by_learned_change_rates,
        a_plan_is_applied_to_scheduled_pages_in_batches,
        wrong_clocks_have_a_bounded_effect_on_change_rates,
        signals_count_as_far_as_their_site_can_be_trusted,
        dead_links_are_counted_by_site,
    ] {
        let dir = tempfile::tempdir().unwrap();
        check(&dir.path().join("catalog"), open);
    }
    batches_and_overlaps_make_no_difference(open);
    removals_win_in_any_order(open);
}

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("http://example.org{path}")).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn position(offset: u64) -> LibraryPosition {
    LibraryPosition::new(1, offset)
}

fn seed(path: &str, seconds: i64) -> CatalogChange {
    CatalogChange::Seed { url: url(path), at: at(seconds), hops: 0, origin: None, stale_before: None }
}

fn found(path: &str, depth: u32) -> CatalogChange {
    CatalogChange::Found(DiscoveredLink {
        anchor: "words".into(),
        ..DiscoveredLink::new(url(path), depth, at(1))
    })
}

fn visited(path: &str, seconds: i64, outcome: VisitOutcome, next_due: Option<Timestamp>) -> CatalogChange {
    CatalogChange::Visited { url: url(path), at: at(seconds), outcome, next_due }
}

fn answer(status: u16, offset: u64) -> VisitOutcome {
    let indexable = status == 200;
    // A digest with its highest bit set, outside the range of signed integers.
    let digest = u64::MAX - offset;
    VisitOutcome::Responded(ResponseSummary {
        status,
        position: position(offset),
        digest,
        indexable,
        ..ResponseSummary::default()
    })
}

fn answered(path: &str, seconds: i64, offset: u64) -> CatalogChange {
    visited(path, seconds, answer(200, offset), None)
}

fn failed(path: &str, seconds: i64, attempt: u32, next_due: Option<Timestamp>) -> CatalogChange {
    visited(path, seconds, VisitOutcome::Failed { reason: "timed out".into(), attempt }, next_due)
}

fn refused(path: &str, seconds: i64) -> CatalogChange {
    visited(path, seconds, VisitOutcome::Refused { reason: "robots.txt".into() }, None)
}

fn deleted(path: &str, seconds: i64) -> CatalogChange {
    CatalogChange::Deleted { url: url(path), at: at(seconds) }
}

fn removed(path: &str) -> CatalogChange {
    CatalogChange::Removed(Removal::Page(url(path)))
}

fn due(catalog: &dyn Catalog, seconds: i64) -> Vec<String> {
    let pages = catalog.due_pages(url("/").site().id(), at(seconds), DueOrder::Nearest, 10).unwrap();
    pages.iter().map(|p| p.url.path_and_query().to_string()).collect()
}

fn report(catalog: &dyn Catalog, path: &str) -> PageDetails {
    catalog.page(url(path).id()).unwrap().unwrap()
}

fn each_log_has_its_own_position(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let in_log = |log, offset| LibraryPosition { log, ..position(offset) };
    for log in [0, 600, 7] {
        catalog.apply(&[found(&format!("/{log}"), 1)], &in_log(log, 5).into()).unwrap();
    }
    let late = catalog.apply(&[found("/late", 1)], &in_log(7, 5).into()).unwrap();
    assert_eq!(late, ApplyResult::default(), "applied before");
    let both = [in_log(7, 4), in_log(600, 9)].into_iter().collect();
    catalog.apply(&[found("/both", 1), answer_at(in_log(7, 3)), answer_at(in_log(600, 8))], &both).unwrap();
    drop(catalog);
    let catalog = open(path);
    let applied: Vec<_> = catalog.applied_positions().unwrap().iter().collect();
    assert_eq!(applied, [in_log(0, 5), in_log(7, 5), in_log(600, 9)]);
    let mut waiting = due(&*catalog, 100);
    waiting.sort();
    assert_eq!(waiting, ["/0", "/600", "/7"]);
    let versions = catalog.versions(url("/both").id()).unwrap();
    let positions: Vec<_> = versions.iter().map(|version| version.position).collect();
    assert_eq!(positions, [in_log(600, 8), in_log(7, 3)], "equal times are ordered by log");
    assert_eq!(report(&*catalog, "/both").position, Some(in_log(600, 8)));
}

/// A response of one page and one time at a position.
fn answer_at(position: LibraryPosition) -> CatalogChange {
    let response = ResponseSummary { status: 200, position, ..ResponseSummary::default() };
    let outcome = VisitOutcome::Responded(response);
    CatalogChange::Visited { url: url("/both"), at: at(9), outcome, next_due: None }
}

fn applied_batches_change_nothing(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [found("/a", 1), answered("/a", 2, 7), found("/b", 2)];
    catalog.apply(&changes, &position(9).into()).unwrap();
    let before = everything(&*catalog);
    assert_eq!(catalog.apply(&changes, &position(9).into()).unwrap(), ApplyResult::default());
    assert_eq!(catalog.apply(&[found("/c", 1)], &position(8).into()).unwrap(), ApplyResult::default());
    assert_eq!(everything(&*catalog), before);
    assert_eq!(report(&*catalog, "/a").position, Some(position(7)));
    let outdated = catalog.apply(&[answered("/a", 1, 3)], &position(4).into()).unwrap().outdated;
    assert_eq!(outdated, [(url("/a").id(), position(3))], "returned again on replay");
}

fn rules_and_robots_are_kept(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    assert_eq!(catalog.rules().unwrap(), None);
    let rules = CrawlRules { scope: LinkScope::Domain, max_depth: 3, ..CrawlRules::default() };
    let robots = |seconds, state| RobotsFile {
        url: url("/").robots_txt(),
        at: at(seconds),
        state,
        reason: None,
        before: None,
    };
    let known = robots(5, RobotsState::Known(b"User-agent: *".into()));
    catalog
        .apply(
            &[CatalogChange::Rules(rules.clone()), CatalogChange::Robots(known.clone())],
            &position(1).into(),
        )
        .unwrap();
    assert_eq!(catalog.rules().unwrap(), Some(rules));
    catalog.apply(&[CatalogChange::Robots(robots(4, RobotsState::Missing))], &position(2).into()).unwrap();
    assert_eq!(catalog.robots(&known.url).unwrap(), Some(known.clone()), "an older one is ignored");
    let gone = robots(6, RobotsState::Unreachable);
    catalog.apply(&[CatalogChange::Robots(gone.clone())], &position(3).into()).unwrap();
    let before = Some((at(5), b"User-agent: *".to_vec()));
    assert_eq!(
        catalog.robots(&known.url).unwrap(),
        Some(RobotsFile { before, ..gone }),
        "the last file is kept"
    );
    assert_eq!(catalog.robots(&url("/other/robots.txt")).unwrap(), None);
}

fn a_visit_does_not_change_the_path_to_a_page(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    catalog.apply(&[found("/a", 5), failed("/a", 2, 1, Some(at(3)))], &position(1).into()).unwrap();
    let due = catalog.due_pages(url("/a").site().id(), at(3), DueOrder::Nearest, 10).unwrap();
    assert_eq!((due[0].depth, due[0].attempts), (5, 1));
    catalog.apply(&[answered("/unheard-of", 2, 2)], &position(2).into()).unwrap();
    assert_eq!(report(&*catalog, "/unheard-of").depth, 0);
}

fn origins_belong_to_the_path(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let by_redirect = |depth, origin: &str| {
        CatalogChange::Found(DiscoveredLink {
            hops: 2,
            origin: Some(origin.into()),
            ..DiscoveredLink::new(url("/a"), depth, at(1))
        })
    };
    let moved = CatalogChange::Seed {
        url: url("/s"),
        at: at(1),
        hops: 1,
        origin: Some("http://old.example/".into()),
        stale_before: None,
    };
    catalog.apply(&[by_redirect(4, "http://far.example/"), moved], &position(1).into()).unwrap();
    assert_eq!(report(&*catalog, "/a").origin.as_deref(), Some("http://far.example/"));
    assert_eq!(report(&*catalog, "/s").origin.as_deref(), Some("http://old.example/"));
    let nearer = [by_redirect(2, "http://near.example/"), by_redirect(2, "http://same.example/")];
    catalog.apply(&nearer, &position(2).into()).unwrap();
    let page = &catalog.due_pages(url("/a").site().id(), at(9), DueOrder::Nearest, 10).unwrap()[1];
    let origin = Some("http://near.example/".into());
    assert_eq!((&page.url, page.depth, page.hops, &page.origin), (&url("/a"), 2, 2, &origin));
    catalog.apply(&[found("/a", 1)], &position(3).into()).unwrap();
    assert_eq!((report(&*catalog, "/a").origin, report(&*catalog, "/a").hops), (None, 0));
}

fn old_captures_are_versions_only(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let fresh = visited("/a", 50, answer(200, 1), Some(at(99)));
    assert_eq!(catalog.apply(&[fresh], &position(2).into()).unwrap().outdated, []);
    let before = report(&*catalog, "/a");
    let old = [visited("/a", 20, answer(404, 3), Some(at(21))), answered("/a", 10, 5)];
    let applied = catalog.apply(&old, &position(6).into()).unwrap();
    let id = url("/a").id();
    assert_eq!(applied.outdated, [(id, position(3)), (id, position(5))]);
    assert_eq!(report(&*catalog, "/a"), PageDetails { visits: 3, ..before });
    let version = |seconds, status, offset| PageVersion {
        links: 0,
        new_links: 0,
        position: position(offset),
        at: at(seconds),
        status,
        inconclusive: false,
        digest: u64::MAX - offset,
    };
    let versions = [version(50, 200, 1), version(20, 404, 3), version(10, 200, 5)];
    assert_eq!(catalog.versions(id).unwrap(), versions);
    // Of two responses at the same time, the later position wins; of two in one batch, the newer one.
    let both = [visited("/a", 50, answer(410, 7), None), answered("/b", 9, 8), answered("/b", 8, 9)];
    assert_eq!(catalog.apply(&both, &position(10).into()).unwrap().outdated, [(url("/b").id(), position(9))]);
    assert_eq!(report(&*catalog, "/a").status, Some(410));
    let overtaken = [answered("/c", 8, 11), answered("/c", 9, 12)];
    assert_eq!(
        catalog.apply(&overtaken, &position(13).into()).unwrap().outdated,
        [(url("/c").id(), position(11))]
    );
    // The last event and the content are independent.
    catalog
        .apply(&[failed("/d", 30, 2, Some(at(40))), answered("/d", 20, 14)], &position(15).into())
        .unwrap();
    let d = report(&*catalog, "/d");
    assert_eq!((d.state, d.position, d.due), (PageState::Stored, Some(position(14)), Some(at(40))));
    assert_eq!((d.attempts, d.visited_at), (2, Some(at(30))));
    assert_eq!(catalog.versions(url("/none").id()).unwrap(), []);
}

fn paging_returns_every_page_once(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let pages: Vec<PageUrl> =
        (0..50).map(|n| PageUrl::parse(&format!("http://site-{}.example/{n}", n % 7)).unwrap()).collect();
    let changes: Vec<CatalogChange> = pages
        .iter()
        .map(|url| CatalogChange::Seed {
            url: url.clone(),
            at: at(1),
            hops: 0,
            origin: None,
            stale_before: None,
        })
        .collect();
    catalog.apply(&changes, &position(1).into()).unwrap();
    let walk = |site, limit| {
        let mut met: Vec<PageUrl> = Vec::new();
        loop {
            let after = met.last().map(PageUrl::id);
            let batch = catalog.pages(site, after, limit).unwrap();
            if batch.is_empty() {
                return met;
            }
            assert!(batch.len() <= limit);
            met.extend(batch.into_iter().map(|report| report.url));
        }
    };
    let all = walk(None, 3);
    assert_eq!(all.len(), 50);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 50);
    assert_eq!(all, walk(None, 1000), "the order is always the same");
    assert_eq!(all.chunk_by(|a, b| a.site() == b.site()).count(), 7, "pages of a site are adjacent");
    let site = pages[3].site();
    let of_site: Vec<PageUrl> = all.iter().filter(|u| u.site() == site).cloned().collect();
    assert_eq!(walk(Some(site.id()), 2), of_site);
    assert_eq!(walk(Some(url("/").site().id()), 2), []);
    assert_eq!(catalog.pages(None, None, 0).unwrap(), []);
}

fn ports_and_schemes_are_distinguished(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let texts = [
        "http://a.example/x?q=1",
        "https://a.example/x?q=1",
        "http://a.example:8080/x?q=1",
        "https://a.example:8080/x?q=1",
        "http://[::1]:81/",
        "http://a.example/?https://a.example/x",
    ];
    let pages = texts.map(|text| PageUrl::parse(text).unwrap());
    let changes: Vec<CatalogChange> = pages
        .iter()
        .map(|url| CatalogChange::Seed {
            url: url.clone(),
            at: at(1),
            hops: 0,
            origin: None,
            stale_before: None,
        })
        .collect();
    catalog.apply(&changes, &position(1).into()).unwrap();
    for page in &pages {
        assert_eq!(&catalog.page(page.id()).unwrap().unwrap().url, page);
    }
    let counts = catalog.counts().unwrap();
    assert_eq!((counts.sites, counts.pages), (3, 6));
    assert_eq!(catalog.due_pages(pages[2].site().id(), at(2), DueOrder::Nearest, 9).unwrap().len(), 2);
}

fn changes_of_a_page_are_applied_in_order(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [
        found("/a", 3),
        found("/b", 9),
        found("/a", 2),
        answered("/b", 5, 1),
        answered("/a", 5, 2),
        found("/b", 1),
        found("/a", 1),
    ];
    catalog.apply(&changes, &position(3).into()).unwrap();
    assert_eq!(
        (report(&*catalog, "/a").depth, report(&*catalog, "/b").depth),
        (2, 9),
        "settled by the visit"
    );
}

fn a_closed_catalog_can_be_reopened(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [seed("/", 1), found("/a", 1), answered("/", 2, 1), removed("/r"), deleted("/d", 3)];
    catalog.apply(&changes, &position(2).into()).unwrap();
    let before = everything(&*catalog);
    drop(catalog);
    let catalog = open(path);
    assert_eq!(everything(&*catalog), before);
    assert_eq!(catalog.applied_positions().unwrap(), position(2).into());
}

fn copies_are_catalogs(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [seed("/", 1), found("/a", 1), answered("/", 2, 1), removed("/r"), deleted("/d", 3)];
    catalog.apply(&changes, &position(2).into()).unwrap();
    let copy = path.with_file_name("copy");
    let Some(local) = catalog.local() else { return };
    local.backup(&copy).unwrap();
    assert!(local.backup(&copy).is_err(), "existing files are not overwritten");
    let before = everything(&*catalog);
    catalog.apply(&[found("/later", 1)], &position(3).into()).unwrap();
    let copy = open(&copy);
    assert_eq!(everything(&*copy), before);
    assert_eq!(copy.applied_positions().unwrap(), position(2).into());
    copy.apply(&[found("/later", 1)], &position(3).into()).unwrap();
    assert_eq!(everything(&*copy), everything(&*catalog));
}

fn changes_and_new_links_are_counted(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let visit = |seconds, offset, text| {
        let validators = Validators { etag: Some(format!("\"{text}\"")), last_modified: None };
        let position = position(offset);
        let answered = ResponseSummary {
            status: 200,
            position,
            text,
            links: 3,
            validators,
            ..ResponseSummary::default()
        };
        visited("/", seconds, VisitOutcome::Responded(answered), None)
    };
    let link = |path: &str, offset| {
        CatalogChange::Found(DiscoveredLink {
            from: Some((url("/").id(), position(offset))),
            ..DiscoveredLink::new(url(path), 1, at(1))
        })
    };
    catalog
        .apply(&[visit(1, 1, 7), link("/a", 1), link("/b", 1), link("/b", 1)], &position(2).into())
        .unwrap();
    catalog.apply(&[visit(2, 3, 7), link("/a", 3), link("/b", 3)], &position(4).into()).unwrap();
    catalog.apply(&[visit(3, 5, 9), link("/c", 5)], &position(6).into()).unwrap();
    let report = report(&*catalog, "/");
    assert_eq!((report.visits, report.changes, report.text), (3, 1, Some(9)));
    assert_eq!(report.validators.etag.as_deref(), Some("\"9\""));
    let versions = catalog.versions(url("/").id()).unwrap();
    assert_eq!(versions.iter().map(|v| (v.links, v.new_links)).collect::<Vec<_>>(), [(3, 1), (3, 0), (3, 2)]);
    let same = catalog.pages_with_text(9, 9).unwrap();
    assert_eq!(same, [(url("/"), position(5))]);
    let site = catalog.site(url("/").site().id()).unwrap().unwrap();
    assert_eq!((site.pages, site.stored, site.texts), (4, 1, 1));
    assert_eq!(catalog.responses_since(url("/").site().id(), at(2)).unwrap(), 2);
    // Extracted by another method, with an identical body.
    catalog.apply(&[visit(4, 7, 8)], &position(8).into()).unwrap();
    assert_eq!(self::report(&*catalog, "/").changes, 1);
}

fn links_to_a_page_add_to_its_weight(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let link = |path: &str, weight| {
        CatalogChange::Found(DiscoveredLink {
            weight,
            counted: true,
            ..DiscoveredLink::new(url(path), 1, at(1))
        })
    };
    catalog.apply(&[link("/a", 100), link("/a", 50), link("/b", 100)], &position(1).into()).unwrap();
    catalog.apply(&[link("/a", 50), link("/b", 2000)], &position(2).into()).unwrap();
    let of = |path: &str| {
        let report = report(&*catalog, path);
        (report.weight, report.linked_by)
    };
    assert_eq!((of("/a"), of("/b")), ((110, 3), (1000, 2)));
    let answered =
        ResponseSummary { status: 200, position: position(3), weight: 70, ..ResponseSummary::default() };
    catalog
        .apply(
            &[visited("/a", 5, VisitOutcome::Responded(answered), None), link("/a", 500)],
            &position(4).into(),
        )
        .unwrap();
    assert_eq!(of("/a"), (70, 4), "the measured weight replaces the expected one");
}

fn submissions_wait_for_a_decision(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let submitted = |path: &str, seconds| CatalogChange::Submitted { url: url(path), at: at(seconds) };
    catalog.apply(&[submitted("/a", 1), submitted("/b", 2)], &position(1).into()).unwrap();
    let decided = CatalogChange::Decided { url: url("/b"), at: at(3), accepted: false };
    catalog.apply(&[decided, submitted("/b", 4), submitted("/a", 5)], &position(2).into()).unwrap();
    let list = catalog.submissions().unwrap();
    let list: Vec<_> = list.iter().map(|s| (s.url.path_and_query(), s.at, s.accepted)).collect();
    assert_eq!(list, [("/a", at(1), None), ("/b", at(3), Some(false))]);
    let refused = |links| CatalogChange::Filtered { rule: "exclude */x*".into(), links };
    catalog.apply(&[refused(2), refused(3)], &position(3).into()).unwrap();
    assert_eq!(catalog.filtered().unwrap(), [("exclude */x*".to_string(), 5)]);
}
