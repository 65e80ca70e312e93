//! Retention policy, and the compaction that drops versions outside it.

use pharos_core::config::{Config, LibraryConfig};
use pharos_core::{Clock as _, LibraryPosition, SystemClock, Timestamp};
use pharos_graph::relations::remove_all;
use pharos_store::catalog::{PageVersion, current_version};
use pharos_store::interpret::status::is_success;
use pharos_store::library::{CompactionStats, RetentionAction, Revisit};
use pharos_store::{
    Catalog, DataDir, DerivedWriter, Library, LibraryEvent, RecordContent, StoreError, StoredRecord,
};
use tokio::sync::watch;
use tracing::info;

use crate::build::link_analysis::contains_removed;
use crate::stores::Stores;
use crate::{Engine, EngineError};

/// Rewrites library files without removed pages and without versions outside the retention policy.
///
/// The policy is `library.keep_versions` and `library.keep_for`. Readers are not interrupted. `progress` receives the
/// number of each file and returns `false` to stop.
pub fn compact(
    data: &DataDir,
    config: &Config,
    mut progress: impl FnMut(u32) -> bool,
) -> Result<CompactionStats, EngineError> {
    let engine = Engine::open(data.clone(), config.clone(), "compact", true)?;
    let (_stop, never) = watch::channel(false);
    // Pending orders must be applied before records are dropped.
    engine.ingest(&never)?.finish()?;
    engine.library().seal()?;
    let catalog = engine.catalog();
    let stores = Stores::open(data, config)?;
    let library = stores.library()?;
    let end = engine.library().end()?;
    let now = SystemClock.now();
    let mut total = CompactionStats::default();
    for volume in library.volumes()? {
        if volume.volume >= end.get(volume.log).volume {
            continue;
        }
        if !progress(volume.volume) {
            return Err(EngineError::Stopped);
        }
        // Derived data of dropped records must be removed before the records; the rest is derived again.
        let mut before_switch =
            || DerivedWriter::open(&data.library(), pharos_html::VERSION)?.drop_file(volume.volume);
        let one = library.compact(
            volume,
            &mut |stored| record_fate(&*catalog, &*library, &config.library, now, stored),
            &mut before_switch,
        )?;
        if one.files > 0 {
            info!(%volume, before = one.before, after = one.after, "compacted");
        }
        total += one;
    }
    engine.ingest(&never)?.finish()?;
    discard_removed_links(&stores, &*catalog)?;
    Ok(total)
}

/// Discards the link-analysis results if they contain removed pages, with their URLs, anchors and copies.
///
/// The next build computes them again.
fn discard_removed_links(stores: &Stores, catalog: &dyn Catalog) -> Result<(), EngineError> {
    let data = stores.data();
    if contains_removed(data, &catalog.removed()?)? {
        let _builder = stores.lock_builder()?;
        remove_all(&data.graph()).map_err(StoreError::io("remove", &data.graph()))?;
        info!("discarded link-analysis results that contained removed pages");
    }
    Ok(())
}

/// Decides whether compaction keeps, drops or erases a record.
fn record_fate(
    catalog: &dyn Catalog,
    library: &dyn Library,
    rule: &LibraryConfig,
    now: Timestamp,
    stored: &StoredRecord,
) -> Result<RetentionAction, StoreError> {
    let record = &stored.record;
    // Operators' decisions are kept permanently, and mirrors, whose record concerns a whole site although its URL is the
    // home page.
    if let RecordContent::Event(
        LibraryEvent::Removed { .. }
        | LibraryEvent::CrawlStarted { .. }
        | LibraryEvent::Recrawl { .. }
        | LibraryEvent::Alias { .. },
    ) = record.content
    {
        return Ok(RetentionAction::Keep);
    }
    if catalog.is_removed(&record.url)? {
        return Ok(RetentionAction::Erase);
    }
    if record.status().is_none() || (rule.keep_versions == 0 && rule.keep_for.is_zero()) {
        return Ok(RetentionAction::Keep);
    }
    let current = catalog.page(record.url.id())?.and_then(|entry| entry.position);
    let versions = catalog.versions(record.url.id())?;
    let kept = kept_positions(rule, now, current, &versions);
    let Some(version) = versions.iter().find(|v| v.position == stored.position) else {
        return Ok(RetentionAction::Keep);
    };
    if kept.contains(&stored.position) {
        return Ok(RetentionAction::Keep);
    }
    // An unchanged version refers to the record with the content.
    for position in kept {
        let refers = |r: &Revisit| r.refers_to == stored.position;
        if matches!(library.read(position)?.record.content, RecordContent::Revisit(r) if refers(&r)) {
            return Ok(RetentionAction::Keep);
        }
    }
    Ok(RetentionAction::Drop(version.digest))
}

/// Returns the positions of the versions that the retention policy keeps. `versions` are sorted newest first.
fn kept_positions(
    rule: &LibraryConfig,
    now: Timestamp,
    current: Option<LibraryPosition>,
    versions: &[PageVersion],
) -> Vec<LibraryPosition> {
    // Versions in use are kept regardless of the policy: the last response, the one that determines the content, and
    // the last success.
    let good = versions.iter().find(|v| is_success(v.status));
    let safe = [current, current_version(versions).map(|v| v.position), good.map(|v| v.position)];
    let is_kept = |rank: usize, version: &PageVersion| {
        let few = rule.keep_versions == 0 || rank < rule.keep_versions as usize;
        let young = rule.keep_for.is_zero() || now.since(version.at) < rule.keep_for;
        (few && young) || safe.contains(&Some(version.position))
    };
    let wanted = versions.iter().enumerate().filter(|(rank, version)| is_kept(*rank, version));
    wanted.map(|(_, version)| version.position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::test_stores;
    use pharos_core::PageUrl;
    use pharos_store::catalog::{CatalogChange, Removal, ResponseSummary, VisitOutcome};
    use pharos_store::interpret::status::StatusMeaning;
    use pharos_store::{LibraryRecord, RawResponse};
    use std::time::Duration;

    const DAY: Duration = Duration::from_secs(86_400);

    /// Returns one version per day, newest first, with the given status and digest.
    fn versions(answers: &[(u16, u64)]) -> Vec<PageVersion> {
        let count = answers.len() as u64;
        answers
            .iter()
            .zip(0..)
            .map(|((status, digest), age)| PageVersion {
                links: 0,
                new_links: 0,
                position: LibraryPosition::new(1, 1000 * (count - age)),
                at: Timestamp::EPOCH.plus(DAY * (count - age) as u32),
                status: *status,
                inconclusive: !StatusMeaning::from_status(*status).settles(false),
                digest: *digest,
            })
            .collect()
    }

    fn stays(keep_versions: u32, keep_for: Duration, answers: &[(u16, u64)]) -> Vec<bool> {
        let rule = LibraryConfig { keep_versions, keep_for, ..LibraryConfig::default() };
        let versions = versions(answers);
        let now = versions[0].at.plus(DAY / 2);
        let current = Some(versions[0].position);
        let kept = kept_positions(&rule, now, current, &versions);
        versions.iter().map(|v| kept.contains(&v.position)).collect()
    }

    #[test]
    fn the_newest_versions_are_kept() {
        let answers = [(200, 4), (200, 3), (200, 2), (200, 1)];
        assert_eq!(stays(2, Duration::ZERO, &answers), [true, true, false, false]);
        assert_eq!(stays(0, DAY * 2, &answers), [true, true, false, false]);
        assert_eq!(stays(3, DAY, &answers), [true, false, false, false]);
    }

    #[test]
    fn what_is_shown_is_kept() {
        // The server is down: its last successful page is still shown.
        let answers = [(503, 0), (500, 9), (200, 2), (200, 1)];
        assert_eq!(stays(1, Duration::ZERO, &answers), [true, false, true, false]);
    }

    #[test]
    fn operators_decisions_are_kept_and_removed_pages_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let start = LibraryPosition::START;
        let stores = test_stores(&DataDir::at(dir.path()));
        let library = stores.own_library(&start.into(), Timestamp::EPOCH).unwrap();
        let catalog = stores.own_catalog().unwrap();
        let url = PageUrl::parse("http://example.org/").unwrap();
        let what = Removal::Page(url.clone());
        catalog.apply(&[CatalogChange::Removed(what.clone())], &LibraryPosition::new(1, 9).into()).unwrap();
        let events = [
            (LibraryEvent::Recrawl { whole_site: true }, RetentionAction::Keep),
            (LibraryEvent::Recrawl { whole_site: false }, RetentionAction::Keep),
            (LibraryEvent::Removed { what }, RetentionAction::Keep),
            (LibraryEvent::Alias { of: url.clone() }, RetentionAction::Keep),
            (LibraryEvent::Failed { reason: "timed out".into() }, RetentionAction::Erase),
        ];
        for (event, expected) in events {
            let record = LibraryRecord::new(url.clone(), Timestamp::EPOCH, RecordContent::Event(event));
            let stored = StoredRecord { position: start, next: start, record };
            let rule = LibraryConfig::default();
            let fate = record_fate(&*catalog, &*library, &rule, Timestamp::EPOCH, &stored).unwrap();
            assert_eq!(fate, expected, "{:?}", stored.record.content);
        }
    }

    #[test]
    fn what_a_kept_version_refers_to_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let start = LibraryPosition::START;
        let stores = test_stores(&DataDir::at(dir.path()));
        let library = stores.own_library(&start.into(), Timestamp::EPOCH).unwrap();
        let catalog = stores.own_catalog().unwrap();
        let url = PageUrl::parse("http://example.org/").unwrap();
        let visit = |day: u32, content: RecordContent| {
            let at = Timestamp::EPOCH.plus(DAY * day);
            let (position, next) =
                library.append(&[LibraryRecord::new(url.clone(), at, content)]).unwrap()[0];
            // The digest does not matter here.
            let digest = u64::from(day);
            let outcome = VisitOutcome::Responded(ResponseSummary {
                status: 200,
                position,
                digest,
                indexable: true,
                ..ResponseSummary::default()
            });
            let visited = CatalogChange::Visited { url: url.clone(), at, outcome, next_due: None };
            catalog.apply(&[visited], &next.into()).unwrap();
            position
        };
        let page = |body: &str| {
            RecordContent::Response(RawResponse { status: 200, body: body.into(), ..RawResponse::default() })
        };
        let first = visit(1, page("first"));
        let other = visit(2, page("other"));
        let again = visit(
            3,
            RecordContent::Revisit(Revisit {
                status: 200,
                headers: Vec::new(),
                address: None,
                refers_to: first,
                refers_to_at: Timestamp::EPOCH,
                digest: String::new(),
            }),
        );
        let rule = LibraryConfig { keep_versions: 1, ..LibraryConfig::default() };
        let fate = |position| {
            let stored = library.read(position).unwrap();
            record_fate(&*catalog, &*library, &rule, Timestamp::EPOCH, &stored).unwrap()
        };
        assert_eq!(
            (fate(first), fate(other), fate(again)),
            (RetentionAction::Keep, RetentionAction::Drop(2), RetentionAction::Keep)
        );
    }
}
