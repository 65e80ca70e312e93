//! The shared vocabulary of Pharos: what every room means by a URL, a page, a site, a moment and a setting.
//!
//! **In:** strings from outside (URLs, configuration files, environment variables).
//! **Out:** types that are right by construction: a [`PageUrl`] is normalised, a [`PageId`] is the same in
//! every store and on every node, a [`Config`] has been checked key by key.
//!
//! ```
//! use pharos_core::{PageId, PageUrl};
//!
//! let url = PageUrl::parse("HTTP://Example.ORG:80/a/../b%7e#top").unwrap();
//! assert_eq!(url.as_str(), "http://example.org/b~");
//! assert_eq!(url.site().as_str(), "example.org");
//! assert_eq!(PageId::of(&url), url.id());
//! ```
//!
//! # Invariants
//! * Nothing here opens a file or a socket, or reads the clock behind the caller's back ([`Clock`] is handed in).
//! * Two spellings of one page give one [`PageUrl`]; [`NORMALISER_VERSION`] changes when that function does.

mod clock;
pub mod config;
mod page;
mod position;
mod quoting;
mod url;

pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use config::{Config, ConfigError};
pub use page::{Alternate, Link, LinkKind, PageObject, PageType, WeightedTerm};
pub use position::LibraryPosition;
pub use url::{NORMALISER_VERSION, PageId, PageUrl, SiteId, SiteName, UrlError};

/// The version of this build, as in `pharos --version` and the crawler's user agent.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
