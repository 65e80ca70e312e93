//! The vocabulary of a classifier: its features with their weights.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::terms::{TermKind, analysed_text, for_each_term};
use super::vector::SparseVector;

/// Number of distinct terms at which terms of one text are dropped while a vocabulary is counted (about 100 MB).
const MAX_COUNTED: usize = 6_000_000;

/// Documents above which a term must occur in two of them.
const LARGE_COLLECTION: usize = 20_000;

/// Features of a classifier: hashes of terms, each with its inverse document frequency.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Vocabulary {
    kind: TermKind,
    /// Ascending, without repetitions. The place of a hash is the index of its feature.
    hashes: Vec<u32>,
    /// Inverse document frequencies, parallel to `hashes`.
    idf: Vec<f32>,
    /// Vectors get length 1.
    unit_length: bool,
    #[serde(skip)]
    table: HashTable,
}

/// Open addressing with linear probing: finds the index of a hash with one access to memory.
#[derive(Clone, Debug, Default)]
struct HashTable(Vec<(u32, u32)>);

impl HashTable {
    /// Marks an empty place.
    const EMPTY: u32 = u32::MAX;

    fn new(hashes: &[u32]) -> Self {
        let size = (2 * hashes.len()).next_power_of_two().max(2);
        let mut places = vec![(0, Self::EMPTY); size];
        for (index, &hash) in (0u32..).zip(hashes) {
            let mut at = hash as usize & (size - 1);
            while places[at].1 != Self::EMPTY {
                at = (at + 1) & (size - 1);
            }
            places[at] = (hash, index);
        }
        Self(places)
    }

    fn find(&self, hash: u32) -> Option<u32> {
        let mask = self.0.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            match self.0[at] {
                (_, Self::EMPTY) => return None,
                (found, index) if found == hash => return Some(index),
                _ => at = (at + 1) & mask,
            }
        }
    }
}

impl Vocabulary {
    /// Builds the vocabulary of texts. Keeps at most `limit` terms, those in most texts.
    pub fn build(kind: TermKind, texts: &[&str], limit: usize) -> Self {
        let mut frequency: HashMap<u32, u32, FixedState> = HashMap::default();
        for chunk in texts.chunks(1024) {
            let terms: Vec<Vec<u32>> = chunk.par_iter().map(|text| distinct_terms(kind, text)).collect();
            for hash in terms.into_iter().flatten() {
                *frequency.entry(hash).or_insert(0) += 1;
            }
            if frequency.len() > MAX_COUNTED {
                frequency.retain(|_, count| *count > 1);
            }
        }
        let least = if texts.len() > LARGE_COLLECTION { 2 } else { 1 };
        let mut terms: Vec<(u32, u32)> = frequency.into_iter().filter(|&(_, count)| count >= least).collect();
        terms.sort_unstable_by_key(|&(hash, count)| (std::cmp::Reverse(count), hash));
        terms.truncate(limit);
        Self::from_frequencies(kind, terms, texts.len())
    }

    fn from_frequencies(kind: TermKind, mut terms: Vec<(u32, u32)>, documents: usize) -> Self {
        terms.sort_unstable();
        let hashes: Vec<u32> = terms.iter().map(|&(hash, _)| hash).collect();
        // As if one more document contained every term: no division by zero, no weight of zero.
        let idf = |df: u32| ((1.0 + documents as f64) / (1.0 + f64::from(df))).ln() as f32 + 1.0;
        let idf = terms.iter().map(|&(_, count)| idf(count)).collect();
        let table = HashTable::new(&hashes);
        Self { kind, hashes, idf, unit_length: true, table }
    }

    /// Completes a vocabulary that was read from a file. Returns `false` if it is invalid.
    pub(crate) fn complete(&mut self) -> bool {
        let is_valid = self.hashes.len() == self.idf.len()
            && self.hashes.len() < HashTable::EMPTY as usize
            && self.hashes.is_sorted_by(|a, b| a < b)
            && self.idf.iter().all(|idf| idf.is_finite());
        if is_valid {
            self.table = HashTable::new(&self.hashes);
        }
        is_valid
    }

    /// Returns the vocabulary of the features that `keep` lists in ascending order.
    #[must_use]
    pub fn restricted(&self, keep: &[u32]) -> Self {
        let hashes: Vec<u32> = keep.iter().map(|&index| self.hashes[index as usize]).collect();
        let idf = keep.iter().map(|&index| self.idf[index as usize]).collect();
        let table = HashTable::new(&hashes);
        Self { kind: self.kind, hashes, idf, unit_length: self.unit_length, table }
    }

    /// Leaves vectors as long as they are, for distances that depend on it.
    #[must_use]
    pub fn without_unit_length(mut self) -> Self {
        self.unit_length = false;
        self
    }

    /// Returns the number of features.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns `true` if there are no features.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the kind of terms.
    pub fn kind(&self) -> TermKind {
        self.kind
    }

    /// Returns the vector of a text: (1 + ln tf) · idf, normally of length 1. A text without known terms has the zero vector.
    pub fn vector(&self, text: &str) -> SparseVector {
        let text = analysed_text(text);
        let mut found: Vec<u32> = Vec::new();
        for_each_term(self.kind, &text, &mut |hash, _| found.extend(self.table.find(hash)));
        found.sort_unstable();
        let pairs = found.chunk_by(|a, b| a == b).map(|equal| {
            let tf = 1.0 + (equal.len() as f32).ln();
            (equal[0], tf * self.idf[equal[0] as usize])
        });
        let mut vector = SparseVector::from_pairs(pairs.collect());
        if self.unit_length {
            vector.normalise();
        }
        vector
    }

    /// Returns the feature and the text of each distinct known term, in order of first occurrence.
    pub fn known_terms(&self, text: &str) -> Vec<(u32, String)> {
        let text = analysed_text(text);
        let mut seen = std::collections::HashSet::new();
        let mut terms = Vec::new();
        for_each_term(self.kind, &text, &mut |hash, span: Range<usize>| {
            if let Some(index) = self.table.find(hash)
                && seen.insert(index)
            {
                terms.push((index, text.get(span).unwrap_or_default().to_string()));
            }
        });
        terms
    }
}

fn distinct_terms(kind: TermKind, text: &str) -> Vec<u32> {
    let text = analysed_text(text);
    let mut terms = Vec::new();
    for_each_term(kind, &text, &mut |hash, _| terms.push(hash));
    terms.sort_unstable();
    terms.dedup();
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more_and_vectors_have_length_one() {
        let texts = ["apple pie", "apple cake", "apple pie pie"];
        let vocabulary = Vocabulary::build(TermKind::Words, &texts, 100);
        assert_eq!(vocabulary.len(), 3);
        let vector = vocabulary.vector("apple cake");
        assert!((vector.norm() - 1.0).abs() < 1e-6);
        let weights: Vec<f32> = vector.pairs().iter().map(|&(_, weight)| weight).collect();
        // idf of apple ln(4/4)+1 = 1, of cake ln(4/2)+1 = 1.693.
        let ratio = weights[0].max(weights[1]) / weights[0].min(weights[1]);
        assert!((ratio - 1.693).abs() < 1e-3, "{ratio}");
        assert!(vocabulary.vector("unknown words").is_empty());
        assert_eq!(vocabulary.known_terms("cake with pie")[0].1, "cake");
    }

    #[test]
    fn the_limit_keeps_frequent_terms() {
        let vocabulary = Vocabulary::build(TermKind::Words, &["apple pie", "apple cake"], 1);
        assert_eq!(vocabulary.known_terms("pie apple cake").len(), 1);
        assert_eq!(vocabulary.known_terms("pie apple cake")[0].1, "apple");
        assert!(Vocabulary::build(TermKind::NGrams, &[], 10).vector("x").is_empty());
    }

    #[test]
    fn invalid_vocabularies_are_rejected() {
        let mut vocabulary = Vocabulary::build(TermKind::Words, &["apple pie"], 10);
        assert!(vocabulary.complete());
        vocabulary.hashes.reverse();
        assert!(!vocabulary.complete());
    }
}
