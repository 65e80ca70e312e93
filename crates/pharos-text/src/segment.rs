//! Word segmentation (分词): finds the boundaries of the words in a text.
//!
//! One trait, many methods. Every method accepts any text, and its pieces concatenated are the text.
//!
//! ```
//! use pharos_text::segment::{self, SegmentationMethod, Segmenter as _, SegmenterResources};
//!
//! assert_eq!(segment::default_segmenter().words("走进搜索引擎"), ["走进", "搜索引擎"]);
//! let forward = segment::segmenter(SegmentationMethod::Forward, &SegmenterResources::default())?;
//! assert_eq!(forward.words("学历史知识"), ["学历", "史", "知识"]);
//! # Ok::<(), segment::ModelRequired>(())
//! ```
//!
//! # Dictionary methods
//! A text is split into runs of Han characters and the rest (`runs`). Rules segment the rest; the method
//! segments the runs: maximum matching, fewest words, or the most probable path through the word graph, with
//! single words (unigram) or pairs (bigram). A hidden Markov model can join the characters that the
//! dictionary leaves over. The [tagger] needs no dictionary.
//!
//! `cd bench && cargo run --release -p bench-segment -- --gold GOLD --train CORPUS --rounds 20` measures
//! accuracy and speed of all methods on the SIGHAN 2005 test set.

mod bigram_file;
mod bigram_model;
pub mod evaluation;
mod explain;
mod fewest_words;
mod han_run;
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

pub use bigram_file::BigramModelError;
pub use bigram_model::BigramModel;
pub use explain::{
    DirectionComparison, ExplainedEdge, ExplainedGraph, ExplainedWord, PieceType, SegmentationExplanation,
    explain,
};
pub use fewest_words::FewestWords;
pub use hmm::{Hmm, HmmError, UnigramHmm};
pub use maximum_matching::{Direction, MaximumMatching};
pub use method::{
    ModelRequired, SegmentationMethod, SegmenterResources, UnknownMethod, default_segmenter, segmenter,
};
pub use ngram::ngrams;
pub use statistical::{Bigram, Unigram};
pub use trained::{InvalidModel, TrainedModel};
pub use word_graph::{GraphEdge, WordGraph};

use crate::dictionary::Symbol;

/// A word segmentation method.
///
/// # Contract
/// * `ends` receives the end of every word in bytes, strictly increasing, on character boundaries, the last
///   one `text.len()`; nothing for an empty text. Previous content of `ends` is kept.
/// * Whitespace and punctuation are pieces too: nothing is dropped.
/// * Time is linear in the length of any text, and nothing is allocated per word. Working memory is kept in
///   `buffers`.
pub trait Segmenter: Send + Sync {
    /// Segments `text`, which must be normalised and contain no line feed.
    fn segment(&self, text: &str, buffers: &mut SegmenterBuffers, ends: &mut Vec<usize>);

    /// Returns the words of `text`.
    fn words<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut ends = Vec::new();
        self.segment(text, &mut SegmenterBuffers::default(), &mut ends);
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

/// Working memory of segmenters, reused from text to text.
#[derive(Default)]
pub struct SegmenterBuffers {
    han: han_run::HanRun,
    han_buffers: HanBuffers,
    pub(crate) tagger: tagger::TaggerBuffers,
}

/// Working memory of the dictionary methods for a run of Han characters.
#[derive(Default)]
pub(crate) struct HanBuffers {
    forward: Vec<usize>,
    reverse: Vec<usize>,
    chosen: Vec<usize>,
    lens: Vec<u32>,
    paths: Vec<fewest_words::Path>,
    best: Vec<statistical::BestPath>,
    inside: Vec<u64>,
    symbols: Vec<Symbol>,
    reached: Vec<statistical::BigramEdge>,
    steps: Vec<[u8; 4]>,
}
