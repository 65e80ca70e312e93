//! The tantivy schema, and the conversion of documents to and from it.

use std::collections::BTreeSet;

use pharos_core::{LibraryPosition, PageId, PageType, PageUrl, Timestamp};
use pharos_text::is_han;
use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, SchemaBuilder, TantivyDocument,
    TextFieldIndexing, TextOptions, Value,
};

use crate::document::addresses::{self, reversed_site};
use crate::document::link_figures::LinkFigureFields;
use crate::document::result_fields::ResultFields;
use crate::document::result_fields::ResultFieldsField;
use crate::document::signature::SignatureFields;
use crate::document::{IndexDocument, day, zones};
use crate::document::{MAX_CATEGORIES, MAX_COPIES, MAX_LINKS, MAX_SIGNATURE, PageCopy, StoredText};
use crate::write::tokenizer::{PLAIN, ZONES};

/// Maximum length of a title in bytes; longer titles are truncated.
const MAX_TITLE: usize = 1_000;

/// Maximum length of a summary in bytes; longer summaries are truncated.
const MAX_SUMMARY: usize = 2_000;

/// Maximum length of a label in bytes; longer labels are dropped.
const MAX_LABEL: usize = 100;

/// Column that history generations are sorted by.
pub(crate) const RANK: &str = "rank";
/// Facet columns.
pub(crate) const HOST: &str = "host";
pub(crate) const LANG: &str = "lang";
pub(crate) const TYPE: &str = "type";
pub(crate) const FORMAT: &str = "format";
pub(crate) const CATEGORY: &str = "category";
/// Length of the title in positions.
pub(crate) const TITLE_LENGTH: &str = "title_length";
/// First position of the other text; absent without other text.
pub(crate) const OTHER_BEGIN: &str = "other_begin";
/// Share of the other text in the indexed bytes of the page, in thousandths.
pub(crate) const OTHER_SHARE: &str = "other_share";
/// Days since 1970-01-01.
pub(crate) const DAY: &str = "day";

/// The fields of the schema.
#[derive(Clone, Debug)]
pub(crate) struct SchemaFields {
    /// Page id, for replacing and looking up pages; also those of copies.
    pub page: Field,
    /// The two halves of the id as columns, for checking which pages newer generations hide.
    pub own_halves: [Field; 2],
    /// The two halves of the ids of copies.
    pub copy_halves: [Field; 2],
    /// [`PAGE`] for pages, [`COPIED`] for pages with copies, [`HOME`] for home pages. Tombstones have no kind, so no
    /// query matches them.
    pub kind: Field,
    /// Words of all zones, see [`zones`]: the field that candidates are retrieved from.
    pub text: Field,
    /// Words of the title and of the URL, for queries restricted to them.
    pub title: Field,
    pub title_length: Field,
    pub address: Field,
    /// Quotable text and summary.
    pub body: Field,
    pub summary: Field,
    /// Outgoing links: page halves of the target ids, and target sites.
    pub links: Field,
    /// The host, its parent domains and its directories; also those of copies.
    pub site: Field,
    /// Site of each URL, as a column, for documents with copies.
    pub address_site: Field,
    pub host: Field,
    pub lang: Field,
    pub page_type: Field,
    pub format: Field,
    pub category: Field,
    pub day: Field,
    /// Static rank, scaled to [`u16::MAX`].
    pub rank: Field,
    pub result_fields: ResultFieldsField,
    /// URL, fetch time and library position of copies, in their order.
    pub copy_url: Field,
    pub copy_fetched: Field,
    pub copy_position: Field,
    pub web: LinkFigureFields,
    pub signature: SignatureFields,
    /// The other text; `None` in a generation of an older format.
    pub other: Option<OtherTextFields>,
}

/// Fields of the other text. They come last in the schema, so that the others keep their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherTextFields {
    /// Quotable other text.
    text: Field,
    begin: Field,
    share: Field,
}

impl OtherTextFields {
    fn add_to(builder: &mut SchemaBuilder) -> Self {
        Self {
            text: builder.add_text_field("other", STORED),
            begin: builder.add_u64_field(OTHER_BEGIN, FAST),
            share: builder.add_u64_field(OTHER_SHARE, FAST),
        }
    }
}

/// Kind of every page.
pub(crate) const PAGE: &str = "page";
/// Kind of pages with copies.
pub(crate) const COPIED: &str = "copied";
/// Kind of home pages.
pub(crate) const HOME: &str = "home";

/// Maximum depth of indexed directories.
const MAX_FOLDERS: usize = 8;

/// Returns the current schema.
pub(crate) fn schema() -> (Schema, SchemaFields) {
    build_schema(true)
}

/// Returns the schema of format 6, which has no other text. Its generations are read until the next build.
pub(crate) fn schema_without_other_text() -> (Schema, SchemaFields) {
    build_schema(false)
}

fn build_schema(has_other: bool) -> (Schema, SchemaFields) {
    let mut builder = Schema::builder();
    let tokenised = |tokenizer| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fields = SchemaFields {
        page: builder.add_bytes_field("page", INDEXED),
        own_halves: addresses::OWN_ID_COLUMNS.map(|name| builder.add_u64_field(name, FAST)),
        copy_halves: addresses::COPY_ID_COLUMNS.map(|name| builder.add_u64_field(name, FAST)),
        kind: builder.add_text_field("kind", STRING),
        text: builder.add_text_field("text", tokenised(ZONES)),
        title: builder.add_text_field("title", tokenised(PLAIN)),
        title_length: builder.add_u64_field(TITLE_LENGTH, FAST),
        address: builder.add_text_field("address", tokenised(PLAIN)),
        body: builder.add_text_field("body", STORED),
        summary: builder.add_text_field("summary", STORED),
        links: builder.add_u64_field("links", INDEXED),
        site: builder.add_text_field("site", STRING),
        address_site: builder.add_text_field(addresses::SITE_COLUMN, FAST),
        host: builder.add_text_field(HOST, FAST),
        lang: builder.add_text_field(LANG, STRING | FAST),
        page_type: builder.add_text_field(TYPE, STRING | FAST),
        format: builder.add_text_field(FORMAT, STRING | FAST),
        category: builder.add_text_field(CATEGORY, STRING | FAST),
        day: builder.add_i64_field(DAY, FAST),
        rank: builder.add_u64_field(RANK, FAST),
        result_fields: ResultFieldsField::add_to(&mut builder),
        copy_url: builder.add_text_field("copy_url", STORED),
        copy_fetched: builder.add_i64_field("copy_fetched", STORED),
        copy_position: builder.add_u64_field("copy_position", STORED),
        web: LinkFigureFields::add_to(&mut builder),
        signature: SignatureFields::add_to(&mut builder),
        other: has_other.then(|| OtherTextFields::add_to(&mut builder)),
    };
    (builder.build(), fields)
}

impl SchemaFields {
    pub(crate) fn page_term(&self, page: PageId) -> Term {
        Term::from_field_bytes(self.page, &page.to_bytes())
    }

    /// Creates the tombstone of a deleted page.
    pub(crate) fn tombstone(&self, page: PageId) -> TantivyDocument {
        let mut out = TantivyDocument::new();
        out.add_bytes(self.page, &page.to_bytes());
        add_halves(&mut out, self.own_halves, page);
        out.add_u64(self.rank, 0);
        out
    }

    /// Converts a page with its static rank and copies to a tantivy document.
    pub(crate) fn to_tantivy(
        &self,
        document: &IndexDocument,
        rank: u16,
        copies: &[PageCopy],
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
        let title = truncate(&document.title, MAX_TITLE);
        let body = truncate(&document.body, body_limit);
        if body.len() < document.body.len() {
            let bytes = document.body.len();
            tracing::warn!(url = %document.url, bytes, kept = body.len(), "the text exceeds the limit and is truncated");
        }
        let other = if self.other.is_some() { truncate(&document.other, body_limit) } else { "" };
        let text = zones::encode(document, body, other);
        if let Some(fields) = self.other.filter(|_| !other.is_empty()) {
            out.add_text(
                fields.text,
                truncate(document.quotable_other.as_deref().unwrap_or(other), body_limit),
            );
            out.add_u64(fields.begin, zones::other_begin(body).into());
            out.add_u64(fields.share, other.len() as u64 * 1_000 / text.len() as u64);
        }
        out.add_text(self.text, text);
        out.add_text(self.title, title);
        out.add_u64(self.title_length, estimate_positions(title));
        out.add_text(self.address, zones::url_words(&document.url));
        out.add_text(self.body, truncate(document.quotable.as_deref().unwrap_or(body), body_limit));
        if !document.summary.is_empty() {
            out.add_text(self.summary, truncate(&document.summary, MAX_SUMMARY));
        }
        self.add_links(&mut out, &document.links);
        self.add_site(&mut out, &document.url);
        out.add_text(self.host, document.url.site().host());
        out.add_text(self.page_type, page_type_name(document.page_type));
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
        let broader = document.broader_categories.iter().filter(|id| **id != document.category);
        for id in broader.filter(|id| !id.is_empty() && id.len() <= MAX_LABEL).take(MAX_CATEGORIES - 1) {
            out.add_text(self.category, id);
        }
        if let Some(day) = document.date.as_deref().and_then(day::parse) {
            out.add_i64(self.day, day);
        }
        self.result_fields.write(
            &ResultFields {
                url: document.url.as_str().into(),
                title: title.into(),
                lang: truncate(&document.lang, MAX_LABEL).into(),
                format: truncate(&document.format, MAX_LABEL).into(),
                category: truncate(&document.category, MAX_LABEL).into(),
                max_snippet: document.max_snippet,
                date: document.date.as_deref().map(|date| truncate(date, MAX_LABEL).into()),
                fetched: document.fetched,
                position: document.position,
                archive: document.archive,
                breadcrumbs: document.breadcrumbs.clone(),
                category_confidence: document.category_confidence,
            },
            &mut out,
        );
        self.web.write(&document.link_figures, &mut out);
        let signature = document.signature.as_deref().filter(|signature| signature.len() <= MAX_SIGNATURE);
        self.signature.write(document.group, signature, &mut out);
        self.add_copies(&mut out, &document.url, &copies[..copies.len().min(MAX_COPIES)]);
        out
    }

    fn add_copies(&self, out: &mut TantivyDocument, own: &PageUrl, copies: &[PageCopy]) {
        if copies.is_empty() {
            return;
        }
        out.add_text(self.kind, COPIED);
        out.add_text(self.address_site, reversed_site(&own.site()));
        for copy in copies {
            let page = copy.url.id();
            out.add_bytes(self.page, &page.to_bytes());
            add_halves(out, self.copy_halves, page);
            self.add_site(out, &copy.url);
            out.add_text(self.address_site, reversed_site(&copy.url.site()));
            out.add_text(self.copy_url, copy.url.as_str());
            out.add_i64(self.copy_fetched, copy.fetched.millis());
            out.add_u64(self.copy_position, copy.position.to_u64());
        }
    }

    /// Adds each target page and each target site once.
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

    /// Reads the text of a stored document.
    pub(crate) fn read_text(&self, document: &TantivyDocument) -> StoredText {
        let of = |field| document.get_first(field).and_then(|v| v.as_str()).unwrap_or_default().to_string();
        let other = self.other.map(|fields| of(fields.text)).unwrap_or_default();
        StoredText { body: of(self.body), summary: of(self.summary), other }
    }

    /// Replaces URL, fetch time and position by those of a copy, counted from 1.
    pub(crate) fn move_to_copy(&self, fields: &mut ResultFields, copy: u32, document: &TantivyDocument) {
        let Some(copy) = (copy as usize).checked_sub(1) else { return };
        let of = |field| document.get_all(field).nth(copy);
        fields.url = of(self.copy_url).and_then(|v| v.as_str()).unwrap_or_default().to_string();
        fields.fetched =
            Timestamp::from_millis(of(self.copy_fetched).and_then(|v| v.as_i64()).unwrap_or_default());
        let position = of(self.copy_position).and_then(|v| v.as_u64());
        fields.position = LibraryPosition::from_u64(position.unwrap_or_default());
    }
}

/// Returns the indexed name of a page type.
pub(crate) fn page_type_name(page_type: PageType) -> &'static str {
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

/// Estimates the number of positions of a text: one for each Han character and for each run of other letters.
fn estimate_positions(text: &str) -> u64 {
    let (mut positions, mut in_word) = (0, false);
    for c in text.chars() {
        let is_letter = c.is_alphanumeric() && !is_han(c);
        positions += u64::from(is_han(c) || (is_letter && !in_word));
        in_word = is_letter;
    }
    positions
}

/// Returns the beginning of a text, at most `limit` bytes, at a character boundary.
fn truncate(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
