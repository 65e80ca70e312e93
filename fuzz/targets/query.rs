//! Queries: whatever a person types, asked of an index that holds nothing.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use pharos_core::{LibraryPosition, PageId};
use pharos_index::{Candidate, Change, Found, Index, IndexError, Query, Snapshot, StoredPage};
use pharos_query::{Request, Search};

static SEARCH: LazyLock<Search> = LazyLock::new(|| Search::new(Arc::new(Nothing), Default::default()));

fuzz_target!(|text: &str| {
    let answer = SEARCH.run(&Request::new(text));
    assert!(answer.is_ok(), "no text is an error");
    let _ = SEARCH.words(text);
});

struct Nothing;

impl Index for Nothing {
    fn absorbed(&self) -> Result<LibraryPosition, IndexError> {
        Ok(LibraryPosition::START)
    }

    fn apply(&self, _: Vec<Change>) -> Result<(), IndexError> {
        Ok(())
    }

    fn commit(&self, _: LibraryPosition) -> Result<(), IndexError> {
        Ok(())
    }

    fn seal(&self) -> Result<LibraryPosition, IndexError> {
        Ok(LibraryPosition::START)
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, IndexError> {
        Ok(Arc::new(Nothing))
    }
}

impl Snapshot for Nothing {
    fn generation(&self) -> &str {
        "nothing"
    }

    fn pages(&self) -> Result<u64, IndexError> {
        Ok(0)
    }

    fn search(&self, _: &Query, _: usize) -> Result<Found, IndexError> {
        Ok(Found::default())
    }

    fn stored(&self, _: &[Candidate]) -> Result<Vec<StoredPage>, IndexError> {
        Ok(Vec::new())
    }

    fn page(&self, _: PageId) -> Result<Option<StoredPage>, IndexError> {
        Ok(None)
    }
}
