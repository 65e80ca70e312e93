//! Shelving: what was fetched goes into the library, synced in groups, and only then further.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use pharos_store::{Content, Library, Record, StoreError, StoredRecord};
use tokio::sync::mpsc::Receiver;

/// Records, and bytes of their bodies, that one sync makes durable together, at most.
const GROUP: usize = 64;
const GROUP_BYTES: usize = 8 << 20;

/// Appends records until no more come. Runs on a thread of its own.
pub(crate) fn shelve(
    library: &Arc<dyn Library>,
    mut records: Receiver<Record>,
    stored: &SyncSender<Vec<StoredRecord>>,
) -> Result<(), StoreError> {
    while let Some(first) = records.blocking_recv() {
        let mut bytes = size(&first);
        let mut group = vec![first];
        while group.len() < GROUP
            && bytes < GROUP_BYTES
            && let Ok(record) = records.try_recv()
        {
            bytes += size(&record);
            group.push(record);
        }
        let positions = library.append(&group)?;
        let group = positions
            .into_iter()
            .zip(group)
            .map(|((position, next), record)| StoredRecord { position, next, record })
            .collect();
        if stored.send(group).is_err() {
            // The stage behind broke down; its own error tells why.
            return Ok(());
        }
    }
    Ok(())
}

fn size(record: &Record) -> usize {
    match &record.content {
        Content::Response(response) => response.body.len(),
        Content::Event(_) => 0,
    }
}
