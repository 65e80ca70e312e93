//! Models of users who examine each position with a probability: by position (PBM), or by position and the distance from
//! the last click (UBM). A click is an examination of an attractive result.

use super::{Session, Sessions, Share, estimates};

/// A position-based model or user browsing model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExaminationModel {
    /// Probability that an examined result is clicked, by pair.
    attractiveness: Vec<f64>,
    /// Probability of examination of each position, by the position after the last click, 0 without a click. The
    /// position-based model has the first only.
    examination: Vec<Vec<f64>>,
    by_last_click: bool,
}

impl ExaminationModel {
    /// Trains by expectation maximisation.
    pub(super) fn train(data: &Sessions, by_last_click: bool, rounds: usize) -> Self {
        let positions = data.sessions.iter().map(|session| session.results.len()).max().unwrap_or(0);
        let contexts = |position: usize| if by_last_click { position + 1 } else { 1 };
        let mut model = Self {
            attractiveness: vec![0.5; data.pairs.len()],
            examination: (0..positions)
                .map(|position| vec![1.0 / (position as f64 + 1.0).sqrt(); contexts(position)])
                .collect(),
            by_last_click,
        };
        for _ in 0..rounds {
            let mut attractive = vec![Share::default(); data.pairs.len()];
            let mut examined: Vec<Vec<Share>> =
                (0..positions).map(|position| vec![Share::default(); contexts(position)]).collect();
            for session in &data.sessions {
                let mut context = 0;
                for (position, (&pair, &clicked)) in session.results.iter().zip(&session.clicked).enumerate()
                {
                    let (a, e) = (model.attractiveness(pair), model.examination_at(position, context));
                    let skipped = (1.0 - a * e).max(1e-12);
                    let (is_attractive, is_examined) =
                        if clicked { (1.0, 1.0) } else { (a * (1.0 - e) / skipped, e * (1.0 - a) / skipped) };
                    attractive[pair as usize].add(is_attractive, 1.0);
                    let at = if by_last_click { context } else { 0 };
                    examined[position][at].add(is_examined, 1.0);
                    if clicked {
                        context = position + 1;
                    }
                }
            }
            model.attractiveness = estimates(&attractive);
            model.examination = examined.iter().map(|shares| estimates(shares)).collect();
        }
        model
    }

    /// Returns the probability that an examined result is clicked; ½ for an unknown pair.
    pub fn attractiveness(&self, pair: u32) -> f64 {
        self.attractiveness.get(pair as usize).copied().unwrap_or(0.5)
    }

    /// Returns the probability of examination of a position; `context` is the position after the last click. Positions
    /// beyond those of training are like the last.
    fn examination_at(&self, position: usize, context: usize) -> f64 {
        let of_position = self.examination.get(position).or(self.examination.last());
        let context = if self.by_last_click { context } else { 0 };
        of_position.and_then(|contexts| contexts.get(context).or(contexts.last())).copied().unwrap_or(0.5)
    }

    pub(super) fn conditional(&self, session: &Session) -> Vec<f64> {
        let mut context = 0;
        let positions = session.results.iter().zip(&session.clicked).enumerate();
        positions
            .map(|(position, (&pair, &clicked))| {
                let probability = self.attractiveness(pair) * self.examination_at(position, context);
                if clicked {
                    context = position + 1;
                }
                probability
            })
            .collect()
    }

    /// Returns the probability that each position is examined, over all clicks that may precede it.
    pub(super) fn examination(&self, results: &[u32]) -> Vec<f64> {
        // Probability of each context.
        let mut contexts = vec![1.0];
        let mut examination = Vec::with_capacity(results.len());
        for (position, &pair) in results.iter().enumerate() {
            let attractiveness = self.attractiveness(pair);
            let (mut examined, mut clicked) = (0.0, 0.0);
            for (context, probability) in contexts.iter_mut().enumerate() {
                let here = self.examination_at(position, context);
                examined += *probability * here;
                clicked += *probability * here * attractiveness;
                *probability *= 1.0 - here * attractiveness;
            }
            contexts.push(clicked);
            examination.push(examined);
        }
        examination
    }

    pub(super) fn marginal(&self, results: &[u32]) -> Vec<f64> {
        let examined = self.examination(results);
        examined.iter().zip(results).map(|(examined, &pair)| examined * self.attractiveness(pair)).collect()
    }
}
