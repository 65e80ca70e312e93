//! The effect of a link farm of a thousand pages. The bound is derived in `pharos_graph::rank::link_farm`.

use pharos_graph::rank::link_farm::simulate_farm_in_graph;
use pharos_graph::rank::link_counts::link_counts;
use pharos_graph::rank::pagerank::PageRankOptions;
use pharos_graph::web::{GraphOptions, Graph, PageSites};

use crate::Outcome;
use crate::web::Web;

const FARM: u32 = 1_000;

/// Prints the effect of a farm on the site of an average page.
pub fn print(web: &Web, graph: &Graph, rules: &PageRankOptions) -> Outcome<()> {
    let places = PageSites::new(&web.site_of_page, &web.domain_of_site)?;
    let counts = link_counts(graph, places)?;
    let is_average = |page: u32| {
        let links = counts[page as usize];
        (5..50).contains(&links.link_hits) && links.out_degree > 0
    };
    let middle = web.sites() as u32 / 2;
    let site = (middle..web.sites() as u32).find(|site| is_average(web.home(*site))).unwrap_or(middle);
    let home = web.home(site);
    drop(counts);

    let farm = simulate_farm_in_graph(graph, places, home, FARM, rules, &GraphOptions::default())?;
    println!("\nA farm of {FARM} pages that all link to page {home}:\n");
    println!("| value | before | after | bound |");
    println!("|---|---|---|---|");
    println!("| in-links | {} | {} | |", farm.in_degree.before, farm.in_degree.after);
    println!(
        "| in-links from other domains | {} | {} | unchanged |",
        farm.link_hits.before, farm.link_hits.after
    );
    println!(
        "| site rank, mean 1 | {:.6} | {:.6} | unchanged |",
        farm.site_rank.before, farm.site_rank.after
    );
    println!(
        "| PageRank, mean 1 | {:.1} | {:.1} | {:.1} |",
        farm.page_rank.before,
        farm.page_rank.after,
        farm.page_rank.before + farm.bound
    );
    Ok(())
}
