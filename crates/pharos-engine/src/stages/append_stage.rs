//! The append stage: writes fetched records to the library, synced in groups, before they are passed on.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_store::library::{Revisit, payload_digest};
use pharos_store::{
    Catalog, Library, LibraryEvent, LibraryRecord, RawResponse, RecordContent, StoreError, StoredRecord,
};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::status::stage_metrics::{PipelineStage, StageMetrics};

/// Maximum number of records, and of bytes of their bodies, per sync.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 8 << 20;
/// Minimum body size in bytes for storing an unchanged page as a reference.
const MIN_REVISIT: usize = 256;

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
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    /// Store request headers.
    pub(crate) requests: bool,
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
            let appended = self.append(group)?;
            self.stage_metrics.adjust_queue(PipelineStage::Append, -(appended.len() as i64));
            self.stage_metrics.adjust_queue(PipelineStage::Analyse, appended.len() as i64);
            // The next stage failed; its own error is reported.
            if stored.send(appended).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Appends a group. An unchanged page is stored as a reference to the previous version; later stages get it in full.
    fn append(&self, mut group: Vec<LibraryRecord>) -> Result<Vec<StoredRecord>, StoreError> {
        let mut full = Vec::with_capacity(group.len());
        for record in &mut group {
            if !self.requests
                && let RecordContent::Response(response) = &mut record.content
            {
                response.request = None;
            }
            if let RecordContent::Response(response) = &record.content
                && response.status == 304
                && !is_robots_txt(&record.url)
            {
                // Later stages read the content from the original record.
                record.content = self.not_modified(&record.url, response)?;
                full.push(None);
                continue;
            }
            full.push(
                self.unchanged(record)?
                    .map(|revisit| std::mem::replace(&mut record.content, RecordContent::Revisit(revisit))),
            );
        }
        let positions = self.library.append(&group)?;
        let appended = positions.into_iter().zip(group.into_iter().zip(full));
        Ok(appended
            .map(|((position, next), (mut record, full))| {
                record.content = full.unwrap_or(record.content);
                StoredRecord { position, next, record }
            })
            .collect())
    }

    /// Returns a reference to the current version of the page, if this response is identical.
    fn unchanged(&self, record: &LibraryRecord) -> Result<Option<Revisit>, StoreError> {
        let RecordContent::Response(response) = &record.content else { return Ok(None) };
        // The crawler knows whether a page is new; imports may contain stored versions.
        let is_first = !record.is_refetch && record.attempt > 0;
        let is_small = response.body.len() < MIN_REVISIT;
        if is_first || is_small || response.status != 200 || response.truncated.is_some() {
            return Ok(None);
        }
        let same = self.current(&record.url)?.filter(|(_, _, first)| is_same(first, response));
        Ok(same.map(|(of, of_at, first)| revisit(response, of, of_at, &first)))
    }

    /// Returns the content of a 304 response: a reference to the current version, or a failure without one.
    fn not_modified(&self, url: &PageUrl, response: &RawResponse) -> Result<RecordContent, StoreError> {
        Ok(match self.current(url)? {
            Some((of, of_at, first)) => RecordContent::Revisit(revisit(response, of, of_at, &first)),
            None => {
                let reason = "the server returned 304 (not modified), but no version is stored".into();
                RecordContent::Event(LibraryEvent::Failed { reason })
            }
        })
    }

    /// Returns position, time and content of the current version of a page.
    fn current(
        &self,
        url: &PageUrl,
    ) -> Result<Option<(LibraryPosition, Timestamp, RawResponse)>, StoreError> {
        let Some(entry) = self.catalog.page(url.id())? else { return Ok(None) };
        let Some(mut of) = entry.position.filter(|_| entry.status == Some(200)) else { return Ok(None) };
        let Ok(mut earlier) = self.library.read(of) else { return Ok(None) };
        if let RecordContent::Revisit(revisit) = &earlier.record.content {
            of = revisit.refers_to;
            let Ok(first) = self.library.read(of) else { return Ok(None) };
            earlier = first;
        }
        Ok(match earlier.record.content {
            RecordContent::Response(first) => Some((of, earlier.record.at, first)),
            _ => None,
        })
    }
}

/// Creates a reference to the first response with the same content.
fn revisit(
    response: &RawResponse,
    refers_to: LibraryPosition,
    refers_to_at: Timestamp,
    first: &RawResponse,
) -> Revisit {
    Revisit {
        status: response.status,
        headers: response.headers.clone(),
        address: response.address,
        refers_to,
        refers_to_at,
        digest: payload_digest(&first.body),
    }
}

/// Returns `true` if both responses have the same content, including the headers that affect its interpretation.
fn is_same(first: &RawResponse, later: &RawResponse) -> bool {
    let read_alike = ["Content-Type", "Content-Encoding", "X-Robots-Tag", "Last-Modified"];
    first.status == later.status
        && first.truncated.is_none()
        && first.body == later.body
        && read_alike.iter().all(|name| first.header(name) == later.header(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::test_stores;
    use pharos_store::DataDir;
    use pharos_store::catalog::{CatalogChange, ResponseSummary, VisitOutcome};

    fn answer(body: &str, coding: &str, at: i64) -> LibraryRecord {
        let headers = vec![("Content-Encoding".to_string(), coding.to_string())];
        let response =
            RawResponse { status: 200, headers, body: body.repeat(200).into(), ..RawResponse::default() };
        let url = PageUrl::parse("http://example.org/").unwrap();
        LibraryRecord::new(url, Timestamp::from_millis(at), RecordContent::Response(response))
    }

    #[test]
    fn an_unchanged_page_is_stored_as_a_reference() {
        let dir = tempfile::tempdir().unwrap();
        let stores = test_stores(&DataDir::at(dir.path()));
        let stage = AppendStage {
            library: stores.own_library(LibraryPosition::START, Timestamp::EPOCH).unwrap(),
            catalog: stores.own_catalog().unwrap(),
            requests: true,
            stage_metrics: Arc::default(),
        };
        let visit = |record: LibraryRecord| {
            let stored = stage.append(vec![record.clone()]).unwrap().remove(0);
            assert_eq!(stored.record, record, "later stages get it in full");
            let (position, at, url) = (stored.position, record.at, record.url.clone());
            let outcome = VisitOutcome::Responded(ResponseSummary {
                status: 200,
                position,
                digest: 1,
                indexable: true,
                ..ResponseSummary::default()
            });
            let change = CatalogChange::Visited { url, at, outcome, next_due: None };
            stage.catalog.apply(&[change], stored.next).unwrap();
            let RecordContent::Response(full) = record.content else { unreachable!() };
            assert_eq!(stage.library.response(position).unwrap().body, full.body);
            matches!(stage.library.read(position).unwrap().record.content, RecordContent::Revisit(_))
        };
        assert!(!visit(answer("first", "", 1)));
        assert!(visit(answer("first", "", 2)) && visit(answer("first", "", 3)), "also of a reference");
        assert!(!visit(answer("second", "", 4)));
        assert!(!visit(answer("second", "br", 5)), "the same bytes, read otherwise");
        assert!(!visit(answer("", "br", 6)));

        visit(answer("third", "", 7));
        let not_modified = |path: &str| {
            let url = PageUrl::parse(&format!("http://example.org{path}")).unwrap();
            let headers = vec![("ETag".to_string(), "\"9\"".to_string())];
            let response = RawResponse { status: 304, headers, ..RawResponse::default() };
            let record =
                LibraryRecord::new(url, Timestamp::from_millis(8), RecordContent::Response(response));
            stage.append(vec![record]).unwrap().remove(0)
        };
        let stored = not_modified("/");
        assert!(matches!(stored.record.content, RecordContent::Revisit(_)));
        let full = stage.library.response(stored.position).unwrap();
        assert_eq!((full.status, full.body), (200, "third".repeat(200).into_bytes()));
        assert_eq!(full.headers.last().unwrap().1, "\"9\"", "what it says of itself is taken over");
        let unknown = not_modified("/unknown").record.content;
        assert!(matches!(unknown, RecordContent::Event(LibraryEvent::Failed { .. })), "{unknown:?}");
    }
}
