//! The state of the index, for a reader beside the owner.

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPosition, SystemClock};
use pharos_index::{EmbeddedIndex, Generations, Index as _, Inventory};
use pharos_store::DataDir;
use serde::Serialize;

use crate::EngineError;
use crate::build_plan::rules;
use crate::schedule::{Extent, due, since};
use crate::stats::size;

/// The state of the index.
#[derive(Clone, Debug, Serialize)]
pub struct IndexStatus {
    /// The history in place.
    pub history: Option<GenerationStatus>,
    /// The generations that follow the library, oldest first; the last one is open.
    pub latest: Vec<GenerationStatus>,
    /// What is kept for going back: the history before, then the latest generations that belonged to it.
    pub previous: Vec<GenerationStatus>,
    /// Is the history in place damaged, so that the one before answers?
    pub refused: bool,
    /// Pages that can be found.
    pub searchable: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Documents of latest, as a part of those of history; none without a history.
    pub latest_share: Option<f64>,
    /// Is somebody building?
    pub building: bool,
    /// A build that was begun and is not finished.
    pub unfinished: Option<Unfinished>,
    /// When `pharos up` builds next, by its settings.
    pub next_build: Option<String>,
}

/// The state of one generation.
#[derive(Clone, Debug, Serialize)]
pub struct GenerationStatus {
    /// `history` or `latest`.
    pub kind: &'static str,
    /// Its number.
    pub number: u64,
    /// It knows the library from here on.
    pub from: LibraryPosition,
    /// And up to here; the open generation grows.
    pub to: Option<LibraryPosition>,
    /// Its pages, copies not counted; of latest with the marks of pages that are gone.
    pub pages: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// When a history was finished, or a latest generation begun.
    pub since: Option<String>,
}

/// A build that is not finished.
#[derive(Clone, Debug, Serialize)]
pub struct Unfinished {
    /// It reads the library up to here.
    pub to: LibraryPosition,
    /// Pages that it has saved.
    pub saved: u64,
    /// Would the next build go on with it? Otherwise versions or settings have changed.
    pub goes_on: bool,
}

/// Looks at the index.
pub fn index_status(data: &DataDir, config: &Config) -> Result<IndexStatus, EngineError> {
    let generations = Generations::at(data.index());
    let index = EmbeddedIndex::open_reader(&data.index())?;
    let current = generations.current()?;
    let described = |kind, number, from, to, found: Inventory| GenerationStatus {
        kind,
        number,
        from,
        to,
        pages: found.pages,
        bytes: found.bytes,
        since: found.since.map(|since| since.to_string()),
    };
    let history = |history: pharos_index::History| {
        let found = generations.inventory_of(history);
        described("history", history.number, LibraryPosition::START, Some(history.to), found)
    };
    let chain = |latest: &[pharos_index::Latest], end: Option<LibraryPosition>| {
        let ends = latest.iter().skip(1).map(|next| Some(next.from)).chain([end]);
        let one = |(latest, to): (&pharos_index::Latest, _)| {
            described("latest", latest.number, latest.from, to, generations.inventory_of_latest(*latest))
        };
        latest.iter().zip(ends).map(one).collect::<Vec<_>>()
    };
    let (in_history, in_latest) = index.documents()?;
    let extent = Extent { since: since(&generations)?, history: in_history, latest: in_latest };
    let next = due(&config.index, extent, SystemClock.now());
    let unfinished = generations.plan().map(|plan| Unfinished {
        to: plan.to,
        saved: generations.saved().map_or(0, |(_, pages)| pages),
        goes_on: plan.rules == rules(config),
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
        refused: index.refused()?.is_some(),
        searchable: index.snapshot()?.pages()?,
        bytes: size(&data.index()),
        latest_share: (in_history > 0).then(|| in_latest as f64 / in_history as f64),
        building: generations.is_building(),
        unfinished,
        next_build: next.map(|at| at.to_string()),
    })
}
