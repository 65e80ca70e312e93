//! A report about one term: how text is analysed into it, how often and where it occurs, and the size of its lists.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pharos_text::Analyser;
use serde::Serialize;
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, SegmentReader, TERMINATED, Term};

use crate::document::addresses::SiteFilter;
use crate::read::chain_view::{ChainView, GenerationView};
use crate::read::doc_location::DocLocation;
use crate::read::live_docs::LiveDocs;
use crate::statistics::{IndexedField, generation_name, share};
use crate::view::Candidate;
use crate::{IndexError, IndexView as _};

/// Maximum number of terms of a report. Further terms of the text are ignored.
const MAX_TERMS: usize = 100;

/// The analysis of a text and the statistics of its terms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermReport {
    /// The text as given.
    pub text: String,
    /// Its tokens as they are indexed.
    pub tokens: Vec<AnalysedToken>,
    /// N: number of searchable documents.
    pub documents: u64,
    /// Each distinct term in order of occurrence; also the text itself if it is an indexed term.
    pub terms: Vec<TermStatistics>,
}

impl TermReport {
    /// Returns `true` if any document contains any of the terms.
    pub fn is_known(&self) -> bool {
        self.terms.iter().any(|term| term.fields.iter().any(|field| field.documents > 0))
    }
}

/// A token of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnalysedToken {
    pub term: String,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
    /// Position in the sequence of tokens.
    pub position: usize,
}

/// The statistics of a term.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermStatistics {
    pub term: String,
    /// Fields that contain it, most occurrences first.
    pub fields: Vec<TermInField>,
}

/// The occurrences of a term in a field. DF, IDF, TF and ITF are those of 《搜索引擎——原理、技术与系统》§8.2; logarithms are to
/// base ten, as in its figure 8-4.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermInField {
    pub field: String,
    /// Number of searchable documents that contain it.
    pub documents: u64,
    /// Number of occurrences in these documents.
    pub occurrences: u64,
    /// DF: share of all documents.
    pub df: f64,
    /// IDF = −lg DF.
    pub idf: Option<f64>,
    /// TF: share of all occurrences as stored for ranking, stale documents included.
    pub tf: f64,
    /// ITF = −lg TF.
    pub itf: Option<f64>,
    /// Length of its lists on disk, stale postings included.
    pub list_length: u64,
    pub posting_bytes: u64,
    pub position_bytes: u64,
    /// Occurrences by generation, oldest first.
    pub generations: Vec<TermInGeneration>,
    /// Pages with the most occurrences, most frequent first.
    pub pages: Vec<TermOnPage>,
}

/// The occurrences of a term in a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermInGeneration {
    pub generation: String,
    pub documents: u64,
    pub occurrences: u64,
}

/// The occurrences of a term in a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermOnPage {
    pub url: String,
    pub occurrences: u32,
    /// Number of stored positions; 0 in a field without positions.
    pub positions: u64,
}

/// A page with its number of occurrences: most frequent first, then in index order.
type FrequentPage = (u32, Reverse<(usize, usize, u32)>);

impl ChainView {
    pub(crate) fn explain(
        &self,
        analyser: &Analyser,
        text: &str,
        field: Option<&str>,
        pages: usize,
    ) -> Result<TermReport, IndexError> {
        let mut tokens = Vec::new();
        for token in analyser.index_tokens(text) {
            let pharos_text::Token { text: term, start, end, position } = token;
            tokens.push(AnalysedToken { term, start, end, position });
        }
        let mut terms: Vec<&str> = Vec::new();
        for token in &tokens {
            if !terms.contains(&token.term.as_str()) && terms.len() < MAX_TERMS {
                terms.push(&token.term);
            }
        }
        let listed = match self.generations.first() {
            Some(view) => IndexedField::select(view.searcher.schema(), field)?,
            None => Vec::new(),
        };
        let live = self.live_docs()?;
        let mut found = Vec::with_capacity(terms.len());
        for term in &terms {
            found.push(self.term_statistics(term, &listed, &live, pages)?);
        }
        // Some indexed terms are never produced by the analysis of a text, such as stems and multi-word names.
        if !terms.contains(&text) {
            let literal = self.term_statistics(text, &listed, &live, pages)?;
            if !literal.fields.is_empty() {
                found.push(literal);
            }
        }
        let documents = live.iter().flatten().map(|live| live.documents).sum();
        Ok(TermReport { text: text.to_string(), tokens, documents, terms: found })
    }
}

impl ChainView {
    fn term_statistics(
        &self,
        term: &str,
        listed: &[IndexedField],
        live: &[Vec<LiveDocs>],
        pages: usize,
    ) -> Result<TermStatistics, IndexError> {
        let mut fields = Vec::new();
        for listed in listed.iter().filter(|listed| listed.is_text) {
            fields.extend(self.term_in_field(term, listed, live, pages)?);
        }
        fields.sort_by_key(|field| std::cmp::Reverse(field.occurrences));
        Ok(TermStatistics { term: term.to_string(), fields })
    }

    /// Returns `None` if the field does not contain the term.
    fn term_in_field(
        &self,
        term: &str,
        listed: &IndexedField,
        live: &[Vec<LiveDocs>],
        pages: usize,
    ) -> Result<Option<TermInField>, IndexError> {
        let key = Term::from_field_text(listed.field, term);
        let (mut list_length, mut posting_bytes, mut position_bytes) = (0, 0, 0);
        let (mut documents, mut occurrences, mut in_all) = (0, 0, 0);
        let mut generations = Vec::new();
        let mut often: BinaryHeap<Reverse<FrequentPage>> = BinaryHeap::new();
        for (generation, (view, live)) in self.generations.iter().zip(live).enumerate() {
            let failed = IndexError::tantivy(&view.path);
            let mut here =
                TermInGeneration { generation: generation_name(view), documents: 0, occurrences: 0 };
            let mut known = false;
            for (segment, (reader, live)) in view.searcher.segment_readers().iter().zip(live).enumerate() {
                let inverted = reader.inverted_index(listed.field).map_err(&failed)?;
                in_all += inverted.total_num_tokens();
                let info = inverted.get_term_info(&key).map_err(|e| failed(e.into()))?;
                let Some(info) = info else { continue };
                known = true;
                list_length += u64::from(info.doc_freq);
                posting_bytes += info.postings_range.len() as u64;
                position_bytes += info.positions_range.len() as u64;
                let postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs);
                let mut postings = postings.map_err(|e| failed(e.into()))?;
                while postings.doc() != TERMINATED {
                    let doc = postings.doc();
                    if live.contains(doc) {
                        let count = postings.term_freq();
                        here.documents += 1;
                        here.occurrences += u64::from(count);
                        keep_most_frequent(&mut often, pages, (count, Reverse((generation, segment, doc))));
                    }
                    postings.advance();
                }
            }
            if known {
                documents += here.documents;
                occurrences += here.occurrences;
                generations.push(here);
            }
        }
        if generations.is_empty() {
            return Ok(None);
        }
        let all = live.iter().flatten().map(|live| live.documents).sum();
        let (df, tf) = (share(documents, all), share(occurrences, in_all));
        let often = often.into_sorted_vec().into_iter().map(|Reverse(page)| page);
        let pages: Result<_, IndexError> = often.map(|page| self.describe_page(&key, listed, page)).collect();
        Ok(Some(TermInField {
            field: listed.name.clone(),
            documents,
            occurrences,
            df,
            idf: negative_log(df),
            tf,
            itf: negative_log(tf),
            list_length,
            posting_bytes,
            position_bytes,
            generations,
            pages: pages?,
        }))
    }

    fn describe_page(
        &self,
        term: &Term,
        listed: &IndexedField,
        often: FrequentPage,
    ) -> Result<TermOnPage, IndexError> {
        let (occurrences, Reverse((generation, segment, doc))) = often;
        let view = self.generations.get(generation).ok_or(IndexError::ForeignCandidate)?;
        let reader = view.searcher.segment_readers().get(segment).ok_or(IndexError::ForeignCandidate)?;
        let failed = IndexError::tantivy(&view.path);
        let shown = view.visible_addresses(segment as u32, &SiteFilter::default()).map_err(&failed)?;
        let (address, page) = shown.addresses(doc).next().ok_or(IndexError::ForeignCandidate)?;
        let location = DocLocation { generation: generation as u32, segment: segment as u32, doc, address };
        let candidate = Candidate { page, score: 0.0, copies: 0, location: location.into() };
        let url = self.result_fields(&[candidate])?.pop().map(|fields| fields.url).unwrap_or_default();
        let positions = count_positions(view, reader, term, listed, doc)?;
        Ok(TermOnPage { url, occurrences, positions })
    }
}

/// Returns the number of stored positions of a term in a document.
fn count_positions(
    view: &GenerationView,
    reader: &SegmentReader,
    term: &Term,
    listed: &IndexedField,
    doc: u32,
) -> Result<u64, IndexError> {
    if !listed.record.has_positions() {
        return Ok(0);
    }
    let failed = IndexError::tantivy(&view.path);
    let inverted = reader.inverted_index(listed.field).map_err(&failed)?;
    let postings = inverted.read_postings(term, IndexRecordOption::WithFreqsAndPositions);
    let Some(mut postings) = postings.map_err(|e| failed(e.into()))? else { return Ok(0) };
    if postings.seek(doc) != doc {
        return Ok(0);
    }
    let mut locations = Vec::new();
    postings.positions(&mut locations);
    Ok(locations.len() as u64)
}

/// Returns −lg of a share.
fn negative_log(share: f64) -> Option<f64> {
    (share > 0.0).then(|| 0.0 - share.log10())
}

fn keep_most_frequent(often: &mut BinaryHeap<Reverse<FrequentPage>>, limit: usize, page: FrequentPage) {
    often.push(Reverse(page));
    if often.len() > limit {
        often.pop();
    }
}
