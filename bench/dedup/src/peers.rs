//! The peers: gaoya, which has MinHash and SimHash with indexes, and the bare fingerprint of the crate simhash.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use gaoya::minhash::{MinHashIndex, MinHasher as _, MinHasher32, VecContainer};
use gaoya::simhash::{SimHash, SimHashIndex, SimSipHasher64};
use pharos_graph::duplicates::{ExactBytes, GroupBuilder, PageText};

use crate::contest::Contestant;

/// Bands and rows as in gaoya's example for a Jaccard similarity of 0.5.
const BANDS: usize = 42;
const ROWS: usize = 3;
/// Words per shingle and minimum similarity, as in Pharos.
const SHINGLE: usize = 3;
const SIMILARITY: f64 = 0.5;
/// gaoya accepts smaller distances than this, and of nine blocks two have no difference.
const DISTANCE: usize = 7;
const BLOCKS: usize = 9;

/// 126 minima of 32 bits.
struct GaoyaMinHash<B: BuildHasher> {
    signatures: Vec<Vec<u32>>,
    hasher: MinHasher32<B>,
}

pub fn gaoya_min_hash() -> impl Contestant {
    GaoyaMinHash { signatures: Vec::new(), hasher: MinHasher32::new(BANDS * ROWS) }
}

impl<B: BuildHasher> Contestant for GaoyaMinHash<B> {
    fn name(&self) -> String {
        format!("gaoya MinHash, J ≥ {SIMILARITY}")
    }

    fn sign(&mut self, texts: &[PageText]) {
        let sign = |text: &PageText| self.hasher.create_signature(text.words.windows(SHINGLE));
        self.signatures.extend(texts.iter().map(sign));
    }

    fn group(&mut self) -> Option<Vec<u32>> {
        let mut index = MinHashIndex::<u32, u32, VecContainer<u32>>::new_index(BANDS, ROWS, SIMILARITY);
        let signatures = std::mem::take(&mut self.signatures);
        let pages = signatures.len() as u32;
        for (page, signature) in (0..).zip(signatures) {
            index.insert(page, signature);
        }
        Some(united(pages, |page| index.query_by_id(&page).into_iter().copied().collect()))
    }

    fn bytes(&self) -> usize {
        self.signatures.iter().map(|signature| size_of_val(&signature[..])).sum()
    }
}

/// 64 bits of the distinct words, as in Pharos. With word frequencies, frequent words would make all pages similar, and
/// its time would be quadratic.
pub struct GaoyaSimHash {
    signatures: Vec<u64>,
    distinct_words: Vec<Vec<String>>,
    hasher: SimHash<SimSipHasher64, u64, 64>,
}

impl Default for GaoyaSimHash {
    fn default() -> Self {
        let hasher = SimHash::new(SimSipHasher64::new(1, 2));
        Self { signatures: Vec::new(), distinct_words: Vec::new(), hasher }
    }
}

impl Contestant for GaoyaSimHash {
    fn name(&self) -> String {
        format!("gaoya SimHash, ≤ {} bits", DISTANCE - 1)
    }

    fn prepare(&mut self, texts: &[PageText]) {
        let distinct = |text: &PageText| {
            let words: BTreeSet<&str> = text.words.iter().copied().collect();
            words.into_iter().map(str::to_string).collect()
        };
        self.distinct_words = texts.iter().map(distinct).collect();
    }

    fn sign(&mut self, _texts: &[PageText]) {
        let sign = |words: &Vec<String>| self.hasher.create_signature(words.iter());
        self.signatures.extend(self.distinct_words.iter().map(sign));
    }

    fn group(&mut self) -> Option<Vec<u32>> {
        let mut index = SimHashIndex::<u64, u32>::new(BLOCKS, DISTANCE);
        for (page, signature) in (0..).zip(&self.signatures) {
            index.insert(page, *signature);
        }
        let near = |page: u32| index.query(&self.signatures[page as usize]).into_iter().copied().collect();
        Some(united(self.signatures.len() as u32, near))
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.signatures[..])
    }
}

/// The fingerprint of the crate simhash, which has no index.
#[derive(Default)]
pub struct BareSimHash {
    signatures: Vec<u64>,
}

impl Contestant for BareSimHash {
    fn name(&self) -> String {
        "simhash, fingerprint alone".to_string()
    }

    fn sign(&mut self, texts: &[PageText]) {
        let sign = |text: &PageText| simhash::simhash_stream(text.words.iter().copied());
        self.signatures.extend(texts.iter().map(sign));
    }

    fn group(&mut self) -> Option<Vec<u32>> {
        None
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.signatures[..])
    }
}

/// Returns the connected components of the similarity relation.
fn united(pages: u32, near: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let mut grouping = GroupBuilder::new(pages as usize);
    for page in 0..pages {
        near(page).into_iter().for_each(|other| grouping.unite(page, other));
    }
    let groups = grouping.finish(&ExactBytes, &[], &[]);
    (0..pages).map(|page| groups.representative(page)).collect()
}
