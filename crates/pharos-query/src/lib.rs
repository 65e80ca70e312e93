//! From what a person typed to ten results with snippets.
//!
//! **In:** a [`Request`]. **Out:** an [`Answer`]: the same object for the result page, the command line and the API.
//!
//! ```text
//! text ─ parse ─▶ Expression ─▶ index Query ─▶ candidates ─ rank ─▶ the best ─ fold, arrange ─▶ a page of them ─▶ Answer
//! ```
//!
//! `parse` has the query language; `expression` is a query as understood; `retrieve` the two stages of retrieval; `rank` how
//! well a page answers; `intent` what kind of query it is; `fold` what says the same is one result; `arrange` results on
//! pages; `cache` what is known from before; `source` candidates from the index or from there; `snippet` and `highlight` what is shown of a text; `similar` pages like
//! another; `boost` what an operator raises or blocks; `filters` what is chosen beside the words. `help` what suggestions and corrections are made of; `correct` what was probably meant. [`Trial`] and [`spam`] measure all of it.
//!
//! On the development collections (`pharos eval retrieval`; BM25 with stems and without stop words in brackets): Cranfield
//! nDCG@10 0.534 (0.519), MAP 0.437 (0.422); CISI 0.390 (0.381), 0.221 (0.211); Chinese titles graded for queries nDCG@3
//! 0.793 (0.769), nDCG@10 0.848 (0.835).
//!
//! A million pages of the test web, two cores, one thread, the whole way with snippets and no answer known from before
//! (`cd bench && cargo run --release -p bench-query -- --pages 1000000`), in ms:
//!
//! | | p50 | p90 | p99 |
//! |---|---|---|---|
//! | 5,000 candidates | 2.8 | 16 | 37 |
//! | 1,000 candidates (`query.candidates`) | 2.8 | 11 | 35 |
//! | … of these, English queries | 1.6 | 6.4 | 18 |
//! | raw tantivy, title and body, best ten | 0.5 | 5.4 | 13 |
//!
//! Two threads answer 240 queries a second (p99 47 ms). Half of the slowest tenth goes into finding candidates, most of that into phrases and into Chinese words that no
//! dictionary has: the test web makes up many of those.
//!
//! What is known from before ([`cache`]): 200,000 queries drawn by Zipf's law from 20,000 different ones, over 20,000 pages of
//! the test web, two threads on two cores (`cd bench && cargo run --release -p bench-cache -- --queries 200000`; hits of a
//! million queries in brackets):
//!
//! | cache | hits (p) | partly known | 1 − p | queries/s |
//! |---|---|---|---|---|
//! | none | 0 | 0 | 1 | 1,491 |
//! | FIFO, 3,000 answers | 0.632 (0.635) | | 0.368 | 3,801 |
//! | LRU, 3,000 answers | 0.675 (0.679) | | 0.325 | 4,371 |
//! | LFU, decaying (0.998), 3,000 answers | 0.677 (0.681) | | 0.323 | 4,228 |
//! | ours, 64 MB | 0.736 (0.742) | 0.054 | 0.264 | 5,339 |
//! | ours, the same queries again | 0.749 (0.746) | 0.058 | 0.251 | 5,601 |
//!
//! Queries that are known are answered at 550,000 a second. One by one, a query that was never asked takes 1.4 ms on these
//! pages, one that is known 6 µs, the second page of results 0.6 ms (its snippets), and one that is known while latest has
//! changed since 1.1 ms. To write down a query and what was shown for it costs 8 µs.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use pharos_index::EmbeddedIndex;
//! use pharos_query::{Request, Search};
//!
//! let index = Arc::new(EmbeddedIndex::open_reader("data/index".as_ref())?);
//! let search = Search::new(index, &pharos_core::Config::default());
//! for hit in search.run(&Request::new("灯塔 -site:example.org"))?.hits {
//!     println!("{}\n  {}", hit.title, hit.snippet);
//! }
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * No text is an error: what cannot be understood as an operator is a word.
//! * One query reads one snapshot of the index.
//! * An answer from memory is one that a search would give: of one state of the index, and not cut short by time.
//! * Pages of results follow on each other: none is shown twice, and what is folded on one does not come on another.
//! * `*_html` fields are safe to put into a page: everything from outside is escaped.

mod answer;
mod arrange;
mod boost;
pub mod cache;
mod correct;
mod expression;
mod filters;
mod fold;
mod help;
mod highlight;
mod intent;
mod look;
mod parse;
mod rank;
mod retrieve;
mod search;
mod similar;
mod snippet;
mod source;
pub mod spam;
mod stage;
mod term;
mod trial;

pub use answer::{Answer, Explanation, FacetValue, Hit, QueryExplanation};
pub use cache::CacheUse;
pub use filters::{Age, Filters};
pub use help::{Help, Source, Suggestion};
pub use intent::Kind;
pub use pharos_index::Card;
pub use rank::WordScore;
pub use rank::combine::Contribution;
pub use rank::user_weight::{ClickRules, Clicks};
pub use search::{QueryError, Request, Search};
pub use trial::Trial;
