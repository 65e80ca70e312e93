//! A phrase query restricted to one zone, for parts of a page without a field of their own.

use std::ops::Range;

use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

use crate::document::zones::Zone;

/// A phrase in one zone. It selects documents and does not score them.
#[derive(Clone, Debug)]
pub(crate) struct ZoneQuery {
    pub(crate) field: Field,
    pub(crate) zone: Zone,
    /// Terms with their relative positions.
    pub(crate) terms: Vec<(usize, String)>,
}

impl Query for ZoneQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for ZoneQuery {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let inverted = reader.inverted_index(self.field)?;
        let mut phrase_terms = Vec::with_capacity(self.terms.len());
        for (distance, term) in &self.terms {
            let term = Term::from_field_text(self.field, term);
            match inverted.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)? {
                Some(postings) => phrase_terms.push(PhraseTerm { distance: *distance as u32, postings }),
                None => return Ok(Box::new(EmptyScorer)),
            }
        }
        // The rarest term drives the iteration; the others are checked for containment.
        phrase_terms.sort_by_key(|term| term.postings.size_hint());
        if phrase_terms.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        let mut scorer = ZoneScorer {
            zone: self.zone.positions(),
            terms: phrase_terms,
            starts: Vec::new(),
            positions_buffer: Vec::new(),
        };
        scorer.advance_to_match();
        Ok(Box::new(scorer))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument("zone queries are not scored".into()))
    }
}

struct PhraseTerm {
    distance: u32,
    postings: SegmentPostings,
}

struct ZoneScorer {
    zone: Range<u32>,
    terms: Vec<PhraseTerm>,
    /// Possible start positions of the phrase in the current document.
    starts: Vec<u32>,
    positions_buffer: Vec<u32>,
}

impl ZoneScorer {
    /// Advances to the next matching document, unless the current one matches.
    fn advance_to_match(&mut self) -> DocId {
        loop {
            let doc = self.terms[0].postings.doc();
            if doc == TERMINATED || self.fits(doc) {
                return doc;
            }
            self.terms[0].postings.advance();
        }
    }

    fn fits(&mut self, doc: DocId) -> bool {
        let contains = |term: &mut PhraseTerm| {
            let at = term.postings.doc();
            at == doc || (at < doc && term.postings.seek(doc) == doc)
        };
        if !self.terms.iter_mut().all(contains) {
            return false;
        }
        for (nth, PhraseTerm { distance, postings }) in self.terms.iter_mut().enumerate() {
            self.positions_buffer.clear();
            postings.positions(&mut self.positions_buffer);
            let in_zone = self.positions_buffer.iter().filter(|location| self.zone.contains(location));
            let starts = in_zone.filter_map(|location| location.checked_sub(*distance));
            if nth == 0 {
                self.starts.clear();
                self.starts.extend(starts);
            } else {
                let found: Vec<u32> = starts.collect();
                self.starts.retain(|start| found.binary_search(start).is_ok());
            }
            if self.starts.is_empty() {
                return false;
            }
        }
        true
    }
}

impl DocSet for ZoneScorer {
    fn advance(&mut self) -> DocId {
        self.terms[0].postings.advance();
        self.advance_to_match()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.terms[0].postings.doc() < target {
            self.terms[0].postings.seek(target);
        }
        self.advance_to_match()
    }

    fn doc(&self) -> DocId {
        self.terms[0].postings.doc()
    }

    fn size_hint(&self) -> u32 {
        self.terms[0].postings.size_hint()
    }
}

impl Scorer for ZoneScorer {
    fn score(&mut self) -> Score {
        0.0
    }
}
