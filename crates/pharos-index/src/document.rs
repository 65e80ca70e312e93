//! Documents and changes that are indexed, and the stored data that is returned.

pub(crate) mod addresses;
pub mod day;
pub mod forward_index;
pub mod link_figures;
pub mod link_maxima;
pub(crate) mod packed_column;
pub mod result_fields;
pub(crate) mod schema;
pub(crate) mod signature;
pub mod zones;

use pharos_core::{LibraryPosition, PageId, PageType, PageUrl, Timestamp};

use crate::{LinkFigures, ResultFields};

/// Maximum number of copies of a document. Additional copies need another document.
pub const MAX_COPIES: usize = 1_000;

/// Maximum size of a signature in bytes. Longer signatures are dropped.
pub const MAX_SIGNATURE: usize = 256;

/// Maximum number of categories of a document.
pub const MAX_CATEGORIES: usize = 24;

/// Maximum number of indexed links of a document.
pub const MAX_LINKS: usize = 128;

/// A change to the index.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexChange {
    /// Adds or replaces a page.
    Put(Box<IndexDocument>),
    /// Deletes a page.
    Gone(PageId),
}

/// A page to be indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDocument {
    pub url: PageUrl,
    pub title: String,
    /// Headings (标题).
    pub headings: Vec<String>,
    /// Emphasised text: bold, marked, defined terms.
    pub emphasised: Vec<String>,
    /// Cleaned text (正文).
    pub body: String,
    /// Text that may be quoted, if that is not the whole body.
    pub quotable: Option<String>,
    /// Other visible text of the page: menus, captions, comments, code. It counts neither for the length of the page nor
    /// for its text score.
    pub other: String,
    /// Other text that may be quoted, if that is not all of it.
    pub quotable_other: Option<String>,
    /// Maximum number of characters in a snippet; `None` means no limit.
    pub max_snippet: Option<u32>,
    /// Summary in a few sentences (摘要).
    pub summary: String,
    /// Anchor texts of links to the page (锚文本), heaviest first.
    pub anchors: Vec<Anchor>,
    /// Outgoing links, at most [`MAX_LINKS`].
    pub links: Vec<PageUrl>,
    pub lang: String,
    pub page_type: PageType,
    /// File type: `html`, `pdf`, `docx`; empty if unknown.
    pub format: String,
    /// Subject category; empty if unknown.
    pub category: String,
    /// Confidence of the category in percent; 0 if unknown.
    pub category_confidence: u8,
    /// Further categories by which the page is found and counted: those above its category.
    pub broader_categories: Vec<String>,
    /// Names of the places above the page within its site, from the top.
    pub breadcrumbs: Vec<String>,
    /// Date of publication or last change if known: `2026-01-31`.
    pub date: Option<String>,
    pub fetched: Timestamp,
    /// Position of the stored response in the library.
    pub position: LibraryPosition,
    /// `true` if the cached page may be shown.
    pub archive: bool,
    /// Other URLs with identical content, at most [`MAX_COPIES`]. Only history generations store them; latest
    /// generations store every URL as a document and ignore this field.
    pub copies: Vec<PageCopy>,
    pub link_figures: LinkFigures,
    /// Representative of the near-duplicate group (近似网页), the page crawled first; may be the page itself.
    pub group: Option<PageId>,
    /// Signature for detecting near-duplicates that are not grouped yet, at most [`MAX_SIGNATURE`] bytes.
    pub signature: Option<Box<[u8]>>,
}

/// An anchor text of links to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub text: String,
    /// Weight, which grows with the number of linking domains; at most [`MAX_VOTES`](zones::MAX_VOTES).
    pub votes: u8,
}

impl From<&str> for Anchor {
    fn from(text: &str) -> Self {
        Self { text: text.into(), votes: 1 }
    }
}

impl From<String> for Anchor {
    fn from(text: String) -> Self {
        Self { text, votes: 1 }
    }
}

impl IndexDocument {
    /// Creates an empty document for a URL.
    pub fn new(url: PageUrl) -> Self {
        Self {
            url,
            title: String::new(),
            headings: Vec::new(),
            emphasised: Vec::new(),
            body: String::new(),
            quotable: None,
            other: String::new(),
            quotable_other: None,
            max_snippet: None,
            summary: String::new(),
            anchors: Vec::new(),
            links: Vec::new(),
            lang: String::new(),
            page_type: PageType::default(),
            format: String::new(),
            category: String::new(),
            category_confidence: 0,
            broader_categories: Vec::new(),
            breadcrumbs: Vec::new(),
            date: None,
            fetched: Timestamp::EPOCH,
            position: LibraryPosition::START,
            archive: true,
            copies: Vec::new(),
            link_figures: LinkFigures::default(),
            group: None,
            signature: None,
        }
    }
}

/// Another URL with identical content (镜像网页).
#[derive(Clone, Debug, PartialEq)]
pub struct PageCopy {
    pub url: PageUrl,
    /// Position of its stored response in the library.
    pub position: LibraryPosition,
    pub fetched: Timestamp,
}

/// The near-duplicate group and signature of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DuplicateSignature {
    /// Representative of its group.
    pub group: Option<PageId>,
    pub signature: Option<Box<[u8]>>,
}

/// The stored text of a page, for snippets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredText {
    /// Quotable text.
    pub body: String,
    /// Summary (摘要); empty if there is none.
    pub summary: String,
    /// Quotable other text, for words that occur only there.
    pub other: String,
}

/// The stored data of a page at the URL where it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPage {
    pub page: PageId,
    pub fields: ResultFields,
    pub text: StoredText,
}
