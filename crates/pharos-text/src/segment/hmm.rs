//! A hidden Markov model for unknown words.
//!
//! Each character begins a word, is in the middle, ends one or is a word (B, M, E, S); the Viterbi algorithm
//! finds the most probable states. As in jieba, the model is applied to sequences of single characters that
//! the dictionary leaves over, except for characters that are common words.

use std::fmt::Write as _;
use std::sync::LazyLock;

use pharos_core::work::spend_work;
use thiserror::Error;

use super::han_run::HanRun;
use super::runs::{self, RunKind, SegmentHan};
use super::statistical::Unigram;
use super::{HanBuffers, Segmenter, SegmenterBuffers};
use crate::dictionary::{Lexicon, NAT};

const STATES: usize = 4;
const BEGIN: usize = 0;
const MIDDLE: usize = 1;
const END: usize = 2;
const SINGLE: usize = 3;
/// States that may precede B, M, E, S.
const BEFORE: [[usize; 2]; STATES] = [[END, SINGLE], [BEGIN, MIDDLE], [BEGIN, MIDDLE], [END, SINGLE]];

/// Costs in thousandths of a natural logarithm.
type Cost = u16;
/// Cost of an unseen event, higher than any other.
const UNSEEN: Cost = 30_000;
/// The range of characters with emission costs.
const FIRST: u32 = 0x4E00;
const CHARACTERS: usize = 0x9FFF - FIRST as usize + 1;

/// Costs of initial states, transitions, and characters in each state.
pub struct Hmm {
    start: [Cost; STATES],
    transitions: [[Cost; STATES]; STATES],
    characters: Vec<[Cost; STATES]>,
}

/// Error: an invalid line of a model file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid hidden Markov model: line {0}: expected a name and four costs")]
pub struct HmmError(usize);

impl Hmm {
    /// Returns the built-in model (jieba's).
    pub fn shipped() -> &'static Hmm {
        static SHARED: LazyLock<Hmm> = LazyLock::new(|| {
            // The file is part of this crate: if parsing fails, a test fails.
            Hmm::parse(include_str!("../../data/hmm.tsv")).unwrap_or_else(|_| Hmm::empty())
        });
        &SHARED
    }

    fn empty() -> Self {
        Self {
            start: [UNSEEN; STATES],
            transitions: [[UNSEEN; STATES]; STATES],
            characters: vec![[UNSEEN; STATES]; CHARACTERS],
        }
    }

    /// Parses a model: `start`, the states, then characters, each with four costs.
    pub fn parse(text: &str) -> Result<Self, HmmError> {
        let mut model = Self::empty();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let mut columns = line.split('\t');
            let name = columns.next().unwrap_or_default();
            let mut costs = [UNSEEN; STATES];
            for cost in &mut costs {
                *cost = match columns.next() {
                    Some("-") => UNSEEN,
                    column => column.and_then(|c| c.parse().ok()).ok_or(HmmError(number + 1))?,
                };
                *cost = (*cost).min(UNSEEN);
            }
            match (name, state(name)) {
                ("start", _) => model.start = costs,
                (_, Some(state)) => model.transitions[state] = costs,
                _ => {
                    let c = name.chars().next().ok_or(HmmError(number + 1))?;
                    if let Some(place) = place(c).and_then(|place| model.characters.get_mut(place)) {
                        *place = costs;
                    }
                }
            }
        }
        Ok(model)
    }

    /// Serialises the model in the format of [`parse`](Self::parse).
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, costs: &[Cost; STATES]| {
            out.push_str(name);
            for cost in costs {
                // Writing to a string cannot fail.
                let _ = if *cost >= UNSEEN { write!(out, "\t-") } else { write!(out, "\t{cost}") };
            }
            out.push('\n');
        };
        row("start", &self.start);
        for (name, costs) in ["B", "M", "E", "S"].into_iter().zip(&self.transitions) {
            row(name, costs);
        }
        for (c, costs) in (FIRST..).filter_map(char::from_u32).zip(&self.characters) {
            if *costs != [UNSEEN; STATES] {
                row(c.encode_utf8(&mut [0; 4]), costs);
            }
        }
        out
    }

    /// Trains a model from normalised lines of words.
    pub fn train<'w, L: IntoIterator<Item = &'w str>>(lines: impl IntoIterator<Item = L>) -> Self {
        let mut start = [0u64; STATES];
        let mut transitions = [[0u64; STATES]; STATES];
        let mut characters = vec![[0u64; STATES]; CHARACTERS];
        let mut states = [0u64; STATES];
        for line in lines {
            let mut before: Option<usize> = None;
            for word in line {
                let last = word.chars().count().saturating_sub(1);
                for (nth, c) in word.chars().enumerate() {
                    let Some(place) = place(c) else {
                        before = None;
                        continue;
                    };
                    let now = match nth {
                        0 if last == 0 => SINGLE,
                        0 => BEGIN,
                        _ if nth == last => END,
                        _ => MIDDLE,
                    };
                    match before {
                        Some(before) => transitions[before][now] += 1,
                        None => start[now] += 1,
                    }
                    characters[place][now] += 1;
                    states[now] += 1;
                    before = Some(now);
                }
            }
        }
        let row = |counts: &[u64; STATES]| {
            let total: u64 = counts.iter().sum();
            counts.map(|count| cost(count, total))
        };
        Self {
            start: row(&start),
            transitions: transitions.each_ref().map(row),
            characters: characters
                .iter()
                .map(|counts| std::array::from_fn(|state| cost(counts[state], states[state])))
                .collect(),
        }
    }

    fn emission(&self, c: char) -> &[Cost; STATES] {
        place(c).and_then(|place| self.characters.get(place)).unwrap_or(&[UNSEEN; STATES])
    }

    /// Runs the Viterbi algorithm and calls `word(end)` for every word of `text`, in bytes, first to last.
    pub(crate) fn segment(&self, text: &str, steps: &mut Vec<[u8; STATES]>, mut word: impl FnMut(usize)) {
        spend_work(text.len() as u64);
        steps.clear();
        let mut costs = [0u64; STATES];
        for (nth, c) in text.chars().enumerate() {
            let emission = self.emission(c);
            let mut step = [0; STATES];
            let mut next = [0; STATES];
            for now in 0..STATES {
                let (cost, from) = if nth == 0 {
                    (u64::from(self.start[now]), now)
                } else {
                    let [one, other] =
                        BEFORE[now].map(|before| costs[before] + u64::from(self.transitions[before][now]));
                    if one < other { (one, BEFORE[now][0]) } else { (other, BEFORE[now][1]) }
                };
                next[now] = cost + u64::from(emission[now]);
                step[now] = from as u8;
            }
            costs = next;
            steps.push(step);
        }
        // Backtracks, replacing each step by its state. A word must not be open at the end.
        let mut now = if costs[END] < costs[SINGLE] { END } else { SINGLE };
        for step in steps.iter_mut().rev() {
            let before = usize::from(step[now]);
            step[0] = now as u8;
            now = before;
        }
        for ((at, c), step) in text.char_indices().zip(steps) {
            if matches!(usize::from(step[0]), END | SINGLE) {
                word(at + c.len_utf8());
            }
        }
    }
}

fn state(name: &str) -> Option<usize> {
    ["B", "M", "E", "S"].into_iter().position(|state| state == name)
}

fn place(c: char) -> Option<usize> {
    (c as u32).checked_sub(FIRST).map(|place| place as usize).filter(|place| *place < CHARACTERS)
}

fn cost(count: u64, total: u64) -> Cost {
    if count == 0 {
        return UNSEEN;
    }
    let cost = (total as f64 / count as f64).ln() * 1000.0;
    cost.round().clamp(0.0, f64::from(UNSEEN)) as Cost
}

/// Characters cheaper than this are common words (的, 是, 在, 人). The model would often join them to their
/// neighbours, so it is not applied to them. Measured: without this limit it does more harm than good.
const COMMON_WORD_COST: u32 = (8.0 * NAT) as u32;

/// Unigram segmentation, with the hidden Markov model applied to remaining single characters.
pub struct UnigramHmm<'a> {
    unigram: Unigram<'a>,
    hmm: &'a Hmm,
}

impl<'a> UnigramHmm<'a> {
    /// Creates a segmenter with the words of a lexicon and a model.
    pub fn new(lexicon: Lexicon<'a>, hmm: &'a Hmm) -> Self {
        Self { unigram: Unigram::new(lexicon), hmm }
    }

    /// Returns `true` if the character is rarely a word of its own.
    fn is_rare(&self, han: &HanRun, at: usize) -> bool {
        let lexicon = self.unigram.lexicon();
        let mut single = u32::MAX;
        han.costs_at(lexicon, at, |len, cost| single = if len == 1 { cost } else { single });
        single > COMMON_WORD_COST
    }
}

impl SegmentHan for UnigramHmm<'_> {
    fn lexicon(&self) -> &Lexicon<'_> {
        self.unigram.lexicon()
    }

    fn segment_han(
        &self,
        text: &str,
        _: Option<RunKind>,
        han: &HanRun,
        buffers: &mut HanBuffers,
        ends: &mut Vec<usize>,
    ) {
        self.unigram.best_path(han, buffers);
        let HanBuffers { best, steps, .. } = buffers;
        let mut at = 0;
        while at < han.len() {
            let first = best[at].first.max(1) as usize;
            let singles =
                (at..han.len()).take_while(|at| best[*at].first <= 1 && self.is_rare(han, *at)).count();
            if singles < 2 {
                at += first;
                ends.push(han.end(at));
                continue;
            }
            let start = han.end(at);
            self.hmm.segment(&text[start..han.end(at + singles)], steps, |end| ends.push(start + end));
            at += singles;
        }
    }
}

impl Segmenter for UnigramHmm<'_> {
    fn segment(&self, text: &str, buffers: &mut SegmenterBuffers, ends: &mut Vec<usize>) {
        runs::segment_runs(text, self, buffers, ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_put_together() {
        let segmenter = UnigramHmm::new(Lexicon::default(), Hmm::shipped());
        // Example of jieba: 杭研 is in no dictionary.
        assert_eq!(segmenter.words("他来到了网易杭研大厦"), ["他", "来到", "了", "网易", "杭研", "大厦"]);
    }

    #[test]
    fn a_model_is_learnt_and_written() {
        let lines = [vec!["灯塔", "照", "海"], vec!["灯塔", "很", "高"], vec!["照", "灯塔"]];
        let trained = Hmm::train(lines.iter().map(|line| line.iter().copied()));
        let again = Hmm::parse(&trained.to_text()).unwrap();
        assert_eq!(again.to_text(), trained.to_text());
        let mut words = Vec::new();
        again.segment("照灯塔", &mut Vec::new(), |end| words.push(end));
        assert_eq!(words, [3, 9]);
        assert_eq!(Hmm::parse("start\t1\t2\t3\t4\n灯\t1\t2").err(), Some(HmmError(2)));
        again.segment("", &mut Vec::new(), |_| unreachable!());
    }
}
