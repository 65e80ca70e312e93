//! Reading ahead: one thread unpacks while another proves digests and works with the records.

use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{Damage, Item, WarcScan, record};

/// Records, and bytes of their blocks, that are handed over together.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 2 << 20;
/// Batches that may wait.
const WAITING: usize = 2;

/// The same records and damages as the scan it was made of, unpacked ahead on a thread of its own.
pub struct ReadAhead {
    batches: Receiver<Vec<(Item, Proof)>>,
    batch: std::vec::IntoIter<(Item, Proof)>,
}

/// Whether the digest has been looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    Given,
    Owing,
}

impl<R: Read + Send + 'static> WarcScan<R> {
    /// Unpacks ahead on a thread of its own; twice as fast where there are two cores.
    pub fn read_ahead(mut self) -> ReadAhead {
        // A packed record has a checksum that the scan goes by; its digest can wait.
        self.trusting = true;
        let (batch_in, batches) = sync_channel(WAITING);
        thread::spawn(move || self.hand_over(&batch_in));
        ReadAhead { batches, batch: Vec::new().into_iter() }
    }

    fn hand_over(mut self, batches: &SyncSender<Vec<(Item, Proof)>>) {
        loop {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < BATCH && bytes < BATCH_BYTES {
                let Some(item) = self.next() else {
                    let _ = batches.send(batch);
                    return;
                };
                bytes += item.as_ref().map_or(0, |record| record.block.len());
                let proof = if self.container.is_packed() { Proof::Owing } else { Proof::Given };
                batch.push((item, proof));
            }
            // Whoever read has seen enough.
            if batches.send(batch).is_err() {
                return;
            }
        }
    }
}

impl Iterator for ReadAhead {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            match self.batch.next() {
                Some((Ok(found), Proof::Owing)) if record::is_contradicted(&found.fields, &found.block) => {
                    let detail = "the digest does not match".into();
                    return Some(Err(Damage { offset: found.offset, detail }));
                }
                Some((item, _)) => return Some(item),
                None => self.batch = self.batches.recv().ok()?.into_iter(),
            }
        }
    }
}
