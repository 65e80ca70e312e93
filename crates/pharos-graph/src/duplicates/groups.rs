//! Duplicate groups, their representatives and the differences of the other members.

use serde::{Deserialize, Serialize};

use super::MatchExtent;

/// Attributes of a page besides its text.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct PageAttributes {
    /// Time of the first crawl, in any unit.
    pub first_seen: i64,
    /// Site number.
    pub site: u32,
    /// Layout fingerprint, of which few bits differ within a template; 0 if unknown.
    pub layout: u32,
}

/// Maximum number of differing bits for the same layout, which allows for an element more or less.
const MAX_LAYOUT_BITS: u32 = 4;

/// Comparison of two layouts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutMatch {
    /// Nearly equal layout fingerprints.
    Same,
    /// Different layout fingerprints.
    Different,
    /// At least one layout is unknown.
    Unknown,
}

/// A member of a group other than its representative.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct GroupMember {
    pub page: u32,
    /// Content in common with the representative.
    pub extent: MatchExtent,
    /// Layout compared with the representative.
    pub layout: LayoutMatch,
}

/// Pages partitioned into groups. Groups of one page are not listed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DuplicateGroups {
    /// Representative of each page, itself if it has no copies.
    representatives: Vec<u32>,
    /// Members other than representatives, group by group.
    members: Vec<GroupMember>,
    /// Representative and end of the members of each group, by representative.
    ends: Vec<(u32, u32)>,
}

impl DuplicateGroups {
    /// Creates the groups from the root of each page's set.
    pub(super) fn new(
        mut roots: Vec<u32>,
        attributes: &[PageAttributes],
        extent: impl Fn(u32, u32) -> MatchExtent,
    ) -> Self {
        let attributes = |page: u32| attributes.get(page as usize).copied().unwrap_or_default();
        let first_seen = |page: u32| (attributes(page).first_seen, page);
        let mut first: Vec<u32> = (0..roots.len() as u32).collect();
        for (page, root) in (0_u32..).zip(&roots) {
            let first = &mut first[*root as usize];
            if first_seen(page) < first_seen(*first) {
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
                let layout = match (attributes(*representative).layout, attributes(*page).layout) {
                    (0, _) | (_, 0) => LayoutMatch::Unknown,
                    (one, other) if (one ^ other).count_ones() <= MAX_LAYOUT_BITS => LayoutMatch::Same,
                    _ => LayoutMatch::Different,
                };
                let extent = extent(*representative, *page);
                groups.members.push(GroupMember { page: *page, extent, layout });
            }
            groups.ends.push((group[0].0, groups.members.len() as u32));
        }
        groups
    }

    /// Returns `true` if all numbers are in range; used for groups read from a file.
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

    /// Returns the number of pages, including pages without copies.
    pub fn pages(&self) -> usize {
        self.representatives.len()
    }

    /// Returns the page crawled first among the copies of a page, which may be the page itself.
    pub fn representative(&self, page: u32) -> u32 {
        self.representatives.get(page as usize).copied().unwrap_or(page)
    }

    /// Returns the groups of at least two pages: representative and other members.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[GroupMember])> {
        (0..self.ends.len()).map(|group| (self.ends[group].0, self.members_of(group)))
    }

    /// Returns the members of a page's group other than the representative, empty for a page without copies.
    pub fn members(&self, page: u32) -> &[GroupMember] {
        let representative = self.representative(page);
        let group = self.ends.binary_search_by_key(&representative, |(representative, _)| *representative);
        group.map_or(&[], |group| self.members_of(group))
    }

    /// Returns the mirror degree (镜像度): the number of other pages with the same content.
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
