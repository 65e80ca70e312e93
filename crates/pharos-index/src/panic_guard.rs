//! Conversion of panics caused by damaged index files into errors.
//!
//! tantivy trusts its files and may read out of bounds in a damaged one. Files are verified before use where that is
//! affordable ([`manifest`](crate::generations::manifest)). Elsewhere, and for later damage, a panic becomes an error
//! that names the generation.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Instant;

use pharos_core::PageId;
use pharos_text::vocabulary::WordKind;

use crate::document::{DuplicateSignature, StoredPage, StoredText};
use crate::read::chain_view::ChainView;
use crate::read::evidence::{DocumentFrequencies, Evidence};
use crate::read::facets::{Facet, FacetCount};
use crate::read::titles_and_words::PageTitle;
use crate::view::{Candidate, GenerationScope, IndexView, MatchCount, RetrievalRequest, RetrievalResult};
use crate::{IndexError, LinkFigures, LinkMaxima, Query, ResultFields};

thread_local! {
    /// Number of nested guards on this thread.
    static GUARD_DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work` on the files at `path` and converts a panic into [`IndexError::DamagedGeneration`].
pub(crate) fn catch_panic<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, IndexError>,
) -> Result<T, IndexError> {
    // Panics inside a guard are reported as errors, so the panic hook stays silent for them.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let previous_hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if GUARD_DEPTH.get() == 0 {
                previous_hook(info);
            }
        }));
    });
    GUARD_DEPTH.set(GUARD_DEPTH.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARD_DEPTH.set(GUARD_DEPTH.get() - 1);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unreadable");
        let detail = text.lines().next().unwrap_or_default().to_string();
        Err(IndexError::DamagedGeneration { path: path.to_path_buf(), detail })
    })
}

/// A view whose methods convert panics into errors.
pub(crate) struct PanicGuard {
    pub(crate) dir: PathBuf,
    pub(crate) view: ChainView,
}

impl PanicGuard {
    pub(crate) fn run<T>(
        &self,
        query: impl FnOnce(&ChainView) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        catch_panic(&self.dir, || query(&self.view))
    }
}

impl IndexView for PanicGuard {
    fn state_id(&self) -> &str {
        self.view.state_id()
    }

    fn history(&self) -> Option<&str> {
        self.view.history()
    }

    fn is_in_history(&self, candidate: &Candidate) -> bool {
        self.view.is_in_history(candidate)
    }

    fn refresh_candidates(
        &self,
        request: &RetrievalRequest<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.run(|view| view.refresh_candidates(request, candidates))
    }

    fn pages(&self) -> Result<u64, IndexError> {
        self.run(ChainView::pages)
    }

    fn is_indexed_word(&self, word: &str, kind: WordKind) -> bool {
        self.view.is_indexed_word(word, kind)
    }

    fn retrieve(&self, request: &RetrievalRequest<'_>) -> Result<RetrievalResult, IndexError> {
        self.run(|view| view.retrieve(request))
    }

    fn count(&self, query: &Query, up_to: u64) -> Result<MatchCount, IndexError> {
        self.run(|view| view.count(query, up_to))
    }

    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        max_values: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.run(|view| view.facets(query, facets, max_values, up_to, until))
    }

    fn facets_of(
        &self,
        candidates: &[Candidate],
        facets: &[Facet],
        max_values: usize,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.run(|view| view.facets_of(candidates, facets, max_values))
    }

    fn frequencies(&self, terms: &[String]) -> Result<DocumentFrequencies, IndexError> {
        self.run(|view| view.frequencies(terms))
    }

    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError> {
        self.run(|view| view.evidence(candidates, terms))
    }

    fn maxima(&self) -> LinkMaxima {
        self.view.maxima()
    }

    fn result_fields(&self, candidates: &[Candidate]) -> Result<Vec<ResultFields>, IndexError> {
        self.run(|view| view.result_fields(candidates))
    }

    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<StoredText>, IndexError> {
        self.run(|view| view.texts(candidates))
    }

    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.run(|view| view.candidates(pages))
    }

    fn link_figures(&self, candidates: &[Candidate]) -> Result<Vec<LinkFigures>, IndexError> {
        self.run(|view| view.link_figures(candidates))
    }

    fn signatures(&self, candidates: &[Candidate]) -> Result<Vec<DuplicateSignature>, IndexError> {
        self.run(|view| view.signatures(candidates))
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        self.run(|view| view.page(page))
    }

    fn for_each_title(
        &self,
        scope: GenerationScope,
        each: &mut dyn FnMut(PageTitle<'_>),
    ) -> Result<(), IndexError> {
        self.run(|view| view.for_each_title(scope, each))
    }

    fn for_each_word(
        &self,
        scope: GenerationScope,
        each: &mut dyn FnMut(&str, u64),
    ) -> Result<(), IndexError> {
        self.run(|view| view.for_each_word(scope, each))
    }

    fn link_figures_of(&self, page: PageId) -> Result<Option<LinkFigures>, IndexError> {
        self.run(|view| view.link_figures_of(page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_place() {
        let bytes: Vec<u8> = Vec::new();
        let error = catch_panic(Path::new("index/history-7"), || Ok(bytes[3])).unwrap_err().to_string();
        assert!(error.contains("index/history-7 is damaged (index out of bounds"), "{error}");
        assert_eq!(catch_panic(Path::new(""), || Ok(1)).unwrap(), 1);
    }
}
