//! Shelving: what was fetched goes into the library, synced in groups, and only then further.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_store::{
    Catalog, Content, Event, Library, Record, Response, Revisit, StoreError, StoredRecord, payload_digest,
};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::counts::{Counts, Stage};

/// Records, and bytes of their bodies, that one sync makes durable together, at most.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 8 << 20;
/// A body shorter than this is not worth a reference to an earlier one.
const MIN_REVISIT: usize = 256;

/// A record that waits to be shelved, and its share of the memory for that.
pub(crate) struct Waiting {
    record: Record,
    share: OwnedSemaphorePermit,
}

/// Passes records on to the shelf as long as those that wait there take no more than so many bytes. Few large bodies
/// may wait, or many small ones: one sync takes all of them, and a disk syncs a hundred times a second at best.
pub(crate) async fn gather(
    mut records: Receiver<Record>,
    bytes: usize,
    waiting: UnboundedSender<Waiting>,
    counts: Arc<Counts>,
) {
    /// What a record takes without its body, at least.
    const RECORD: usize = 1 << 10;
    let whole = u32::try_from(bytes / RECORD).unwrap_or(u32::MAX).max(1);
    let room = Arc::new(Semaphore::new(whole as usize));
    while let Some(record) = records.recv().await {
        let share = u32::try_from(1 + record.body_size() / RECORD).unwrap_or(u32::MAX).min(whole);
        let Ok(share) = Arc::clone(&room).acquire_many_owned(share).await else { return };
        // The shelf broke down; its own error tells why.
        if waiting.send(Waiting { record, share }).is_err() {
            return;
        }
        counts.moved(Stage::Shelve, 1);
    }
}

/// The library, and what is known of the pages that come in.
pub(crate) struct Shelf {
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    /// Whether the head of each request is kept.
    pub(crate) requests: bool,
    pub(crate) counts: Arc<Counts>,
}

impl Shelf {
    /// Appends records until no more come. Runs on a thread of its own.
    pub(crate) fn run(
        &self,
        mut records: UnboundedReceiver<Waiting>,
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
            let shelved = self.shelve(group)?;
            self.counts.moved(Stage::Shelve, -(shelved.len() as i64));
            self.counts.moved(Stage::Read, shelved.len() as i64);
            // The stage behind broke down; its own error tells why.
            if stored.send(shelved).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Appends a group. A page that did not change is stored as a reference to the version before; those behind get
    /// it whole.
    fn shelve(&self, mut group: Vec<Record>) -> Result<Vec<StoredRecord>, StoreError> {
        let mut whole = Vec::with_capacity(group.len());
        for record in &mut group {
            if !self.requests
                && let Content::Response(response) = &mut record.content
            {
                response.request = None;
            }
            if let Content::Response(response) = &record.content
                && response.status == 304
                && !is_robots_txt(&record.url)
            {
                // Those behind read the content where it stands.
                record.content = self.not_modified(&record.url, response)?;
                whole.push(None);
                continue;
            }
            whole.push(
                self.unchanged(record)?
                    .map(|revisit| std::mem::replace(&mut record.content, Content::Revisit(revisit))),
            );
        }
        let positions = self.library.append(&group)?;
        let shelved = positions.into_iter().zip(group.into_iter().zip(whole));
        Ok(shelved
            .map(|((position, next), (mut record, whole))| {
                record.content = whole.unwrap_or(record.content);
                StoredRecord { position, next, record }
            })
            .collect())
    }

    /// The reference to the current version of the page, where this answer is the same to the byte.
    fn unchanged(&self, record: &Record) -> Result<Option<Revisit>, StoreError> {
        let Content::Response(response) = &record.content else { return Ok(None) };
        // An import may bring what is there already; of what a crawl asks for it knows whether it was there.
        let is_first = !record.again && record.attempt > 0;
        let is_small = response.body.len() < MIN_REVISIT;
        if is_first || is_small || response.status != 200 || response.truncated.is_some() {
            return Ok(None);
        }
        let same = self.current(&record.url)?.filter(|(_, _, first)| is_same(first, response));
        Ok(same.map(|(of, of_at, first)| revisit(response, of, of_at, &first)))
    }

    /// What it means that a server says we have the page already.
    fn not_modified(&self, url: &PageUrl, response: &Response) -> Result<Content, StoreError> {
        Ok(match self.current(url)? {
            Some((of, of_at, first)) => Content::Revisit(revisit(response, of, of_at, &first)),
            None => {
                let reason = "the server says that nothing changed, but nothing is stored".into();
                Content::Event(Event::Failed { reason })
            }
        })
    }

    /// The current content of a page, and where and since when it stands.
    fn current(&self, url: &PageUrl) -> Result<Option<(LibraryPosition, Timestamp, Response)>, StoreError> {
        let Some(story) = self.catalog.page(url.id())? else { return Ok(None) };
        let Some(mut of) = story.position.filter(|_| story.status == Some(200)) else { return Ok(None) };
        let Ok(mut earlier) = self.library.read(of) else { return Ok(None) };
        if let Content::Revisit(revisit) = &earlier.record.content {
            of = revisit.of;
            let Ok(first) = self.library.read(of) else { return Ok(None) };
            earlier = first;
        }
        Ok(match earlier.record.content {
            Content::Response(first) => Some((of, earlier.record.at, first)),
            _ => None,
        })
    }
}

/// An answer that brings nothing new, as a reference to the first with this content.
fn revisit(response: &Response, of: LibraryPosition, of_at: Timestamp, first: &Response) -> Revisit {
    Revisit {
        status: response.status,
        headers: response.headers.clone(),
        address: response.address,
        of,
        of_at,
        digest: payload_digest(&first.body),
    }
}

/// Would a reader of the later answer see the same? The header tells how to read the body.
fn is_same(first: &Response, later: &Response) -> bool {
    let read_alike = ["Content-Type", "Content-Encoding", "X-Robots-Tag", "Last-Modified"];
    first.status == later.status
        && first.truncated.is_none()
        && first.body == later.body
        && read_alike.iter().all(|name| first.header(name) == later.header(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_store::{Answered, Change, DiskLibrary, Outcome, SqliteCatalog, Writing};

    fn answer(body: &str, coding: &str, at: i64) -> Record {
        let headers = vec![("Content-Encoding".to_string(), coding.to_string())];
        let response =
            Response { status: 200, headers, body: body.repeat(200).into(), ..Response::default() };
        let url = PageUrl::parse("http://example.org/").unwrap();
        Record::new(url, Timestamp::from_millis(at), Content::Response(response))
    }

    #[test]
    fn an_unchanged_page_is_stored_as_a_reference() {
        let dir = tempfile::tempdir().unwrap();
        let start = LibraryPosition::START;
        let shelf = Shelf {
            library: Arc::new(
                DiskLibrary::open_writer(dir.path(), Writing::default(), start, Timestamp::EPOCH).unwrap(),
            ),
            catalog: Arc::new(SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap()),
            requests: true,
            counts: Arc::default(),
        };
        let visit = |record: Record| {
            let stored = shelf.shelve(vec![record.clone()]).unwrap().remove(0);
            assert_eq!(stored.record, record, "those behind get it whole");
            let (position, at, url) = (stored.position, record.at, record.url.clone());
            let outcome = Outcome::Answered(Answered {
                status: 200,
                position,
                digest: 1,
                indexable: true,
                ..Answered::default()
            });
            let change = Change::Visited { url, at, outcome, next_due: None };
            shelf.catalog.apply(&[change], stored.next).unwrap();
            let Content::Response(whole) = record.content else { unreachable!() };
            assert_eq!(shelf.library.response(position).unwrap().body, whole.body);
            matches!(shelf.library.read(position).unwrap().record.content, Content::Revisit(_))
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
            let response = Response { status: 304, headers, ..Response::default() };
            let record = Record::new(url, Timestamp::from_millis(8), Content::Response(response));
            shelf.shelve(vec![record]).unwrap().remove(0)
        };
        let stored = not_modified("/");
        assert!(matches!(stored.record.content, Content::Revisit(_)));
        let whole = shelf.library.response(stored.position).unwrap();
        assert_eq!((whole.status, whole.body), (200, "third".repeat(200).into_bytes()));
        assert_eq!(whole.headers.last().unwrap().1, "\"9\"", "what it says of itself is taken over");
        let unknown = not_modified("/unknown").record.content;
        assert!(matches!(unknown, Content::Event(Event::Failed { .. })), "{unknown:?}");
    }
}
