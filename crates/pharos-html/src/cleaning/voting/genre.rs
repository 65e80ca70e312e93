//! Genre of a page (页面体裁): article, documentation, forum and so on.
//!
//! The text of a page that counts as its main content depends on its genre: replies are the subject of a forum page
//! and comments on an article. Source: genre detection for web pages (Meyer zu Eissen & Stein 2004), with the seven
//! genres of the WCXB collection. The features of a page are the means of the features of its lines, weighted by
//! length; rules for each genre score them, and the softmax of the scores gives probabilities, which the rules for
//! lines use as features.

use serde::Serialize;

use super::features::{FeatureValues, Features};
use super::rules::RuleScorer;

/// Genres in the order of the features `genre.…`.
pub(crate) const GENRES: [&str; 7] =
    ["article", "documentation", "service", "forum", "collection", "listing", "product"];

/// Genre of a page with its probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PageGenre {
    pub name: &'static str,
    pub probability: f32,
}

/// Rules for each genre, in the order of [`GENRES`].
pub(super) type GenreScorers = [RuleScorer; GENRES.len()];

/// Returns the probability of each genre for a page with these lines.
pub(super) fn genre_probabilities(scorers: &GenreScorers, lines: &[Features]) -> [f32; GENRES.len()] {
    if scorers.iter().all(RuleScorer::is_empty) {
        return [0.0; _];
    }
    let means = mean_values(lines);
    let mut left = Vec::new();
    let scores = scorers.each_ref().map(|scorer| scorer.score(&means, &mut left));
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers = scores.map(|score| (score - greatest).exp());
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// Returns the most probable genre; none without rules for genres.
pub(crate) fn best_genre(probabilities: &[f32; GENRES.len()]) -> PageGenre {
    let best = probabilities.iter().zip(GENRES).max_by(|(a, _), (b, _)| a.total_cmp(b));
    let known = best.filter(|(probability, _)| **probability > 0.0);
    known.map_or_else(PageGenre::default, |(probability, name)| PageGenre { name, probability: *probability })
}

/// Returns the means of the features, weighted by terms; a line counts at least as one term.
fn mean_values(lines: &[Features]) -> FeatureValues {
    let mut sums = [0.0f64; _];
    let mut weights = 0.0f64;
    for line in lines {
        let weight = f64::from(line.terms.max(1.0));
        weights += weight;
        for (sum, value) in sums.iter_mut().zip(line.values()) {
            *sum += weight * f64::from(value);
        }
    }
    sums.map(|sum| (sum / weights.max(1.0)) as f32)
}

#[cfg(test)]
mod tests {
    use super::super::WordKinds;
    use super::*;

    #[test]
    fn the_genre_with_the_highest_score_is_the_most_probable() {
        let scorer = |rules: &[&str]| {
            let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
            RuleScorer::new(0.0, &rules, &WordKinds::default()).unwrap()
        };
        let mut scorers = GenreScorers::default();
        scorers[0] = scorer(&["terms < 10 ? 0 : 2"]);
        scorers[3] = scorer(&["terms < 10 ? 2 : 0"]);
        let genre = |terms| {
            let lines = [Features { terms, ..Features::default() }];
            best_genre(&genre_probabilities(&scorers, &lines))
        };
        assert_eq!((genre(50.0).name, genre(5.0).name), ("article", "forum"));
        assert!(genre(5.0).probability > 0.5 && genre(5.0).probability < 1.0);
        let none = genre_probabilities(&GenreScorers::default(), &[Features::default()]);
        assert_eq!(best_genre(&none), PageGenre::default());
    }
}
