//! The story of one term: how texts are cut into it, how often it occurs, where, and what its lists cost.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pharos_text::Analyser;
use serde::Serialize;
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, SegmentReader, TERMINATED, Term};

use crate::address::SiteRules;
use crate::live::Live;
use crate::snapshot::{ChainSnapshot, MemberView};
use crate::statistics::{ListedField, name, share};
use crate::{Candidate, EmbeddedIndex, Index as _, IndexError, Place, Snapshot as _};

/// A text may be cut into at most so many terms; what comes after is left out.
const MAX_TERMS: usize = 100;

/// How an index sees a text, and what it has for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermStory {
    /// What was asked.
    pub text: String,
    /// What it is cut into where pages say it.
    pub tokens: Vec<SeenToken>,
    /// N: documents that can be found.
    pub documents: u64,
    /// Each different term of it that the index has or could have, in their order; the text itself too, if it is one.
    pub terms: Vec<TermFigures>,
}

impl TermStory {
    /// Does any document have any of it?
    pub fn is_known(&self) -> bool {
        self.terms.iter().any(|term| term.fields.iter().any(|field| field.documents > 0))
    }
}

/// A token of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenToken {
    /// Its term.
    pub term: String,
    /// Its first byte in the text.
    pub start: usize,
    /// The first byte after it.
    pub end: usize,
    /// Its place in the order of words.
    pub position: usize,
}

/// A term and where it occurs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermFigures {
    /// The term.
    pub term: String,
    /// Each field that has it, most occurrences first.
    pub fields: Vec<TermInField>,
}

/// What a field has of a term. DF, IDF, TF and ITF are those of 《搜索引擎—原理、技术与系统》, §8.2; logarithms are to the base
/// of ten, as in its figure 8-4.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermInField {
    /// The field.
    pub field: String,
    /// Documents that have it and can be found.
    pub documents: u64,
    /// How often they have it.
    pub occurrences: u64,
    /// DF: the share of all documents.
    pub df: f64,
    /// IDF = −lg DF.
    pub idf: Option<f64>,
    /// TF: the share of all occurrences, as the index keeps these for ranking: those of stale documents too.
    pub tf: f64,
    /// ITF = −lg TF.
    pub itf: Option<f64>,
    /// How long its lists are on disk, stale postings too.
    pub list_length: u64,
    /// Their bytes.
    pub posting_bytes: u64,
    /// The bytes of its places.
    pub position_bytes: u64,
    /// Where it is, oldest first.
    pub generations: Vec<TermInGeneration>,
    /// Where it occurs most, most often first.
    pub pages: Vec<TermOnPage>,
}

/// What a generation has of a term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermInGeneration {
    /// Its name.
    pub generation: String,
    /// Documents that have it and can be found.
    pub documents: u64,
    /// How often they have it.
    pub occurrences: u64,
}

/// A page that has a term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermOnPage {
    /// Its address.
    pub url: String,
    /// How often it has the term.
    pub occurrences: u32,
    /// How many of the places are kept: none in a field without places.
    pub positions: u64,
}

/// A page among those where a term occurs most: often first, then in the order of the index.
type Often = (u32, Reverse<(usize, usize, u32)>);

impl EmbeddedIndex {
    /// What the index has of a text, with the `pages` pages where each of its terms occurs most; in one field, or in all
    /// whose texts are cut into words.
    pub fn explain(&self, text: &str, field: Option<&str>, pages: usize) -> Result<TermStory, IndexError> {
        let analyser = Analyser::with(self.vocabulary());
        self.at_rest()?.ask(|chain| chain.explain(&analyser, text, field, pages))
    }
}

impl ChainSnapshot {
    fn explain(
        &self,
        analyser: &Analyser,
        text: &str,
        field: Option<&str>,
        pages: usize,
    ) -> Result<TermStory, IndexError> {
        let mut tokens = Vec::new();
        for token in analyser.index_tokens(text) {
            let pharos_text::Token { text: term, start, end, position } = token;
            tokens.push(SeenToken { term, start, end, position });
        }
        let mut terms: Vec<&str> = Vec::new();
        for token in &tokens {
            if !terms.contains(&token.term.as_str()) && terms.len() < MAX_TERMS {
                terms.push(&token.term);
            }
        }
        let listed = match self.members.first() {
            Some(view) => ListedField::wanted(view.searcher.schema(), field)?,
            None => Vec::new(),
        };
        let live = self.live()?;
        let mut found = Vec::with_capacity(terms.len());
        for term in &terms {
            found.push(self.term(term, &listed, &live, pages)?);
        }
        // Terms of the index that no text is cut into as they stand, such as stems and names of several words.
        if !terms.contains(&text) {
            let literal = self.term(text, &listed, &live, pages)?;
            if !literal.fields.is_empty() {
                found.push(literal);
            }
        }
        let documents = live.iter().flatten().map(|live| live.documents).sum();
        Ok(TermStory { text: text.to_string(), tokens, documents, terms: found })
    }
}

impl ChainSnapshot {
    fn term(
        &self,
        term: &str,
        listed: &[ListedField],
        live: &[Vec<Live>],
        pages: usize,
    ) -> Result<TermFigures, IndexError> {
        let mut fields = Vec::new();
        for listed in listed.iter().filter(|listed| listed.text) {
            fields.extend(self.term_in(term, listed, live, pages)?);
        }
        fields.sort_by_key(|field| std::cmp::Reverse(field.occurrences));
        Ok(TermFigures { term: term.to_string(), fields })
    }

    /// `None` where the field does not have it.
    fn term_in(
        &self,
        term: &str,
        listed: &ListedField,
        live: &[Vec<Live>],
        pages: usize,
    ) -> Result<Option<TermInField>, IndexError> {
        let key = Term::from_field_text(listed.field, term);
        let (mut list_length, mut posting_bytes, mut position_bytes) = (0, 0, 0);
        let (mut documents, mut occurrences, mut in_all) = (0, 0, 0);
        let mut generations = Vec::new();
        let mut often: BinaryHeap<Reverse<Often>> = BinaryHeap::new();
        for (member, (view, live)) in self.members.iter().zip(live).enumerate() {
            let failed = IndexError::tantivy(&view.path);
            let mut here = TermInGeneration { generation: name(view), documents: 0, occurrences: 0 };
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
                        keep(&mut often, pages, (count, Reverse((member, segment, doc))));
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
        let pages: Result<_, IndexError> = often.map(|page| self.page_with(&key, listed, page)).collect();
        Ok(Some(TermInField {
            field: listed.name.clone(),
            documents,
            occurrences,
            df,
            idf: inverse(df),
            tf,
            itf: inverse(tf),
            list_length,
            posting_bytes,
            position_bytes,
            generations,
            pages: pages?,
        }))
    }

    fn page_with(&self, term: &Term, listed: &ListedField, often: Often) -> Result<TermOnPage, IndexError> {
        let (occurrences, Reverse((member, segment, doc))) = often;
        let view = self.members.get(member).ok_or(IndexError::ForeignCandidate)?;
        let reader = view.searcher.segment_readers().get(segment).ok_or(IndexError::ForeignCandidate)?;
        let failed = IndexError::tantivy(&view.path);
        let shown = view.shown(segment as u32, &SiteRules::default()).map_err(&failed)?;
        let (address, page) = shown.addresses(doc).next().ok_or(IndexError::ForeignCandidate)?;
        let place = Place { member: member as u32, segment: segment as u32, doc, address };
        let candidate = Candidate { page, score: 0.0, copies: 0, place };
        let url = self.cards(&[candidate])?.pop().map(|card| card.url).unwrap_or_default();
        let positions = positions(view, reader, term, listed, doc)?;
        Ok(TermOnPage { url, occurrences, positions })
    }
}

/// How many places of a term in a document are kept.
fn positions(
    view: &MemberView,
    reader: &SegmentReader,
    term: &Term,
    listed: &ListedField,
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
    let mut places = Vec::new();
    postings.positions(&mut places);
    Ok(places.len() as u64)
}

/// −lg of a share.
fn inverse(share: f64) -> Option<f64> {
    (share > 0.0).then(|| 0.0 - share.log10())
}

fn keep(often: &mut BinaryHeap<Reverse<Often>>, limit: usize, page: Often) {
    often.push(Reverse(page));
    if often.len() > limit {
        often.pop();
    }
}
