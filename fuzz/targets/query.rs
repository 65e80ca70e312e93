//! Queries: any text is a valid query on a small index.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use pharos_core::{LibraryPosition, PageUrl};
use pharos_index::{IndexChange, IndexDocument, EmbeddedIndex, Index as _};
use pharos_query::{QueryProcessor, SearchRequest};

static SEARCH: LazyLock<QueryProcessor> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("temporary folder").keep();
    let index = EmbeddedIndex::open_writer(&folder, 16 << 20, 1 << 20).expect("open index");
    let page = |number: usize| {
        let url = PageUrl::parse(&format!("http://s{}.example/{number}", number % 3)).expect("valid URL");
        let body = "the lighthouse 灯塔 a b c 1 2 3 ".repeat(number + 1);
        IndexChange::Put(Box::new(IndexDocument { title: "A page 网页".into(), body, ..IndexDocument::new(url) }))
    };
    index.apply((0..20).map(page).collect()).expect("apply pages");
    index.commit(LibraryPosition { file: 1, offset: 1 }).expect("commit");
    QueryProcessor::new(Arc::new(index), &Default::default())
});

fuzz_target!(|text: &str| {
    for all in [false, true] {
        let answer = SEARCH.run(&SearchRequest { all, ..SearchRequest::new(text) });
        assert!(answer.is_ok(), "every text is a valid query");
    }
    let _ = SEARCH.words(text);
});
