//! Rebuilds derived stores from the library alone, without any request.
//!
//! The old store stays until the new one is complete; otherwise the next start rebuilds it. Interrupted at any time, the
//! stores agree with the library up to the positions they record.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use pharos_core::config::Config;
use pharos_store::{Catalog as _, DataDir, DerivedWriter, DiskLibrary, OwnerLock, SqliteCatalog, StoreError};
use serde::Serialize;

use crate::build::history::rebuild_index;
use crate::build::history::{BuildProgress, BuildSummary};
use crate::{Engine, EngineError};

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
    /// Reading the library for a store; records read.
    Reading(RebuildPart, u64),
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
/// `progress` receives the progress and returns `false` to stop.
pub fn rebuild(
    data: &DataDir,
    config: &Config,
    parts: &[RebuildPart],
    mut progress: impl FnMut(RebuildProgress) -> bool,
) -> Result<RebuildSummary, EngineError> {
    if crate::maintenance::backup::is_restore_incomplete(data) {
        return Err(EngineError::RestoreIncomplete { path: data.root().to_path_buf() });
    }
    let mut owner = data.own("rebuild")?;
    if DiskLibrary::open_reader(&data.library())?.files()?.is_empty() {
        return Err(EngineError::NoLibrary { path: data.root().to_path_buf() });
    }
    let mut rebuilt = RebuildSummary { parts: parts.to_vec(), ..RebuildSummary::default() };
    if parts.contains(&RebuildPart::Catalog) {
        owner = rebuild_catalog(owner, data, config, None, &mut |n| {
            progress(RebuildProgress::Reading(RebuildPart::Catalog, n))
        })?;
    }
    if parts.contains(&RebuildPart::Links) {
        DerivedWriter::open(&data.library(), pharos_html::VERSION)?.clear()?;
    }
    owner =
        catch_up(owner, data, config, &mut |n| progress(RebuildProgress::Reading(RebuildPart::Links, n)))?;
    if parts.contains(&RebuildPart::Index) {
        let built = rebuild_index(data, config, &mut |p| {
            if progress(RebuildProgress::Index(p)) { Ok(()) } else { Err(EngineError::Stopped) }
        })?;
        rebuilt.index = Some(built);
    }
    drop(owner);
    let catalog = SqliteCatalog::open_reader(&data.catalog())?;
    rebuilt.pages = catalog.map_or(Ok(0), |catalog| catalog.counts().map(|counts| counts.pages))?;
    Ok(rebuilt)
}

/// Applies the rest of the library to catalog and derived stores.
pub(crate) fn catch_up(
    owner: OwnerLock,
    data: &DataDir,
    config: &Config,
    keep_going: &mut dyn FnMut(u64) -> bool,
) -> Result<OwnerLock, EngineError> {
    let engine = Engine::open_owned(owner, data.clone(), config.clone(), "rebuild", false)?;
    engine.ingest_with_progress(keep_going)?.finish()?;
    Ok(engine.close())
}

/// Replays the library into a new catalog and installs it. The old one is kept as `keep_as`, if given.
pub(crate) fn rebuild_catalog(
    owner: OwnerLock,
    data: &DataDir,
    config: &Config,
    keep_as: Option<&Path>,
    keep_going: &mut dyn FnMut(u64) -> bool,
) -> Result<OwnerLock, EngineError> {
    let (work, new) = (data.root().join("catalog.db.work"), data.root().join("catalog.db.new"));
    remove_database(&work)?;
    remove_database(&new)?;
    let catalog = SqliteCatalog::open_writer(&work)?;
    let engine = Engine::open_with_catalog(owner, data.clone(), config.clone(), "rebuild", catalog, false)?;
    engine.ingest_with_progress(keep_going)?.finish()?;
    // A backup copy is a single complete file; the catalog just written has a WAL beside it.
    engine.catalog().backup(&new)?;
    let owner = engine.close();
    remove_database(&work)?;
    install_catalog(&new, &data.catalog(), keep_as)?;
    Ok(owner)
}

/// Installs the new catalog.
///
/// The old catalog is moved away first, because its WAL must never be applied to the new file. Without a catalog the next
/// start builds one, so every intermediate state is safe.
fn install_catalog(new: &Path, catalog: &Path, keep_as: Option<&Path>) -> Result<(), StoreError> {
    let old = keep_as.map_or_else(|| with_suffix(catalog, ".old"), Path::to_path_buf);
    remove_database(&old)?;
    for ending in ["", "-wal", "-shm"] {
        let (from, to) = (with_suffix(catalog, ending), with_suffix(&old, ending));
        match fs::rename(&from, &to) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("move", &from)(e)),
            _ => {}
        }
    }
    fs::rename(new, catalog).map_err(StoreError::io("install", catalog))?;
    let folder = catalog.parent().unwrap_or(catalog);
    File::open(folder).and_then(|d| d.sync_all()).map_err(StoreError::io("sync", folder))?;
    if keep_as.is_none() { remove_database(&old) } else { Ok(()) }
}

/// Removes a SQLite file and its WAL, if present.
pub(crate) fn remove_database(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm"] {
        let path = with_suffix(path, ending);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path)(e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the path with a suffix appended to its name.
fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ending);
    PathBuf::from(name)
}
