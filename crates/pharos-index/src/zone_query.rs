//! Terms that stand in one zone of a page, at distances from each other: what [`Part`](crate::Part)s without a field of
//! their own are asked by.

use std::ops::Range;

use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

use crate::zones::Zone;

/// A phrase in one zone. It selects and does not score.
#[derive(Clone, Debug)]
pub(crate) struct ZoneQuery {
    pub(crate) field: Field,
    pub(crate) zone: Zone,
    /// The terms with their distances.
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
        let mut words = Vec::with_capacity(self.terms.len());
        for (distance, term) in &self.terms {
            let term = Term::from_field_text(self.field, term);
            match inverted.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)? {
                Some(postings) => words.push(Word { distance: *distance as u32, postings }),
                None => return Ok(Box::new(EmptyScorer)),
            }
        }
        // The rarest leads; the others are asked whether they are there, too.
        words.sort_by_key(|word| word.postings.size_hint());
        if words.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        let mut scorer =
            ZoneScorer { zone: self.zone.positions(), words, begins: Vec::new(), places: Vec::new() };
        scorer.settle();
        Ok(Box::new(scorer))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument("a zone only selects".into()))
    }
}

struct Word {
    distance: u32,
    postings: SegmentPostings,
}

struct ZoneScorer {
    zone: Range<u32>,
    words: Vec<Word>,
    /// Where the phrase may begin in the page at hand.
    begins: Vec<u32>,
    places: Vec<u32>,
}

impl ZoneScorer {
    /// Moves on to the next page that fits, if the one at hand does not.
    fn settle(&mut self) -> DocId {
        loop {
            let doc = self.words[0].postings.doc();
            if doc == TERMINATED || self.fits(doc) {
                return doc;
            }
            self.words[0].postings.advance();
        }
    }

    fn fits(&mut self, doc: DocId) -> bool {
        let is_there = |word: &mut Word| {
            let at = word.postings.doc();
            at == doc || (at < doc && word.postings.seek(doc) == doc)
        };
        if !self.words.iter_mut().all(is_there) {
            return false;
        }
        for (nth, Word { distance, postings }) in self.words.iter_mut().enumerate() {
            self.places.clear();
            postings.positions(&mut self.places);
            let in_zone = self.places.iter().filter(|place| self.zone.contains(place));
            let begins = in_zone.filter_map(|place| place.checked_sub(*distance));
            if nth == 0 {
                self.begins.clear();
                self.begins.extend(begins);
            } else {
                let here: Vec<u32> = begins.collect();
                self.begins.retain(|begin| here.binary_search(begin).is_ok());
            }
            if self.begins.is_empty() {
                return false;
            }
        }
        true
    }
}

impl DocSet for ZoneScorer {
    fn advance(&mut self) -> DocId {
        self.words[0].postings.advance();
        self.settle()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.words[0].postings.doc() < target {
            self.words[0].postings.seek(target);
        }
        self.settle()
    }

    fn doc(&self) -> DocId {
        self.words[0].postings.doc()
    }

    fn size_hint(&self) -> u32 {
        self.words[0].postings.size_hint()
    }
}

impl Scorer for ZoneScorer {
    fn score(&mut self) -> Score {
        0.0
    }
}
