//! Checks the link-analysis results: readability, agreement with the library, and remains of interrupted builds.

use std::thread;
use std::time::Duration;

use pharos_core::LibraryPositions;
use pharos_graph::relations::{unfinished_folders, verify};
use pharos_graph::{GraphError, Relations};
use pharos_index::IndexError;
use pharos_store::StoreError;

use super::{CheckedStore, Examination};
use crate::{EngineError, Stores};

const COST: &str = "`pharos graph` and `pharos dedup` fail or report stale data; the index is unaffected";
const CURE: &str = "`pharos graph build` or the next index build computes it again";
/// Delay and number of repeated checks: a finishing build replaces the files.
const RECHECK_DELAY: Duration = Duration::from_millis(200);
const RECHECKS: usize = 3;

/// Returns the position up to which links were analysed, if the results are readable.
///
/// Called before the library is read, which may grow in the meantime.
pub(super) fn open(stores: &Stores, exam: &mut Examination) -> Option<LibraryPositions> {
    let folder = stores.data().graph();
    let open = || Relations::open(&folder).and_then(|relations| verify(&folder).map(|()| relations));
    let mut opened = open();
    for _ in 0..RECHECKS {
        if matches!(opened, Ok(_) | Err(GraphError::NotBuilt { .. })) {
            break;
        }
        thread::sleep(RECHECK_DELAY);
        opened = open();
    }
    match opened {
        Ok(relations) => Some(relations.library_positions().clone()),
        Err(GraphError::NotBuilt { .. }) => None,
        Err(error) => {
            exam.needs.graph = true;
            let (place, what) = match error {
                GraphError::Unusable { path, problem } => (path, format!("it {problem}")),
                error => (folder, error.to_string()),
            };
            exam.fault(CheckedStore::Graph, place.display(), what, COST, CURE);
            None
        }
    }
}

/// Compares the results with the library and looks for remains of interrupted builds.
pub(super) fn examine(
    stores: &Stores,
    to: Option<LibraryPositions>,
    end: &LibraryPositions,
    exam: &mut Examination,
) -> Result<(), EngineError> {
    let data = stores.data();
    if let Some(to) = to.filter(|to| !end.covers_all(to)) {
        exam.needs.graph = true;
        let what = format!("it covers the library up to {to}, but the library ends at {end}");
        exam.fault(CheckedStore::Graph, data.graph().display(), what, COST, CURE);
    }
    let left = || unfinished_folders(&data.graph()).map_err(StoreError::io("read", &data.graph()));
    if left()?.is_empty() {
        return Ok(());
    }
    // Alongside a builder, this is the build in progress.
    let _builder = match stores.lock_builder() {
        Err(EngineError::Index(IndexError::BuildRunning { .. })) => return Ok(()),
        builder => builder?,
    };
    for path in left()? {
        exam.needs.unfinished_graph = true;
        // Builds may be killed at any time. Remains are never read, and the next build removes them.
        exam.note(
            CheckedStore::Graph,
            path.display(),
            "left behind by an interrupted build; the next build removes it",
        );
    }
    Ok(())
}
