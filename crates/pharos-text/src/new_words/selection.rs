//! Selects candidates by internal cohesion and border entropy, and removes overlaps.

use std::collections::{HashMap, HashSet};

use super::grams::{Gram, Grams};
use super::{DiscoveryRules, NewWordCandidate};
use crate::dictionary::Dictionary;
use crate::vocabulary::{MAX_NAME_BYTES, WordKind};

/// Returns the sequences that satisfy all rules, sorted by descending frequency.
pub(super) fn select_candidates(
    grams: &Grams,
    rules: &DiscoveryRules,
    base: &Dictionary,
    is_known: &dyn Fn(&str) -> bool,
) -> Vec<NewWordCandidate> {
    let mut kept = HashMap::new();
    for (gram, count) in grams.iter() {
        let numbers = numbers(gram);
        if count.frequency < rules.min_frequency
            || count.pages < rules.min_pages
            || !rules.parts.contains(&numbers.len())
            || !accepts_singles(grams, numbers, rules)
            || numbers
                .last()
                .is_some_and(|last| rules.never_last.iter().any(|word| word == grams.word(*last)))
        {
            continue;
        }
        let (left_entropy, right_entropy) = count.entropies();
        let information = mutual_information(grams, numbers, count.frequency);
        if left_entropy.min(right_entropy) < rules.min_entropy || information < rules.min_information {
            continue;
        }
        let word: String = numbers.iter().map(|number| grams.word(*number)).collect();
        if word.len() > MAX_NAME_BYTES || is_known(&word) {
            continue;
        }
        let candidate = NewWordCandidate {
            kind: WordKind::suggest(&word, base),
            word,
            parts: numbers.len(),
            frequency: count.frequency,
            pages: count.pages,
            information,
            left_entropy,
            right_entropy,
        };
        kept.insert(*gram, candidate);
    }
    for gram in covered_by_longer(&kept, rules.max_inside) {
        kept.remove(&gram);
    }
    for gram in composed_of_new(&kept, grams) {
        kept.entry(gram).and_modify(|candidate| candidate.kind = WordKind::Extension);
    }
    let mut candidates: Vec<NewWordCandidate> = kept.into_values().collect();
    candidates.sort_unstable_by(|a, b| b.frequency.cmp(&a.frequency).then_with(|| a.word.cmp(&b.word)));
    // Different segmentations can produce the same word; the most frequent one represents it.
    let mut seen = HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.word.clone()));
    candidates
}

fn numbers(gram: &Gram) -> &[u32] {
    let len = gram.iter().position(|number| *number == 0).unwrap_or(gram.len());
    &gram[..len]
}

/// Returns `true` if the sequence satisfies the rules on single characters.
fn accepts_singles(grams: &Grams, numbers: &[u32], rules: &DiscoveryRules) -> bool {
    let is_single = |number: &u32| grams.word(*number).chars().nth(1).is_none();
    if rules.needs_single && !numbers.iter().any(is_single) {
        return false;
    }
    !rules.singles_only_together
        || numbers
            .chunk_by(|a, b| is_single(a) == is_single(b))
            .all(|run| run.len() > 1 || !is_single(&run[0]))
}

/// Returns the mutual information (互信息) log P(XY) / P(X) P(Y) of the least cohesive split into parts X and Y.
fn mutual_information(grams: &Grams, numbers: &[u32], frequency: u32) -> f64 {
    let total = grams.words() as f64;
    (1..numbers.len())
        .map(|at| {
            let (left, right) = numbers.split_at(at);
            // A part is at least as frequent as the whole, even if it was pruned in between.
            let [left, right] = [left, right].map(|part| f64::from(grams.frequency(part).max(frequency)));
            (f64::from(frequency) * total / (left * right)).ln()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Returns the candidates of which a longer one covers at least the given share.
fn covered_by_longer(kept: &HashMap<Gram, NewWordCandidate>, share: f64) -> Vec<Gram> {
    let mut inside = Vec::new();
    for (gram, longer) in kept {
        let numbers = numbers(gram);
        for len in 2..numbers.len() {
            for part in numbers.windows(len) {
                let mut shorter = Gram::default();
                shorter[..len].copy_from_slice(part);
                if kept
                    .get(&shorter)
                    .is_some_and(|c| f64::from(longer.frequency) >= share * f64::from(c.frequency))
                {
                    inside.push(shorter);
                }
            }
        }
    }
    inside
}

/// Returns the `base` candidates that are composed of words once shorter candidates are accepted: 安卓 + 论坛.
fn composed_of_new(kept: &HashMap<Gram, NewWordCandidate>, grams: &Grams) -> Vec<Gram> {
    let is_new_word = |part: &[u32]| {
        let mut shorter = Gram::default();
        shorter[..part.len()].copy_from_slice(part);
        kept.get(&shorter).is_some_and(|candidate| candidate.kind == WordKind::Base)
    };
    let mut composed = Vec::new();
    for (gram, _) in kept.iter().filter(|(_, candidate)| candidate.kind == WordKind::Base) {
        let mut rest = numbers(gram);
        let mut words = 0;
        while let Some(first) = rest.first() {
            let longest = rest.len().min(numbers(gram).len() - 1);
            let len = (2..=longest).rev().find(|len| is_new_word(&rest[..*len])).unwrap_or(1);
            words += usize::from(len > 1 || grams.word(*first).chars().nth(1).is_some());
            rest = &rest[len..];
        }
        if words >= 2 {
            composed.push(*gram);
        }
    }
    composed
}
