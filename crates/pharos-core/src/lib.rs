//! Shared types of Pharos: URLs, page and site ids, the page object, library positions, configuration and clock.
//!
//! **Input:** strings from outside (URLs, configuration files, environment variables).
//! **Output:** types that are valid by construction. A [`PageUrl`] is normalised, a [`PageId`] is the same in every
//! store and on every node, and every key of a [`Config`] has been validated.
//!
//! ```
//! use pharos_core::{PageId, PageUrl};
//!
//! let url = PageUrl::parse("HTTP://Example.ORG:80/a/../b%7e#top").unwrap();
//! assert_eq!(url.as_str(), "http://example.org/b~");
//! assert_eq!(url.site().as_str(), "example.org");
//! assert_eq!(PageId::from_url(&url), url.id());
//! ```
//!
//! # Invariants
//! * No function performs I/O or reads the system time; callers pass a [`Clock`]. Only [`work`] measures elapsed time, and only
//!   [`schedule::Zone`] reads the time zone database.
//! * Two spellings of one page give one [`PageUrl`]. [`NORMALISER_VERSION`] changes whenever the normalisation does.
//!
//! # Modules
//! * `config/`: value types of settings; `config.rs` declares all keys with default and meaning.
//! * [`schedule`]: time zones, recurring times and weekly windows.
//! * `url/`: normalisation of URLs, page ids, site names.
//! * [`work`]: budgets for the computation on untrusted input.

mod back_off;
mod clock;
pub mod config;
mod page;
mod position;
pub mod schedule;
mod snippet_limits;
mod url;
pub mod work;

pub use back_off::BackOff;
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use config::{Config, ConfigError};
pub use page::{AlternateLanguage, Link, LinkKind, PageObject, PageType, WeightedTerm};
pub use position::{LibraryPosition, LibraryPositions};
pub use url::{NORMALISER_VERSION, PageId, PageUrl, SiteId, SiteName, UrlError};

/// Version of this build, as printed by `pharos --version` and sent in the crawler's user agent.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
