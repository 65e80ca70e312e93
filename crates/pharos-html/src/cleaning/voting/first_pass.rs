//! Two passes over the lines of a page, as in stacked sequential learning (Cohen & Carvalho 2005).
//!
//! A line is rarely body alone: its neighbours and the other lines of its block are body too. The first pass scores
//! every line on its own; the second one uses the probabilities of the lines around it as features.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::features::Features;
use super::page_context::PageContext;
use super::probability;
use super::rules::RuleScorer;
use crate::blocks::Blocks;

/// Lines on both sides that form the neighbourhood.
const REACH: usize = 4;

/// Sum of probabilities weighted by terms, and of the terms.
type WeightedSum = (f32, f32);

/// Scores every line with the rules of the first pass and fills the features `first…`.
pub(super) fn fill(scorer: &RuleScorer, lines: &mut [Features], blocks: &Blocks, context: &PageContext) {
    if scorer.is_empty() {
        return;
    }
    let mut left = Vec::new();
    let first: Vec<f32> = lines.iter().map(|f| probability(scorer.score(&f.values(), &mut left))).collect();
    let mut sums: Vec<WeightedSum> = vec![(0.0, 0.0)];
    let mut alike: HashMap<u64, WeightedSum, FixedState> = HashMap::default();
    let (mut body, mut terms) = (0.0, 0.0);
    for ((f, p), line) in lines.iter().zip(&first).zip(&blocks.lines) {
        let weight = f.terms.max(1.0);
        (body, terms) = (body + p * weight, terms + weight);
        sums.push((body, terms));
        let sum = alike.entry(blocks.container_of(line).signature).or_default();
        *sum = (sum.0 + p * weight, sum.1 + weight);
    }
    let mean = |from: usize, to: usize| (sums[to].0 - sums[from].0) / (sums[to].1 - sums[from].1).max(1.0);
    let at = |number: Option<usize>| number.and_then(|n| first.get(n)).copied().unwrap_or_default();
    let count = lines.len();
    for (number, (f, line)) in lines.iter_mut().zip(&blocks.lines).enumerate() {
        f.first = first[number];
        f.first_before = at(number.checked_sub(1));
        f.first_before2 = at(number.checked_sub(2));
        f.first_after = at(Some(number + 1));
        f.first_after2 = at(Some(number + 2));
        f.first_around = mean(number.saturating_sub(REACH), (number + REACH + 1).min(count));
        let [block, wider, wider2, wider3] = context.surrounding(line).map(|container| {
            let lines = blocks.containers[container].lines();
            mean(lines.start, lines.end)
        });
        (f.first_block, f.first_wider, f.first_wider2, f.first_wider3) = (block, wider, wider2, wider3);
        let sum = alike.get(&blocks.container_of(line).signature).copied().unwrap_or_default();
        f.first_alike = sum.0 / sum.1.max(1.0);
        f.first_page = mean(0, count);
    }
}

#[cfg(test)]
mod tests {
    use super::super::RuleSet;
    use super::super::page_clues::PageClues;
    use super::*;
    use crate::dom::Dom;

    #[test]
    fn lines_know_the_result_of_the_lines_around_them() {
        let rules = "cut = { fixed = 1.0 }\nrules = [\"first_before < 0.5 ? 0 : 2\"]\n\
                     [first_pass]\nrules = [\"terms < 3 ? -9 : 9\"]";
        let set = RuleSet::from_toml(rules).unwrap();
        let blocks = Blocks::build(&Dom::parse("<p>one two three four<p>short<p>other"), &set.names);
        let scores = set.score_lines(&blocks, &PageClues::default());
        assert_eq!([0, 1, 2].map(|line| scores.is_body(line)), [false, true, false]);
        let page = scores.features[0].first_page;
        assert!((page - 4.0 / 6.0).abs() < 0.01, "{page}");
    }
}
