//! The same pages in a raw tantivy index: title and body with the terms of the Pharos analyser, both stored.

use std::path::Path;

use pharos_index::IndexDocument;
use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;
use tantivy::collector::TopDocs;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value as _,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, Term};

use crate::Outcome;
use crate::queries::BenchQuery;

/// Weight of a word in the title; 1 in the body.
const TITLE: f32 = 3.0;

/// Number of results read.
const BEST: usize = 10;

/// A raw tantivy index.
pub struct Raw {
    searcher: Searcher,
    title: Field,
    body: Field,
    site: Field,
}

impl Raw {
    pub fn build(
        dir: &Path,
        pages: impl Iterator<Item = Outcome<IndexDocument>>,
        threads: usize,
        memory: usize,
    ) -> Outcome<()> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("pharos")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let words = TextOptions::default().set_indexing_options(indexing) | STORED;
        let url = schema.add_text_field("url", STORED);
        let site = schema.add_text_field("site", STRING);
        let title = schema.add_text_field("title", words.clone());
        let body = schema.add_text_field("body", words);
        let index = Index::create_in_dir(dir, schema.build())?;
        index.tokenizers().register("pharos", TextAnalyzer::from(Terms::default()));
        let mut writer: IndexWriter = index.writer_with_num_threads(threads, memory)?;
        // One merge of all segments at the end, as in Pharos.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for page in pages {
            let page = page?;
            let mut document = TantivyDocument::new();
            document.add_text(url, page.url.as_str());
            document.add_text(site, page.url.host());
            document.add_text(title, page.title);
            document.add_text(body, page.body);
            writer.add_document(document)?;
        }
        writer.commit()?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        Ok(writer.wait_merging_threads()?)
    }

    pub fn open(dir: &Path) -> Outcome<Self> {
        let index = Index::open_in_dir(dir)?;
        index.tokenizers().register("pharos", TextAnalyzer::from(Terms::default()));
        let [title, body, site] = ["title", "body", "site"].map(|name| index.schema().get_field(name));
        Ok(Self { searcher: index.reader()?.searcher(), title: title?, body: body?, site: site? })
    }

    /// Searches the top ten pages with all words, or with any if none has all, and reads their stored fields. Returns
    /// the bytes of their titles and texts.
    pub fn answer(&self, asked: &BenchQuery) -> Outcome<usize> {
        let best = TopDocs::with_limit(BEST).order_by_score();
        let mut found = self.searcher.search(&self.query(asked, Occur::Must), &best)?;
        if found.is_empty() {
            found = self.searcher.search(&self.query(asked, Occur::Should), &best)?;
        }
        let mut bytes = 0;
        for (_, address) in found {
            let document: TantivyDocument = self.searcher.doc(address)?;
            let text = |field| document.get_first(field).and_then(|value| value.as_str()).map_or(0, str::len);
            bytes += text(self.title) + text(self.body);
        }
        Ok(bytes)
    }

    fn query(&self, asked: &BenchQuery, each_word: Occur) -> BooleanQuery {
        let tokens = Analyser::shared().tokens(&asked.words);
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        if asked.is_phrase {
            let phrase = |field| -> Box<dyn Query> {
                let term = |text: &str| Term::from_field_text(field, text);
                match &tokens[..] {
                    [token] => plain(term(&token.text)),
                    tokens => {
                        let terms = tokens.iter().map(|token| (token.position, term(&token.text)));
                        Box::new(PhraseQuery::new_with_offset(terms.collect()))
                    }
                }
            };
            clauses.push((Occur::Must, self.in_both(phrase)));
        } else {
            let said = tokens.iter().filter(|token| !is_stop_word(&token.text));
            clauses.extend(said.map(|token| {
                (each_word, self.in_both(|field| plain(Term::from_field_text(field, &token.text))))
            }));
        }
        if let Some(site) = &asked.site {
            clauses.push((Occur::Must, plain(Term::from_field_text(self.site, site))));
        }
        BooleanQuery::new(clauses)
    }

    fn in_both(&self, of_field: impl Fn(Field) -> Box<dyn Query>) -> Box<dyn Query> {
        Box::new(BooleanQuery::new(vec![
            (Occur::Should, Box::new(BoostQuery::new(of_field(self.title), TITLE))),
            (Occur::Should, of_field(self.body)),
        ]))
    }
}

fn plain(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
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
