//! Curation: what operators decide about results, applied when a query is processed.
//!
//! | file in `models/` | content | editor |
//! |---|---|---|
//! | `curation.json` | pinned and hidden results, notices ([`records`]) | `pharos curate`, the desk |
//! | `synonyms.tsv` | sets of synonyms ([`synonyms`]) | text editor, the desk |
//! | `stop_words.txt` | additional stop words | text editor, the desk |
//!
//! A rebuild leaves these files alone, and a backup contains them. They are read again within a second after a change
//! (`watched.rs`), and compiled for fast lookup (`active.rs`).

pub(crate) mod active;
pub mod file;
pub mod records;
pub mod stop_words;
pub mod store;
pub mod synonyms;
#[cfg(test)]
mod tests;
pub(crate) mod watched;

use pharos_text::normalise;

use crate::request::collapse_whitespace;

/// Returns the form of a query by which entries are found. It is the form of the query log: case, width and whitespace
/// make no difference.
pub fn query_key(query: &str) -> String {
    collapse_whitespace(&normalise(query))
}
