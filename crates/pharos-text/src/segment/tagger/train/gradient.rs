//! The gradient of the likelihood of one sentence (forward-backward algorithm, Rabiner 1989).

use super::parameters::{Parameters, TrainingExample};
use crate::segment::tagger::atoms::PADDING;
use crate::segment::tagger::features::{BEGIN, END, MIDDLE, SINGLE, TAGS, TRANSITIONS};

/// Offset of the first atom's scores.
const FIRST: usize = (PADDING - 1) * TAGS;
/// Avoids division by zero where a probability vanishes.
const TINY: f32 = 1e-30;

/// The gradient of the negative log-likelihood of a sentence. Its buffers are reused.
#[derive(Default)]
pub(super) struct Gradient {
    /// With respect to the scores, in the same layout.
    pub(super) scores: Vec<f32>,
    /// With respect to the transitions.
    pub(super) transitions: [[f32; TAGS]; TAGS],
    given: Vec<f32>,
    /// `exp` of an atom's scores, scaled so that the largest is one.
    likely: Vec<[f32; TAGS]>,
    forward: Vec<[f32; TAGS]>,
}

impl Gradient {
    /// Computes the gradient and returns the negative log-likelihood.
    pub(super) fn compute(&mut self, parameters: &Parameters, example: &TrainingExample) -> f64 {
        parameters.score(example, &mut self.given);
        self.scores.clear();
        self.scores.resize(example.score_count(), 0.0);
        self.transitions = [[0.0; TAGS]; TAGS];
        let weights: [[f32; TAGS]; TAGS] =
            std::array::from_fn(|from| std::array::from_fn(|to| parameters.transition(from, to)));
        let factors = weights.map(|row| row.map(f32::exp));

        let mut loss = self.walk_forward(&factors, example.tags.len());
        self.walk_backward(&factors, &example.tags);

        // Observed counts minus expected counts.
        let mut last = END;
        for (&tag, (given, slopes)) in example.tags.iter().zip(
            self.given[FIRST..]
                .as_chunks::<TAGS>()
                .0
                .iter()
                .zip(self.scores[FIRST..].as_chunks_mut::<TAGS>().0),
        ) {
            let tag = usize::from(tag);
            slopes[tag] -= 1.0;
            self.transitions[last][tag] -= 1.0;
            loss -= f64::from(given[tag]) + f64::from(weights[last][tag]);
            last = tag;
        }
        loss
    }

    /// Computes the probabilities of each atom's tags given the preceding atoms. Returns the logarithm of the
    /// sum over all paths.
    fn walk_forward(&mut self, factors: &[[f32; TAGS]; TAGS], count: usize) -> f64 {
        self.likely.clear();
        self.forward.clear();
        let mut logarithm = 0.0;
        // A word has ended before the first atom.
        let mut before = [0.0; TAGS];
        before[END] = 1.0;
        for (place, given) in self.given[FIRST..].as_chunks::<TAGS>().0.iter().take(count).enumerate() {
            let largest = given.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let likely = given.map(|score| (score - largest).exp());
            let mut now = [0.0; TAGS];
            for (from, to) in TRANSITIONS {
                now[to] += before[from] * factors[from][to];
            }
            for tag in 0..TAGS {
                now[tag] *= likely[tag];
            }
            if place + 1 == count {
                now[BEGIN] = 0.0;
                now[MIDDLE] = 0.0;
            }
            let sum = now.iter().sum::<f32>().max(TINY);
            now = now.map(|value| value / sum);
            logarithm += f64::from(sum.ln() + largest);
            self.likely.push(likely);
            self.forward.push(now);
            before = now;
        }
        logarithm
    }

    /// Computes the expected counts of tags and transitions.
    fn walk_backward(&mut self, factors: &[[f32; TAGS]; TAGS], tags: &[u8]) {
        let mut after = [0.0; TAGS];
        after[END] = 1.0;
        after[SINGLE] = 1.0;
        for place in (0..tags.len()).rev() {
            let now = &self.forward[place];
            let both: [f32; TAGS] = std::array::from_fn(|tag| now[tag] * after[tag]);
            let sum = both.iter().sum::<f32>().max(TINY);
            let at = FIRST + place * TAGS;
            for (slope, value) in self.scores[at..at + TAGS].iter_mut().zip(both) {
                *slope = value / sum;
            }
            let mut border = [0.0; TAGS];
            border[END] = 1.0;
            let before = if place == 0 { &border } else { &self.forward[place - 1] };
            let mut earlier = [0.0; TAGS];
            let paths = TRANSITIONS.map(|(from, to)| {
                let onward = factors[from][to] * self.likely[place][to] * after[to];
                earlier[from] += onward;
                before[from] * onward
            });
            let sum = paths.iter().sum::<f32>().max(TINY);
            for ((from, to), path) in TRANSITIONS.into_iter().zip(paths) {
                self.transitions[from][to] += path / sum;
            }
            let sum = earlier.iter().sum::<f32>().max(TINY);
            after = earlier.map(|value| value / sum);
        }
    }
}
