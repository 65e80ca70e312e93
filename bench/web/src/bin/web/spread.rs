//! Fairness: the distribution of answers over connections.

use std::sync::Arc;

use bench_web::client::{self, Plan};
use bench_web::figures::{count, quantile};

use crate::{Bench, Outcome};

pub fn print(bench: &mut Bench) -> Outcome<()> {
    println!(
        "| request | connections | answers/s | answers per connection: min | 5% | median | 95% | max | Jain | p50 | p99 | errors |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, is_fresh) in [("result page, cached", false), ("result page, new", true)] {
        for connections in bench.connections.clone() {
            let questions = &bench.questions;
            let (paths, first) =
                if is_fresh { (&questions.fresh, questions.begin()) } else { (&questions.known, 0) };
            let plan = Plan {
                address: bench.server.address,
                connections,
                duration: bench.duration,
                paths: Arc::clone(paths),
                first,
            };
            let report = bench.runtime.block_on(client::run(plan));
            if is_fresh {
                bench.questions.took(report.statuses.values().sum(), connections);
            }
            let answers =
                [0.0, 0.05, 0.5, 0.95, 1.0].map(|part| count(quantile(&report.answers, part) as usize));
            println!(
                "| {name} | {} | {} | {} | {:.3} | {} | {} | {} |",
                count(connections),
                count(report.per_second() as usize),
                answers.join(" | "),
                report.fairness(),
                report.time(0.5),
                report.time(0.99),
                report.trouble()
            );
        }
    }
    Ok(())
}
