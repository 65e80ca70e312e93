//! Size and age of each generation.

use std::fs;
use std::path::Path;

use pharos_core::Timestamp;

use crate::document::schema::OTHER_BEGIN;
use crate::generations::generation::Generation;
use crate::generations::manifest;

/// Size and age of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GenerationInventory {
    /// Number of pages without copies; for latest generations, tombstones included.
    pub pages: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Time at which a history was finished, or a latest generation was created.
    pub since: Option<Timestamp>,
    /// `true` if its format is older than the current one, which a build replaces.
    pub is_older: bool,
}

impl GenerationInventory {
    /// Measures the history generation in a directory.
    pub(crate) fn measure_history(folder: &Path) -> Self {
        let manifest = manifest::read(folder).ok();
        let (pages, since) = (manifest.as_ref().map_or(0, |m| m.pages), manifest.map(|m| m.built));
        Self { pages, bytes: bytes(folder), since, is_older: is_older(folder) }
    }

    /// Measures the latest generation in a directory.
    pub(crate) fn measure_latest(folder: &Path) -> Self {
        let pages =
            Generation::open(folder).ok().flatten().map_or(0, |generation| generation.searcher().num_docs());
        // The vocabulary is written once, when the generation is created.
        let begun = fs::metadata(folder.join("words.tsv")).and_then(|meta| meta.modified()).ok();
        let since = begun.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let since = since.map(|since| Timestamp::EPOCH.plus(since));
        Self { pages, bytes: bytes(folder), since, is_older: is_older(folder) }
    }
}

/// Returns `true` if the schema of a generation has no other text. A generation that does not exist yet is current.
fn is_older(folder: &Path) -> bool {
    fs::read_to_string(folder.join("meta.json")).is_ok_and(|meta| !meta.contains(OTHER_BEGIN))
}

/// Returns the total size of the files of a directory. Files that disappear meanwhile are not counted.
fn bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}
