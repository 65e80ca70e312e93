//! What an operator can do about a page that yields nothing.

pub use pharos_crawl::Remedy;
