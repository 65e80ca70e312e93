//! Property tests: batching, repetition and order of changes make no difference.

use pharos_core::{PageUrl, Timestamp};
use pharos_store::LibraryPosition;
use pharos_store::catalog::{
    Catalog, CatalogChange, CrawlRules, DiscoveredLink, Removal, ResponseSummary, RobotsFile, RobotsState,
    VisitOutcome,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::*;

fn any_url() -> impl Strategy<Value = PageUrl> {
    (0..2, 0..3)
        .prop_map(|(site, page)| PageUrl::parse(&format!("http://site-{site}.example/{page}")).unwrap())
}

fn any_moment() -> impl Strategy<Value = Timestamp> {
    (0..8i64).prop_map(at)
}

fn any_outcome() -> impl Strategy<Value = VisitOutcome> {
    prop_oneof![
        3 => (prop_oneof![Just(200u16), Just(404), Just(503)], 0..3u32, 0..3u64).prop_map(|(status, attempts, text)| {
            // The position is set when the whole list is known.
            let position = LibraryPosition::START;
            VisitOutcome::Responded(ResponseSummary { status, position, indexable: status == 200, attempts, text, ..ResponseSummary::default() })
        }),
        2 => (0..4u32).prop_map(|attempt| VisitOutcome::Failed { reason: format!("reason {attempt}"), attempt }),
        1 => Just(VisitOutcome::Refused { reason: "robots.txt".into() }),
    ]
}

fn any_removal() -> impl Strategy<Value = CatalogChange> {
    prop_oneof![
        4 => any_url().prop_map(|url| CatalogChange::Removed(Removal::Page(url))),
        1 => any_url().prop_map(|url| CatalogChange::Removed(Removal::Site(url.site()))),
    ]
}

fn any_change() -> impl Strategy<Value = CatalogChange> {
    let origin = || proptest::option::of(Just("http://origin.example/".to_string()));
    let stale = || proptest::option::weighted(0.2, any_moment());
    let robots = prop_oneof![
        Just(RobotsState::Missing),
        Just(RobotsState::Unreachable),
        Just(RobotsState::Known(b"x".to_vec()))
    ];
    prop_oneof![
        10 => (1..9u32).prop_map(|max_depth| {
            CatalogChange::Rules(CrawlRules { max_depth, ..CrawlRules::default() })
        }),
        10 => (any_moment(), robots)
            .prop_map(|(at, state)| CatalogChange::Robots(RobotsFile { url: url("/robots.txt"), at, state, reason: None, before: None })),
        40 => (any_url(), any_moment(), 0..2u32, origin(), stale())
            .prop_map(|(url, at, hops, origin, stale_before)| CatalogChange::Seed { url, at, hops, origin, stale_before }),
        80 => (any_url(), 0..5u32, 0..2u32, origin(), any_moment(), 0..3u32, stale()).prop_map(
            |(url, depth, hops, origin, at, weight, stale_before)| {
                let anchor = format!("words {depth}");
                CatalogChange::Found(DiscoveredLink { hops, origin, anchor, weight, stale_before, ..DiscoveredLink::new(url, depth, at) })
            }
        ),
        10 => (any_url(), any_moment(), any_moment())
            .prop_map(|(url, at, until)| CatalogChange::BackOff { site: url.site(), at, until }),
        20 => (any_url(), any::<bool>(), any_moment())
            .prop_map(|(url, whole_site, at)| CatalogChange::Recrawl { url, whole_site, at }),
        120 => (any_url(), any_moment(), any_outcome(), proptest::option::of(any_moment()))
            .prop_map(|(url, at, outcome, next_due)| CatalogChange::Visited { url, at, outcome, next_due }),
        30 => (any_url(), any_moment()).prop_map(|(url, at)| CatalogChange::Deleted { url, at }),
        5 => any_removal(),
    ]
}

/// Generates changes as a library would: every response has its own position, and positions increase.
fn any_history(longest: usize) -> impl Strategy<Value = Vec<CatalogChange>> {
    proptest::collection::vec(any_change(), 1..longest).prop_map(|mut changes| {
        for (n, change) in (1..).zip(&mut changes) {
            if let CatalogChange::Visited {
                outcome: VisitOutcome::Responded(ResponseSummary { position: p, digest, .. }),
                ..
            } = change
            {
                *p = position(n);
                *digest = u64::MAX - n;
            }
        }
        changes
    })
}

pub(crate) fn batches_and_overlaps_make_no_difference(open: Open<'_>) {
    let steps = proptest::collection::vec((1..12usize, 0..12usize), 1..20);
    runner()
        .run(&(any_history(40), steps), |(changes, steps)| {
            let dir = tempfile::tempdir().unwrap();
            let whole = open(&dir.path().join("whole"));
            whole.apply(&changes, &position(changes.len() as u64).into()).unwrap();
            let parts = open(&dir.path().join("parts"));
            let mut done = 0;
            let mut steps = steps.iter().cycle();
            while done < changes.len() {
                let (ahead, back) = steps.next().unwrap_or(&(1, 0));
                let end = (done + ahead).min(changes.len());
                parts.apply(&changes[done.saturating_sub(*back)..end], &position(end as u64).into()).unwrap();
                done = end;
            }
            same(&*whole, &*parts)
        })
        .unwrap();
}

pub(crate) fn removals_win_in_any_order(open: Open<'_>) {
    let removals = proptest::collection::vec(any_removal(), 1..4);
    runner()
        .run(&(any_history(20), removals), |(changes, removals)| {
            let dir = tempfile::tempdir().unwrap();
            let (before, after) = (open(&dir.path().join("before")), open(&dir.path().join("after")));
            before.apply(&removals, &position(1).into()).unwrap();
            before.apply(&changes, &position(2).into()).unwrap();
            after.apply(&changes, &position(1).into()).unwrap();
            after.apply(&removals, &position(2).into()).unwrap();
            same(&*before, &*after)
        })
        .unwrap();
}

fn same(one: &dyn Catalog, other: &dyn Catalog) -> Result<(), TestCaseError> {
    prop_assert_eq!(everything(one), everything(other));
    Ok(())
}

/// Returns a test runner. Each case creates two catalogs on disk, so there are few cases unless the environment
/// requests more.
fn runner() -> TestRunner {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let config = Config { failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    TestRunner::new(Config { cases: asked.map_or(60, |n: u32| n.min(1_000)), ..config })
}
