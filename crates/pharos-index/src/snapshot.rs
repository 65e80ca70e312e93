//! The chain at rest, answering.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pharos_core::PageId;
use pharos_text::vocabulary::{Kind, Vocabulary};
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{DocAddress, DocSet as _, Searcher, SegmentReader, TantivyDocument, Term};

use crate::address::{Addresses, Hidden};
use crate::collect::{BestPages, merge};
use crate::figures::FigureColumns;
use crate::likeness::LikenessColumns;
use crate::schema::Fields;
use crate::{Candidate, Found, IndexError, Likeness, Place, Query, Snapshot, StoredPage, WebFigures};

/// One member of the chain.
pub(crate) struct MemberView {
    pub(crate) path: PathBuf,
    pub(crate) searcher: Searcher,
    pub(crate) hidden: Hidden,
}

/// The chain at one moment, oldest member first.
pub(crate) struct ChainSnapshot {
    pub(crate) generation: String,
    pub(crate) fields: Fields,
    pub(crate) members: Vec<MemberView>,
    /// The words of the installation that each member was cut with.
    pub(crate) words: Vec<Arc<Vocabulary>>,
    pub(crate) pages: OnceLock<u64>,
}

/// BM25's statistics over all members, so that scores of different members compare.
struct CommonStatistics<'a>(&'a [MemberView]);

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

    fn knows(&self, word: &str, kind: Kind) -> bool {
        self.words.iter().all(|words| words.get(word).is_some_and(|known| known.kind == kind))
    }

    fn pages(&self) -> Result<u64, IndexError> {
        if let Some(pages) = self.pages.get() {
            return Ok(*pages);
        }
        let pages = self.search(&Query::All, 0)?.total;
        Ok(*self.pages.get_or_init(|| pages))
    }

    fn search(&self, query: &Query, limit: usize) -> Result<Found, IndexError> {
        self.best(query, limit, false)
    }

    fn search_addresses(&self, query: &Query, limit: usize) -> Result<Found, IndexError> {
        self.best(query, limit, true)
    }

    fn stored(&self, candidates: &[Candidate]) -> Result<Vec<StoredPage>, IndexError> {
        candidates.iter().map(|candidate| self.stored_at(candidate.page, candidate.place)).collect()
    }

    fn figures(&self, candidates: &[Candidate]) -> Result<Vec<WebFigures>, IndexError> {
        self.read_columns(candidates, FigureColumns::of, FigureColumns::read)
    }

    fn likeness(&self, candidates: &[Candidate]) -> Result<Vec<Likeness>, IndexError> {
        self.read_columns(candidates, LikenessColumns::of, LikenessColumns::read)
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        Ok(self.found(page)?.map(|(stored, _)| stored))
    }

    fn figures_of(&self, page: PageId) -> Result<Option<WebFigures>, IndexError> {
        let Some((_, place)) = self.found(page)? else { return Ok(None) };
        let candidate = Candidate { page, score: 0.0, copies: 0, place };
        Ok(self.figures(&[candidate])?.pop())
    }
}

impl ChainSnapshot {
    fn best(&self, query: &Query, limit: usize, every_address: bool) -> Result<Found, IndexError> {
        let sites = query.site_rules();
        let query = query.to_tantivy(&self.fields);
        let statistics = CommonStatistics(&self.members);
        let mut found = Vec::with_capacity(self.members.len());
        for (member, view) in (0..).zip(&self.members) {
            let (hidden, sites) = (view.hidden.clone(), sites.clone());
            let best = BestPages { member, limit, every_address, hidden, sites };
            let fruit = view.searcher.search_with_statistics_provider(query.as_ref(), &best, &statistics);
            found.push(fruit.map_err(IndexError::tantivy(&view.path))?);
        }
        Ok(merge(found, limit))
    }

    fn member(&self, place: Place) -> Result<&MemberView, IndexError> {
        self.members.get(place.member as usize).ok_or(IndexError::ForeignCandidate)
    }

    fn stored_at(&self, page: PageId, place: Place) -> Result<StoredPage, IndexError> {
        let view = self.member(place)?;
        let document: TantivyDocument = view
            .searcher
            .doc(DocAddress::new(place.segment, place.doc))
            .map_err(IndexError::tantivy(&view.path))?;
        Ok(self.fields.read(page, place.address, &document))
    }

    /// Reads columns for candidates, opening those of each segment once.
    fn read_columns<C, T>(
        &self,
        candidates: &[Candidate],
        open: impl Fn(&SegmentReader) -> tantivy::Result<C>,
        read: impl Fn(&C, u32) -> T,
    ) -> Result<Vec<T>, IndexError> {
        let mut opened: HashMap<(u32, u32), C> = HashMap::new();
        let mut values = Vec::with_capacity(candidates.len());
        for Candidate { place, .. } in candidates {
            let view = self.member(*place)?;
            let columns = match opened.entry((place.member, place.segment)) {
                Entry::Occupied(columns) => columns.into_mut(),
                Entry::Vacant(gap) => {
                    let segment = view.searcher.segment_readers().get(place.segment as usize);
                    let columns = open(segment.ok_or(IndexError::ForeignCandidate)?);
                    gap.insert(columns.map_err(IndexError::tantivy(&view.path))?)
                }
            };
            values.push(read(columns, place.doc));
        }
        Ok(values)
    }

    fn found(&self, page: PageId) -> Result<Option<(StoredPage, Place)>, IndexError> {
        let Some(place) = self.place(page)? else { return Ok(None) };
        let stored = self.stored_at(page, place)?;
        // The mark of a page that is gone has no address.
        Ok((!stored.url.is_empty()).then_some((stored, place)))
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
                        let addresses = Addresses::of(reader).map_err(&failed)?;
                        let address = addresses.number(doc, page).unwrap_or_default();
                        return Ok(Some(Place { member: member as u32, segment, doc, address }));
                    }
                    doc = postings.advance();
                }
            }
        }
        Ok(None)
    }
}
