//! Maximum throughput, measured by wrk.

use std::sync::Arc;

use bench_web::figures::{count, time};
use bench_web::process::{Usage, Watch};

use crate::peer::Nginx;
use crate::wrk::{Figures, Wrk};
use crate::{Bench, Outcome, wire};

/// A kind of request, and whether each is sent only once.
struct Kind {
    name: &'static str,
    paths: Arc<[String]>,
    is_fresh: bool,
}

pub fn print(bench: &mut Bench) -> Outcome<()> {
    let Some(wrk) = Wrk::find()? else {
        println!("load: wrk is not installed (Debian: apt-get install wrk)");
        return Ok(());
    };
    let one = |path: &str| Arc::from([path.to_string()]);
    let repeated = |name, paths| Kind { name, paths, is_fresh: false };
    let kinds = [
        repeated("result page, cached", Arc::clone(&bench.questions.known)),
        Kind { name: "result page, new", paths: Arc::clone(&bench.questions.fresh), is_fresh: true },
        repeated("suggestions", Arc::clone(&bench.questions.typed)),
        repeated("home page", one("/")),
        repeated("style sheet", one("/static/style.css")),
    ];
    println!(
        "| request | connections | requests/s | p50 | p99 | max | errors | memory before → after, peak (MB) | files |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for kind in &kinds {
        for connections in bench.connections.clone() {
            let first = if kind.is_fresh { bench.questions.begin() } else { 0 };
            let (before, watch) = (Usage::of(bench.server.process()), Watch::start(bench.server.process()));
            let figures = wrk.run(bench.server.address, &kind.paths, first, connections, bench.duration)?;
            let (most, after) = (watch.end(), Usage::of(bench.server.process()));
            if kind.is_fresh {
                bench.questions.took(figures.requests, connections);
            }
            let memory =
                format!("{:.0} → {:.0}, {:.0}", before.megabytes(), after.megabytes(), most.megabytes());
            row(kind.name, connections, &figures, &memory, &count(most.open_files));
            if !bench.server.is_running() {
                return Err("the server crashed".into());
            }
        }
    }
    print_peer(bench, &wrk)
}

fn row(name: &str, connections: usize, figures: &Figures, memory: &str, files: &str) {
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {memory} | {files} |",
        count(connections),
        count(figures.per_second as usize),
        time(figures.p50),
        time(figures.p99),
        time(figures.max),
        figures.trouble()
    );
}

/// Measures nginx with the same bytes as a file.
fn print_peer(bench: &Bench, wrk: &Wrk) -> Outcome<()> {
    let path = bench.questions.known.first().ok_or("nothing is known")?;
    let (answer, bytes) = wire::fetch(bench.server.address, path, "gzip, deflate, br")?;
    let most = bench.connections.iter().copied().max().unwrap_or_default();
    let Some(nginx) = Nginx::start(&bytes[answer.head..], most)? else {
        println!("\nnginx is not installed, so there is no peer (Debian: apt-get install nginx)");
        return Ok(());
    };
    for connections in bench.connections.iter().copied() {
        let figures = wrk.run(nginx.address, &["/page".to_string()], 0, connections, bench.duration)?;
        row("nginx, a result page as a file", connections, &figures, "–", "–");
    }
    Ok(())
}
