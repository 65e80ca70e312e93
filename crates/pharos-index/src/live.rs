//! Which documents of a segment can be found: neither replaced, nor hidden by a newer generation, nor marks of gone pages.

use tantivy::query::EnableScoring;
use tantivy::{BitSet, DocId, DocSet as _, TERMINATED};

use crate::Query;
use crate::address::SiteRules;
use crate::plan::Plan;
use crate::schema::Fields;
use crate::snapshot::MemberView;

/// The documents of a segment that can be found.
pub(crate) struct Live {
    /// How many there are.
    pub(crate) documents: u64,
    /// Which, where that is not all.
    some: Option<BitSet>,
}

impl Live {
    pub(crate) fn of(view: &MemberView, fields: &Fields, number: u32) -> tantivy::Result<Self> {
        let segment = view.searcher.segment_reader(number);
        let all = Plan::whole(&Query::All, fields)
            .base
            .weight(EnableScoring::disabled_from_searcher(&view.searcher))?;
        if !segment.has_deletes() && view.hidden.is_empty() {
            let documents = all.count(segment)?;
            // Marks of gone pages have an id, and an id is a term.
            if documents == segment.max_doc() {
                return Ok(Self { documents: documents.into(), some: None });
            }
        }
        let shown = view.shown(number, &SiteRules::default())?;
        let mut some = BitSet::with_max_value(segment.max_doc());
        let mut pages = all.scorer(segment, 1.0)?;
        let mut doc = pages.doc();
        while doc != TERMINATED {
            if !segment.is_deleted(doc) && shown.addresses(doc).next().is_some() {
                some.insert(doc);
            }
            doc = pages.advance();
        }
        Ok(Self { documents: some.len() as u64, some: Some(some) })
    }

    /// Can every document be found?
    pub(crate) fn all(&self) -> bool {
        self.some.is_none()
    }

    /// Can this document be found?
    pub(crate) fn contains(&self, doc: DocId) -> bool {
        self.some.as_ref().is_none_or(|some| some.contains(doc))
    }
}
