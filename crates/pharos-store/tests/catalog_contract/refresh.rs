//! Scheduling by a refresh plan.

use std::path::Path;

use pharos_core::config::{CrawlConfig, RefreshConfig, RefreshPolicyName};
use pharos_core::{LibraryPositions, PageUrl, SiteId, Timestamp};
use pharos_store::catalog::{
    Catalog, CatalogChange, DeadLinks, DiscoveredLink, RefreshSample, ResponseSummary, VisitOutcome,
};
use pharos_store::interpret::refresh::{PageInterest, RefreshClass, RefreshPlan, RefreshSettings};

use super::{Open, at, failed, position, report, url, visited};

const DAY: i64 = 86_400;

fn plan(policy: RefreshPolicyName) -> RefreshPlan {
    let refresh = RefreshConfig { policy, ..RefreshConfig::default() };
    RefreshPlan::new(RefreshSettings::new(&CrawlConfig::default(), &refresh))
}

/// A visit on a day that finds a text, at the fixed interval of a week.
fn visit(path: &str, day: i64, text: u64, offset: u64) -> CatalogChange {
    let response = ResponseSummary {
        status: 200,
        is_live: true,
        position: position(offset),
        digest: text,
        text: text * 2,
        indexable: true,
        refresh: Some(RefreshClass::Page),
        ..ResponseSummary::default()
    };
    visited(path, day * DAY, VisitOutcome::Responded(response), Some(at((day + 7) * DAY)))
}

fn days_until_due(catalog: &dyn Catalog, path: &str) -> f64 {
    let page = report(catalog, path);
    page.due.unwrap().since(page.visited_at.unwrap()).as_secs_f64() / DAY as f64
}

/// Ten weekly visits to a page that changes each time, and to one that never does.
fn weekly_visits() -> Vec<CatalogChange> {
    (0..10u64)
        .flat_map(|week| {
            let day = 7 * week as i64;
            [visit("/busy", day, 1 + week, 1 + 2 * week), visit("/quiet", day, 99, 2 + 2 * week)]
        })
        .collect()
}

pub(crate) fn a_plan_schedules_by_learned_change_rates(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    assert_eq!(catalog.refresh_plan().unwrap(), None);
    catalog.set_refresh_plan(&plan(RefreshPolicyName::Lag)).unwrap();
    assert_eq!(catalog.refresh_plan().unwrap(), Some(plan(RefreshPolicyName::Lag)));
    catalog.apply(&weekly_visits()[..2], &position(3).into()).unwrap();
    assert_eq!(days_until_due(&*catalog, "/busy"), 7.0, "the fixed interval, before anything is learned");
    catalog.apply(&weekly_visits(), &position(40).into()).unwrap();
    let (busy, quiet) = (days_until_due(&*catalog, "/busy"), days_until_due(&*catalog, "/quiet"));
    assert!(busy < 6.0 && quiet > 14.0, "{busy} {quiet}");
    assert_eq!((report(&*catalog, "/busy").changes, report(&*catalog, "/quiet").changes), (9, 0));
    // An overlapping replay, and other batches, give the same state.
    let before = [report(&*catalog, "/busy"), report(&*catalog, "/quiet")];
    catalog.apply(&weekly_visits()[4..], &position(50).into()).unwrap();
    assert_eq!([report(&*catalog, "/busy"), report(&*catalog, "/quiet")], before);
}

pub(crate) fn a_plan_is_applied_to_scheduled_pages_in_batches(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    catalog.apply(&weekly_visits(), &position(40).into()).unwrap();
    let broken = failed("/broken", 5, 1, Some(at(99)));
    let never = visited("/never", 5, VisitOutcome::Refused { reason: "robots.txt".into() }, None);
    catalog.apply(&[broken, never, visit("/due", 0, 5, 60)], &position(70).into()).unwrap();
    assert_eq!((days_until_due(&*catalog, "/busy"), days_until_due(&*catalog, "/quiet")), (7.0, 7.0));
    let now = at(63 * DAY + 5);
    let mut sample = RefreshSample::default();
    assert!(catalog.apply_refresh_plan(now, 2, &|_| None, &mut sample).unwrap(), "there is no plan");
    catalog.set_refresh_plan(&plan(RefreshPolicyName::Lag)).unwrap();
    assert!(!catalog.apply_refresh_plan(now, 2, &|_| None, &mut sample).unwrap());
    drop(catalog);
    // The position is remembered across restarts.
    let catalog = open(path);
    while !catalog.apply_refresh_plan(now, 2, &|_| None, &mut sample).unwrap() {}
    assert_eq!((sample.pages(), sample.learned, sample.rescheduled, sample.due), (3, 2, 2, 1));
    assert!((sample.fixed_visits - 3.0 / 7.0).abs() < 1e-9);
    assert!((sample.useless_share() - 0.5).abs() < 1e-9);
    assert_eq!(sample.longest_unvisited, Some((Timestamp::EPOCH, url("/due"))));
    assert!(days_until_due(&*catalog, "/busy") < 6.0 && days_until_due(&*catalog, "/quiet") > 14.0);
    assert_eq!(days_until_due(&*catalog, "/due"), 7.0, "a page that is due stays due");
    assert_eq!(report(&*catalog, "/broken").due, Some(at(99)), "failures have their own schedule");
    assert_eq!(catalog.refresh_sample(now, None).unwrap().intervals, sample.intervals);
    let site = url("/").site();
    assert_eq!(catalog.refresh_sample(now, Some(site.id())).unwrap().intervals, sample.intervals);
    assert_eq!(catalog.refresh_sample(now, Some(SiteId(9))).unwrap().pages(), 0);
    // The interest of users is stored and shortens the interval.
    let hot =
        |page: &PageUrl| Some(PageInterest::from_factor(if *page == url("/quiet") { 4.0 } else { 1.0 }));
    let before = days_until_due(&*catalog, "/quiet");
    let mut raised = RefreshSample::default();
    assert!(catalog.apply_refresh_plan(now, 9, &hot, &mut raised).unwrap());
    assert_eq!((raised.raised, report(&*catalog, "/quiet").refresh.interest.factor()), (1, 4.0));
    assert!((days_until_due(&*catalog, "/quiet") - before / 2.0).abs() < 1e-3, "√4 times as often");
    assert!(catalog.apply_refresh_plan(now, 9, &|_| None, &mut raised).unwrap());
    assert_eq!(raised.raised, 2, "kept and counted again");
    assert!(catalog.apply_refresh_plan(now, 9, &|_| Some(PageInterest::default()), &mut raised).unwrap());
    // A second pass finds nothing to change; the fixed intervals return with the uniform policy.
    let mut again = RefreshSample::default();
    assert!(catalog.apply_refresh_plan(now, 9, &|_| None, &mut again).unwrap() && again.rescheduled == 0);
    catalog.set_refresh_plan(&plan(RefreshPolicyName::Uniform)).unwrap();
    assert!(catalog.apply_refresh_plan(now, 9, &|_| None, &mut again).unwrap());
    assert_eq!((days_until_due(&*catalog, "/busy"), days_until_due(&*catalog, "/quiet")), (7.0, 7.0));
}

pub(crate) fn dead_links_are_counted_by_site(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    assert_eq!(catalog.dead_links(9).unwrap(), []);
    let gone = ResponseSummary { status: 404, position: position(20), ..ResponseSummary::default() };
    let gone = visited("/gone", DAY, VisitOutcome::Responded(gone), None);
    catalog.apply(&[visit("/page", 0, 1, 10), gone], &position(21).into()).unwrap();
    assert_eq!(catalog.dead_links(9).unwrap(), [DeadLinks { site: url("/").site(), dead: 1, visited: 2 }]);
}

/// A sitemap entry, or a notice, of a day.
fn announcement(path: &str, day: i64) -> CatalogChange {
    let at = at(day * DAY);
    CatalogChange::Found(DiscoveredLink { modified: Some(at), ..DiscoveredLink::new(url(path), 1, at) })
}

/// A signal brings a visit forward. A site whose signals prove wrong loses its influence within a few visits.
pub(crate) fn signals_count_as_far_as_their_site_can_be_trusted(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    catalog.set_refresh_plan(&plan(RefreshPolicyName::Lag)).unwrap();
    let apply = |change: CatalogChange, offset| catalog.apply(&[change], &position(offset).into()).unwrap();
    let due =
        |path: &str| report(&*catalog, path).due.unwrap().since(Timestamp::EPOCH).as_secs_f64() / DAY as f64;
    apply(visit("/page", 0, 1, 10), 11);
    assert!(catalog.site_signals(9).unwrap().is_empty());
    assert_eq!(apply(announcement("/page", 0), 12).due_sites, [], "no change after the visit");
    assert!(!apply(announcement("/page", 1), 13).due_sites.is_empty(), "a new site is believed");
    assert_eq!((due("/page"), report(&*catalog, "/page").refresh.is_announced), (1.0, true));
    let mut waits = Vec::new();
    for visits in 1..=8 {
        // Nothing changed: the text is the same.
        let day = 10 * visits;
        apply(visit("/page", day, 1, 20 + 10 * visits as u64), 21 + 10 * visits as u64);
        assert!(!report(&*catalog, "/page").refresh.is_announced);
        let planned = due("/page") - day as f64;
        apply(announcement("/page", day + 1), 22 + 10 * visits as u64);
        waits.push((due("/page") - day as f64) / planned);
    }
    assert!(waits[7] > 0.7, "announced visits wait nearly as long as others: {waits:?}");
    let signals = catalog.site_signals(9).unwrap();
    let [(site, trust)] = signals.as_slice() else { panic!("{signals:?}") };
    assert_eq!(*site, url("/").site());
    assert!(trust.precision() < 0.2 && trust.confirmed == 0.0, "{trust:?}");
}

/// A clock that jumps years ahead, or back, has a bounded effect on the change rate.
pub(crate) fn wrong_clocks_have_a_bounded_effect_on_change_rates(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    catalog.set_refresh_plan(&plan(RefreshPolicyName::Lag)).unwrap();
    catalog.apply(&weekly_visits(), &position(40).into()).unwrap();
    let rate = || {
        let page = report(&*catalog, "/busy");
        plan(RefreshPolicyName::Lag).demand(&page.refresh, 0).rate
    };
    let before = rate();
    catalog.apply(&[visit("/busy", 36_500, 50, 50)], &position(51).into()).unwrap();
    assert!(rate() > before / 20.0, "a century without a visit counts as a year: {} {before}", rate());
    catalog.apply(&[visit("/busy", 70, 51, 60)], &position(61).into()).unwrap();
    let page = report(&*catalog, "/busy");
    assert_eq!(page.visited_at, Some(at(70 * DAY)), "the later visit of the crawler is right");
    assert!(rate() > before / 20.0);
    assert!(page.due.unwrap() < at(170 * DAY));
    assert_eq!(catalog.applied_positions().unwrap(), LibraryPositions::from(position(61)));
}
