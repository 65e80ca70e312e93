//! Evidence for the second ranking stage: where and how often candidates contain the terms of a query.
//!
//! It is read for a few hundred or thousand candidates, never for all matches.

use smallvec::{SmallVec, smallvec};
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Term};

use crate::document::zones::Zone;
use crate::read::chain_view::ChainView;
use crate::{Candidate, IndexError};

/// Maximum number of positions kept for each term of a page. Further occurrences are counted only.
pub const MAX_POSITIONS: usize = 256;

/// Document frequencies and document lengths of the collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentFrequencies {
    /// Number of documents (N), hidden ones included.
    pub pages: u64,
    /// Mean document length in terms (avdl).
    pub mean_length: f32,
    /// Number of documents that contain each term (n).
    pub with_term: Vec<u64>,
}

/// The evidence of one candidate for the requested terms, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Document length in terms (dl) without the other text, with the precision of tantivy's one-byte field norm.
    pub length: u32,
    /// Length of the title in positions.
    pub title_length: u32,
    /// `true` for a page that consists mostly of links: `type: hub`.
    pub is_listing: bool,
    /// Day of the page, see [`day`](crate::document::day).
    pub day: Option<i64>,
    /// Static rank. Other link figures are read separately, because only some queries need them.
    pub static_rank: f32,
    /// Rank of the site, not normalised.
    pub site_rank: f32,
    pub terms: SmallVec<[TermEvidence; 3]>,
}

/// The occurrences of a term in a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermEvidence {
    /// Occurrences by zone, in the order of [`Zone::ALL`].
    pub times: [u32; 6],
    /// Sum of the weights of these occurrences.
    pub weight: u32,
    /// Occurrences in the other text.
    pub other: u32,
    /// Positions in the zones in ascending order, at most [`MAX_POSITIONS`]; [`Zone::of_position`] returns their zones.
    pub positions: SmallVec<[u32; 6]>,
}

pub(crate) fn frequencies(chain: &ChainView, words: &[String]) -> Result<DocumentFrequencies, IndexError> {
    let (mut found, mut length) =
        (DocumentFrequencies { with_term: vec![0; words.len()], ..Default::default() }, 0);
    for view in &chain.generations {
        let mut run = || -> tantivy::Result<()> {
            found.pages += view.searcher.total_num_docs()?;
            length += (view.searcher.total_num_tokens(chain.fields.text)? as f64
                * (1.0 - view.other_share(chain.fields.text)?)) as u64;
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
    chain: &ChainView,
    candidates: &[Candidate],
    words: &[String],
) -> Result<Vec<Evidence>, IndexError> {
    let terms: Vec<Term> = words.iter().map(|word| Term::from_field_text(chain.fields.text, word)).collect();
    let none = || Evidence { terms: smallvec![TermEvidence::default(); words.len()], ..Evidence::default() };
    let mut found: Vec<Evidence> = candidates.iter().map(|_| none()).collect();
    // Postings are read in one direction, so candidates are sorted by segment and document.
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|nth| {
        let location = candidates[*nth].doc_location();
        (location.generation, location.segment, location.doc)
    });
    let of_one_segment = |a: &usize, b: &usize| {
        let (a, b) = (candidates[*a].doc_location(), candidates[*b].doc_location());
        (a.generation, a.segment) == (b.generation, b.segment)
    };
    for group in order.chunk_by(of_one_segment) {
        let location = candidates[group[0]].doc_location();
        let view = chain.generation_at(location)?;
        let reader = view.searcher.segment_readers().get(location.segment as usize);
        let reader = reader.ok_or(IndexError::ForeignCandidate)?;
        let mut run = || -> tantivy::Result<()> {
            let inverted = reader.inverted_index(chain.fields.text)?;
            let lengths = reader.get_fieldnorms_reader(chain.fields.text)?;
            let columns = view.columns(location.segment)?;
            for index in group {
                let doc = candidates[*index].doc_location().doc;
                let title = columns.title_lengths.as_ref().and_then(|lengths| lengths.first(doc));
                found[*index].length = columns.length_in_zones(doc, lengths.fieldnorm(doc));
                found[*index].title_length = title.unwrap_or_default() as u32;
                found[*index].is_listing = columns.facets.is_listing(doc);
                found[*index].static_rank = columns.static_rank(doc);
                found[*index].site_rank = columns.link_figures.site_rank(doc);
                found[*index].day = columns.days.as_ref().and_then(|days| days.first(doc));
            }
            let mut positions = Vec::new();
            for (nth, term) in terms.iter().enumerate() {
                let postings = inverted.read_postings(term, IndexRecordOption::WithFreqsAndPositions)?;
                let Some(mut postings) = postings else { continue };
                for index in group {
                    let doc = candidates[*index].doc_location().doc;
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() == doc {
                        let other_begin = columns.other_begin(doc);
                        found[*index].terms[nth] = term_evidence(&mut postings, other_begin, &mut positions);
                    }
                }
            }
            Ok(())
        };
        run().map_err(IndexError::tantivy(&view.path))?;
    }
    Ok(found)
}

/// Reads the occurrences of a term in the current document. `positions` is a reusable buffer.
fn term_evidence(postings: &mut SegmentPostings, other_begin: u32, positions: &mut Vec<u32>) -> TermEvidence {
    postings.positions(positions);
    let all = positions.len();
    positions.truncate(positions.partition_point(|position| *position < other_begin));
    let other = (all - positions.len()) as u32;
    let weight = postings.term_freq().saturating_sub(other);
    let mut found = TermEvidence { weight, other, ..TermEvidence::default() };
    // Weighted occurrences are stored several times at one position.
    positions.dedup();
    positions.iter().for_each(|position| found.times[Zone::of_position(*position) as usize] += 1);
    found.positions = SmallVec::from_slice(&positions[..positions.len().min(MAX_POSITIONS)]);
    found
}
