//! What goes into the index and what comes out of it.

use pharos_core::{LibraryPosition, PageId, PageUrl, Timestamp};

/// A change to the index.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// This is what the page says now.
    Put(Box<Document>),
    /// The page is not to be found any more.
    Gone(PageId),
}

/// A page as it is indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its address.
    pub url: PageUrl,
    /// Its title.
    pub title: String,
    /// Its headings (标题).
    pub headings: Vec<String>,
    /// What else it emphasises: bold, marked, a term that is explained.
    pub emphasised: Vec<String>,
    /// Its cleaned text (正文).
    pub body: String,
    /// What other pages call it (锚文本).
    pub anchors: Vec<String>,
    /// Its language.
    pub lang: String,
    /// When it was published or last changed, as far as known: `2026-01-31`.
    pub date: Option<String>,
    /// When it was fetched.
    pub fetched: Timestamp,
    /// Where the stored answer stands in the library.
    pub position: LibraryPosition,
    /// Whether the stored copy may be shown.
    pub archive: bool,
}

/// What a result page needs of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPage {
    /// Its id.
    pub page: PageId,
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Its language.
    pub lang: String,
    /// When it was published, as far as known.
    pub date: Option<String>,
    /// When it was fetched.
    pub fetched: Timestamp,
    /// Where the stored answer stands in the library.
    pub position: LibraryPosition,
    /// Whether the stored copy may be shown.
    pub archive: bool,
}
