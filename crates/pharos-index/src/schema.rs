//! The fields of a document, and our analyser as tantivy's tokenizer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pharos_core::{LibraryPosition, PageId, PageUrl, Timestamp};
use pharos_text::Analyser;
use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TantivyDocument, TextFieldIndexing,
    TextOptions, Value,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

use crate::address::{self, reversed};
use crate::document::{Copy, MAX_COPIES, MAX_SIGNATURE};
use crate::figures::FigureFields;
use crate::likeness::LikenessFields;
use crate::{Document, StoredPage};

/// A title longer than this is cut, in bytes; nobody reads on.
const MAX_TITLE: usize = 1_000;

/// The fields.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The whole id, for replacing and looking up; those of copies too.
    pub page: Field,
    /// Its two halves as columns, for telling which pages a newer member hides.
    pub own_halves: [Field; 2],
    /// The same of its copies.
    pub copy_halves: [Field; 2],
    /// [`PAGE`] for pages; marks of gone pages have none, so that nothing finds them. [`COPIED`] where it has copies.
    pub kind: Field,
    pub title: Field,
    pub heading: Field,
    pub emphasis: Field,
    pub anchor: Field,
    pub body: Field,
    /// The host and every host above it; those of copies too.
    pub site: Field,
    /// Which address has which site, as a column, where there is more than one.
    pub address_site: Field,
    pub lang: Field,
    pub url: Field,
    pub date: Field,
    pub fetched: Field,
    pub position: Field,
    pub archive: Field,
    /// The same of its copies, in their order.
    pub copy_url: Field,
    pub copy_fetched: Field,
    pub copy_position: Field,
    pub web: FigureFields,
    pub likeness: LikenessFields,
}

/// Every page is of this kind …
pub(crate) const PAGE: &str = "page";
/// … and a page with copies of this, too.
pub(crate) const COPIED: &str = "copied";

pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("pharos")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        page: builder.add_bytes_field("page", INDEXED),
        own_halves: address::OWN.map(|name| builder.add_u64_field(name, FAST)),
        copy_halves: address::COPIES.map(|name| builder.add_u64_field(name, FAST)),
        kind: builder.add_text_field("kind", STRING),
        title: builder.add_text_field("title", text.clone() | STORED),
        heading: builder.add_text_field("heading", text.clone()),
        emphasis: builder.add_text_field("emphasis", text.clone()),
        anchor: builder.add_text_field("anchor", text.clone()),
        body: builder.add_text_field("body", text | STORED),
        site: builder.add_text_field("site", STRING),
        address_site: builder.add_text_field(address::SITES, FAST),
        lang: builder.add_text_field("lang", STRING | STORED),
        url: builder.add_text_field("url", STORED),
        date: builder.add_text_field("date", STORED),
        fetched: builder.add_i64_field("fetched", STORED),
        position: builder.add_u64_field("position", STORED),
        archive: builder.add_bool_field("archive", STORED),
        copy_url: builder.add_text_field("copy_url", STORED),
        copy_fetched: builder.add_i64_field("copy_fetched", STORED),
        copy_position: builder.add_u64_field("copy_position", STORED),
        web: FigureFields::add_to(&mut builder),
        likeness: LikenessFields::add_to(&mut builder),
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
        add_halves(&mut out, self.own_halves, page);
        out
    }

    /// A page with these copies of it.
    pub(crate) fn write(&self, document: &Document, copies: &[Copy], body_limit: usize) -> TantivyDocument {
        let mut out = self.tombstone(document.url.id());
        out.add_text(self.kind, PAGE);
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
        self.add_site(&mut out, &document.url);
        out.add_text(self.lang, &document.lang);
        out.add_text(self.url, document.url.as_str());
        if let Some(date) = &document.date {
            out.add_text(self.date, date);
        }
        out.add_i64(self.fetched, document.fetched.millis());
        out.add_u64(self.position, document.position.to_u64());
        out.add_bool(self.archive, document.archive);
        self.web.write(&document.web, &mut out);
        let signature = document.signature.as_deref().filter(|signature| signature.len() <= MAX_SIGNATURE);
        self.likeness.write(document.group, signature, &mut out);
        self.add_copies(&mut out, &document.url, &copies[..copies.len().min(MAX_COPIES)]);
        out
    }

    fn add_copies(&self, out: &mut TantivyDocument, own: &PageUrl, copies: &[Copy]) {
        if copies.is_empty() {
            return;
        }
        out.add_text(self.kind, COPIED);
        out.add_text(self.address_site, reversed(&own.site()));
        for copy in copies {
            let page = copy.url.id();
            out.add_bytes(self.page, &page.to_bytes());
            add_halves(out, self.copy_halves, page);
            self.add_site(out, &copy.url);
            out.add_text(self.address_site, reversed(&copy.url.site()));
            out.add_text(self.copy_url, copy.url.as_str());
            out.add_i64(self.copy_fetched, copy.fetched.millis());
            out.add_u64(self.copy_position, copy.position.to_u64());
        }
    }

    fn add_site(&self, out: &mut TantivyDocument, url: &PageUrl) {
        let site = url.site();
        let mut host = site.host();
        out.add_text(self.site, host);
        while let Some((_, above)) = host.split_once('.') {
            out.add_text(self.site, above);
            host = above;
        }
        if site.as_str() != site.host() {
            out.add_text(self.site, site.as_str());
        }
    }

    /// The document as it is shown at one of its addresses: the own one is the first, number 0.
    pub(crate) fn read(&self, page: PageId, address: u32, document: &TantivyDocument) -> StoredPage {
        let text = |field| document.get_first(field).and_then(|v| v.as_str().map(String::from));
        let copy = (address as usize).checked_sub(1);
        let at_address = |own, of_copy| match copy {
            Some(copy) => document.get_all(of_copy).nth(copy),
            None => document.get_first(own),
        };
        let url = at_address(self.url, self.copy_url).and_then(|v| v.as_str().map(String::from));
        let fetched = at_address(self.fetched, self.copy_fetched).and_then(|v| v.as_i64());
        let position = at_address(self.position, self.copy_position).and_then(|v| v.as_u64());
        StoredPage {
            page,
            url: url.unwrap_or_default(),
            title: text(self.title).unwrap_or_default(),
            body: text(self.body).unwrap_or_default(),
            lang: text(self.lang).unwrap_or_default(),
            date: text(self.date),
            fetched: Timestamp::from_millis(fetched.unwrap_or_default()),
            position: LibraryPosition::from_u64(position.unwrap_or_default()),
            archive: document.get_first(self.archive).and_then(|v| v.as_bool()).unwrap_or_default(),
        }
    }
}

fn add_halves(out: &mut TantivyDocument, [site, page]: [Field; 2], id: PageId) {
    out.add_u64(site, id.site().0);
    out.add_u64(page, id.page());
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
