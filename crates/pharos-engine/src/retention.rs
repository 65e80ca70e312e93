//! Which versions of a page are kept, and the compaction that lets the others go.

use pharos_core::config::{Config, LibraryConfig};
use pharos_core::{Clock as _, LibraryPosition, SystemClock, Timestamp};
use pharos_store::{
    Catalog, Compacted, Content, DataDir, DerivedWriter, DiskLibrary, Fate, StoreError, StoredRecord, Version,
};
use tokio::sync::watch;
use tracing::info;

use crate::reading::settles;
use crate::{Engine, EngineError};

/// Writes the files of the library again without what was removed and what the retention rule no longer wants
/// (`library.keep_versions`, `library.keep_for`). Readers go on. `progress` hears of each file and says whether to go
/// on.
pub fn compact(
    data: &DataDir,
    config: &Config,
    mut progress: impl FnMut(u32) -> bool,
) -> Result<Compacted, EngineError> {
    let engine = Engine::open(data.clone(), config.clone(), "compact", true)?;
    let (_stop, never) = watch::channel(false);
    // What was ordered last must be known before anything is let go.
    engine.intake(&never)?.finish()?;
    engine.library().seal()?;
    let catalog = engine.catalog();
    let library = DiskLibrary::open_reader(&data.library())?;
    let end = engine.library().end()?;
    let now = SystemClock.now();
    let mut total = Compacted::default();
    for (number, path) in library.files()? {
        if number >= end.file {
            break;
        }
        if !progress(number) {
            return Err(EngineError::Stopped);
        }
        let mut failed = None;
        let one = library.compact(number, &mut |stored| {
            fate(&*catalog, &config.library, now, stored).unwrap_or_else(|error| {
                failed = Some(error);
                Fate::Keep
            })
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        if one.files > 0 {
            info!(path = %path.display(), before = one.before, after = one.after, "compacted");
            // What was derived from the records that are gone goes with them; the rest is derived again.
            DerivedWriter::open(&data.library(), pharos_html::VERSION)?.drop_file(number)?;
        }
        total = Compacted {
            files: total.files + one.files,
            dropped: total.dropped + one.dropped,
            erased: total.erased + one.erased,
            before: total.before + one.before,
            after: total.after + one.after,
        };
    }
    engine.intake(&never)?.finish()?;
    Ok(total)
}

/// What becomes of a record.
fn fate(
    catalog: &dyn Catalog,
    rule: &LibraryConfig,
    now: Timestamp,
    stored: &StoredRecord,
) -> Result<Fate, StoreError> {
    let record = &stored.record;
    if matches!(record.content, Content::Event(_)) {
        return Ok(Fate::Keep);
    }
    if catalog.is_removed(&record.url)? {
        return Ok(Fate::Erase);
    }
    if rule.keep_versions == 0 && rule.keep_for.is_zero() {
        return Ok(Fate::Keep);
    }
    let current = catalog.page(record.url.id())?.and_then(|story| story.position);
    let versions = catalog.versions(record.url.id())?;
    Ok(wanted(rule, now, current, &versions, stored.position))
}

/// What the retention rule says of the version at a position. `versions` are those of the page, newest first.
fn wanted(
    rule: &LibraryConfig,
    now: Timestamp,
    current: Option<LibraryPosition>,
    versions: &[Version],
    position: LibraryPosition,
) -> Fate {
    // What is shown and searched now is kept whatever the rule: the last answer, and the last that says something.
    let settled = versions.iter().find(|v| settles(v.status)).map(|v| v.position);
    let is_kept = |rank: usize, version: &Version| {
        let few = rule.keep_versions == 0 || rank < rule.keep_versions as usize;
        let young = rule.keep_for.is_zero() || now.since(version.at) < rule.keep_for;
        (few && young) || Some(version.position) == current || Some(version.position) == settled
    };
    let Some(version) = versions.iter().find(|v| v.position == position) else { return Fate::Keep };
    // An unchanged version refers to the record that has the content.
    let needed = versions
        .iter()
        .enumerate()
        .any(|(rank, v)| is_kept(rank, v) && (v.position == position || v.digest == version.digest));
    if needed { Fate::Keep } else { Fate::Drop(version.digest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const DAY: Duration = Duration::from_secs(86_400);

    /// Versions of one a day, newest first, with their status and digest.
    fn versions(answers: &[(u16, u64)]) -> Vec<Version> {
        let count = answers.len() as u64;
        answers
            .iter()
            .zip(0..)
            .map(|((status, digest), age)| Version {
                position: LibraryPosition { file: 1, offset: 1000 * (count - age) },
                at: Timestamp::EPOCH.plus(DAY * (count - age) as u32),
                status: *status,
                digest: *digest,
            })
            .collect()
    }

    fn kept(keep_versions: u32, keep_for: Duration, answers: &[(u16, u64)]) -> Vec<bool> {
        let rule = LibraryConfig { keep_versions, keep_for, ..LibraryConfig::default() };
        let versions = versions(answers);
        let now = versions[0].at.plus(DAY / 2);
        let current = Some(versions[0].position);
        versions.iter().map(|v| wanted(&rule, now, current, &versions, v.position) == Fate::Keep).collect()
    }

    #[test]
    fn the_newest_versions_are_kept() {
        let answers = [(200, 4), (200, 3), (200, 2), (200, 1)];
        assert_eq!(kept(2, Duration::ZERO, &answers), [true, true, false, false]);
        assert_eq!(kept(0, DAY * 2, &answers), [true, true, false, false]);
        assert_eq!(kept(3, DAY, &answers), [true, false, false, false]);
    }

    #[test]
    fn what_is_shown_or_referred_to_is_kept() {
        // The server is down: the last page it gave is still what people find.
        assert_eq!(
            kept(1, Duration::ZERO, &[(503, 0), (500, 9), (200, 2), (200, 1)]),
            [true, false, true, false]
        );
        // The newest version may be a mere reference to the oldest.
        assert_eq!(kept(1, Duration::ZERO, &[(200, 1), (200, 2), (200, 1)]), [true, false, true]);
    }
}
