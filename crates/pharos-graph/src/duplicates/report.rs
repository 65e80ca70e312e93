//! Report on duplicates: totals, largest groups, mirror sites, and sites with copies.

use std::collections::HashMap;

use serde::Serialize;

use super::mirrors::MirrorOptions;
use super::{LayoutMatch, MatchExtent};
use crate::GraphError;
use crate::relations::{DuplicateGroup, Relations};

/// Report on all duplicates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DuplicateReport {
    /// Pages with a text.
    pub pages: u64,
    /// Duplicate groups.
    pub groups: u64,
    /// Pages in a group.
    pub pages_in_groups: u64,
    /// Pages that a result list need not show.
    pub pages_too_many: u64,
    /// Pages with exactly the same words as another page of their group.
    pub exact_copies: u64,
    /// Largest groups.
    pub largest: Vec<ReportedGroup>,
    /// Mirror sites, largest groups first.
    pub mirrors: Vec<MirrorGroup>,
    /// Sites with the most copies.
    pub sites: Vec<SiteDuplicates>,
}

/// A duplicate group with URLs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedGroup {
    /// URL of the page crawled first.
    pub representative: String,
    pub copies: Vec<ReportedCopy>,
}

/// A copy compared with the representative.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedCopy {
    pub url: String,
    /// `true` if both have exactly the same words.
    pub exact: bool,
    pub extent: MatchExtent,
    pub layout: LayoutMatch,
}

/// Sites that mirror each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MirrorGroup {
    /// Site names, the preferred name first.
    pub sites: Vec<String>,
}

/// Number of copies on a site.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteDuplicates {
    pub site: String,
    /// Pages with a text.
    pub pages: u64,
    /// Pages with another representative.
    pub copies: u64,
}

impl ReportedGroup {
    /// Returns a group with the addresses of its pages.
    pub fn from_group(relations: &Relations, group: &DuplicateGroup) -> Result<Self, GraphError> {
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
    /// Counts all duplicates and lists the first `count` groups, mirrors and sites.
    pub fn from_relations(relations: &Relations, count: usize) -> Result<Self, GraphError> {
        let groups = relations.groups();
        let name = |site: u32| relations.sites()[site as usize].as_str().to_owned();
        let mut shares: HashMap<u32, (u64, u64)> = HashMap::new();
        for page in relations.pages_with_text() {
            shares.entry(relations.site(page)).or_default().0 += 1;
        }
        let mut exact_copies = 0;
        for group in &groups {
            // Of pages with exactly the same words, all but one are redundant.
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
        let largest = groups.iter().take(count).map(|group| ReportedGroup::from_group(relations, group));
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
