//! Query processing: from the text of a query to a page of results with snippets.
//!
//! ```text
//! SearchRequest ─ parse ─▶ Expression ─▶ index Query ─▶ candidates (stage 1) ─ score (stage 2) ─▶ RankedResults
//!               ─ fold duplicates, arrange on pages ─▶ ResultList ─ snippets ─▶ SearchResponse
//! ```
//!
//! The result page, the command line and the API open one [`SearchService`], which follows the logs, and print the same
//! [`SearchResponse`]. A [`QueryProcessor`] alone answers queries without logs. Responses, result lists and the
//! results of the history generation are [cached](cache).
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pharos_query::{SearchRequest, SearchService};
//!
//! # let index: std::sync::Arc<dyn pharos_index::Index> = todo!();
//! # let logs: pharos_mining::Logs = todo!();
//! let search = SearchService::open(index, logs, "data/models".as_ref(), &pharos_core::Config::default())?;
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
//! `service` the service · `learning` logs, clicks, suggestions, related queries · `processor` one query · `language` parser, expressions, filters, intent · `retrieval` candidates, scoring, folding, arrangement · `rank` models
//! and features · `curation` pinned and hidden results, notices, synonyms · `cache` responses, result lists, history results · `snippet` excerpts and highlighting · `assist`
//! suggestions and corrections · `evaluate` runs on test collections, resistance to spam.

pub mod assist;
pub mod cache;
pub mod curation;
pub mod evaluate;
mod execution;
pub mod language;
mod learning;
mod processor;
pub mod rank;
mod request;
pub mod response;
mod retrieval;
mod service;
mod snippet;
mod stage_timer;
#[cfg(test)]
mod testing;

pub use assist::suggestion_sources::{Suggestion, SuggestionOrigin, SuggestionSources};
pub use curation::active::{CuratedBy, ResultNotice};
pub use evaluate::retrieval_evaluation::RetrievalEvaluation;
pub use language::filters::{Age, Filters};
pub use language::intent::QueryKind;
pub use learning::query_log::{PAGE_PRODUCT, ReportedClick, RequestClient};
pub use processor::{CacheLookup, PendingQuery, QueryError, QueryProcessor};
pub use rank::user_weight::{ClickRules, Clicks};
pub use request::{ResultOptions, SearchRequest};
pub use response::{HitExplanation, IndexedPage, QueryExplanation, SearchHit, SearchResponse};
pub use service::SearchService;
