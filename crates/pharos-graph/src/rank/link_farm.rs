//! The effect of a link farm: `k` additional pages of a site that all link to one target page.
//!
//! On the scale with mean 1, a page without in-links has rank j = (1 − d) + d · (mean rank of dangling pages). It
//! passes d · j to the target page. At most d² of the target's rank returns to it, because every cycle has at least two
//! links. So k pages raise the target by at most k · j · d/(1 − d²). If j itself grows, because the target leads to
//! dangling pages, the previous rank grows in proportion. Counts between domains do not change.

use serde::Serialize;

use crate::GraphError;
use crate::rank::link_counts::link_counts;
use crate::rank::pagerank::{PageRankOptions, RankScale, Teleport, page_rank, site_rank};
use crate::relations::Relations;
use crate::summation::sum;
use crate::web::{Graph, GraphOptions, PageSites};

/// A value without and with the farm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BeforeAfter<T> {
    pub before: T,
    pub after: T,
}

/// The effect of a farm on its target page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FarmEffect {
    /// Number of pages of the farm.
    pub pages: u32,
    /// All in-links.
    pub in_degree: BeforeAfter<u32>,
    /// In-links from other domains.
    pub link_hits: BeforeAfter<u32>,
    pub site_rank: BeforeAfter<f64>,
    /// PageRank on the scale with mean 1.
    pub page_rank: BeforeAfter<f64>,
    /// Upper bound on the gain in PageRank.
    pub bound: f64,
}

/// Adds `pages` pages to the site of the target page `home`, each with a single link to it, and returns the effect.
pub fn simulate_farm(
    relations: &Relations,
    home: u32,
    pages: u32,
    rank: &PageRankOptions,
    sorting: &GraphOptions,
) -> Result<FarmEffect, GraphError> {
    simulate_farm_in_graph(relations.graph(), relations.page_sites()?, home, pages, rank, sorting)
}

/// Like [`simulate_farm`], for any graph.
pub fn simulate_farm_in_graph(
    graph: &Graph,
    page_sites: PageSites<'_>,
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
    page_sites.check_graph(graph)?;
    let site = page_sites.site(home);
    let links = (0..count).flat_map(|from| graph.links_from(from).iter().map(move |to| (from, *to)));
    let farmed = Graph::from_links(all, links.chain((count..all).map(|from| (from, home))), sorting.clone())?;
    let sites: Vec<u32> =
        (0..count).map(|page| page_sites.site(page)).chain((count..all).map(|_| site)).collect();
    let farmed_places = PageSites::new(&sites, page_sites.domains_of_sites())?;

    let options = PageRankOptions { scale: RankScale::PerPage, ..*rank };
    let ranks_before = page_rank(graph, &options, Teleport::Everywhere, None)?.values;
    let mut start = ranks_before.clone();
    start.resize(all as usize, 1.0);
    let ranks = page_rank(&farmed, &options, Teleport::Everywhere, Some(&start))?.values;
    let counts =
        |graph: &Graph, page_sites| Ok::<_, GraphError>(link_counts(graph, page_sites)?[home as usize]);
    let (before, after) = (counts(graph, page_sites)?, counts(&farmed, farmed_places)?);
    let rank_of_site = |graph: &Graph, page_sites| {
        Ok::<_, GraphError>(site_rank(graph, page_sites, &options, sorting.clone())?.values[site as usize])
    };
    let d = options.damping;
    let base = base_rank(&farmed, &ranks, d);
    let base_before = base_rank(graph, &ranks_before, d);
    let rank_before = ranks_before[home as usize];
    let scaled = (base / base_before - 1.0).max(0.0) * rank_before;
    Ok(FarmEffect {
        pages,
        in_degree: BeforeAfter { before: before.raw_link_hits, after: after.raw_link_hits },
        link_hits: BeforeAfter { before: before.link_hits, after: after.link_hits },
        site_rank: BeforeAfter {
            before: rank_of_site(graph, page_sites)?,
            after: rank_of_site(&farmed, farmed_places)?,
        },
        page_rank: BeforeAfter { before: rank_before, after: ranks[home as usize] },
        bound: f64::from(pages) * base * d / (1.0 - d * d) + scaled,
    })
}

/// Returns the rank of a page without in-links: the teleport share plus its share of the rank of dangling pages.
fn base_rank(graph: &Graph, ranks: &[f64], damping: f64) -> f64 {
    let dangling = (0..graph.pages()).zip(ranks).filter(|(page, _)| graph.links_from(*page).is_empty());
    (1.0 - damping) + damping * sum(dangling.map(|(_, rank)| *rank)) / f64::from(graph.pages().max(1))
}

#[cfg(test)]
mod tests {
    use pharos_core::{LibraryPositions, PageUrl};
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
            (0..12).for_each(|page| builder.add_page(&url(page)).unwrap());
            for (from, to) in links {
                builder.add_link(&url(from), &url(to), "").unwrap();
            }
            let (relations, _) = builder.finish(LibraryPositions::START, 0).unwrap();
            let farm = simulate_farm(&relations, home, pages, &PageRankOptions::default(), &GraphOptions::default()).unwrap();
            prop_assert_eq!(farm.in_degree.after, farm.in_degree.before + pages);
            prop_assert_eq!(farm.link_hits.after, farm.link_hits.before);
            prop_assert!((farm.site_rank.after - farm.site_rank.before).abs() < 1e-9);
            let gained = farm.page_rank.after - farm.page_rank.before;
            prop_assert!(gained <= farm.bound + 1e-9, "{farm:?}");
        }
    }
}
