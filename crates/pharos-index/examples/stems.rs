//! Effect of stemming: the quality of a plain OR query over a judged English collection, with and without stop words
//! and stems.
//!
//! `cargo run --release -p pharos-index --example stems -- DIR`, where `DIR` contains `docs.jsonl` (id, title, body),
//! `queries.tsv` and `qrels.txt` (TREC format).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use pharos_core::{LibraryPosition, PageId, PageUrl};
use pharos_index::{EmbeddedIndex, Index, IndexChange, IndexDocument, Query};
use pharos_text::Analyser;
use pharos_text::analyser::stem::stem_term;
use pharos_text::analyser::stop_words::is_stop_word;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args().nth(1).ok_or("missing argument: folder of the collection")?);
    let (index, ids, _keep) = index(&dir)?;
    let queries = fs::read_to_string(dir.join("queries.tsv"))?;
    let queries: Vec<(&str, &str)> = queries.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut relevant: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for line in fs::read_to_string(dir.join("qrels.txt"))?.lines() {
        if let [query, _, document, grade] = line.split_whitespace().collect::<Vec<_>>()[..]
            && grade != "0"
        {
            relevant.entry(query.into()).or_default().insert(document.into());
        }
    }

    println!("{:<44} {:>8} {:>8}", "", "nDCG@10", "MAP");
    let weights = [0.0, 0.1, 0.25, 0.5, 1.0];
    let variants = [("words as written", None, true), ("without stop words", None, false)];
    let stems = weights.map(|weight| ("and stems, exact forms added", Some(weight), false));
    for (name, exact_weight, keep_stop_words) in variants.into_iter().chain(stems) {
        let (mut gain, mut precision, mut judged) = (0.0, 0.0, 0.0);
        let view = index.view()?;
        for (number, text) in &queries {
            let Some(wanted) = relevant.get(*number) else { continue };
            let query = query(text, exact_weight, keep_stop_words);
            let found = view.search(&query, 1_000)?;
            let ranking: Vec<&str> =
                found.candidates.iter().filter_map(|c| ids.get(&c.page)).map(String::as_str).collect();
            gain += ndcg(&ranking, wanted);
            precision += average_precision(&ranking, wanted);
            judged += 1.0;
        }
        let name = exact_weight.map_or(name.to_string(), |weight| format!("{name}, weight {weight}"));
        println!("{name:<44} {:>8.4} {:>8.4}", gain / judged, precision / judged);
    }
    Ok(())
}

type Indexed = (EmbeddedIndex, HashMap<PageId, String>, tempfile::TempDir);

fn index(dir: &std::path::Path) -> Result<Indexed, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let index = EmbeddedIndex::open_writer(place.path(), 64 << 20, 1 << 20)?;
    let mut ids = HashMap::new();
    for line in fs::read_to_string(dir.join("docs.jsonl"))?.lines() {
        let document: serde_json::Value = serde_json::from_str(line)?;
        let text = |name: &str| document[name].as_str().unwrap_or_default().to_string();
        let url = PageUrl::parse(&format!("http://collection.example/{}", text("id")))?;
        ids.insert(url.id(), text("id"));
        index.apply(vec![IndexChange::Put(Box::new(IndexDocument {
            body: text("body"),
            lang: "en".into(),
            ..IndexDocument::new(url)
        }))])?;
    }
    index.commit(&LibraryPosition::new(1, 1).into())?;
    Ok((index, ids, place))
}

fn query(text: &str, exact_weight: Option<f32>, keep_stop_words: bool) -> Query {
    let words = Analyser::shared().tokens(text).into_iter().map(|token| token.text);
    let words = words.filter(|word| keep_stop_words || !is_stop_word(word));
    let asked = words.map(|word| match (exact_weight, stem_term(&word)) {
        (Some(weight), Some(stem)) => Query::Forms(vec![(1.0, stem), (weight, word)]),
        _ => Query::Word(word),
    });
    Query::Or(asked.collect())
}

fn ndcg(ranking: &[&str], wanted: &HashSet<String>) -> f64 {
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let found: f64 = ranking
        .iter()
        .take(10)
        .enumerate()
        .filter(|(_, id)| wanted.contains(**id))
        .map(|(rank, _)| gain(rank))
        .sum();
    let best: f64 = (0..wanted.len().min(10)).map(gain).sum();
    if best > 0.0 { found / best } else { 0.0 }
}

fn average_precision(ranking: &[&str], wanted: &HashSet<String>) -> f64 {
    let (mut hits, mut sum) = (0.0, 0.0);
    for (rank, id) in ranking.iter().enumerate() {
        if wanted.contains(*id) {
            hits += 1.0;
            sum += hits / (rank as f64 + 1.0);
        }
    }
    if wanted.is_empty() { 0.0 } else { sum / wanted.len() as f64 }
}
