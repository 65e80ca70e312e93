//! Size and age of each generation.

use std::fs;

use pharos_core::Timestamp;

use crate::generations::Generations;
use crate::generations::chain::{HistoryGeneration, LatestGeneration};
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
}

impl Generations {
    /// Returns size and age of a history generation.
    pub fn inventory_of(&self, history: HistoryGeneration) -> GenerationInventory {
        let folder = self.history_dir(history.number);
        let manifest = manifest::read(&folder).ok();
        let (pages, since) = (manifest.as_ref().map_or(0, |m| m.pages), manifest.map(|m| m.built));
        GenerationInventory { pages, bytes: bytes(&folder), since }
    }

    /// Returns size and age of a latest generation.
    pub fn inventory_of_latest(&self, latest: LatestGeneration) -> GenerationInventory {
        let folder = self.latest_dir(latest.number);
        let pages =
            Generation::open(&folder).ok().flatten().map_or(0, |generation| generation.searcher().num_docs());
        // The vocabulary is written once, when the generation is created.
        let begun = fs::metadata(folder.join("words.tsv")).and_then(|meta| meta.modified()).ok();
        let since = begun.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let since = since.map(|since| Timestamp::EPOCH.plus(since));
        GenerationInventory { pages, bytes: bytes(&folder), since }
    }
}

/// Returns the total size of the files of a directory. Files that disappear meanwhile are not counted.
fn bytes(folder: &std::path::Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}
