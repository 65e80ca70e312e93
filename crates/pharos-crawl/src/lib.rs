//! Crawling: decides which page is fetched next and when, checks that it may be fetched, and fetches it.
//!
//! **Input:** due pages from the catalog, and reports of records applied to it.
//! **Output:** [`LibraryRecord`](pharos_store::LibraryRecord)s of responses, failures and refusals, for the
//! engine to store.
//!
//! 1. The engine records the start of a crawl; [`interpret`](pharos_store::interpret::interpret)
//!    turns it into seeds in the catalog.
//! 2. [`run_crawl`] reads the due sites and keeps a page queue for each ([`frontier`]), ordered by a strategy.
//! 3. A ready site provides its next page. The fetch gate decides whether and when it may be fetched.
//! 4. The server's robots.txt is looked up, or fetched first. A refusal becomes a record.
//! 5. A fetch task sends the request ([`fetch`]): resolves the host, checks its addresses, connects to a checked one.
//! 6. The response, or the failure, becomes a record and goes to the engine.
//! 7. The engine stores the record and applies its interpretation to the catalog.
//! 8. [`AppliedRecords`] reports this to the crawl loop, which releases the page and activates sites with new pages.
//!
//! ```no_run
//! # async fn example(crawl: pharos_crawl::Crawl) -> Result<(), pharos_crawl::CrawlError> {
//! let summary = pharos_crawl::run_crawl(crawl).await?;
//! println!("{} pages, ended by {:?}", summary.pages, summary.ended);
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Only `fetch::connector` opens sockets. The address it checked is the address it connects to.
//! * A page is never fetched twice at the same time: it is in progress until its record is applied.
//! * A site is never requested before its wait has passed since the end of the last request, nor by more concurrent
//!   requests than configured. (A request on a reused connection that the server just closed is sent once more.)
//! * The crawl never writes a store; it reads the catalog and sends records.
//! * The pages a record adds depend on the record and the recorded rules alone, so that replaying the library gives the
//!   same catalog. The configuration decides only when they are due and how much they weigh.
//!
//! # Modules
//! [`frontier`]: queues, strategies · [`politeness`]: delays, site monitor, request slots · [`fetch`]: DNS,
//! connections, requests · [`rules`]: settings, media types, budgets, mirrors, explanation ·
//! [`refresh`]: estimates of change rates, simulation of refresh policies.

mod crawl;
mod crawl_loop;
pub mod fetch;
mod fetch_gate;
pub mod frontier;
mod notices;
pub mod politeness;
pub mod refresh;
mod robots_cache;
pub mod rules;
mod setting_error;
mod status;
#[cfg(test)]
mod testing;

pub use crawl::{AppliedRecords, Crawl, CrawlError, CrawlSummary, EndReason, StoredPageInfo};
pub use crawl_loop::run_crawl;
pub use fetch::{FetchError, FetchRequest, Fetcher};
pub use notices::{CrawlNotice, ProblemCounts, Remedy};
pub use rules::explain::{UrlExplanation, explain};
pub use rules::from_config::{apply_changed_settings, rules_from_config};
pub use rules::rule_check::check_rules;
pub use setting_error::SettingError;
pub use status::{CrawlStatus, CrawlStatusReport};
