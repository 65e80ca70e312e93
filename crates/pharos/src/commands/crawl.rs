//! Crawl: `crawl`, `add`, `remove`, `page`.

pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod run;
