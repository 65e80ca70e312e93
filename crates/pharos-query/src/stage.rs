//! How long each stage of an answer takes, for `/metrics`.

use std::time::Instant;

/// A stage that has begun.
pub(crate) struct Stage(Instant);

impl Stage {
    pub(crate) fn begin() -> Self {
        Self(Instant::now())
    }

    /// It is over; stages that end by an error are not counted.
    pub(crate) fn end(self, stage: &'static str) {
        metrics::histogram!("pharos_stage_seconds", "stage" => stage).record(self.0.elapsed());
    }
}
