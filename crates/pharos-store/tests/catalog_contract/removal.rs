//! Checks of deleted and removed pages and sites.

use crate::*;

pub(super) fn deleted_pages_return_with_a_later_response(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let changes = [visited("/a", 10, answer(200, 1), Some(at(70))), deleted("/a", 20), deleted("/new", 20)];
    let applied = catalog.apply(&changes, &position(2).into()).unwrap();
    assert_eq!(applied.outdated, [(url("/a").id(), position(1))], "deleted by the end of the batch");
    for page in ["/a", "/new"] {
        let gone = report(&*catalog, page);
        assert_eq!((gone.state, gone.indexable, gone.due), (PageState::Deleted, false, None));
        assert_eq!((gone.status, gone.position), (None, None));
    }
    let counts = catalog.counts().unwrap();
    assert_eq!((counts.pages, counts.deleted, counts.indexable), (2, 2, 0));
    let late = [answered("/a", 15, 3), failed("/new", 15, 1, Some(at(16))), found("/a", 1)];
    let applied = catalog.apply(&late, &position(4).into()).unwrap();
    assert_eq!(applied, ApplyResult { due_sites: vec![], outdated: vec![(url("/a").id(), position(3))] });
    assert_eq!(due(&*catalog, 100), Vec::<String>::new());
    assert_eq!(catalog.versions(url("/a").id()).unwrap().len(), 2);
    let back = catalog.apply(&[answered("/a", 21, 5), deleted("/a", 12)], &position(6).into()).unwrap();
    assert_eq!(back.outdated, []);
    assert_eq!((report(&*catalog, "/a").state, report(&*catalog, "/a").visits), (PageState::Stored, 3));
}

/// A temporary error says nothing about the page, so it does not outlast a deletion that was dated back.
pub(super) fn a_deletion_before_a_temporary_error_holds(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let unavailable = |page, seconds, offset| {
        let VisitOutcome::Responded(response) = answer(503, offset) else { unreachable!() };
        let response = ResponseSummary { inconclusive: true, ..response };
        visited(page, seconds, VisitOutcome::Responded(response), Some(at(90)))
    };
    let visits =
        [answered("/a", 10, 1), unavailable("/a", 30, 2), answered("/b", 25, 3), unavailable("/b", 30, 4)];
    catalog.apply(&visits, &position(5).into()).unwrap();
    catalog.apply(&[deleted("/a", 20), deleted("/b", 20)], &position(6).into()).unwrap();
    let gone = report(&*catalog, "/a");
    assert_eq!((gone.state, gone.position, gone.due), (PageState::Deleted, None, Some(at(90))));
    assert_eq!(report(&*catalog, "/b").state, PageState::Stored, "it has newer content");
    catalog.apply(&[answered("/a", 40, 7)], &position(8).into()).unwrap();
    assert_eq!(report(&*catalog, "/a").state, PageState::Stored);
}

pub(super) fn a_removed_page_stays_removed(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    catalog.apply(&[found("/a", 3), answered("/a", 10, 1), found("/b", 1)], &position(2).into()).unwrap();
    catalog.apply(&[removed("/a"), removed("/unheard-of")], &position(3).into()).unwrap();
    let before = everything(&*catalog);
    let again = [seed("/a", 90), found("/a", 0), answered("/a", 90, 4), deleted("/a", 95), removed("/a")];
    let applied = catalog.apply(&again, &position(5).into()).unwrap();
    assert_eq!(applied, ApplyResult { due_sites: vec![], outdated: vec![(url("/a").id(), position(4))] });
    let page = report(&*catalog, "/a");
    assert_eq!((page.state, page.due, page.indexable), (PageState::Removed, None, false));
    assert_eq!((page.anchor.as_str(), page.position, page.visits), ("", None, 0), "forgotten");
    assert_eq!(catalog.versions(url("/a").id()).unwrap(), []);
    assert_eq!(everything(&*catalog).reports, before.reports);
    assert_eq!(due(&*catalog, 100), ["/b"]);
    assert!(catalog.is_removed(&url("/a")).unwrap() && catalog.is_removed(&url("/unheard-of")).unwrap());
    assert!(!catalog.is_removed(&url("/b")).unwrap() && !catalog.is_removed(&url("/c")).unwrap());
    let counts = catalog.counts().unwrap();
    assert_eq!((counts.pages, counts.waiting, counts.stored), (1, 1, 0));
    assert_eq!(catalog.removed().unwrap().len(), 2);
}

pub(super) fn a_removed_site_stays_removed(path: &Path, open: Open<'_>) {
    let catalog = open(path);
    let other = PageUrl::parse("http://other.example/").unwrap();
    let elsewhere =
        CatalogChange::Seed { url: other.clone(), at: at(1), hops: 0, origin: None, stale_before: None };
    catalog
        .apply(&[seed("/", 1), answered("/", 2, 1), removed("/r"), elsewhere], &position(2).into())
        .unwrap();
    let removal = Removal::Site(url("/").site());
    // In one batch with the changes it overrides, before and after.
    let batch =
        [found("/a", 1), CatalogChange::Removed(removal.clone()), answered("/a", 9, 3), seed("/b", 9)];
    let applied = catalog.apply(&batch, &position(4).into()).unwrap();
    assert_eq!(applied, ApplyResult { due_sites: vec![], outdated: vec![(url("/a").id(), position(3))] });
    catalog.apply(&[found("/c", 1), removed("/d"), deleted("/e", 3)], &position(5).into()).unwrap();
    for page in ["/", "/a", "/b", "/c", "/d", "/e", "/r", "/never"] {
        assert_eq!(catalog.page(url(page).id()).unwrap(), None, "{page}");
        assert!(catalog.is_removed(&url(page)).unwrap(), "{page}");
        assert_eq!(catalog.versions(url(page).id()).unwrap(), []);
    }
    assert!(!catalog.is_removed(&other).unwrap());
    assert_eq!(catalog.removed().unwrap(), [removal]);
    assert_eq!(catalog.seed_sites().unwrap(), [other.site()]);
    assert_eq!(catalog.due_sites(at(100)).unwrap(), [other.site().id()]);
    assert_eq!(catalog.least_recently_visited(9).unwrap(), [(other.site(), None)]);
    let counts = catalog.counts().unwrap();
    assert_eq!((counts.sites, counts.pages, counts.stored), (1, 1, 0));
    let unheard_of = Removal::Site(SiteName::from_stored("unheard-of.example".into()));
    catalog.apply(&[CatalogChange::Removed(unheard_of)], &position(6).into()).unwrap();
    assert!(catalog.is_removed(&PageUrl::parse("https://unheard-of.example/x").unwrap()).unwrap());
}
