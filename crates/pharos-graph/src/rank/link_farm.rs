//! What a link farm would gain: pages of one's own that all link home.
//!
//! On the books' scale a page that nobody links to has a rank of its own jump, j = (1 − d) + d · (mean of what pages without
//! links jump away with). It gives d · j to the home page, and of what the home page has, at most d² comes back to it, since
//! the way back takes two links or more. So k pages lift the home page by at most k · j · d/(1 − d²). If j itself has
//! grown, because the home page leads to pages without links, what was there grows in proportion. Nothing is won from
//! other domains, and what is counted between domains does not move at all.

use serde::Serialize;

use crate::GraphError;
use crate::rank::link_counts::link_counts;
use crate::rank::pagerank::{PageRankOptions, RankScale, Teleport, page_rank, site_rank};
use crate::relations::Relations;
use crate::summation::sum;
use crate::web::{Graph, GraphOptions, PageSites};

/// A value before and after the farm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BeforeAfter<T> {
    /// Without the farm.
    pub before: T,
    /// With it.
    pub after: T,
}

/// What a farm changes for its home page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FarmEffect {
    /// Pages of the farm.
    pub pages: u32,
    /// All in-links: the raw count.
    pub in_degree: BeforeAfter<u32>,
    /// In-links from other domains.
    pub link_hits: BeforeAfter<u32>,
    /// Rank of the site.
    pub site_rank: BeforeAfter<f64>,
    /// PageRank, mean 1.
    pub page_rank: BeforeAfter<f64>,
    /// What PageRank can have gained at most.
    pub bound: f64,
}

/// Plants `pages` new pages on the site of `home`, all of which link to it and to nothing else, and tells what changes.
pub fn simulate_farm(
    relations: &Relations,
    home: u32,
    pages: u32,
    rank: &PageRankOptions,
    sorting: &GraphOptions,
) -> Result<FarmEffect, GraphError> {
    simulate_farm_in_graph(relations.graph(), relations.places()?, home, pages, rank, sorting)
}

/// The same in any web.
pub fn simulate_farm_in_graph(
    graph: &Graph,
    places: PageSites<'_>,
    home: u32,
    pages: u32,
    rank: &PageRankOptions,
    sorting: &GraphOptions,
) -> Result<FarmEffect, GraphError> {
    let count = graph.pages();
    if home >= count {
        return Err(GraphError::NoSuchPage { page: home, pages: count });
    }
    let Some(all) = count.checked_add(pages).filter(|all| *all < u32::MAX) else {
        return Err(GraphError::TooManyLinks { limit: u64::from(u32::MAX) });
    };
    places.check_graph(graph)?;
    let site = places.site(home);
    let links = (0..count).flat_map(|from| graph.links_from(from).iter().map(move |to| (from, *to)));
    let farmed = Graph::from_links(all, links.chain((count..all).map(|from| (from, home))), sorting.clone())?;
    let sites: Vec<u32> =
        (0..count).map(|page| places.site(page)).chain((count..all).map(|_| site)).collect();
    let farmed_places = PageSites::new(&sites, places.domains_of_sites())?;

    let rules = PageRankOptions { form: RankScale::PerPage, ..*rank };
    let ranks_before = page_rank(graph, &rules, Teleport::Everywhere, None)?.values;
    let mut start = ranks_before.clone();
    start.resize(all as usize, 1.0);
    let ranks = page_rank(&farmed, &rules, Teleport::Everywhere, Some(&start))?.values;
    let counts = |graph: &Graph, places| Ok::<_, GraphError>(link_counts(graph, places)?[home as usize]);
    let (before, after) = (counts(graph, places)?, counts(&farmed, farmed_places)?);
    let of_site = |graph: &Graph, places| {
        Ok::<_, GraphError>(site_rank(graph, places, &rules, sorting.clone())?.values[site as usize])
    };
    let d = rules.damping;
    let own = base_rank(&farmed, &ranks, d);
    let own_before = base_rank(graph, &ranks_before, d);
    let before_farm = ranks_before[home as usize];
    let grown = (own / own_before - 1.0).max(0.0) * before_farm;
    Ok(FarmEffect {
        pages,
        in_degree: BeforeAfter { before: before.raw_link_hits, after: after.raw_link_hits },
        link_hits: BeforeAfter { before: before.link_hits, after: after.link_hits },
        site_rank: BeforeAfter { before: of_site(graph, places)?, after: of_site(&farmed, farmed_places)? },
        page_rank: BeforeAfter { before: before_farm, after: ranks[home as usize] },
        bound: f64::from(pages) * own * d / (1.0 - d * d) + grown,
    })
}

/// The rank of a page that nobody links to: its jump, and what pages without links bring it.
fn base_rank(graph: &Graph, ranks: &[f64], damping: f64) -> f64 {
    let dangling = (0..graph.pages()).zip(ranks).filter(|(page, _)| graph.links_from(*page).is_empty());
    (1.0 - damping) + damping * sum(dangling.map(|(_, rank)| *rank)) / f64::from(graph.pages().max(1))
}

#[cfg(test)]
mod tests {
    use pharos_core::{LibraryPosition, PageUrl};
    use proptest::prelude::*;

    use super::*;
    use crate::relations::{RelationsBuilder, RelationsOptions};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn a_farm_moves_no_site_and_its_home_within_the_bound(
            links in prop::collection::vec((0u32..12, 0u32..12), 1..40), home in 0u32..12, pages in 1u32..300,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut builder = RelationsBuilder::begin(folder.path(), RelationsOptions::default()).unwrap();
            let url = |page: u32| PageUrl::parse(&format!("http://s{}.example/{page}", page % 4)).unwrap();
            (0..12).for_each(|page| builder.page(&url(page)).unwrap());
            for (from, to) in links {
                builder.link(&url(from), &url(to), "").unwrap();
            }
            let (relations, _) = builder.finish(LibraryPosition::START, 0).unwrap();
            let farm = simulate_farm(&relations, home, pages, &PageRankOptions::default(), &GraphOptions::default()).unwrap();
            prop_assert_eq!(farm.in_degree.after, farm.in_degree.before + pages);
            prop_assert_eq!(farm.link_hits.after, farm.link_hits.before);
            prop_assert!((farm.site_rank.after - farm.site_rank.before).abs() < 1e-9);
            let gained = farm.page_rank.after - farm.page_rank.before;
            prop_assert!(gained <= farm.bound + 1e-9, "{farm:?}");
        }
    }
}
