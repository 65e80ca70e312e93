//! Statistics of the posting lists: number of terms, frequencies and sizes.
//!
//! Quantities and symbols follow 《搜索引擎——原理、技术与系统》§8.2: N documents; M terms; for each term tⱼ a list of sⱼ =
//! |PL(tⱼ)| postings, with mean length α = Σsⱼ/M; fᵢⱼ occurrences in document i, T_N = ΣΣfᵢⱼ in total; DF = sⱼ/N, TF
//! = Σᵢfᵢⱼ/T_N, IDF = −lg DF, ITF = −lg TF. Each field is a separate inverted file.
//!
//! Searchable documents are counted. Postings of documents that were replaced or are hidden by a newer generation
//! count as *stale*. Byte counts include stale data.
//!
//! The term dictionaries of all segments are merged as streams and lists are read block by block, so memory is
//! bounded by the number of different `frequencies`.

pub mod cost_model;
mod estimates;
mod frequencies;
mod posting_lists;
mod space;
mod term_report;

use serde::Serialize;
use tantivy::schema::{FieldType, IndexRecordOption, Schema};

pub use estimates::{
    CostEstimates, EstimateParameters, ListEstimate, ReadingEstimate, SizeEstimate, ThroughputEstimate,
    ZipfEstimate,
};
pub(crate) use frequencies::share;
pub use frequencies::{FrequencyClass, FrequencyRank, ZipfFit};
pub use space::{FieldSpaceUsage, SpaceUsage};
pub use term_report::{AnalysedToken, TermInField, TermInGeneration, TermOnPage, TermReport, TermStatistics};

use crate::read::chain_view::{ChainView, GenerationView};
use crate::read::live_docs::LiveDocs;
use crate::{IndexError, IndexView as _};

/// The options of a statistics run.
#[derive(Clone, Debug)]
pub struct StatisticsOptions {
    /// A single field; by default all tokenised fields.
    pub field: Option<String>,
    /// Last rank of the rank tables.
    pub last_rank: u64,
    /// Parameters of the cost estimates.
    pub estimates: EstimateParameters,
}

impl Default for StatisticsOptions {
    fn default() -> Self {
        Self { field: None, last_rank: u64::MAX, estimates: EstimateParameters::default() }
    }
}

/// The progress of a statistics run.
#[derive(Clone, Copy, Debug)]
pub struct CountingProgress<'a> {
    pub field: &'a str,
    /// Number of dictionary entries processed.
    pub done: u64,
    /// Total number of dictionary entries.
    pub all: u64,
}

/// The statistics of an index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexStatistics {
    /// Identifier of the state of the index.
    pub generation: String,
    /// All generations together.
    pub chain: CollectionStatistics,
    /// Each generation, oldest first.
    pub generations: Vec<GenerationStatistics>,
    /// Estimates of the literature beside the measured values; `None` if there are no terms.
    pub estimates: Option<CostEstimates>,
}

/// The statistics of one generation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GenerationStatistics {
    /// Name of its directory: `history-3`, `latest-7`.
    pub name: String,
    #[serde(flatten)]
    pub statistics: CollectionStatistics,
}

/// The statistics of one generation or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CollectionStatistics {
    /// N: number of searchable documents; exact copies count once.
    pub documents: u64,
    /// Number of replaced or hidden documents and of tombstones.
    pub stale_documents: u64,
    /// Bytes per searchable document.
    pub bytes_per_document: f64,
    pub space: SpaceUsage,
    /// Counted fields, most occurrences first.
    pub fields: Vec<FieldStatistics>,
}

/// The statistics of the posting lists of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldStatistics {
    pub field: String,
    /// M: size of the vocabulary.
    pub terms: u64,
    /// Σsⱼ: total length of all lists.
    pub postings: u64,
    /// α: mean length of a list.
    pub mean_list: f64,
    /// T_N: total number of occurrences.
    pub occurrences: u64,
    /// Number of terms that occur in one document only.
    pub single_document_terms: u64,
    /// Number of terms that occur in stale documents only.
    pub stale_terms: u64,
    /// Number of postings of stale documents.
    pub stale_postings: u64,
    /// Size of the lists including term frequencies.
    pub posting_bytes: u64,
    /// Size of the positions.
    pub position_bytes: u64,
    /// Expected size of the distinct lists read for as many queried terms as [`EstimateParameters::lists`], if terms
    /// are queried as often as pages use them.
    pub read_bytes: f64,
    /// Expected size of the list of a queried term including positions, if terms are queried as often as pages use
    /// them: Σ TFⱼ·bytesⱼ.
    pub term_bytes: f64,
    /// Document frequencies by rank; shares are DF.
    pub df: Vec<FrequencyRank>,
    /// Fit of Zipf's law to the document frequencies.
    pub df_zipf: Option<ZipfFit>,
    /// Occurrences by rank; shares are TF.
    pub tf: Vec<FrequencyRank>,
    /// Fit of Zipf's law to the occurrences.
    pub tf_zipf: Option<ZipfFit>,
    /// Numbers of frequent terms.
    pub frequent: Vec<FrequencyClass>,
}

/// An indexed field of the schema.
pub(crate) struct IndexedField {
    pub(crate) field: tantivy::schema::Field,
    pub(crate) name: String,
    /// `true` if values are tokenised; otherwise each value is one term.
    pub(crate) is_tokenised: bool,
    pub(crate) record: IndexRecordOption,
    /// `true` if terms are text.
    pub(crate) is_text: bool,
}

impl IndexedField {
    /// Returns all indexed fields.
    pub(crate) fn all_in(schema: &Schema) -> Vec<Self> {
        let listed = schema.fields().filter_map(|(field, entry)| {
            let record = entry.field_type().get_index_record_option()?;
            let (is_text, is_tokenised) = match entry.field_type() {
                FieldType::Str(options) => (
                    true,
                    options.get_indexing_options().is_some_and(|indexing| indexing.tokenizer() != "raw"),
                ),
                _ => (false, false),
            };
            Some(Self { field, name: entry.name().to_string(), is_tokenised, record, is_text })
        });
        listed.collect()
    }

    /// Returns the named field, or all tokenised fields.
    pub(crate) fn select(schema: &Schema, name: Option<&str>) -> Result<Vec<Self>, IndexError> {
        let all = Self::all_in(schema);
        let Some(name) = name else {
            return Ok(all.into_iter().filter(|listed| listed.is_tokenised).collect());
        };
        let known: Vec<&str> = all.iter().map(|listed| listed.name.as_str()).collect();
        let known = known.join(", ");
        match all.into_iter().find(|listed| listed.name == name) {
            Some(listed) => Ok(vec![listed]),
            None => Err(IndexError::UnknownField { field: name.to_string(), known }),
        }
    }

    /// Formats a term for display.
    pub(crate) fn display_term(&self, term: &[u8]) -> String {
        if self.is_text {
            return String::from_utf8_lossy(term).into_owned();
        }
        term.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns the name of a generation: that of its directory.
pub(crate) fn generation_name(view: &GenerationView) -> String {
    view.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl ChainView {
    /// Returns the searchable documents of each segment of each generation.
    pub(crate) fn live_docs(&self) -> Result<Vec<Vec<LiveDocs>>, IndexError> {
        let of_generation = |view: &GenerationView| {
            let segments = 0..view.searcher.segment_readers().len() as u32;
            let live: tantivy::Result<_> = segments.map(|s| LiveDocs::read(view, &self.fields, s)).collect();
            live.map_err(IndexError::tantivy(&view.path))
        };
        self.generations.iter().map(of_generation).collect()
    }

    pub(crate) fn statistics(
        &self,
        rules: &StatisticsOptions,
        progress: &mut dyn FnMut(CountingProgress<'_>) -> bool,
    ) -> Result<IndexStatistics, IndexError> {
        let live = self.live_docs()?;
        let mut chain = CollectionStatistics::default();
        let mut generations = Vec::with_capacity(self.generations.len());
        for (view, live) in self.generations.iter().zip(&live) {
            let statistics = CollectionStatistics::measure(view, live)?;
            chain.documents += statistics.documents;
            chain.stale_documents += statistics.stale_documents;
            chain.space.add(&statistics.space);
            generations.push(GenerationStatistics { name: generation_name(view), statistics });
        }
        let selected = match self.generations.first() {
            Some(view) => IndexedField::select(view.searcher.schema(), rules.field.as_deref())?,
            None => Vec::new(),
        };
        for listed in selected {
            let (totals, per_generation) =
                posting_lists::count_field(self, &live, &listed, rules, chain.documents, progress)?;
            chain.fields.push(totals);
            generations
                .iter_mut()
                .zip(per_generation)
                .for_each(|(generation, field)| generation.statistics.fields.push(field));
        }
        chain.finish();
        generations.iter_mut().for_each(|generation| generation.statistics.finish());
        let estimates = CostEstimates::for_collection(&chain, rules.estimates);
        Ok(IndexStatistics { generation: self.state_id().to_string(), chain, generations, estimates })
    }
}

impl CollectionStatistics {
    /// Measures everything except the fields.
    fn measure(view: &GenerationView, live: &[LiveDocs]) -> Result<Self, IndexError> {
        let space =
            SpaceUsage::measure(&view.searcher).map_err(|e| IndexError::tantivy(&view.path)(e.into()))?;
        let documents = live.iter().map(|live| live.documents).sum();
        let on_disk: u64 = view.searcher.segment_readers().iter().map(|s| u64::from(s.max_doc())).sum();
        Ok(Self { documents, stale_documents: on_disk.saturating_sub(documents), space, ..Self::default() })
    }

    fn finish(&mut self) {
        self.bytes_per_document = share(self.space.total, self.documents);
        self.fields.sort_by_key(|field| std::cmp::Reverse(field.occurrences));
    }
}

#[cfg(test)]
mod tests;
