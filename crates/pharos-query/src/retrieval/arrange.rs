//! Arrangement of results on pages: a limited number per site on each page, further ones indented below the first.

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use pharos_core::SiteId;

/// Hash maps and sets with a fast hash function, because ids are already hashes.
type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;
type HashSet<K> = std::collections::HashSet<K, FixedState>;

/// A result at its place on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedResult {
    /// Rank of the result, from 0.
    pub(crate) rank: usize,
    /// `true` if it is listed below another result of its site.
    pub(crate) indented: bool,
    /// Number of results of its site on later pages; set on the last one of the site on a page.
    pub(crate) more: u64,
}

/// Arranges results on pages of `size`, of which the first one has room for `first`. `sites` are the sites of the results
/// in rank order.
///
/// No result is lost: results that exceed the limit of a page move to a later one.
pub(crate) fn arrange(sites: &[SiteId], first: usize, size: usize, per_site: usize) -> Vec<PlacedResult> {
    let as_ranked = |rank| PlacedResult { rank, indented: false, more: 0 };
    let different: HashSet<SiteId> = sites.iter().copied().collect();
    if different.len() < 2 || per_site == 0 {
        return (0..sites.len()).map(as_ranked).collect();
    }
    let mut left: VecDeque<usize> = (0..sites.len()).collect();
    let mut placed = Vec::with_capacity(sites.len());
    let mut room = first;
    while !left.is_empty() {
        let size = std::mem::replace(&mut room, size);
        let mut on_page: HashMap<SiteId, usize> = HashMap::default();
        let (mut page, mut later) = (Vec::with_capacity(size), VecDeque::new());
        for rank in left {
            let so_far = on_page.entry(sites[rank]).or_default();
            if page.len() < size && *so_far < per_site {
                *so_far += 1;
                page.push(rank);
            } else {
                later.push_back(rank);
            }
        }
        // If no other site has results left, fill the page with more results of the same sites.
        let filler: Vec<usize> = later.drain(..later.len().min(size - page.len())).collect();
        let mut remaining: HashMap<SiteId, u64> = HashMap::default();
        later.iter().for_each(|rank| *remaining.entry(sites[*rank]).or_default() += 1);
        let begin = placed.len();
        let mut done: HashSet<SiteId> = HashSet::default();
        for rank in &page {
            if done.insert(sites[*rank]) {
                let of_site = page.iter().filter(|other| sites[**other] == sites[*rank]);
                placed.extend(of_site.map(|of| PlacedResult { rank: *of, indented: of != rank, more: 0 }));
            }
        }
        placed.extend(filler.into_iter().map(as_ranked));
        let mut reported: HashSet<SiteId> = HashSet::default();
        for place in placed[begin..].iter_mut().rev() {
            let site = sites[place.rank];
            if reported.insert(site) {
                place.more = remaining.get(&site).copied().unwrap_or_default();
            }
        }
        left = later;
    }
    placed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(sites: &str, size: usize) -> String {
        let ids: Vec<SiteId> = sites.bytes().map(|b| SiteId(b.into())).collect();
        let shown = arrange(&ids, size, size, 2).into_iter().map(|place| {
            let site = sites.as_bytes()[place.rank] as char;
            let more = if place.more > 0 { format!("+{}", place.more) } else { String::new() };
            format!("{}{site}{}{more}", if place.indented { ">" } else { "" }, place.rank)
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn two_of_a_site_the_second_below_the_first() {
        assert_eq!(places("abacaad", 4), "a0 >a2+2 b1 c3 a4 >a5 d6");
    }

    #[test]
    fn pinned_results_take_room_on_the_first_page() {
        let ids: Vec<SiteId> = "abacaad".bytes().map(|b| SiteId(b.into())).collect();
        let ranks: Vec<usize> = arrange(&ids, 2, 4, 2).into_iter().map(|place| place.rank).collect();
        assert_eq!(ranks, [0, 1, 2, 4, 3, 6, 5]);
    }

    #[test]
    fn one_site_alone_has_all_places() {
        assert_eq!(places("aaaa", 3), "a0 a1 a2 a3");
        assert_eq!(places("aaab", 4), "a0 >a1 b3 a2", "three of one site are better than an empty place");
        assert_eq!(places("", 4), "");
    }

    proptest! {
        #[test]
        fn none_is_lost_and_pages_are_full(sites in proptest::collection::vec(0u64..5, 0..60), size in 1usize..12, first in 1usize..12) {
            let ids: Vec<SiteId> = sites.iter().map(|site| SiteId(*site)).collect();
            let placed = arrange(&ids, first.min(size), size, 2);
            let mut ranks: Vec<usize> = placed.iter().map(|place| place.rank).collect();
            ranks.sort_unstable();
            prop_assert_eq!(ranks, (0..ids.len()).collect::<Vec<_>>());
        }
    }
}
