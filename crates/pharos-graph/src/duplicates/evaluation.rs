//! Evaluation of the detectors on a labelled set: precision, recall, speed and memory.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::time::Instant;

use serde::Serialize;

use super::{
    ChunkSize, DuplicateDetector, ExactBytes, ExactText, FrequentWordList, GroupBuilder, IMatch,
    KeywordDetector, KeywordRule, MinHash, PageAttributes, PageText, Segments, Shingles, SimHash,
    WordStatistics,
};

/// Maximum size of the word table of I-Match.
const MAX_WORDS: usize = 4_000_000;

/// A page with a known duplicate class.
#[derive(Clone, Debug, Default)]
pub struct LabelledPage {
    /// The response body as fetched.
    pub raw: Vec<u8>,
    pub title: String,
    /// Main content of the page.
    pub body: String,
    /// Keywords with their weights.
    pub keywords: Vec<(String, f32)>,
    /// Tokens of the body.
    pub words: Vec<String>,
    /// Duplicate class: pages are copies exactly if it is equal.
    pub content: u32,
}

/// Pages with known duplicate classes.
#[derive(Clone, Debug, Default)]
pub struct LabelledSet {
    /// The pages, in crawl order.
    pub pages: Vec<LabelledPage>,
}

impl LabelledSet {
    /// Returns the number of pairs of copies.
    pub fn pairs(&self) -> u64 {
        pairs(self.pages.iter().map(|page| page.content))
    }
}

/// Results of one detector on a labelled set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvaluationRow {
    pub name: String,
    /// Share of true copies among the pairs in one group; 1 if there are no such pairs.
    pub precision: f64,
    /// Share of pairs in one group among the true copies; 1 if there are no copies.
    pub recall: f64,
    /// Fingerprints per second on one core; `None` if not measured.
    pub fingerprints_per_second: Option<f64>,
    /// Pages grouped per second on one core, without fingerprinting.
    pub grouped_per_second: Option<f64>,
    /// Mean size of a signature.
    pub bytes_per_page: Option<f64>,
}

/// Results of all detectors.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EvaluationTable(pub Vec<EvaluationRow>);

impl EvaluationRow {
    /// Scores groups that were computed elsewhere. `groups` has an entry for each page of the set: a number that only
    /// its copies share, or `None` for a page without a group.
    pub fn of_groups(name: &str, set: &LabelledSet, groups: &[Option<u32>]) -> Self {
        // A page without a group has no copies.
        let alone = (0..).map(|page| (page, true));
        let groups =
            groups.iter().zip(alone).map(|(group, alone)| group.map_or(alone, |group| (group, false)));
        let labels: Vec<_> = set.pages.iter().map(|page| page.content).zip(groups).collect();
        let (precision, recall) = pair_scores(&labels);
        Self {
            name: name.to_owned(),
            precision,
            recall,
            fingerprints_per_second: None,
            grouped_per_second: None,
            bytes_per_page: None,
        }
    }
}

/// Texts of a set, borrowed as detector input.
struct BorrowedTexts<'a> {
    keywords: Vec<Vec<(&'a str, f32)>>,
    words: Vec<Vec<&'a str>>,
}

impl<'a> BorrowedTexts<'a> {
    fn new(set: &'a LabelledSet) -> Self {
        let keywords = |page: &'a LabelledPage| {
            page.keywords.iter().map(|(word, weight)| (word.as_str(), *weight)).collect()
        };
        let words = |page: &'a LabelledPage| page.words.iter().map(String::as_str).collect();
        Self {
            keywords: set.pages.iter().map(keywords).collect(),
            words: set.pages.iter().map(words).collect(),
        }
    }

    fn texts<'b>(&'b self, set: &'b LabelledSet) -> Vec<PageText<'b>> {
        let pages = set.pages.iter().zip(&self.keywords).zip(&self.words);
        let texts = pages.map(|((page, keywords), words)| PageText {
            raw: &page.raw,
            title: &page.title,
            body: &page.body,
            keywords,
            words,
        });
        texts.collect()
    }
}

/// Evaluates one detector.
pub fn evaluate<M: DuplicateDetector>(method: &M, set: &LabelledSet) -> EvaluationRow {
    evaluate_texts(method, set, &BorrowedTexts::new(set).texts(set))
}

fn evaluate_texts<M: DuplicateDetector>(method: &M, set: &LabelledSet, texts: &[PageText]) -> EvaluationRow {
    let per_second = |began: Instant| texts.len() as f64 / began.elapsed().as_secs_f64().max(1e-9);
    let began = Instant::now();
    let signatures: Vec<Option<M::PageSignature>> =
        texts.iter().map(|text| method.fingerprint(text)).collect();
    let fingerprints_per_second = per_second(began);
    let began = Instant::now();
    let mut grouping = GroupBuilder::new(signatures.len());
    grouping.join(method, &signatures);
    let attributes: Vec<PageAttributes> = (0..)
        .take(texts.len())
        .map(|first_seen| PageAttributes { first_seen, ..PageAttributes::default() })
        .collect();
    let groups = grouping.finish(method, &signatures, &attributes);
    let grouped_per_second = per_second(began);

    let bytes: usize = signatures.iter().flatten().map(|signature| method.bytes(signature)).sum();
    let labels: Vec<(u32, u32)> = (0_u32..)
        .zip(&set.pages)
        .map(|(page, labelled)| (labelled.content, groups.representative(page)))
        .collect();
    let (precision, recall) = pair_scores(&labels);
    EvaluationRow {
        name: method.name(),
        precision,
        recall,
        fingerprints_per_second: Some(fingerprints_per_second),
        grouped_per_second: Some(grouped_per_second),
        bytes_per_page: Some(bytes as f64 / signatures.iter().flatten().count().max(1) as f64),
    }
}

/// Returns precision and recall over pairs, from the class and the group of each page, without enumerating pairs. A
/// ratio with denominator 0 is 1.
pub fn pair_scores<G: Eq + Hash>(labels: &[(u32, G)]) -> (f64, f64) {
    let share = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let correct = pairs(labels.iter());
    let found = pairs(labels.iter().map(|(_, group)| group));
    let actual = pairs(labels.iter().map(|(content, _)| content));
    (share(correct, found), share(correct, actual))
}

/// Returns the number of pairs of equal keys.
fn pairs<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> u64 {
    let mut counts: HashMap<K, u64> = HashMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts.values().map(|count| count * (count - 1) / 2).sum()
}

/// Evaluates all detectors, with the parameters of their sources and, where these differ, with the parameters used
/// here.
pub fn evaluate_all(set: &LabelledSet) -> EvaluationTable {
    let borrowed = BorrowedTexts::new(set);
    let texts = borrowed.texts(set);
    let mut statistics = WordStatistics::new(MAX_WORDS);
    texts.iter().for_each(|text| statistics.add(text.words));

    let mut rows = vec![evaluate_texts(&ExactBytes, set, &texts), evaluate_texts(&ExactText, set, &texts)];
    let rules = [
        KeywordRule::Abstract,
        KeywordRule::OrderedKeywords,
        KeywordRule::OrderedKeywordsAndWeights,
        KeywordRule::KeywordsAndWeights,
        KeywordRule::Keywords,
        KeywordRule::AbstractOrKeywords,
    ];
    rows.extend(rules.map(|rule| evaluate_texts(&KeywordDetector::new(rule), set, &texts)));
    rows.push(evaluate_texts(&FrequentWordList::default(), set, &texts));
    rows.push(evaluate_texts(&IMatch::new(statistics), set, &texts));
    for chunk in [ChunkSize::Whole, ChunkSize::Lines(4), ChunkSize::Lines(2)] {
        rows.push(evaluate_texts(&Segments { chunk, ..Segments::default() }, set, &texts));
    }
    rows.push(evaluate_texts(&Shingles::book_example(), set, &texts));
    rows.push(evaluate_texts(&Shingles::default(), set, &texts));
    rows.push(evaluate_texts(&SimHash { distance: 3, ..SimHash::default() }, set, &texts));
    rows.push(evaluate_texts(&SimHash::default(), set, &texts));
    rows.push(evaluate_texts(&MinHash::default(), set, &texts));
    EvaluationTable(rows)
}

impl fmt::Display for EvaluationTable {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        writeln!(out, "| method | precision | recall | fingerprints/s | grouped/s | bytes/page |")?;
        writeln!(out, "|---|---|---|---|---|---|")?;
        for row in &self.0 {
            write!(out, "| {} | {:.4} | {:.4} |", row.name, row.precision, row.recall)?;
            for figure in [row.fingerprints_per_second, row.grouped_per_second, row.bytes_per_page] {
                match figure {
                    Some(figure) => write!(out, " {figure:.0} |")?,
                    None => write!(out, " – |")?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_without_being_listed() {
        // Classes 1 and 2; the group contains two of the three copies of 1 and an unrelated page.
        assert_eq!(pair_scores(&[(1, 0), (1, 0), (1, 2), (2, 0)]), (1.0 / 3.0, 1.0 / 3.0));
        assert_eq!(pair_scores(&[(1, 0), (2, 1)]), (1.0, 1.0));
    }
}
