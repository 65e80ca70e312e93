//! Downloading: which page next, when, whether we may, and one request with every limit.
//!
//! **In:** due pages from the catalog, and word of what the catalog has taken in.
//! **Out:** [`Record`](pharos_store::Record)s: answers, failures and refusals, for the engine to store.
//!
//! 1. The engine records a crawl's start; [`absorb::changes`] makes seeds of it in the catalog.
//! 2. [`run`] asks the catalog which sites are due and keeps a queue for each (`frontier`).
//! 3. A site whose turn it is gives its next page, breadth first.
//! 4. The server's robots.txt is looked up, or fetched first ([`robots`]).
//! 5. What it forbids becomes a record; anything else becomes a request (`errand`, [`Fetcher`]).
//! 6. The request goes through one connector that finds the host, checks the address and connects to just that.
//! 7. What came, or why nothing came, becomes a record and goes to the engine.
//! 8. The site may be asked again after its delay, counted from the end of the request.
//! 9. The engine stores the record, asks [`absorb::changes`] what it means, and applies that to the catalog.
//! 10. [`Absorbed`] tells the loop, which lets go of the page and wakes the sites that have new ones.
//!
//! The one call:
//!
//! ```no_run
//! # async fn example(crawl: pharos_crawl::Crawl) -> Result<(), pharos_crawl::CrawlError> {
//! let summary = pharos_crawl::run(crawl).await?;
//! println!("{} pages, ended by {:?}", summary.pages, summary.ended);
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * One place opens sockets: `connector`. The address it checked is the address it connects to.
//! * A page is never under way twice: it is held from the moment it is given out until its record is absorbed.
//! * A site is never asked again before its delay has passed since the end of the last request to it (a request
//!   that met a kept connection just closed by the server is that same request, sent once more).
//! * The crawl never writes a store; it reads the catalog and sends records.
//! * What a record means ([`absorb::changes`]) depends on the record and the rules alone, so that replaying the
//!   library gives the same catalog.

pub mod absorb;
mod address;
mod connector;
mod crawl;
mod dns;
mod errand;
mod fetch;
mod frontier;
mod known_robots;
mod overrides;
pub mod robots;
mod run;
mod scope;
mod status;
#[cfg(test)]
mod tls_tests;

pub use absorb::{PageFacts, changes};
pub use crawl::{Absorbed, Crawl, CrawlError, CrawlSummary, Ended};
pub use fetch::{FetchError, Fetcher};
pub use overrides::OverrideError;
pub use run::run;
pub use scope::{Scoping, rules_of};
pub use status::{CrawlStatus, StatusSnapshot};
