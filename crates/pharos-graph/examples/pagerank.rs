//! Computes PageRank and TrustRank of a small link graph. The source of the first link is the trusted page.
//!
//! Run it with the built-in graph, or with links of your own, one argument each:
//!
//! ```text
//! cargo run -p pharos-graph --example pagerank
//! cargo run -p pharos-graph --example pagerank -- home:news news:home news:archive
//! ```

use std::collections::BTreeSet;
use std::env;
use std::error::Error;

use pharos_graph::{Graph, GraphOptions, PageRankOptions, Teleport, page_rank};

const SAMPLE: [&str; 7] =
    ["home:news", "home:about", "news:home", "news:article", "about:home", "article:home", "spam:article"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let given = if arguments.is_empty() { SAMPLE.map(String::from).to_vec() } else { arguments };
    let mut named_links = Vec::new();
    for link in &given {
        named_links.push(link.split_once(':').ok_or_else(|| format!("not a link FROM:TO: {link}"))?);
    }

    // The graph knows pages by number: the position of their name in this sorted list.
    let names: BTreeSet<&str> = named_links.iter().flat_map(|&(from, to)| [from, to]).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let number = |name: &str| names.partition_point(|other| *other < name) as u32;
    let links = named_links.iter().map(|&(from, to)| (number(from), number(to)));
    let graph = Graph::from_links(names.len() as u32, links, GraphOptions::default())?;

    let options = PageRankOptions::default();
    let ranks = page_rank(&graph, &options, Teleport::Everywhere, None)?;
    let trusted = [(number(named_links[0].0), 1.0)];
    let trust = page_rank(&graph, &options, Teleport::Seeds(&trusted), None)?;

    let mut order: Vec<u32> = (0..graph.pages()).collect();
    order.sort_by(|&a, &b| ranks.values[b as usize].total_cmp(&ranks.values[a as usize]));
    println!("{:<12} {:>8} {:>9} {:>9} {:>9}", "page", "in-links", "out-links", "PageRank", "TrustRank");
    for page in order {
        let (name, links_to, links_from) =
            (names[page as usize], graph.links_to(page).len(), graph.links_from(page).len());
        let (rank, trust) = (ranks.values[page as usize], trust.values[page as usize]);
        println!("{name:<12} {links_to:>8} {links_from:>9} {rank:>9.4} {trust:>9.4}");
    }
    println!("{} rounds, error at most {:.1e}", ranks.rounds, ranks.error_bound);
    Ok(())
}
