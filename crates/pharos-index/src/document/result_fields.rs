//! The fields of a page that a result list shows, except its text, stored in a column apart from the texts.

use pharos_core::{LibraryPosition, Timestamp};
use serde::{Deserialize, Serialize};
use tantivy::columnar::Column;
use tantivy::schema::{FAST, Field, SchemaBuilder, TantivyDocument};
use tantivy::{DocId, SegmentReader};

use crate::document::packed_column;

const COLUMN: &str = "card";

/// The fields of a page that a result list shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultFields {
    pub url: String,
    pub title: String,
    pub lang: String,
    /// File type.
    pub format: String,
    /// Subject category.
    pub category: String,
    /// Date of publication if known.
    pub date: Option<String>,
    /// Maximum number of characters in a snippet; `None` means no limit.
    pub max_snippet: Option<u32>,
    pub fetched: Timestamp,
    /// Position of the stored response in the library.
    pub position: LibraryPosition,
    /// `true` if the cached page may be shown.
    pub archive: bool,
    /// Names of the places above the page within its site, from the top. They follow the other fields, and documents
    /// without them lack them.
    #[serde(skip)]
    pub breadcrumbs: Vec<String>,
    /// Confidence of the category in percent; 0 if unknown. It follows the breadcrumbs.
    #[serde(skip)]
    pub category_confidence: u8,
}

impl ResultFields {
    fn to_bytes(&self) -> postcard::Result<Vec<u8>> {
        let bytes = postcard::to_stdvec(self)?;
        if self.breadcrumbs.is_empty() && self.category_confidence == 0 {
            return Ok(bytes);
        }
        let bytes = postcard::to_extend(&self.breadcrumbs, bytes)?;
        if self.category_confidence == 0 {
            return Ok(bytes);
        }
        postcard::to_extend(&self.category_confidence, bytes)
    }

    fn from_bytes(bytes: &[u8]) -> postcard::Result<Self> {
        let (fields, rest): (Self, &[u8]) = postcard::take_from_bytes(bytes)?;
        if rest.is_empty() {
            return Ok(fields);
        }
        let (breadcrumbs, rest): (Vec<String>, &[u8]) = postcard::take_from_bytes(rest)?;
        let category_confidence = if rest.is_empty() { 0 } else { postcard::from_bytes(rest)? };
        Ok(Self { breadcrumbs, category_confidence, ..fields })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ResultFieldsField(Field);

impl ResultFieldsField {
    pub(crate) fn add_to(builder: &mut SchemaBuilder) -> Self {
        Self(builder.add_u64_field(COLUMN, FAST))
    }

    pub(crate) fn write(&self, fields: &ResultFields, out: &mut TantivyDocument) {
        match fields.to_bytes() {
            Ok(bytes) => packed_column::write(self.0, &bytes, out),
            Err(error) => {
                tracing::warn!(url = fields.url, %error, "the result fields of a page could not be encoded")
            }
        }
    }
}

/// The result fields column of a segment.
pub(crate) struct ResultFieldsColumn(Option<Column<u64>>);

impl ResultFieldsColumn {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        Ok(Self(segment.fast_fields().column_opt(COLUMN)?))
    }

    /// Returns the fields of a document, or `None` for a tombstone.
    pub(crate) fn read(&self, doc: DocId) -> Option<ResultFields> {
        ResultFields::from_bytes(&packed_column::read(self.0.as_ref()?, doc)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breadcrumbs_follow_the_fields_and_may_be_missing() {
        let old = ResultFields { url: "http://a.example/".into(), archive: true, ..ResultFields::default() };
        let bytes = old.to_bytes().unwrap();
        assert_eq!(bytes, postcard::to_stdvec(&old).unwrap(), "the bytes of an index without breadcrumbs");
        assert_eq!(ResultFields::from_bytes(&bytes), Ok(old.clone()));
        let new = ResultFields { breadcrumbs: vec!["Home".into(), "文档".into()], ..old };
        let bytes = new.to_bytes().unwrap();
        assert_eq!(ResultFields::from_bytes(&bytes), Ok(new.clone()));
        for breadcrumbs in [Vec::new(), new.breadcrumbs.clone()] {
            let sure =
                ResultFields { category: "sea".into(), category_confidence: 87, breadcrumbs, ..new.clone() };
            assert_eq!(ResultFields::from_bytes(&sure.to_bytes().unwrap()), Ok(sure));
        }
        for end in 0..bytes.len() {
            let _ = ResultFields::from_bytes(&bytes[..end]);
        }
    }

    /// The bytes of a position in stored columns are those of a library without logs.
    #[test]
    fn positions_of_log_0_have_their_old_bytes() {
        let first = LibraryPosition::new(3, 4711);
        let bytes = [3, 0xe7, 0x24];
        assert_eq!(postcard::to_stdvec(&first).unwrap(), bytes);
        for position in [first, LibraryPosition { log: 1023, volume: 16_383, offset: 9 }] {
            let bytes = postcard::to_stdvec(&position).unwrap();
            assert_eq!(postcard::from_bytes::<LibraryPosition>(&bytes), Ok(position));
        }
    }
}
