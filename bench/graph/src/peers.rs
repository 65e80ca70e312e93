//! The peers. Each runs in a separate process, so that its memory is its own, on the files of [`disk`](crate::disk).

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use graph::prelude::{CsrLayout, DirectedCsrGraph, GraphBuilder, PageRankConfig};
use webgraph::graphs::arc_list_graph::ArcListGraph;
use webgraph::graphs::csr_graph::CsrGraph;
use webgraph_algo::rank::pagerank::{PageRank, preds};

use crate::Outcome;
use crate::disk::{Incoming, read_ranks, write_ranks};
use crate::meter::{Taken, measured};

pub const DAMPING: f64 = 0.85;

/// Peers in this program, and peers of `peers.py`.
pub const RUST: [&str; 2] = ["webgraph-algo", "graph"];
pub const PYTHON: [&str; 2] = ["networkit", "scipy"];

/// Measurements and ranks of a peer.
pub struct Answer {
    pub taken: Taken,
    pub rounds: u32,
    pub ranks: Vec<f64>,
}

/// Starts this program again as a peer.
pub fn start(peer: &str, directory: &Path, rounds: u32) -> Outcome<Answer> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--peer", peer]);
    answer(command, peer, directory, rounds)
}

/// Starts `peers.py`.
pub fn start_python(python: &str, peer: &str, directory: &Path, rounds: u32) -> Outcome<Answer> {
    let mut command = Command::new(python);
    command.args([concat!(env!("CARGO_MANIFEST_DIR"), "/peers.py"), peer]);
    answer(command, peer, directory, rounds)
}

fn answer(mut command: Command, peer: &str, directory: &Path, rounds: u32) -> Outcome<Answer> {
    let output = command.arg(directory).arg(rounds.to_string()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let [rounds, seconds, processor_seconds, peak_megabytes] = numbers[..] else {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(reason.lines().last().unwrap_or("no answer").to_string().into());
    };
    let ranks = read_ranks(&ranks_file(directory, peer))?;
    let taken = Taken { seconds, processor_seconds, peak_megabytes };
    Ok(Answer { taken, rounds: rounds as u32, ranks })
}

fn ranks_file(directory: &Path, peer: &str) -> std::path::PathBuf {
    directory.join(format!("{peer}.f64"))
}

/// Runs in the started process.
pub fn run(peer: &str, directory: &Path, rounds: u32) -> Outcome<()> {
    let incoming = Incoming::read(directory)?;
    let (taken, rounds, ranks) = match peer {
        "webgraph-algo" => webgraph_algo(incoming, rounds),
        "graph" => graph_crate(incoming, rounds),
        _ => return Err(format!("unknown peer {peer}").into()),
    };
    write_ranks(ranks.into_iter(), &ranks_file(directory, peer))?;
    println!("{rounds} {} {} {}", taken.seconds, taken.processor_seconds, taken.peak_megabytes);
    Ok(())
}

/// Gauss–Seidel in place with `f64` and compensated sums; dangling pages as in Pharos.
fn webgraph_algo(incoming: Incoming, rounds: u32) -> (Taken, usize, Vec<f64>) {
    // The variant that its documentation calls the fastest.
    let transpose =
        CsrGraph::from_seq_graph(&ArcListGraph::new(incoming.pages(), Arc::new(incoming).links()));
    let mut ranking = PageRank::new(&transpose);
    ranking.alpha(DAMPING);
    // It counts the links of every page before its first round and keeps the counts; not part of a round.
    ranking.run(preds::MaxIter::from(1));
    let (taken, ()) = measured(|| ranking.run(preds::MaxIter::from(rounds as usize)));
    (taken, ranking.iterations(), ranking.rank().to_vec())
}

/// In place with `f32`; the rank of dangling pages is dropped, which is the same after normalisation.
fn graph_crate(incoming: Incoming, rounds: u32) -> (Taken, usize, Vec<f64>) {
    let pages = incoming.pages();
    let turned = |(page, source)| (source as u32, page as u32);
    let links: Vec<(u32, u32)> = Arc::new(incoming).links().map(turned).collect();
    let graph: DirectedCsrGraph<u32> = GraphBuilder::new().csr_layout(CsrLayout::Sorted).edges(links).build();
    let config = PageRankConfig::new(rounds as usize, 0.0, DAMPING as f32);
    let (taken, (ranks, rounds, _)) = measured(|| graph::page_rank::page_rank(&graph, config));
    // It has no pages after the last link; they get the teleport share.
    let least = ranks.iter().copied().fold(f32::INFINITY, f32::min);
    let ranks = ranks.into_iter().chain(std::iter::repeat(least)).take(pages);
    (taken, rounds, ranks.map(f64::from).collect())
}
