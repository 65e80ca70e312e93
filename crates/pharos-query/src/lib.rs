//! From what a person typed to ten results with snippets.
//!
//! **In:** a [`Request`]. **Out:** an [`Answer`]: the same object for the result page, the command line and the API.
//!
//! ```text
//! text ─ parse ─▶ Parsed ─▶ index Query ─▶ Snapshot::search ─▶ candidates ─ fold ─▶ stored pages ─▶ snippets ─▶ Answer
//! ```
//!
//! Pages that say the same are one result: exact copies are one document of the index already, near-duplicates are
//! folded here, in the order of their ranks. [`Request::all`] shows every address instead.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use pharos_index::EmbeddedIndex;
//! use pharos_query::{Request, Search};
//!
//! let index = Arc::new(EmbeddedIndex::open_reader("data/index".as_ref())?);
//! let search = Search::new(index, Default::default());
//! for hit in search.run(&Request::new("灯塔 -site:example.org"))?.hits {
//!     println!("{}\n  {}", hit.title, hit.snippet);
//! }
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * No text is an error: what cannot be understood as an operator is a word.
//! * One query reads one snapshot of the index.
//! * Pages of results follow on each other: none is shown twice, and what is folded on one does not come on another.
//! * `*_html` fields are safe to put into a page: everything from outside is escaped.

mod answer;
mod fold;
mod highlight;
mod parse;
mod search;
mod snippet;
mod term;

pub use answer::{Answer, Hit};
pub use pharos_index::Card;
pub use search::{QueryError, Request, Search};
