//! Figures of the lists: how many terms there are, how often they occur, what they cost.
//!
//! The quantities are those of 《搜索引擎—原理、技术与系统》, §8.2, with its symbols: N documents; M terms; for each term tⱼ a
//! list of sⱼ = |PL(tⱼ)| postings, of mean length α = Σsⱼ/M; fᵢⱼ occurrences of it in document i, T_N = ΣΣfᵢⱼ in all;
//! DF = sⱼ/N, TF = Σᵢfᵢⱼ/T_N, IDF = −lg DF, ITF = −lg TF. Each field is an inverted file of its own.
//!
//! What can be found is counted: postings of documents that were replaced or are hidden by a newer generation count as
//! *stale*. Bytes are those on disk, stale ones too.
//!
//! The term dictionaries of all segments are merged as streams and lists are read one block at a time: memory is that of
//! [`frequencies`], whatever the size of the vocabulary.

mod estimates;
mod frequencies;
mod lists;
mod space;

use std::cmp::Reverse;

use serde::Serialize;
use tantivy::schema::{FieldType, IndexRecordOption, Schema};

pub use estimates::{
    EstimateParameters, Estimates, ListEstimate, ReadingEstimate, SizeEstimate, ThroughputEstimate,
    ZipfEstimate,
};
pub(crate) use frequencies::share;
pub use frequencies::{FrequencyClass, Rank, ZipfFit};
pub use space::{FieldSpace, Space};

use crate::live::Live;
use crate::snapshot::{ChainSnapshot, MemberView};
use crate::{EmbeddedIndex, IndexError, Snapshot as _};

/// What is counted.
#[derive(Clone, Debug)]
pub struct StatisticsRules {
    /// Only this field; else all whose texts are cut into words.
    pub field: Option<String>,
    /// The tables of ranks end here.
    pub last_rank: u64,
    /// What the books' estimates start from.
    pub estimates: EstimateParameters,
}

impl Default for StatisticsRules {
    fn default() -> Self {
        Self { field: None, last_rank: u64::MAX, estimates: EstimateParameters::default() }
    }
}

/// How far counting has come.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// In this field …
    pub field: &'a str,
    /// … so many entries of term dictionaries …
    pub done: u64,
    /// … of so many.
    pub all: u64,
}

/// Figures of an index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexStatistics {
    /// The state they were taken from.
    pub generation: String,
    /// Of all generations together.
    pub chain: Figures,
    /// Of each, oldest first.
    pub generations: Vec<GenerationFigures>,
    /// What the books expect of an index like this, beside what it is. `None` where there are no terms.
    pub estimates: Option<Estimates>,
}

/// Figures of a generation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GenerationFigures {
    /// `history-3`, `latest-7`.
    pub name: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures of one generation, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// N: documents that can be found; exact copies are one.
    pub documents: u64,
    /// Documents that were replaced or are hidden by a newer generation, and marks of gone pages.
    pub stale_documents: u64,
    /// Bytes for each document that can be found.
    pub bytes_per_document: f64,
    /// What they take on disk.
    pub space: Space,
    /// Each field that was counted, most occurrences first.
    pub fields: Vec<FieldFigures>,
}

/// Figures of the lists of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldFigures {
    /// Its name.
    pub field: String,
    /// M: the size of the vocabulary.
    pub terms: u64,
    /// Σsⱼ: how long all lists are together.
    pub postings: u64,
    /// α: how long a list is on average.
    pub mean_list: f64,
    /// T_N: how often terms occur, all together.
    pub occurrences: u64,
    /// Terms that are in one document only.
    pub single_document_terms: u64,
    /// Terms of stale documents only.
    pub stale_terms: u64,
    /// Postings of stale documents.
    pub stale_postings: u64,
    /// Bytes of the lists, with how often a term occurs in each document.
    pub posting_bytes: u64,
    /// Bytes of the places.
    pub position_bytes: u64,
    /// Bytes of the lists of so many terms as the estimates have lists, where terms are asked for as often as pages use
    /// them; each list once.
    pub read_bytes: f64,
    /// Bytes of the list, places included, of a term that is asked for as often as pages use it: Σ TFⱼ·bytesⱼ.
    pub term_bytes: f64,
    /// Documents of a term, by rank; shares are DF.
    pub df: Vec<Rank>,
    /// How these fit Zipf's law.
    pub df_zipf: Option<ZipfFit>,
    /// Occurrences of a term, by rank; shares are TF.
    pub tf: Vec<Rank>,
    /// How these fit Zipf's law.
    pub tf_zipf: Option<ZipfFit>,
    /// How many terms are frequent.
    pub frequent: Vec<FrequencyClass>,
}

/// A field of the schema that has lists.
pub(crate) struct ListedField {
    pub(crate) field: tantivy::schema::Field,
    pub(crate) name: String,
    /// Are its texts cut into words, or is each a term of its own?
    pub(crate) cut: bool,
    pub(crate) record: IndexRecordOption,
    /// Are its terms texts?
    pub(crate) text: bool,
}

impl ListedField {
    /// All fields that have lists.
    pub(crate) fn all(schema: &Schema) -> Vec<Self> {
        let listed = schema.fields().filter_map(|(field, entry)| {
            let record = entry.field_type().get_index_record_option()?;
            let (text, cut) = match entry.field_type() {
                FieldType::Str(options) => (
                    true,
                    options.get_indexing_options().is_some_and(|indexing| indexing.tokenizer() != "raw"),
                ),
                _ => (false, false),
            };
            Some(Self { field, name: entry.name().to_string(), cut, record, text })
        });
        listed.collect()
    }

    /// Those whose texts are cut into words, or the one that is named.
    pub(crate) fn wanted(schema: &Schema, name: Option<&str>) -> Result<Vec<Self>, IndexError> {
        let all = Self::all(schema);
        let Some(name) = name else { return Ok(all.into_iter().filter(|listed| listed.cut).collect()) };
        let known: Vec<&str> = all.iter().map(|listed| listed.name.as_str()).collect();
        let known = known.join(", ");
        match all.into_iter().find(|listed| listed.name == name) {
            Some(listed) => Ok(vec![listed]),
            None => Err(IndexError::UnknownField { field: name.to_string(), known }),
        }
    }

    /// A term for people.
    pub(crate) fn show(&self, term: &[u8]) -> String {
        if self.text {
            return String::from_utf8_lossy(term).into_owned();
        }
        term.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The name of a generation: that of its directory.
pub(crate) fn name(view: &MemberView) -> String {
    view.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl EmbeddedIndex {
    /// Counts terms and what they cost. `progress` is told now and then and says whether to go on.
    pub fn statistics(
        &self,
        rules: &StatisticsRules,
        progress: impl FnMut(Counting<'_>) -> bool,
    ) -> Result<IndexStatistics, IndexError> {
        self.at_rest()?.statistics(rules, progress)
    }
}

impl ChainSnapshot {
    /// Which documents of each segment of each member can be found.
    pub(crate) fn live(&self) -> Result<Vec<Vec<Live>>, IndexError> {
        let of_member = |view: &MemberView| {
            let segments = view.searcher.segment_readers().iter();
            let live: tantivy::Result<_> = segments.map(|s| Live::of(view, &self.fields, s)).collect();
            live.map_err(IndexError::tantivy(&view.path))
        };
        self.members.iter().map(of_member).collect()
    }

    fn statistics(
        &self,
        rules: &StatisticsRules,
        mut progress: impl FnMut(Counting<'_>) -> bool,
    ) -> Result<IndexStatistics, IndexError> {
        let live = self.live()?;
        let mut chain = Figures::default();
        let mut generations = Vec::with_capacity(self.members.len());
        for (view, live) in self.members.iter().zip(&live) {
            let figures = Figures::of(view, live)?;
            chain.documents += figures.documents;
            chain.stale_documents += figures.stale_documents;
            chain.space.add(&figures.space);
            generations.push(GenerationFigures { name: name(view), figures });
        }
        let wanted = match self.members.first() {
            Some(view) => ListedField::wanted(view.searcher.schema(), rules.field.as_deref())?,
            None => Vec::new(),
        };
        for listed in wanted {
            let (of_all, of_each) =
                lists::count(self, &live, &listed, rules, chain.documents, &mut progress)?;
            chain.fields.push(of_all);
            generations
                .iter_mut()
                .zip(of_each)
                .for_each(|(generation, of_it)| generation.figures.fields.push(of_it));
        }
        chain.finish();
        generations.iter_mut().for_each(|generation| generation.figures.finish());
        let estimates = Estimates::of(&chain, rules.estimates);
        Ok(IndexStatistics { generation: self.generation().to_string(), chain, generations, estimates })
    }
}

impl Figures {
    /// All but the fields.
    fn of(view: &MemberView, live: &[Live]) -> Result<Self, IndexError> {
        let space = Space::of(&view.searcher).map_err(|e| IndexError::tantivy(&view.path)(e.into()))?;
        let documents = live.iter().map(|live| live.documents).sum();
        let on_disk: u64 = view.searcher.segment_readers().iter().map(|s| u64::from(s.max_doc())).sum();
        Ok(Self { documents, stale_documents: on_disk.saturating_sub(documents), space, ..Self::default() })
    }

    fn finish(&mut self) {
        self.bytes_per_document = share(self.space.total, self.documents);
        self.fields.sort_by_key(|field| Reverse(field.occurrences));
    }
}

#[cfg(test)]
mod tests;
