//! One pass over the posting lists of a field, in all generations at once.

use std::io;
use std::sync::Arc;

use tantivy::index::InvertedIndexReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermMerger;

use super::frequencies::FrequencyCounter;
use super::{CountingProgress, FieldStatistics, IndexedField, StatisticsOptions, share};
use crate::IndexError;
use crate::read::chain_view::ChainView;
use crate::read::live_docs::LiveDocs;

/// Number of terms between two progress reports.
const PROGRESS_INTERVAL: u64 = 1 << 12;

/// The posting lists of a field in one segment.
struct SegmentLists<'a> {
    generation: usize,
    inverted: Arc<InvertedIndexReader>,
    live: &'a LiveDocs,
    /// `true` if term frequencies are stored.
    counts: bool,
    /// Buffer that is reused for every list.
    blocks: Option<BlockSegmentPostings>,
}

/// The totals of a term in one generation or in all.
#[derive(Clone, Copy, Default)]
struct TermTotals {
    documents: u64,
    occurrences: u64,
    on_disk: u64,
    posting_bytes: u64,
    position_bytes: u64,
}

/// The totals of all terms in one generation or in all.
#[derive(Default)]
struct FieldTotals {
    documents: u64,
    /// T_N as stored by the index: includes stale documents and is rounded after merges that removed some.
    stored_occurrences: u64,
    df: FrequencyCounter,
    tf: FrequencyCounter,
    stale_terms: u64,
    on_disk: u64,
    posting_bytes: u64,
    position_bytes: u64,
    read_bytes: f64,
    weighted_bytes: f64,
}

/// Counts a field, in all generations together and in each.
pub(super) fn count_field(
    view: &ChainView,
    live: &[Vec<LiveDocs>],
    listed: &IndexedField,
    rules: &StatisticsOptions,
    documents: u64,
    progress: &mut dyn FnMut(CountingProgress<'_>) -> bool,
) -> Result<(FieldStatistics, Vec<FieldStatistics>), IndexError> {
    let mut segments = Vec::new();
    let mut per_generation = Vec::new();
    let mut totals = FieldTotals { documents, ..FieldTotals::default() };
    for (generation, (view, live)) in view.generations.iter().zip(live).enumerate() {
        let mut sums =
            FieldTotals { documents: live.iter().map(|live| live.documents).sum(), ..FieldTotals::default() };
        for (reader, live) in view.searcher.segment_readers().iter().zip(live) {
            let inverted = reader.inverted_index(listed.field).map_err(IndexError::tantivy(&view.path))?;
            sums.stored_occurrences += inverted.total_num_tokens();
            segments.push(SegmentLists {
                generation,
                inverted,
                live,
                counts: listed.record.has_freq(),
                blocks: None,
            });
        }
        totals.stored_occurrences += sums.stored_occurrences;
        per_generation.push(sums);
    }
    scan_terms(&mut segments, &mut totals, &mut per_generation, listed, rules.estimates.lists, progress)
        .map_err(|error| error.into_index_error(view))?;
    let statistics = |sums: FieldTotals| sums.into_statistics(listed, rules.last_rank);
    Ok((statistics(totals), per_generation.into_iter().map(statistics).collect()))
}

/// The reason for an incomplete scan.
enum ScanError {
    Stopped,
    Io(io::Error),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl ScanError {
    fn into_index_error(self, view: &ChainView) -> IndexError {
        let path = view.generations.first().and_then(|view| view.path.parent()).unwrap_or("index".as_ref());
        match self {
            Self::Stopped => IndexError::Stopped,
            Self::Io(error) => IndexError::io("read the posting lists of", path)(error),
        }
    }
}

/// Scans all terms in dictionary order.
fn scan_terms(
    segments: &mut [SegmentLists<'_>],
    totals: &mut FieldTotals,
    per_generation: &mut [FieldTotals],
    listed: &IndexedField,
    lists: f64,
    progress: &mut dyn FnMut(CountingProgress<'_>) -> bool,
) -> Result<(), ScanError> {
    let dictionaries: Vec<_> = segments.iter().map(|segment| Arc::clone(&segment.inverted)).collect();
    let all: u64 = dictionaries.iter().map(|inverted| inverted.terms().num_terms() as u64).sum();
    let streams: Result<Vec<_>, _> = dictionaries.iter().map(|inverted| inverted.terms().stream()).collect();
    let mut terms = TermMerger::new(streams?);
    let mut in_generation = vec![TermTotals::default(); per_generation.len()];
    let (mut done, mut reported) = (0, 0);
    while terms.advance() {
        in_generation.fill(TermTotals::default());
        for (segment, info) in terms.current_segment_ords_and_term_infos() {
            let Some(segment) = segments.get_mut(segment) else { continue };
            segment.add_list(&info, &mut in_generation[segment.generation])?;
            done += 1;
        }
        let mut in_chain = TermTotals::default();
        for (sums, found) in
            per_generation.iter_mut().zip(&in_generation).filter(|(_, found)| found.on_disk > 0)
        {
            sums.add(found, terms.key(), lists);
            in_chain.add(found);
        }
        totals.add(&in_chain, terms.key(), lists);
        if done - reported >= PROGRESS_INTERVAL {
            reported = done;
            if !progress(CountingProgress { field: &listed.name, done, all }) {
                return Err(ScanError::Stopped);
            }
        }
    }
    Ok(())
}

impl SegmentLists<'_> {
    /// Adds the totals of one posting list.
    fn add_list(&mut self, info: &TermInfo, found: &mut TermTotals) -> io::Result<()> {
        found.on_disk += u64::from(info.doc_freq);
        found.posting_bytes += info.postings_range.len() as u64;
        found.position_bytes += info.positions_range.len() as u64;
        if self.live.is_every_doc() && !self.counts {
            found.documents += u64::from(info.doc_freq);
            found.occurrences += u64::from(info.doc_freq);
            return Ok(());
        }
        let blocks = match &mut self.blocks {
            Some(blocks) => {
                self.inverted.reset_block_postings_from_terminfo(info, blocks)?;
                blocks
            }
            none => none
                .insert(self.inverted.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?),
        };
        while !blocks.docs().is_empty() {
            for (at, doc) in blocks.docs().iter().enumerate() {
                if self.live.contains(*doc) {
                    found.documents += 1;
                    found.occurrences += if self.counts { u64::from(blocks.freq(at)) } else { 1 };
                }
            }
            blocks.advance();
        }
        Ok(())
    }
}

impl TermTotals {
    fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.occurrences += other.occurrences;
        self.on_disk += other.on_disk;
        self.posting_bytes += other.posting_bytes;
        self.position_bytes += other.position_bytes;
    }
}

impl FieldTotals {
    fn add(&mut self, found: &TermTotals, term: &[u8], lists: f64) {
        self.on_disk += found.on_disk;
        self.posting_bytes += found.posting_bytes;
        self.position_bytes += found.position_bytes;
        if found.documents == 0 {
            self.stale_terms += 1;
            return;
        }
        self.df.add(found.documents, term);
        self.tf.add(found.occurrences, term);
        let bytes = (found.posting_bytes + found.position_bytes) as f64;
        self.weighted_bytes += found.occurrences as f64 * bytes;
        // Probability that at least one of k queries contains the term: 1 − (1 − TF)ᵏ.
        let tf = share(found.occurrences, self.stored_occurrences).min(1.0);
        self.read_bytes -= bytes * (lists * (-tf).ln_1p()).exp_m1();
    }

    fn into_statistics(self, listed: &IndexedField, last_rank: u64) -> FieldStatistics {
        let (postings, occurrences) = (self.df.total, self.tf.total);
        let show = |term: &[u8]| listed.display_term(term);
        FieldStatistics {
            field: listed.name.clone(),
            terms: self.df.terms,
            postings,
            mean_list: share(postings, self.df.terms),
            occurrences,
            single_document_terms: self.df.terms_with(1),
            stale_terms: self.stale_terms,
            stale_postings: self.on_disk.saturating_sub(postings),
            posting_bytes: self.posting_bytes,
            position_bytes: self.position_bytes,
            read_bytes: self.read_bytes,
            term_bytes: if occurrences == 0 { 0.0 } else { self.weighted_bytes / occurrences as f64 },
            df: self.df.ranks(last_rank, self.documents, show),
            df_zipf: self.df.fit_zipf(),
            tf: self.tf.ranks(last_rank, occurrences, show),
            tf_zipf: self.tf.fit_zipf(),
            frequent: self.tf.frequency_classes(),
        }
    }
}
