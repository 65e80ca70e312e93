//! From signatures to groups: candidates by keys, verified, joined.

use super::labels::{Groups, PageFacts};
use super::{Extent, Method};

/// Pages of one key that a further page is compared with. More than one, since different pages may share a key; a fixed
/// number, since a million pages may.
const MOST_LEADERS: usize = 8;

/// Sets of pages that are copies of each other, joined step by step by any number of methods and by what is known from
/// elsewhere (redirects, canonical addresses).
#[derive(Clone, Debug)]
pub struct Grouping {
    /// For each page, another one of its set that is nearer to the root; for the root, itself.
    parent: Vec<u32>,
}

impl Grouping {
    /// Pages 0 to `pages` − 1, each alone.
    ///
    /// # Panics
    /// If there are 2³² pages or more: pages of a graph have numbers of 32 bits.
    pub fn new(pages: usize) -> Self {
        assert!(u32::try_from(pages).is_ok(), "pages have numbers of 32 bits");
        Self { parent: (0..pages as u32).collect() }
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
    pub fn join<M: Method>(&mut self, method: &M, signatures: &[Option<M::Signature>]) {
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

    fn join_candidates<M: Method>(
        &mut self,
        method: &M,
        signatures: &[Option<M::Signature>],
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
                if leaders.len() == MOST_LEADERS {
                    leaders.remove(0);
                }
                leaders.push(page);
            }
        }
    }

    /// The groups, with the page seen first as the representative of each; `method` and its signatures say how much of
    /// the representative each copy has.
    pub fn finish<M: Method>(
        mut self,
        method: &M,
        signatures: &[Option<M::Signature>],
        facts: &[PageFacts],
    ) -> Groups {
        for page in 0..self.parent.len() as u32 {
            self.parent[page as usize] = self.root(page);
        }
        Groups::new(self.parent, facts, |one, other| {
            let signature = |page: u32| signatures.get(page as usize)?.as_ref();
            match (signature(one), signature(other)) {
                // Joined through a third page.
                (Some(one), Some(other)) => method.compare(one, other).unwrap_or(Extent::Partial),
                // Too short for this method, so joined by one that asks for equality.
                _ => Extent::Whole,
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
