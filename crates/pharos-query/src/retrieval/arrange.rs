//! Arrangement of results on pages: each further result of a site must be clearly better than those of other sites.
//!
//! The results of a page are selected one after another, as in maximal marginal relevance (Carbonell & Goldstein 1998)
//! and xQuAD (Santos, Macdonald & Ounis 2010), with the site as the only aspect: the score of a result is discounted by
//! the number of results that its site already has on the page. Where one site has the good results, it keeps its
//! places; where many sites are about equally good, each of them is shown. A page is shared by the sites with good
//! results, so each of a few sites has more places than each of many.

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use pharos_core::SiteId;

/// Hash map with a fast hash function, because ids are already hashes.
type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;

/// Discount of a score for each result of the site beyond the number that a page may have anyway.
const DISCOUNT: f32 = 0.85;

/// Minimum score of the best result of a site, relative to the best of all, for the site to have a share of the places.
const GOOD_SITE: f32 = 0.8;

/// Minimum score of an indented result relative to the results that it moves ahead of.
const MIN_INDENTED: f32 = 0.8;

/// A result to be arranged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedResult {
    pub(crate) site: SiteId,
    pub(crate) score: f32,
    /// A listing does not take a place of its site.
    pub(crate) is_listing: bool,
}

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

/// The remaining results of a site, in rank order.
#[derive(Default)]
struct SiteQueue {
    ranks: VecDeque<usize>,
    /// Number of places on the current page.
    places: usize,
}

/// Arranges results on pages of `size`, of which the first one has room for `first`. `results` are in rank order.
/// `per_site` results of a site, or its share of the page if that is more, are not discounted; 0 keeps the rank order.
///
/// No result is lost: results that other sites displace move to a later page.
pub(crate) fn arrange(
    results: &[RankedResult],
    first: usize,
    size: usize,
    per_site: usize,
) -> Vec<PlacedResult> {
    let mut sites: HashMap<SiteId, usize> = HashMap::default();
    let mut queues: Vec<SiteQueue> = Vec::new();
    for (rank, result) in results.iter().enumerate() {
        let nth = *sites.entry(result.site).or_insert_with(|| {
            queues.push(SiteQueue::default());
            queues.len() - 1
        });
        queues[nth].ranks.push_back(rank);
    }
    if queues.len() < 2 || per_site == 0 {
        return (0..results.len()).map(|rank| PlacedResult { rank, indented: false, more: 0 }).collect();
    }
    let free = per_site.max(size.div_ceil(good_sites(&queues, results)));
    let mut placed = Vec::with_capacity(results.len());
    let mut room = first;
    while placed.len() < results.len() {
        let page_size = std::mem::replace(&mut room, size).max(1);
        queues.iter_mut().for_each(|queue| queue.places = 0);
        let mut page = Vec::with_capacity(page_size);
        while page.len() < page_size
            && let Some(queue) = best_queue(&mut queues, results, free)
            && let Some(rank) = queue.ranks.pop_front()
        {
            queue.places += usize::from(!results[rank].is_listing);
            page.push(rank);
        }
        let begin = placed.len();
        placed.extend(indent(&page, results, per_site));
        for place in placed[begin..].iter_mut().rev() {
            let queue = &mut queues[sites[&results[place.rank].site]];
            if queue.places != usize::MAX {
                place.more = queue.ranks.len() as u64;
                queue.places = usize::MAX;
            }
        }
    }
    placed
}

/// Returns the number of sites with good results; at least 1.
fn good_sites(queues: &[SiteQueue], results: &[RankedResult]) -> usize {
    let threshold = results.first().map_or(0.0, |best| best.score * GOOD_SITE);
    let best_of = |queue: &SiteQueue| queue.ranks.front().map(|rank| results[*rank].score);
    queues.iter().filter_map(best_of).filter(|score| *score >= threshold).count().max(1)
}

/// Returns the site whose next result has the highest discounted score, and among equal ones the best rank. `free` results
/// of a site are not discounted.
fn best_queue<'q>(
    queues: &'q mut [SiteQueue],
    results: &[RankedResult],
    free: usize,
) -> Option<&'q mut SiteQueue> {
    let value = |queue: &SiteQueue| {
        let rank = *queue.ranks.front()?;
        let score = results[rank].score;
        let discount = DISCOUNT.powi((queue.places + 1).saturating_sub(free) as i32);
        Some((if score > 0.0 { score * discount } else { score / discount }, rank))
    };
    let valued = queues.iter_mut().filter_map(|queue| Some((value(queue)?, queue)));
    let best = valued.max_by(|((a, at_a), _), ((b, at_b), _)| a.total_cmp(b).then_with(|| at_b.cmp(at_a)));
    best.map(|(_, queue)| queue)
}

/// Indents further results of a site below its first one, unless the site has so many of the page that this would hide
/// the order, or they would move ahead of much better results.
fn indent(page: &[usize], results: &[RankedResult], per_site: usize) -> Vec<PlacedResult> {
    let site_of = |rank: &usize| results[*rank].site;
    let is_grouped = |rank: &usize| {
        let of_site = page.iter().filter(|other| site_of(other) == site_of(rank)).count();
        of_site <= per_site && of_site < page.len()
    };
    let mut placed: Vec<PlacedResult> = Vec::with_capacity(page.len());
    for rank in page {
        let first = placed.iter().position(|place| site_of(&place.rank) == site_of(rank));
        let plain = PlacedResult { rank: *rank, indented: false, more: 0 };
        let Some(first) = first.filter(|_| is_grouped(rank)) else {
            placed.push(plain);
            continue;
        };
        let after = placed[first + 1..].iter().take_while(|place| place.indented).count() + first + 1;
        let overtaken = placed.get(after).map_or(f32::MIN, |place| results[place.rank].score);
        if results[*rank].score >= MIN_INDENTED * overtaken {
            placed.insert(after, PlacedResult { indented: true, ..plain });
        } else {
            placed.push(plain);
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranked(sites: &str, scores: &[f32]) -> Vec<RankedResult> {
        let score = |nth: usize| scores.get(nth).copied().unwrap_or(0.5);
        let result = |(nth, site): (usize, u8)| RankedResult {
            site: SiteId(site.to_ascii_lowercase().into()),
            score: score(nth),
            is_listing: site.is_ascii_uppercase(),
        };
        sites.bytes().enumerate().map(result).collect()
    }

    fn places_of(sites: &str, scores: &[f32], size: usize) -> String {
        let shown = arrange(&ranked(sites, scores), size, size, 2).into_iter().map(|place| {
            let site = sites.as_bytes()[place.rank] as char;
            let more = if place.more > 0 { format!("+{}", place.more) } else { String::new() };
            format!("{}{site}{}{more}", if place.indented { ">" } else { "" }, place.rank)
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn places(sites: &str, size: usize) -> String {
        places_of(sites, &[], size)
    }

    #[test]
    fn equally_good_sites_have_two_places_the_second_below_the_first() {
        assert_eq!(places("abacaad", 4), "a0 >a2+2 b1 c3 a4 >a5 d6");
    }

    #[test]
    fn a_site_with_much_better_results_keeps_its_places() {
        let scores = [0.8, 0.79, 0.78, 0.77, 0.3, 0.2];
        assert_eq!(places_of("aaaabc", &scores, 4), "a0 a1 a2 a3 b4 c5");
        assert_eq!(places_of("aaaabc", &[0.8, 0.79, 0.78, 0.77, 0.7, 0.69], 4), "a0 >a1+2 b4 c5 a2 a3");
    }

    #[test]
    fn few_good_sites_share_the_places() {
        let scores = [0.9, 0.89, 0.88, 0.87, 0.86, 0.85, 0.84];
        assert_eq!(places_of("aaaabbb", &scores, 8), "a0 a1 a2 a3 b4 b5 b6", "four places each");
        assert_eq!(places_of("aaabbcd", &scores, 4), "a0 >a1+1 b3 >b4 a2 c5 d6", "two each");
        assert_eq!(
            places_of("aaabcd", &[0.9, 0.89, 0.88, 0.4, 0.3, 0.2], 4),
            "a0 a1 a2 b3 c4 d5",
            "one is good"
        );
    }

    #[test]
    fn a_result_does_not_move_far_ahead_by_indentation() {
        assert_eq!(places_of("abac", &[0.9, 0.8, 0.3, 0.2], 4), "a0 b1 a2 c3");
    }

    #[test]
    fn listings_take_no_place_of_their_site() {
        assert_eq!(places("aAAbab", 5), "a0 A1 A2 b3+1 a4 b5");
        assert_eq!(places("aaabab", 5), "a0 a1 a2+1 b3 >b5 a4");
    }

    #[test]
    fn pinned_results_take_room_on_the_first_page() {
        let placed = arrange(&ranked("abacaad", &[]), 2, 4, 2);
        let ranks: Vec<usize> = placed.iter().map(|place| place.rank).collect();
        assert_eq!(ranks, [0, 1, 2, 4, 3, 6, 5]);
    }

    #[test]
    fn one_site_alone_has_all_places() {
        assert_eq!(places("aaaa", 3), "a0 a1 a2 a3");
        assert_eq!(places("aaab", 4), "a0 a1 b3 a2", "three of one site are better than an empty place");
        assert_eq!(places("", 4), "");
    }

    proptest! {
        #[test]
        fn none_is_lost_and_pages_are_full(
            results in proptest::collection::vec((0u64..5, -1f32..1.0, any::<bool>()), 0..60), size in 1usize..12, first in 1usize..12
        ) {
            let ranked: Vec<RankedResult> = results
                .iter()
                .map(|(site, score, is_listing)| RankedResult { site: SiteId(*site), score: *score, is_listing: *is_listing })
                .collect();
            let placed = arrange(&ranked, first.min(size), size, 2);
            let mut ranks: Vec<usize> = placed.iter().map(|place| place.rank).collect();
            ranks.sort_unstable();
            prop_assert_eq!(ranks, (0..ranked.len()).collect::<Vec<_>>());
        }
    }
}
