//! Which sequences are words: cohesion inside, freedom outside, and nothing twice.

use std::collections::{HashMap, HashSet};

use super::grams::{Gram, Grams};
use super::{Candidate, Rules};
use crate::dictionary::Dictionary;
use crate::vocabulary::{Kind, MAX_NAME_BYTES};

/// The sequences that keep all rules, the most frequent first.
pub(super) fn candidates(
    grams: &Grams,
    rules: &Rules,
    base: &Dictionary,
    is_known: &dyn Fn(&str) -> bool,
) -> Vec<Candidate> {
    let mut kept = HashMap::new();
    for (gram, count) in grams.iter() {
        let numbers = numbers(gram);
        if count.frequency < rules.min_frequency
            || count.pages < rules.min_pages
            || !rules.parts.contains(&numbers.len())
            || !singles_fit(grams, numbers, rules)
            || numbers
                .last()
                .is_some_and(|last| rules.never_last.iter().any(|word| word == grams.word(*last)))
        {
            continue;
        }
        let (left_entropy, right_entropy) = count.entropies();
        let information = information(grams, numbers, count.frequency);
        if left_entropy.min(right_entropy) < rules.min_entropy || information < rules.min_information {
            continue;
        }
        let word: String = numbers.iter().map(|number| grams.word(*number)).collect();
        if word.len() > MAX_NAME_BYTES || is_known(&word) {
            continue;
        }
        let candidate = Candidate {
            kind: Kind::fitting(&word, base),
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
    for gram in inside_longer(&kept, rules.max_inside) {
        kept.remove(&gram);
    }
    for gram in composed_of_new(&kept, grams) {
        kept.entry(gram).and_modify(|candidate| candidate.kind = Kind::Extension);
    }
    let mut candidates: Vec<Candidate> = kept.into_values().collect();
    candidates.sort_unstable_by(|a, b| b.frequency.cmp(&a.frequency).then_with(|| a.word.cmp(&b.word)));
    // The same word can come out of different cuts; the more frequent cut stands for it.
    let mut seen = HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.word.clone()));
    candidates
}

fn numbers(gram: &Gram) -> &[u32] {
    let len = gram.iter().position(|number| *number == 0).unwrap_or(gram.len());
    &gram[..len]
}

/// The rules on single characters.
fn singles_fit(grams: &Grams, numbers: &[u32], rules: &Rules) -> bool {
    let is_single = |number: &u32| grams.word(*number).chars().nth(1).is_none();
    if rules.needs_single && !numbers.iter().any(is_single) {
        return false;
    }
    !rules.singles_only_together
        || numbers
            .chunk_by(|a, b| is_single(a) == is_single(b))
            .all(|run| run.len() > 1 || !is_single(&run[0]))
}

/// Mutual information (互信息): log P(XY) / P(X) P(Y), for the two parts X and Y that hold together least.
fn information(grams: &Grams, numbers: &[u32], frequency: u32) -> f64 {
    let total = grams.words() as f64;
    (1..numbers.len())
        .map(|at| {
            let (left, right) = numbers.split_at(at);
            // A part is at least as frequent as the whole, even if it was forgotten in between.
            let [left, right] = [left, right].map(|part| f64::from(grams.frequency(part).max(frequency)));
            (f64::from(frequency) * total / (left * right)).ln()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Candidates of which a longer one takes the given share.
fn inside_longer(kept: &HashMap<Gram, Candidate>, share: f64) -> Vec<Gram> {
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

/// Candidates for the base dictionary that are composed once shorter ones are words: 安卓 + 论坛.
fn composed_of_new(kept: &HashMap<Gram, Candidate>, grams: &Grams) -> Vec<Gram> {
    let is_new_word = |part: &[u32]| {
        let mut shorter = Gram::default();
        shorter[..part.len()].copy_from_slice(part);
        kept.get(&shorter).is_some_and(|candidate| candidate.kind == Kind::Base)
    };
    let mut composed = Vec::new();
    for (gram, _) in kept.iter().filter(|(_, candidate)| candidate.kind == Kind::Base) {
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
