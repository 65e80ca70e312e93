//! The best sequence of tags (Viterbi 1967).

use super::features::{BEGIN, END, MIDDLE, SINGLE, TAGS};
use super::lanes::Lanes;
use super::model::Row;

/// The best paths to the last atom, one for each of its tags.
///
/// Every tag has two possible predecessors only, so that a step back is one bit: whether it is the second.
pub(super) struct Decoder<'t> {
    /// For each tag the transitions from its two predecessors.
    transitions: [(i64, i64); TAGS],
    scores: [i64; TAGS],
    steps: &'t mut Vec<u8>,
}

impl<'t> Decoder<'t> {
    /// A decoder that will write into `tags`, whatever they were.
    pub(super) fn new(transitions: &[Row; TAGS], tags: &'t mut Vec<u8>) -> Self {
        let transition = |from: usize, to: usize| i64::from(transitions[from][to]);
        tags.clear();
        // Before the first atom a word has just ended. Sums of scores fit 64 bits however long the text is.
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

    /// One more atom, with the scores of its tags.
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

    /// Walks back, and turns steps into tags.
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
    // Where words end is hard to foresee: written always and counted sometimes costs less than a wrong guess.
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
        let best = |rows: &[Row]| {
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
