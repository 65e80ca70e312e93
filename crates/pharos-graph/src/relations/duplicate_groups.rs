//! CopyTables as the relations tell of them, without those that are hidden.

use std::collections::HashMap;

use pharos_core::SiteName;

use super::Relations;
use crate::duplicates::mirrors::{MirrorOptions, MirrorPair, alias_groups, mirror_pairs};
use crate::duplicates::{GroupMember, MinHashSignature};

/// Pages that say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// The one crawled first.
    pub representative: u32,
    /// The others.
    pub members: Vec<GroupMember>,
}

impl Relations {
    /// The page that speaks for a page and all its copies, exact or near: the first crawled; none without copies.
    pub fn representative(&self, page: u32) -> Option<u32> {
        if !self.hidden.is_empty() {
            return self.group(page).map(|group| group.representative);
        }
        let text = self.copies.text(page)?;
        let representative = self.copies.groups.representative(text);
        let alone = self.copies.groups.members(text).is_empty();
        (!alone).then(|| self.copies.page(representative))
    }

    /// How many other pages say the same (镜像度).
    pub fn mirror_degree(&self, page: u32) -> u32 {
        if !self.hidden.is_empty() {
            return self.group(page).map_or(0, |group| group.members.len() as u32);
        }
        let text = self.copies.text(page);
        text.map_or(0, |text| self.copies.groups.mirror_degree(text) as u32)
    }

    /// The page that stands for all pages with the very same words; mostly itself.
    pub fn original(&self, page: u32) -> u32 {
        let text = self.copies.text(page);
        text.map_or(page, |text| self.copies.page(self.copies.exact[text as usize]))
    }

    /// The pages with the very same words, by the one that stands for them.
    pub fn exact_copies(&self) -> HashMap<u32, Vec<u32>> {
        let mut copies: HashMap<u32, Vec<u32>> = HashMap::new();
        for (text, original) in (0..).zip(&self.copies.exact).filter(|(text, original)| text != *original) {
            copies.entry(self.copies.page(*original)).or_default().push(self.copies.page(text));
        }
        copies
    }

    /// The signature of a page's words, while these relations are new.
    pub fn signature(&self, page: u32) -> Option<&MinHashSignature> {
        self.copies.signatures.get(self.copies.text(page)? as usize)?.as_ref()
    }

    /// DuplicateGroups of copies, largest first: the representative, and the others with what they have in common with it.
    pub fn groups(&self) -> Vec<DuplicateGroup> {
        let all = self.copies.groups.iter();
        let mut groups: Vec<DuplicateGroup> =
            all.filter_map(|(representative, members)| self.shown(representative, members)).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
        groups
    }

    /// The copies of one page: its group, or nothing.
    pub fn group(&self, page: u32) -> Option<DuplicateGroup> {
        let text = self.copies.text(page)?;
        self.shown(self.copies.groups.representative(text), self.copies.groups.members(text))
    }

    /// A group by its texts, as long as two of its pages may be told of. If the one crawled first may not, another
    /// speaks for the rest.
    fn shown(&self, representative: u32, members: &[GroupMember]) -> Option<DuplicateGroup> {
        let members =
            members.iter().map(|member| GroupMember { page: self.copies.page(member.page), ..*member });
        let mut members: Vec<GroupMember> = members.filter(|member| !self.is_hidden(member.page)).collect();
        let first = self.copies.page(representative);
        let representative =
            if self.is_hidden(first) && !members.is_empty() { members.remove(0).page } else { first };
        (!members.is_empty()).then_some(DuplicateGroup { representative, members })
    }

    /// Pages with a text: those that were looked at for copies.
    pub fn pages_with_text(&self) -> impl Iterator<Item = u32> {
        self.copies.pages.iter().copied().filter(|page| !self.is_hidden(*page))
    }

    /// Sites that show the same pages as another, in pairs.
    pub fn mirrors(&self, rule: &MirrorOptions) -> Vec<MirrorPair> {
        let mut pairs = mirror_pairs(&self.copies.groups, &self.copies.facts, rule);
        pairs.retain(|pair| !self.is_site_hidden(pair.one) && !self.is_site_hidden(pair.other));
        pairs
    }

    /// Sites that are one, each group beginning with the name to keep.
    pub fn aliases(&self, rule: &MirrorOptions) -> Vec<Vec<u32>> {
        let names: Vec<&str> = self.sites.names.iter().map(SiteName::as_str).collect();
        alias_groups(&self.mirrors(rule), &names)
    }
}
