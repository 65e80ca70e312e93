//! A hidden Markov model for words that no dictionary has: each character begins a word, stands in the middle, ends
//! one or is one (B, M, E, S), and Viterbi's algorithm finds the most probable states. As in jieba, it looks at
//! stretches of single characters that the dictionary left, but not at characters that are usual words.

use std::fmt::Write as _;
use std::sync::LazyLock;

use thiserror::Error;

use super::han::Han;
use super::runs::{self, CutHan, Kind};
use super::statistical::Unigram;
use super::{Buffers, Segmenter, Work};
use crate::dictionary::{Lexicon, NAT};

const STATES: usize = 4;
const BEGIN: usize = 0;
const MIDDLE: usize = 1;
const END: usize = 2;
const SINGLE: usize = 3;
/// A word begins or goes on: what may stand before B, M, E, S.
const BEFORE: [[usize; 2]; STATES] = [[END, SINGLE], [BEGIN, MIDDLE], [BEGIN, MIDDLE], [END, SINGLE]];

/// Costs are thousandths of a natural logarithm.
type Cost = u16;
/// The cost of what was never seen: more than any other.
const NEVER: Cost = 30_000;
/// The characters that have a place.
const FIRST: u32 = 0x4E00;
const PLACES: usize = 0x9FFF - FIRST as usize + 1;

/// Costs of states, of what follows them, and of characters in them.
pub struct Hmm {
    start: [Cost; STATES],
    transitions: [[Cost; STATES]; STATES],
    characters: Vec<[Cost; STATES]>,
}

/// A line that is no line of a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("hidden markov model: line {0}: expected a name and four costs")]
pub struct HmmError(usize);

impl Hmm {
    /// The model that comes with the program (jieba's).
    pub fn shipped() -> &'static Hmm {
        static SHARED: LazyLock<Hmm> = LazyLock::new(|| {
            // Our own file: if this fails, so does a test.
            Hmm::parse(include_str!("../../data/hmm.tsv")).unwrap_or_else(|_| Hmm::empty())
        });
        &SHARED
    }

    fn empty() -> Self {
        Self {
            start: [NEVER; STATES],
            transitions: [[NEVER; STATES]; STATES],
            characters: vec![[NEVER; STATES]; PLACES],
        }
    }

    /// Reads a model: `start`, the states, then characters, each with four costs.
    pub fn parse(text: &str) -> Result<Self, HmmError> {
        let mut model = Self::empty();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let mut columns = line.split('\t');
            let name = columns.next().unwrap_or_default();
            let mut costs = [NEVER; STATES];
            for cost in &mut costs {
                *cost = match columns.next() {
                    Some("-") => NEVER,
                    column => column.and_then(|c| c.parse().ok()).ok_or(HmmError(number + 1))?,
                };
                *cost = (*cost).min(NEVER);
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

    /// The model as [`parse`](Self::parse) reads it.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, costs: &[Cost; STATES]| {
            out.push_str(name);
            for cost in costs {
                // Writing to a string cannot fail.
                let _ = if *cost >= NEVER { write!(out, "\t-") } else { write!(out, "\t{cost}") };
            }
            out.push('\n');
        };
        row("start", &self.start);
        for (name, costs) in ["B", "M", "E", "S"].into_iter().zip(&self.transitions) {
            row(name, costs);
        }
        for (c, costs) in (FIRST..).filter_map(char::from_u32).zip(&self.characters) {
            if *costs != [NEVER; STATES] {
                row(c.encode_utf8(&mut [0; 4]), costs);
            }
        }
        out
    }

    /// Learns a model from lines of words, which are normalised.
    pub fn train<'w, L: IntoIterator<Item = &'w str>>(lines: impl IntoIterator<Item = L>) -> Self {
        let mut start = [0u64; STATES];
        let mut transitions = [[0u64; STATES]; STATES];
        let mut characters = vec![[0u64; STATES]; PLACES];
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
        place(c).and_then(|place| self.characters.get(place)).unwrap_or(&[NEVER; STATES])
    }

    /// Viterbi: `word(end)` for every word of a stretch, in bytes of it, from the first to the last.
    pub(crate) fn cut(&self, stretch: &str, steps: &mut Vec<[u8; STATES]>, mut word: impl FnMut(usize)) {
        steps.clear();
        let mut costs = [0u64; STATES];
        for (nth, c) in stretch.chars().enumerate() {
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
        // Backwards, each step is given the state it was in; a word must not stay open at the end.
        let mut now = if costs[END] < costs[SINGLE] { END } else { SINGLE };
        for step in steps.iter_mut().rev() {
            let before = usize::from(step[now]);
            step[0] = now as u8;
            now = before;
        }
        for ((at, c), step) in stretch.char_indices().zip(steps) {
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
    (c as u32).checked_sub(FIRST).map(|place| place as usize).filter(|place| *place < PLACES)
}

fn cost(count: u64, total: u64) -> Cost {
    if count == 0 {
        return NEVER;
    }
    let cost = (total as f64 / count as f64).ln() * 1000.0;
    cost.round().clamp(0.0, f64::from(NEVER)) as Cost
}

/// Characters that are cheaper than this are usual words (的, 是, 在, 人): the model, which would often join them to their
/// neighbours, is not asked about them. Measured: without this limit it does more harm than good.
const USUAL: u32 = (8.0 * NAT) as u32;

/// Unigrams, and the hidden Markov model where they leave single characters.
pub struct UnigramHmm<'a> {
    unigram: Unigram<'a>,
    hmm: &'a Hmm,
}

impl<'a> UnigramHmm<'a> {
    /// With the words of a lexicon and a model.
    pub fn new(lexicon: Lexicon<'a>, hmm: &'a Hmm) -> Self {
        Self { unigram: Unigram::new(lexicon), hmm }
    }

    /// Is it a character that seldom is a word of its own?
    fn is_rare(&self, han: &Han, at: usize) -> bool {
        let lexicon = self.unigram.lexicon();
        let mut single = u32::MAX;
        han.costs_at(lexicon, at, |len, cost| single = if len == 1 { cost } else { single });
        single > USUAL
    }
}

impl CutHan for UnigramHmm<'_> {
    fn lexicon(&self) -> &Lexicon<'_> {
        self.unigram.lexicon()
    }

    fn cut_han(&self, text: &str, _: Option<Kind>, han: &Han, buffers: &mut Buffers, ends: &mut Vec<usize>) {
        self.unigram.best_path(han, buffers);
        let Buffers { best, steps, .. } = buffers;
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
            self.hmm.cut(&text[start..han.end(at + singles)], steps, |end| ends.push(start + end));
            at += singles;
        }
    }
}

impl Segmenter for UnigramHmm<'_> {
    fn cut(&self, text: &str, work: &mut Work, ends: &mut Vec<usize>) {
        runs::cut(text, self, work, ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_put_together() {
        let cut = UnigramHmm::new(Lexicon::default(), Hmm::shipped());
        // jieba's own example: 杭研 is in no dictionary.
        assert_eq!(cut.words("他来到了网易杭研大厦"), ["他", "来到", "了", "网易", "杭研", "大厦"]);
    }

    #[test]
    fn a_model_is_learnt_and_written() {
        let lines = [vec!["灯塔", "照", "海"], vec!["灯塔", "很", "高"], vec!["照", "灯塔"]];
        let trained = Hmm::train(lines.iter().map(|line| line.iter().copied()));
        let again = Hmm::parse(&trained.to_text()).unwrap();
        assert_eq!(again.to_text(), trained.to_text());
        let mut words = Vec::new();
        again.cut("照灯塔", &mut Vec::new(), |end| words.push(end));
        assert_eq!(words, [3, 9]);
        assert_eq!(Hmm::parse("start\t1\t2\t3\t4\n灯\t1\t2").err(), Some(HmmError(2)));
        again.cut("", &mut Vec::new(), |_| unreachable!());
    }
}
