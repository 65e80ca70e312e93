//! Estimates of the literature for an index, beside its measured values. The formulas are in [`cost_model`].

use serde::Serialize;

use super::cost_model;
use super::{CollectionStatistics, FieldStatistics, share};

/// The parameters of the estimates. The defaults are those of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimateParameters {
    /// S: number of words of the language.
    pub zipf_words: u64,
    /// Number of words of a page.
    pub page_words: f64,
    /// k: bytes of a gap between document numbers.
    pub gap_bytes: f64,
    /// c: bytes of a posting or of a position.
    pub posting_bytes: f64,
    /// k: lists requested at once; by default those of 20 queries of five terms.
    pub lists: f64,
    /// r: seconds in which they must be read.
    pub response_seconds: f64,
    /// Lq: number of terms of a query.
    pub query_terms: f64,
    /// TF: mean frequency of a queried term.
    pub query_tf: f64,
    /// T_latency: seconds per access.
    pub latency_seconds: f64,
    /// IO_bw and B: bytes per second.
    pub bandwidth: f64,
}

impl Default for EstimateParameters {
    fn default() -> Self {
        Self {
            zipf_words: cost_model::ZIPF_WORDS,
            page_words: cost_model::ZIPF_PAGE_WORDS,
            gap_bytes: cost_model::ZIPF_GAP_BYTES,
            posting_bytes: cost_model::POSTING_BYTES,
            lists: 100.0,
            response_seconds: cost_model::RESPONSE_SECONDS,
            query_terms: cost_model::QUERY_TERMS,
            query_tf: cost_model::QUERY_WORD_TF,
            latency_seconds: cost_model::LATENCY_SECONDS,
            bandwidth: cost_model::BANDWIDTH,
        }
    }
}

/// Estimates for the field with the most occurrences, and the values measured for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostEstimates {
    pub field: String,
    pub parameters: EstimateParameters,
    /// Size of all lists, by Zipf's law.
    pub size: SizeEstimate,
    /// Size of one list, formula (8-2).
    pub list: ListEstimate,
    /// Bytes read by simultaneous queries, formula (8-1).
    pub reading: ReadingEstimate,
    /// Number of queries that a disk can serve.
    pub throughput: ThroughputEstimate,
}

/// The size of all lists, by Zipf's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeEstimate {
    /// With the parameters of the source.
    pub book: ZipfEstimate,
    /// With the vocabulary, mean page length and bytes per posting of this index.
    pub own: ZipfEstimate,
    /// Measured number of postings.
    pub postings: u64,
    /// Measured size of the postings.
    pub posting_bytes: u64,
    /// Measured size of the positions.
    pub position_bytes: u64,
}

/// An estimate by Zipf's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZipfEstimate {
    /// S: number of words.
    pub words: u64,
    /// Number of words of a page.
    pub page_words: f64,
    /// k: bytes of a posting.
    pub gap_bytes: f64,
    /// c of fᵢ = c/i.
    pub constant: f64,
    /// Size of a block: number of words expected on every page.
    pub block: f64,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of postings of all pages.
    pub postings: f64,
    /// Size of these postings.
    pub bytes: f64,
}

/// The mean size of a list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ListEstimate {
    /// c·α, without positions.
    pub bytes: f64,
    /// c·(α + T_N/M), with positions.
    pub full_text_bytes: f64,
    /// Measured mean without positions.
    pub measured_bytes: f64,
    /// Measured mean with positions.
    pub measured_full_text_bytes: f64,
    /// The c that corresponds to the measured mean.
    pub measured_c: f64,
}

/// The bytes read by k queries of one term each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadingEstimate {
    /// d: measured bytes of a posting including positions.
    pub posting_bytes: f64,
    /// D = d·α·M·(1 − (1 − 1/M)ᵏ): all terms are equally likely.
    pub bytes: f64,
    /// D ≈ d·α·k.
    pub unshared_bytes: f64,
    /// D ≈ d·α·(k − k(k − 1)/(2M)).
    pub pairs_bytes: f64,
    /// D/B.
    pub seconds: f64,
    /// Expected bytes for the measured lists if terms are queried as often as pages use them; frequent terms have
    /// long lists.
    pub measured_bytes: f64,
    /// The measured bytes divided by B.
    pub measured_seconds: f64,
    /// `true` if both stay within r.
    pub in_time: bool,
}

/// The number of queries that a disk can serve: (T_latency + T_N·TF/IO_bw)·Lq·m ≤ 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThroughputEstimate {
    /// T_N·TF: size of the list of a queried term, at one byte per occurrence.
    pub list_bytes: f64,
    /// T_N·TF·Lq: bytes read by a query.
    pub query_bytes: f64,
    /// m: queries per second.
    pub queries: f64,
    /// Measured bytes per occurrence, including its share of the posting.
    pub measured_occurrence_bytes: f64,
    /// Bytes read by a query for terms of that frequency, with the measured bytes per occurrence.
    pub measured_query_bytes: f64,
    /// m for these bytes.
    pub measured_queries: f64,
    /// Bytes read by a query whose terms are queried as often as pages use them.
    pub text_query_bytes: f64,
    /// m for these bytes.
    pub text_queries: f64,
    /// m if reading costs nothing: IOPS/Lq.
    pub most_queries: f64,
    /// Bytes that a query may read at that throughput: IO_bw/m.
    pub budget_bytes: f64,
    /// Maximum T_N within that budget.
    pub largest_text: f64,
}

impl CostEstimates {
    pub(super) fn for_collection(
        statistics: &CollectionStatistics,
        parameters: EstimateParameters,
    ) -> Option<Self> {
        let field = statistics.fields.first().filter(|field| field.terms > 0)?;
        Some(Self {
            field: field.field.clone(),
            parameters,
            size: SizeEstimate::compute(statistics.documents, field, &parameters),
            list: ListEstimate::compute(field, &parameters),
            reading: ReadingEstimate::compute(field, &parameters),
            throughput: ThroughputEstimate::compute(field, &parameters),
        })
    }
}

/// Returns the bytes per posting on disk, stale ones included.
fn bytes_per(bytes: u64, field: &FieldStatistics) -> f64 {
    share(bytes, field.postings + field.stale_postings)
}

impl SizeEstimate {
    fn compute(documents: u64, field: &FieldStatistics, parameters: &EstimateParameters) -> Self {
        let pages = documents as f64;
        let own_words = share(field.occurrences, documents);
        let own_bytes = bytes_per(field.posting_bytes, field);
        Self {
            book: ZipfEstimate::compute(
                pages,
                parameters.zipf_words,
                parameters.page_words,
                parameters.gap_bytes,
            ),
            own: ZipfEstimate::compute(pages, field.terms, own_words, own_bytes),
            postings: field.postings,
            posting_bytes: field.posting_bytes,
            position_bytes: field.position_bytes,
        }
    }
}

impl ZipfEstimate {
    fn compute(pages: f64, words: u64, page_words: f64, gap_bytes: f64) -> Self {
        let constant = cost_model::zipf_constant(words);
        let block = cost_model::zipf_block(constant, page_words);
        Self {
            words,
            page_words,
            gap_bytes,
            constant,
            block,
            blocks: cost_model::zipf_blocks(words, block),
            postings: cost_model::zipf_postings(pages, words, block),
            bytes: cost_model::zipf_size(pages, words, block, gap_bytes),
        }
    }
}

impl ListEstimate {
    fn compute(field: &FieldStatistics, parameters: &EstimateParameters) -> Self {
        let (m, t_n, c) = (field.terms as f64, field.occurrences as f64, parameters.posting_bytes);
        let measured = cost_model::full_text_list_bytes(1.0, field.mean_list, t_n, m);
        let all = share(field.posting_bytes + field.position_bytes, field.terms);
        Self {
            bytes: cost_model::list_bytes(c, field.mean_list),
            full_text_bytes: cost_model::full_text_list_bytes(c, field.mean_list, t_n, m),
            measured_bytes: share(field.posting_bytes, field.terms),
            measured_full_text_bytes: all,
            measured_c: all / measured,
        }
    }
}

impl ReadingEstimate {
    fn compute(field: &FieldStatistics, parameters: &EstimateParameters) -> Self {
        let (alpha, m, k) = (field.mean_list, field.terms as f64, parameters.lists);
        // Stale postings are read as well.
        let d = share(field.posting_bytes + field.position_bytes, field.postings);
        let bytes = cost_model::bytes_read(d, alpha, m, k);
        let seconds = cost_model::list_seconds(bytes, parameters.bandwidth);
        let measured_seconds = cost_model::list_seconds(field.read_bytes, parameters.bandwidth);
        Self {
            posting_bytes: d,
            bytes,
            unshared_bytes: cost_model::bytes_read_unshared(d, alpha, k),
            pairs_bytes: cost_model::bytes_read_pairs(d, alpha, m, k),
            seconds,
            measured_bytes: field.read_bytes,
            measured_seconds,
            in_time: seconds.max(measured_seconds) <= parameters.response_seconds,
        }
    }
}

impl ThroughputEstimate {
    fn compute(field: &FieldStatistics, parameters: &EstimateParameters) -> Self {
        let queries = |list_bytes: f64| {
            cost_model::throughput(
                parameters.latency_seconds,
                list_bytes,
                parameters.bandwidth,
                parameters.query_terms,
            )
        };
        let list_bytes = field.occurrences as f64 * parameters.query_tf;
        let measured_occurrence_bytes = share(field.posting_bytes + field.position_bytes, field.occurrences);
        let measured_list_bytes = measured_occurrence_bytes * list_bytes;
        let most_queries = queries(0.0);
        let budget_bytes = cost_model::query_bytes(parameters.bandwidth, most_queries);
        Self {
            list_bytes,
            query_bytes: list_bytes * parameters.query_terms,
            queries: queries(list_bytes),
            measured_occurrence_bytes,
            measured_query_bytes: measured_list_bytes * parameters.query_terms,
            measured_queries: queries(measured_list_bytes),
            text_query_bytes: field.term_bytes * parameters.query_terms,
            text_queries: queries(field.term_bytes),
            most_queries,
            budget_bytes,
            largest_text: cost_model::largest_text(budget_bytes, parameters.query_tf, parameters.query_terms),
        }
    }
}
