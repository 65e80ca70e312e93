//! Keywords that stand side by side, joined into phrases.

use std::collections::HashMap;

use super::{Candidate, Found, NONE};

/// Words of a phrase at most.
const MAX_WORDS: usize = 4;

/// The phrases of the candidates that stand at `places`. Longer ones are taken first, and what they take is
/// no part of shorter ones. A phrase is as heavy as its words are on average. From `alone`, the occurrences
/// of each candidate, those inside of phrases are taken away.
pub(super) fn join<'t>(
    candidates: &[Candidate<'t>],
    mut places: Vec<u32>,
    alone: &mut [usize],
) -> Vec<Found<'t>> {
    let mut found = Vec::new();
    for len in (2..=MAX_WORDS).rev() {
        let mut taken: Vec<usize> = Vec::new();
        for at in together(candidates, &places, len) {
            let members = places[at[0]..at[0] + len].iter().map(|&number| &candidates[number as usize]);
            found.push(Found {
                words: members.clone().map(|c| c.text).collect(),
                first: at[0],
                weight: members.map(|c| c.weight).sum::<f32>() / len as f32,
            });
            taken.extend(at);
        }
        for place in taken.into_iter().flat_map(|at| at..at + len) {
            alone[places[place] as usize] -= 1;
            places[place] = NONE;
        }
    }
    found
}

/// Where each phrase of `len` words stands, in the order of the text and without overlaps. Its words stand
/// together often: at least as many times as they are, since long ones are repeated by quotation, and in half
/// of the occurrences of the rarest of them.
fn together(candidates: &[Candidate<'_>], places: &[u32], len: usize) -> Vec<Vec<usize>> {
    let mut counts: HashMap<&[u32], usize> = HashMap::new();
    for words in places.windows(len).filter(|words| is_possible(words)) {
        *counts.entry(words).or_default() += 1;
    }
    let is_often = |words: &[u32], count: usize| {
        let rarest = words.iter().map(|&number| candidates[number as usize].count).min().unwrap_or(0);
        count >= len && 2 * count >= rarest
    };
    let mut numbers: HashMap<&[u32], usize> = HashMap::new();
    let mut phrases: Vec<Vec<usize>> = Vec::new();
    let mut end = 0;
    for (at, words) in places.windows(len).enumerate() {
        let count = counts.get(words).copied();
        if at < end || !count.is_some_and(|count| is_often(words, count)) {
            continue;
        }
        end = at + len;
        let number = *numbers.entry(words).or_insert_with(|| {
            phrases.push(Vec::new());
            phrases.len() - 1
        });
        phrases[number].push(at);
    }
    // Overlaps may have left less than was counted.
    phrases.retain(|at| is_often(&places[at[0]..at[0] + len], at.len()));
    phrases
}

fn is_possible(words: &[u32]) -> bool {
    !words.contains(&NONE) && words.windows(2).all(|pair| pair[0] != pair[1])
}
