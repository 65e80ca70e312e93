//! What the books expect of an index like this, beside what it is. The formulas are in [`estimate`].

use serde::Serialize;

use super::{FieldFigures, Figures, share};
use crate::estimate;

/// What the estimates start from. The defaults are those of the books.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimateParameters {
    /// S: words of the language.
    pub zipf_words: u64,
    /// Words of a page.
    pub page_words: f64,
    /// k: bytes of a gap between document numbers.
    pub gap_bytes: f64,
    /// c: bytes of a posting or of a place.
    pub posting_bytes: f64,
    /// k: lists that are asked for at once; by default those of 20 queries of five terms.
    pub lists: f64,
    /// r: seconds in which they must be read.
    pub response_seconds: f64,
    /// Lq: terms of a query.
    pub query_terms: f64,
    /// TF: mean frequency of a term that is asked for.
    pub query_tf: f64,
    /// T_latency: seconds of an access.
    pub latency_seconds: f64,
    /// IO_bw, and B: bytes a second.
    pub bandwidth: f64,
}

impl Default for EstimateParameters {
    fn default() -> Self {
        Self {
            zipf_words: estimate::ZIPF_WORDS,
            page_words: estimate::ZIPF_PAGE_WORDS,
            gap_bytes: estimate::ZIPF_GAP_BYTES,
            posting_bytes: estimate::POSTING_BYTES,
            lists: 100.0,
            response_seconds: estimate::RESPONSE_SECONDS,
            query_terms: estimate::QUERY_TERMS,
            query_tf: estimate::QUERY_WORD_TF,
            latency_seconds: estimate::LATENCY_SECONDS,
            bandwidth: estimate::BANDWIDTH,
        }
    }
}

/// Estimates for the field with most occurrences, and what it measures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimates {
    /// The field.
    pub field: String,
    /// What they start from.
    pub parameters: EstimateParameters,
    /// The size of all lists, by Zipf's law.
    pub size: SizeEstimate,
    /// The size of one list, formula (8-2).
    pub list: ListEstimate,
    /// What many queries at once read, formula (8-1).
    pub reading: ReadingEstimate,
    /// How many queries a disk answers.
    pub throughput: ThroughputEstimate,
}

/// The size of all lists, by Zipf's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeEstimate {
    /// With the book's figures.
    pub book: ZipfEstimate,
    /// With those of this index: its vocabulary, its mean page, its bytes a posting.
    pub own: ZipfEstimate,
    /// Postings there are.
    pub postings: u64,
    /// Bytes they take.
    pub posting_bytes: u64,
    /// Bytes that places take besides.
    pub position_bytes: u64,
}

/// An estimate by Zipf's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZipfEstimate {
    /// S: words.
    pub words: u64,
    /// Words of a page.
    pub page_words: f64,
    /// k: bytes of a posting.
    pub gap_bytes: f64,
    /// c of fᵢ = c/i.
    pub constant: f64,
    /// Words that are expected on every page: the size of a block.
    pub block: f64,
    /// How many blocks there are.
    pub blocks: u64,
    /// Postings of all pages.
    pub postings: f64,
    /// Their bytes.
    pub bytes: f64,
}

/// The mean size of a list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ListEstimate {
    /// c·α, without places.
    pub bytes: f64,
    /// c·(α + T_N/M), with places.
    pub full_text_bytes: f64,
    /// The mean here, without places.
    pub measured_bytes: f64,
    /// The mean here, with places.
    pub measured_full_text_bytes: f64,
    /// The c that would have given this.
    pub measured_c: f64,
}

/// What k queries of one term each read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadingEstimate {
    /// d: bytes of a posting here, its places included.
    pub posting_bytes: f64,
    /// D = d·α·M·(1 − (1 − 1/M)ᵏ): every term is asked for equally often.
    pub bytes: f64,
    /// D ≈ d·α·k.
    pub unshared_bytes: f64,
    /// D ≈ d·α·(k − k(k − 1)/(2M)).
    pub pairs_bytes: f64,
    /// D/B.
    pub seconds: f64,
    /// What the lists here have, where terms are asked for as often as pages use them: frequent terms have long lists.
    pub measured_bytes: f64,
    /// The same by B.
    pub measured_seconds: f64,
    /// Do both stay within r?
    pub in_time: bool,
}

/// How many queries a disk answers: (T_latency + T_N·TF/IO_bw)·Lq·m ≤ 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThroughputEstimate {
    /// T_N·TF: bytes of a list that is asked for, at one byte an occurrence.
    pub list_bytes: f64,
    /// T_N·TF·Lq: what a query reads.
    pub query_bytes: f64,
    /// m: queries a second.
    pub queries: f64,
    /// Bytes of an occurrence here, its share of the posting included.
    pub measured_occurrence_bytes: f64,
    /// What a query for terms of that frequency reads here.
    pub measured_query_bytes: f64,
    /// m with that.
    pub measured_queries: f64,
    /// What a query reads whose terms are asked for as often as pages use them.
    pub text_query_bytes: f64,
    /// m with that.
    pub text_queries: f64,
    /// m where reading costs nothing: IOPS/Lq.
    pub most_queries: f64,
    /// Bytes a query may read at that throughput: IO_bw/m.
    pub budget_bytes: f64,
    /// The largest T_N within that budget. This index has T_N occurrences.
    pub largest_text: f64,
}

impl Estimates {
    pub(super) fn of(figures: &Figures, parameters: EstimateParameters) -> Option<Self> {
        let field = figures.fields.first().filter(|field| field.terms > 0)?;
        Some(Self {
            field: field.field.clone(),
            parameters,
            size: SizeEstimate::of(figures.documents, field, &parameters),
            list: ListEstimate::of(field, &parameters),
            reading: ReadingEstimate::of(field, &parameters),
            throughput: ThroughputEstimate::of(field, &parameters),
        })
    }
}

/// Bytes of all lists, stale ones too, by a count of what is on disk.
fn bytes_per(bytes: u64, field: &FieldFigures) -> f64 {
    share(bytes, field.postings + field.stale_postings)
}

impl SizeEstimate {
    fn of(documents: u64, field: &FieldFigures, given: &EstimateParameters) -> Self {
        let pages = documents as f64;
        let own_words = share(field.occurrences, documents);
        let own_bytes = bytes_per(field.posting_bytes, field);
        Self {
            book: ZipfEstimate::of(pages, given.zipf_words, given.page_words, given.gap_bytes),
            own: ZipfEstimate::of(pages, field.terms, own_words, own_bytes),
            postings: field.postings,
            posting_bytes: field.posting_bytes,
            position_bytes: field.position_bytes,
        }
    }
}

impl ZipfEstimate {
    fn of(pages: f64, words: u64, page_words: f64, gap_bytes: f64) -> Self {
        let constant = estimate::zipf_constant(words);
        let block = estimate::zipf_block(constant, page_words);
        Self {
            words,
            page_words,
            gap_bytes,
            constant,
            block,
            blocks: estimate::zipf_blocks(words, block),
            postings: estimate::zipf_postings(pages, words, block),
            bytes: estimate::zipf_size(pages, words, block, gap_bytes),
        }
    }
}

impl ListEstimate {
    fn of(field: &FieldFigures, given: &EstimateParameters) -> Self {
        let (m, t_n, c) = (field.terms as f64, field.occurrences as f64, given.posting_bytes);
        let measured = estimate::full_text_list_bytes(1.0, field.mean_list, t_n, m);
        let all = share(field.posting_bytes + field.position_bytes, field.terms);
        Self {
            bytes: estimate::list_bytes(c, field.mean_list),
            full_text_bytes: estimate::full_text_list_bytes(c, field.mean_list, t_n, m),
            measured_bytes: share(field.posting_bytes, field.terms),
            measured_full_text_bytes: all,
            measured_c: all / measured,
        }
    }
}

impl ReadingEstimate {
    fn of(field: &FieldFigures, given: &EstimateParameters) -> Self {
        let (alpha, m, k) = (field.mean_list, field.terms as f64, given.lists);
        // What is stale is read, too.
        let d = share(field.posting_bytes + field.position_bytes, field.postings);
        let bytes = estimate::bytes_read(d, alpha, m, k);
        let seconds = estimate::list_seconds(bytes, given.bandwidth);
        let measured_seconds = estimate::list_seconds(field.read_bytes, given.bandwidth);
        Self {
            posting_bytes: d,
            bytes,
            unshared_bytes: estimate::bytes_read_unshared(d, alpha, k),
            pairs_bytes: estimate::bytes_read_pairs(d, alpha, m, k),
            seconds,
            measured_bytes: field.read_bytes,
            measured_seconds,
            in_time: seconds.max(measured_seconds) <= given.response_seconds,
        }
    }
}

impl ThroughputEstimate {
    fn of(field: &FieldFigures, given: &EstimateParameters) -> Self {
        let queries = |list_bytes: f64| {
            estimate::throughput(given.latency_seconds, list_bytes, given.bandwidth, given.query_terms)
        };
        let list_bytes = field.occurrences as f64 * given.query_tf;
        let measured_occurrence_bytes = share(field.posting_bytes + field.position_bytes, field.occurrences);
        let measured_list_bytes = measured_occurrence_bytes * list_bytes;
        let most_queries = queries(0.0);
        let budget_bytes = estimate::query_bytes(given.bandwidth, most_queries);
        Self {
            list_bytes,
            query_bytes: list_bytes * given.query_terms,
            queries: queries(list_bytes),
            measured_occurrence_bytes,
            measured_query_bytes: measured_list_bytes * given.query_terms,
            measured_queries: queries(measured_list_bytes),
            text_query_bytes: field.term_bytes * given.query_terms,
            text_queries: queries(field.term_bytes),
            most_queries,
            budget_bytes,
            largest_text: estimate::largest_text(budget_bytes, given.query_tf, given.query_terms),
        }
    }
}
