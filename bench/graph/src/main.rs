//! How fast, how small and how exact is PageRank, beside public implementations on the same graph, in the same run?
//!
//! `cargo run --release -p bench-graph -- [--pages 5000000] [--links 150000000] [--seed 1] [--rounds N] [--python PATH]
//! [--directory DIR]`
//!
//! Peers do as many rounds as ours takes to ε = 1e-10, or `--rounds`. Those of Python need an interpreter with numpy and
//! scipy or networkit (`python3 -m venv DIR && DIR/bin/pip install scipy networkit`, then `--python DIR/bin/python`); a
//! peer that is not there is left out with its reason. The graph goes through files in `--directory`, 4 bytes a link.
//!
//! A ratio above 1 says that ours is faster. Differences are between ranks that sum to one.

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
use pharos_graph::pagerank::{RankRules, Ranks, Teleport, page_rank};
use pharos_graph::web::{BuildRules, Graph, GraphBuilder, Places, closure};

use self::meter::{Taken, measured};
use self::peers::{Answer, DAMPING};
use self::web::Web;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Pages for petgraph, whose work grows with the square of their number.
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
    let rules = RankRules { damping: DAMPING, ..RankRules::default() };
    let (taken, ranks) = measured(|| page_rank(&graph, &rules, Teleport::Everywhere, None));
    let ranks = ranks?;
    println!(
        "PageRank: ε = {:e} after {} rounds; at most {:.1e} from the solution (L1)\n",
        rules.tolerance, ranks.rounds, ranks.error_bound
    );
    let threads = rayon::current_num_threads();
    let ours = Line { name: format!("ours, {threads} threads"), taken, rounds: ranks.rounds };
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
    // Once more: where the two lines of ours differ, the machine was busy with something else.
    let (taken, again) = measured(|| page_rank(&graph, &rules, Teleport::Everywhere, None));
    Line { name: "ours, after the peers".to_string(), taken, rounds: again?.rounds }.print(&ours, None);
    small(arguments.seed)?;
    farm::print(&web, &graph, &rules)
}

/// Builds the graph and prints what it took, with the making of the links subtracted.
fn build(web: &Web, planning: Taken) -> Outcome<Graph> {
    let (making, _) = measured(|| web.links(|_, _| Ok::<(), Infallible>(())));
    let (building, graph) = measured(|| -> Result<Graph, GraphError> {
        let mut builder = GraphBuilder::new(BuildRules::default());
        web.links(|from, to| builder.add(from, to))?;
        builder.finish(web.pages)
    });
    let graph = graph?;
    let places = Places::new(&web.site_of_page, &web.domain_of_site)?;
    let dangling = (0..graph.pages()).filter(|page| graph.links_from(*page).is_empty()).count();
    let most = (0..graph.pages()).map(|page| graph.links_to(page).len()).max().unwrap_or(0);
    println!(
        "{} pages, {} sites, {} links: {:.0} % within their domain, {:.0} % of pages without, {most} to one page at most",
        graph.pages(),
        web.sites(),
        graph.links(),
        100.0 * closure(&graph, places)?.share_inside(),
        100.0 * dangling as f64 / f64::from(graph.pages()),
    );
    let seconds = building.seconds - making.seconds;
    println!(
        "building: {seconds:.1} s ({:.1} million links/s, making them not counted), {:.0} MB at most, {:.0} MB of them \
         the tables of this benchmark",
        graph.links() as f64 / seconds / 1e6,
        building.peak_megabytes,
        planning.peak_megabytes,
    );
    Ok(graph)
}

/// Ours on one thread, a few rounds only: they are all alike.
fn one_thread(graph: &Graph, rules: &RankRules, ours: &Line) -> Outcome<()> {
    let rules = RankRules { max_rounds: ours.rounds.min(10), tolerance: 0.0, ..*rules };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (taken, ranks) = measured(|| pool.install(|| page_rank(graph, &rules, Teleport::Everywhere, None)));
    Line { name: "ours, 1 thread".to_string(), taken, rounds: ranks?.rounds }.print(ours, None);
    Ok(())
}

fn report(peer: &str, answer: Outcome<Answer>, ours: &Line, ranks: &Ranks) {
    match answer {
        Ok(Answer { taken, rounds, ranks: theirs }) => {
            let line = Line { name: peer.to_string(), taken, rounds };
            line.print(ours, Some(difference(&ranks.values, &theirs)));
        }
        Err(reason) => println!("| {peer} | not measured: {reason} | | | | | | |"),
    }
}

/// petgraph looks at every pair of pages in every round: a small web has to do.
fn small(seed: u64) -> Outcome<()> {
    let web = Web::new(FEW_PAGES, u64::from(FEW_PAGES) * 30, seed);
    let mut links = Vec::new();
    web.links(|from, to| {
        links.push((from, to));
        Ok::<(), Infallible>(())
    })?;
    let graph = Graph::from_links(FEW_PAGES, links.iter().copied(), BuildRules::default())?;
    let rules =
        RankRules { damping: DAMPING, tolerance: 0.0, max_rounds: FEW_ROUNDS, ..RankRules::default() };
    let (taken, ranks) = measured(|| page_rank(&graph, &rules, Teleport::Everywhere, None));
    let ranks = ranks?;
    let ours = Line { name: "ours".to_string(), taken, rounds: ranks.rounds };
    let mut other = DiGraph::<(), ()>::new();
    for _ in 0..FEW_PAGES {
        other.add_node(());
    }
    other.extend_with_edges(links);
    let (taken, theirs) =
        measured(|| petgraph::algo::page_rank::page_rank(&other, DAMPING, FEW_ROUNDS as usize));
    println!(
        "\nA web of {FEW_PAGES} pages for petgraph, which takes the square of the pages (and leaves out the jumps along \
         links, so that its ranks are others):\n"
    );
    head();
    ours.print(&ours, None);
    let line = Line { name: "petgraph".to_string(), taken, rounds: FEW_ROUNDS };
    line.print(&ours, Some(difference(&ranks.values, &theirs)));
    Ok(())
}

/// L∞ and L1 between two lists of ranks, each scaled to sum to one.
fn difference(ours: &[f64], theirs: &[f64]) -> (f64, f64) {
    let (our_sum, their_sum) = (ours.iter().sum::<f64>(), theirs.iter().sum::<f64>());
    let theirs = theirs.iter().copied().chain(iter::repeat(f64::NAN));
    let apart = ours.iter().zip(theirs).map(|(ours, theirs)| (ours / our_sum - theirs / their_sum).abs());
    // A maximum that keeps what is no number, unlike `f64::max`.
    apart.fold((0.0, 0.0), |(most, sum), apart| (if apart <= most { most } else { apart }, sum + apart))
}

/// A line of the table.
struct Line {
    name: String,
    taken: Taken,
    rounds: u32,
}

fn head() {
    println!(
        "| | rounds | s a round | processor s a round | time by ours | peak MB | L∞ to ours | L1 to ours |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

impl Line {
    fn print(&self, ours: &Line, difference: Option<(f64, f64)>) {
        let per_round = |line: &Line| line.taken.seconds / f64::from(line.rounds.max(1));
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
