//! Queries: any text is a valid query on a small index.

use std::sync::{Arc, LazyLock};

use pharos_core::{LibraryPosition, PageUrl};
use pharos_index::{EmbeddedIndex, Index as _, IndexChange, IndexDocument};
use pharos_query::{QueryProcessor, ResultOptions, SearchRequest};

static SEARCH: LazyLock<QueryProcessor> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("temporary folder").keep();
    let index = EmbeddedIndex::open_writer(&folder, 16 << 20, 1 << 20).expect("open index");
    let page = |number: usize| {
        let url = PageUrl::parse(&format!("http://s{}.example/{number}", number % 3)).expect("valid URL");
        let body = "the lighthouse 灯塔 a b c 1 2 3 ".repeat(number + 1);
        IndexChange::Put(Box::new(IndexDocument {
            title: "A page 网页".into(),
            body,
            ..IndexDocument::new(url)
        }))
    };
    index.apply((0..20).map(page).collect()).expect("apply pages");
    index.commit(&LibraryPosition::new(1, 1).into()).expect("commit");
    QueryProcessor::new(Arc::new(index), &Default::default())
});

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    for all in [false, true] {
        let options = ResultOptions { all, ..ResultOptions::default() };
        let answer = SEARCH.run(&SearchRequest { options, ..SearchRequest::new(text) });
        assert!(answer.is_ok(), "every text is a valid query: {:?}", answer.err());
    }
    let _ = SEARCH.words(text);
}
