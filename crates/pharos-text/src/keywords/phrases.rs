//! Joins adjacent keywords into phrases.

use std::collections::HashMap;

use super::{KeywordCandidate, NONE, WeightedPhrase};

/// Maximum number of words in a phrase.
const MAX_WORDS: usize = 4;

/// Returns the phrases of the candidates at `positions`.
///
/// Longer phrases are formed first, and their words are not available to shorter ones. The weight of a phrase
/// is the mean weight of its words. Occurrences inside phrases are subtracted from `alone`, the occurrences
/// of each candidate.
pub(super) fn find_phrases<'t>(
    candidates: &[KeywordCandidate<'t>],
    mut positions: Vec<u32>,
    alone: &mut [usize],
) -> Vec<WeightedPhrase<'t>> {
    let mut found = Vec::new();
    for len in (2..=MAX_WORDS).rev() {
        let mut taken: Vec<usize> = Vec::new();
        for at in phrase_positions(candidates, &positions, len) {
            let members = positions[at[0]..at[0] + len].iter().map(|&number| &candidates[number as usize]);
            found.push(WeightedPhrase {
                words: members.clone().map(|c| c.text).collect(),
                first: at[0],
                weight: members.map(|c| c.weight).sum::<f32>() / len as f32,
            });
            taken.extend(at);
        }
        for place in taken.into_iter().flat_map(|at| at..at + len) {
            alone[positions[place] as usize] -= 1;
            positions[place] = NONE;
        }
    }
    found
}

/// Returns the positions of each phrase of `len` words, in text order and without overlaps. The words of a
/// phrase must co-occur often: at least `len` times, since long ones are repeated by quotation, and in half
/// of the occurrences of the rarest word.
fn phrase_positions(candidates: &[KeywordCandidate<'_>], positions: &[u32], len: usize) -> Vec<Vec<usize>> {
    let mut counts: HashMap<&[u32], usize> = HashMap::new();
    for words in positions.windows(len).filter(|words| is_phrase_candidate(words)) {
        *counts.entry(words).or_default() += 1;
    }
    let is_often = |words: &[u32], count: usize| {
        let rarest = words.iter().map(|&number| candidates[number as usize].count).min().unwrap_or(0);
        count >= len && 2 * count >= rarest
    };
    let mut numbers: HashMap<&[u32], usize> = HashMap::new();
    let mut phrases: Vec<Vec<usize>> = Vec::new();
    let mut end = 0;
    for (at, words) in positions.windows(len).enumerate() {
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
    // Overlaps may have reduced the counts.
    phrases.retain(|at| is_often(&positions[at[0]..at[0] + len], at.len()));
    phrases
}

fn is_phrase_candidate(words: &[u32]) -> bool {
    !words.contains(&NONE) && words.windows(2).all(|pair| pair[0] != pair[1])
}
