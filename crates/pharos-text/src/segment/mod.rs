//! Segmentation (分词): where the words of a text begin and end.
//!
//! One trait, many methods; every method answers any text, and the pieces it gives, joined, are the text.
//!
//! ```
//! use pharos_text::segment::{self, Method, Resources, Segmenter as _};
//!
//! assert_eq!(segment::default_segmenter().words("走进搜索引擎"), ["走进", "搜索引擎"]);
//! let forward = segment::segmenter(Method::Forward, &Resources::default())?;
//! assert_eq!(forward.words("学历史知识"), ["学历", "史", "知识"]);
//! # Ok::<(), segment::NeedsModel>(())
//! ```
//!
//! # Methods with a dictionary
//! A text is cut into runs of Han characters and the rest (`runs`); the rest is cut by rules, the runs by the method:
//! maximum matching, fewest words, or the most probable path through the word graph, with words on their own
//! (unigram) or in pairs (bigram). What the dictionary leaves, a hidden Markov model can put together.
//!
//! On the test set of the SIGHAN bakeoff of 2005 (Peking University), in one run with jieba-rs 0.11
//! (`cd bench && cargo run --release -p bench-segment -- --gold GOLD --train CORPUS --rounds 20`). The corpus is the
//! People's Daily of January 1998, of the same standard: the bigrams and the [tagger] are trained on it, and the handful
//! of constants that correct the frequencies of the base dictionary (`dictionary/weight.rs`: unigram, hmm) were chosen on
//! its first half. Speed is a multiple of jieba-rs with its hidden Markov model.
//!
//! | method | F1 | precision | recall | recall of words not in the corpus | speed |
//! |---|---|---|---|---|---|
//! | forward | 0.834 | 0.866 | 0.805 | 0.670 | 2.9 |
//! | reverse | 0.837 | 0.868 | 0.807 | 0.665 | 2.3 |
//! | bidirectional | 0.839 | 0.871 | 0.809 | 0.674 | 1.8 |
//! | fewest | 0.850 | 0.883 | 0.820 | 0.679 | 1.9 |
//! | **unigram** | 0.907 | 0.922 | 0.893 | 0.666 | 2.1 |
//! | hmm | 0.905 | 0.924 | 0.887 | 0.696 | 2.0 |
//! | bigram, add-one | 0.924 | 0.925 | 0.923 | 0.370 | 0.4 |
//! | bigram, Good-Turing | 0.931 | 0.923 | 0.939 | 0.330 | 0.4 |
//! | bigram, Katz | 0.943 | 0.943 | 0.942 | 0.583 | 0.4 |
//! | [tagger] | 0.963 | 0.964 | 0.961 | 0.712 | 1.1 |
//! | jieba-rs, hmm | 0.817 | 0.851 | 0.786 | 0.697 | 1.0 |
//! | jieba-rs | 0.832 | 0.853 | 0.812 | 0.620 | 1.2 |

mod bigram_file;
mod bigram_model;
mod explain;
mod fewest;
mod han;
mod hmm;
pub mod hybrid;
mod maximum_matching;
mod method;
mod ngram;
mod numerals;
mod runs;
pub mod smoothing;
mod statistical;
pub mod tagger;
mod trained;
mod word_graph;

pub use bigram_file::ModelError;
pub use bigram_model::BigramModel;
pub use explain::{ExplainedEdge, ExplainedGraph, ExplainedWord, Explanation, TwoCuts, What, explain};
pub use fewest::FewestWords;
pub use hmm::{Hmm, HmmError, UnigramHmm};
pub use maximum_matching::{Direction, MaximumMatching};
pub use method::{Method, NeedsModel, Resources, UnknownMethod, default_segmenter, segmenter};
pub use ngram::ngrams;
pub use statistical::{Bigram, Unigram};
pub use trained::{NoModel, Trained};
pub use word_graph::{GraphEdge, WordGraph};

use crate::dictionary::Symbol;

/// A way of cutting texts into words.
///
/// # Contract
/// * `ends` receives the end of every word in bytes, rising strictly, on character boundaries, the last one
///   `text.len()`; nothing for an empty text. What `ends` held before stays.
/// * White space and punctuation are pieces too: nothing is dropped.
/// * Time is linear in the length of the text, whatever it is, and nothing is allocated per word: what a method
///   needs while it works, it keeps in `work`.
pub trait Segmenter: Send + Sync {
    /// Cuts `text`, which is normalised and has no line feed.
    fn cut(&self, text: &str, work: &mut Work, ends: &mut Vec<usize>);

    /// The words of `text`.
    fn words<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut ends = Vec::new();
        self.cut(text, &mut Work::default(), &mut ends);
        let mut start = 0;
        ends.into_iter()
            .map(|end| {
                let word = &text[start..end];
                start = end;
                word
            })
            .collect()
    }
}

/// The memory of segmenters, kept from one text to the next.
#[derive(Default)]
pub struct Work {
    han: han::Han,
    buffers: Buffers,
    pub(crate) tagger: tagger::TaggerWork,
}

/// What dictionary methods need while they work on a run of Han characters.
#[derive(Default)]
pub(crate) struct Buffers {
    forward: Vec<usize>,
    reverse: Vec<usize>,
    chosen: Vec<usize>,
    lens: Vec<u32>,
    paths: Vec<fewest::Path>,
    best: Vec<statistical::Best>,
    inside: Vec<u64>,
    symbols: Vec<Symbol>,
    reached: Vec<statistical::Reached>,
    steps: Vec<[u8; 4]>,
}
