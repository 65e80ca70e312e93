//! Index statistics through the real binary.

use crate::common::{TestFolder, fail, succeed};
use serde_json::{Value, json};

/// A field that contains only the given words. Words of two letters have no stems, so that each is one term.
const TEXT: &str = "title";

fn feed(operations: &[(&str, &str, &str)]) -> String {
    let line = |(op, url, text): &(&str, &str, &str)| match *op {
        "delete" => json!({"op": op, "url": url}).to_string() + "\n",
        _ => json!({"op": op, "url": url, "title": text, "text": "mu"}).to_string() + "\n",
    };
    operations.iter().map(line).collect()
}

fn load(desk: &TestFolder, name: &str, operations: &[(&str, &str, &str)]) {
    let file = desk.file(name, feed(operations));
    succeed(&mut desk.on("data", &["load", file.to_str().unwrap()]));
}

fn field<'a>(figures: &'a Value, name: &str) -> &'a Value {
    figures["fields"].as_array().unwrap().iter().find(|field| field["field"] == name).unwrap()
}

/// Three pages in history; in latest, one of them is changed and another deleted.
fn desk() -> TestFolder {
    let desk = TestFolder::new();
    load(
        &desk,
        "first.jsonl",
        &[
            ("add", "http://a.example/", "ox ox mu"),
            ("add", "http://b.example/", "ox pi"),
            ("add", "http://c.example/", "mu nu"),
        ],
    );
    succeed(&mut desk.on("data", &["index", "build"]));
    load(
        &desk,
        "second.jsonl",
        &[("modify", "http://b.example/", "pi pi pi xi"), ("delete", "http://c.example/", "")],
    );
    desk
}

#[test]
fn statistics_of_posting_lists() {
    let desk = desk();
    let statistics = desk.json("data", &["index", "stats"]);
    let chain = &statistics["chain"];
    assert_eq!(chain["documents"], 2, "{chain}");
    let text = field(chain, TEXT);
    // ox 2, mu 1 on one page; pi 3, xi 1 on the other.
    assert_eq!((&text["terms"], &text["postings"], &text["occurrences"]), (&json!(4), &json!(4), &json!(7)));
    assert_eq!((&text["mean_list"], &text["single_document_terms"]), (&json!(1.0), &json!(4)));
    // ox and pi of b, mu and nu of c; no other page has nu.
    assert_eq!((&text["stale_postings"], &text["stale_terms"]), (&json!(4), &json!(1)));
    let ranks: Vec<_> =
        text["tf"].as_array().unwrap().iter().map(|r| (&r["term"], &r["frequency"])).collect();
    assert_eq!(ranks, [(&json!("pi"), &json!(3)), (&json!("ox"), &json!(2))]);
    assert!((text["tf"][0]["share"].as_f64().unwrap() - 3.0 / 7.0).abs() < 1e-12);
    assert_eq!((&text["df"][0]["term"], &text["df"][0]["share"]), (&json!("mu"), &json!(0.5)));
    // Every page contains mu, and its address contains two more words.
    assert_eq!(field(chain, "text")["df"][0]["term"], json!("example"));

    let generations = statistics["generations"].as_array().unwrap();
    let of =
        |prefix: &str| generations.iter().find(|g| g["name"].as_str().unwrap().starts_with(prefix)).unwrap();
    let (history, latest) = (of("history-"), of("latest-"));
    assert_eq!((&history["documents"], &history["stale_documents"]), (&json!(1), &json!(2)));
    assert_eq!((&latest["documents"], &latest["stale_documents"]), (&json!(1), &json!(1)));
    assert_eq!(field(history, TEXT)["occurrences"], 3);
    assert_eq!(field(latest, TEXT)["occurrences"], 4);
    let bytes = |figures: &Value| figures["space"]["total"].as_u64().unwrap();
    assert_eq!(bytes(chain), generations.iter().map(bytes).sum::<u64>());
    assert_eq!(chain["bytes_per_document"].as_f64().unwrap(), bytes(chain) as f64 / 2.0);

    let estimates = &statistics["estimates"];
    assert_eq!(estimates["field"], "text");
    assert_eq!(estimates["size"]["book"]["blocks"], 6_850);
    let largest = |name: &str| field(chain, "text")[name].as_f64().unwrap();
    let list = |name: &str| estimates["list"][name].as_f64().unwrap();
    assert!((list("bytes") - 10.0 * largest("mean_list")).abs() < 1e-9);
    let mean = largest("occurrences") / largest("terms");
    assert!((list("full_text_bytes") - 10.0 * (largest("mean_list") + mean)).abs() < 1e-9);
    let most = |stats: &Value| stats["estimates"]["throughput"]["most_queries"].as_f64().unwrap();
    assert!((most(&statistics) - 20.0).abs() < 1e-9);
    let other =
        desk.json("data", &["index", "stats", "--latency", "5", "--query-terms", "2", "--ranks", "1"]);
    assert!((most(&other) - 100.0).abs() < 1e-9);
    assert_eq!(field(&other["chain"], TEXT)["tf"].as_array().unwrap().len(), 1);

    let words = succeed(&mut desk.on("data", &["index", "stats"]));
    for part in ["documents", "Zipf", "history-1", "positions", "estimates for field", "queries per second"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    let only = desk.json("data", &["index", "stats", "--field", "site"]);
    assert_eq!(only["chain"]["fields"].as_array().unwrap().len(), 1);
    assert!(fail(&mut desk.on("data", &["index", "stats", "--field", "colour"])).contains("colour"));
    assert!(fail(&mut desk.on("elsewhere", &["index", "stats"])).contains("elsewhere"));
}

#[test]
fn a_term_is_explained() {
    let desk = desk();
    let explanation = desk.json("data", &["index", "explain", "Ox"]);
    assert_eq!((&explanation["documents"], &explanation["tokens"][0]["term"]), (&json!(2), &json!("ox")));
    let found = field(&explanation["terms"][0], TEXT);
    assert_eq!((&found["documents"], &found["occurrences"]), (&json!(1), &json!(2)));
    assert_eq!((&found["df"], &found["list_length"]), (&json!(0.5), &json!(2)));
    assert!((found["idf"].as_f64().unwrap() - 2f64.log10()).abs() < 1e-12);
    // Stored in the index: 7 occurrences in history and 4 in latest.
    assert!((found["tf"].as_f64().unwrap() - 2.0 / 11.0).abs() < 1e-12);
    assert_eq!(found["pages"], json!([{"url": "http://a.example/", "occurrences": 2, "positions": 2}]));
    let pi = desk.json("data", &["index", "explain", "pi", "--field", TEXT]);
    let generations = pi["terms"][0]["fields"][0]["generations"].as_array().unwrap();
    let documents: Vec<_> = generations.iter().map(|here| here["documents"].as_u64().unwrap()).collect();
    assert_eq!(documents, [0, 1]);

    let words = succeed(&mut desk.on("data", &["index", "explain", "ox"]));
    assert!(words.contains("most often in") && words.contains("http://a.example/"), "{words}");
    for unknown in ["dragon", "nu", "…"] {
        let output = desk.on("data", &["index", "explain", unknown]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{unknown}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("no searchable page contains it"));
    }
    let long = "ox ".repeat(1_000);
    assert!(fail(&mut desk.on("data", &["index", "explain", &long])).contains("3000 bytes"));
}
