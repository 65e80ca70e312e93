//! DuplicateGroups of copies: who speaks for them, and in what the others differ.

use serde::{Deserialize, Serialize};

use super::MatchExtent;

/// What is known of a page besides its text.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct PageAttributes {
    /// When it was crawled first, in any unit.
    pub first_seen: i64,
    /// The number of its site.
    pub site: u32,
    /// A fingerprint of its layout, of which few bits differ within one template; 0 if unknown.
    pub layout: u32,
}

/// Bits in which the layouts of two pages of one template differ at most: an element more or less.
const SAME_LAYOUT: u32 = 4;

/// Whether two pages look alike.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutMatch {
    /// Nearly the same fingerprint of the layout.
    Same,
    /// Fingerprints that have nothing in common.
    Different,
    /// At least one has none.
    Unknown,
}

/// A page of a group beside its representative.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct GroupMember {
    /// Its number.
    pub page: u32,
    /// How much it has in common with the representative.
    pub extent: MatchExtent,
    /// Whether it looks like the representative.
    pub layout: LayoutMatch,
}

/// Pages in groups; a page without copies is a group of its own that is not listed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DuplicateGroups {
    /// The representative of each page, itself where it has no copies.
    representatives: Vec<u32>,
    /// The pages beside the representatives, those of a group together.
    members: Vec<GroupMember>,
    /// Representative and end of the members of each group, by representative.
    ends: Vec<(u32, u32)>,
}

impl DuplicateGroups {
    /// From the root of each page's set.
    pub(super) fn new(
        mut roots: Vec<u32>,
        facts: &[PageAttributes],
        extent: impl Fn(u32, u32) -> MatchExtent,
    ) -> Self {
        let facts = |page: u32| facts.get(page as usize).copied().unwrap_or_default();
        let seen = |page: u32| (facts(page).first_seen, page);
        let mut first: Vec<u32> = (0..roots.len() as u32).collect();
        for (page, root) in (0_u32..).zip(&roots) {
            let first = &mut first[*root as usize];
            if seen(page) < seen(*first) {
                *first = page;
            }
        }
        for root in &mut roots {
            *root = first[*root as usize];
        }
        drop(first);
        let mut copies: Vec<(u32, u32)> = Vec::new();
        copies.extend(
            (0_u32..).zip(&roots).filter(|(page, root)| page != *root).map(|(page, root)| (*root, page)),
        );
        copies.sort_unstable();
        let mut groups =
            Self { representatives: roots, members: Vec::with_capacity(copies.len()), ends: Vec::new() };
        for group in copies.chunk_by(|one, other| one.0 == other.0) {
            for (representative, page) in group {
                let layout = match (facts(*representative).layout, facts(*page).layout) {
                    (0, _) | (_, 0) => LayoutMatch::Unknown,
                    (one, other) if (one ^ other).count_ones() <= SAME_LAYOUT => LayoutMatch::Same,
                    _ => LayoutMatch::Different,
                };
                let extent = extent(*representative, *page);
                groups.members.push(GroupMember { page: *page, extent, layout });
            }
            groups.ends.push((group[0].0, groups.members.len() as u32));
        }
        groups
    }

    /// Is this what [`new`](Self::new) could have made? What comes from a file may be anything.
    pub(crate) fn is_consistent(&self) -> bool {
        let pages = self.representatives.len();
        let ends = self.ends.iter().map(|(_, end)| *end as usize);
        self.representatives.iter().all(|page| (*page as usize) < pages)
            && self.members.iter().all(|member| (member.page as usize) < pages)
            && self.ends.iter().all(|(representative, _)| (*representative as usize) < pages)
            && self.ends.is_sorted_by_key(|(representative, _)| *representative)
            && ends.clone().is_sorted()
            && ends.max().unwrap_or(0) == self.members.len()
    }

    /// How many pages there are, with copies and without.
    pub fn pages(&self) -> usize {
        self.representatives.len()
    }

    /// The page crawled first among the copies of a page, which may be the page itself.
    pub fn representative(&self, page: u32) -> u32 {
        self.representatives.get(page as usize).copied().unwrap_or(page)
    }

    /// DuplicateGroups of at least two pages: the representative, and the others by their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[GroupMember])> {
        (0..self.ends.len()).map(|group| (self.ends[group].0, self.members_of(group)))
    }

    /// The copies that a page's group has beside its representative; empty if there are none.
    pub fn members(&self, page: u32) -> &[GroupMember] {
        let representative = self.representative(page);
        let group = self.ends.binary_search_by_key(&representative, |(representative, _)| *representative);
        group.map_or(&[], |group| self.members_of(group))
    }

    /// MirrorGroup degree (镜像度): how many other pages say the same.
    pub fn mirror_degree(&self, page: u32) -> usize {
        self.members(page).len()
    }

    fn members_of(&self, group: usize) -> &[GroupMember] {
        let start = if group == 0 { 0 } else { self.ends[group - 1].1 as usize };
        &self.members[start..self.ends[group].1 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_no_page_are_unsound() {
        let member = GroupMember { page: 1, extent: MatchExtent::Whole, layout: LayoutMatch::Unknown };
        let good = DuplicateGroups { representatives: vec![0, 0], members: vec![member], ends: vec![(0, 1)] };
        assert!(good.is_consistent());
        let bad = [
            DuplicateGroups { ends: vec![(2, 1)], ..good.clone() },
            DuplicateGroups { ends: vec![(0, 2)], ..good.clone() },
            DuplicateGroups { representatives: vec![0, 2], ..good.clone() },
            DuplicateGroups { members: vec![GroupMember { page: 2, ..member }], ..good },
        ];
        assert!(bad.iter().all(|groups| !groups.is_consistent()));
    }
}
