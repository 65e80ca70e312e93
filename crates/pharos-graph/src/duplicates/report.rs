//! What there is to say about the copies of a web: how many, the largest groups, mirrors of whole sites, shares of sites.

use std::collections::HashMap;

use serde::Serialize;

use super::mirrors::MirrorOptions;
use super::{LayoutMatch, MatchExtent};
use crate::GraphError;
use crate::relations::{DuplicateGroup, Relations};

/// All copies at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DuplicateReport {
    /// Pages with a text.
    pub pages: u64,
    /// DuplicateGroups of copies.
    pub groups: u64,
    /// Pages that stand in a group.
    pub pages_in_groups: u64,
    /// Pages that a result list need not show.
    pub pages_too_many: u64,
    /// Of these, pages with the very same words as another.
    pub exact_copies: u64,
    /// The largest groups.
    pub largest: Vec<ReportedGroup>,
    /// Mirrors of whole sites, those with the most first.
    pub mirrors: Vec<MirrorGroup>,
    /// The sites with the most copies.
    pub sites: Vec<SiteDuplicates>,
}

/// A group by its addresses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedGroup {
    /// The page crawled first.
    pub representative: String,
    /// The others.
    pub copies: Vec<ReportedCopy>,
}

/// A copy, and what it has in common with the representative.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedCopy {
    /// Its address.
    pub url: String,
    /// Whether it has the very same words.
    pub exact: bool,
    /// How much of it.
    pub extent: MatchExtent,
    /// Whether it looks the same.
    pub layout: LayoutMatch,
}

/// Sites that show the same pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MirrorGroup {
    /// Their names, the one to keep first.
    pub sites: Vec<String>,
}

/// How much of a site is copied from elsewhere or from itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteDuplicates {
    /// Its name.
    pub site: String,
    /// Its pages with a text.
    pub pages: u64,
    /// Of these, pages for which another speaks.
    pub copies: u64,
}

impl ReportedGroup {
    /// A group with the addresses of its pages.
    pub fn of(relations: &Relations, group: &DuplicateGroup) -> Result<Self, GraphError> {
        let original = relations.original(group.representative);
        let copies = group.members.iter().map(|member| {
            Ok(ReportedCopy {
                url: relations.url(member.page)?,
                exact: relations.original(member.page) == original,
                extent: member.extent,
                layout: member.layout,
            })
        });
        let copies = copies.collect::<Result<_, GraphError>>()?;
        Ok(Self { representative: relations.url(group.representative)?, copies })
    }
}

impl DuplicateReport {
    /// Counts all copies, and names the first `count` groups, mirrors and sites.
    pub fn of(relations: &Relations, count: usize) -> Result<Self, GraphError> {
        let groups = relations.groups();
        let name = |site: u32| relations.sites()[site as usize].as_str().to_owned();
        let mut shares: HashMap<u32, (u64, u64)> = HashMap::new();
        for page in relations.pages_with_text() {
            shares.entry(relations.site(page)).or_default().0 += 1;
        }
        let mut exact_copies = 0;
        for group in &groups {
            // Of pages with the very same words, all but one are too many.
            let pages = std::iter::once(group.representative).chain(group.members.iter().map(|m| m.page));
            let mut originals: Vec<u32> = pages.map(|page| relations.original(page)).collect();
            let all = originals.len();
            originals.sort_unstable();
            originals.dedup();
            exact_copies += (all - originals.len()) as u64;
            for member in &group.members {
                shares.entry(relations.site(member.page)).or_default().1 += 1;
            }
        }
        let mut sites: Vec<SiteDuplicates> = shares
            .into_iter()
            .filter(|(_, (_, copies))| *copies > 0)
            .map(|(site, (pages, copies))| SiteDuplicates { site: name(site), pages, copies })
            .collect();
        sites.sort_by(|one, other| other.copies.cmp(&one.copies).then_with(|| one.site.cmp(&other.site)));
        sites.truncate(count);
        let aliases = relations.aliases(&MirrorOptions::default());
        let mut mirrors: Vec<MirrorGroup> = aliases
            .into_iter()
            .map(|sites| MirrorGroup { sites: sites.into_iter().map(name).collect() })
            .collect();
        mirrors.sort_by_key(|mirror| std::cmp::Reverse(mirror.sites.len()));
        mirrors.truncate(count);
        let pages_too_many: u64 = groups.iter().map(|group| group.members.len() as u64).sum();
        let largest = groups.iter().take(count).map(|group| ReportedGroup::of(relations, group));
        Ok(Self {
            pages: relations.pages_with_text().count() as u64,
            groups: groups.len() as u64,
            pages_in_groups: pages_too_many + groups.len() as u64,
            pages_too_many,
            exact_copies,
            largest: largest.collect::<Result<_, _>>()?,
            mirrors,
            sites,
        })
    }
}
