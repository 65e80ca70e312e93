//! Indexes three documents in a temporary directory and searches them.
//!
//! ```text
//! cargo run -p pharos-index --example index_and_search
//! cargo run -p pharos-index --example index_and_search -- 灯塔
//! ```
//!
//! Changes become visible with a commit. `pharos-query` adds the query language and the second ranking stage.

use std::env;
use std::error::Error;

use pharos_core::{LibraryPosition, PageUrl};
use pharos_index::{EmbeddedIndex, Index, IndexChange, IndexDocument, Query};
use pharos_text::Analyser;

/// URL, title and body of each document.
const DOCUMENTS: [(&str, &str, &str); 3] = [
    ("http://example.org/en/", "Lighthouse of Alexandria", "The tower guided ships for centuries."),
    ("http://example.org/harbour", "Harbour guide", "Ships enter the harbour past the lighthouse at night."),
    ("http://example.org/zh/", "亚历山大灯塔", "亚历山大灯塔是古代世界七大奇迹之一，为船只指引航向。"),
];

/// Memory for uncommitted changes, in bytes.
const WRITER_MEMORY: usize = 32 << 20;

/// Maximum size of an indexed body, in bytes.
const BODY_LIMIT: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let index = EmbeddedIndex::open_writer(directory.path(), WRITER_MEMORY, BODY_LIMIT)?;
    let mut changes = Vec::new();
    for (url, title, body) in DOCUMENTS {
        let url = PageUrl::parse(url)?;
        let document = IndexDocument { title: title.into(), body: body.into(), ..IndexDocument::new(url) };
        changes.push(IndexChange::Put(Box::new(document)));
    }
    index.apply(changes)?;
    // In the engine, this is the position of the last applied library record.
    index.commit(&LibraryPosition::new(1, 1).into())?;

    let arguments: Vec<String> = env::args().skip(1).collect();
    let texts = match &arguments[..] {
        [] => vec!["harbour".into(), "lighthouse ships".into(), "古代灯塔".into()],
        words => vec![words.join(" ")],
    };
    let view = index.view()?;
    for text in texts {
        let terms = Analyser::shared().tokens(&text).into_iter().map(|token| Query::Word(token.text));
        let found = view.search(&Query::And(terms.collect()), 10)?;
        println!("{text}: {} of {} pages", found.total, view.pages()?);
        for (candidate, page) in found.candidates.iter().zip(view.result_fields(&found.candidates)?) {
            println!("  {:.3} {} {}", candidate.score, page.title, page.url);
        }
    }
    Ok(())
}
