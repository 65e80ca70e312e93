//! The error type of this crate.

use std::path::PathBuf;

/// An error of building, loading or analysing the link graph.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// A link names a page number that the graph does not have.
    #[error("link to page {page} is out of range: the graph has {pages} pages")]
    NoSuchPage { page: u32, pages: u32 },
    /// There are more links than [`GraphOptions::max_links`](crate::web::GraphOptions::max_links).
    #[error("more than {limit} links: raise the limit or leave pages out")]
    TooManyLinks { limit: u64 },
    /// The length of a table does not match the graph.
    #[error("table of {table} has {found} entries instead of {expected}")]
    TableLength { table: &'static str, found: usize, expected: usize },
    /// An entry of a table is out of range of the table it refers to.
    #[error("entry {entry} of the table of {table} is {value}: it must be below {limit}")]
    TableEntry {
        table: &'static str,
        entry: usize,
        value: u32,
        /// Exclusive upper bound of valid entries.
        limit: usize,
    },
    /// An option has a value that the computation cannot use.
    #[error("invalid {option} {value}: it must be {allowed}")]
    InvalidOption { option: &'static str, value: f64, allowed: &'static str },
    /// The computation needs more memory than its budget.
    #[error("{computation} needs {needed} bytes of memory, but the budget is {budget}")]
    Memory { computation: &'static str, needed: u64, budget: u64 },
    /// A text was added after the first link, when duplicates had been grouped already.
    #[error("all texts must be added before the first link")]
    TextsAfterLinks,
    /// A file of the graph could not be read or written.
    #[error("cannot read or write the graph")]
    Disk(#[from] std::io::Error),
    /// No graph has been built yet.
    #[error("there is no graph in {}: run `pharos graph build`", path.display())]
    NotBuilt { path: PathBuf },
    /// A stored graph is damaged or of another version.
    #[error("{} {problem}: run `pharos graph build`", path.display())]
    Unusable {
        path: PathBuf,
        /// Predicate that follows the path in the message, such as "is damaged".
        problem: &'static str,
    },
}
