//! Shelving: what was fetched goes into the library, synced in groups, and only then further.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use pharos_store::{
    Catalog, Content, Library, Record, Response, Revisit, StoreError, StoredRecord, payload_digest,
};
use tokio::sync::mpsc::Receiver;

/// Records, and bytes of their bodies, that one sync makes durable together, at most.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 8 << 20;
/// A body shorter than this is not worth a reference to an earlier one.
const MIN_REVISIT: usize = 256;

/// The library, and what is known of the pages that come in.
pub(crate) struct Shelf {
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    /// Whether the head of each request is kept.
    pub(crate) requests: bool,
}

impl Shelf {
    /// Appends records until no more come. Runs on a thread of its own.
    pub(crate) fn run(
        &self,
        mut records: Receiver<Record>,
        stored: &SyncSender<Vec<StoredRecord>>,
    ) -> Result<(), StoreError> {
        while let Some(first) = records.blocking_recv() {
            let mut bytes = first.body_size();
            let mut group = vec![first];
            while group.len() < GROUP
                && bytes < GROUP_BYTES
                && let Ok(record) = records.try_recv()
            {
                bytes += record.body_size();
                group.push(record);
            }
            // The stage behind broke down; its own error tells why.
            if stored.send(self.shelve(group)?).is_err() {
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
        if response.status != 200 || response.truncated.is_some() || response.body.len() < MIN_REVISIT {
            return Ok(None);
        }
        let Some(story) = self.catalog.page(record.url.id())? else { return Ok(None) };
        let Some(mut of) = story.position.filter(|_| story.status == Some(200)) else { return Ok(None) };
        let Ok(mut earlier) = self.library.read(of) else { return Ok(None) };
        if let Content::Revisit(revisit) = &earlier.record.content {
            of = revisit.of;
            let Ok(first) = self.library.read(of) else { return Ok(None) };
            earlier = first;
        }
        let same = matches!(&earlier.record.content, Content::Response(first) if is_same(first, response));
        Ok(same.then(|| Revisit {
            status: response.status,
            headers: response.headers.clone(),
            address: response.address,
            of,
            of_at: earlier.record.at,
            digest: payload_digest(&response.body),
        }))
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
    use pharos_core::{LibraryPosition, PageUrl, Timestamp};
    use pharos_store::{Change, DiskLibrary, Outcome, SqliteCatalog, Writing};

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
        };
        let visit = |record: Record| {
            let stored = shelf.shelve(vec![record.clone()]).unwrap().remove(0);
            assert_eq!(stored.record, record, "those behind get it whole");
            let (position, at, url) = (stored.position, record.at, record.url.clone());
            let outcome =
                Outcome::Answered { status: 200, position, digest: 1, indexable: true, attempts: 0 };
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
    }
}
