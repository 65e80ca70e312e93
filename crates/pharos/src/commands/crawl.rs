//! Crawl: `crawl`, `add`, `remove`, `page`.

pub(crate) mod crawl;
pub(crate) mod orders;
pub(crate) mod page;
