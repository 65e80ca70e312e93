//! The append stage: writes fetched records to the library, synced in groups, before they are passed on.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use pharos_store::{LibraryRecord, StoreError, StoredRecord};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::stages::record_appender::RecordAppender;
use crate::status::stage_metrics::{PipelineStage, StageMetrics};

/// Maximum number of records, and of bytes of their bodies, per sync.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 8 << 20;

/// A record queued for the append stage, with its share of the memory budget.
pub(crate) struct QueuedRecord {
    record: LibraryRecord,
    share: OwnedSemaphorePermit,
}

/// Queues records for the append stage within a memory budget of `bytes`.
///
/// A few large bodies or many small ones can be queued. One sync writes all of them, and a disk performs about a hundred
/// syncs per second at best.
pub(crate) async fn queue_records(
    mut records: Receiver<LibraryRecord>,
    bytes: usize,
    waiting: UnboundedSender<QueuedRecord>,
    stage_metrics: Arc<StageMetrics>,
) {
    /// Memory of a record without its body.
    const RECORD: usize = 1 << 10;
    let capacity = u32::try_from(bytes / RECORD).unwrap_or(u32::MAX).max(1);
    let budget = Arc::new(Semaphore::new(capacity as usize));
    while let Some(record) = records.recv().await {
        let share = u32::try_from(1 + record.body_size() / RECORD).unwrap_or(u32::MAX).min(capacity);
        let Ok(share) = Arc::clone(&budget).acquire_many_owned(share).await else { return };
        // The append stage failed; its own error is reported.
        if waiting.send(QueuedRecord { record, share }).is_err() {
            return;
        }
        stage_metrics.adjust_queue(PipelineStage::Append, 1);
    }
}

/// Appends records to the library.
pub(crate) struct AppendStage {
    pub(crate) appender: RecordAppender,
    pub(crate) stage_metrics: Arc<StageMetrics>,
}

impl AppendStage {
    /// Appends records until the channel closes. Runs on its own thread.
    pub(crate) fn run(
        &self,
        mut records: UnboundedReceiver<QueuedRecord>,
        stored: &SyncSender<Vec<StoredRecord>>,
    ) -> Result<(), StoreError> {
        while let Some(first) = records.blocking_recv() {
            let mut bytes = first.record.body_size();
            let (mut group, mut shares) = (vec![first.record], vec![first.share]);
            while group.len() < GROUP
                && bytes < GROUP_BYTES
                && let Ok(next) = records.try_recv()
            {
                bytes += next.record.body_size();
                group.push(next.record);
                shares.push(next.share);
            }
            let appended = self.appender.append(group)?;
            self.stage_metrics.adjust_queue(PipelineStage::Append, -(appended.len() as i64));
            self.stage_metrics.adjust_queue(PipelineStage::Analyse, appended.len() as i64);
            // The next stage failed; its own error is reported.
            if stored.send(appended).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}
