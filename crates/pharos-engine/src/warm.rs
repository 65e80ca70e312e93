//! Warming: a new generation answers some queries before people ask it any.
//!
//! What people asked lately is asked first, from the query log; without one, what the pages that the web values most are
//! called. Verifying has read the files once; this brings the dictionaries and lists that are used first to the front.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use pharos_graph::Relations;
use pharos_index::{Generations, History, Query, Snapshot};
use pharos_store::DataDir;
use pharos_text::Analyser;
use serde::Deserialize;

use crate::EngineError;
use crate::build::{Check, Progress};

/// Queries that are asked.
const QUERIES: usize = 48;
/// Of the query log, the end is read: what was asked last is asked next.
const LOG_BYTES: u64 = 1 << 20;
/// Words of a query that are used.
const WORDS: usize = 8;
/// Results whose texts are read: a page of them.
const RESULTS: usize = 10;

/// Asks a finished generation what people ask. Gives how many queries that were.
pub(crate) fn warm(
    data: &DataDir,
    generations: &Generations,
    history: History,
    relations: &Relations,
    check: Check<'_>,
) -> Result<u64, EngineError> {
    let snapshot = generations.preview(history)?;
    let mut queries = frequent_queries(data);
    if queries.is_empty() {
        queries = titles(&*snapshot, relations)?;
    }
    let mut asked = 0;
    for text in &queries {
        check(Progress::Warming(asked))?;
        let tokens = Analyser::shared().tokens(text);
        let words: Vec<Query> = tokens.into_iter().take(WORDS).map(|token| Query::Word(token.text)).collect();
        for query in [Query::And(words.clone()), Query::Or(words)] {
            let found = snapshot.search(&query, RESULTS)?;
            snapshot.figures(&found.candidates)?;
            snapshot.stored(&found.candidates)?;
        }
        asked += 1;
    }
    Ok(asked)
}

/// What was asked most often lately, by `logs/queries-DATE.jsonl`.
fn frequent_queries(data: &DataDir) -> Vec<String> {
    #[derive(Deserialize)]
    struct Line {
        query: String,
    }
    let Ok(entries) = fs::read_dir(data.root().join("logs")) else { return Vec::new() };
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        name.starts_with("queries-") && name.ends_with(".jsonl")
    };
    let mut logs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_log).collect();
    logs.sort();
    let mut times: HashMap<String, u64> = HashMap::new();
    let mut left = LOG_BYTES;
    for log in logs.iter().rev() {
        let Some(bytes) = end_of(log, left) else { continue };
        left = left.saturating_sub(bytes.len() as u64);
        for line in bytes.split(|byte| *byte == b'\n') {
            // The first line may be cut, and others broken.
            if let Ok(line) = serde_json::from_slice::<Line>(line)
                && !line.query.trim().is_empty()
            {
                *times.entry(line.query).or_default() += 1;
            }
        }
        if left == 0 {
            break;
        }
    }
    let mut queries: Vec<(String, u64)> = times.into_iter().collect();
    queries.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    queries.into_iter().take(QUERIES).map(|(query, _)| query).collect()
}

/// The last bytes of a file.
fn end_of(path: &PathBuf, most: u64) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(most))).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What the pages are called that rank highest.
fn titles(snapshot: &dyn Snapshot, relations: &Relations) -> Result<Vec<String>, EngineError> {
    let ranks = relations.page_ranks();
    let mut pages: Vec<u32> = (0..ranks.len() as u32).filter(|page| relations.is_fetched(*page)).collect();
    // Some have no text, and no title.
    let enough = (4 * QUERIES).min(pages.len());
    let by_rank = |a: &u32, b: &u32| ranks[*b as usize].total_cmp(&ranks[*a as usize]).then(a.cmp(b));
    if enough < pages.len() {
        pages.select_nth_unstable_by(enough, by_rank);
        pages.truncate(enough);
    }
    pages.sort_by(by_rank);
    let mut titles = Vec::new();
    let mut known = HashSet::new();
    for page in pages {
        if titles.len() == QUERIES {
            break;
        }
        if let Some(stored) = snapshot.page(relations.id(page))?
            && !stored.card.title.trim().is_empty()
            && known.insert(stored.card.title.clone())
        {
            titles.push(stored.card.title);
        }
    }
    Ok(titles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_queries_come_first_and_broken_lines_do_not_matter() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        assert!(frequent_queries(&data).is_empty());
        let logs = dir.path().join("logs");
        fs::create_dir(&logs).unwrap();
        let line = |query: &str| format!("{{\"at\":1,\"query\":\"{query}\"}}\n");
        let text = [line("tea"), "{broken\n".into(), line("灯塔"), line("灯塔"), line(" ")].concat();
        fs::write(logs.join("queries-2026-01-31.jsonl"), text).unwrap();
        fs::write(logs.join("queries-2026-01-30.jsonl"), [line("tea").as_bytes(), b"\xff\xfe"].concat())
            .unwrap();
        fs::write(logs.join("crawl-2026-01-31.log"), line("not a query")).unwrap();
        assert_eq!(frequent_queries(&data), ["tea", "灯塔"]);
        let many: String = (0..99_999).map(|n| line(&format!("q{n}"))).collect();
        fs::write(logs.join("queries-2026-02-01.jsonl"), many).unwrap();
        assert_eq!(frequent_queries(&data).len(), QUERIES);
    }
}
