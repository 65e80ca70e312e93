//! Mirrors of whole sites (镜像站点): two site names that serve the same pages.

use std::collections::HashMap;
use std::net::IpAddr;

use super::{DuplicateGroups, PageAttributes};

/// Number of sites of a group that are paired with all others, besides the site of the representative. Pairing all
/// sites would be quadratic; the mirrors of one site find each other through these.
const PAIRED_WITH_ALL: usize = 16;

/// Thresholds for mirror detection.
#[derive(Clone, Copy, Debug)]
pub struct MirrorOptions {
    /// Minimum share of the smaller site's contents that both sites have.
    pub share: f64,
    /// Minimum number of common contents: sites of a single page prove little.
    pub min_contents: u32,
}

impl Default for MirrorOptions {
    fn default() -> Self {
        Self { share: 0.8, min_contents: 3 }
    }
}

/// Two sites with common contents. Copies within a site count as one content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirrorPair {
    /// The smaller site number.
    pub one: u32,
    pub other: u32,
    /// Number of common contents.
    pub common: u32,
    /// Share of common contents among the contents of the smaller site.
    pub share: f64,
}

/// Returns the pairs of mirror sites, by site number.
pub fn mirror_pairs(
    groups: &DuplicateGroups,
    attributes: &[PageAttributes],
    options: &MirrorOptions,
) -> Vec<MirrorPair> {
    let site = |page: u32| attributes.get(page as usize).map(|attributes| attributes.site);
    let mut contents: HashMap<u32, u32> = HashMap::new();
    let mut common: HashMap<(u32, u32), u32> = HashMap::new();
    for page in 0..groups.pages() as u32 {
        if groups.members(page).is_empty()
            && let Some(site) = site(page)
        {
            *contents.entry(site).or_default() += 1;
        }
    }
    for (representative, members) in groups.iter() {
        let pages = std::iter::once(representative).chain(members.iter().map(|member| member.page));
        let mut sites: Vec<u32> = pages.filter_map(site).collect();
        sites.sort_unstable();
        sites.dedup();
        for site in &sites {
            *contents.entry(*site).or_default() += 1;
        }
        let mut pair =
            |one: u32, other: u32| *common.entry((one.min(other), one.max(other))).or_default() += 1;
        for (index, one) in sites.iter().enumerate().take(PAIRED_WITH_ALL) {
            sites[index + 1..].iter().for_each(|other| pair(*one, *other));
        }
        if let Some(later) = sites.get(PAIRED_WITH_ALL..)
            && let Some(first) = site(representative).filter(|first| later.contains(first))
        {
            later.iter().filter(|other| **other != first).for_each(|other| pair(first, *other));
        }
    }
    let contents = |site: u32| contents.get(&site).copied().unwrap_or(0);
    let mut pairs: Vec<MirrorPair> = common
        .into_iter()
        .map(|((one, other), common)| {
            let share = f64::from(common) / f64::from(contents(one).min(contents(other)).max(1));
            MirrorPair { one, other, common, share }
        })
        .filter(|pair| pair.common >= options.min_contents && pair.share >= options.share)
        .collect();
    pairs.sort_unstable_by_key(|pair| (pair.one, pair.other));
    pairs
}

/// Groups mirror sites; the first site of each group is the preferred name. A host name is preferred to an IP address,
/// then the smaller site number, which was found first. Sites without an entry in `names` are skipped.
pub fn alias_groups(pairs: &[MirrorPair], names: &[&str]) -> Vec<Vec<u32>> {
    let mut sites = super::GroupBuilder::new(names.len());
    for pair in pairs {
        sites.unite(pair.one, pair.other);
    }
    let mut groups: HashMap<u32, Vec<u32>> = HashMap::new();
    for pair in pairs {
        for site in [pair.one, pair.other] {
            if (site as usize) < names.len() {
                groups.entry(sites.root(site)).or_default().push(site);
            }
        }
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().collect();
    for group in &mut groups {
        group.sort_unstable();
        group.dedup();
        group.sort_by_key(|site| is_address(names[*site as usize]));
    }
    groups.retain(|group| group.len() > 1);
    groups.sort_unstable();
    groups
}

/// Returns `true` if the site name is an IP address, with or without a port.
fn is_address(name: &str) -> bool {
    let is_bare = |name: &str| name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    is_bare(name) || name.rsplit_once(':').is_some_and(|(host, _)| is_bare(host))
}

#[cfg(test)]
mod tests {
    use super::super::{DuplicateDetector, ExactBytes, GroupBuilder, PageText};
    use super::*;

    /// Groups pages given as (site, content).
    fn grouped(pages: &[(u32, &str)]) -> (DuplicateGroups, Vec<PageAttributes>) {
        let sign =
            |text: &str| ExactBytes.fingerprint(&PageText { raw: text.as_bytes(), ..PageText::default() });
        let digests: Vec<_> = pages.iter().map(|(_, text)| sign(text)).collect();
        let attributes: Vec<_> = pages
            .iter()
            .map(|(site, _)| PageAttributes { site: *site, ..PageAttributes::default() })
            .collect();
        let mut grouping = GroupBuilder::new(pages.len());
        grouping.join(&ExactBytes, &digests);
        (grouping.finish(&ExactBytes, &digests, &attributes), attributes)
    }

    #[test]
    fn two_names_of_a_university_and_of_its_laboratory_are_two_groups() {
        let names = ["www.pku.edu.cn", "www.pku.cn", "net.pku.cn", "net.cs.pku.edu.cn", "example.com"];
        let mut pages = Vec::new();
        for content in ["home", "news", "schools", "about"] {
            pages.extend([(1, content), (0, content)]);
        }
        for content in ["papers", "people", "courses"] {
            pages.extend([(2, content), (3, content), (3, content)]);
        }
        pages.extend([(4, "home"), (4, "of its own"), (2, "new and not yet there")]);
        let (groups, attributes) = grouped(&pages);
        let pairs = mirror_pairs(&groups, &attributes, &MirrorOptions::default());
        assert_eq!(alias_groups(&pairs, &names), [[0, 1], [2, 3]]);
        assert_eq!((pairs[0].common, pairs[0].share), (4, 1.0));
        assert_eq!(alias_groups(&pairs[..1], &["162.105.131.113", "www.pku.cn"]), [[1, 0]]);
    }

    #[test]
    fn a_site_with_twenty_mirrors_is_found_and_a_press_release_is_no_sign_of_any() {
        let names: Vec<String> = (0..60).map(|site| format!("s{site}.example")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // Sites 0 to 20 serve the same four pages, each crawled first on another site. Sites from 30 on have three
        // press releases in common and four pages of their own.
        let own: Vec<String> = (0..240).map(|number| format!("own {number}")).collect();
        let mut pages = Vec::new();
        for (turn, content) in (5..).step_by(5).zip(["home", "news", "schools", "about"]) {
            pages.extend((0..21).map(|site| ((site + turn) % 21, content)));
        }
        for site in 30..60 {
            pages.extend(["one", "two", "three"].map(|content| (site, content)));
            pages.extend((0..4).map(|page| (site, own[(4 * site + page) as usize].as_str())));
        }
        let (groups, attributes) = grouped(&pages);
        let aliases = alias_groups(&mirror_pairs(&groups, &attributes, &MirrorOptions::default()), &names);
        assert_eq!(aliases, [(0..21).collect::<Vec<u32>>()]);
    }

    #[test]
    fn a_site_that_reprints_a_fifth_is_no_mirror() {
        let own: Vec<String> = (0..16).map(|number| format!("own {number}")).collect();
        let mut pages: Vec<(u32, &str)> = own.iter().map(|content| (0, content.as_str())).collect();
        let other: Vec<String> = (0..16).map(|number| format!("other {number}")).collect();
        pages.extend(other.iter().map(|content| (1, content.as_str())));
        pages.extend(["a", "b", "c", "d"].iter().flat_map(|content| [(0, *content), (1, *content)]));
        let (groups, attributes) = grouped(&pages);
        assert_eq!(mirror_pairs(&groups, &attributes, &MirrorOptions::default()), []);
        let reprints = MirrorOptions { share: 0.2, min_contents: 3 };
        assert_eq!(mirror_pairs(&groups, &attributes, &reprints).len(), 1);
    }

    #[test]
    fn addresses_are_known_with_brackets_and_ports() {
        let names = ["10.0.0.1", "10.0.0.1:8080", "[::1]", "[::1]:80", "::1", "a.example:80", "10.example"];
        assert_eq!(names.map(is_address), [true, true, true, true, true, false, false]);
    }
}
