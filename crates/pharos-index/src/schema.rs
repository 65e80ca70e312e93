//! The fields of a document, and our analyser as tantivy's tokenizer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pharos_core::{LibraryPosition, PageId, SiteId, Timestamp};
use pharos_text::Analyser;
use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TantivyDocument, TextFieldIndexing,
    TextOptions, Value,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

use crate::{Document, StoredPage};

/// A title longer than this is cut, in bytes; nobody reads on.
const MAX_TITLE: usize = 1_000;

/// The fields.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The whole id, for replacing and looking up.
    pub page: Field,
    /// Its two halves as columns, for telling which pages a newer member hides.
    pub site_half: Field,
    pub page_half: Field,
    /// `page` for pages; marks of gone pages have none, so that nothing finds them.
    pub kind: Field,
    pub title: Field,
    pub heading: Field,
    pub emphasis: Field,
    pub anchor: Field,
    pub body: Field,
    /// The host and every host above it.
    pub site: Field,
    pub lang: Field,
    pub url: Field,
    pub date: Field,
    pub fetched: Field,
    pub position: Field,
    pub archive: Field,
}

pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("pharos")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        page: builder.add_bytes_field("page", INDEXED),
        site_half: builder.add_u64_field("site_half", FAST),
        page_half: builder.add_u64_field("page_half", FAST),
        kind: builder.add_text_field("kind", STRING),
        title: builder.add_text_field("title", text.clone() | STORED),
        heading: builder.add_text_field("heading", text.clone()),
        emphasis: builder.add_text_field("emphasis", text.clone()),
        anchor: builder.add_text_field("anchor", text.clone()),
        body: builder.add_text_field("body", text | STORED),
        site: builder.add_text_field("site", STRING),
        lang: builder.add_text_field("lang", STRING | STORED),
        url: builder.add_text_field("url", STORED),
        date: builder.add_text_field("date", STORED),
        fetched: builder.add_i64_field("fetched", STORED),
        position: builder.add_u64_field("position", STORED),
        archive: builder.add_bool_field("archive", STORED),
    };
    (builder.build(), fields)
}

impl Fields {
    pub(crate) fn page_term(&self, page: PageId) -> Term {
        Term::from_field_bytes(self.page, &page.to_bytes())
    }

    /// The mark of a page that is gone.
    pub(crate) fn tombstone(&self, page: PageId) -> TantivyDocument {
        let mut out = TantivyDocument::new();
        out.add_bytes(self.page, &page.to_bytes());
        out.add_u64(self.site_half, page.site().0);
        out.add_u64(self.page_half, page.page());
        out
    }

    pub(crate) fn write(&self, document: &Document, body_limit: usize) -> TantivyDocument {
        let mut out = self.tombstone(document.url.id());
        out.add_text(self.kind, "page");
        out.add_text(self.title, cut(&document.title, MAX_TITLE));
        for heading in &document.headings {
            out.add_text(self.heading, cut(heading, MAX_TITLE));
        }
        for emphasised in &document.emphasised {
            out.add_text(self.emphasis, cut(emphasised, MAX_TITLE));
        }
        for anchor in &document.anchors {
            out.add_text(self.anchor, anchor);
        }
        out.add_text(self.body, cut(&document.body, body_limit));
        let site = document.url.site();
        let mut host = site.host();
        out.add_text(self.site, host);
        while let Some((_, above)) = host.split_once('.') {
            out.add_text(self.site, above);
            host = above;
        }
        if site.as_str() != site.host() {
            out.add_text(self.site, site.as_str());
        }
        out.add_text(self.lang, &document.lang);
        out.add_text(self.url, document.url.as_str());
        if let Some(date) = &document.date {
            out.add_text(self.date, date);
        }
        out.add_i64(self.fetched, document.fetched.millis());
        out.add_u64(self.position, document.position.to_u64());
        out.add_bool(self.archive, document.archive);
        out
    }

    pub(crate) fn read(&self, page: PageId, document: &TantivyDocument) -> StoredPage {
        let text = |field| document.get_first(field).and_then(|v| v.as_str().map(String::from));
        StoredPage {
            page,
            url: text(self.url).unwrap_or_default(),
            title: text(self.title).unwrap_or_default(),
            body: text(self.body).unwrap_or_default(),
            lang: text(self.lang).unwrap_or_default(),
            date: text(self.date),
            fetched: Timestamp::from_millis(
                document.get_first(self.fetched).and_then(|v| v.as_i64()).unwrap_or_default(),
            ),
            position: LibraryPosition::from_u64(
                document.get_first(self.position).and_then(|v| v.as_u64()).unwrap_or_default(),
            ),
            archive: document.get_first(self.archive).and_then(|v| v.as_bool()).unwrap_or_default(),
        }
    }
}

/// The id from its two columns.
pub(crate) fn page_id(site_half: u64, page_half: u64) -> PageId {
    PageId::from_parts(SiteId(site_half), page_half)
}

/// The beginning of a text, at most `limit` bytes and whole characters.
fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

pub(crate) fn tokenizers(analyser: Arc<Analyser>) -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register("pharos", TextAnalyzer::from(PharosTokenizer { analyser, terms: Terms::default() }));
    manager
}

/// Our analyser, as tantivy calls it, with the terms of the text at hand.
#[derive(Clone)]
struct PharosTokenizer {
    analyser: Arc<Analyser>,
    terms: Terms,
}

/// The terms of a text, one after the other in the same string: nothing is allocated for each.
#[derive(Clone, Default)]
struct Terms {
    text: String,
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    /// Where the term ends in the string.
    end: usize,
    position: usize,
    offset_from: usize,
    offset_to: usize,
}

struct PharosStream<'a> {
    terms: &'a Terms,
    next: usize,
    token: Token,
}

impl Terms {
    fn read(&mut self, text: &str, analyser: &Analyser) {
        self.text.clear();
        self.places.clear();
        analyser.for_each_index_token(text, |term, offset_from, offset_to, position| {
            self.text.push_str(term);
            self.places.push(Place { end: self.text.len(), position, offset_from, offset_to });
        });
    }
}

impl Tokenizer for PharosTokenizer {
    type TokenStream<'a> = PharosStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> PharosStream<'a> {
        let Self { analyser, terms } = self;
        // This runs on the index writer's thread, which must survive any text.
        if catch_unwind(AssertUnwindSafe(|| terms.read(text, analyser))).is_err() {
            tracing::warn!(bytes = text.len(), "a text cannot be cut into words and is not indexed");
            *terms = Terms::default();
        }
        PharosStream { terms, next: 0, token: Token::default() }
    }
}

impl TokenStream for PharosStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(place) = self.terms.places.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.terms.places[before].end);
        self.next += 1;
        self.token.text.clear();
        self.token.text.push_str(&self.terms.text[start..place.end]);
        self.token.position = place.position;
        self.token.offset_from = place.offset_from;
        self.token.offset_to = place.offset_to;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
