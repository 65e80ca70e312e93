//! Searchable documents of a segment: neither replaced, nor hidden by a newer generation, nor tombstones.

use tantivy::query::EnableScoring;
use tantivy::{BitSet, DocId, DocSet as _, TERMINATED};

use crate::Query;
use crate::document::addresses::SiteFilter;
use crate::document::schema::SchemaFields;
use crate::read::chain_view::GenerationView;
use crate::read::query_plan::QueryPlan;

/// The searchable documents of a segment.
pub(crate) struct LiveDocs {
    /// Number of searchable documents.
    pub(crate) documents: u64,
    /// Bit set of the searchable documents; `None` if all are.
    bits: Option<BitSet>,
}

impl LiveDocs {
    pub(crate) fn read(view: &GenerationView, fields: &SchemaFields, number: u32) -> tantivy::Result<Self> {
        let segment = view.searcher.segment_reader(number);
        let all = QueryPlan::whole(&Query::All, fields)
            .base
            .weight(EnableScoring::disabled_from_searcher(&view.searcher))?;
        if !segment.has_deletes() && view.hidden.is_empty() {
            let documents = all.count(segment)?;
            // Tombstones have no kind, so they are not counted here.
            if documents == segment.max_doc() {
                return Ok(Self { documents: documents.into(), bits: None });
            }
        }
        let shown = view.visible_addresses(number, &SiteFilter::default())?;
        let mut bits = BitSet::with_max_value(segment.max_doc());
        let mut pages = all.scorer(segment, 1.0)?;
        let mut doc = pages.doc();
        while doc != TERMINATED {
            if !segment.is_deleted(doc) && shown.addresses(doc).next().is_some() {
                bits.insert(doc);
            }
            doc = pages.advance();
        }
        Ok(Self { documents: bits.len() as u64, bits: Some(bits) })
    }

    /// Returns `true` if every document is searchable.
    pub(crate) fn is_every_doc(&self) -> bool {
        self.bits.is_none()
    }

    /// Returns `true` if this document is searchable.
    pub(crate) fn contains(&self, doc: DocId) -> bool {
        self.bits.as_ref().is_none_or(|bits| bits.contains(doc))
    }
}
