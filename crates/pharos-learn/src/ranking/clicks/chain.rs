//! Models of users who read from top to bottom: cascade model, DCM, SDBN and DBN.
//!
//! They differ in the probability that a user continues after a click; without a click, only a DBN user may stop.

use super::{Session, Sessions, Share, estimates};

/// A model of a chain of examinations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainModel {
    /// Probability that an examined result is clicked, by pair.
    attractiveness: Vec<f64>,
    /// Probability that a clicked result satisfies, by pair; the user then stops. Empty in models without it.
    satisfaction: Vec<f64>,
    /// Probability to continue after a click, by position; empty in models without it.
    after_click: Vec<f64>,
    /// Probability that a user who is not satisfied continues.
    persistence: f64,
}

impl ChainModel {
    /// Trains the cascade model: a user stops at the first click.
    pub(super) fn train_cascade(data: &Sessions) -> Self {
        let mut shares = vec![Share::default(); data.pairs.len()];
        for session in &data.sessions {
            for (&pair, &clicked) in session.results.iter().zip(&session.clicked) {
                shares[pair as usize].add(f64::from(u8::from(clicked)), 1.0);
                if clicked {
                    break;
                }
            }
        }
        let attractiveness = estimates(&shares);
        Self { attractiveness, satisfaction: Vec::new(), after_click: vec![0.0], persistence: 1.0 }
    }

    /// Trains the dependent click model, with the estimates of Guo et al.: results up to the last click were examined, and
    /// all of a session without clicks.
    pub(super) fn train_dcm(data: &Sessions) -> Self {
        let mut shares = vec![Share::default(); data.pairs.len()];
        let mut continued: Vec<Share> = Vec::new();
        for session in &data.sessions {
            let last = last_click(session);
            for (position, &pair) in
                session.results.iter().enumerate().take(last.map_or(usize::MAX, |last| last + 1))
            {
                let clicked = session.clicked[position];
                shares[pair as usize].add(f64::from(u8::from(clicked)), 1.0);
                if clicked {
                    continued.resize(continued.len().max(position + 1), Share::default());
                    continued[position].add(f64::from(u8::from(last != Some(position))), 1.0);
                }
            }
        }
        let (attractiveness, after_click) = (estimates(&shares), estimates(&continued));
        Self { attractiveness, satisfaction: Vec::new(), after_click, persistence: 1.0 }
    }

    /// Trains the simplified DBN: users who are not satisfied always continue, so that the last click satisfied.
    pub(super) fn train_sdbn(data: &Sessions) -> Self {
        let mut attractive = vec![Share::default(); data.pairs.len()];
        let mut satisfied = attractive.clone();
        for session in &data.sessions {
            let last = last_click(session);
            for (position, &pair) in
                session.results.iter().enumerate().take(last.map_or(usize::MAX, |last| last + 1))
            {
                let clicked = session.clicked[position];
                attractive[pair as usize].add(f64::from(u8::from(clicked)), 1.0);
                if clicked {
                    satisfied[pair as usize].add(f64::from(u8::from(last == Some(position))), 1.0);
                }
            }
        }
        Self {
            attractiveness: estimates(&attractive),
            satisfaction: estimates(&satisfied),
            after_click: Vec::new(),
            persistence: 1.0,
        }
    }

    /// Trains the DBN by expectation maximisation.
    pub(super) fn train_dbn(data: &Sessions, rounds: usize) -> Self {
        let mut model = Self { persistence: 0.9, ..Self::train_sdbn(data) };
        for _ in 0..rounds {
            let mut attractive = vec![Share::default(); data.pairs.len()];
            let mut satisfied = attractive.clone();
            let mut continued = Share::default();
            for session in &data.sessions {
                model.expect(session, &mut attractive, &mut satisfied, &mut continued);
            }
            model.attractiveness = estimates(&attractive);
            model.satisfaction = estimates(&satisfied);
            model.persistence = continued.estimate();
        }
        model
    }

    /// Adds the expected numbers of examinations, satisfactions and continuations of a session.
    fn expect(
        &self,
        session: &Session,
        attractive: &mut [Share],
        satisfied: &mut [Share],
        continued: &mut Share,
    ) {
        let count = session.results.len();
        let gamma = self.persistence;
        // Probability of no click from a position on, if it is examined.
        let mut silent = vec![1.0; count + 1];
        for position in (0..count).rev() {
            let ending = if position + 1 == count { 1.0 } else { 1.0 - gamma + gamma * silent[position + 1] };
            silent[position] = (1.0 - self.attractiveness(session.results[position])) * ending;
        }
        let last = last_click(session);
        let mut examined = 1.0;
        for (position, &pair) in session.results.iter().enumerate() {
            let clicked = session.clicked[position];
            attractive[pair as usize].add(f64::from(u8::from(clicked)), examined);
            let is_end = position + 1 == count;
            let before_last = last.is_some_and(|last| position < last);
            // Probability that the user is not satisfied, and that the next position is examined.
            let mut unsatisfied = 1.0;
            if clicked {
                if before_last {
                    satisfied[pair as usize].add(0.0, 1.0);
                } else {
                    let prior = self.satisfaction(pair);
                    let open = if is_end { 1.0 } else { 1.0 - gamma + gamma * silent[position + 1] };
                    let posterior = prior / (prior + (1.0 - prior) * open);
                    satisfied[pair as usize].add(posterior, 1.0);
                    unsatisfied = 1.0 - posterior;
                }
            }
            if is_end {
                break;
            }
            let goes_on = if before_last {
                1.0
            } else {
                let next = gamma * silent[position + 1];
                next / (1.0 - gamma + next).max(1e-12)
            };
            continued.add(examined * unsatisfied * goes_on, examined * unsatisfied);
            examined *= unsatisfied * goes_on;
        }
    }

    /// Returns the probability that an examined result is clicked; ½ for an unknown pair.
    pub fn attractiveness(&self, pair: u32) -> f64 {
        self.attractiveness.get(pair as usize).copied().unwrap_or(0.5)
    }

    /// Returns the probability that a clicked result satisfies; 1 in models without it, ½ for an unknown pair.
    pub fn satisfaction(&self, pair: u32) -> f64 {
        if self.satisfaction.is_empty() {
            1.0
        } else {
            self.satisfaction.get(pair as usize).copied().unwrap_or(0.5)
        }
    }

    /// Returns the probability that a user who is not satisfied continues.
    pub fn persistence(&self) -> f64 {
        self.persistence
    }

    fn continues_after_click(&self, position: usize, pair: u32) -> f64 {
        if self.satisfaction.is_empty() {
            // Positions without clicks in training are like the last with one.
            return self.after_click.get(position).or(self.after_click.last()).copied().unwrap_or(0.5);
        }
        self.persistence * (1.0 - self.satisfaction(pair))
    }

    pub(super) fn conditional(&self, session: &Session) -> Vec<f64> {
        let mut examined = 1.0;
        let positions = session.results.iter().zip(&session.clicked).enumerate();
        positions
            .map(|(position, (&pair, &clicked))| {
                let attractiveness = self.attractiveness(pair);
                let probability = examined * attractiveness;
                examined = if clicked {
                    self.continues_after_click(position, pair)
                } else {
                    self.persistence * examined * (1.0 - attractiveness) / (1.0 - probability).max(1e-12)
                };
                probability
            })
            .collect()
    }

    /// Returns the probability that each position is examined.
    pub(super) fn examination(&self, results: &[u32]) -> Vec<f64> {
        let mut examined = 1.0;
        let positions = results.iter().enumerate();
        positions
            .map(|(position, &pair)| {
                let before = examined;
                let attractiveness = self.attractiveness(pair);
                examined *= attractiveness * self.continues_after_click(position, pair)
                    + (1.0 - attractiveness) * self.persistence;
                before
            })
            .collect()
    }

    pub(super) fn marginal(&self, results: &[u32]) -> Vec<f64> {
        let examined = self.examination(results);
        examined.iter().zip(results).map(|(examined, &pair)| examined * self.attractiveness(pair)).collect()
    }
}

fn last_click(session: &Session) -> Option<usize> {
    session.clicked.iter().rposition(|&clicked| clicked)
}
