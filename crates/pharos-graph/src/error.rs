//! What can go wrong in this room.

use std::path::PathBuf;

/// Why a graph or a figure of it could not be made.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// A link names a page that the graph does not have.
    #[error("a link names page {page}, but there are only {pages} pages")]
    NoSuchPage {
        /// The number in the link.
        page: u32,
        /// How many pages there are.
        pages: u32,
    },
    /// More links than the rules allow.
    #[error("more than {limit} links; raise the limit or leave pages out")]
    TooManyLinks {
        /// [`GraphOptions::max_links`](crate::web::GraphOptions::max_links).
        limit: u64,
    },
    /// A table handed in does not fit the graph.
    #[error("the table of {table} has {found} entries, but {expected} are needed")]
    TableLength {
        /// What the table holds.
        table: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A table points outside the table it points into.
    #[error("entry {entry} of the table of {table} is {value}, but only numbers below {limit} exist")]
    TableEntry {
        /// What the table holds.
        table: &'static str,
        /// Where.
        entry: usize,
        /// What stands there.
        value: u32,
        /// The first number that does not exist.
        limit: usize,
    },
    /// A rule has a value with which nothing can be computed.
    #[error("{rule} is {value}, but must be {allowed}")]
    InvalidOption {
        /// The name of the rule.
        rule: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// The figures would take more memory than given.
    #[error("{what} would take {needed} bytes of memory, but the budget is {budget}")]
    Memory {
        /// What was to be computed.
        what: &'static str,
        /// Bytes it would take.
        needed: u64,
        /// Bytes it may take.
        budget: u64,
    },
    /// Texts came after the first link, when copies were told apart already.
    #[error("all texts must be told before the first link")]
    TextsAfterLinks,
    /// What is kept on disk could not be written or read.
    #[error("the graph could not be kept on disk")]
    Disk(#[from] std::io::Error),
    /// There is no graph yet.
    #[error("there is no graph in {}: `pharos graph build` makes one", path.display())]
    NotBuilt {
        /// Where it would be.
        path: PathBuf,
    },
    /// A saved graph cannot be used.
    #[error("{} {problem}: `pharos graph build` makes it again", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
}
