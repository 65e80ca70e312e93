//! A view of the chain of generations: the implementation of [`IndexView`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use pharos_core::PageId;
use pharos_text::vocabulary::{Vocabulary, WordKind};
use tantivy::columnar::Column;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{DocAddress, DocId, DocSet as _, Searcher, TantivyDocument, Term};

use crate::document::addresses::{AddressColumns, HiddenPages, SiteFilter, VisibleAddresses};
use crate::document::link_figures::LinkFigureColumns;
use crate::document::result_fields::ResultFieldsColumn;
use crate::document::schema::{DAY, OTHER_BEGIN, OTHER_SHARE, RANK, SchemaFields, TITLE_LENGTH};
use crate::document::signature::SignatureColumns;
use crate::document::{DuplicateSignature, StoredPage, StoredText};
use crate::panic_guard::catch_panic;
use crate::read::doc_location::DocLocation;
use crate::read::evidence::{self, DocumentFrequencies, Evidence};
use crate::read::facets::{self, Facet, FacetColumns, FacetCount};
use crate::read::retrieve;
use crate::read::titles_and_words::{self, PageTitle};
use crate::view::{Candidate, GenerationScope, IndexView, MatchCount, RetrievalRequest, RetrievalResult};
use crate::{IndexError, LinkFigures, LinkMaxima, Query, ResultFields};

/// One generation of a view.
pub(crate) struct GenerationView {
    pub(crate) path: PathBuf,
    pub(crate) searcher: Searcher,
    pub(crate) hidden: HiddenPages,
    /// `true` if the segments are sorted by descending static rank.
    pub(crate) is_ordered: bool,
    columns: Vec<OnceLock<SegmentColumns>>,
    other_share: OnceLock<f64>,
}

/// The columns of a segment that every query reads. They are cached, because opening them takes longer than many
/// queries.
pub(crate) struct SegmentColumns {
    pub(crate) addresses: AddressColumns,
    pub(crate) ranks: Option<Column<u64>>,
    pub(crate) days: Option<Column<i64>>,
    pub(crate) title_lengths: Option<Column<u64>>,
    result_fields: ResultFieldsColumn,
    pub(crate) facets: FacetColumns,
    pub(crate) link_figures: LinkFigureColumns,
    signatures: SignatureColumns,
    other_begins: Option<Column<u64>>,
    other_shares: Option<Column<u64>>,
}

/// Number of documents of a segment that the share of the other text is estimated from.
const SAMPLED_DOCS: u32 = 4_096;

impl SegmentColumns {
    /// Returns the first position of the other text of a page.
    pub(crate) fn other_begin(&self, doc: DocId) -> u32 {
        let begin = self.other_begins.as_ref().and_then(|begins| begins.first(doc));
        begin.and_then(|begin| u32::try_from(begin).ok()).unwrap_or(u32::MAX)
    }

    /// Returns the length of a page of this total length without its other text.
    pub(crate) fn length_in_zones(&self, doc: DocId, length: u32) -> u32 {
        match self.other_shares.as_ref().and_then(|shares| shares.first(doc)) {
            Some(share) => (f64::from(length) * (1.0 - share as f64 / 1_000.0)).round() as u32,
            None => length,
        }
    }

    /// Returns the result fields of a page, or `None` for a tombstone.
    pub(crate) fn result_fields(&self, doc: DocId) -> Option<ResultFields> {
        self.result_fields.read(doc)
    }

    /// Returns the static rank of a page, between 0 and 1.
    pub(crate) fn static_rank(&self, doc: DocId) -> f32 {
        let rank = self.ranks.as_ref().and_then(|ranks| ranks.first(doc)).unwrap_or_default();
        rank as f32 / f32::from(u16::MAX)
    }
}

impl GenerationView {
    pub(crate) fn new(path: PathBuf, searcher: Searcher, hidden: HiddenPages, is_ordered: bool) -> Self {
        let columns = searcher.segment_readers().iter().map(|_| OnceLock::new()).collect();
        Self { path, searcher, hidden, is_ordered, columns, other_share: OnceLock::new() }
    }

    /// Returns the share of the other text in all words, estimated from a sample of each segment.
    pub(crate) fn other_share(&self, text: Field) -> tantivy::Result<f64> {
        if let Some(share) = self.other_share.get() {
            return Ok(*share);
        }
        let (mut all, mut in_zones) = (0.0f64, 0.0f64);
        for (number, reader) in (0..).zip(self.searcher.segment_readers()) {
            let columns = self.columns(number)?;
            if columns.other_shares.is_none() {
                continue;
            }
            let lengths = reader.get_fieldnorms_reader(text)?;
            for doc in (0..reader.max_doc()).step_by(reader.max_doc().div_ceil(SAMPLED_DOCS).max(1) as usize)
            {
                let length = lengths.fieldnorm(doc);
                all += f64::from(length);
                in_zones += f64::from(columns.length_in_zones(doc, length));
            }
        }
        let share = if all > 0.0 { 1.0 - in_zones / all } else { 0.0 };
        Ok(*self.other_share.get_or_init(|| share))
    }

    /// Returns the columns of a segment and opens them on first use.
    pub(crate) fn columns(&self, segment: u32) -> tantivy::Result<&SegmentColumns> {
        let cached = &self.columns[segment as usize];
        if let Some(columns) = cached.get() {
            return Ok(columns);
        }
        let reader = self.searcher.segment_reader(segment);
        let columns = SegmentColumns {
            addresses: AddressColumns::open(reader)?,
            ranks: reader.fast_fields().column_opt(RANK)?,
            days: reader.fast_fields().column_opt(DAY)?,
            title_lengths: reader.fast_fields().column_opt(TITLE_LENGTH)?,
            result_fields: ResultFieldsColumn::open(reader)?,
            facets: FacetColumns::open(reader)?,
            link_figures: LinkFigureColumns::open(reader)?,
            signatures: SignatureColumns::open(reader)?,
            other_begins: reader.fast_fields().column_opt(OTHER_BEGIN)?,
            other_shares: reader.fast_fields().column_opt(OTHER_SHARE)?,
        };
        Ok(cached.get_or_init(|| columns))
    }

    /// Returns the visible URLs of a segment.
    pub(crate) fn visible_addresses(
        &self,
        segment: u32,
        filter: &SiteFilter,
    ) -> tantivy::Result<VisibleAddresses<'_>> {
        let reader = self.searcher.segment_reader(segment);
        VisibleAddresses::new(reader, &self.columns(segment)?.addresses, &self.hidden, filter)
    }
}

/// A view of the chain, oldest generation first.
///
/// Every method of [`IndexView`] that reads files converts panics of a damaged file into errors.
pub(crate) struct ChainView {
    /// Directory that errors name.
    pub(crate) dir: PathBuf,
    pub(crate) state_id: String,
    /// Identifier of the history, which is then the first generation.
    pub(crate) history: Option<String>,
    pub(crate) fields: SchemaFields,
    pub(crate) generations: Vec<GenerationView>,
    /// Vocabulary that each generation was segmented with.
    pub(crate) vocabularies: Vec<Arc<Vocabulary>>,
    pub(crate) maxima: LinkMaxima,
    pub(crate) pages: OnceLock<u64>,
}

/// BM25 statistics over all generations, so that scores of different generations are comparable.
pub(crate) struct CommonStatistics<'a>(pub(crate) &'a [GenerationView]);

impl Bm25StatisticsProvider for CommonStatistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.0.iter().map(|m| m.searcher.total_num_tokens(field)).sum()
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.0.iter().map(|m| m.searcher.total_num_docs()).sum()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.0.iter().map(|m| Bm25StatisticsProvider::doc_freq(&m.searcher, term)).sum()
    }
}

impl IndexView for ChainView {
    fn state_id(&self) -> &str {
        &self.state_id
    }

    fn history(&self) -> Option<&str> {
        self.history.as_deref()
    }

    fn is_in_history(&self, candidate: &Candidate) -> bool {
        self.history.is_some() && candidate.doc_location().generation == 0
    }

    fn refresh_candidates(
        &self,
        request: &RetrievalRequest<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.guard(|| {
            let sites = request.query.site_filter();
            let mut by_segment: HashMap<u32, VisibleAddresses<'_>> = HashMap::new();
            let mut refresh = |candidate: &Candidate| {
                let DocLocation { segment, doc, address, .. } = candidate.doc_location();
                if !self.is_in_history(candidate) {
                    return Err(IndexError::ForeignCandidate);
                }
                self.columns(candidate.doc_location())?;
                let view = self.generation_at(candidate.doc_location())?;
                let shown = match by_segment.entry(segment) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(
                        view.visible_addresses(segment, &sites).map_err(IndexError::tantivy(&view.path))?,
                    ),
                };
                if request.every_address {
                    let is_shown = shown.addresses(doc).any(|(number, _)| number == address);
                    return Ok(is_shown.then_some(*candidate));
                }
                let mut addresses = shown.addresses(doc);
                let Some((address, page)) = addresses.next() else { return Ok(None) };
                let copies = addresses.count() as u32;
                Ok(Some(Candidate {
                    page,
                    copies,
                    location: DocLocation { address, ..candidate.doc_location() }.into(),
                    ..*candidate
                }))
            };
            candidates.iter().map(&mut refresh).collect()
        })
    }

    fn is_indexed_word(&self, word: &str, kind: WordKind) -> bool {
        self.vocabularies
            .iter()
            .all(|vocabulary| vocabulary.get(word).is_some_and(|known| known.kind == kind))
    }

    fn pages(&self) -> Result<u64, IndexError> {
        self.guard(|| {
            if let Some(pages) = self.pages.get() {
                return Ok(*pages);
            }
            let pages = self.count(&Query::All, u64::MAX)?.pages;
            Ok(*self.pages.get_or_init(|| pages))
        })
    }

    fn retrieve(&self, request: &RetrievalRequest<'_>) -> Result<RetrievalResult, IndexError> {
        self.guard(|| {
            let (candidates, is_partial) =
                retrieve::retrieve_top(self, request, &CommonStatistics(&self.generations))?;
            // Fewer candidates than requested means that these are all matches.
            let are_all = candidates.len() < request.limit && !is_partial;
            let count = if are_all || is_partial || request.count_up_to == 0 {
                MatchCount { pages: candidates.len() as u64, is_exact: are_all }
            } else {
                facets::count(self, request)?
            };
            Ok(RetrievalResult { total: count.pages, total_is_exact: count.is_exact, candidates, is_partial })
        })
    }

    fn count(&self, query: &Query, up_to: u64) -> Result<MatchCount, IndexError> {
        self.guard(|| {
            facets::count(self, &RetrievalRequest { count_up_to: up_to, ..RetrievalRequest::new(query, 0) })
        })
    }

    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        max_values: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.guard(|| facets::facets(self, query, facets, max_values, up_to, until))
    }

    fn facets_of(
        &self,
        candidates: &[Candidate],
        facets: &[Facet],
        max_values: usize,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.guard(|| facets::facets_of(self, candidates, facets, max_values))
    }

    fn frequencies(&self, terms: &[String]) -> Result<DocumentFrequencies, IndexError> {
        self.guard(|| evidence::frequencies(self, terms))
    }

    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError> {
        self.guard(|| evidence::evidence(self, candidates, terms))
    }

    fn maxima(&self) -> LinkMaxima {
        self.maxima
    }

    fn result_fields(&self, candidates: &[Candidate]) -> Result<Vec<ResultFields>, IndexError> {
        self.guard(|| {
            let fields = candidates.iter().map(|candidate| self.result_fields(candidate.doc_location()));
            let at_its_address =
                |(candidate, fields): (&Candidate, Result<Option<ResultFields>, IndexError>)| {
                    let mut fields = fields?.ok_or(IndexError::ForeignCandidate)?;
                    if candidate.doc_location().address > 0 {
                        self.fields.move_to_copy(
                            &mut fields,
                            candidate.doc_location().address,
                            &self.document(candidate.doc_location())?,
                        );
                    }
                    Ok(fields)
                };
            candidates.iter().zip(fields).map(at_its_address).collect()
        })
    }

    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<StoredText>, IndexError> {
        self.guard(|| {
            candidates
                .iter()
                .map(|candidate| Ok(self.fields.read_text(&self.document(candidate.doc_location())?)))
                .collect()
        })
    }

    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.guard(|| pages.iter().map(|page| self.find_candidate(*page)).collect())
    }

    fn link_figures(&self, candidates: &[Candidate]) -> Result<Vec<LinkFigures>, IndexError> {
        self.guard(|| {
            candidates
                .iter()
                .map(|c| Ok(self.columns(c.doc_location())?.link_figures.read(c.doc_location().doc)))
                .collect()
        })
    }

    fn signatures(&self, candidates: &[Candidate]) -> Result<Vec<DuplicateSignature>, IndexError> {
        self.guard(|| {
            candidates
                .iter()
                .map(|c| Ok(self.columns(c.doc_location())?.signatures.read(c.doc_location().doc)))
                .collect()
        })
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        self.guard(|| {
            let Some(candidate) = self.find_candidate(page)? else { return Ok(None) };
            Ok(self.stored(&[candidate])?.pop())
        })
    }

    fn for_each_title(
        &self,
        scope: GenerationScope,
        each: &mut dyn FnMut(PageTitle<'_>),
    ) -> Result<(), IndexError> {
        self.guard(|| titles_and_words::for_each_title(self, scope, each))
    }

    fn for_each_word(
        &self,
        scope: GenerationScope,
        each: &mut dyn FnMut(&str, u64),
    ) -> Result<(), IndexError> {
        self.guard(|| titles_and_words::for_each_word(self, scope, each))
    }

    fn link_figures_of(&self, page: PageId) -> Result<Option<LinkFigures>, IndexError> {
        self.guard(|| {
            let Some(candidate) = self.find_candidate(page)? else { return Ok(None) };
            Ok(self.link_figures(&[candidate])?.pop())
        })
    }
}

impl ChainView {
    /// Runs a read of the view and converts a panic into an error.
    pub(crate) fn guard<T>(&self, read: impl FnOnce() -> Result<T, IndexError>) -> Result<T, IndexError> {
        catch_panic(&self.dir, read)
    }

    /// Returns the generations in scope, with their numbers.
    pub(crate) fn in_scope(&self, scope: GenerationScope) -> impl Iterator<Item = (u32, &GenerationView)> {
        let skipped = match scope {
            GenerationScope::All => 0,
            GenerationScope::Latest => usize::from(self.history.is_some()),
        };
        (0..).zip(&self.generations).skip(skipped)
    }

    pub(crate) fn generation_at(&self, location: DocLocation) -> Result<&GenerationView, IndexError> {
        self.generations.get(location.generation as usize).ok_or(IndexError::ForeignCandidate)
    }

    pub(crate) fn columns(&self, location: DocLocation) -> Result<&SegmentColumns, IndexError> {
        let view = self.generation_at(location)?;
        if location.segment as usize >= view.columns.len() {
            return Err(IndexError::ForeignCandidate);
        }
        view.columns(location.segment).map_err(IndexError::tantivy(&view.path))
    }

    fn result_fields(&self, location: DocLocation) -> Result<Option<ResultFields>, IndexError> {
        Ok(self.columns(location)?.result_fields.read(location.doc))
    }

    fn document(&self, location: DocLocation) -> Result<TantivyDocument, IndexError> {
        let view = self.generation_at(location)?;
        view.searcher
            .doc(DocAddress::new(location.segment, location.doc))
            .map_err(IndexError::tantivy(&view.path))
    }

    /// Looks up the page at one URL. Returns `None` if it is deleted or unknown.
    fn find_candidate(&self, page: PageId) -> Result<Option<Candidate>, IndexError> {
        let Some(location) = self.locate(page)? else { return Ok(None) };
        let candidate = Candidate { page, score: 0.0, copies: 0, location: location.into() };
        // A tombstone has no result fields.
        Ok(self.result_fields(location)?.map(|_| candidate))
    }

    /// Returns the location of a page, or of its tombstone, in the newest generation that contains it.
    fn locate(&self, page: PageId) -> Result<Option<DocLocation>, IndexError> {
        let term = self.fields.page_term(page);
        for (generation, view) in self.generations.iter().enumerate().rev() {
            let failed = IndexError::tantivy(&view.path);
            for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
                let inverted = reader.inverted_index(self.fields.page).map_err(&failed)?;
                let postings = inverted
                    .read_postings(&term, tantivy::schema::IndexRecordOption::Basic)
                    .map_err(|e| failed(e.into()))?;
                let Some(mut postings) = postings else { continue };
                let mut doc = postings.doc();
                while doc != tantivy::TERMINATED {
                    if reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                        let columns = view.columns(segment).map_err(&failed)?;
                        let address = columns.addresses.address_number(doc, page).unwrap_or_default();
                        return Ok(Some(DocLocation {
                            generation: generation as u32,
                            segment,
                            doc,
                            address,
                        }));
                    }
                    doc = postings.advance();
                }
            }
        }
        Ok(None)
    }
}
