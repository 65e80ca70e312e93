//! What the web says about pages: can it be read, does it know no more than the library, and is nothing left over?

use std::thread;
use std::time::Duration;

use pharos_core::LibraryPosition;
use pharos_graph::relations::unfinished;
use pharos_graph::{GraphError, Relations};
use pharos_index::{Generations, IndexError};
use pharos_store::{DataDir, StoreError};

use super::{Exam, Store};
use crate::EngineError;

const COST: &str =
    "pharos graph and pharos dedup tell nothing, or of what is not there; the index is not touched";
const CURE: &str = "pharos graph build, or the next index build, makes it again";
/// How long and how often a second look is taken: a build that ends replaces what is read.
const PAUSE: Duration = Duration::from_millis(200);
const LOOKS: usize = 3;

/// How far the relations have come, where there are any that can be read. Asked before the library is read, which may
/// grow beside them.
pub(super) fn open(data: &DataDir, exam: &mut Exam) -> Option<LibraryPosition> {
    let folder = data.graph();
    let mut opened = Relations::open(&folder);
    for _ in 0..LOOKS {
        if matches!(opened, Ok(_) | Err(GraphError::NotBuilt { .. })) {
            break;
        }
        thread::sleep(PAUSE);
        opened = Relations::open(&folder);
    }
    match opened {
        Ok(relations) => Some(relations.to()),
        Err(GraphError::NotBuilt { .. }) => None,
        Err(error) => {
            exam.needs.graph = true;
            let what = match &error {
                GraphError::Unusable { problem, .. } => format!("it {problem}"),
                error => error.to_string(),
            };
            exam.fault(Store::Graph, folder.display(), what, COST, CURE);
            None
        }
    }
}

/// Compares them with the library, and looks for what builds that were killed left behind.
pub(super) fn examine(
    data: &DataDir,
    to: Option<LibraryPosition>,
    end: LibraryPosition,
    exam: &mut Exam,
) -> Result<(), EngineError> {
    if let Some(to) = to.filter(|to| *to > end) {
        exam.needs.graph = true;
        let what = format!("it knows the library up to {to}, which ends at {end}");
        exam.fault(Store::Graph, data.graph().display(), what, COST, CURE);
    }
    let left = || unfinished(&data.graph()).map_err(StoreError::io("read", &data.graph()));
    if left()?.is_empty() {
        return Ok(());
    }
    // Beside a builder, this is what it is building.
    let _builder = match Generations::at(data.index()).lock_builder() {
        Err(IndexError::BuildRunning { .. }) => return Ok(()),
        builder => builder?,
    };
    for path in left()? {
        exam.needs.unfinished_graph = true;
        // A build may be killed at any time: nobody reads this, and the next one removes it.
        exam.note(
            Store::Graph,
            path.display(),
            "left behind by a build that did not end; the next one removes it",
        );
    }
    Ok(())
}
