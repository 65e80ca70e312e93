//! Statistics of small indexes with known counts.

use std::collections::BTreeMap;

use pharos_core::{LibraryPosition, PageUrl};
use pharos_text::Analyser;

use super::*;
use crate::{EmbeddedIndex, GenerationalIndex as _, Index as _, IndexChange, IndexDocument};

/// A field that contains exactly the given words. Words of two letters have no stems, so each is one term.
const TEXT: &str = "title";

fn page(name: &str) -> PageUrl {
    PageUrl::parse(&format!("http://example.org/{name}")).unwrap()
}

fn document(name: &str, text: &str) -> IndexDocument {
    IndexDocument { title: text.into(), ..IndexDocument::new(page(name)) }
}

fn put(name: &str, text: &str) -> IndexChange {
    IndexChange::Put(Box::new(document(name, text)))
}

fn commit(index: &EmbeddedIndex, offset: u64, changes: Vec<IndexChange>) {
    index.apply(changes).unwrap();
    index.commit(&LibraryPosition::new(1, offset).into()).unwrap();
}

fn writer(dir: &tempfile::TempDir) -> EmbeddedIndex {
    EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap()
}

/// Creates an index where pages a and b are searchable. It also contains earlier versions of both, page c and its
/// tombstone.
fn changing(dir: &tempfile::TempDir) -> EmbeddedIndex {
    let index = writer(dir);
    commit(&index, 1, vec![put("a", "nu nu"), put("b", "ox pi"), put("c", "mu")]);
    commit(&index, 2, vec![put("a", "ox ox mu")]);
    index.seal().unwrap();
    commit(&index, 3, vec![put("b", "pi pi xi"), IndexChange::Gone(page("c").id())]);
    index
}

fn counted(index: &EmbeddedIndex) -> IndexStatistics {
    index.statistics(&StatisticsOptions::default(), &mut |_| true).unwrap()
}

fn field<'a>(figures: &'a CollectionStatistics, name: &str) -> &'a FieldStatistics {
    figures.fields.iter().find(|field| field.field == name).unwrap()
}

#[test]
fn what_can_be_found_is_counted_and_the_rest_is_stale() {
    let dir = tempfile::tempdir().unwrap();
    let statistics = counted(&changing(&dir));
    let chain = &statistics.chain;
    assert_eq!((chain.documents, chain.stale_documents), (2, 4));
    let text = field(chain, TEXT);
    assert_eq!((text.terms, text.postings, text.mean_list, text.occurrences), (4, 4, 1.0, 6));
    assert_eq!((text.single_document_terms, text.stale_terms, text.stale_postings), (4, 1, 4));
    let row = |rank: &FrequencyRank| (rank.rank, rank.term.clone(), rank.frequency, rank.shared_by);
    let tf: Vec<_> = text.tf.iter().map(row).collect();
    assert_eq!(tf, [(1, "ox".into(), 2, 2), (2, "pi".into(), 2, 2)]);
    assert_eq!((row(&text.df[0]), text.df[0].share), ((1, "mu".into(), 1, 4), 0.5));

    let names: Vec<&str> = statistics.generations.iter().map(|generation| generation.name.as_str()).collect();
    assert_eq!(names, ["latest-1", "latest-2"]);
    let [first, second] = [&statistics.generations[0].statistics, &statistics.generations[1].statistics];
    assert_eq!((first.documents, first.stale_documents), (1, 3));
    assert_eq!((second.documents, second.stale_documents), (1, 1));
    let (first, second) = (field(first, TEXT), field(second, TEXT));
    assert_eq!((first.terms, first.occurrences, first.stale_terms, first.stale_postings), (2, 3, 2, 4));
    assert_eq!((second.terms, second.occurrences, second.stale_terms, second.stale_postings), (2, 3, 0, 0));
}

#[test]
fn bytes_sum_up() {
    let dir = tempfile::tempdir().unwrap();
    let statistics = counted(&changing(&dir));
    let space = &statistics.chain.space;
    let lists = space.term_dictionary + space.postings + space.positions;
    assert_eq!(space.total, lists + space.field_norms + space.columns + space.stored + space.deletes);
    let fields: u64 = space.fields.iter().map(|field| field.total).sum();
    assert_eq!(fields + space.stored + space.deletes, space.total);
    let generations: u64 = statistics.generations.iter().map(|g| g.statistics.space.total).sum();
    assert_eq!(generations, space.total);
    assert!(space.stored > 0 && space.deletes > 0 && space.columns > 0);
    assert_eq!(statistics.chain.bytes_per_document, space.total as f64 / 2.0);
    // The dictionary refers to the lists of a field; its file has a few additional bytes.
    let text = field(&statistics.chain, TEXT);
    let on_disk = space.fields.iter().find(|field| field.field == TEXT).unwrap();
    assert!(text.posting_bytes > 0 && text.posting_bytes <= on_disk.postings);
    assert!(text.position_bytes > 0 && text.position_bytes <= on_disk.positions);
}

/// Pages with few frequent words, some changed, in history and latest; compared with a direct count.
#[test]
fn counts_are_those_of_the_texts() {
    let dir = tempfile::tempdir().unwrap();
    let mut seed = 7u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut text = || {
        let length = 20 + random(60);
        (0..length).map(|_| format!("w{} ", 400 / (1 + random(400)))).collect::<String>()
    };
    let mut pages: BTreeMap<String, String> = (0..400).map(|n| (format!("p{n}"), text())).collect();
    let index = writer(&dir);
    index.seal().unwrap();
    let generations = index.generations();
    let mut history = generations.build_directory().begin(1, 16 << 20, 1 << 20).unwrap();
    for (name, text) in &pages {
        history.add(&document(name, text)).unwrap();
    }
    let history = history.finish(LibraryPosition::new(1, 1).into()).unwrap();
    generations.install(history).unwrap();
    for round in 2..6 {
        let mut changes = Vec::new();
        for (name, old) in pages.iter_mut().skip(round as usize).step_by(7) {
            *old = text();
            changes.push(put(name, old));
        }
        commit(&index, round, changes);
    }

    let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for text in pages.values() {
        let mut on_page: BTreeMap<String, u64> = BTreeMap::new();
        Analyser::shared()
            .for_each_index_token(text, |term, _, _, _| *on_page.entry(term.into()).or_default() += 1);
        for (term, times) in on_page {
            let (documents, occurrences) = expected.entry(term).or_default();
            *documents += 1;
            *occurrences += times;
        }
    }
    let statistics = counted(&index);
    assert_eq!(statistics.chain.documents, 400);
    assert!(statistics.chain.stale_documents > 50 && statistics.generations.len() >= 2);
    let text = field(&statistics.chain, TEXT);
    assert_eq!(text.terms, expected.len() as u64);
    assert_eq!(text.postings, expected.values().map(|(documents, _)| documents).sum::<u64>());
    assert_eq!(text.occurrences, expected.values().map(|(_, occurrences)| occurrences).sum::<u64>());
    let mut by_occurrences: Vec<_> = expected.iter().map(|(term, (_, n))| (*n, term)).collect();
    by_occurrences.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    for rank in &text.tf {
        let (frequency, term) = by_occurrences[rank.rank as usize - 1];
        assert_eq!((rank.frequency, &rank.term), (frequency, term));
    }
    let slope = text.tf_zipf.unwrap().slope;
    assert!((-2.2..-1.2).contains(&slope), "{slope}");

    for (term, (documents, occurrences)) in &expected {
        let report = index.explain(term, Some(TEXT), 3).unwrap();
        let found = report.terms.iter().find(|found| found.term == *term).unwrap();
        assert_eq!((found.fields[0].documents, found.fields[0].occurrences), (*documents, *occurrences));
    }

    let estimates = statistics.estimates.unwrap();
    // The words of a page and of its URL: the largest field.
    let text = field(&statistics.chain, "text");
    assert_eq!((estimates.field.as_str(), estimates.size.postings), ("text", text.postings));
    let mean = (text.posting_bytes + text.position_bytes) as f64 / text.terms as f64;
    assert!((estimates.list.measured_full_text_bytes - mean).abs() < 1e-9);
    // Frequent words have long lists: querying them reads more than querying a random word.
    assert!(estimates.reading.measured_bytes > 0.0 && text.term_bytes > mean);
    assert!(estimates.throughput.queries < 20.0 && estimates.throughput.queries > 19.0);
}

#[test]
fn a_term_report() {
    let dir = tempfile::tempdir().unwrap();
    let index = changing(&dir);
    let report = index.explain("Ox", None, 10).unwrap();
    assert!(report.is_known());
    assert_eq!((report.documents, report.tokens.len(), report.tokens[0].term.as_str()), (2, 1, "ox"));
    let found = report.terms[0].fields.iter().find(|found| found.field == TEXT).unwrap();
    assert_eq!(
        (found.field.as_str(), found.documents, found.occurrences, found.list_length),
        (TEXT, 1, 2, 2)
    );
    assert_eq!((found.df, found.tf), (0.5, 2.0 / 11.0));
    assert!((found.idf.unwrap() - 2f64.log10()).abs() < 1e-5 && (found.itf.unwrap() - 0.740_36).abs() < 1e-5);
    let in_generation = |generation: &str, documents, occurrences| TermInGeneration {
        generation: generation.into(),
        documents,
        occurrences,
    };
    assert_eq!(found.generations, [in_generation("latest-1", 1, 2)]);
    let on_page = |name: &str, times: u32| TermOnPage {
        url: page(name).to_string(),
        occurrences: times,
        positions: times.into(),
    };
    assert_eq!(found.pages, [on_page("a", 2)]);

    let report = index.explain("pi", Some(TEXT), 10).unwrap();
    let found = &report.terms[0].fields[0];
    assert_eq!(found.generations, [in_generation("latest-1", 0, 0), in_generation("latest-2", 1, 2)]);
    assert_eq!(found.pages, [on_page("b", 2)]);

    // Occurs in stale documents only.
    let report = index.explain("nu", None, 10).unwrap();
    assert!(!report.is_known() && report.terms[0].fields[0].idf.is_none());
    let report = index.explain("dragon", None, 10).unwrap();
    assert!(!report.is_known() && report.terms[0].fields.is_empty());
    assert!(index.explain("", None, 10).unwrap().tokens.is_empty());
}

#[test]
fn pages_where_a_term_occurs_most() {
    let dir = tempfile::tempdir().unwrap();
    let index = writer(&dir);
    let pages = (1..=12).map(|times| put(&format!("p{times}"), &"ox ".repeat(times))).collect();
    commit(&index, 1, pages);
    let report = index.explain("ox", Some(TEXT), 10).unwrap();
    let times: Vec<u32> = report.terms[0].fields[0].pages.iter().map(|page| page.occurrences).collect();
    assert_eq!(times, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
}

#[test]
fn any_field_with_lists_can_be_named() {
    let dir = tempfile::tempdir().unwrap();
    let index = changing(&dir);
    let rules = StatisticsOptions { field: Some("site".into()), ..StatisticsOptions::default() };
    let statistics = index.statistics(&rules, &mut |_| true).unwrap();
    let [site] = statistics.chain.fields.as_slice() else { panic!("{:?}", statistics.chain.fields) };
    // example.org and org.
    assert_eq!((site.terms, site.postings, site.occurrences), (4, 6, 6));
    let rules = StatisticsOptions { field: Some("page".into()), ..rules };
    let statistics = index.statistics(&rules, &mut |_| true).unwrap();
    assert_eq!((statistics.chain.fields[0].terms, statistics.chain.fields[0].df[0].term.len()), (2, 32));
    let rules = StatisticsOptions { field: Some("colour".into()), ..rules };
    let error = index.statistics(&rules, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("colour") && error.contains("site"), "{error}");
}

#[test]
fn an_empty_index_has_figures_and_a_large_one_can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let index = writer(&dir);
    let statistics = counted(&index);
    assert_eq!((statistics.chain.documents, statistics.estimates), (0, None));
    let words: String = (0..6_000).map(|n| format!("w{n} ")).collect();
    let page = IndexDocument { body: words, ..IndexDocument::new(page("a")) };
    commit(&index, 1, vec![IndexChange::Put(Box::new(page))]);
    let mut reported = None;
    let stopped = index.statistics(&StatisticsOptions::default(), &mut |at| {
        reported = Some((at.field.to_string(), at.done >= 4_096 && at.done <= at.all));
        false
    });
    assert!(matches!(stopped, Err(IndexError::Stopped)), "{stopped:?}");
    assert_eq!(reported, Some(("text".into(), true)));
}
