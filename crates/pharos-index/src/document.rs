//! What goes into the index and what comes out of it.

use pharos_core::{LibraryPosition, PageId, PageType, PageUrl, Timestamp};

use crate::{Card, WebFigures};

/// Copies of a document beyond this many are left out; whoever has more begins another document with them.
pub const MAX_COPIES: usize = 1_000;

/// A longer signature, in bytes, is left out.
pub const MAX_SIGNATURE: usize = 256;

/// Links of a document beyond this many cannot be asked for.
pub const MAX_LINKS: usize = 128;

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
    /// The text that may be quoted, where that is not all of the body.
    pub quotable: Option<String>,
    /// How many characters may be quoted in a list of results; `None` is as many as one likes.
    pub max_snippet: Option<u32>,
    /// What it is about in a few sentences (摘要).
    pub summary: String,
    /// What other pages call it (锚文本), the weightiest first.
    pub anchors: Vec<Anchor>,
    /// Pages it links to, at most [`MAX_LINKS`].
    pub links: Vec<PageUrl>,
    /// Its language.
    pub lang: String,
    /// What kind of page it is.
    pub page_type: PageType,
    /// What kind of file it is: `html`, `pdf`, `docx`; empty where nobody can tell.
    pub format: String,
    /// Its subject class; empty where it has none.
    pub category: String,
    /// When it was published or last changed, as far as known: `2026-01-31`.
    pub date: Option<String>,
    /// When it was fetched.
    pub fetched: Timestamp,
    /// Where the stored answer stands in the library.
    pub position: LibraryPosition,
    /// Whether the stored copy may be shown.
    pub archive: bool,
    /// Other addresses with the very same content, at most [`MAX_COPIES`]. Only history generations have them: in a
    /// latest generation every address changes by itself, and what stands here is left out.
    pub copies: Vec<Copy>,
    /// What the web says of it.
    pub web: WebFigures,
    /// The representative, crawled first, of the near-duplicates (近似网页) it belongs to; may be the page itself.
    pub group: Option<PageId>,
    /// By which near-duplicates not yet grouped are known, at most [`MAX_SIGNATURE`] bytes.
    pub signature: Option<Box<[u8]>>,
}

/// What other pages call a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The words.
    pub text: String,
    /// How much it counts: more, the more domains use it; at most [`MAX_VOTES`](crate::MAX_VOTES).
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

impl Document {
    /// A page that says nothing yet.
    pub fn new(url: PageUrl) -> Self {
        Self {
            url,
            title: String::new(),
            headings: Vec::new(),
            emphasised: Vec::new(),
            body: String::new(),
            quotable: None,
            max_snippet: None,
            summary: String::new(),
            anchors: Vec::new(),
            links: Vec::new(),
            lang: String::new(),
            page_type: PageType::default(),
            format: String::new(),
            category: String::new(),
            date: None,
            fetched: Timestamp::EPOCH,
            position: LibraryPosition::START,
            archive: true,
            copies: Vec::new(),
            web: WebFigures::default(),
            group: None,
            signature: None,
        }
    }
}

/// Another address with the very same content (镜像网页).
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// The address.
    pub url: PageUrl,
    /// Where the answer it gave stands in the library.
    pub position: LibraryPosition,
    /// When it was fetched.
    pub fetched: Timestamp,
}

/// By what near-duplicates are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Likeness {
    /// The representative of the group that the page belongs to.
    pub group: Option<PageId>,
    /// The page's signature.
    pub signature: Option<Box<[u8]>>,
}

/// The text of a page, for snippets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// What may be quoted of its text.
    pub body: String,
    /// What it is about in a few sentences (摘要); empty where nobody can tell.
    pub summary: String,
}

/// What a result page needs of a page, at the address under which it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPage {
    /// Its id.
    pub page: PageId,
    /// What a list of results says of it.
    pub card: Card,
    /// Its text.
    pub text: Text,
}
