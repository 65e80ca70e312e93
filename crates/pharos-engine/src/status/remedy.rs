//! Remedies of an operator for pages that yield nothing.

pub use pharos_crawl::Remedy;
