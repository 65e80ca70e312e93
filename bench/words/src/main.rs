//! Index representations that find every page for every segmentation, and their cost.
//!
//! `cargo run --release -p bench-words -- PAGES.jsonl`
//!
//! PAGES.jsonl has one page per line with its `text`, as written by `pharos clean --batch DIR PAGES.jsonl`. The same
//! pages are indexed by tantivy in several ways, and the same strings are searched in each as quoted phrases: words of
//! the dictionary, strings that begin and end anywhere, single characters. Every page that contains the string must be
//! found.

use std::collections::{BTreeSet, HashSet};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use jieba_rs::Jieba;
use pharos_text::dictionary::Dictionary;
use pharos_text::new_words::{NewWordDiscovery, PageField, DiscoveryRules, FieldWeights};
use pharos_text::segment::default_segmenter;
use pharos_text::vocabulary::{WordKind, Vocabulary};
use pharos_text::{Analyser, Token, is_han, normalise};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tantivy::collector::{DocSetCollector, TopDocs};
use tantivy::query::{PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::tokenizer::PreTokenizedString;
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, Term};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;
/// Terms with their positions.
type Terms = Vec<(usize, String)>;

/// An index representation: its name, the stored tokens of a page, and the terms of a query.
type Way = (&'static str, fn(&str) -> Vec<Token>, fn(&str) -> Terms);

const WAYS: [Way; 6] = [
    ("words of the best segmentation", |text| Analyser::shared().tokens(text), best_segmentation),
    ("characters", |text| Analyser::shared().smallest_tokens(text), characters),
    ("words and characters, queried by words", words_and_characters, best_segmentation),
    ("words and characters, queried by characters", words_and_characters, characters),
    ("characters and pairs", characters_and_pairs, pairs),
    ("characters and every word (ours)", |text| Analyser::shared().index_tokens(text), known_words),
];

/// The best segmentation, with characters in place of unknown words.
fn known_words(query: &str) -> Terms {
    let mut terms = Terms::new();
    for token in Analyser::shared().tokens(query) {
        if Dictionary::base().contains(&token.text) {
            terms.push((token.position, token.text));
        } else {
            let parts = characters(&query[token.start..token.end]).into_iter();
            terms.extend(parts.map(|(at, part)| (token.position + at, part)));
        }
    }
    terms
}

fn best_segmentation(query: &str) -> Terms {
    Analyser::shared().tokens(query).into_iter().map(|t| (t.position, t.text)).collect()
}

fn characters(query: &str) -> Terms {
    Analyser::shared().smallest_tokens(query).into_iter().map(|t| (t.position, t.text)).collect()
}

/// Bigrams that cover a string of Han characters, overlapping only at the end.
fn pairs(query: &str) -> Terms {
    let chars: Vec<char> = query.chars().collect();
    if chars.len() < 2 {
        return characters(query);
    }
    let last = chars.len() - 2;
    let starts: BTreeSet<usize> = (0..=last).step_by(2).chain([last]).collect();
    starts.into_iter().map(|at| (at, chars[at..at + 2].iter().collect())).collect()
}

fn words_and_characters(text: &str) -> Vec<Token> {
    let mut tokens = Analyser::shared().smallest_tokens(text);
    let known: HashSet<(usize, String)> = tokens.iter().map(|t| (t.position, t.text.clone())).collect();
    let words = Analyser::shared().tokens(text).into_iter();
    tokens.extend(words.filter(|t| !known.contains(&(t.position, t.text.clone()))));
    tokens.sort_by_key(|t| t.position);
    tokens
}

fn characters_and_pairs(text: &str) -> Vec<Token> {
    let single = Analyser::shared().smallest_tokens(text);
    let mut tokens = Vec::with_capacity(2 * single.len());
    for (nth, token) in single.iter().enumerate() {
        tokens.push(token.clone());
        if let Some(next) = single.get(nth + 1)
            && next.start == token.end
            && [token, next].iter().all(|t| t.text.chars().all(is_han))
        {
            tokens.push(Token {
                text: format!("{}{}", token.text, next.text),
                end: next.end,
                ..token.clone()
            });
        }
    }
    tokens
}

fn main() -> Outcome<()> {
    let path =
        env::args().nth(1).ok_or("usage: bench-words PAGES.jsonl (written by `pharos clean --batch`)")?;
    let mut pages = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let page: serde_json::Value = serde_json::from_str(line)?;
        pages.push(page["text"].as_str().unwrap_or_default().to_string());
    }
    let folded: Vec<String> = pages.iter().map(|page| normalise(page)).collect();
    let kinds = [
        sample(&folded, 600, Dictionary::base(), Some(true)),
        sample(&folded, 600, Dictionary::base(), Some(false)),
        sample(&folded, 200, Dictionary::base(), None),
    ];
    let bytes: usize = pages.iter().map(String::len).sum();
    println!(
        "{} pages, {:.1} MB; quoted: 600 dictionary words, 600 strings across word boundaries, 200 characters\n",
        pages.len(),
        bytes as f64 / 1e6
    );
    speeds(&pages, bytes);
    println!("| representation | index | indexing | words | strings | characters | found |");
    println!("|---|---|---|---|---|---|---|");
    let mut indexes = Vec::new();
    for (name, store, query_terms) in WAYS {
        let started = Instant::now();
        let (searcher, field, number) = index(&pages, store)?;
        indexes.push(Made { name, query_terms, took: started.elapsed(), searcher, field, number });
    }
    // Alternating with every query, and the best of several rounds, so that background load affects all alike.
    let mut times = vec![[Duration::ZERO; 3]; indexes.len()];
    let mut found = vec![0; indexes.len()];
    let mut wanted = 0;
    for (kind, queries) in kinds.iter().enumerate() {
        for query in queries {
            let truth = (0..).zip(&folded).filter(|(_, page)| page.contains(query.as_str())).map(|(n, _)| n);
            let truth: HashSet<u64> = truth.collect();
            wanted += truth.len();
            let mut best = vec![Duration::MAX; indexes.len()];
            for _ in 0..ROUNDS {
                for (way, best) in indexes.iter().zip(&mut best) {
                    *best = way.time(query)?.min(*best);
                }
            }
            for (way, made) in indexes.iter().enumerate() {
                times[way][kind] += best[way];
                found[way] += made.find(query)?.intersection(&truth).count();
            }
        }
    }
    let smallest = indexes[0].bytes()?;
    for (way, made) in indexes.iter().enumerate() {
        let mean = |kind: usize| {
            format!("{:.0} µs", times[way][kind].as_secs_f64() * 1e6 / kinds[kind].len() as f64)
        };
        println!(
            "| {} | {:.1} MB ({:.2} ×) | {:.1} MB/s | {} | {} | {} | {:.2} % |",
            made.name,
            made.bytes()? / 1e6,
            made.bytes()? / smallest,
            bytes as f64 / 1e6 / made.took.as_secs_f64(),
            mean(0),
            mean(1),
            mean(2),
            100.0 * f64::from(u32::try_from(found[way])?) / f64::from(u32::try_from(wanted)?),
        );
    }
    println!();
    names(&pages)
}

/// Cost and benefit of user words: the same pages indexed with and without their most frequent names, and queries for
/// these names.
fn names(pages: &[String]) -> Outcome<()> {
    let rules = DiscoveryRules {
        weights: FieldWeights { title: 1, heading: 1, emphasis: 1, short: 1, body: 1 },
        ..DiscoveryRules::default()
    };
    let mut discovery = NewWordDiscovery::new(default_segmenter(), Dictionary::base(), &normalise, rules);
    pages.iter().for_each(|page| discovery.add_page([(page, PageField::Body)]));
    let found = discovery.finish(&|_| false).candidates;
    let mut words = Vocabulary::new(Dictionary::base());
    let names: Vec<String> = found
        .into_iter()
        .filter(|found| words.add(&found.word, Some(WordKind::Extension), None, "").is_ok())
        .map(|found| found.word)
        .take(1_000)
        .collect();
    let analyser = Analyser::with_vocabulary(Arc::new(words));
    let plain = index(pages, |page| Analyser::shared().index_tokens(page))?;
    let named = index(pages, |page| analyser.index_tokens(page))?;
    let mut times = [Duration::ZERO; 2];
    let mut lists = [0usize; 2];
    for name in &names {
        let mut best = [Duration::MAX; 2];
        let phrase = known_words(name);
        let terms: Terms = analyser.tokens(name).into_iter().map(|t| (t.position, t.text)).collect();
        lists[0] += phrase.len();
        lists[1] += terms.len();
        for _ in 0..ROUNDS {
            for (nth, ((searcher, field, _), asked)) in
                [(&plain, &phrase), (&named, &terms)].into_iter().enumerate()
            {
                let started = Instant::now();
                searcher
                    .search(&*question(*field, asked.clone()), &TopDocs::with_limit(10).order_by_score())?;
                best[nth] = started.elapsed().min(best[nth]);
            }
        }
        times[0] += best[0];
        times[1] += best[1];
    }
    println!("| {} names of these pages | index | posting lists/query | query |", names.len());
    println!("|---|---|---|---|");
    for (nth, (name, (searcher, ..))) in
        [("phrases of words", &plain), ("own terms", &named)].into_iter().enumerate()
    {
        let count = names.len().max(1) as f64;
        let size = searcher.space_usage()?.total().get_bytes() as f64 / 1e6;
        let time = times[nth].as_secs_f64() * 1e6 / count;
        println!("| {name} | {size:.2} MB | {:.1} | {time:.1} µs |", lists[nth] as f64 / count);
    }
    Ok(())
}

const ROUNDS: usize = 5;

/// An index of the pages.
struct Made {
    name: &'static str,
    query_terms: fn(&str) -> Terms,
    took: Duration,
    searcher: Searcher,
    field: Field,
    number: Field,
}

impl Made {
    fn bytes(&self) -> Outcome<f64> {
        Ok(self.searcher.space_usage()?.total().get_bytes() as f64)
    }

    fn time(&self, query: &str) -> Outcome<Duration> {
        let started = Instant::now();
        let asked = question(self.field, (self.query_terms)(query));
        self.searcher.search(&*asked, &TopDocs::with_limit(10).order_by_score())?;
        Ok(started.elapsed())
    }

    /// Returns the numbers of the pages found.
    fn find(&self, query: &str) -> Outcome<HashSet<u64>> {
        let mut found = HashSet::new();
        for address in
            self.searcher.search(&*question(self.field, (self.query_terms)(query)), &DocSetCollector)?
        {
            let document: TantivyDocument = self.searcher.doc(address)?;
            found.extend(document.get_first(self.number).and_then(|v| v.as_u64()));
        }
        Ok(found)
    }
}

/// Measures the analyser alone, compared with the segmentation of jieba-rs.
fn speeds(pages: &[String], bytes: usize) {
    let jieba = Jieba::new();
    let mut terms = [0usize; 3];
    let mut times = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        terms = [0; 3];
        let mut round = [Duration::ZERO; 3];
        for page in pages {
            let started = Instant::now();
            Analyser::shared().for_each_token(page, |_, _, _, _| terms[0] += 1);
            round[0] += started.elapsed();
            let started = Instant::now();
            Analyser::shared().for_each_index_token(page, |_, _, _, _| terms[1] += 1);
            round[1] += started.elapsed();
            let started = Instant::now();
            terms[2] += jieba.cut(page, true).len();
            round[2] += started.elapsed();
        }
        for (time, round) in times.iter_mut().zip(round) {
            *time = round.min(*time);
        }
    }
    for (nth, name) in
        ["best segmentation", "all index tokens", "jieba-rs, segmentation only"].into_iter().enumerate()
    {
        let speed = bytes as f64 / 1e6 / times[nth].as_secs_f64();
        println!("{name:<28} {speed:>6.1} MB/s {:>9} terms", terms[nth]);
    }
    println!();
}

fn index(pages: &[String], store: impl Fn(&str) -> Vec<Token>) -> Outcome<(Searcher, Field, Field)> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let field = schema.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
    let number = schema.add_u64_field("number", STORED);
    let index = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 256 << 20)?;
    for (n, page) in (0u64..).zip(pages) {
        let tokens = store(page).into_iter().map(|t| tantivy::tokenizer::Token {
            offset_from: t.start,
            offset_to: t.end,
            position: t.position,
            text: t.text,
            position_length: 1,
        });
        let mut document = TantivyDocument::new();
        document.add_pre_tokenized_text(
            field,
            PreTokenizedString { text: page.clone(), tokens: tokens.collect() },
        );
        document.add_u64(number, n);
        writer.add_document(document)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok((index.reader()?.searcher(), field, number))
}

fn question(field: Field, terms: Terms) -> Box<dyn Query> {
    let first = terms.first().map_or(0, |(at, _)| *at);
    let mut terms: Vec<(usize, Term)> =
        terms.into_iter().map(|(at, text)| (at - first, Term::from_field_text(field, &text))).collect();
    match terms.len() {
        1 => Box::new(TermQuery::new(terms.remove(0).1, IndexRecordOption::WithFreqs)),
        _ => Box::new(PhraseQuery::new_with_offset(terms)),
    }
}

/// Returns strings of Han characters that occur in the pages: words, other strings, or single characters.
fn sample(pages: &[String], count: usize, dictionary: &Dictionary, words: Option<bool>) -> Vec<String> {
    let mut random = StdRng::seed_from_u64(7);
    let mut found = BTreeSet::new();
    for _ in 0..count * 1_000 {
        let page: Vec<char> = pages[random.random_range(0..pages.len())].chars().collect();
        if page.is_empty() {
            continue;
        }
        let start = random.random_range(0..page.len());
        let len = if words.is_none() { 1 } else { random.random_range(2..8) };
        let string: String = page.iter().skip(start).take(len).collect();
        let is_right = words.is_none_or(|words| dictionary.contains(&string) == words);
        if is_right && string.chars().count() == len && string.chars().all(is_han) {
            found.insert(string);
        }
        if found.len() == count {
            break;
        }
    }
    found.into_iter().collect()
}
