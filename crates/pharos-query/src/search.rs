//! Answering: parse, retrieve, show.

use std::sync::Arc;
use std::time::Instant;

use pharos_core::config::QueryConfig;
use pharos_core::{PageId, PageUrl};
use pharos_index::{Card, Index, IndexError, Query, Snapshot, StoredPage};
use pharos_text::Analyser;
use thiserror::Error;

use crate::answer::{Answer, Hit};
use crate::fold::{Fold, Folded};
use crate::highlight::{Marker, mark};
use crate::parse::{Parsed, parse};
use crate::snippet::snippet;

/// What can go wrong with a query.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The index could not answer.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What the person typed.
    pub text: String,
    /// Which page of results, from 1; 0 means 1.
    pub page: usize,
    /// Results a page; 0 means the configured number.
    pub size: usize,
    /// Show copies and near-duplicates, too, each as a result of its own.
    pub all: bool,
}

impl Request {
    /// The first page of results for a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), page: 1, ..Self::default() }
    }
}

/// The query service over an index. Cheap to share; every call is independent.
pub struct Search {
    index: Arc<dyn Index>,
    config: QueryConfig,
}

impl Search {
    /// A query service over `index`.
    pub fn new(index: Arc<dyn Index>, config: QueryConfig) -> Self {
        Self { index, config }
    }

    /// Answers a request. Any text is fine.
    pub fn run(&self, request: &Request) -> Result<Answer, QueryError> {
        let started = Instant::now();
        let text: String = request.text.chars().take(self.config.max_length).collect();
        let size = if request.size == 0 { self.config.page_size } else { request.size };
        let page = request.page.max(1);
        let parsed = self.parse(&text);
        let snapshot = self.index.snapshot()?;
        let mut answer = Answer {
            query: text,
            understood: parsed.understood(),
            generation: snapshot.generation().to_string(),
            total_is_exact: true,
            page,
            ..Answer::default()
        };
        if !parsed.is_empty() {
            let first = (page - 1).saturating_mul(size);
            let end = first.saturating_add(size);
            let query = parsed.to_query(&|word, kind| snapshot.knows(word, kind));
            let found = self.results(&*snapshot, &query, end, request.all)?;
            answer.total = found.total;
            answer.total_is_exact = found.total_is_exact;
            // One more than the page shows is there unless the results end with it.
            answer.last_page =
                (found.results.len() <= end).then(|| found.results.len().div_ceil(size.max(1)));
            let shown = found.results.get(first..).unwrap_or_default();
            let shown = &shown[..shown.len().min(size)];
            let words = Marker::of(parsed.words().iter().map(String::as_str));
            let speakers: Vec<_> = shown.iter().map(|folded| folded.speaker).collect();
            let stored = snapshot.stored(&speakers)?;
            answer.hits = shown.iter().zip(stored).map(|(folded, page)| hit(&page, folded, &words)).collect();
        }
        answer.took_ms = started.elapsed().as_micros() as f64 / 1000.0;
        Ok(answer)
    }

    /// The results up to number `end`, and one more where there is one, so that the end is known.
    ///
    /// How many candidates fold into one is not known before, so that more are asked for until there are enough. The
    /// first ones are the same each time, and fold the same.
    fn results(
        &self,
        snapshot: &dyn Snapshot,
        query: &Query,
        end: usize,
        all: bool,
    ) -> Result<Results, QueryError> {
        let most = self.config.max_results;
        let enough = end.saturating_add(1).min(most);
        if all {
            let found = snapshot.search_addresses(query, enough)?;
            let results = found.candidates.into_iter().map(Folded::alone).collect();
            return Ok(Results { total: found.total, total_is_exact: found.total_is_exact, results });
        }
        let mut fold = Fold::default();
        let mut limit = enough.saturating_mul(2).min(most);
        loop {
            let found = snapshot.search(query, limit)?;
            let new = found.candidates.get(fold.candidates()..).unwrap_or_default();
            fold.add(new, snapshot)?;
            let no_more = found.candidates.len() < limit || limit == most;
            if no_more || fold.results().len() >= enough {
                let (total, total_is_exact) = (found.total, found.total_is_exact);
                return Ok(Results { total, total_is_exact, results: fold.finish() });
            }
            limit = limit.saturating_mul(2).min(most);
        }
    }

    /// All pages that match a text, copies too, best first, for those who want nothing shown.
    pub fn matching(&self, text: &str) -> Result<Vec<PageId>, QueryError> {
        self.best(text, usize::MAX)
    }

    /// The best `count` of them.
    pub fn best(&self, text: &str, count: usize) -> Result<Vec<PageId>, QueryError> {
        let parsed = self.parse(&text.chars().take(self.config.max_length).collect::<String>());
        if parsed.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.index.snapshot()?;
        let query = parsed.to_query(&|word, kind| snapshot.knows(word, kind));
        let found = snapshot.search_addresses(&query, count)?;
        Ok(found.candidates.iter().map(|candidate| candidate.page).collect())
    }

    /// How many results can be paged through at most.
    pub fn max_results(&self) -> usize {
        self.config.max_results
    }

    /// One page by its id.
    pub fn page(&self, id: PageId) -> Result<Option<Card>, QueryError> {
        Ok(self.snapshot()?.page(id)?.map(|page| page.card))
    }

    /// How many pages can be found.
    pub fn pages(&self) -> Result<u64, QueryError> {
        Ok(self.snapshot()?.pages()?)
    }

    /// The words of a query that its results contain.
    pub fn words(&self, text: &str) -> Vec<String> {
        self.parse(&text.chars().take(self.config.max_length).collect::<String>()).words()
    }

    /// Understands a text with the words of the installation as they are now.
    fn parse(&self, text: &str) -> Parsed {
        parse(text, &Analyser::with(self.index.vocabulary()))
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, QueryError> {
        Ok(self.index.snapshot()?)
    }
}

/// Results, best first, and how many pages match.
struct Results {
    total: u64,
    total_is_exact: bool,
    results: Vec<Folded>,
}

fn hit(stored: &StoredPage, folded: &Folded, words: &Marker) -> Hit {
    let StoredPage { page, card: stored, text } = stored;
    let title = if stored.title.trim().is_empty() { stored.url.clone() } else { stored.title.clone() };
    let snippet = snippet(&text.body, words);
    Hit {
        title_html: mark(&title, &words.occurrences(&title)),
        title,
        snippet: snippet.text,
        snippet_html: snippet.html,
        site: PageUrl::parse(&stored.url).map(|u| u.site().to_string()).unwrap_or_default(),
        date: stored.date.clone(),
        lang: stored.lang.clone(),
        score: folded.score,
        duplicates: folded.duplicates(),
        cached_url: stored.archive.then(|| format!("/snapshot/{page}")),
        url: stored.url.clone(),
        ..Hit::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use pharos_core::LibraryPosition;
    use pharos_index::{Change, Document, EmbeddedIndex};

    fn search(pages: &[(&str, &str, &str)]) -> (tempfile::TempDir, Search) {
        let dir = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap();
        let changes = pages.iter().map(|(url, title, body)| {
            Change::Put(Box::new(Document {
                title: (*title).into(),
                body: (*body).into(),
                lang: "en".into(),
                ..Document::new(PageUrl::parse(url).unwrap())
            }))
        });
        index.apply(changes.collect()).unwrap();
        index.commit(LibraryPosition { file: 1, offset: 1 }).unwrap();
        (dir, Search::new(Arc::new(index), QueryConfig::default()))
    }

    #[test]
    fn the_better_page_comes_first_with_its_words_marked() {
        let (_dir, search) = search(&[
            ("http://a.example/1", "A walk", "we saw a lighthouse and much else on the way"),
            ("http://a.example/2", "The lighthouse", "lighthouse keepers"),
            ("http://b.example/3", "Tea", "nothing of the kind"),
        ]);
        let answer = search.run(&Request::new("Lighthouse")).unwrap();
        assert_eq!(answer.total, 2);
        assert_eq!(answer.hits[0].url, "http://a.example/2");
        assert_eq!(answer.hits[0].title_html, "The <mark>lighthouse</mark>");
        assert!(answer.hits[1].snippet_html.contains("<mark>lighthouse</mark>"));
        assert_eq!(answer.hits[0].site, "a.example");
        assert_eq!(search.run(&Request::new("lighthouse site:b.example")).unwrap().total, 0);
        let id = PageUrl::parse("http://b.example/3").unwrap().id();
        assert_eq!(search.page(id).unwrap().unwrap().title, "Tea");
    }

    #[test]
    fn pages_of_results_do_not_overlap_and_end() {
        let urls: Vec<String> = (0..25).map(|n| format!("http://a.example/{n}")).collect();
        let pages: Vec<_> = urls.iter().map(|u| (u.as_str(), "Same", "same words")).collect();
        let (_dir, search) = search(&pages);
        let mut seen = HashSet::new();
        for page in 1..=3 {
            let answer = search.run(&Request { page, size: 10, ..Request::new("same") }).unwrap();
            assert_eq!((answer.total, answer.page), (25, page));
            seen.extend(answer.hits.into_iter().map(|h| h.url));
        }
        assert_eq!(seen.len(), 25);
        for page in [4, 1000, usize::MAX] {
            let answer = search.run(&Request { page, size: 10, ..Request::new("same") }).unwrap();
            assert_eq!((answer.hits.len(), answer.last_page), (0, Some(3)));
        }
    }

    #[test]
    fn forms_are_found_exact_ones_first_and_quotes_mean_what_they_say() {
        let (_dir, search) = search(&[
            ("http://a.example/run", "Notes", "people run along the shore"),
            ("http://a.example/running", "Notes", "people running along the shore"),
            ("http://a.example/other", "Notes", "people walk along the shore"),
        ]);
        let urls = |text: &str| -> Vec<String> {
            let answer = search.run(&Request::new(text)).unwrap();
            answer.hits.into_iter().map(|hit| hit.url.replace("http://a.example/", "")).collect()
        };
        assert_eq!(urls("running"), ["running", "run"]);
        assert_eq!(urls("run"), ["run", "running"]);
        assert_eq!(urls("\"running\""), ["running"]);
        assert_eq!(urls("\"people run\""), ["run"]);
        assert_eq!(urls("the people of a run").len(), 2, "stop words need not be there");
        assert_eq!(urls("\"of the shore\"").len(), 0, "in quotes they must");
        assert_eq!(urls("the").len(), 3);
    }

    #[test]
    fn nothing_asked_nothing_found() {
        let (_dir, search) = search(&[("http://a.example/", "T", "b")]);
        for text in ["", "???", "absent"] {
            let answer = search.run(&Request::new(text)).unwrap();
            assert_eq!((answer.total, answer.hits.len()), (0, 0));
        }
        assert_eq!(search.pages().unwrap(), 1);
    }
}
