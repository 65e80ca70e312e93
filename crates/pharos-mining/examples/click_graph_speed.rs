//! Measures the click graph: builds it from 10 million clicks and walks from its queries.
//!
//! ```text
//! cargo run --release -p pharos-mining --example click_graph_speed [CLICKS]
//! ```

use std::time::{Duration, Instant};

use pharos_mining::clicks::ClickGraphBuilder;
use pharos_mining::clicks::walk::{WalkRules, walk_from_query};

/// Number of walks measured.
const WALKS: u32 = 2000;

fn main() {
    let clicks = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000_u64);
    let mut state = 42_u64;
    // Queries and pages follow Zipf's law approximately: the square of a uniform number concentrates on the first ones.
    let mut skewed = |most: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = (state >> 11) as f64 / (1_u64 << 53) as f64;
        (most * uniform * uniform) as u64
    };
    let started = Instant::now();
    let mut builder = ClickGraphBuilder::default();
    for _ in 0..clicks {
        let query = skewed(1_000_000.0);
        let page = (query * 7 + skewed(40.0)) % 2_000_000;
        builder.add(
            &format!("query {query}"),
            &format!("http://site{}.example/page/{page}", page % 1000),
            1.0,
        );
    }
    let graph = builder.finish();
    let built = started.elapsed();
    println!("{clicks} clicks, {:?} in {:.1} s", graph.sizes(), built.as_secs_f64());
    let rules = WalkRules { steps: 2, ..WalkRules::default() };
    let mut times: Vec<Duration> = (0..WALKS)
        .map(|nth| {
            let query = nth * (graph.sizes().queries as u32 / WALKS).max(1);
            let started = Instant::now();
            let reached = walk_from_query(&graph, query, &rules).top_queries(10);
            std::hint::black_box(reached);
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    let of = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e3;
    println!("two-step walk: median {:.3} ms, p99 {:.3} ms, maximum {:.3} ms", of(50), of(99), of(100));
}
