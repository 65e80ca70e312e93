//! What candidates have of the words of a query: where, how often, how near each other. Stage two of ranking asks this of
//! some hundred pages, not of all.

use smallvec::{SmallVec, smallvec};
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Term};

use crate::snapshot::ChainSnapshot;
use crate::zones::Zone;
use crate::{Candidate, IndexError};

/// Positions of a word beyond this many are counted, not kept.
pub const MAX_PLACES: usize = 256;

/// How frequent terms are, and how long pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frequencies {
    /// Pages in all (N), those that newer ones hide included.
    pub pages: u64,
    /// The mean length of a page, in terms (avdl).
    pub mean_length: f32,
    /// Pages that each term stands in (n).
    pub with_term: Vec<u64>,
}

/// What one candidate has of the terms asked for, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// How long it is, in terms (dl), as far as a byte can tell.
    pub length: u32,
    /// How long its title is, in positions.
    pub title_length: u32,
    /// Its day, as [`day`](crate::day) counts.
    pub day: Option<i64>,
    /// Its static rank and the rank of its site; what else the web says of it is read where it matters.
    pub static_rank: f32,
    /// The rank of its site, un-normalised.
    pub site_rank: f32,
    /// One for each term.
    pub terms: SmallVec<[TermEvidence; 3]>,
}

/// What a page has of a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermEvidence {
    /// How often it stands in each zone, in the order of [`Zone::ALL`].
    pub times: [u32; 6],
    /// The sum of the weights of all its places.
    pub weight: u32,
    /// Where it stands, ascending: [`Zone::of`] tells in which zone. At most [`MAX_PLACES`].
    pub places: SmallVec<[u32; 6]>,
}

pub(crate) fn frequencies(chain: &ChainSnapshot, words: &[String]) -> Result<Frequencies, IndexError> {
    let (mut found, mut length) = (Frequencies { with_term: vec![0; words.len()], ..Default::default() }, 0);
    for view in &chain.members {
        let mut run = || -> tantivy::Result<()> {
            found.pages += view.searcher.total_num_docs()?;
            length += view.searcher.total_num_tokens(chain.fields.text)?;
            for (word, pages) in words.iter().zip(&mut found.with_term) {
                let term = Term::from_field_text(chain.fields.text, word);
                *pages += Bm25StatisticsProvider::doc_freq(&view.searcher, &term)?;
            }
            Ok(())
        };
        run().map_err(IndexError::tantivy(&view.path))?;
    }
    found.mean_length = length as f32 / found.pages.max(1) as f32;
    Ok(found)
}

pub(crate) fn evidence(
    chain: &ChainSnapshot,
    candidates: &[Candidate],
    words: &[String],
) -> Result<Vec<Evidence>, IndexError> {
    let terms: Vec<Term> = words.iter().map(|word| Term::from_field_text(chain.fields.text, word)).collect();
    let none = || Evidence { terms: smallvec![TermEvidence::default(); words.len()], ..Evidence::default() };
    let mut found: Vec<Evidence> = candidates.iter().map(|_| none()).collect();
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
            let columns = view.columns(place.segment)?;
            for index in group {
                let doc = candidates[*index].place.doc;
                let title = columns.title_lengths.as_ref().and_then(|lengths| lengths.first(doc));
                found[*index].length = lengths.fieldnorm(doc);
                found[*index].title_length = title.unwrap_or_default() as u32;
                found[*index].static_rank = columns.static_rank(doc);
                found[*index].site_rank = columns.figures.site_rank(doc);
                found[*index].day = columns.days.as_ref().and_then(|days| days.first(doc));
            }
            let mut places = Vec::new();
            for (nth, term) in terms.iter().enumerate() {
                let postings = inverted.read_postings(term, IndexRecordOption::WithFreqsAndPositions)?;
                let Some(mut postings) = postings else { continue };
                for index in group {
                    let doc = candidates[*index].place.doc;
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() == doc {
                        found[*index].terms[nth] = of_term(&mut postings, &mut places);
                    }
                }
            }
            Ok(())
        };
        run().map_err(IndexError::tantivy(&view.path))?;
    }
    Ok(found)
}

/// What the page at hand has of a term; `places` is room to write in.
fn of_term(postings: &mut SegmentPostings, places: &mut Vec<u32>) -> TermEvidence {
    let mut found = TermEvidence { weight: postings.term_freq(), ..TermEvidence::default() };
    postings.positions(places);
    // What counts several times stands there several times.
    places.dedup();
    places.iter().for_each(|place| found.times[Zone::of(*place) as usize] += 1);
    found.places = SmallVec::from_slice(&places[..places.len().min(MAX_PLACES)]);
    found
}
