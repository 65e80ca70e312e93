//! Making again, from the library alone, what is derived from it. Nothing is fetched.
//!
//! The old one stays until the new one is whole, or the next start makes the rest: whatever moment a rebuild is cut
//! short at, the stores agree with the library as far as they say they do.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use pharos_core::config::Config;
use pharos_store::{Catalog as _, DataDir, DerivedWriter, DiskLibrary, Owner, SqliteCatalog, StoreError};
use serde::Serialize;

use crate::build::rebuild_index;
use crate::{BuildSummary, Engine, EngineError, Progress};

/// What can be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// What is known of sites and pages.
    Catalog,
    /// Page objects and links.
    Links,
    /// The index: one history generation.
    Index,
}

impl Part {
    /// Everything.
    pub const ALL: [Part; 3] = [Part::Catalog, Part::Links, Part::Index];
}

/// How far a rebuild has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebuilding {
    /// Reading the library for one part; so many records.
    Reading(Part, u64),
    /// Building the index.
    Index(Progress),
}

/// What was made again.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rebuilt {
    /// The parts.
    pub parts: Vec<Part>,
    /// Pages that the catalog knows.
    pub pages: u64,
    /// The index, where it was among the parts.
    pub index: Option<BuildSummary>,
}

/// Makes parts again from the library alone, as the owner of the data directory. `progress` is told how far it is and
/// says whether to go on.
pub fn rebuild(
    data: &DataDir,
    config: &Config,
    parts: &[Part],
    mut progress: impl FnMut(Rebuilding) -> bool,
) -> Result<Rebuilt, EngineError> {
    if crate::backup::is_unfinished(data) {
        return Err(EngineError::Unrestored { path: data.root().to_path_buf() });
    }
    let mut owner = data.own("rebuild")?;
    if DiskLibrary::open_reader(&data.library())?.files()?.is_empty() {
        return Err(EngineError::NoLibrary { path: data.root().to_path_buf() });
    }
    let mut rebuilt = Rebuilt { parts: parts.to_vec(), ..Rebuilt::default() };
    if parts.contains(&Part::Catalog) {
        owner = rebuild_catalog(owner, data, config, None, &mut |n| {
            progress(Rebuilding::Reading(Part::Catalog, n))
        })?;
    }
    if parts.contains(&Part::Links) {
        DerivedWriter::open(&data.library(), pharos_html::VERSION)?.clear()?;
    }
    owner = catch_up(owner, data, config, &mut |n| progress(Rebuilding::Reading(Part::Links, n)))?;
    if parts.contains(&Part::Index) {
        let built = rebuild_index(data, config, &mut |p| {
            if progress(Rebuilding::Index(p)) { Ok(()) } else { Err(EngineError::Stopped) }
        })?;
        rebuilt.index = Some(built);
    }
    drop(owner);
    let catalog = SqliteCatalog::open_reader(&data.catalog())?;
    rebuilt.pages = catalog.map_or(Ok(0), |catalog| catalog.counts().map(|counts| counts.pages))?;
    Ok(rebuilt)
}

/// Brings catalog and derived stores up to the end of the library.
pub(crate) fn catch_up(
    owner: Owner,
    data: &DataDir,
    config: &Config,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Owner, EngineError> {
    let engine = Engine::open_owned(owner, data.clone(), config.clone(), "rebuild", false)?;
    engine.intake_telling(go_on)?.finish()?;
    Ok(engine.close())
}

/// Reads the library into a new catalog and puts that in place. The old one is kept under the name `keep_as`, if any.
pub(crate) fn rebuild_catalog(
    owner: Owner,
    data: &DataDir,
    config: &Config,
    keep_as: Option<&Path>,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Owner, EngineError> {
    let (work, new) = (data.root().join("catalog.db.work"), data.root().join("catalog.db.new"));
    remove_database(&work)?;
    remove_database(&new)?;
    let catalog = SqliteCatalog::open_writer(&work)?;
    let engine = Engine::over(owner, data.clone(), config.clone(), "rebuild", catalog, false)?;
    engine.intake_telling(go_on)?.finish()?;
    // A copy is one whole file; the catalog that was written to has a log beside it.
    engine.catalog().backup(&new)?;
    let owner = engine.close();
    remove_database(&work)?;
    put_in_place(&new, &data.catalog(), keep_as)?;
    Ok(owner)
}

/// The log of the old catalog must never meet the new one: the old one goes first. Without a catalog the next start
/// makes a new one, so that no moment of this is dangerous.
fn put_in_place(new: &Path, catalog: &Path, keep_as: Option<&Path>) -> Result<(), StoreError> {
    let old = keep_as.map_or_else(|| beside(catalog, ".old"), Path::to_path_buf);
    remove_database(&old)?;
    for ending in ["", "-wal", "-shm"] {
        let (from, to) = (beside(catalog, ending), beside(&old, ending));
        match fs::rename(&from, &to) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("move", &from)(e)),
            _ => {}
        }
    }
    fs::rename(new, catalog).map_err(StoreError::io("put in place", catalog))?;
    let folder = catalog.parent().unwrap_or(catalog);
    File::open(folder).and_then(|d| d.sync_all()).map_err(StoreError::io("sync", folder))?;
    if keep_as.is_none() { remove_database(&old) } else { Ok(()) }
}

/// Removes a SQLite file with its log, if it is there.
pub(crate) fn remove_database(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm"] {
        let path = beside(path, ending);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path)(e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The path with something added to its name.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ending);
    PathBuf::from(name)
}
