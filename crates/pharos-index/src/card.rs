//! The card of a page: what a list of results says of it but for its text, kept apart from the texts.

use pharos_core::{LibraryPosition, Timestamp};
use serde::{Deserialize, Serialize};
use tantivy::columnar::Column;
use tantivy::schema::{FAST, Field, SchemaBuilder, TantivyDocument};
use tantivy::{DocId, SegmentReader};

use crate::packed;

const NAME: &str = "card";

/// What a list of results says of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its language.
    pub lang: String,
    /// What kind of file it is.
    pub format: String,
    /// Its subject class.
    pub category: String,
    /// When it was published, as far as known.
    pub date: Option<String>,
    /// How many characters of its text may be quoted; `None` is as many as one likes.
    pub max_snippet: Option<u32>,
    /// When it was fetched.
    pub fetched: Timestamp,
    /// Where the stored answer stands in the library.
    pub position: LibraryPosition,
    /// Whether the stored copy may be shown.
    pub archive: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct CardField(Field);

impl CardField {
    pub(crate) fn add_to(builder: &mut SchemaBuilder) -> Self {
        Self(builder.add_u64_field(NAME, FAST))
    }

    pub(crate) fn write(&self, card: &Card, out: &mut TantivyDocument) {
        match postcard::to_stdvec(card) {
            Ok(bytes) => packed::write(self.0, &bytes, out),
            Err(error) => tracing::warn!(url = card.url, %error, "a page cannot be listed"),
        }
    }
}

/// The cards of a segment.
pub(crate) struct Cards(Option<Column<u64>>);

impl Cards {
    pub(crate) fn of(segment: &SegmentReader) -> tantivy::Result<Self> {
        Ok(Self(segment.fast_fields().column_opt(NAME)?))
    }

    /// `None`: the mark of a page that is gone.
    pub(crate) fn read(&self, doc: DocId) -> Option<Card> {
        postcard::from_bytes(&packed::read(self.0.as_ref()?, doc)?).ok()
    }
}
