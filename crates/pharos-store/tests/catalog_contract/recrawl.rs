//! Recrawl requests of operators.

use crate::*;

fn again(path: &str, whole_site: bool, seconds: i64) -> CatalogChange {
    CatalogChange::Recrawl { url: url(path), whole_site, at: at(seconds) }
}

fn back_off(seconds: i64, until: i64) -> CatalogChange {
    CatalogChange::BackOff { site: url("/").site(), at: at(seconds), until: at(until) }
}

/// Returns one page in each state, all with their last event before second 10.
fn one_of_each() -> Vec<CatalogChange> {
    vec![
        found("/waiting", 1),
        visited("/stored", 2, answer(200, 1), Some(at(900))),
        failed("/failed", 3, 3, None),
        refused("/refused", 4),
        deleted("/deleted", 5),
        failed("/late", 6, 2, Some(at(7))),
        removed("/removed"),
    ]
}

pub(crate) fn a_page_can_be_recrawled(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    catalog.apply(&one_of_each(), &position(2).into()).unwrap();
    let site = url("/").site().id();
    for (n, page) in (3..).zip(["/stored", "/failed", "/refused", "/deleted"]) {
        let applied = catalog.apply(&[again(page, false, 10)], &position(n).into()).unwrap();
        assert_eq!(applied, ApplyResult { due_sites: vec![site], outdated: vec![] }, "{page}");
        let report = report(&*catalog, page);
        assert_eq!((report.due, report.attempts), (Some(at(10)), 0), "{page}");
    }
    assert_eq!(report(&*catalog, "/stored").state, PageState::Stored, "its content is kept");
    let before = everything(&*catalog);
    let unmoved = ["/waiting", "/removed", "/unknown"].map(|page| again(page, false, 10));
    assert_eq!(catalog.apply(&unmoved, &position(8).into()).unwrap(), ApplyResult::default());
    let elsewhere = PageUrl::parse("http://unheard-of.example/").unwrap();
    let request = CatalogChange::Recrawl { url: elsewhere, whole_site: false, at: at(10) };
    assert_eq!(catalog.apply(&[request], &position(9).into()).unwrap(), ApplyResult::default());
    assert_eq!(everything(&*catalog), before, "a recrawl request creates no page and no site");
    // A page that is due already is not postponed, and its attempts are reset.
    catalog.apply(&[again("/late", false, 10)], &position(11).into()).unwrap();
    assert_eq!((report(&*catalog, "/late").due, report(&*catalog, "/late").attempts), (Some(at(7)), 0));
}

pub(crate) fn a_site_can_be_recrawled(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let other = PageUrl::parse("http://other.example/").unwrap();
    let mut changes = one_of_each();
    changes.push(back_off(6, 800));
    changes.push(CatalogChange::Visited {
        url: other.clone(),
        at: at(2),
        outcome: answer(200, 2),
        next_due: None,
    });
    changes.push(visited("/newer", 11, answer(200, 3), Some(at(900))));
    catalog.apply(&changes, &position(4).into()).unwrap();
    assert_eq!(due(&*catalog, 100), Vec::<String>::new(), "the server requested a back-off");
    // Within a batch the request affects the changes before it.
    let batch = [
        failed("/before", 9, 2, None),
        again("/any", true, 10),
        failed("/after", 9, 2, None),
        answered("/failed", 12, 5),
        visited("/stored", 1, answer(200, 6), None),
    ];
    let applied = catalog.apply(&batch, &position(7).into()).unwrap();
    let site = url("/").site().id();
    assert_eq!(
        applied,
        ApplyResult { due_sites: vec![site], outdated: vec![(url("/stored").id(), position(6))] }
    );
    let now: HashSet<String> = due(&*catalog, 100).into_iter().collect();
    let expected = ["/waiting", "/stored", "/refused", "/deleted", "/late", "/before"];
    assert_eq!(now, expected.map(String::from).into());
    let of = |page: &str| (report(&*catalog, page).due, report(&*catalog, page).attempts);
    assert_eq!((of("/before"), of("/after")), ((Some(at(10)), 0), (None, 2)));
    assert_eq!((of("/newer"), of("/late")), ((Some(at(900)), 0), (Some(at(7)), 0)));
    assert_eq!(report(&*catalog, "/failed").state, PageState::Stored);
    assert_eq!(catalog.site(site).unwrap().unwrap().not_before, None);
    assert_eq!(catalog.page(other.id()).unwrap().unwrap().due, None, "of another site");
    assert!(catalog.is_removed(&url("/removed")).unwrap());
    // Replayed after newer visits.
    let request = again("/any", true, 10);
    let visits = ["/stored", "/refused", "/deleted", "/late", "/before", "/after"];
    let mut newer: Vec<CatalogChange> = (20..).zip(visits).map(|(n, page)| answered(page, 30, n)).collect();
    newer.push(back_off(30, 700));
    catalog.apply(&newer, &position(40).into()).unwrap();
    let before = everything(&*catalog);
    assert_eq!(catalog.apply(&[request], &position(41).into()).unwrap(), ApplyResult::default());
    assert_eq!(everything(&*catalog), before);
    assert_eq!(catalog.site(site).unwrap().unwrap().not_before, Some(at(700)));
    // A back-off from before the request does not return when it is replayed.
    catalog.apply(&[again("/", true, 50), back_off(6, 800)], &position(42).into()).unwrap();
    assert_eq!(catalog.site(site).unwrap().unwrap().not_before, None);
    // A removed site has no due pages.
    let removal = CatalogChange::Removed(Removal::Site(url("/").site()));
    let applied = catalog
        .apply(&[answered("/x", 60, 43), again("/", true, 70), removal], &position(44).into())
        .unwrap();
    assert_eq!(applied, ApplyResult { due_sites: vec![], outdated: vec![(url("/x").id(), position(43))] });
}
