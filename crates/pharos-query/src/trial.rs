//! Trying the ranking on a collection whose right answers are known.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pharos_core::{Config, LibraryPosition, PageId, PageUrl};
use pharos_index::{Change, Document, EmbeddedIndex, Index};
use pharos_learn::collection::{Collection, TestDocument, TestQuery};
use pharos_learn::run::Rankings;

use crate::{QueryError, Search};

/// Memory for indexing a collection.
const MEMORY: usize = 64 << 20;

/// Documents that are indexed at a time.
const BATCH: usize = 1_000;

/// Results that are ranked for each query.
const DEPTH: usize = 1_000;

/// A collection, indexed as pages are.
pub struct Trial {
    index: Arc<EmbeddedIndex>,
    /// The documents by their pages.
    ids: HashMap<PageId, String>,
}

impl Trial {
    /// Indexes the documents of a collection in an empty directory.
    pub fn index(collection: &Collection, dir: &Path, config: &Config) -> Result<Self, QueryError> {
        let body_limit = config.index.body_limit.0 as usize;
        let index = EmbeddedIndex::open_writer(dir, MEMORY, body_limit)?;
        let mut ids = HashMap::new();
        let documents: Vec<(usize, &TestDocument)> = collection.documents.iter().enumerate().collect();
        for batch in documents.chunks(BATCH) {
            let mut changes = Vec::with_capacity(batch.len());
            for (nth, document) in batch {
                let Some(url) = address(*nth, document) else { continue };
                ids.insert(url.id(), document.id.clone());
                changes.push(Change::Put(Box::new(Document {
                    title: document.title.clone(),
                    body: document.body.clone(),
                    ..Document::new(url)
                })));
            }
            index.apply(changes)?;
        }
        index.commit(LibraryPosition { file: 1, offset: 1 })?;
        Ok(Self { index: Arc::new(index), ids })
    }

    /// Ranks the documents for every query by these settings. Of a query with candidates only these are ranked.
    pub fn run(&self, collection: &Collection, config: &Config) -> Result<Rankings, QueryError> {
        let mut config = config.clone();
        config.query.candidates = config.query.candidates.max(self.ids.len());
        config.query.max_length = usize::MAX;
        let search = Search::new(Arc::clone(&self.index) as Arc<dyn Index>, &config);
        let rank = |query: &TestQuery| -> Result<(String, Vec<String>), QueryError> {
            let depth = if query.candidates.is_some() { self.ids.len() } else { DEPTH };
            let ranked = search.best_of_any(&plain(&query.text), depth)?;
            let ids = ranked.iter().filter_map(|page| self.ids.get(page));
            let is_asked = |id: &&String| query.candidates.as_ref().is_none_or(|all| all.contains(id));
            Ok((query.id.clone(), ids.filter(is_asked).cloned().collect()))
        };
        collection.queries.iter().map(rank).collect()
    }
}

/// Where a document is said to stand. An address of ours says nothing: its words would be those of the document.
fn address(nth: usize, document: &TestDocument) -> Option<PageUrl> {
    let given = document.url.as_deref().and_then(|url| PageUrl::parse(url).ok());
    given.or_else(|| PageUrl::parse(&format!("http://x{nth:x}x.invalid/")).ok())
}

/// Queries of collections are sentences: signs in them are no operators.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| "-－:：".contains(c)));
    let words: Vec<String> =
        words.map(|word| word.replace(|c| "\"“”「」『』《》()（）|｜".contains(c), " ")).collect();
    words.join(" ").replace(" OR ", " or ").replace(" NOT ", " not ").replace(" AND ", " and ")
}
