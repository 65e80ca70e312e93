//! How large each generation is, and since when it is there.

use std::fs;

use pharos_core::Timestamp;

use crate::current::{History, Latest};
use crate::generations::Generations;
use crate::manifest;
use crate::member::Member;

/// What there is of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Its pages, copies not counted; of a latest generation with the marks of pages that are gone.
    pub pages: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// When a history was finished, or a latest generation begun.
    pub since: Option<Timestamp>,
}

impl Generations {
    /// What there is of a history generation.
    pub fn inventory_of(&self, history: History) -> Inventory {
        let folder = self.history_dir(history.number);
        let manifest = manifest::read(&folder).ok();
        let (pages, since) = (manifest.as_ref().map_or(0, |m| m.pages), manifest.map(|m| m.built));
        Inventory { pages, bytes: bytes(&folder), since }
    }

    /// What there is of a latest generation.
    pub fn inventory_of_latest(&self, latest: Latest) -> Inventory {
        let folder = self.latest_dir(latest.number);
        let pages = Member::open(&folder).ok().flatten().map_or(0, |member| member.searcher().num_docs());
        // Its words are written once, when it is begun.
        let begun = fs::metadata(folder.join("words.tsv")).and_then(|meta| meta.modified()).ok();
        let since = begun.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let since = since.map(|since| Timestamp::EPOCH.plus(since));
        Inventory { pages, bytes: bytes(&folder), since }
    }
}

/// Bytes of the files of a folder; what vanishes meanwhile does not count.
fn bytes(folder: &std::path::Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}
