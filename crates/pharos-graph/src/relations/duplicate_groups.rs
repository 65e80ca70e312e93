//! Queries on duplicate groups and mirrors, without hidden pages.

use std::collections::HashMap;

use pharos_core::SiteName;

use super::Relations;
use crate::duplicates::mirrors::{MirrorOptions, MirrorPair, alias_groups, mirror_pairs};
use crate::duplicates::{GroupMember, MinHashSignature};

/// Pages with the same or nearly the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// The page crawled first.
    pub representative: u32,
    /// The other pages.
    pub members: Vec<GroupMember>,
}

impl Relations {
    /// Returns the representative of a page's group of exact and near copies, which is the page crawled first. Returns
    /// `None` for a page without copies.
    pub fn representative(&self, page: u32) -> Option<u32> {
        if !self.hidden.is_empty() {
            return self.group(page).map(|group| group.representative);
        }
        let text = self.copies.text(page)?;
        let representative = self.copies.groups.representative(text);
        let alone = self.copies.groups.members(text).is_empty();
        (!alone).then(|| self.copies.page(representative))
    }

    /// Returns the number of other pages with the same content (镜像度).
    pub fn mirror_degree(&self, page: u32) -> u32 {
        if !self.hidden.is_empty() {
            return self.group(page).map_or(0, |group| group.members.len() as u32);
        }
        let text = self.copies.text(page);
        text.map_or(0, |text| self.copies.groups.mirror_degree(text) as u32)
    }

    /// Returns the representative of all pages with exactly the same words, mostly the page itself.
    pub fn original(&self, page: u32) -> u32 {
        let text = self.copies.text(page);
        text.map_or(page, |text| self.copies.page(self.copies.exact[text as usize]))
    }

    /// Returns the exact copies by representative.
    pub fn exact_copies(&self) -> HashMap<u32, Vec<u32>> {
        let mut copies: HashMap<u32, Vec<u32>> = HashMap::new();
        for (text, original) in (0..).zip(&self.copies.exact).filter(|(text, original)| text != *original) {
            copies.entry(self.copies.page(*original)).or_default().push(self.copies.page(text));
        }
        copies
    }

    /// Returns the signature of a page. Signatures exist only in newly built relations, not in loaded ones.
    pub fn signature(&self, page: u32) -> Option<&MinHashSignature> {
        self.copies.signatures.get(self.copies.text(page)? as usize)?.as_ref()
    }

    /// Returns the duplicate groups, largest first.
    pub fn groups(&self) -> Vec<DuplicateGroup> {
        let all = self.copies.groups.iter();
        let mut groups: Vec<DuplicateGroup> =
            all.filter_map(|(representative, members)| self.visible_group(representative, members)).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
        groups
    }

    /// Returns the duplicate group of a page, or `None` for a page without copies.
    pub fn group(&self, page: u32) -> Option<DuplicateGroup> {
        let text = self.copies.text(page)?;
        self.visible_group(self.copies.groups.representative(text), self.copies.groups.members(text))
    }

    /// Converts a group of texts to a group of visible pages, or `None` if fewer than two are left. If the
    /// representative is hidden, the next member replaces it.
    fn visible_group(&self, representative: u32, members: &[GroupMember]) -> Option<DuplicateGroup> {
        let members =
            members.iter().map(|member| GroupMember { page: self.copies.page(member.page), ..*member });
        let mut members: Vec<GroupMember> = members.filter(|member| !self.is_hidden(member.page)).collect();
        let first = self.copies.page(representative);
        let representative =
            if self.is_hidden(first) && !members.is_empty() { members.remove(0).page } else { first };
        (!members.is_empty()).then_some(DuplicateGroup { representative, members })
    }

    /// Returns the pages with a text, which are the pages compared for duplicates.
    pub fn pages_with_text(&self) -> impl Iterator<Item = u32> {
        self.copies.pages.iter().copied().filter(|page| !self.is_hidden(*page))
    }

    /// Returns the pairs of sites that mirror each other.
    pub fn mirrors(&self, options: &MirrorOptions) -> Vec<MirrorPair> {
        let mut pairs = mirror_pairs(&self.copies.groups, &self.copies.attributes, options);
        pairs.retain(|pair| !self.is_site_hidden(pair.one) && !self.is_site_hidden(pair.other));
        pairs
    }

    /// Returns groups of mirror sites; the first site of a group is the preferred name.
    pub fn aliases(&self, options: &MirrorOptions) -> Vec<Vec<u32>> {
        let names: Vec<&str> = self.sites.names.iter().map(SiteName::as_str).collect();
        alias_groups(&self.mirrors(options), &names)
    }
}
