//! The pages of a list of results: at most so many of one site on each while others have some, the second below the first.

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use pharos_core::SiteId;

/// Ids are hashes already: hashing them must be quick, not hard to foresee.
type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;
type HashSet<K> = std::collections::HashSet<K, FixedState>;

/// A result in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which result, by its rank from 0.
    pub(crate) rank: usize,
    /// Does it stand below another of its site?
    pub(crate) indented: bool,
    /// How many of its site come on later pages; told with the last of the site on this page.
    pub(crate) more: u64,
}

/// Arranges results, given by their sites in the order of their ranks, on pages of `size`. None is lost: what a page
/// has no room for comes on a later one.
pub(crate) fn arrange(sites: &[SiteId], size: usize, per_site: usize) -> Vec<Place> {
    let as_ranked = |rank| Place { rank, indented: false, more: 0 };
    let different: HashSet<SiteId> = sites.iter().copied().collect();
    if different.len() < 2 || per_site == 0 {
        return (0..sites.len()).map(as_ranked).collect();
    }
    let mut left: VecDeque<usize> = (0..sites.len()).collect();
    let mut placed = Vec::with_capacity(sites.len());
    while !left.is_empty() {
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
        // No other site has any: better more of one than an empty place.
        let filling: Vec<usize> = later.drain(..later.len().min(size - page.len())).collect();
        let mut waiting: HashMap<SiteId, u64> = HashMap::default();
        later.iter().for_each(|rank| *waiting.entry(sites[*rank]).or_default() += 1);
        let begin = placed.len();
        let mut done: HashSet<SiteId> = HashSet::default();
        for rank in &page {
            if done.insert(sites[*rank]) {
                let of_site = page.iter().filter(|other| sites[**other] == sites[*rank]);
                placed.extend(of_site.map(|of| Place { rank: *of, indented: of != rank, more: 0 }));
            }
        }
        placed.extend(filling.into_iter().map(as_ranked));
        let mut told: HashSet<SiteId> = HashSet::default();
        for place in placed[begin..].iter_mut().rev() {
            let site = sites[place.rank];
            if told.insert(site) {
                place.more = waiting.get(&site).copied().unwrap_or_default();
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
        let shown = arrange(&ids, size, 2).into_iter().map(|place| {
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
    fn one_site_alone_has_all_places() {
        assert_eq!(places("aaaa", 3), "a0 a1 a2 a3");
        assert_eq!(places("aaab", 4), "a0 >a1 b3 a2", "better three of one than an empty place");
        assert_eq!(places("", 4), "");
    }

    proptest! {
        #[test]
        fn none_is_lost_and_pages_are_full(sites in proptest::collection::vec(0u64..5, 0..60), size in 1usize..12) {
            let ids: Vec<SiteId> = sites.iter().map(|site| SiteId(*site)).collect();
            let placed = arrange(&ids, size, 2);
            let mut ranks: Vec<usize> = placed.iter().map(|place| place.rank).collect();
            ranks.sort_unstable();
            prop_assert_eq!(ranks, (0..ids.len()).collect::<Vec<_>>());
        }
    }
}
