//! Groups pages by signature: candidates share a key, are verified, and are joined by union-find.

use super::groups::{DuplicateGroups, PageAttributes};
use super::{DuplicateDetector, MatchExtent};

/// Maximum number of pages of one key that another page is compared with. Different pages may share a key, so it is
/// more than one; a million pages may share a key, so it is bounded.
const MAX_LEADERS: usize = 8;

/// Builds duplicate groups step by step, from any number of detectors and from known equalities (redirects, canonical
/// URLs).
#[derive(Clone, Debug)]
pub struct GroupBuilder {
    /// Union-find forest: for each page its parent, for a root the page itself.
    parent: Vec<u32>,
    /// Sets known before the first detector ran; detectors never split them.
    known_sets: Option<Vec<u32>>,
}

impl GroupBuilder {
    /// Creates a builder for pages 0 to `pages` − 1, each in its own set.
    ///
    /// # Panics
    /// If there are 2³² pages or more.
    pub fn new(pages: usize) -> Self {
        assert!(u32::try_from(pages).is_ok(), "page numbers have 32 bits");
        Self { parent: (0..pages as u32).collect(), known_sets: None }
    }

    /// Joins two pages known to be equal. Invalid page numbers are skipped.
    pub fn unite(&mut self, one: u32, other: u32) {
        let pages = self.parent.len();
        if (one as usize) < pages && (other as usize) < pages {
            let (one, other) = (self.root(one), self.root(other));
            // The smaller number becomes the root, so that the result does not depend on the order of joins.
            self.parent[one.max(other) as usize] = one.min(other);
        }
    }

    /// Joins the pages that a detector accepts as copies. `signatures[page]` is `None` if the page has too little text.
    ///
    /// The candidate table covers one band at a time: 8 bytes per page, for any number of bands.
    pub fn join<M: DuplicateDetector>(&mut self, method: &M, signatures: &[Option<M::PageSignature>]) {
        for page in 0..self.parent.len() as u32 {
            self.parent[page as usize] = self.root(page);
        }
        self.known_sets.get_or_insert_with(|| self.parent.clone());
        let mut candidates: Vec<u64> = Vec::with_capacity(signatures.len());
        for band in 0..method.bands() {
            candidates.clear();
            let pages = signatures.iter().take(self.parent.len()).enumerate();
            candidates.extend(pages.filter_map(|(page, signature)| {
                let key = method.key(signature.as_ref()?, band)?;
                Some(u64::from(key) << 32 | page as u64)
            }));
            candidates.sort_unstable();
            for same_key in candidates.chunk_by(|one, other| one >> 32 == other >> 32) {
                self.join_candidates(method, signatures, same_key);
            }
        }
    }

    fn join_candidates<M: DuplicateDetector>(
        &mut self,
        method: &M,
        signatures: &[Option<M::PageSignature>],
        same_key: &[u64],
    ) {
        let mut leaders: Vec<u32> = Vec::new();
        for page in same_key.iter().map(|candidate| *candidate as u32) {
            let Some(signature) = &signatures[page as usize] else { continue };
            // All leaders are compared, even after a match: a page may connect two groups.
            for leader in &leaders {
                let other = signatures[*leader as usize].as_ref();
                if self.root(*leader) != self.root(page)
                    && other.is_some_and(|other| method.compare(other, signature).is_some())
                {
                    self.unite(*leader, page);
                }
            }
            let root = self.root(page);
            let is_new = leaders.iter().all(|leader| self.root(*leader) != root);
            if is_new {
                // The oldest leader is dropped: changing texts are compared with their latest versions.
                if leaders.len() == MAX_LEADERS {
                    leaders.remove(0);
                }
                leaders.push(page);
            }
        }
    }

    /// Returns the groups, each with the page seen first as representative. `method` and its signatures determine the
    /// extent of each copy.
    pub fn finish<M: DuplicateDetector>(
        mut self,
        method: &M,
        signatures: &[Option<M::PageSignature>],
        attributes: &[PageAttributes],
    ) -> DuplicateGroups {
        for page in 0..self.parent.len() as u32 {
            self.parent[page as usize] = self.root(page);
        }
        if let Some(known_sets) = &self.known_sets {
            split_chains(&mut self.parent, known_sets, method, signatures, attributes);
        }
        DuplicateGroups::new(self.parent, attributes, |one, other| {
            let signature = |page: u32| signatures.get(page as usize)?.as_ref();
            match (signature(one), signature(other)) {
                // Joined through a third page.
                (Some(one), Some(other)) => method.compare(one, other).unwrap_or(MatchExtent::Partial),
                // Too short for this detector, so joined by exact equality.
                _ => MatchExtent::Whole,
            }
        })
    }

    /// Returns the root of a page's set, with path halving.
    pub(super) fn root(&mut self, mut page: u32) -> u32 {
        while self.parent[page as usize] != page {
            let parent = self.parent[page as usize];
            self.parent[page as usize] = self.parent[parent as usize];
            page = parent;
        }
        page
    }
}

/// Maximum number of splits per group; pages left over become single.
const MAX_SPLITS: usize = 16;

/// Splits chains: A may be similar to B and B to C while A and C have nothing in common. A page stays in its group if
/// it is a copy of the page seen first, or of the fullest copy of that page. The remaining pages form groups among
/// themselves.
fn split_chains<M: DuplicateDetector>(
    roots: &mut [u32],
    known_sets: &[u32],
    method: &M,
    signatures: &[Option<M::PageSignature>],
    attributes: &[PageAttributes],
) {
    let first_seen =
        |page: u32| (attributes.get(page as usize).map_or(0, |attributes| attributes.first_seen), page);
    let signature = |page: u32| signatures.get(page as usize)?.as_ref();
    // Sets of known equal pages stay together: only their root is examined.
    let mut order: Vec<(u32, u32)> = (0..)
        .zip(known_sets)
        .filter(|(page, set)| page == *set)
        .map(|(page, _)| (roots[page as usize], page))
        .collect();
    order.sort_unstable_by_key(|(root, page)| (*root, first_seen(*page)));
    let mut new_roots: Vec<(u32, u32)> = Vec::new();
    for group in order.chunk_by(|one, other| one.0 == other.0).filter(|group| group.len() > 2) {
        let mut remaining: Vec<u32> = group.iter().map(|(_, page)| *page).collect();
        for split in 0.. {
            let Some(&first) = remaining.first() else { break };
            let is_similar = |page: u32, other: u32| match (signature(page), signature(other)) {
                (Some(one), Some(other)) => method.compare(one, other).is_some(),
                _ => true,
            };
            let size = |page: u32| signature(page).map_or(0, |signature| method.size(signature));
            let similar = remaining.iter().copied().filter(|page| is_similar(*page, first));
            let fullest = similar.max_by_key(|page| size(*page)).unwrap_or(first);
            let is_copy = |page: u32| page == first || is_similar(page, first) || is_similar(page, fullest);
            let (stay, rest): (Vec<u32>, Vec<u32>) =
                remaining.iter().partition(|page| split < MAX_SPLITS && is_copy(**page));
            let is_last = stay.is_empty();
            new_roots.extend(stay.into_iter().map(|page| (page, first)));
            remaining = rest;
            if is_last {
                new_roots.extend(remaining.iter().map(|page| (*page, *page)));
                break;
            }
        }
    }
    for (page, root) in new_roots {
        roots[page as usize] = root;
    }
    for page in 0..roots.len() {
        roots[page] = roots[known_sets[page] as usize];
    }
}
