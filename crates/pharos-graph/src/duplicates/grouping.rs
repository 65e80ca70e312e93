//! From signatures to groups: candidates by keys, verified, joined.

use super::groups::{DuplicateGroups, PageAttributes};
use super::{DuplicateDetector, MatchExtent};

/// Pages of one key that a further page is compared with. More than one, since different pages may share a key; a fixed
/// number, since a million pages may.
const MAX_LEADERS: usize = 8;

/// Sets of pages that are copies of each other, joined step by step by any number of methods and by what is known from
/// elsewhere (redirects, canonical addresses).
#[derive(Clone, Debug)]
pub struct GroupBuilder {
    /// For each page, another one of its set that is nearer to the root; for the root, itself.
    parent: Vec<u32>,
    /// The sets before the first method: what is known from elsewhere, and stays whatever a method says.
    known: Option<Vec<u32>>,
}

impl GroupBuilder {
    /// Pages 0 to `pages` − 1, each alone.
    ///
    /// # Panics
    /// If there are 2³² pages or more: pages of a graph have numbers of 32 bits.
    pub fn new(pages: usize) -> Self {
        assert!(u32::try_from(pages).is_ok(), "pages have numbers of 32 bits");
        Self { parent: (0..pages as u32).collect(), known: None }
    }

    /// Two pages known to be the same. Numbers of no page are passed over.
    pub fn unite(&mut self, one: u32, other: u32) {
        let pages = self.parent.len();
        if (one as usize) < pages && (other as usize) < pages {
            let (one, other) = (self.root(one), self.root(other));
            // The smaller number becomes the root, so that the order of joining does not matter.
            self.parent[one.max(other) as usize] = one.min(other);
        }
    }

    /// Joins the pages that a method takes for copies; `signatures[page]` is none where a page has too little text.
    ///
    /// A table of candidates is made for one band at a time: 8 bytes a page, whatever the number of bands.
    pub fn join<M: DuplicateDetector>(&mut self, method: &M, signatures: &[Option<M::PageSignature>]) {
        for page in 0..self.parent.len() as u32 {
            self.parent[page as usize] = self.root(page);
        }
        self.known.get_or_insert_with(|| self.parent.clone());
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
            // All of them, even after the first match: a page may be the link between two groups.
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
                // The oldest leader goes: texts that change over time are compared with their latest forms.
                if leaders.len() == MAX_LEADERS {
                    leaders.remove(0);
                }
                leaders.push(page);
            }
        }
    }

    /// The groups, with the page seen first as the representative of each; `method` and its signatures say how much of
    /// the representative each copy has.
    pub fn finish<M: DuplicateDetector>(
        mut self,
        method: &M,
        signatures: &[Option<M::PageSignature>],
        facts: &[PageAttributes],
    ) -> DuplicateGroups {
        for page in 0..self.parent.len() as u32 {
            self.parent[page as usize] = self.root(page);
        }
        if let Some(known) = &self.known {
            split_chains(&mut self.parent, known, method, signatures, facts);
        }
        DuplicateGroups::new(self.parent, facts, |one, other| {
            let signature = |page: u32| signatures.get(page as usize)?.as_ref();
            match (signature(one), signature(other)) {
                // Joined through a third page.
                (Some(one), Some(other)) => method.compare(one, other).unwrap_or(MatchExtent::Partial),
                // Too short for this method, so joined by one that asks for equality.
                _ => MatchExtent::Whole,
            }
        })
    }

    /// The root of a page's set; the way there is halved for the next time.
    pub(super) fn root(&mut self, mut page: u32) -> u32 {
        while self.parent[page as usize] != page {
            let parent = self.parent[page as usize];
            self.parent[page as usize] = self.parent[parent as usize];
            page = parent;
        }
        page
    }
}

/// How often a group is looked at for pages that are no copies of its representative. What is left then is alone.
const MAX_SPLITS: usize = 16;

/// Takes chains apart: A may be like B and B like C, and A and C have nothing in common. A page stays in its group if it
/// is a copy of the page seen first or of the fullest copy of that, of which others may be parts; those that are neither make
/// groups among themselves.
fn split_chains<M: DuplicateDetector>(
    roots: &mut [u32],
    known: &[u32],
    method: &M,
    signatures: &[Option<M::PageSignature>],
    facts: &[PageAttributes],
) {
    let seen = |page: u32| (facts.get(page as usize).map_or(0, |facts| facts.first_seen), page);
    let signature = |page: u32| signatures.get(page as usize)?.as_ref();
    // Pages known to be the same go together: only one of each such set is looked at.
    let mut order: Vec<(u32, u32)> = (0..)
        .zip(known)
        .filter(|(page, set)| page == *set)
        .map(|(page, _)| (roots[page as usize], page))
        .collect();
    order.sort_unstable_by_key(|(root, page)| (*root, seen(*page)));
    let mut new_roots: Vec<(u32, u32)> = Vec::new();
    for group in order.chunk_by(|one, other| one.0 == other.0).filter(|group| group.len() > 2) {
        let mut left: Vec<u32> = group.iter().map(|(_, page)| *page).collect();
        for cut in 0.. {
            let Some(&first) = left.first() else { break };
            let like = |page: u32, other: u32| match (signature(page), signature(other)) {
                (Some(one), Some(other)) => method.compare(one, other).is_some(),
                _ => true,
            };
            let size = |page: u32| signature(page).map_or(0, |signature| method.size(signature));
            let likes = left.iter().copied().filter(|page| like(*page, first));
            let fullest = likes.max_by_key(|page| size(*page)).unwrap_or(first);
            let is_copy = |page: u32| page == first || like(page, first) || like(page, fullest);
            let (stay, go): (Vec<u32>, Vec<u32>) =
                left.iter().partition(|page| cut < MAX_SPLITS && is_copy(**page));
            let alone = stay.is_empty();
            new_roots.extend(stay.into_iter().map(|page| (page, first)));
            left = go;
            if alone {
                new_roots.extend(left.iter().map(|page| (*page, *page)));
                break;
            }
        }
    }
    for (page, root) in new_roots {
        roots[page as usize] = root;
    }
    for page in 0..roots.len() {
        roots[page] = roots[known[page] as usize];
    }
}
