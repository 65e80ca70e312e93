//! The same pages in a raw tantivy index, with the same terms.

use std::error::Error;
use std::path::Path;

use pharos_index::{IndexDocument, LinkMaxima};
use pharos_text::Analyser;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value as _,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{
    DocId, Index, IndexSettings, IndexSortByField, IndexWriter, Order, Score, Searcher, SegmentReader,
    TantivyDocument, Term,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A raw tantivy index.
pub struct Raw {
    searcher: Searcher,
    /// Searched fields with their weights.
    searched: Vec<(Field, f32)>,
    url: Field,
}

/// Layout of the searched fields.
#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    /// Title and body as separate fields.
    TwoFields,
    /// Both as one field.
    OneField,
    /// Title and beginning of the body as one field, without the rest of the body.
    Important,
}

/// Length of an abstract in bytes.
const ABSTRACT: usize = 300;

/// Order of the documents.
pub enum Sequence<'a> {
    CrawlOrder,
    By(&'a dyn Fn(usize, &IndexDocument) -> u64),
}

impl Raw {
    pub fn build(
        dir: &Path,
        shape: Shape,
        pages: &mut dyn Iterator<Item = IndexDocument>,
        maxima: &LinkMaxima,
        order: &Sequence<'_>,
        (threads, memory): (usize, usize),
    ) -> Outcome<Self> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("pharos")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let words = TextOptions::default().set_indexing_options(indexing);
        let url = schema.add_text_field("url", STORED);
        let rank = schema.add_u64_field("rank", FAST);
        let place = schema.add_u64_field("place", FAST);
        let (title, body, text) = match shape {
            Shape::TwoFields => (
                schema.add_text_field("title", words.clone() | STORED),
                schema.add_text_field("body", words | STORED),
                None,
            ),
            Shape::OneField | Shape::Important => (
                schema.add_text_field("title", STORED),
                schema.add_text_field("body", STORED),
                Some(schema.add_text_field("text", words)),
            ),
        };
        let by_place = IndexSortByField { field: "place".into(), order: Order::Asc };
        let sort_by_field = matches!(order, Sequence::By(_)).then_some(by_place);
        let settings = IndexSettings { sort_by_field, ..IndexSettings::default() };
        let index = Index::builder().schema(schema.build()).settings(settings).create_in_dir(dir)?;
        index.tokenizers().register("pharos", TextAnalyzer::from(Terms::default()));
        let mut writer: IndexWriter = index.writer_with_num_threads(threads, memory)?;
        for (nth, mut page) in pages.enumerate() {
            if shape == Shape::Important {
                page.body.truncate(page.body.floor_char_boundary(ABSTRACT));
            }
            let mut document = TantivyDocument::new();
            document.add_text(url, page.url.as_str());
            document.add_u64(rank, (maxima.static_rank(&page.link_figures) * 65_535.0).round() as u64);
            if let Sequence::By(place_of) = order {
                document.add_u64(place, place_of(nth, &page));
            }
            if let Some(text) = text {
                document.add_text(text, &page.title);
                document.add_text(text, &page.body);
            }
            document.add_text(title, page.title);
            document.add_text(body, page.body);
            writer.add_document(document)?;
        }
        writer.commit()?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.wait_merging_threads()?;
        let searched = match text {
            Some(text) => vec![(text, 1.0)],
            None => vec![(title, 3.0), (body, 1.0)],
        };
        Ok(Self { searcher: index.reader()?.searcher(), searched, url })
    }

    fn query(&self, words: &[String], all: bool) -> Box<dyn Query> {
        let clauses = if !all {
            words.iter().flat_map(|word| self.in_fields(word)).collect()
        } else if let [(field, _)] = self.searched[..] {
            words.iter().map(|word| (Occur::Must, term(field, word))).collect()
        } else {
            let word = |word: &String| -> (Occur, Box<dyn Query>) {
                (Occur::Must, Box::new(BooleanQuery::new(self.in_fields(word))))
            };
            words.iter().map(word).collect()
        };
        Box::new(BooleanQuery::new(clauses))
    }

    fn in_fields(&self, word: &str) -> Vec<(Occur, Box<dyn Query>)> {
        let in_field = |(field, weight): &(Field, f32)| -> (Occur, Box<dyn Query>) {
            let term = term(*field, word);
            (Occur::Should, if *weight == 1.0 { term } else { Box::new(BoostQuery::new(term, *weight)) })
        };
        self.searched.iter().map(in_field).collect()
    }

    pub fn best(&self, words: &[String], all: bool) -> Outcome<Vec<f32>> {
        let found =
            self.searcher.search(&*self.query(words, all), &TopDocs::with_limit(10).order_by_score())?;
        Ok(found.into_iter().map(|(score, _)| score).collect())
    }

    pub fn best_and_count(&self, words: &[String], all: bool) -> Outcome<usize> {
        let collector = (TopDocs::with_limit(10).order_by_score(), Count);
        Ok(self.searcher.search(&*self.query(words, all), &collector)?.1)
    }

    /// Returns the top ten with a share of the static rank, computed for every match.
    pub fn best_ranked(&self, words: &[String], all: bool, weight: f32) -> Outcome<Vec<f32>> {
        let unit = weight / 65_535.0;
        let ranked = TopDocs::with_limit(10).tweak_score(move |segment: &SegmentReader| {
            let ranks = segment.fast_fields().u64("rank").expect("its column").first_or_default_col(0);
            move |doc: DocId, score: Score| score + ranks.get_val(doc) as f32 * unit
        });
        let found = self.searcher.search(&*self.query(words, all), &ranked)?;
        Ok(found.into_iter().map(|(score, _)| score).collect())
    }

    /// Returns the stored addresses of the top ten.
    pub fn addresses(&self, words: &[String], all: bool) -> Outcome<Vec<String>> {
        let query = self.query(words, all);
        let mut addresses = Vec::new();
        for (_, address) in self.searcher.search(&*query, &TopDocs::with_limit(10).order_by_score())? {
            let document: TantivyDocument = self.searcher.doc(address)?;
            addresses.extend(document.get_first(self.url).and_then(|url| url.as_str().map(String::from)));
        }
        Ok(addresses)
    }
}

fn term(field: Field, word: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
}

/// The terms of the Pharos analyser.
#[derive(Clone, Default)]
struct Terms {
    tokens: Vec<(String, usize)>,
}

struct Stream<'a> {
    tokens: &'a [(String, usize)],
    next: usize,
    token: Token,
}

impl Tokenizer for Terms {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        let mut used = 0;
        let tokens = &mut self.tokens;
        Analyser::shared().for_each_index_token(text, |term, _, _, position| {
            match tokens.get_mut(used) {
                Some((known, at)) => {
                    known.clear();
                    known.push_str(term);
                    *at = position;
                }
                None => tokens.push((term.to_string(), position)),
            }
            used += 1;
        });
        Stream { tokens: &self.tokens[..used], next: 0, token: Token::default() }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some((term, position)) = self.tokens.get(self.next) else { return false };
        self.next += 1;
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.position = *position;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
