//! Maximum matching (最大匹配): the longest dictionary word wins, from the left (正向减字最大匹配), from the right, or in
//! both directions with backtracking (回溯) where they differ. 《搜索引擎——原理、技术与系统》§4.3 and 《走进搜索引擎》§3.4.2.

use std::cmp::Ordering;
use std::ops::Range;

use pharos_core::work::spend_work;

use super::han_run::HanRun;
use super::runs::{self, RunKind, SegmentHan};
use super::{HanBuffers, Segmenter, SegmenterBuffers};
use crate::dictionary::Lexicon;

/// Direction of matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the beginning (ASM(+,−,+)).
    Forward,
    /// From the end (ASM(−,−,+)), which makes fewer errors in Chinese: the head of a phrase comes last.
    Reverse,
    /// Both; where they differ, the better result.
    Both,
}

/// Segments by the longest matching word.
pub struct MaximumMatching<'a> {
    lexicon: Lexicon<'a>,
    direction: Direction,
    max_len: usize,
}

impl<'a> MaximumMatching<'a> {
    /// Creates a segmenter for words of any length.
    pub fn new(lexicon: Lexicon<'a>, direction: Direction) -> Self {
        Self { max_len: lexicon.longest(), lexicon, direction }
    }

    /// Sets MaxLen, the maximum word length in characters. The 8 bytes of a two-byte encoding are 4
    /// characters.
    pub fn with_max_len(self, characters: usize) -> Self {
        Self { max_len: characters.max(1), ..self }
    }

    /// Returns MaxLen in characters.
    pub fn max_len(&self) -> usize {
        self.max_len
    }

    /// Removes the last character until a word is left. Implemented as a walk that records the longest word.
    #[inline]
    fn forward(&self, han: &HanRun, mut word: impl FnMut(usize)) {
        let mut at = 0;
        while at < han.len() {
            let mut longest = 1;
            han.lengths_at(&self.lexicon, at, self.max_len, |len| longest = longest.max(len));
            at += longest;
            word(at);
        }
    }

    /// Calls `word` with the ends of words from last to first. All words are found from the left; of those
    /// with the same end, the one that begins first is the longest.
    fn reverse(&self, han: &HanRun, longest: &mut Vec<u32>, word: impl FnMut(usize)) {
        longest.clear();
        longest.resize(han.len() + 1, 1);
        for at in 0..han.len() {
            han.lengths_at(&self.lexicon, at, self.max_len, |len| remember(longest, at + len, len));
        }
        from_the_end(longest, word);
    }

    /// Computes both segmentations, as ends in characters, in one pass over all words.
    pub(crate) fn both(&self, han: &HanRun, buffers: &mut HanBuffers) {
        let HanBuffers { forward, reverse, lens: longest, .. } = buffers;
        longest.clear();
        longest.resize(han.len() + 1, 1);
        forward.clear();
        let (mut next, mut edges) = (0, 0);
        for at in 0..han.len() {
            let mut from_here = 1;
            han.lengths_at(&self.lexicon, at, self.max_len, |len| {
                edges += 1;
                from_here = from_here.max(len);
                remember(longest, at + len, len);
            });
            if at == next {
                next = at + from_here;
                forward.push(next);
            }
        }
        spend_work(edges);
        reverse.clear();
        from_the_end(longest, |end| reverse.push(end));
        reverse.reverse();
    }

    fn reconcile(&self, han: &HanRun, buffers: &mut HanBuffers, ends: &mut Vec<usize>) {
        self.both(han, buffers);
        let HanBuffers { forward, reverse, chosen, .. } = buffers;
        for (from, ours, theirs) in differences(forward, reverse) {
            let (forward, reverse) = (&forward[ours], &reverse[theirs]);
            chosen.clear();
            if forward == reverse {
                chosen.extend_from_slice(forward);
            } else if !self.backtrack(han, from, forward, chosen) {
                chosen.clear();
                let by_reverse = judge(from, reverse).cmp(&judge(from, forward)) != Ordering::Greater;
                chosen.extend_from_slice(if by_reverse { reverse } else { forward });
            }
            ends.extend(chosen.iter().map(|end| han.end(*end)));
        }
    }

    /// Applies backtracking. If forward matching leaves a character that is not a word, the previous word gives its
    /// last character away so that the two form a word. 学历/史/知识 → 学/历史/知识.
    fn backtrack(&self, han: &HanRun, from: usize, forward: &[usize], chosen: &mut Vec<usize>) -> bool {
        let mut moved = false;
        let mut start = from;
        for end in forward {
            let before_last = chosen.len().checked_sub(2).map_or(from, |nth| chosen[nth]);
            let is_left_over = end - start == 1 && !han.is_word(&self.lexicon, start, 1);
            if is_left_over && start >= before_last + 2 {
                let shorter = start - 1 - before_last;
                let makes_words = han.is_word(&self.lexicon, start - 1, 2)
                    && (shorter == 1 || han.is_word(&self.lexicon, before_last, shorter));
                if let (true, Some(last)) = (makes_words, chosen.last_mut()) {
                    *last -= 1;
                    moved = true;
                }
            }
            chosen.push(*end);
            start = *end;
        }
        moved
    }
}

#[inline]
fn remember(longest: &mut [u32], end: usize, len: usize) {
    if let Some(known) = longest.get_mut(end) {
        *known = (*known).max(len as u32);
    }
}

/// Walks back from the end by the longest word that ends at each position.
fn from_the_end(longest: &[u32], mut word: impl FnMut(usize)) {
    let mut end = longest.len().saturating_sub(1);
    while end > 0 {
        word(end);
        end -= (longest[end] as usize).clamp(1, end);
    }
}

/// Returns the ranking key of a segmentation: fewer words are better, then fewer single characters.
fn judge(from: usize, ends: &[usize]) -> (usize, usize) {
    let mut start = from;
    let mut singles = 0;
    for end in ends {
        singles += usize::from(end - start == 1);
        start = *end;
    }
    (ends.len(), singles)
}

/// Returns the spans between common boundaries of both segmentations: start, and index ranges of the ends.
pub(crate) fn differences<'c>(
    forward: &'c [usize],
    reverse: &'c [usize],
) -> impl Iterator<Item = (usize, Range<usize>, Range<usize>)> + 'c {
    let (mut ours, mut theirs, mut from) = (0, 0, 0);
    std::iter::from_fn(move || {
        let (our_start, their_start, start) = (ours, theirs, from);
        loop {
            let (end, other) = (*forward.get(ours)?, *reverse.get(theirs)?);
            ours += usize::from(end <= other);
            theirs += usize::from(other <= end);
            if end == other {
                from = end;
                return Some((start, our_start..ours, their_start..theirs));
            }
        }
    })
}

impl SegmentHan for MaximumMatching<'_> {
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
        match self.direction {
            Direction::Forward => self.forward(han, |end| ends.push(han.end(end))),
            Direction::Reverse => {
                let first = ends.len();
                self.reverse(han, &mut buffers.lens, |end| ends.push(han.end(end)));
                ends[first..].reverse();
            }
            Direction::Both => self.reconcile(han, buffers, ends),
        }
    }
}

impl Segmenter for MaximumMatching<'_> {
    fn segment(&self, text: &str, buffers: &mut SegmenterBuffers, ends: &mut Vec<usize>) {
        runs::segment_runs(text, self, buffers, ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::{Dictionary, DictionaryEntry};

    fn base(direction: Direction) -> MaximumMatching<'static> {
        MaximumMatching::new(Lexicon::default(), direction)
    }

    fn dictionary(words: &[&str]) -> Dictionary {
        let entries: Vec<_> =
            words.iter().map(|word| DictionaryEntry { word, frequency: 1, tag: "" }).collect();
        Dictionary::new(&entries)
    }

    #[test]
    fn longest_words_come_first() {
        for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
            let words = |text| base(direction).words(text).join("/");
            assert_eq!(words("我的笔记本"), "我/的/笔记本");
            assert_eq!(words("网络与分布式系统实验室"), "网络/与/分布式系统/实验室");
            assert_eq!(words("走进搜索引擎。"), "走进/搜索引擎/。");
        }
        // The book's dictionary has no word for 分布式系统.
        let small = dictionary(&["网络", "与", "分布式", "系统", "实验室"]);
        let segmenter = MaximumMatching::new(Lexicon::new(&small), Direction::Forward);
        assert_eq!(segmenter.words("网络与分布式系统实验室"), ["网络", "与", "分布式", "系统", "实验室"]);
    }

    #[test]
    fn directions_differ_where_words_overlap() {
        assert_eq!(base(Direction::Forward).words("学历史学好"), ["学历", "史学", "好"]);
        assert_eq!(base(Direction::Forward).words("学历史知识"), ["学历", "史", "知识"]);
        assert_eq!(base(Direction::Reverse).words("学历史知识"), ["学", "历史", "知识"]);
        let small = dictionary(&["学历", "史学", "历史", "学好"]);
        let reverse = MaximumMatching::new(Lexicon::new(&small), Direction::Reverse);
        assert_eq!(reverse.words("学历史学好"), ["学", "历史", "学好"]);
        // With 历史学 in the dictionary, as in the base dictionary, even the reverse direction finds it.
        assert_eq!(base(Direction::Reverse).words("学历史学好").concat(), "学历史学好");
    }

    #[test]
    fn a_left_over_character_makes_the_word_before_it_give_way() {
        let small = dictionary(&["学历", "历史", "知识", "学"]);
        let both = MaximumMatching::new(Lexicon::new(&small), Direction::Both);
        assert_eq!(both.words("学历史知识"), ["学", "历史", "知识"]);
        assert_eq!(base(Direction::Both).words("学历史知识"), ["学", "历史", "知识"]);
        // Ties are broken by fewer words, then by fewer single characters.
        let small = dictionary(&["甲乙", "乙丙丁", "丙", "丁"]);
        let both = MaximumMatching::new(Lexicon::new(&small), Direction::Both);
        assert_eq!(both.words("甲乙丙丁"), ["甲", "乙丙丁"]);
    }

    #[test]
    fn the_maximum_length_counts_characters() {
        // 8 bytes in the book's encoding; the same four characters take 12 bytes in UTF-8.
        let in_gbk = 8 / 2;
        let segmenter = base(Direction::Forward).with_max_len(in_gbk);
        assert_eq!(segmenter.max_len(), 4);
        assert_eq!(segmenter.words("搜索引擎技术"), ["搜索引擎", "技术"]);
        assert_eq!(segmenter.with_max_len(3).words("搜索引擎技术"), ["搜索", "引擎", "技术"]);
        assert!(base(Direction::Forward).max_len() > 4);
    }
}
