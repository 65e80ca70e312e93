//! The location of a document in a chain of generations, which candidates of the embedded index carry.

use crate::view::{Candidate, CandidateLocation};

/// The location of a document within a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DocLocation {
    pub(crate) generation: u32,
    pub(crate) segment: u32,
    pub(crate) doc: u32,
    /// Number of the URL among those of the document; 0 is its own.
    pub(crate) address: u32,
}

impl From<DocLocation> for CandidateLocation {
    fn from(location: DocLocation) -> Self {
        Self([location.generation, location.segment, location.doc, location.address])
    }
}

impl Candidate {
    /// Returns the location of a candidate of the embedded index.
    pub(crate) fn doc_location(&self) -> DocLocation {
        let CandidateLocation([generation, segment, doc, address]) = self.location;
        DocLocation { generation, segment, doc, address }
    }
}
