//! Crawl: `crawl`, `add`, `remove`, `page`, `refresh`.

pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod refresh;
pub(crate) mod run;
