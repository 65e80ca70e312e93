//! Disk space of a generation by component and by field.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use tantivy::Searcher;
use tantivy::space_usage::PerFieldSpaceUsage;

/// The disk space of a generation in bytes. Replaced and hidden documents count until they are merged away.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SpaceUsage {
    pub total: u64,
    /// Term dictionary (词典).
    pub term_dictionary: u64,
    /// Posting lists with term frequencies (倒排表).
    pub postings: u64,
    pub positions: u64,
    /// Field lengths of each document.
    pub field_norms: u64,
    pub columns: u64,
    /// Stored texts, compressed.
    pub stored: u64,
    /// Bit sets of replaced documents.
    pub deletes: u64,
    /// Space by field, largest first. Stored texts are compressed together and belong to no field.
    pub fields: Vec<FieldSpaceUsage>,
}

/// The disk space of a field in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FieldSpaceUsage {
    pub field: String,
    pub total: u64,
    pub term_dictionary: u64,
    pub postings: u64,
    pub positions: u64,
    pub field_norms: u64,
    pub columns: u64,
}

impl SpaceUsage {
    pub(crate) fn measure(searcher: &Searcher) -> io::Result<Self> {
        let mut space = Self::default();
        let mut fields: BTreeMap<String, FieldSpaceUsage> = BTreeMap::new();
        for segment in searcher.space_usage()?.segments() {
            let mut add = |usage: &PerFieldSpaceUsage, part: fn(&mut FieldSpaceUsage) -> &mut u64| {
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
        space.fields =
            fields.into_iter().map(|(name, space)| FieldSpaceUsage { field: name, ..space }).collect();
        space.sort();
        Ok(space)
    }

    /// Adds the space of another generation.
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
