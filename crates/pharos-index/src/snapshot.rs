//! The chain at rest, answering.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use pharos_core::PageId;
use pharos_text::vocabulary::{Kind, Vocabulary};
use tantivy::columnar::Column;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{DocAddress, DocId, DocSet as _, Searcher, TantivyDocument, Term};

use crate::address::{Addresses, Hidden, Shown, SiteRules};
use crate::card::Cards;
use crate::count::{self, Facet, FacetColumns, FacetCount};
use crate::evidence::{self, Evidence, Frequencies};
use crate::figures::FigureColumns;
use crate::likeness::LikenessColumns;
use crate::schema::{DAY, Fields, RANK, TITLE_LENGTH};
use crate::{
    Candidate, Card, Count, Found, IndexError, Likeness, Maxima, Members, Place, Query, Retrieval, Snapshot,
    StoredPage, Text, Title, WebFigures, retrieve, sayings,
};

/// One member of the chain.
pub(crate) struct MemberView {
    pub(crate) path: PathBuf,
    pub(crate) searcher: Searcher,
    pub(crate) hidden: Hidden,
    /// Are the pages of each segment in descending order of static rank?
    pub(crate) is_ordered: bool,
    columns: Vec<OnceLock<Columns>>,
}

/// The columns of a segment that every query reads. Finding them takes longer than many a query.
pub(crate) struct Columns {
    pub(crate) addresses: Addresses,
    pub(crate) ranks: Option<Column<u64>>,
    pub(crate) days: Option<Column<i64>>,
    pub(crate) title_lengths: Option<Column<u64>>,
    cards: Cards,
    pub(crate) facets: FacetColumns,
    pub(crate) figures: FigureColumns,
    likeness: LikenessColumns,
}

impl Columns {
    /// What a list of results says of a page; `None` where it is gone.
    pub(crate) fn card(&self, doc: DocId) -> Option<Card> {
        self.cards.read(doc)
    }

    /// The static rank of a page, between 0 and 1.
    pub(crate) fn static_rank(&self, doc: DocId) -> f32 {
        let rank = self.ranks.as_ref().and_then(|ranks| ranks.first(doc)).unwrap_or_default();
        rank as f32 / f32::from(u16::MAX)
    }
}

impl MemberView {
    pub(crate) fn new(path: PathBuf, searcher: Searcher, hidden: Hidden, is_ordered: bool) -> Self {
        let columns = searcher.segment_readers().iter().map(|_| OnceLock::new()).collect();
        Self { path, searcher, hidden, is_ordered, columns }
    }

    /// The columns of one of its segments.
    pub(crate) fn columns(&self, segment: u32) -> tantivy::Result<&Columns> {
        let known = &self.columns[segment as usize];
        if let Some(columns) = known.get() {
            return Ok(columns);
        }
        let reader = self.searcher.segment_reader(segment);
        let columns = Columns {
            addresses: Addresses::of(reader)?,
            ranks: reader.fast_fields().column_opt(RANK)?,
            days: reader.fast_fields().column_opt(DAY)?,
            title_lengths: reader.fast_fields().column_opt(TITLE_LENGTH)?,
            cards: Cards::of(reader)?,
            facets: FacetColumns::of(reader)?,
            figures: FigureColumns::of(reader)?,
            likeness: LikenessColumns::of(reader)?,
        };
        Ok(known.get_or_init(|| columns))
    }

    /// The addresses of one of its segments that may be shown.
    pub(crate) fn shown(&self, segment: u32, rules: &SiteRules) -> tantivy::Result<Shown<'_>> {
        let reader = self.searcher.segment_reader(segment);
        Shown::of(reader, &self.columns(segment)?.addresses, &self.hidden, rules)
    }
}

/// The chain at one moment, oldest member first.
pub(crate) struct ChainSnapshot {
    pub(crate) generation: String,
    /// Names the history, which is the first member then.
    pub(crate) history: Option<String>,
    pub(crate) fields: Fields,
    pub(crate) members: Vec<MemberView>,
    /// The words of the installation that each member was cut with.
    pub(crate) words: Vec<Arc<Vocabulary>>,
    pub(crate) maxima: Maxima,
    pub(crate) pages: OnceLock<u64>,
}

/// BM25's statistics over all members, so that scores of different members compare.
pub(crate) struct CommonStatistics<'a>(pub(crate) &'a [MemberView]);

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

impl Snapshot for ChainSnapshot {
    fn generation(&self) -> &str {
        &self.generation
    }

    fn history(&self) -> Option<&str> {
        self.history.as_deref()
    }

    fn is_in_history(&self, candidate: &Candidate) -> bool {
        self.history.is_some() && candidate.place.member == 0
    }

    fn renewed(
        &self,
        asked: &Retrieval<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError> {
        let sites = asked.query.site_rules();
        let mut by_segment: HashMap<u32, Shown<'_>> = HashMap::new();
        let mut renew = |candidate: &Candidate| {
            let Place { segment, doc, address, .. } = candidate.place;
            if !self.is_in_history(candidate) {
                return Err(IndexError::ForeignCandidate);
            }
            self.columns(candidate.place)?;
            let view = self.member(candidate.place)?;
            let shown = match by_segment.entry(segment) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(view.shown(segment, &sites).map_err(IndexError::tantivy(&view.path))?)
                }
            };
            if asked.every_address {
                let is_shown = shown.addresses(doc).any(|(number, _)| number == address);
                return Ok(is_shown.then_some(*candidate));
            }
            let mut addresses = shown.addresses(doc);
            let Some((address, page)) = addresses.next() else { return Ok(None) };
            let copies = addresses.count() as u32;
            Ok(Some(Candidate { page, copies, place: Place { address, ..candidate.place }, ..*candidate }))
        };
        candidates.iter().map(&mut renew).collect()
    }

    fn knows(&self, word: &str, kind: Kind) -> bool {
        self.words.iter().all(|words| words.get(word).is_some_and(|known| known.kind == kind))
    }

    fn pages(&self) -> Result<u64, IndexError> {
        if let Some(pages) = self.pages.get() {
            return Ok(*pages);
        }
        let pages = self.count(&Query::All, u64::MAX)?.pages;
        Ok(*self.pages.get_or_init(|| pages))
    }

    fn retrieve(&self, asked: &Retrieval<'_>) -> Result<Found, IndexError> {
        let (candidates, is_partial) = retrieve::best(self, asked, &CommonStatistics(&self.members))?;
        // Where not all that were wanted are there, all there are were found.
        let are_all = candidates.len() < asked.limit && !is_partial;
        let count = if are_all || is_partial || asked.count_up_to == 0 {
            Count { pages: candidates.len() as u64, is_exact: are_all }
        } else {
            count::count(self, asked)?
        };
        Ok(Found { total: count.pages, total_is_exact: count.is_exact, candidates, is_partial })
    }

    fn count(&self, query: &Query, up_to: u64) -> Result<Count, IndexError> {
        count::count(self, &Retrieval { count_up_to: up_to, ..Retrieval::new(query, 0) })
    }

    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        most: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        count::facets(self, query, facets, most, up_to, until)
    }

    fn facets_of(
        &self,
        candidates: &[Candidate],
        facets: &[Facet],
        most: usize,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        count::facets_of(self, candidates, facets, most)
    }

    fn frequencies(&self, terms: &[String]) -> Result<Frequencies, IndexError> {
        evidence::frequencies(self, terms)
    }

    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError> {
        evidence::evidence(self, candidates, terms)
    }

    fn maxima(&self) -> Maxima {
        self.maxima
    }

    fn cards(&self, candidates: &[Candidate]) -> Result<Vec<Card>, IndexError> {
        let cards = candidates.iter().map(|candidate| self.card(candidate.place));
        let at_its_address = |(candidate, card): (&Candidate, Result<Option<Card>, IndexError>)| {
            let mut card = card?.ok_or(IndexError::ForeignCandidate)?;
            if candidate.place.address > 0 {
                self.fields.at_copy(&mut card, candidate.place.address, &self.document(candidate.place)?);
            }
            Ok(card)
        };
        candidates.iter().zip(cards).map(at_its_address).collect()
    }

    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<Text>, IndexError> {
        candidates.iter().map(|candidate| Ok(self.fields.text_of(&self.document(candidate.place)?))).collect()
    }

    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError> {
        pages.iter().map(|page| self.candidate(*page)).collect()
    }

    fn figures(&self, candidates: &[Candidate]) -> Result<Vec<WebFigures>, IndexError> {
        candidates.iter().map(|c| Ok(self.columns(c.place)?.figures.read(c.place.doc))).collect()
    }

    fn likeness(&self, candidates: &[Candidate]) -> Result<Vec<Likeness>, IndexError> {
        candidates.iter().map(|c| Ok(self.columns(c.place)?.likeness.read(c.place.doc))).collect()
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        let Some(candidate) = self.candidate(page)? else { return Ok(None) };
        Ok(self.stored(&[candidate])?.pop())
    }

    fn titles(&self, members: Members, each: &mut dyn FnMut(Title<'_>)) -> Result<(), IndexError> {
        sayings::titles(self, members, each)
    }

    fn words(&self, members: Members, each: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError> {
        sayings::words(self, members, each)
    }

    fn figures_of(&self, page: PageId) -> Result<Option<WebFigures>, IndexError> {
        let Some(candidate) = self.candidate(page)? else { return Ok(None) };
        Ok(self.figures(&[candidate])?.pop())
    }
}

impl ChainSnapshot {
    /// The members that are asked, with their numbers.
    pub(crate) fn asked(&self, members: Members) -> impl Iterator<Item = (u32, &MemberView)> {
        let passed = match members {
            Members::All => 0,
            Members::Latest => usize::from(self.history.is_some()),
        };
        (0..).zip(&self.members).skip(passed)
    }

    pub(crate) fn member(&self, place: Place) -> Result<&MemberView, IndexError> {
        self.members.get(place.member as usize).ok_or(IndexError::ForeignCandidate)
    }

    pub(crate) fn columns(&self, place: Place) -> Result<&Columns, IndexError> {
        let view = self.member(place)?;
        if place.segment as usize >= view.columns.len() {
            return Err(IndexError::ForeignCandidate);
        }
        view.columns(place.segment).map_err(IndexError::tantivy(&view.path))
    }

    fn card(&self, place: Place) -> Result<Option<Card>, IndexError> {
        Ok(self.columns(place)?.cards.read(place.doc))
    }

    fn document(&self, place: Place) -> Result<TantivyDocument, IndexError> {
        let view = self.member(place)?;
        view.searcher.doc(DocAddress::new(place.segment, place.doc)).map_err(IndexError::tantivy(&view.path))
    }

    /// The page at one address; `None` where it is gone.
    fn candidate(&self, page: PageId) -> Result<Option<Candidate>, IndexError> {
        let Some(place) = self.place(page)? else { return Ok(None) };
        let candidate = Candidate { page, score: 0.0, copies: 0, place };
        // The mark of a page that is gone has no card.
        Ok(self.card(place)?.map(|_| candidate))
    }

    /// Where the newest member that speaks of a page has it, or the mark that it is gone.
    fn place(&self, page: PageId) -> Result<Option<Place>, IndexError> {
        let term = self.fields.page_term(page);
        for (member, view) in self.members.iter().enumerate().rev() {
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
                        let address = columns.addresses.number(doc, page).unwrap_or_default();
                        return Ok(Some(Place { member: member as u32, segment, doc, address }));
                    }
                    doc = postings.advance();
                }
            }
        }
        Ok(None)
    }
}
