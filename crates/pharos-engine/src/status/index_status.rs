//! Status of the index, for readers alongside the owner.

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPositions, SystemClock};
use pharos_index::GenerationalIndex;
use pharos_index::generations::{GenerationInventory, HistoryGeneration, LatestGeneration};
use pharos_store::DataDir;
use serde::Serialize;

use crate::build::plan::settings_fingerprint;
use crate::build::schedule::{IndexSize, next_build_at};
use crate::status::data_dir::disk_usage;
use crate::{EngineError, Stores};

/// Status of the index.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IndexStatus {
    /// The history generation in use.
    pub history: Option<GenerationStatus>,
    /// The latest generations, oldest first; the last one is open.
    pub latest: Vec<GenerationStatus>,
    /// Generations kept for a rollback: the previous history, then its latest generations.
    pub previous: Vec<GenerationStatus>,
    /// `true` if the history generation is damaged, so that the previous one serves queries.
    pub refused: bool,
    /// `true` if a generation in use has an older format: it lacks what this release indexes in addition, until a build.
    pub outdated: bool,
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
    /// Number of pages at which the first history is built, unless the crawl pauses before (`index.first_build`). `None`
    /// if there is a history.
    pub first_build: Option<u64>,
}

/// Status of one generation.
#[derive(Clone, Debug, Serialize)]
pub struct GenerationStatus {
    /// `history` or `latest`.
    pub kind: &'static str,
    pub number: u64,
    /// Start of the library range it covers.
    pub from: LibraryPositions,
    /// End of the range; `None` for the open generation.
    pub to: Option<LibraryPositions>,
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
    pub to: LibraryPositions,
    /// Pages saved so far.
    pub saved: u64,
    /// `true` if the next build resumes it. Otherwise versions or settings have changed.
    pub goes_on: bool,
}

/// Returns the status of the index. An index that consists of no generations of ours has only totals.
pub fn index_status(data: &DataDir, config: &Config) -> Result<IndexStatus, EngineError> {
    let index = Stores::open(data, config)?.index()?;
    let totals = IndexStatus {
        searchable: index.view()?.pages()?,
        bytes: disk_usage(&data.index()),
        ..IndexStatus::default()
    };
    match index.generational() {
        Some(index) => describe_generations(index, data, config, totals),
        None => Ok(totals),
    }
}

fn describe_generations(
    index: &dyn GenerationalIndex,
    data: &DataDir,
    config: &Config,
    totals: IndexStatus,
) -> Result<IndexStatus, EngineError> {
    let generations = index.generations();
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
    let history = |history: &HistoryGeneration| {
        let found = generations.inventory_of(history);
        described("history", history.number, LibraryPositions::START, Some(history.to.clone()), found)
    };
    let chain = |latest: &[LatestGeneration], end: Option<LibraryPositions>| {
        let ends = latest.iter().skip(1).map(|next| Some(next.from.clone())).chain([end]);
        let one = |(latest, to): (&LatestGeneration, _)| {
            described(
                "latest",
                latest.number,
                latest.from.clone(),
                to,
                generations.inventory_of_latest(latest),
            )
        };
        latest.iter().zip(ends).map(one).collect::<Vec<_>>()
    };
    let size = IndexSize::read(index)?;
    let next = next_build_at(&config.index, &config.crawl.time_zone, size, false, SystemClock.now());
    let build = generations.build_directory();
    let unfinished = build.plan().map(|plan| UnfinishedBuild {
        to: plan.to,
        saved: build.checkpoint().map_or(0, |(_, pages)| pages),
        goes_on: plan.rules == settings_fingerprint(config, data),
    });
    let mut previous = Vec::new();
    if let Some(kept) = &current.previous {
        previous.push(history(&kept.history));
        previous.extend(chain(&kept.latest, Some(kept.to.clone())));
    }
    Ok(IndexStatus {
        history: current.history.as_ref().map(history),
        latest: chain(&current.latest, None),
        previous,
        refused: index.refused_history()?.is_some(),
        outdated: current.history.iter().any(|history| generations.inventory_of(history).is_older)
            || current.latest.iter().any(|latest| generations.inventory_of_latest(latest).is_older),
        latest_share: (size.history > 0).then(|| size.latest as f64 / size.history as f64),
        building: generations.is_building(),
        unfinished,
        next_build: next.map(|at| at.to_string()),
        first_build: Some(config.index.first_build).filter(|pages| *pages > 0 && current.history.is_none()),
        ..totals
    })
}
