//! Query processing: from the text of a query to a page of results with snippets.
//!
//! ```text
//! SearchRequest ─ parse ─▶ Expression ─▶ index Query ─▶ candidates (stage 1) ─ score (stage 2) ─▶ RankedResults
//!               ─ fold duplicates, arrange on pages ─▶ ResultList ─ snippets ─▶ SearchResponse
//! ```
//!
//! The result page, the command line and the API print the same [`SearchResponse`]. Responses, result lists and the
//! results of the history generation are [cached](cache).
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use pharos_index::EmbeddedIndex;
//! use pharos_query::{SearchRequest, SearchService};
//!
//! let index = Arc::new(EmbeddedIndex::open_reader("data/index".as_ref())?);
//! let search = SearchService::new(index, &pharos_core::Config::default());
//! for hit in search.run(&SearchRequest::new("灯塔 -site:example.org"))?.hits {
//!     println!("{}\n  {}", hit.title, hit.snippet);
//! }
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Every text is a valid query: text that is not an operator is parsed as words.
//! * One query reads one view of the index.
//! * A cached response equals the response of a search in the same state. Partial responses are never cached.
//! * Result pages are consistent with each other: no result is repeated, and a folded duplicate does not reappear.
//! * `*_html` fields are safe to insert into a page: all foreign text is escaped.
//!
//! # Modules
//! `language` parser, expressions, filters, intent · `retrieval` candidates, scoring, folding, arrangement · `rank` models
//! and features · `cache` responses, result lists, history results · `snippet` excerpts and highlighting · `assist`
//! suggestions and corrections · `evaluate` runs on test collections, resistance to spam.

pub mod assist;
pub mod cache;
pub mod evaluate;
mod execution;
pub mod language;
pub mod rank;
pub mod response;
mod retrieval;
mod search;
mod snippet;
mod stage_timer;

pub use assist::suggestion_sources::{Suggestion, SuggestionOrigin, SuggestionSources};
pub use cache::CacheUse;
pub use evaluate::retrieval_evaluation::RetrievalEvaluation;
pub use language::filters::{Age, Filters};
pub use language::intent::QueryKind;
pub use pharos_index::ResultFields;
pub use rank::user_weight::{ClickRules, Clicks};
pub use response::{HitExplanation, QueryExplanation, SearchHit, SearchResponse};
pub use search::{QueryError, SearchRequest, SearchService};
