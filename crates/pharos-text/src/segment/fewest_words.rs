//! Fewest-words segmentation (最少切分): the path through the word graph with the fewest edges.

use pharos_core::work::spend_work;

use super::han_run::HanRun;
use super::runs::{self, RunKind, SegmentHan};
use super::statistical::own_words;
use super::{HanBuffers, Segmenter, SegmenterBuffers};
use crate::dictionary::Lexicon;

/// Segments into as few words as possible. Ties are broken by the fewest single characters, then by
/// probability.
pub struct FewestWords<'a> {
    lexicon: Lexicon<'a>,
}

/// Cost of a path from a character to the end; fields are compared in order.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path {
    words: usize,
    singles: usize,
    cost: u64,
    /// Length of the first word in characters.
    first: usize,
}

impl<'a> FewestWords<'a> {
    /// Creates a segmenter with the words of a lexicon.
    pub fn new(lexicon: Lexicon<'a>) -> Self {
        Self { lexicon }
    }
}

impl SegmentHan for FewestWords<'_> {
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
        let HanBuffers { paths, inside, .. } = buffers;
        let lexicon = &self.lexicon;
        let unknown = lexicon.base.unknown_cost();
        paths.clear();
        paths.resize(han.len() + 1, Path::default());
        let mut edges = 0;
        for at in (0..han.len()).rev() {
            let through = |len: usize, cost: u32, after: Path| Path {
                words: after.words + 1,
                singles: after.singles + usize::from(len == 1),
                cost: after.cost + u64::from(cost),
                first: len,
            };
            let mut best = through(1, unknown, paths[at + 1]);
            let mut relax = |len: usize, cost: u32| {
                edges += 1;
                best = best.min(through(len, cost, paths[at + len]));
            };
            han.costs_at(lexicon, at, &mut relax);
            if lexicon.own.is_some() {
                own_words(lexicon, han, at, inside, relax);
            }
            paths[at] = best;
        }
        spend_work(edges);
        let mut at = 0;
        while at < han.len() {
            at += paths[at].first.max(1);
            ends.push(han.end(at));
        }
    }
}

impl Segmenter for FewestWords<'_> {
    fn segment(&self, text: &str, buffers: &mut SegmenterBuffers, ends: &mut Vec<usize>) {
        runs::segment_runs(text, self, buffers, ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_win() {
        let segmenter = FewestWords::new(Lexicon::default());
        let words = |text| segmenter.words(text).join("/");
        assert_eq!(words("学历史知识"), "学/历史/知识");
        assert_eq!(words("学历史学好"), "学历/史学/好");
        assert_eq!(words("从小学毕业"), "从/小学/毕业");
        assert_eq!(words("从小学电脑"), "从/小学/电脑");
        assert_eq!(words("早起先刷牙"), "早起/先/刷牙");
        assert_eq!(words("美军中将竟公然说"), "美军/中将/竟/公然/说");
        assert_eq!(words("新建地铁中将禁止商业摊点"), "新建/地铁/中将/禁止/商业/摊点");
        assert_eq!(words("网络与分布式系统实验室"), "网络/与/分布式系统/实验室");
        assert_eq!(words("我的笔记本"), "我/的/笔记本");
        assert_eq!(words("走进搜索引擎"), "走进/搜索引擎");
    }
}
