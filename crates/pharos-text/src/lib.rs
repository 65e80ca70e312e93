//! Text analysis: converts text to terms, in the same way for pages and for queries.
//!
//! **Input:** any text. **Output:** [`Token`]s (normalised term, span in the original text, position), words as
//! written, and related data: dictionaries, pinyin, sentences, keywords, new words, the language of a text.
//!
//! ```
//! use pharos_text::Analyser;
//!
//! let tokens = Analyser::shared().tokens("北京大學的ＡＢＣ");
//! let terms: Vec<&str> = tokens.iter().map(|t| t.text.as_str()).collect();
//! assert_eq!(terms, ["北京大学", "的", "abc"]);
//! assert_eq!(Analyser::shared().segment("用Node.js写C++"), ["用", "Node.js", "写", "C++"]);
//! ```
//!
//! # Flow
//! [`normalise()`]: NFKC, lower case, no invisible characters, one form per Han character → [`segment`] runs of Han
//! characters with the base [`dictionary`] and the [`vocabulary`] of the installation → split other text by UAX #29 and at
//! inner punctuation, and join names, numbers, dates and URLs → overlay mixed-script words (4K电视) and
//! [names](segment::hybrid) (`/2国家图书馆`). The result has three views:
//! * [`Analyser::tokens`]: the best segmentation, for queries.
//! * [`Analyser::index_tokens`]: every term that any query could contain, for the index. The best segmentation depends on
//!   context: 研究生命 alone is 研究 / 生命, but in 研究生命题 it may be 研究生 / 命题.
//! * [`Analyser::smallest_tokens`]: characters and parts, which every index contains whatever its dictionary.
//!
//! Modules: [`analyser`], [`dictionary`], [`segment`], [`vocabulary`], [`new_words`], [`phrase_index`], [`pinyin`],
//! [`keywords`], [`sentences`], [`title`], [`language`].
//!
//! # Invariants
//! * Offsets are bytes of the original text on character boundaries, `start < end`; starts never decrease.
//! * Positions count every Han character. They increase strictly in `tokens` and never decrease in `index_tokens`.
//! * Terms are not empty and at most [`MAX_TERM_BYTES`] long. Longer words are truncated, longer wholes omitted.
//! * If a page contains a query's text at word boundaries of the page (any position beside or inside Han characters,
//!   kana and Hangul is one), then the query's words, unknown ones replaced by their smallest tokens, are among the page's
//!   index tokens at the same distances. `pharos-query` has the property test.
//! * Time is linear in the text, nothing is allocated per token, and no text causes a panic.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod analyser;
mod base_dictionary;
pub mod dictionary;
pub mod keywords;
pub mod language;
pub mod new_words;
pub mod phrase_index;
pub mod pinyin;
pub mod segment;
pub mod sentences;
pub mod title;
pub mod vocabulary;

/// Version of the analysis rules. Incremented whenever a text yields other terms than before.
const RULES_VERSION: u32 = 1;

/// Returns the version of the analysis. An index built with another version must be rebuilt.
pub fn version() -> String {
    let base = dictionary::Dictionary::base();
    format!("{RULES_VERSION}.{}.{}", base.len(), base.total())
}

pub use analyser::normalise::normalise;
pub use analyser::{Analyser, MAX_TERM_BYTES, Token, is_han, segment_with};
