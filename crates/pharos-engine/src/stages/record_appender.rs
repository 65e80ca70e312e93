//! Appends records to the library, live and on import. A page that did not change is stored as a reference to its
//! earlier version.

use std::sync::Arc;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_store::interpret::status::{StatusMeaning, is_whole_page};
use pharos_store::library::{Revisit, payload_digest};
use pharos_store::{
    Catalog, Library, LibraryEvent, LibraryRecord, RawResponse, RecordContent, StoreError, StoredRecord,
};

/// Minimum body size in bytes for storing an unchanged page as a reference.
const MIN_REVISIT: usize = 256;

/// Appends records to the library.
pub(crate) struct RecordAppender {
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    /// Store request headers.
    pub(crate) requests: bool,
}

impl RecordAppender {
    /// Appends a group. An unchanged page is stored as a reference to the previous version; later stages get it in full.
    pub(crate) fn append(&self, mut group: Vec<LibraryRecord>) -> Result<Vec<StoredRecord>, StoreError> {
        let mut full = Vec::with_capacity(group.len());
        for record in &mut group {
            if !self.requests
                && let RecordContent::Response(response) = &mut record.content
            {
                response.request = None;
            }
            full.push(match self.reference(record)? {
                // Later stages read the content from the original record.
                Some(Reference::NotModified(content)) => {
                    record.content = content;
                    None
                }
                Some(Reference::Unchanged(revisit)) => {
                    Some(std::mem::replace(&mut record.content, RecordContent::Revisit(revisit)))
                }
                None => None,
            });
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

    /// Returns what is stored instead of the content of a page, if another record has it.
    fn reference(&self, record: &LibraryRecord) -> Result<Option<Reference>, StoreError> {
        let RecordContent::Response(response) = &record.content else { return Ok(None) };
        if !record.kind.is_page() {
            return Ok(None);
        }
        if StatusMeaning::from_status(response.status) == StatusMeaning::NotModified {
            return self
                .not_modified(&record.url, response)
                .map(|content| Some(Reference::NotModified(content)));
        }
        Ok(self.unchanged(record, response)?.map(Reference::Unchanged))
    }

    /// Returns a reference to the current version of the page, if this response is identical.
    fn unchanged(
        &self,
        record: &LibraryRecord,
        response: &RawResponse,
    ) -> Result<Option<Revisit>, StoreError> {
        // The crawler knows whether a page is new; imports may contain stored versions.
        let is_first = !record.is_refetch && record.attempt > 0;
        let is_small = response.body.len() < MIN_REVISIT;
        // A reference has no place for a header that is kept byte for byte.
        let is_incomplete =
            !is_whole_page(response.status) || response.truncated.is_some() || response.head.is_some();
        if is_first || is_small || is_incomplete {
            return Ok(None);
        }
        // An import may deliver captures that are older than the current version.
        let original = self.current(&record.url)?;
        let same =
            original.filter(|original| original.at <= record.at && is_same(&original.response, response));
        Ok(same.map(|original| original.revisited_by(response)))
    }

    /// Returns the content of a 304 response: a reference to the current version, or a failure without one.
    fn not_modified(&self, url: &PageUrl, response: &RawResponse) -> Result<RecordContent, StoreError> {
        Ok(match self.current(url)? {
            Some(original) => RecordContent::Revisit(original.revisited_by(response)),
            None => {
                let reason = "the server returned 304 (not modified), but no version is stored".into();
                RecordContent::Event(LibraryEvent::Failed { reason })
            }
        })
    }

    /// Returns the current version of a page, if it is whole.
    fn current(&self, url: &PageUrl) -> Result<Option<OriginalResponse>, StoreError> {
        let Some(entry) = self.catalog.page(url.id())? else { return Ok(None) };
        let position = entry.position.filter(|_| entry.status.is_some_and(is_whole_page));
        Ok(position.and_then(|position| OriginalResponse::read(&*self.library, position)))
    }
}

/// The replacement of the content of a page.
enum Reference {
    /// The server sent no content.
    NotModified(RecordContent),
    /// The server sent the same content again.
    Unchanged(Revisit),
}

/// A response with content that revisits refer to.
pub(crate) struct OriginalResponse {
    position: LibraryPosition,
    at: Timestamp,
    pub(crate) response: RawResponse,
}

impl OriginalResponse {
    /// Reads the response at a position, or the one that the revisit there refers to. Returns `None` if it is missing.
    pub(crate) fn read(library: &dyn Library, position: LibraryPosition) -> Option<Self> {
        let mut stored = library.read(position).ok()?;
        if let RecordContent::Revisit(revisit) = &stored.record.content {
            stored = library.read(revisit.refers_to).ok()?;
        }
        match stored.record.content {
            RecordContent::Response(response) => {
                Some(Self { position: stored.position, at: stored.record.at, response })
            }
            RecordContent::Revisit(_) | RecordContent::Event(_) => None,
        }
    }

    /// Returns the reference that is stored for a response with the same content.
    pub(crate) fn revisited_by(&self, response: &RawResponse) -> Revisit {
        Revisit {
            status: response.status,
            headers: response.headers.clone(),
            address: response.address,
            refers_to: self.position,
            refers_to_at: self.at,
            digest: payload_digest(&self.response.body),
        }
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
        let appender = RecordAppender {
            library: stores.own_library(&LibraryPosition::START.into(), Timestamp::EPOCH).unwrap(),
            catalog: stores.own_catalog().unwrap(),
            requests: true,
        };
        let visit = |record: LibraryRecord| {
            let stored = appender.append(vec![record.clone()]).unwrap().remove(0);
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
            appender.catalog.apply(&[change], &stored.next.into()).unwrap();
            let RecordContent::Response(full) = record.content else { unreachable!() };
            assert_eq!(appender.library.response(position).unwrap().body, full.body);
            matches!(appender.library.read(position).unwrap().record.content, RecordContent::Revisit(_))
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
            appender.append(vec![record]).unwrap().remove(0)
        };
        let stored = not_modified("/");
        assert!(matches!(stored.record.content, RecordContent::Revisit(_)));
        let full = appender.library.response(stored.position).unwrap();
        assert_eq!((full.status, full.body), (200, "third".repeat(200).into_bytes()));
        assert_eq!(full.headers.last().unwrap().1, "\"9\"", "what it says of itself is taken over");
        let older = LibraryRecord { attempt: 0, ..answer("third", "", 6) };
        assert!(!visit(older), "a capture from before the current version");
        let unknown = not_modified("/unknown").record.content;
        assert!(matches!(unknown, RecordContent::Event(LibraryEvent::Failed { .. })), "{unknown:?}");
    }
}
