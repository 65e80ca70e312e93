//! Words: how a text becomes terms, the same way for pages and for queries.
//!
//! **In:** any text. **Out:** [`Token`]s (normalised term, place in the original text, position); the words of a line as
//! they stand; and what belongs to words: dictionaries, pinyin, sentences, keywords, new words, the language of a text.
//!
//! ```
//! use pharos_text::Analyser;
//!
//! let tokens = Analyser::shared().tokens("北京大學的ＡＢＣ");
//! let terms: Vec<&str> = tokens.iter().map(|t| t.text.as_str()).collect();
//! assert_eq!(terms, ["北京大学", "的", "abc"]);
//! assert_eq!(Analyser::shared().segment("用Node.js写C++"), ["用", "Node.js", "写", "C++"]);
//! assert_eq!(pharos_text::lang::detect("灯塔照亮了夜里的海面,船只由此归航。"), "zh");
//! ```
//!
//! # One pipeline
//! A text is [normalised](normalise): NFKC, case folded, invisible characters left out, traditional and other forms of Han
//! characters taken to [one form](variants). Runs of Han characters are [segmented](segment) with the base
//! [`dictionary`] and the [words of the installation](vocabulary); everything else is cut by the word boundaries of
//! UAX #29, further at the punctuation inside words, and names, numbers, dates and addresses are put together again.
//! Words of two scripts (4K电视) and [names of the installation](segment::hybrid) (`/2国家图书馆`) lie over both.
//!
//! # Three views
//! * [`Analyser::tokens`]: the words as a person would cut them. That is what a query is made of.
//! * [`Analyser::index_tokens`]: every word that *any* query could ask for: each Han character, each dictionary word
//!   wherever it stands, overlapping or not, wholes and parts of names, [stems](stem). That is what an index stores.
//! * [`Analyser::smallest_tokens`]: characters and parts, which are in every index whatever words it knows.
//!
//! The second view exists because the best cut of a string depends on what stands around it: 研究生命 is cut as
//! 研究 / 生命, but on a page that says 研究生命题 the best cut may be 研究生 / 命题, and an index of best cuts alone
//! would not find the page. Positions count Han characters one by one in all views, so that a phrase query made of the
//! first view meets the second at the right distances; a word that no dictionary has is asked for by the third.
//!
//! What else could be stored, measured on 2,814 Chinese pages of manuals, 5.7 MB, with 600 dictionary words, 600 strings that
//! begin and end anywhere and 200 characters, all quoted (`cd bench && cargo run --release -p bench-words -- PAGES.jsonl`; two
//! cores, best of five rounds; *found* is the share of the pages that contain the string):
//!
//! | stored | index | words | strings | characters | found |
//! |---|---|---|---|---|---|
//! | words of the best cut | 2.5 MB (1.00 ×) | 4 µs | 15 µs | 2 µs | 53.12 % |
//! | characters | 2.8 MB (1.14 ×) | 35 µs | 40 µs | 4 µs | 100.00 % |
//! | words and characters, asked by words | 3.7 MB (1.53 ×) | 6 µs | 29 µs | 4 µs | 96.22 % |
//! | words and characters, asked by characters | 3.7 MB (1.53 ×) | 35 µs | 40 µs | 4 µs | 100.00 % |
//! | characters and pairs | 5.4 MB (2.18 ×) | 5 µs | 9 µs | 4 µs | 100.00 % |
//! | characters and every word (ours) | 5.0 MB (2.03 ×) | 6 µs | 30 µs | 4 µs | 100.00 % |
//!
//! Pairs of characters find strings across borders faster, but they say nothing about words: their frequencies weigh
//! nothing worth knowing, a word of four characters takes two lists, and the index is larger than ours, which here also
//! holds stems and wholes of names for the English in these pages.
//!
//! # Segmenters
//! See [`segment`] for the methods and their table. The analyser cuts with unigrams, and with a hidden Markov model for
//! unknown words, which costs 0.002 of F1 and keeps names together in queries; `pharos segment train` trains better ones.
//!
//! # Invariants
//! * Offsets are bytes of the original text, on character boundaries, `start < end`, starts never decrease.
//! * `tokens`: positions increase strictly. `index_tokens`: they never decrease.
//! * Terms are not empty and at most [`MAX_TERM_BYTES`] long: the rest of a longer word is cut off, on both sides alike,
//!   and a longer whole is left out.
//! * If a page contains a query's text, and the text begins and ends at a word boundary of the page (any place beside or
//!   inside Han characters, kana and Hangul is one), then the query's words, those unknown to the index taken by their smallest tokens,
//!   are among the page's index tokens at the same distances. `pharos-query` has the property test.
//! * Time is linear in the text, nothing is allocated for a token but what the caller keeps, and nothing panics, whatever
//!   the text.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod analyser;
mod base;
pub mod dictionary;
pub mod evaluate;
pub mod keywords;
pub mod lang;
pub mod new_words;
mod normalise;
pub mod phrasebook;
pub mod pinyin;
pub mod segment;
pub mod sentences;
pub mod stem;
pub mod stop_words;
mod tokenise;
pub mod variants;
pub mod vocabulary;

/// Raised whenever a text is cut into other terms than before.
const RULES: u32 = 1;

/// Names the way texts are cut: an index made by another version must be made again.
pub fn version() -> String {
    let base = dictionary::Dictionary::base();
    format!("{RULES}.{}.{}", base.len(), base.total())
}

pub use analyser::{Analyser, MAX_TERM_BYTES, Token, is_han, segment_with};
pub use normalise::normalise;
