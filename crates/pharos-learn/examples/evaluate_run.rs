//! Evaluates two small runs against relevance judgements: nDCG, MAP and MRR per query and on average.
//!
//! ```text
//! cargo run -p pharos-learn --example evaluate_run
//! ```
//!
//! The judgements and both runs are built in. `Collection::read` reads judgements from the files of a test collection.

use pharos_learn::collection::{Collection, TestQuery};
use pharos_learn::metrics::Discount;
use pharos_learn::report::{Measure, evaluate};
use pharos_learn::run::Rankings;

/// Query text and graded documents: 2 is highly relevant, 1 relevant, 0 irrelevant.
const JUDGEMENTS: [(&str, &[(&str, u32)]); 2] = [
    ("lighthouse", &[("alexandria", 2), ("harbour", 1), ("ferry", 0)]),
    ("灯塔 历史", &[("alexandria", 1), ("history", 2)]),
];

/// Documents of each query in the order in which two engines return them.
const BASELINE: [&[&str]; 2] = [&["ferry", "alexandria", "harbour"], &["ferry", "alexandria"]];
const IMPROVED: [&[&str]; 2] = [&["alexandria", "harbour", "ferry"], &["alexandria", "history"]];

/// The lowest grade that counts as relevant for MAP and MRR.
const RELEVANT_FROM: u32 = 1;

fn main() {
    let queries = JUDGEMENTS.iter().enumerate().map(|(number, (text, judged))| TestQuery {
        id: query_id(number),
        text: (*text).into(),
        judged: judged.iter().map(|&(document, grade)| (document.to_string(), grade)).collect(),
        candidates: None,
    });
    let collection = Collection { queries: queries.collect(), ..Collection::default() };
    let measures = [Measure::Ndcg(Discount::Log, 10), Measure::AveragePrecision, Measure::ReciprocalRank];
    println!("{:<20} {:>8} {:>8} {:>8}", "", "nDCG@10", "AP", "RR");
    for (name, documents) in [("baseline", BASELINE), ("improved", IMPROVED)] {
        let report = evaluate(&collection, &to_rankings(documents), RELEVANT_FROM);
        for (query, values) in &report.per_query {
            let [ndcg, ap, rr] = measures.map(|measure| values[&measure]);
            println!("{:<20} {ndcg:>8.4} {ap:>8.4} {rr:>8.4}", format!("{name}, query {query}"));
        }
        let [ndcg, map, mrr] = measures.map(|measure| report.means[&measure]);
        println!("{:<20} {ndcg:>8.4} {map:>8.4} {mrr:>8.4}", format!("{name}, mean"));
    }
}

fn to_rankings(documents: [&[&str]; 2]) -> Rankings {
    let ranked = documents.iter().map(|ranking| ranking.iter().map(ToString::to_string).collect());
    ranked.enumerate().map(|(number, ranking)| (query_id(number), ranking)).collect()
}

fn query_id(number: usize) -> String {
    (number + 1).to_string()
}
