//! What a link farm gains: a thousand own pages that all link home.
//!
//! # The bound
//! Let z solve z = 1 + d · Pᵀz, the walk without jumps from pages that have no links; with those jumps going where all
//! others go, ranks are p = z / Z with Z = Σz, and Z = N / (1 − d · (1 − D)), where D is the rank of pages without
//! links. A farm of k pages to which nobody links has z = 1 on each of its pages and gives the home page h d · k more.
//! That passes on along the links of h, and some of it comes back: with G = (I − dP)⁻¹
//!
//! > z′(h) = z(h) + d · k · G(h, h),  Z′ = Z + k + d · k · Σ G(h, v)
//!
//! A way back to h takes at least two links, so 1 ≤ G(h, h) ≤ 1 / (1 − d²); and 1 ≤ Σ G(h, v) ≤ 1 / (1 − d). So
//!
//! > (z(h) + d·k) / (Z + k / (1 − d))  ≤  p′(h)  ≤  (z(h) + d·k / (1 − d²)) / (Z + k · (1 + d))

use pharos_graph::link_counts::link_counts;
use pharos_graph::pagerank::{RankRules, Ranks, Teleport, page_rank, site_rank};
use pharos_graph::web::{BuildRules, Graph, Places};

use crate::Outcome;
use crate::web::Web;

const FARM: u32 = 1_000;

/// Prints what changes when the site of an average page gets a farm.
pub fn print(web: &Web, graph: &Graph, ranks: &Ranks, rules: &RankRules) -> Outcome<()> {
    let counts = link_counts(graph, Places::new(&web.site_of_page, &web.domain_of_site)?)?;
    let is_average = |page: u32| {
        let links = counts[page as usize];
        (5..50).contains(&links.link_hits) && links.out_degree > 0
    };
    let middle = web.sites() as u32 / 2;
    let site = (middle..web.sites() as u32).find(|site| is_average(web.home(*site))).unwrap_or(middle);
    let home = web.home(site);

    let old = (0..graph.pages()).flat_map(|page| graph.links_from(page).iter().map(move |to| (page, *to)));
    let farm = (graph.pages()..graph.pages() + FARM).map(|page| (page, home));
    let farmed = Graph::from_links(graph.pages() + FARM, old.chain(farm), BuildRules::default())?;
    let site_of_page: Vec<u32> =
        web.site_of_page.iter().copied().chain(std::iter::repeat_n(site, FARM as usize)).collect();

    let before_places = Places::new(&web.site_of_page, &web.domain_of_site)?;
    let after_places = Places::new(&site_of_page, &web.domain_of_site)?;
    let links_after = link_counts(&farmed, after_places)?[home as usize];
    let sites = |graph, places| site_rank(graph, places, rules, BuildRules::default());
    let (sites_before, sites_after) = (sites(graph, before_places)?, sites(&farmed, after_places)?);
    let largest_change = sites_before.values.iter().zip(&sites_after.values).map(|(a, b)| (a - b).abs());

    let mut start = ranks.values.clone();
    start.resize(farmed.pages() as usize, 1.0 / f64::from(farmed.pages()));
    let after = page_rank(&farmed, rules, Teleport::Everywhere, Some(&start))?.values[home as usize];
    let before = ranks.values[home as usize];
    let (least, most) = bounds(graph, ranks, home, rules.damping);

    println!("\nA farm of {FARM} pages that all link to page {home}:\n");
    println!("| of that page | before | after | bound |");
    println!("|---|---|---|---|");
    println!(
        "| links from all pages | {} | {} | |",
        counts[home as usize].raw_link_hits, links_after.raw_link_hits
    );
    println!(
        "| links from other domains | {} | {} | unchanged |",
        counts[home as usize].link_hits, links_after.link_hits
    );
    let of_site = |ranks: &Ranks| ranks.values[site as usize];
    println!(
        "| rank of its site | {:.6e} | {:.6e} | unchanged |",
        of_site(&sites_before),
        of_site(&sites_after)
    );
    println!("| PageRank | {before:.6e} | {after:.6e} | {least:.6e} to {most:.6e} |");
    let average = f64::from(graph.pages());
    println!(
        "| PageRank, average page = 1 | {:.1} | {:.1} | {:.1} to {:.1} |",
        before * average,
        after * f64::from(farmed.pages()),
        least * f64::from(farmed.pages()),
        most * f64::from(farmed.pages()),
    );
    println!("\nLargest change of a site's rank: {:e}.", largest_change.fold(0.0, f64::max));
    Ok(())
}

/// The least and the most that a page can have after the farm; see above.
fn bounds(graph: &Graph, ranks: &Ranks, home: u32, damping: f64) -> (f64, f64) {
    let farm = f64::from(FARM);
    let without_links = |(page, _): &(u32, &f64)| graph.links_from(*page).is_empty();
    let dangling: f64 = (0..).zip(&ranks.values).filter(without_links).map(|(_, rank)| rank).sum();
    let all = f64::from(graph.pages()) / (1.0 - damping * (1.0 - dangling));
    let own = ranks.values[home as usize] * all;
    let least = (own + damping * farm) / (all + farm / (1.0 - damping));
    let most = (own + damping * farm / (1.0 - damping * damping)) / (all + farm * (1.0 + damping));
    (least, most)
}
