//! Status of the index, for readers alongside the owner.

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPosition, SystemClock};
use pharos_index::generations::GenerationInventory;
use pharos_index::{EmbeddedIndex, Generations, Index as _};
use pharos_store::DataDir;
use serde::Serialize;

use crate::EngineError;
use crate::build::plan::settings_fingerprint;
use crate::build::schedule::{IndexSize, last_build_time, next_build_at};
use crate::status::data_dir::disk_usage;

/// Status of the index.
#[derive(Clone, Debug, Serialize)]
pub struct IndexStatus {
    /// The history generation in use.
    pub history: Option<GenerationStatus>,
    /// The latest generations, oldest first; the last one is open.
    pub latest: Vec<GenerationStatus>,
    /// Generations kept for a rollback: the previous history, then its latest generations.
    pub previous: Vec<GenerationStatus>,
    /// `true` if the history generation is damaged, so that the previous one serves queries.
    pub refused: bool,
    /// Pages in the index.
    pub searchable: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Documents of latest relative to those of history; `None` without a history.
    pub latest_share: Option<f64>,
    /// `true` while a build is running.
    pub building: bool,
    /// An interrupted or running build.
    pub unfinished: Option<UnfinishedBuild>,
    /// Time of the next scheduled build.
    pub next_build: Option<String>,
}

/// Status of one generation.
#[derive(Clone, Debug, Serialize)]
pub struct GenerationStatus {
    /// `history` or `latest`.
    pub kind: &'static str,
    pub number: u64,
    /// Start of the library range it covers.
    pub from: LibraryPosition,
    /// End of the range; `None` for the open generation.
    pub to: Option<LibraryPosition>,
    /// Documents without copies; of latest, including tombstones.
    pub pages: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Completion time of a history, or start of a latest generation.
    pub since: Option<String>,
}

/// A build that is not complete.
#[derive(Clone, Debug, Serialize)]
pub struct UnfinishedBuild {
    /// Library position up to which it builds.
    pub to: LibraryPosition,
    /// Pages saved so far.
    pub saved: u64,
    /// `true` if the next build resumes it. Otherwise versions or settings have changed.
    pub goes_on: bool,
}

/// Returns the status of the index.
pub fn index_status(data: &DataDir, config: &Config) -> Result<IndexStatus, EngineError> {
    let generations = Generations::at(data.index());
    let index = EmbeddedIndex::open_reader(&data.index())?;
    let current = generations.current()?;
    let described = |kind, number, from, to, found: GenerationInventory| GenerationStatus {
        kind,
        number,
        from,
        to,
        pages: found.pages,
        bytes: found.bytes,
        since: found.since.map(|since| since.to_string()),
    };
    let history = |history: pharos_index::generations::HistoryGeneration| {
        let found = generations.inventory_of(history);
        described("history", history.number, LibraryPosition::START, Some(history.to), found)
    };
    let chain = |latest: &[pharos_index::generations::LatestGeneration], end: Option<LibraryPosition>| {
        let ends = latest.iter().skip(1).map(|next| Some(next.from)).chain([end]);
        let one = |(latest, to): (&pharos_index::generations::LatestGeneration, _)| {
            described("latest", latest.number, latest.from, to, generations.inventory_of_latest(*latest))
        };
        latest.iter().zip(ends).map(one).collect::<Vec<_>>()
    };
    let (in_history, in_latest) = index.documents()?;
    let size = IndexSize { since: last_build_time(&generations)?, history: in_history, latest: in_latest };
    let next = next_build_at(&config.index, size, SystemClock.now());
    let unfinished = generations.plan().map(|plan| UnfinishedBuild {
        to: plan.to,
        saved: generations.build_checkpoint().map_or(0, |(_, pages)| pages),
        goes_on: plan.rules == settings_fingerprint(config),
    });
    let mut previous = Vec::new();
    if let Some(kept) = &current.previous {
        previous.push(history(kept.history));
        previous.extend(chain(&kept.latest, Some(kept.to)));
    }
    Ok(IndexStatus {
        history: current.history.map(history),
        latest: chain(&current.latest, None),
        previous,
        refused: index.refused_history()?.is_some(),
        searchable: index.view()?.pages()?,
        bytes: disk_usage(&data.index()),
        latest_share: (in_history > 0).then(|| in_latest as f64 / in_history as f64),
        building: generations.is_building(),
        unfinished,
        next_build: next.map(|at| at.to_string()),
    })
}
