//! Speed, memory and accuracy of PageRank, compared with public implementations on the same graph in the same run.
//!
//! `cargo run --release -p bench-graph -- [--pages 5000000] [--links 150000000] [--seed 1] [--rounds N] [--python PATH]
//! [--directory DIR]`
//!
//! Peers run as many rounds as Pharos needs for ε = 1e-10, or `--rounds`. Python peers need an interpreter with numpy
//! and scipy or networkit (`python3 -m venv DIR && DIR/bin/pip install scipy networkit`, then `--python
//! DIR/bin/python`); a missing peer is skipped with its reason. The graph is exchanged through files in `--directory`,
//! 4 bytes per link.
//!
//! A ratio above 1 means that Pharos is faster. Differences are between ranks that sum to one.

mod disk;
mod farm;
mod meter;
mod peers;
mod web;

use std::convert::Infallible;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, iter};

use petgraph::graph::DiGraph;
use pharos_graph::GraphError;
use pharos_graph::rank::pagerank::{PageRankOptions, RankVector, Teleport, page_rank};
use pharos_graph::web::{GraphOptions, Graph, GraphBuilder, PageSites, link_closure};

use self::meter::{Taken, measured};
use self::peers::{Answer, DAMPING};
use self::web::Web;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of pages for petgraph, whose work is quadratic.
const FEW_PAGES: u32 = 2_000;
const FEW_ROUNDS: u32 = 20;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [flag, peer, directory, rounds] = &arguments[..]
        && flag == "--peer"
    {
        return peers::run(peer, Path::new(directory), rounds.parse()?);
    }
    let arguments = Arguments::parse(arguments)?;
    let (planning, web) = measured(|| Web::new(arguments.pages, arguments.links, arguments.seed));
    let graph = build(&web, planning)?;
    let rules = PageRankOptions { damping: DAMPING, ..PageRankOptions::default() };
    let (taken, ranks) = measured(|| page_rank(&graph, &rules, Teleport::Everywhere, None));
    let ranks = ranks?;
    println!(
        "PageRank: ε = {:e} after {} rounds; L1 error at most {:.1e}\n",
        rules.tolerance, ranks.rounds, ranks.error_bound
    );
    let threads = rayon::current_num_threads();
    let ours = ResultRow { name: format!("Pharos, {threads} threads"), taken, rounds: ranks.rounds };
    head();
    ours.print(&ours, None);
    one_thread(&graph, &rules, &ours)?;

    let directory = tempfile::tempdir_in(&arguments.directory)?;
    disk::write_graph(&graph, directory.path())?;
    let rounds = arguments.rounds.unwrap_or(ranks.rounds);
    for peer in peers::RUST {
        report(peer, peers::start(peer, directory.path(), rounds), &ours, &ranks);
    }
    for peer in peers::PYTHON {
        let answer = peers::start_python(&arguments.python, peer, directory.path(), rounds);
        report(peer, answer, &ours, &ranks);
    }
    // Measured twice: if the two rows of Pharos differ, the machine was busy.
    let (taken, again) = measured(|| page_rank(&graph, &rules, Teleport::Everywhere, None));
    ResultRow { name: "Pharos, after the peers".to_string(), taken, rounds: again?.rounds }
        .print(&ours, None);
    small(arguments.seed)?;
    farm::print(&web, &graph, &rules)
}

/// Builds the graph and prints the resources, without the generation of the links.
fn build(web: &Web, planning: Taken) -> Outcome<Graph> {
    let (making, _) = measured(|| web.links(|_, _| Ok::<(), Infallible>(())));
    let (building, graph) = measured(|| -> Result<Graph, GraphError> {
        let mut builder = GraphBuilder::new(GraphOptions::default());
        web.links(|from, to| builder.add(from, to))?;
        builder.finish(web.pages)
    });
    let graph = graph?;
    let places = PageSites::new(&web.site_of_page, &web.domain_of_site)?;
    let dangling = (0..graph.pages()).filter(|page| graph.links_from(*page).is_empty()).count();
    let most = (0..graph.pages()).map(|page| graph.links_to(page).len()).max().unwrap_or(0);
    println!(
        "{} pages, {} sites, {} links: {:.0} % within their domain, {:.0} % of pages dangling, maximum in-degree {most}",
        graph.pages(),
        web.sites(),
        graph.links(),
        100.0 * link_closure(&graph, places)?.share_inside(),
        100.0 * dangling as f64 / f64::from(graph.pages()),
    );
    let seconds = building.seconds - making.seconds;
    println!(
        "building: {seconds:.1} s ({:.1} million links/s, without generating them), peak {:.0} MB, of which {:.0} MB \
         are tables of this benchmark",
        graph.links() as f64 / seconds / 1e6,
        building.peak_megabytes,
        planning.peak_megabytes,
    );
    Ok(graph)
}

/// Measures Pharos on one thread, with a few rounds only: all rounds are alike.
fn one_thread(graph: &Graph, rules: &PageRankOptions, ours: &ResultRow) -> Outcome<()> {
    let rules = PageRankOptions { max_rounds: ours.rounds.min(10), tolerance: 0.0, ..*rules };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (taken, ranks) = measured(|| pool.install(|| page_rank(graph, &rules, Teleport::Everywhere, None)));
    ResultRow { name: "Pharos, 1 thread".to_string(), taken, rounds: ranks?.rounds }.print(ours, None);
    Ok(())
}

fn report(peer: &str, answer: Outcome<Answer>, ours: &ResultRow, ranks: &RankVector) {
    match answer {
        Ok(Answer { taken, rounds, ranks: theirs }) => {
            let line = ResultRow { name: peer.to_string(), taken, rounds };
            line.print(ours, Some(difference(&ranks.values, &theirs)));
        }
        Err(reason) => println!("| {peer} | not measured: {reason} | | | | | | |"),
    }
}

/// Compares with petgraph on a small web, because it visits every pair of pages in every round.
fn small(seed: u64) -> Outcome<()> {
    let web = Web::new(FEW_PAGES, u64::from(FEW_PAGES) * 30, seed);
    let mut links = Vec::new();
    web.links(|from, to| {
        links.push((from, to));
        Ok::<(), Infallible>(())
    })?;
    let graph = Graph::from_links(FEW_PAGES, links.iter().copied(), GraphOptions::default())?;
    let rules =
        PageRankOptions { damping: DAMPING, tolerance: 0.0, max_rounds: FEW_ROUNDS, ..PageRankOptions::default() };
    let (taken, ranks) = measured(|| page_rank(&graph, &rules, Teleport::Everywhere, None));
    let ranks = ranks?;
    let ours = ResultRow { name: "Pharos".to_string(), taken, rounds: ranks.rounds };
    let mut other = DiGraph::<(), ()>::new();
    for _ in 0..FEW_PAGES {
        other.add_node(());
    }
    other.extend_with_edges(links);
    let (taken, theirs) =
        measured(|| petgraph::algo::page_rank::page_rank(&other, DAMPING, FEW_ROUNDS as usize));
    println!(
        "\nA web of {FEW_PAGES} pages for petgraph, whose time is quadratic (it excludes teleports along links, so \
         its ranks differ):\n"
    );
    head();
    ours.print(&ours, None);
    let line = ResultRow { name: "petgraph".to_string(), taken, rounds: FEW_ROUNDS };
    line.print(&ours, Some(difference(&ranks.values, &theirs)));
    Ok(())
}

/// Returns the L∞ and L1 distances of two rank vectors, each scaled to sum to one.
fn difference(ours: &[f64], theirs: &[f64]) -> (f64, f64) {
    let (our_sum, their_sum) = (ours.iter().sum::<f64>(), theirs.iter().sum::<f64>());
    let theirs = theirs.iter().copied().chain(iter::repeat(f64::NAN));
    let apart = ours.iter().zip(theirs).map(|(ours, theirs)| (ours / our_sum - theirs / their_sum).abs());
    // A maximum that propagates NaN, unlike `f64::max`.
    apart.fold((0.0, 0.0), |(most, sum), apart| (if apart <= most { most } else { apart }, sum + apart))
}

/// A row of the table.
struct ResultRow {
    name: String,
    taken: Taken,
    rounds: u32,
}

fn head() {
    println!(
        "| | rounds | s/round | processor s/round | time / Pharos | peak MB | L∞ to Pharos | L1 to Pharos |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

impl ResultRow {
    fn print(&self, ours: &ResultRow, difference: Option<(f64, f64)>) {
        let per_round = |line: &ResultRow| line.taken.seconds / f64::from(line.rounds.max(1));
        let difference = difference.map(|(most, sum)| format!("{most:.1e} | {sum:.1e}"));
        println!(
            "| {} | {} | {:.4} | {:.4} | {:.2} | {:.0} | {} |",
            self.name,
            self.rounds,
            per_round(self),
            self.taken.processor_seconds / f64::from(self.rounds.max(1)),
            per_round(self) / per_round(ours),
            self.taken.peak_megabytes,
            difference.as_deref().unwrap_or("|"),
        );
    }
}

struct Arguments {
    pages: u32,
    links: u64,
    seed: u64,
    rounds: Option<u32>,
    python: String,
    directory: PathBuf,
}

impl Arguments {
    fn parse(arguments: Vec<String>) -> Outcome<Self> {
        let mut parsed = Self {
            pages: 5_000_000,
            links: 150_000_000,
            seed: 1,
            rounds: None,
            python: "python3".to_string(),
            directory: env::temp_dir(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name}: a value is missing"))?;
            match name.as_str() {
                "--pages" => parsed.pages = value.parse()?,
                "--links" => parsed.links = value.parse()?,
                "--seed" => parsed.seed = value.parse()?,
                "--rounds" => parsed.rounds = Some(value.parse()?),
                "--python" => parsed.python = value,
                "--directory" => parsed.directory = PathBuf::from(value),
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(parsed)
    }
}
