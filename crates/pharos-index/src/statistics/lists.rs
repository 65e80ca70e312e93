//! One pass over the lists of a field, in all generations at once.

use std::io;
use std::sync::Arc;

use tantivy::index::InvertedIndexReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermMerger;

use super::frequencies::Frequencies;
use super::{Counting, FieldFigures, ListedField, StatisticsRules, share};
use crate::IndexError;
use crate::live::Live;
use crate::snapshot::ChainSnapshot;

/// Whoever waits is told after so many terms, and may stop.
const TELL_EVERY: u64 = 1 << 12;

/// The lists of a field in one segment.
struct SegmentLists<'a> {
    member: usize,
    inverted: Arc<InvertedIndexReader>,
    live: &'a Live,
    /// Are there counts of occurrences?
    counts: bool,
    /// Used again for every list.
    blocks: Option<BlockSegmentPostings>,
}

/// What a term has in one generation, or in all.
#[derive(Clone, Copy, Default)]
struct Found {
    documents: u64,
    occurrences: u64,
    on_disk: u64,
    posting_bytes: u64,
    position_bytes: u64,
}

/// What all terms have in one generation, or in all.
#[derive(Default)]
struct Sums {
    documents: u64,
    /// T_N as the index keeps it, before anything is counted: of stale documents too, and rounded where such were merged
    /// away.
    kept_occurrences: u64,
    df: Frequencies,
    tf: Frequencies,
    stale_terms: u64,
    on_disk: u64,
    posting_bytes: u64,
    position_bytes: u64,
    read_bytes: f64,
    weighted_bytes: f64,
}

/// Counts a field: of all generations together, and of each.
pub(super) fn count(
    chain: &ChainSnapshot,
    live: &[Vec<Live>],
    listed: &ListedField,
    rules: &StatisticsRules,
    documents: u64,
    progress: &mut impl FnMut(Counting<'_>) -> bool,
) -> Result<(FieldFigures, Vec<FieldFigures>), IndexError> {
    let mut segments = Vec::new();
    let mut of_each = Vec::new();
    let mut of_all = Sums { documents, ..Sums::default() };
    for (member, (view, live)) in chain.members.iter().zip(live).enumerate() {
        let mut sums = Sums { documents: live.iter().map(|live| live.documents).sum(), ..Sums::default() };
        for (reader, live) in view.searcher.segment_readers().iter().zip(live) {
            let inverted = reader.inverted_index(listed.field).map_err(IndexError::tantivy(&view.path))?;
            sums.kept_occurrences += inverted.total_num_tokens();
            segments.push(SegmentLists {
                member,
                inverted,
                live,
                counts: listed.record.has_freq(),
                blocks: None,
            });
        }
        of_all.kept_occurrences += sums.kept_occurrences;
        of_each.push(sums);
    }
    walk(&mut segments, &mut of_all, &mut of_each, listed, rules.estimates.lists, progress)
        .map_err(|error| error.in_chain(chain))?;
    let figures = |sums: Sums| sums.figures(listed, rules.last_rank);
    Ok((figures(of_all), of_each.into_iter().map(figures).collect()))
}

/// Why a walk ended early.
enum Ended {
    Stopped,
    Io(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Ended {
    fn in_chain(self, chain: &ChainSnapshot) -> IndexError {
        let path = chain.members.first().and_then(|view| view.path.parent()).unwrap_or("index".as_ref());
        match self {
            Self::Stopped => IndexError::Stopped,
            Self::Io(error) => IndexError::io("read the lists of", path)(error),
        }
    }
}

/// Goes through all terms in their order.
fn walk(
    segments: &mut [SegmentLists<'_>],
    of_all: &mut Sums,
    of_each: &mut [Sums],
    listed: &ListedField,
    lists: f64,
    progress: &mut impl FnMut(Counting<'_>) -> bool,
) -> Result<(), Ended> {
    let dictionaries: Vec<_> = segments.iter().map(|segment| Arc::clone(&segment.inverted)).collect();
    let all: u64 = dictionaries.iter().map(|inverted| inverted.terms().num_terms() as u64).sum();
    let streams: Result<Vec<_>, _> = dictionaries.iter().map(|inverted| inverted.terms().stream()).collect();
    let mut terms = TermMerger::new(streams?);
    let mut in_each = vec![Found::default(); of_each.len()];
    let (mut done, mut told) = (0, 0);
    while terms.advance() {
        in_each.fill(Found::default());
        for (segment, info) in terms.current_segment_ords_and_term_infos() {
            let Some(segment) = segments.get_mut(segment) else { continue };
            segment.read(&info, &mut in_each[segment.member])?;
            done += 1;
        }
        let mut in_chain = Found::default();
        for (sums, found) in of_each.iter_mut().zip(&in_each).filter(|(_, found)| found.on_disk > 0) {
            sums.add(found, terms.key(), lists);
            in_chain.add(found);
        }
        of_all.add(&in_chain, terms.key(), lists);
        if done - told >= TELL_EVERY {
            told = done;
            if !progress(Counting { field: &listed.name, done, all }) {
                return Err(Ended::Stopped);
            }
        }
    }
    Ok(())
}

impl SegmentLists<'_> {
    /// Adds what the list of a term has.
    fn read(&mut self, info: &TermInfo, found: &mut Found) -> io::Result<()> {
        found.on_disk += u64::from(info.doc_freq);
        found.posting_bytes += info.postings_range.len() as u64;
        found.position_bytes += info.positions_range.len() as u64;
        if self.live.all() && !self.counts {
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

impl Found {
    fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.occurrences += other.occurrences;
        self.on_disk += other.on_disk;
        self.posting_bytes += other.posting_bytes;
        self.position_bytes += other.position_bytes;
    }
}

impl Sums {
    fn add(&mut self, found: &Found, term: &[u8], lists: f64) {
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
        // The probability that one of so many asks for it: 1 − (1 − TF)ᵏ.
        let tf = share(found.occurrences, self.kept_occurrences).min(1.0);
        self.read_bytes -= bytes * (lists * (-tf).ln_1p()).exp_m1();
    }

    fn figures(self, listed: &ListedField, last_rank: u64) -> FieldFigures {
        let (postings, occurrences) = (self.df.total, self.tf.total);
        let show = |term: &[u8]| listed.show(term);
        FieldFigures {
            field: listed.name.clone(),
            terms: self.df.terms,
            postings,
            mean_list: share(postings, self.df.terms),
            occurrences,
            single_document_terms: self.df.with(1),
            stale_terms: self.stale_terms,
            stale_postings: self.on_disk.saturating_sub(postings),
            posting_bytes: self.posting_bytes,
            position_bytes: self.position_bytes,
            read_bytes: self.read_bytes,
            term_bytes: if occurrences == 0 { 0.0 } else { self.weighted_bytes / occurrences as f64 },
            df: self.df.ranks(last_rank, self.documents, show),
            df_zipf: self.df.zipf(),
            tf: self.tf.ranks(last_rank, occurrences, show),
            tf_zipf: self.tf.zipf(),
            frequent: self.tf.classes(),
        }
    }
}
