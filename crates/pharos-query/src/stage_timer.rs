//! Durations of the stages of a query, for `/metrics`.

use std::time::Instant;

/// A running stage.
pub(crate) struct StageTimer(Instant);

impl StageTimer {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Records the duration. Stages that end with an error are not recorded.
    pub(crate) fn stop(self, stage: &'static str) {
        metrics::histogram!("pharos_stage_seconds", "stage" => stage).record(self.0.elapsed());
    }
}
