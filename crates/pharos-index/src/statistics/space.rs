//! What a generation takes on disk, by component and by field.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use tantivy::Searcher;
use tantivy::space_usage::PerFieldSpaceUsage;

/// Bytes of the files of a generation. What is replaced or hidden counts until it is merged away.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Space {
    /// All of it.
    pub total: u64,
    /// The terms, and where their lists are (词典).
    pub term_dictionary: u64,
    /// The lists of pages, with how often a term occurs in each (倒排表).
    pub postings: u64,
    /// Where on the page.
    pub positions: u64,
    /// How long the fields of each page are.
    pub field_norms: u64,
    /// Columns of figures.
    pub columns: u64,
    /// Stored texts, compressed.
    pub stored: u64,
    /// Which documents are replaced.
    pub deletes: u64,
    /// The same for each field, largest first. Stored texts are compressed together and belong to none.
    pub fields: Vec<FieldSpace>,
}

/// Bytes of a field.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FieldSpace {
    /// Its name.
    pub field: String,
    /// All of it.
    pub total: u64,
    /// The terms, and where their lists are.
    pub term_dictionary: u64,
    /// The lists of pages.
    pub postings: u64,
    /// Where on the page.
    pub positions: u64,
    /// How long the field is on each page.
    pub field_norms: u64,
    /// Its column.
    pub columns: u64,
}

impl Space {
    pub(crate) fn of(searcher: &Searcher) -> io::Result<Self> {
        let mut space = Self::default();
        let mut fields: BTreeMap<String, FieldSpace> = BTreeMap::new();
        for segment in searcher.space_usage()?.segments() {
            let mut add = |usage: &PerFieldSpaceUsage, part: fn(&mut FieldSpace) -> &mut u64| {
                for field in usage.fields() {
                    *part(fields.entry(field.field_name().to_string()).or_default()) +=
                        field.total().get_bytes();
                }
                usage.total().get_bytes()
            };
            space.term_dictionary += add(segment.termdict(), |field| &mut field.term_dictionary);
            space.postings += add(segment.postings(), |field| &mut field.postings);
            space.positions += add(segment.positions(), |field| &mut field.positions);
            space.field_norms += add(segment.fieldnorms(), |field| &mut field.field_norms);
            space.columns += add(segment.fast_fields(), |field| &mut field.columns);
            space.stored += segment.store().total().get_bytes();
            space.deletes += segment.deletes().get_bytes();
            space.total += segment.total().get_bytes();
        }
        space.fields = fields.into_iter().map(|(name, space)| FieldSpace { field: name, ..space }).collect();
        space.sort();
        Ok(space)
    }

    /// Both together.
    pub(crate) fn add(&mut self, other: &Self) {
        self.total += other.total;
        self.term_dictionary += other.term_dictionary;
        self.postings += other.postings;
        self.positions += other.positions;
        self.field_norms += other.field_norms;
        self.columns += other.columns;
        self.stored += other.stored;
        self.deletes += other.deletes;
        for field in &other.fields {
            match self.fields.iter_mut().find(|own| own.field == field.field) {
                Some(own) => {
                    own.term_dictionary += field.term_dictionary;
                    own.postings += field.postings;
                    own.positions += field.positions;
                    own.field_norms += field.field_norms;
                    own.columns += field.columns;
                }
                None => self.fields.push(field.clone()),
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        for field in &mut self.fields {
            field.total =
                field.term_dictionary + field.postings + field.positions + field.field_norms + field.columns;
        }
        self.fields.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.field.cmp(&b.field)));
    }
}
