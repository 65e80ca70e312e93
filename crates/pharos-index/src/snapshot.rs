//! The chain at rest, answering.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pharos_core::PageId;
use pharos_text::vocabulary::{Kind, Vocabulary};
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{DocAddress, Searcher, TantivyDocument, Term};

use crate::collect::{BestPages, merge};
use crate::schema::Fields;
use crate::{Candidate, Found, IndexError, Query, Snapshot, StoredPage};

/// One member of the chain.
pub(crate) struct MemberView {
    pub(crate) path: PathBuf,
    pub(crate) searcher: Searcher,
    /// What newer members speak of.
    pub(crate) hidden: Vec<Arc<HashSet<PageId>>>,
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
        let query = query.to_tantivy(&self.fields);
        let statistics = CommonStatistics(&self.members);
        let mut found = Vec::with_capacity(self.members.len());
        for (member, view) in (0..).zip(&self.members) {
            let best = BestPages { member, limit, hidden: view.hidden.clone() };
            let fruit = view.searcher.search_with_statistics_provider(query.as_ref(), &best, &statistics);
            found.push(fruit.map_err(IndexError::tantivy(&view.path))?);
        }
        Ok(merge(found, limit))
    }

    fn stored(&self, candidates: &[Candidate]) -> Result<Vec<StoredPage>, IndexError> {
        let mut pages = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let (member, segment, doc) = candidate.place;
            let Some(view) = self.members.get(member as usize) else { continue };
            let document: TantivyDocument =
                view.searcher.doc(DocAddress::new(segment, doc)).map_err(IndexError::tantivy(&view.path))?;
            pages.push(self.fields.read(candidate.page, &document));
        }
        Ok(pages)
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        let term = self.fields.page_term(page);
        // The newest member that speaks of the page decides.
        for view in self.members.iter().rev() {
            let failed = IndexError::tantivy(&view.path);
            for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
                let inverted = reader.inverted_index(self.fields.page).map_err(&failed)?;
                let postings = inverted
                    .read_postings(&term, tantivy::schema::IndexRecordOption::Basic)
                    .map_err(|e| failed(e.into()))?;
                let Some(mut postings) = postings else { continue };
                use tantivy::DocSet as _;
                let mut doc = postings.doc();
                while doc != tantivy::TERMINATED {
                    if reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                        let document: TantivyDocument =
                            view.searcher.doc(DocAddress::new(segment, doc)).map_err(&failed)?;
                        let stored = self.fields.read(page, &document);
                        return Ok((!stored.url.is_empty()).then_some(stored));
                    }
                    doc = postings.advance();
                }
            }
        }
        Ok(None)
    }
}
