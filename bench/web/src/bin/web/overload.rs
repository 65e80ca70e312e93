//! Overload: which requests are rejected, and how.

use std::sync::Arc;
use std::time::Duration;

use bench_web::client::{self, Plan};
use bench_web::figures::count;
use bench_web::process::{Usage, Watch};
use tokio::runtime::Builder;

use crate::{Bench, Outcome};

pub fn print(bench: &mut Bench) -> Outcome<()> {
    // Queries sent long ago may have been evicted.
    bench.warm()?;
    let connections = bench.connections.iter().copied().max().unwrap_or_default();
    let process = bench.server.process();
    let crowd = Plan {
        address: bench.server.address,
        connections,
        duration: bench.duration,
        paths: Arc::clone(&bench.questions.fresh),
        first: bench.questions.begin(),
    };
    // A client that sends cached queries, from before the overload begins until it is nearly over.
    let one = Plan {
        connections: 1,
        duration: bench.duration.saturating_sub(Duration::from_millis(500)),
        paths: Arc::clone(&bench.questions.known),
        first: 0,
        ..crowd.clone()
    };
    let (before, watch) = (Usage::of(process), Watch::start(process));
    let crowd = bench.runtime.spawn(client::run(crowd));
    // On its own thread, so that it does not wait for the other clients.
    let one = Builder::new_current_thread().enable_all().build()?.block_on(async {
        wait_for_files(process, connections).await;
        client::run(one).await
    });
    let crowd = bench.runtime.block_on(crowd)?;
    let (most, after) = (watch.end(), Usage::of(process));
    bench.questions.took(crowd.statuses.values().sum(), connections);
    let of_status = |status: u16| crowd.statuses.get(&status).copied().unwrap_or(0);
    println!("| {} connections with new queries | |", count(connections));
    println!("|---|---|");
    println!("| answers (200) | {}, {}/s |", count(of_status(200)), count(crowd.per_second() as usize));
    println!("| rejected (503) | {} |", count(of_status(503)));
    println!("| of these, with Retry-After | {} |", count(crowd.with_retry_after));
    println!("| broken connections and other statuses | {} |", others(&crowd));
    println!(
        "| connections without an answer | {} |",
        count(crowd.answers.iter().filter(|n| **n == 0).count())
    );
    println!("| p50, p99 of an answer | {}, {} |", crowd.time(0.5), crowd.time(0.99));
    println!("| cached queries meanwhile: answers | {} |", count(one.times.len()));
    println!("| p50, p99, max | {}, {}, {} |", one.time(0.5), one.time(0.99), one.time(1.0));
    println!("| errors of cached queries | {} |", one.trouble());
    println!(
        "| memory before, peak, after (MB) | {:.0}, {:.0}, {:.0} |",
        before.megabytes(),
        most.megabytes(),
        after.megabytes()
    );
    println!("| open files, threads, peak | {}, {} |", count(most.open_files), count(most.threads));
    if bench.server.is_running() { Ok(()) } else { Err("the server crashed".into()) }
}

/// Returns everything that is neither an answer nor a 503.
fn others(report: &client::Report) -> String {
    let statuses = report.statuses.iter().filter(|(status, _)| !matches!(**status, 200 | 503));
    let statuses = statuses.map(|(status, n)| format!("{n} × {status}"));
    let all: Vec<_> =
        statuses.chain(report.problems.iter().map(|(what, n)| format!("{n} × {what}"))).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

/// Waits until most connections are open.
async fn wait_for_files(process: u32, connections: usize) {
    for _ in 0..300 {
        if Usage::of(process).open_files >= connections {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
