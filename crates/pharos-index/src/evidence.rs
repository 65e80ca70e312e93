//! What candidates have of the words of a query: where, how often, how near each other. Stage two of ranking asks this of
//! some hundred pages, not of all.

use pharos_core::PageId;
use tantivy::postings::Postings as _;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Term};

use crate::snapshot::{ChainSnapshot, CommonStatistics};
use crate::zones::Zone;
use crate::{Candidate, IndexError};

/// Positions of a word beyond this many are counted, not kept.
pub const MAX_PLACES: usize = 256;

/// What one candidate has of the terms asked for, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The page.
    pub page: PageId,
    /// One for each term.
    pub terms: Vec<TermEvidence>,
    /// How well each zone fits by itself, in the order of [`Zone::ALL`]: BM25 with the frequencies of the zone. The
    /// length of a text counts for the body alone; the other zones are short by nature.
    pub scores: [f32; 6],
}

/// What a page has of a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermEvidence {
    /// How often it stands in each zone, in the order of [`Zone::ALL`].
    pub times: [u32; 6],
    /// The sum of the weights of all its places.
    pub weight: u32,
    /// Where it stands, ascending: [`Zone::of`] tells in which zone. At most [`MAX_PLACES`].
    pub places: Vec<u32>,
}

/// The saturation of frequencies in BM25, as tantivy has it.
const K1: f32 = 1.2;

pub(crate) fn evidence(
    chain: &ChainSnapshot,
    candidates: &[Candidate],
    words: &[String],
) -> Result<Vec<Evidence>, IndexError> {
    let terms: Vec<Term> = words.iter().map(|word| Term::from_field_text(chain.fields.text, word)).collect();
    let statistics = CommonStatistics(&chain.members);
    let none = |candidate: &Candidate| {
        let terms = vec![TermEvidence::default(); words.len()];
        Evidence { page: candidate.page, terms, scores: [0.0; 6] }
    };
    let mut found: Vec<Evidence> = candidates.iter().map(none).collect();
    // Postings are read in one direction: candidates of a segment by their numbers.
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|nth| {
        let place = candidates[*nth].place;
        (place.member, place.segment, place.doc)
    });
    let of_one_segment = |a: &usize, b: &usize| {
        let (a, b) = (candidates[*a].place, candidates[*b].place);
        (a.member, a.segment) == (b.member, b.segment)
    };
    for group in order.chunk_by(of_one_segment) {
        let place = candidates[group[0]].place;
        let view = chain.member(place)?;
        let reader = view.searcher.segment_readers().get(place.segment as usize);
        let reader = reader.ok_or(IndexError::ForeignCandidate)?;
        let mut run = || -> tantivy::Result<()> {
            let inverted = reader.inverted_index(chain.fields.text)?;
            let lengths = reader.get_fieldnorms_reader(chain.fields.text)?;
            let mut places = Vec::new();
            for (nth, term) in terms.iter().enumerate() {
                let postings = inverted.read_postings(term, IndexRecordOption::WithFreqsAndPositions)?;
                let Some(mut postings) = postings else { continue };
                let bm25 = Bm25Weight::for_terms(&statistics, std::slice::from_ref(term))?;
                let most = bm25.max_score();
                let all = statistics.total_num_docs()?;
                let mean = statistics.total_num_tokens(chain.fields.text)? as f32 / all.max(1) as f32;
                for index in group {
                    let doc = candidates[*index].place.doc;
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() != doc {
                        continue;
                    }
                    places.clear();
                    postings.positions(&mut places);
                    let weight = postings.term_freq();
                    places.dedup();
                    let evidence = &mut found[*index];
                    let length = lengths.fieldnorm(doc) as f32 / mean.max(1.0);
                    let mut times = [0u32; 6];
                    places.iter().for_each(|place| times[Zone::of(*place) as usize] += 1);
                    for zone in Zone::ALL {
                        let times = times[zone as usize] as f32;
                        let length = if zone == Zone::Body { 0.25 + 0.75 * length } else { 1.0 };
                        evidence.scores[zone as usize] += most * times / (times + K1 * length);
                    }
                    let kept = places.iter().take(MAX_PLACES).copied().collect();
                    evidence.terms[nth] = TermEvidence { times, weight, places: kept };
                }
            }
            Ok(())
        };
        run().map_err(IndexError::tantivy(&view.path))?;
    }
    Ok(found)
}
