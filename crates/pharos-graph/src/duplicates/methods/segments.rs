//! Segmented signatures (分段签名; Shivakumar & Garcia-Molina 1998): the page is split into chunks with a fingerprint each,
//! and copies share at least M of N. The baseline of the literature: a line inserted at the top shifts all chunks.

use super::super::hash::{intersection_size, min_hash, word_hash};
use super::super::{DuplicateDetector, MatchExtent, PageText};

/// Maximum number of lines read per page.
const MAX_CHUNKS: usize = 4096;

/// Share of common chunks from which two pages are whole copies.
const WHOLE_THRESHOLD: f64 = 0.9;

/// Number of keys per page, each the minimum chunk under another permutation.
const BANDS: usize = 16;

/// The size of a chunk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChunkSize {
    /// The whole page.
    Whole,
    /// This number of non-empty lines; the source uses 4 and 2.
    Lines(usize),
}

/// Detects pages that share enough chunks.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    pub chunk: ChunkSize,
    /// M / N: minimum share of common chunks, relative to the page with fewer chunks.
    pub share: f64,
}

impl Default for Segments {
    fn default() -> Self {
        Self { chunk: ChunkSize::Lines(2), share: 0.5 }
    }
}

impl DuplicateDetector for Segments {
    type PageSignature = Box<[u64]>;

    fn name(&self) -> String {
        match self.chunk {
            ChunkSize::Whole => "segments, whole page".to_owned(),
            ChunkSize::Lines(lines) => format!("segments of {lines} lines"),
        }
    }

    fn fingerprint(&self, page: &PageText) -> Option<Box<[u64]>> {
        let lines: Vec<u64> = page
            .body
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .take(MAX_CHUNKS)
            .map(word_hash)
            .collect();
        let lines_in_chunk = match self.chunk {
            ChunkSize::Whole => lines.len(),
            ChunkSize::Lines(lines) => lines,
        };
        let fingerprint = |chunk: &[u64]| {
            chunk
                .iter()
                .fold(0_u64, |sum, line| (sum ^ line).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
        };
        let mut chunks: Vec<u64> = lines.chunks(lines_in_chunk.max(1)).map(fingerprint).collect();
        chunks.sort_unstable();
        chunks.dedup();
        (!chunks.is_empty()).then(|| chunks.into_boxed_slice())
    }

    fn compare(&self, one: &Box<[u64]>, other: &Box<[u64]>) -> Option<MatchExtent> {
        let common = intersection_size(one, other) as f64;
        if common == 0.0 || common < self.share * one.len().min(other.len()) as f64 {
            return None;
        }
        let is_whole = common >= WHOLE_THRESHOLD * one.len().max(other.len()) as f64;
        Some(if is_whole { MatchExtent::Whole } else { MatchExtent::Partial })
    }

    fn bytes(&self, signature: &Box<[u64]>) -> usize {
        size_of_val(&signature[..])
    }

    fn bands(&self) -> usize {
        if self.chunk == ChunkSize::Whole { 1 } else { BANDS }
    }

    fn key(&self, signature: &Box<[u64]>, band: usize) -> Option<u32> {
        Some(min_hash(signature, band))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_more_at_the_end_changes_little_and_at_the_top_everything() {
        let method = Segments::default();
        let sign = |body: &str| method.fingerprint(&PageText { body, ..PageText::default() }).unwrap();
        let page = sign("a\nb\nc\nd\ne\nf\ng\nh");
        assert_eq!(page.len(), 4);
        assert_eq!(method.compare(&page, &sign("a\nb\n\nc\nd\ne\nf\ng\nh\nnew")), Some(MatchExtent::Partial));
        assert_eq!(method.compare(&page, &sign("new\na\nb\nc\nd\ne\nf\ng\nh")), None);
    }
}
