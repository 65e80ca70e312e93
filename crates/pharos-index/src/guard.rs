//! Damage must not panic.
//!
//! tantivy trusts its files: in one that is damaged it may look beyond an end. Files are proved before they are used
//! wherever that is affordable ([`manifest`](crate::manifest)); where it is not, and for what breaks later, a panic below
//! this line becomes an error that names the generation.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Instant;

use pharos_core::PageId;
use pharos_text::vocabulary::Kind;

use crate::snapshot::ChainSnapshot;
use crate::{
    Candidate, Card, Count, Evidence, Facet, FacetCount, Found, Frequencies, IndexError, Likeness, Maxima,
    Members, Query, Retrieval, Snapshot, StoredPage, Text, Title, WebFigures,
};

thread_local! {
    /// How many shields this thread stands behind.
    static SHIELDS: Cell<usize> = const { Cell::new(0) };
}

/// Does something with the files at `path`. A panic is an error that says that they are damaged.
pub(crate) fn shielded<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, IndexError>,
) -> Result<T, IndexError> {
    // What is told as an error need not be told as a panic before.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if SHIELDS.get() == 0 {
                told(info);
            }
        }));
    });
    SHIELDS.set(SHIELDS.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    SHIELDS.set(SHIELDS.get() - 1);
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it cannot be read");
        let detail = text.lines().next().unwrap_or_default().to_string();
        Err(IndexError::DamagedGeneration { path: path.to_path_buf(), detail })
    })
}

/// A snapshot whose files may be damaged.
pub(crate) struct Shielded {
    pub(crate) dir: PathBuf,
    pub(crate) chain: ChainSnapshot,
}

impl Shielded {
    pub(crate) fn ask<T>(
        &self,
        ask: impl FnOnce(&ChainSnapshot) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        shielded(&self.dir, || ask(&self.chain))
    }
}

impl Snapshot for Shielded {
    fn generation(&self) -> &str {
        self.chain.generation()
    }

    fn history(&self) -> Option<&str> {
        self.chain.history()
    }

    fn is_in_history(&self, candidate: &Candidate) -> bool {
        self.chain.is_in_history(candidate)
    }

    fn renewed(
        &self,
        asked: &Retrieval<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.ask(|chain| chain.renewed(asked, candidates))
    }

    fn pages(&self) -> Result<u64, IndexError> {
        self.ask(ChainSnapshot::pages)
    }

    fn knows(&self, word: &str, kind: Kind) -> bool {
        self.chain.knows(word, kind)
    }

    fn retrieve(&self, asked: &Retrieval<'_>) -> Result<Found, IndexError> {
        self.ask(|chain| chain.retrieve(asked))
    }

    fn count(&self, query: &Query, up_to: u64) -> Result<Count, IndexError> {
        self.ask(|chain| chain.count(query, up_to))
    }

    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        most: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.ask(|chain| chain.facets(query, facets, most, up_to, until))
    }

    fn facets_of(
        &self,
        candidates: &[Candidate],
        facets: &[Facet],
        most: usize,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.ask(|chain| chain.facets_of(candidates, facets, most))
    }

    fn frequencies(&self, terms: &[String]) -> Result<Frequencies, IndexError> {
        self.ask(|chain| chain.frequencies(terms))
    }

    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError> {
        self.ask(|chain| chain.evidence(candidates, terms))
    }

    fn maxima(&self) -> Maxima {
        self.chain.maxima()
    }

    fn cards(&self, candidates: &[Candidate]) -> Result<Vec<Card>, IndexError> {
        self.ask(|chain| chain.cards(candidates))
    }

    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<Text>, IndexError> {
        self.ask(|chain| chain.texts(candidates))
    }

    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.ask(|chain| chain.candidates(pages))
    }

    fn figures(&self, candidates: &[Candidate]) -> Result<Vec<WebFigures>, IndexError> {
        self.ask(|chain| chain.figures(candidates))
    }

    fn likeness(&self, candidates: &[Candidate]) -> Result<Vec<Likeness>, IndexError> {
        self.ask(|chain| chain.likeness(candidates))
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        self.ask(|chain| chain.page(page))
    }

    fn titles(&self, members: Members, each: &mut dyn FnMut(Title<'_>)) -> Result<(), IndexError> {
        self.ask(|chain| chain.titles(members, each))
    }

    fn words(&self, members: Members, each: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError> {
        self.ask(|chain| chain.words(members, each))
    }

    fn figures_of(&self, page: PageId) -> Result<Option<WebFigures>, IndexError> {
        self.ask(|chain| chain.figures_of(page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_place() {
        let bytes: Vec<u8> = Vec::new();
        let error = shielded(Path::new("index/history-7"), || Ok(bytes[3])).unwrap_err().to_string();
        assert!(error.contains("index/history-7 is damaged (index out of bounds"), "{error}");
        assert_eq!(shielded(Path::new(""), || Ok(1)).unwrap(), 1);
    }
}
