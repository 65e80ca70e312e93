//! Evaluation of the ranking on a judged collection.

use std::collections::HashMap;
use std::sync::Arc;

use pharos_core::{Config, LibraryPosition, PageId, PageUrl};
use pharos_index::{Index, IndexChange, IndexDocument};
use pharos_learn::collection::{Collection, TestDocument, TestQuery};
use pharos_learn::run::Rankings;

use crate::{QueryError, QueryProcessor};

/// Number of documents indexed at a time.
const BATCH_SIZE: usize = 1_000;

/// Number of results ranked for each query.
const RANKING_DEPTH: usize = 1_000;

/// A judged collection, indexed like pages.
pub struct RetrievalEvaluation {
    index: Arc<dyn Index>,
    /// Document ids by page.
    ids: HashMap<PageId, String>,
}

impl RetrievalEvaluation {
    /// Indexes the documents of a collection in an empty index.
    pub fn index(collection: &Collection, index: Arc<dyn Index>) -> Result<Self, QueryError> {
        let mut ids = HashMap::new();
        let documents: Vec<(usize, &TestDocument)> = collection.documents.iter().enumerate().collect();
        for batch in documents.chunks(BATCH_SIZE) {
            let mut changes = Vec::with_capacity(batch.len());
            for (nth, document) in batch {
                let Some(url) = document_url(*nth, document) else { continue };
                ids.insert(url.id(), document.id.clone());
                changes.push(IndexChange::Put(Box::new(IndexDocument {
                    title: document.title.clone(),
                    body: document.body.clone(),
                    ..IndexDocument::new(url)
                })));
            }
            index.apply(changes)?;
        }
        index.commit(&LibraryPosition::new(1, 1).into())?;
        Ok(Self { index, ids })
    }

    /// Ranks the documents for every query with these settings. For queries with candidates, only these are ranked.
    pub fn run(&self, collection: &Collection, config: &Config) -> Result<Rankings, QueryError> {
        self.run_prepared(collection, config, |_| ())
    }

    /// As [`run`](Self::run), after `prepare` has changed the query processor.
    pub(super) fn run_prepared(
        &self,
        collection: &Collection,
        config: &Config,
        prepare: impl FnOnce(&QueryProcessor),
    ) -> Result<Rankings, QueryError> {
        let mut config = config.clone();
        config.query.candidates = config.query.candidates.max(self.ids.len());
        config.query.max_length = usize::MAX;
        let search = QueryProcessor::new(Arc::clone(&self.index), &config);
        prepare(&search);
        let rank = |query: &TestQuery| -> Result<(String, Vec<String>), QueryError> {
            let depth = if query.candidates.is_some() { self.ids.len() } else { RANKING_DEPTH };
            let ranked = search.best_with_any_word(&Self::query_text(query), depth)?;
            let ids = ranked.iter().filter_map(|page| self.ids.get(page));
            let is_asked = |id: &&String| query.candidates.as_ref().is_none_or(|all| all.contains(id));
            Ok((query.id.clone(), ids.filter(is_asked).cloned().collect()))
        };
        collection.queries.iter().map(rank).collect()
    }

    /// Returns the text by which a query is searched.
    pub(super) fn query_text(query: &TestQuery) -> String {
        strip_operators(&query.text)
    }
}

/// Returns the URL of a document. A made-up URL contains no words, because they would count as words of the document.
pub(super) fn document_url(nth: usize, document: &TestDocument) -> Option<PageUrl> {
    let given = document.url.as_deref().and_then(|url| PageUrl::parse(url).ok());
    given.or_else(|| PageUrl::parse(&format!("http://x{nth:x}x.invalid/")).ok())
}

/// Removes operators: the queries of collections are sentences.
fn strip_operators(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| "-－:：".contains(c)));
    let words: Vec<String> =
        words.map(|word| word.replace(|c| "\"“”「」『』《》()（）|｜".contains(c), " ")).collect();
    words.join(" ").replace(" OR ", " or ").replace(" NOT ", " not ").replace(" AND ", " and ")
}
