//! Rebuilds derived stores from the library alone, without any request.
//!
//! The old store stays until the new one is complete; otherwise the next start rebuilds it. Interrupted at any time, the
//! stores agree with the library up to the positions they record.

use pharos_core::config::Config;
use pharos_index::ReplacedGenerations;
use pharos_store::{DataDir, DerivedWriter, OwnerLock};
use serde::Serialize;

use crate::build::history::rebuild_index;
use crate::build::history::{BuildProgress, BuildSummary};
pub use crate::stages::ingest::ReplayProgress;
use crate::{Engine, EngineError, Stores};

/// A store that can be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RebuildPart {
    /// Sites, pages, versions and the schedule.
    Catalog,
    /// Page objects and links.
    Links,
    /// The index, as one history generation.
    Index,
}

impl RebuildPart {
    /// All stores.
    pub const ALL: [RebuildPart; 3] = [RebuildPart::Catalog, RebuildPart::Links, RebuildPart::Index];
}

/// Progress of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RebuildProgress {
    /// Reading the library for a store.
    Reading(RebuildPart, ReplayProgress),
    /// Building the index.
    Index(BuildProgress),
}

/// The outcome of a rebuild.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RebuildSummary {
    pub parts: Vec<RebuildPart>,
    /// Pages in the catalog.
    pub pages: u64,
    /// The index build, if the index was among the parts.
    pub index: Option<BuildSummary>,
}

/// Rebuilds stores from the library, as the owner of the data directory.
///
/// A library that lacks records which catalog or index have applied is refused. With `force` the stores are rebuilt from the
/// rest of it, and the old ones are set aside. `progress` receives the progress and returns `false` to stop.
pub fn rebuild(
    data: &DataDir,
    config: &Config,
    parts: &[RebuildPart],
    force: bool,
    mut progress: impl FnMut(RebuildProgress) -> bool,
) -> Result<RebuildSummary, EngineError> {
    if crate::maintenance::backup::is_restore_incomplete(data) {
        return Err(EngineError::RestoreIncomplete { path: data.root().to_path_buf() });
    }
    let stores = Stores::open(data, config)?;
    if stores.library()?.volumes()?.is_empty() {
        return Err(EngineError::NoLibrary { path: data.root().to_path_buf() });
    }
    let is_incomplete = match stores.check_library() {
        Err(EngineError::LibraryIncomplete { .. }) if force => true,
        checked => checked.map(|()| false)?,
    };
    let mut owner = data.own("rebuild")?;
    let mut parts = parts.to_vec();
    if is_incomplete && !parts.contains(&RebuildPart::Catalog) {
        // No store can follow the rest of the library beside a catalog that is ahead of it.
        parts.insert(0, RebuildPart::Catalog);
    }
    let mut rebuilt = RebuildSummary { parts: parts.clone(), ..RebuildSummary::default() };
    if parts.contains(&RebuildPart::Catalog) {
        owner = rebuild_catalog(owner, data, config, is_incomplete, &mut |n| {
            progress(RebuildProgress::Reading(RebuildPart::Catalog, n))
        })?;
    }
    if parts.contains(&RebuildPart::Links) {
        DerivedWriter::open(&data.library(), pharos_html::VERSION)?.clear()?;
    }
    owner =
        catch_up(owner, data, config, &mut |n| progress(RebuildProgress::Reading(RebuildPart::Links, n)))?;
    if parts.contains(&RebuildPart::Index) {
        let replaced =
            if is_incomplete { ReplacedGenerations::SetAside } else { ReplacedGenerations::Remove };
        let built = rebuild_index(data, config, replaced, &mut |p| {
            if progress(RebuildProgress::Index(p)) { Ok(()) } else { Err(EngineError::Stopped) }
        })?;
        rebuilt.index = Some(built);
    }
    drop(owner);
    rebuilt.pages = stores.catalog()?.map_or(Ok(0), |catalog| catalog.counts().map(|counts| counts.pages))?;
    Ok(rebuilt)
}

/// Applies the rest of the library to catalog and derived stores.
pub(crate) fn catch_up(
    owner: OwnerLock,
    data: &DataDir,
    config: &Config,
    keep_going: &mut dyn FnMut(ReplayProgress) -> bool,
) -> Result<OwnerLock, EngineError> {
    let engine = Engine::open_owned(owner, data.clone(), config.clone(), "rebuild", false)?;
    engine.ingest_with_progress(keep_going)?.finish()?;
    Ok(engine.close())
}

/// Replays the library into a new catalog and installs it. With `keep_damaged`, the old one is set aside.
pub(crate) fn rebuild_catalog(
    owner: OwnerLock,
    data: &DataDir,
    config: &Config,
    keep_damaged: bool,
    keep_going: &mut dyn FnMut(ReplayProgress) -> bool,
) -> Result<OwnerLock, EngineError> {
    let replacement = Stores::open(data, config)?.replace_catalog()?;
    let (data, config, catalog) = (data.clone(), config.clone(), replacement.catalog());
    let engine = Engine::open_with_catalog(owner, data, config, "rebuild", catalog, false)?;
    engine.ingest_with_progress(keep_going)?.finish()?;
    let owner = engine.close();
    replacement.install(keep_damaged)?;
    Ok(owner)
}
