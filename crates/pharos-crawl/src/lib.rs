//! Downloading: which page next, when, whether we may, and one request with every limit.
//!
//! **In:** due pages from the catalog, and word of what the catalog has taken in.
//! **Out:** [`Record`](pharos_store::Record)s: answers, failures and refusals, for the engine to store.
//!
//! 1. The engine records a crawl's start; [`absorb::changes`] makes seeds of it in the catalog.
//! 2. [`run`] asks the catalog which sites are due and keeps a queue for each (`frontier`), filled as a strategy
//! says.
//! 3. A site whose turn it is gives its next page.
//! 4. The overseer says whether and when: copies of sites, budgets, and the monitor of politeness stand behind it.
//! 5. The server's robots.txt is looked up, or fetched first ([`robots`]).
//! 6. What it forbids becomes a record; anything else becomes a request (`errand`, [`Fetcher`]).
//! 7. The request goes through one connector that finds the host, checks the address and connects to just that.
//! 8. What came, or why nothing came, becomes a record and goes to the engine.
//! 9. The engine stores the record, asks [`absorb::changes`] what it means, and applies that to the catalog.
//! 10. [`Absorbed`] tells the loop, which lets go of the page, wakes the sites that have new ones, and learns from
//! what
//!     the page showed.
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
//! * A site is never asked again before its wait has passed since the end of the last request to it, nor by more
//!   requests at once than it is given (a request that met a kept connection just closed by the server is that same
//!   request, sent once more).
//! * The crawl never writes a store; it reads the catalog and sends records.
//! * Which pages a record makes known depends on the record and the recorded rules alone, so that replaying the
//!   library
//!   gives the same pages; the configuration decides only when they are due and how much they weigh.

pub mod absorb;
mod address;
mod budget;
mod connector;
pub mod content_type;
mod crawl;
mod dns;
mod errand;
mod explain;
mod fetch;
mod fetch_error;
mod frontier;
pub mod guide_words;
mod known_robots;
mod lanes;
pub mod link_filter;
mod monitor;
mod overrides;
mod overseer;
mod politeness;
mod refresh;
pub mod robots;
mod rule_check;
mod run;
mod scope;
pub mod seen;
mod setting_error;
mod site_settings;
mod status;
mod tallies;
#[cfg(test)]
mod tls_tests;
mod twins;
mod zones;

pub use absorb::{PageFacts, Says, changes, redirect_target};
pub use address::names_private_host;
pub use budget::sketch;
pub use crawl::{Absorbed, Crawl, CrawlError, CrawlSummary, Ended, Shown};
pub use explain::{Explanation, Line, Ruling, WeightPart, explain};
pub use fetch::{Ask, Fetcher, user_agent};
pub use fetch_error::FetchError;
pub use frontier::weight;
pub use monitor::{Ending, Monitor, Permission, Reply};
pub use politeness::{MAX_NICE_WAIT, crawl_delay, wait_after};
pub use refresh::PageKind;
pub use rule_check::{RuleError, check_rules};
pub use run::run;
pub use scope::{Refusal, Scoping, changed_rules, rules_of};
pub use setting_error::SettingError;
pub use site_settings::{SiteSettings, SiteTable};
pub use status::{CrawlStatus, StatusSnapshot};
pub use tallies::Traffic;
pub use zones::Zone;
