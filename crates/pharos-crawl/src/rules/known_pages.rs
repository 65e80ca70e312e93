//! Applies new rules to pages that are known already: pages they forbid are refused, pages they permit again are
//! fetched again. Both are recorded events, so that all stores agree.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pharos_core::{Clock, PageId};
use pharos_store::catalog::{PageDetails, PageProblem};
use pharos_store::interpret::CrawlScope;
use pharos_store::{Catalog, LibraryEvent, LibraryRecord, PageState, RecordContent, StoreError};
use tokio::sync::mpsc::Sender;
use tracing::{info, warn};

/// Number of pages read from the catalog at once.
const CHUNK: usize = 500;
/// Time allowed for the last record to reach the catalog.
const APPLY_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval at which this is checked.
const APPLY_INTERVAL: Duration = Duration::from_millis(20);

/// Effect of the rules in force on a known page.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KnownPageAction {
    /// The page is refused for this reason.
    Refuse(String),
    /// The page was refused by a rule that is no longer in force.
    Readmit,
}

/// A page that the rules affect.
type AffectedPage = (PageDetails, KnownPageAction);

/// Checks all known pages against `scope`. Ends early if the crawl ends.
pub(crate) async fn apply_rules(
    catalog: Arc<dyn Catalog>,
    clock: Arc<dyn Clock>,
    records: Sender<LibraryRecord>,
    scope: Arc<CrawlScope>,
) {
    match walk(&catalog, &*clock, &records, &scope).await {
        Ok((refused, readmitted)) if refused + readmitted > 0 => {
            info!(refused, readmitted, "applied changed rules to known pages");
        }
        Ok(_) => {}
        Err(error) => warn!(%error, "changed rules are applied to known pages when those are due"),
    }
}

/// Returns the number of pages refused and readmitted.
async fn walk(
    catalog: &Arc<dyn Catalog>,
    clock: &dyn Clock,
    records: &Sender<LibraryRecord>,
    scope: &Arc<CrawlScope>,
) -> Result<(u64, u64), StoreError> {
    let (mut refused, mut readmitted) = (0, 0);
    let mut after: Option<PageId> = None;
    let mut last: Option<(PageId, KnownPageAction)> = None;
    loop {
        let (source, rules) = (Arc::clone(catalog), Arc::clone(scope));
        let read = move || read_chunk(&*source, &rules, after);
        let chunk = tokio::task::spawn_blocking(read).await;
        let (end, actions) = chunk.map_err(|e| StoreError::Catalog(format!("interrupted: {e}")))??;
        for (page, action) in actions {
            match action {
                KnownPageAction::Refuse(_) => refused += 1,
                KnownPageAction::Readmit => readmitted += 1,
            }
            last = Some((page.url.id(), action.clone()));
            if records.send(record(page, action, clock)).await.is_err() {
                return Ok((refused, readmitted));
            }
        }
        let Some(end) = end else { break };
        after = Some(end);
    }
    if let Some((page, action)) = last {
        wait_until_applied(catalog, clock, page, &action).await?;
    }
    Ok((refused, readmitted))
}

/// Returns the last page of the next chunk, and the pages of the chunk that the rules affect.
fn read_chunk(
    catalog: &dyn Catalog,
    scope: &CrawlScope,
    after: Option<PageId>,
) -> Result<(Option<PageId>, Vec<AffectedPage>), StoreError> {
    let pages = catalog.pages(None, after, CHUNK)?;
    let end = pages.last().map(|page| page.url.id());
    let affected = pages.into_iter().filter_map(|page| Some((action(scope, &page)?, page)));
    Ok((end, affected.map(|(action, page)| (page, action)).collect()))
}

/// Returns the effect of the rules on a page. Waiting pages are checked when their turn comes, and seeds are exempt.
fn action(scope: &CrawlScope, page: &PageDetails) -> Option<KnownPageAction> {
    let is_exempt = matches!(page.state, PageState::Waiting | PageState::Deleted | PageState::Removed);
    if page.depth == 0 || is_exempt {
        return None;
    }
    let is_refused = page.problem == Some(PageProblem::Refused);
    match scope.admits_known(&page.url) {
        Err(refusal) if !is_refused => Some(KnownPageAction::Refuse(refusal.to_string())),
        Ok(()) if is_refused && is_rule(page.reason.as_deref().unwrap_or_default()) => {
            Some(KnownPageAction::Readmit)
        }
        _ => None,
    }
}

/// Returns `true` if the reason of a refusal is a rule of the crawl: not a robots.txt, nor the type of the response.
fn is_rule(reason: &str) -> bool {
    !reason.starts_with("robots.txt") && !reason.contains("crawl.types")
}

fn record(page: PageDetails, action: KnownPageAction, clock: &dyn Clock) -> LibraryRecord {
    let event = match action {
        KnownPageAction::Refuse(reason) => LibraryEvent::Refused { reason },
        KnownPageAction::Readmit => LibraryEvent::Recrawl { whole_site: false },
    };
    let (depth, hops, origin) = (page.depth, page.hops, page.origin);
    LibraryRecord {
        depth,
        hops,
        origin,
        ..LibraryRecord::new(page.url, clock.now(), RecordContent::Event(event))
    }
}

/// Waits until the catalog contains the last action, so that a crawl does not end before readmitted pages are due.
async fn wait_until_applied(
    catalog: &Arc<dyn Catalog>,
    clock: &dyn Clock,
    page: PageId,
    action: &KnownPageAction,
) -> Result<(), StoreError> {
    let deadline = Instant::now() + APPLY_TIMEOUT;
    while Instant::now() < deadline {
        let Some(page) = catalog.page(page)? else { return Ok(()) };
        let is_refused = page.problem == Some(PageProblem::Refused);
        let is_applied = match action {
            KnownPageAction::Refuse(_) => is_refused,
            // A refused page is due much later.
            KnownPageAction::Readmit => !is_refused || page.due.is_some_and(|due| due <= clock.now()),
        };
        if is_applied {
            return Ok(());
        }
        tokio::time::sleep(APPLY_INTERVAL).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pharos_core::{LibraryPosition, PageUrl, Timestamp};
    use pharos_store::CrawlRules;
    use pharos_store::catalog::{CatalogChange, DiscoveredLink, ResponseSummary, VisitOutcome};

    use super::*;
    use crate::testing::open_catalog;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.example/{path}")).unwrap()
    }

    #[test]
    fn rules_refuse_and_readmit_known_pages() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = open_catalog(dir.path());
        let at = Timestamp::from_millis(1_000);
        let visited =
            |path: &str, outcome| CatalogChange::Visited { url: url(path), at, outcome, next_due: None };
        let stored = |offset| {
            let position = LibraryPosition::new(1, offset);
            VisitOutcome::Responded(ResponseSummary {
                status: 200,
                position,
                indexable: true,
                ..ResponseSummary::default()
            })
        };
        let refused = |reason: &str| VisitOutcome::Refused { reason: reason.into() };
        let found = ["old/a", "new/b", "robots", "type", "waiting", "old/c"];
        let mut changes: Vec<CatalogChange> =
            found.iter().map(|path| CatalogChange::Found(DiscoveredLink::new(url(path), 1, at))).collect();
        changes.extend([
            visited("old/a", refused("matches `*/old/*` of crawl.exclude")),
            visited("new/b", stored(1)),
            visited("robots", refused("robots.txt: Disallow: /robots")),
            visited("type", refused("media type image/png is not accepted (crawl.types)")),
            visited("old/c", stored(2)),
            // A seed is exempt from the rules.
            visited("new/seed", stored(3)),
        ]);
        catalog.apply(&changes, &LibraryPosition::new(1, 100).into()).unwrap();
        let mut scope =
            CrawlScope::new(CrawlRules { exclude: vec!["*/new/*".into()], ..CrawlRules::default() });
        scope.add_site(url("").site());
        let (_, mut actions) = read_chunk(&*catalog, &scope, None).unwrap();
        actions.sort_by(|(one, _), (other, _)| one.url.as_str().cmp(other.url.as_str()));
        let actions: Vec<_> = actions.into_iter().map(|(page, action)| (page.url, action)).collect();
        let reason = "matches `*/new/*` of crawl.exclude".to_string();
        assert_eq!(
            actions,
            [(url("new/b"), KnownPageAction::Refuse(reason)), (url("old/a"), KnownPageAction::Readmit)]
        );
    }
}
