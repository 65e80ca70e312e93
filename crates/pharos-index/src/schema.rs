//! The fields of a document, and our analyser as tantivy's tokenizer.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pharos_core::{LibraryPosition, PageId, PageType, PageUrl, Timestamp};
use pharos_text::{Analyser, is_han};
use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TantivyDocument, TextFieldIndexing,
    TextOptions, Value,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

use crate::address::{self, reversed};
use crate::card::CardField;
use crate::document::{Copy, MAX_COPIES, MAX_LINKS, MAX_SIGNATURE, Text};
use crate::figures::FigureFields;
use crate::likeness::LikenessFields;
use crate::{Card, Document, day, zones};

/// A title longer than this is cut, in bytes; nobody reads on.
const MAX_TITLE: usize = 1_000;

/// A summary longer than this is cut, in bytes.
const MAX_SUMMARY: usize = 2_000;

/// A label such as a language or a class longer than this, in bytes, is none.
const MAX_LABEL: usize = 100;

/// The column that a history generation is ordered by.
pub(crate) const RANK: &str = "rank";
/// Columns that results are counted by.
pub(crate) const HOST: &str = "host";
pub(crate) const LANG: &str = "lang";
pub(crate) const TYPE: &str = "type";
pub(crate) const FORMAT: &str = "format";
pub(crate) const CATEGORY: &str = "category";
/// How long the title is.
pub(crate) const TITLE_LENGTH: &str = "title_length";
/// Days since 1970.
pub(crate) const DAY: &str = "day";

/// The fields.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The whole id, for replacing and looking up; those of copies too.
    pub page: Field,
    /// Its two halves as columns, for telling which pages a newer member hides.
    pub own_halves: [Field; 2],
    /// The same of its copies.
    pub copy_halves: [Field; 2],
    /// [`PAGE`] for pages; marks of gone pages have none, so that nothing finds them. [`COPIED`] where it has copies,
    /// [`HOME`] for home pages.
    pub kind: Field,
    /// All its words, see [`zones`]: what candidates are searched in.
    pub text: Field,
    /// Those of the title and of the address once more, for who asks for them alone.
    pub title: Field,
    pub title_length: Field,
    pub address: Field,
    /// The text as it is quoted, and what it is about.
    pub body: Field,
    pub summary: Field,
    /// Pages it links to, by the page's half of their ids, and their sites.
    pub links: Field,
    /// The host and every host above it, and the folders of the host; those of copies too.
    pub site: Field,
    /// Which address has which site, as a column, where there is more than one.
    pub address_site: Field,
    pub host: Field,
    pub lang: Field,
    pub page_type: Field,
    pub format: Field,
    pub category: Field,
    pub day: Field,
    /// The static rank, between 0 and [`u16::MAX`].
    pub rank: Field,
    pub card: CardField,
    /// Address, time and place of its copies, in their order.
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
/// … and the home page of a site of this.
pub(crate) const HOME: &str = "home";

/// Folders further down cannot be asked for.
const MAX_FOLDERS: usize = 8;

pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let words = |tokenizer| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fields = Fields {
        page: builder.add_bytes_field("page", INDEXED),
        own_halves: address::OWN.map(|name| builder.add_u64_field(name, FAST)),
        copy_halves: address::COPIES.map(|name| builder.add_u64_field(name, FAST)),
        kind: builder.add_text_field("kind", STRING),
        text: builder.add_text_field("text", words(ZONES)),
        title: builder.add_text_field("title", words(PLAIN)),
        title_length: builder.add_u64_field(TITLE_LENGTH, FAST),
        address: builder.add_text_field("address", words(PLAIN)),
        body: builder.add_text_field("body", STORED),
        summary: builder.add_text_field("summary", STORED),
        links: builder.add_u64_field("links", INDEXED),
        site: builder.add_text_field("site", STRING),
        address_site: builder.add_text_field(address::SITES, FAST),
        host: builder.add_text_field(HOST, FAST),
        lang: builder.add_text_field(LANG, STRING | FAST),
        page_type: builder.add_text_field(TYPE, STRING | FAST),
        format: builder.add_text_field(FORMAT, STRING | FAST),
        category: builder.add_text_field(CATEGORY, STRING | FAST),
        day: builder.add_i64_field(DAY, FAST),
        rank: builder.add_u64_field(RANK, FAST),
        card: CardField::add_to(&mut builder),
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
        out.add_u64(self.rank, 0);
        out
    }

    /// A page of this static rank, with these copies of it.
    pub(crate) fn write(
        &self,
        document: &Document,
        rank: u16,
        copies: &[Copy],
        body_limit: usize,
    ) -> TantivyDocument {
        let mut out = TantivyDocument::new();
        let id = document.url.id();
        out.add_bytes(self.page, &id.to_bytes());
        add_halves(&mut out, self.own_halves, id);
        out.add_u64(self.rank, rank.into());
        out.add_text(self.kind, PAGE);
        if document.url.is_home() {
            out.add_text(self.kind, HOME);
        }
        let title = cut(&document.title, MAX_TITLE);
        let body = cut(&document.body, body_limit);
        if body.len() < document.body.len() {
            let bytes = document.body.len();
            tracing::warn!(url = %document.url, bytes, kept = body.len(), "a text is too long and indexed up to the limit");
        }
        out.add_text(self.text, zones::write(document, body));
        out.add_text(self.title, title);
        out.add_u64(self.title_length, positions(title));
        out.add_text(self.address, zones::address_words(&document.url));
        out.add_text(self.body, cut(document.quotable.as_deref().unwrap_or(body), body_limit));
        if !document.summary.is_empty() {
            out.add_text(self.summary, cut(&document.summary, MAX_SUMMARY));
        }
        self.add_links(&mut out, &document.links);
        self.add_site(&mut out, &document.url);
        out.add_text(self.host, document.url.site().host());
        out.add_text(self.page_type, type_name(document.page_type));
        let labels = [
            (self.lang, &document.lang),
            (self.format, &document.format),
            (self.category, &document.category),
        ];
        for (field, label) in labels {
            if !label.is_empty() && label.len() <= MAX_LABEL {
                out.add_text(field, label);
            }
        }
        if let Some(day) = document.date.as_deref().and_then(day::parse) {
            out.add_i64(self.day, day);
        }
        self.card.write(
            &Card {
                url: document.url.as_str().into(),
                title: title.into(),
                lang: cut(&document.lang, MAX_LABEL).into(),
                format: cut(&document.format, MAX_LABEL).into(),
                category: cut(&document.category, MAX_LABEL).into(),
                max_snippet: document.max_snippet,
                date: document.date.as_deref().map(|date| cut(date, MAX_LABEL).into()),
                fetched: document.fetched,
                position: document.position,
                archive: document.archive,
            },
            &mut out,
        );
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

    /// Each page and each site once.
    fn add_links(&self, out: &mut TantivyDocument, links: &[PageUrl]) {
        let targets = links.iter().take(MAX_LINKS).map(PageUrl::id);
        let targets: BTreeSet<u64> = targets.flat_map(|page| [page.page(), page.site().0]).collect();
        targets.into_iter().for_each(|target| out.add_u64(self.links, target));
    }

    fn add_site(&self, out: &mut TantivyDocument, url: &PageUrl) {
        let site = url.site();
        let mut folder = site.host().to_string();
        for step in url.as_url().path().split('/').filter(|step| !step.is_empty()).take(MAX_FOLDERS) {
            folder.push('/');
            folder.push_str(step);
            out.add_text(self.site, &folder);
            if let Some(bare) = folder.strip_prefix("www.") {
                out.add_text(self.site, bare);
            }
        }
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

    /// The text of a stored document.
    pub(crate) fn text_of(&self, document: &TantivyDocument) -> Text {
        let of = |field| document.get_first(field).and_then(|v| v.as_str()).unwrap_or_default().to_string();
        Text { body: of(self.body), summary: of(self.summary) }
    }

    /// The card of a document at the address of one of its copies, counted from 1.
    pub(crate) fn at_copy(&self, card: &mut Card, copy: u32, document: &TantivyDocument) {
        let Some(copy) = (copy as usize).checked_sub(1) else { return };
        let of = |field| document.get_all(field).nth(copy);
        card.url = of(self.copy_url).and_then(|v| v.as_str()).unwrap_or_default().to_string();
        card.fetched =
            Timestamp::from_millis(of(self.copy_fetched).and_then(|v| v.as_i64()).unwrap_or_default());
        let position = of(self.copy_position).and_then(|v| v.as_u64());
        card.position = LibraryPosition::from_u64(position.unwrap_or_default());
    }
}

/// The name of a kind of page, as it is asked for.
pub(crate) fn type_name(page_type: PageType) -> &'static str {
    match page_type {
        PageType::Topic => "topic",
        PageType::Hub => "hub",
        PageType::Picture => "picture",
    }
}

fn add_halves(out: &mut TantivyDocument, [site, page]: [Field; 2], id: PageId) {
    out.add_u64(site, id.site().0);
    out.add_u64(page, id.page());
}

/// How many positions a text takes, about: one for each Han character and each run of other letters.
fn positions(text: &str) -> u64 {
    let (mut positions, mut in_word) = (0, false);
    for c in text.chars() {
        let is_letter = c.is_alphanumeric() && !is_han(c);
        positions += u64::from(is_han(c) || (is_letter && !in_word));
        in_word = is_letter;
    }
    positions
}

/// The beginning of a text, at most `limit` bytes and whole characters.
fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Names of the tokenizers: for the zones of a page, and for one text.
const ZONES: &str = "pharos-zones";
const PLAIN: &str = "pharos";

pub(crate) fn tokenizers(analyser: Arc<Analyser>) -> TokenizerManager {
    let manager = TokenizerManager::default();
    for (name, in_zones) in [(PLAIN, false), (ZONES, true)] {
        let analyser = Arc::clone(&analyser);
        let tokenizer = PharosTokenizer { analyser, in_zones, terms: Terms::default() };
        manager.register(name, TextAnalyzer::from(tokenizer));
    }
    manager
}

/// Our analyser, as tantivy calls it, with the terms of the text at hand.
#[derive(Clone)]
struct PharosTokenizer {
    analyser: Arc<Analyser>,
    in_zones: bool,
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
    /// How often it counts.
    times: u8,
}

struct PharosStream<'a> {
    terms: &'a Terms,
    next: usize,
    /// How often the term at hand is to be given again.
    again: u8,
    token: Token,
}

impl Terms {
    fn read(&mut self, text: &str, in_zones: bool, analyser: &Analyser) {
        self.text.clear();
        self.places.clear();
        let mut push = |term: &str, position: usize, times: u8| {
            self.text.push_str(term);
            self.places.push(Place { end: self.text.len(), position, times });
        };
        if in_zones {
            zones::for_each_term(text, analyser, |term, position, times| {
                push(term, position as usize, times)
            });
        } else {
            analyser.for_each_index_token(text, |term, _, _, position| push(term, position, 1));
        }
    }
}

impl Tokenizer for PharosTokenizer {
    type TokenStream<'a> = PharosStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> PharosStream<'a> {
        let Self { analyser, in_zones, terms } = self;
        // This runs on the index writer's thread, which must survive any text.
        if catch_unwind(AssertUnwindSafe(|| terms.read(text, *in_zones, analyser))).is_err() {
            tracing::warn!(bytes = text.len(), "a text cannot be cut into words and is not indexed");
            *terms = Terms::default();
        }
        PharosStream { terms, next: 0, again: 0, token: Token::default() }
    }
}

impl TokenStream for PharosStream<'_> {
    fn advance(&mut self) -> bool {
        if self.again > 0 {
            self.again -= 1;
            return true;
        }
        let Some(place) = self.terms.places.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.terms.places[before].end);
        self.next += 1;
        self.again = place.times.saturating_sub(1);
        self.token.text.clear();
        self.token.text.push_str(&self.terms.text[start..place.end]);
        self.token.position = place.position;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
