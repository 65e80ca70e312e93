//! Statistical segmentation: the most probable path through the word graph, P(S) = ∏ P(wᵢ) with independent
//! words (unigram), or ∏ P(wᵢ | wᵢ₋₁) with each word conditioned on the previous one (bigram, which requires
//! a trained model).

use pharos_core::work::spend_work;

use super::bigram_model::{BigramModel, ModelWord};
use super::han_run::{Edge, HanRun, NUMBER_COST};
use super::runs::{self, RunKind, SegmentHan};
use super::{HanBuffers, Segmenter, SegmenterBuffers};
use crate::dictionary::{Lexicon, LexiconWord, cost};

/// Segments into the words whose frequencies make the text most probable.
pub struct Unigram<'a> {
    lexicon: Lexicon<'a>,
}

/// The best path from a character to the end of the run. Runs are short enough for the sum to fit.
#[derive(Clone, Copy, Default)]
pub(crate) struct BestPath {
    cost: u32,
    /// Length of the first word in characters.
    pub(crate) first: u32,
}

impl<'a> Unigram<'a> {
    /// Creates a segmenter with the words of a lexicon.
    pub fn new(lexicon: Lexicon<'a>) -> Self {
        Self { lexicon }
    }

    /// Computes the best paths by dynamic programming from the end to the beginning.
    pub(crate) fn best_path(&self, han: &HanRun, buffers: &mut HanBuffers) {
        let HanBuffers { best, inside, .. } = buffers;
        let lexicon = &self.lexicon;
        let unknown = lexicon.base.unknown_cost();
        best.clear();
        best.resize(han.len() + 1, BestPath::default());
        let mut edges = 0;
        for at in (0..han.len()).rev() {
            let mut here = BestPath { cost: best[at + 1].cost + unknown, first: 1 };
            let mut relax = |len: usize, cost: u32| {
                edges += 1;
                let cost = best[at + len].cost.saturating_add(cost);
                if cost < here.cost {
                    here = BestPath { cost, first: len as u32 };
                }
            };
            han.costs_at(lexicon, at, &mut relax);
            if lexicon.own.is_some() {
                own_words(lexicon, han, at, inside, relax);
            }
            best[at] = here;
        }
        spend_work(edges);
    }
}

impl SegmentHan for Unigram<'_> {
    fn lexicon(&self) -> &Lexicon<'_> {
        &self.lexicon
    }

    fn segment_han(
        &self,
        _: &str,
        _: Option<RunKind>,
        han: &HanRun,
        buffers: &mut HanBuffers,
        ends: &mut Vec<usize>,
    ) {
        self.best_path(han, buffers);
        let mut at = 0;
        while at < han.len() {
            at += buffers.best[at].first.max(1) as usize;
            ends.push(han.end(at));
        }
    }
}

impl Segmenter for Unigram<'_> {
    fn segment(&self, text: &str, buffers: &mut SegmenterBuffers, ends: &mut Vec<usize>) {
        runs::segment_runs(text, self, buffers, ends);
    }
}

/// Returns the cost of an edge. Custom words have no fixed cost: see [`own_words`].
#[inline]
pub(crate) fn edge_cost(lexicon: &Lexicon<'_>, edge: Edge) -> Option<u32> {
    match edge {
        Edge::Word(LexiconWord::Base(code)) => Some(lexicon.base.cost(code)),
        Edge::Word(LexiconWord::Own(_)) => None,
        Edge::Number => Some(NUMBER_COST),
    }
}

/// Calls `f(characters, cost)` for each custom word at a character.
///
/// Whatever its frequency, a custom word is slightly cheaper than its best segmentation into other words
/// (jieba's `suggest_freq`); the margin grows with its length.
pub(crate) fn own_words(
    lexicon: &Lexicon<'_>,
    han: &HanRun,
    at: usize,
    inside: &mut Vec<u64>,
    mut f: impl FnMut(usize, u32),
) {
    let mut longest = 0;
    han.words_at(lexicon, at, |len, edge| {
        if let Edge::Word(LexiconWord::Own(_)) = edge {
            longest = longest.max(len);
        }
    });
    if longest == 0 {
        return;
    }
    spend_work(longest as u64);
    let base_only = Lexicon::new(lexicon.base);
    let unknown = u64::from(lexicon.base.unknown_cost());
    inside.clear();
    inside.resize(longest + 1, u64::MAX);
    inside[0] = 0;
    for from in 0..longest {
        let so_far = inside[from];
        inside[from + 1] = inside[from + 1].min(so_far + unknown);
        han.words_at(&base_only, at + from, |len, edge| {
            if let (Some(cost), Some(place)) = (edge_cost(&base_only, edge), inside.get_mut(from + len)) {
                *place = (*place).min(so_far + u64::from(cost));
            }
        });
    }
    han.words_at(lexicon, at, |len, edge| {
        if let Edge::Word(found @ LexiconWord::Own(_)) = edge {
            let by_frequency = u64::from(cost(lexicon.frequency(found), lexicon.base.total()));
            let needed = inside[len].saturating_sub(len as u64);
            f(len, u32::try_from(needed.min(by_frequency)).unwrap_or(u32::MAX));
        }
    });
}

/// Segments into the most probable sequence of word pairs.
pub struct Bigram<'a> {
    lexicon: Lexicon<'a>,
    model: &'a BigramModel,
}

/// An edge of the word graph with the best path to it.
#[derive(Clone, Copy)]
pub(crate) struct BigramEdge {
    start: u32,
    len: u32,
    word: ModelWord,
    /// Cost of the word alone.
    alone: i64,
    /// Cost of the best path up to the end of this word.
    cost: i64,
    before: u32,
    /// Next edge with the same end.
    same_end: u32,
}

/// No edge.
const NONE: u32 = u32::MAX;

impl<'a> Bigram<'a> {
    /// Creates a segmenter with a trained model. Words of the lexicon that the model has not seen are treated
    /// as rare.
    pub fn new(lexicon: Lexicon<'a>, model: &'a BigramModel) -> Self {
        Self { lexicon, model }
    }

    /// Adds all edges that begin at a character, each once.
    fn edges_at(&self, han: &HanRun, at: usize, buffers: &mut HanBuffers) {
        let HanBuffers { symbols, reached, inside, .. } = buffers;
        let first = reached.len();
        let mut add = |len: usize, word: ModelWord, alone: i64| {
            if reached[first..].iter().all(|edge| edge.len as usize != len) {
                let (start, len) = (at as u32, len as u32);
                reached.push(BigramEdge {
                    start,
                    len,
                    word,
                    alone,
                    cost: i64::MAX,
                    before: NONE,
                    same_end: NONE,
                });
            }
        };
        let model = self.model;
        if self.lexicon.own.is_some() {
            // Half of the cost needed with independent words: pairs may be much cheaper.
            own_words(&self.lexicon, han, at, inside, |len, cost| {
                add(len, ModelWord::UNSEEN, i64::from(cost / 2))
            });
        }
        model.dictionary().walk(&symbols[at..], |len, code| {
            let word = ModelWord::from(code);
            add(len, word, model.alone(word));
        });
        let lexicon = &self.lexicon;
        han.words_at(lexicon, at, |len, edge| match edge {
            Edge::Number => add(len, ModelWord::NUMBER, model.alone(ModelWord::NUMBER)),
            Edge::Word(LexiconWord::Base(code)) => {
                add(len, ModelWord::UNSEEN, model.alone_unseen(lexicon.base.cost(code)))
            }
            Edge::Word(LexiconWord::Own(_)) => {}
        });
        add(1, ModelWord::UNSEEN, model.alone_unseen(lexicon.base.unknown_cost()));
    }

    fn reach(&self, before: Option<RunKind>, han: &HanRun, buffers: &mut HanBuffers) {
        let first_word = match before {
            Some(RunKind::Number) => ModelWord::NUMBER,
            Some(RunKind::Letters) => ModelWord::LETTERS,
            _ => ModelWord::BORDER,
        };
        buffers.reached.clear();
        buffers.lens.clear();
        buffers.lens.resize(han.len() + 1, NONE);
        for at in 0..han.len() {
            let first = buffers.reached.len();
            self.edges_at(han, at, buffers);
            let mut pairs = 0;
            for nth in first..buffers.reached.len() {
                let edge = buffers.reached[nth];
                let (mut cost, mut through) = (i64::MAX, NONE);
                if at == 0 {
                    cost = self.model.after(first_word, edge.word, edge.alone);
                }
                let mut ending = buffers.lens[at];
                while let Some(before) = buffers.reached.get(ending as usize) {
                    pairs += 1;
                    let total = before.cost + self.model.after(before.word, edge.word, edge.alone);
                    if total < cost {
                        (cost, through) = (total, ending);
                    }
                    ending = before.same_end;
                }
                let end = at + edge.len as usize;
                let same_end = std::mem::replace(&mut buffers.lens[end], nth as u32);
                buffers.reached[nth] = BigramEdge { cost, before: through, same_end, ..edge };
            }
            spend_work(pairs);
        }
    }
}

impl SegmentHan for Bigram<'_> {
    fn lexicon(&self) -> &Lexicon<'_> {
        &self.lexicon
    }

    fn segment_han(
        &self,
        text: &str,
        before: Option<RunKind>,
        han: &HanRun,
        buffers: &mut HanBuffers,
        ends: &mut Vec<usize>,
    ) {
        buffers.symbols.clear();
        let run = &text[han.end(0)..han.end(han.len())];
        buffers.symbols.extend(run.chars().map(|c| self.model.dictionary().symbol(c)));
        self.reach(before, han, buffers);
        let (mut last, mut best) = (NONE, i64::MAX);
        let mut ending = buffers.lens[han.len()];
        while let Some(edge) = buffers.reached.get(ending as usize) {
            if edge.cost < best {
                (last, best) = (ending, edge.cost);
            }
            ending = edge.same_end;
        }
        let first = ends.len();
        while let Some(edge) = buffers.reached.get(last as usize) {
            ends.push(han.end((edge.start + edge.len) as usize));
            last = edge.before;
        }
        ends[first..].reverse();
    }
}

impl Segmenter for Bigram<'_> {
    fn segment(&self, text: &str, buffers: &mut SegmenterBuffers, ends: &mut Vec<usize>) {
        runs::segment_runs(text, self, buffers, ends);
    }
}
