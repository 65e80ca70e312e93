//! Words: how a text becomes terms, the same way for pages and for queries.
//!
//! **In:** any text. **Out:** [`Token`]s (normalised term, place in the original text, position), the words of
//! a line as they stand, and the language of a text.
//!
//! ```
//! use pharos_text::Analyser;
//!
//! let tokens = Analyser::shared().tokens("北京大学的ＡＢＣ");
//! let terms: Vec<&str> = tokens.iter().map(|t| t.text.as_str()).collect();
//! assert_eq!(terms, ["北京大学", "的", "abc"]);
//! assert_eq!(pharos_text::lang::detect("灯塔照亮了夜里的海面,船只由此归航。"), "zh");
//! ```
//!
//! # One pipeline, two views
//! A text is normalised (NFKC, lower case), cut into runs of Han characters and the rest;
//! Han runs are segmented with a dictionary, the rest by the word boundaries of UAX #29.
//! [`Analyser::tokens`] gives the words as a person would cut them: one token per word. That is what a query is
//! made of. [`Analyser::index_tokens`] gives every word that *any* query could ask for: each Han character and
//! each dictionary word wherever it stands, overlapping or not. That is what an index stores.
//!
//! The second view exists because the best cut of a string depends on what stands around it: 研究生命 is cut as
//! 研究 / 生命, but on a page that says 研究生命题 the best cut is 研究生 / 命题, and an index of best cuts alone
//! would not find the page. Positions count Han characters one by one in both views, so that a phrase query made
//! of the first view meets the second at the right distances.
//!
//! # Invariants
//! * Offsets are bytes of the original text, on character boundaries, `start < end`, starts never decrease.
//! * `tokens`: positions increase strictly. `index_tokens`: they never decrease.
//! * Terms are not empty and at most [`MAX_TERM_BYTES`] long (the rest of a longer word is cut off, on both sides
//!   alike).
//! * If a page contains a query's text and the query begins and ends at a word boundary of the page (any place
//!   inside a Han run is one), every token of the query is among the page's index tokens, at the same distances.
//! * Nothing panics, whatever the text.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod analyser;
mod base;
pub mod dictionary;
pub mod evaluate;
pub mod keywords;
pub mod lang;
pub mod new_words;
mod normalise;
pub mod pinyin;
pub mod segment;
pub mod sentences;
pub mod stem;
pub mod stop_words;
mod tokenise;
pub mod variants;
pub mod vocabulary;

pub use analyser::{Analyser, MAX_TERM_BYTES, Token, is_han, segment_with};
pub use normalise::normalise;
