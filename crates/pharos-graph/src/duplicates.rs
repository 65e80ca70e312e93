//! Near-duplicate detection (网页消重), so that a result list shows each content once.
//!
//! A [`DuplicateDetector`] computes a signature from each [`PageText`]. A [`GroupBuilder`] joins pages with matching
//! signatures to [`DuplicateGroups`], each with the page crawled first as representative. Groups that span two sites
//! reveal [mirrors].
//!
//! ```
//! use pharos_graph::duplicates::{DuplicateDetector, GroupBuilder, MinHash, PageAttributes, PageText};
//!
//! let text = "a lighthouse is a tower with a strong light at its top that guides ships along the coast at night";
//! let longer = format!("{text} and in fog");
//! let method = MinHash { min_words: 10, ..MinHash::default() };
//! let signatures: Vec<_> = [text, &longer, "something else, and short"]
//!     .iter()
//!     .map(|body| {
//!         let words: Vec<&str> = body.split(' ').collect();
//!         method.fingerprint(&PageText { body, words: &words, ..PageText::default() })
//!     })
//!     .collect();
//! let mut grouping = GroupBuilder::new(signatures.len());
//! grouping.join(&method, &signatures);
//! let groups = grouping.finish(&method, &signatures, &[PageAttributes::default(); 3]);
//! assert_eq!(groups.representative(1), 0);
//! assert_eq!((groups.mirror_degree(0), groups.mirror_degree(2)), (1, 0));
//! ```
//!
//! # Candidates
//! Comparing all pairs of a million pages would take 10¹² steps. Each signature therefore has *keys*: pages that share a
//! key are candidates, candidates are compared, and accepted pairs are joined. A digest has one key; other signatures
//! have one per band (locality-sensitive hashing).
//!
//! # Choice of method
//! The [build](crate::relations) uses [`MinHash`] with three additions. Phrases shared by pages of many titles on one site
//! are [hidden](FullMinHashSignature::compress), or every page of a manual would be a copy of the next. Pages with the same
//! title and text are copies, however short they are. A page stays in a group only if it is similar to the representative
//! or to the fullest page, or a chain of small edits would join unrelated pages.
//! `pharos dedup measure LABELS` prints precision and recall of all methods for a labelled set of pages.
//!
//! # Invariants
//! * Signatures are computed from the *cleaned* body. A page with fewer words than a method requires has no signature, so
//!   that a few remaining template lines form no group. A long template remainder with little other text would.
//! * Time is dominated by sorting the words of each page and, per band, the pages. A million pages with one key cost no
//!   more than with a million keys.
//! * Grouping with [`MinHash`] or [`SimHash`] takes less than 200 bytes per page, signatures included. A whole
//!   [build](crate::relations) peaks at about 400 bytes per page.
//! * The same pages in the same order give the same groups on every machine.

mod boilerplate;
mod evaluation;
mod fingerprint;
mod grouping;
mod groups;
mod hash;
mod methods;
pub mod mirrors;
mod report;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;

pub(crate) use boilerplate::{Boilerplate, MAX_SAMPLED_PAGES};
pub use evaluation::{
    EvaluationRow, EvaluationTable, LabelledPage, LabelledSet, evaluate, evaluate_all, pair_scores,
};
pub use fingerprint::{Fingerprint, min_hash_signature};
pub use grouping::GroupBuilder;
pub use groups::{DuplicateGroups, GroupMember, LayoutMatch, PageAttributes};
pub use methods::digest::DigestDetector;
pub use methods::exact::{ExactBytes, ExactText};
pub use methods::i_match::{IMatch, WordStatistics};
pub use methods::keyword_digest::{KeywordDetector, KeywordRule, KeywordSignature, weight_distance};
pub use methods::min_hash::{FullMinHashSignature, MinHash, MinHashSignature};
pub use methods::segments::{ChunkSize, Segments};
pub use methods::shingles::{Shingles, jaccard, shingles_of};
pub use methods::sim_hash::SimHash;
pub use methods::word_list::FrequentWordList;
pub use report::{DuplicateReport, MirrorGroup, ReportedCopy, ReportedGroup, SiteDuplicates};

use serde::{Deserialize, Serialize};

/// An MD5 digest. Two pages with one digest can only be constructed by a party that controls both.
pub type Digest = [u8; 16];

/// The input of a detector. Fields that a detector does not use may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageText<'a> {
    /// The response body as fetched.
    pub raw: &'a [u8],
    pub title: &'a str,
    /// Main content without navigation, advertisements and other template parts; one paragraph per line.
    pub body: &'a str,
    /// Keywords with their weights, in any order.
    pub keywords: &'a [(&'a str, f32)],
    /// Tokens of the body, in order.
    pub words: &'a [&'a str],
}

/// The extent of the content that two duplicate pages have in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchExtent {
    /// The same content, except for small edits.
    Whole,
    /// One page contains the other, or both have much content of their own.
    Partial,
}

/// A duplicate detection method.
///
/// [`compare`](DuplicateDetector::compare) is symmetric and reflexive. Two pages that `compare` accepts share a key in
/// at least one band: always for digests and [`SimHash`], very likely for the others.
pub trait DuplicateDetector {
    /// The data kept of a page.
    type PageSignature;

    /// Returns the name shown in evaluation tables.
    fn name(&self) -> String;

    /// Returns the signature of a page, or `None` if the page has too little of the content that the method uses.
    fn fingerprint(&self, page: &PageText) -> Option<Self::PageSignature>;

    /// Compares two signatures. Returns `None` if the pages are not duplicates.
    fn compare(&self, one: &Self::PageSignature, other: &Self::PageSignature) -> Option<MatchExtent>;

    /// Returns the size of a signature in bytes.
    fn bytes(&self, signature: &Self::PageSignature) -> usize;

    /// Returns the amount of content of a page, which determines the fullest page of a group.
    fn size(&self, _signature: &Self::PageSignature) -> u64 {
        0
    }

    /// Returns the number of keys per signature.
    fn bands(&self) -> usize {
        1
    }

    /// Returns the key of a band; pages with equal keys are candidates. Returns `None` if the signature has no data in
    /// the band.
    fn key(&self, signature: &Self::PageSignature, band: usize) -> Option<u32>;
}
