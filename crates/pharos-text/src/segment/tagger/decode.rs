//! Finds the best sequence of tags (Viterbi 1967).

use super::features::{BEGIN, END, MIDDLE, SINGLE, TAGS};
use super::lanes::Lanes;
use super::model::TagWeights;

/// The best paths to the last atom, one per tag.
///
/// Every tag has only two possible predecessors, so that a backward step is one bit.
pub(super) struct Decoder<'t> {
    /// Transitions from the two predecessors of each tag.
    transitions: [(i64, i64); TAGS],
    scores: [i64; TAGS],
    steps: &'t mut Vec<u8>,
}

impl<'t> Decoder<'t> {
    /// Creates a decoder that writes into `tags`; previous content is discarded.
    pub(super) fn new(transitions: &[TagWeights; TAGS], tags: &'t mut Vec<u8>) -> Self {
        let transition = |from: usize, to: usize| i64::from(transitions[from][to]);
        tags.clear();
        // A word has ended before the first atom. Sums of scores fit into 64 bits for any text.
        let mut scores = [i64::MIN / 4; TAGS];
        scores[END] = 0;
        Decoder {
            transitions: [
                (transition(END, BEGIN), transition(SINGLE, BEGIN)),
                (transition(BEGIN, MIDDLE), transition(MIDDLE, MIDDLE)),
                (transition(BEGIN, END), transition(MIDDLE, END)),
                (transition(END, SINGLE), transition(SINGLE, SINGLE)),
            ],
            scores,
            steps: tags,
        }
    }

    /// Adds an atom with the scores of its tags.
    #[inline]
    pub(super) fn push(&mut self, atom: Lanes) {
        let [begin, middle, end, single] = self.scores;
        let mut step = 0;
        let mut arrive = |tag: usize, first: i64, second: i64| {
            let first = first + self.transitions[tag].0;
            let second = second + self.transitions[tag].1;
            step |= u8::from(second > first) << tag;
            first.max(second) + atom.get(tag)
        };
        self.scores = [
            arrive(BEGIN, end, single),
            arrive(MIDDLE, begin, middle),
            arrive(END, begin, middle),
            arrive(SINGLE, end, single),
        ];
        self.steps.push(step);
    }

    /// Backtracks and replaces steps by tags.
    pub(super) fn finish(self) {
        let mut tag = if self.scores[SINGLE] > self.scores[END] { SINGLE } else { END };
        for step in self.steps.iter_mut().rev() {
            let second = usize::from(*step >> tag & 1);
            *step = tag as u8;
            tag = if tag == BEGIN || tag == SINGLE { END + second } else { BEGIN + second };
        }
    }
}

/// Appends to `ends` the ends of the atoms that end a word.
pub(super) fn push_ends(tags: &[u8], atom_ends: &[usize], ends: &mut Vec<usize>) {
    // Branch-free: word ends are hard to predict, and an unconditional write is cheaper than a misprediction.
    let mut length = ends.len();
    ends.resize(length + tags.len() + 1, 0);
    for (&tag, &end) in tags.iter().zip(atom_ends) {
        ends[length] = end;
        length += usize::from(usize::from(tag) >= END);
    }
    ends.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sequence_is_impossible_and_the_best_one_wins() {
        let best = |rows: &[TagWeights]| {
            let mut tags = Vec::new();
            let mut decoder = Decoder::new(&[[0; TAGS]; TAGS], &mut tags);
            rows.iter().for_each(|&row| decoder.push(Lanes::of_row(row)));
            decoder.finish();
            tags.into_iter().map(usize::from).collect::<Vec<_>>()
        };
        // Every atom alone would be a middle: a word needs both its ends.
        assert_eq!(best(&[[0, 9, 0, 0]; 4]), [BEGIN, MIDDLE, MIDDLE, END]);
        assert_eq!(best(&[[0, 9, 0, 1]]), [SINGLE]);
        let mut ends = vec![7];
        push_ends(&[0, 2, 3], &[10, 13, 16], &mut ends);
        assert_eq!(ends, [7, 13, 16]);
    }
}
