//! Near-duplicates (网页消重): which pages say the same, so that a result list shows them once.
//!
//! **In:** pages as [`PageText`]: the cleaned body, its words, its keywords. **Out:** [`DuplicateGroups`] of copies, each with the
//! page crawled first as its representative, and from them the [mirrors] among sites.
//!
//! ```
//! use pharos_graph::duplicates::{GroupBuilder, DuplicateDetector, MinHash, PageAttributes, PageText};
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
//! # Three steps
//! Every [`DuplicateDetector`] turns a page into a signature and can say of two signatures whether they belong together. Comparing
//! all pairs of a million pages would take 10¹² steps, so a method also gives *keys*: pages that share one are
//! candidates, candidates are verified, and what is verified is [joined](GroupBuilder). Methods whose signature is a digest
//! have one key, the digest; the others have many (bands), any of which may bring two pages together.
//!
//! # Which method
//! Precision and recall of pairs, on a test web with planted reprints, excerpts, mirrors and twins of
//! one template (1,922 pages), and on two versions of a reference manual, whose pages are short and follow few patterns
//! (7,707 pages); `pharos dedup measure LABELS` prints the table for any labelled pages.
//!
//! | method | signature | finds | planted | manual |
//! |---|---|---|---|---|
//! | [`ExactBytes`] | 16 bytes | the same file | 1.00 0.05 | 1.00 0.30 |
//! | [`ExactText`] | 16 bytes | the same letters | 1.00 0.42 | 0.23 0.94 |
//! | [`KeywordDetector`] | 16 to 56 bytes | the same beginning, the same ten keywords | 1.00 0.74 | 0.15 0.99 |
//! | [`FrequentWordList`] | 16 bytes | the same frequent words in the same order | 1.00 0.49 | 0.23 0.94 |
//! | [`IMatch`] | 16 bytes | the same set of words that are neither rare nor common | 1.00 0.49 | 0.23 0.95 |
//! | [`Shingles`] | 8 bytes a character | everything, dearly | 1.00 0.97 | 0.01 1.00 |
//! | [`Segments`] | 8 bytes a chunk | the same lines at the same places | 0.99 0.60 | 0.00 0.99 |
//! | [`SimHash`] | 8 bytes | light edits of whole pages | 1.00 0.66 | 0.06 0.76 |
//! | [`MinHash`] | 148 bytes | edits, reordering and parts of pages | 1.00 0.99 | 0.07 0.68 |
//! | as built | – | by words without the phrases of the site, by title and text, by canonical addresses | 1.00 0.99 | 0.61 0.99 |
//!
//! What is [built](crate::relations) is MinHash, with three things around it. Phrases that pages of many titles on one site
//! share are [hidden](FullMinHashSignature::compress), or every page of a manual would be a copy of the next. Pages with the same
//! title and text are copies however short they are. And a page stays in a group only if it is like the page that speaks
//! for it or like the fullest one, or a chain of small edits would tie together what has nothing in common.
//!
//! # Invariants
//! * Signatures come from the *cleaned* body. A page with fewer words of its own than a method asks for has no
//!   signature, so that a few lines left of a template make no group. A long rest of a template with little else would.
//! * Time is that of sorting the words of a page, and for each key of a page that of sorting the pages: a million
//!   pages with one key cost no more than with a million keys.
//! * GroupBuilder with [`MinHash`] or [`SimHash`] takes less than 200 bytes a page, signatures included. A whole
//!   [build](crate::relations), with the numbers, addresses and tables of all pages, takes about 400 at its most (407 for
//!   60,000 pages without links, by `bench-dedup --collector true`).
//! * The same pages in the same order give the same groups, on every machine.

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

/// An MD5 digest: two pages cannot be made to share one without holding both.
pub type Digest = [u8; 16];

/// What a method may look at. What a method does not use may stay empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageText<'a> {
    /// The page as it was fetched.
    pub raw: &'a [u8],
    /// The title.
    pub title: &'a str,
    /// The visible text without navigation, advertisements and other parts of the template; lines are paragraphs.
    pub body: &'a str,
    /// Keywords with their weights, in any order.
    pub keywords: &'a [(&'a str, f32)],
    /// The body cut into terms, in their order.
    pub words: &'a [&'a str],
}

/// How much of two pages is common.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchExtent {
    /// Both say the same, but for small edits.
    Whole,
    /// One is a part of the other, or each has much of its own.
    Partial,
}

/// A way to recognise copies.
///
/// [`compare`](DuplicateDetector::compare) is symmetric, and a signature is always a copy of itself. Two pages that `compare` takes
/// for copies share a key in at least one band, surely for digests and for [`SimHash`], very likely for the others.
pub trait DuplicateDetector {
    /// What is kept of a page.
    type PageSignature;

    /// The name in tables.
    fn name(&self) -> String;

    /// The signature of a page, none if the page has too little of what the method looks at.
    fn fingerprint(&self, page: &PageText) -> Option<Self::PageSignature>;

    /// What two pages have in common, none if they are no copies.
    fn compare(&self, one: &Self::PageSignature, other: &Self::PageSignature) -> Option<MatchExtent>;

    /// The memory of a signature.
    fn bytes(&self, signature: &Self::PageSignature) -> usize;

    /// How much a page says, by which the fullest of a group is known.
    fn size(&self, _signature: &Self::PageSignature) -> u64 {
        0
    }

    /// How many keys a signature has.
    fn bands(&self) -> usize {
        1
    }

    /// The key in a band: pages with equal keys are candidates. None where the signature says nothing in this band.
    fn key(&self, signature: &Self::PageSignature, band: usize) -> Option<u32>;
}

// Temporary aliases of renamed items, removed once all crates use the new names.
#[doc(hidden)]
pub use self::{
    ChunkSize as Chunk, DuplicateDetector as Method, DuplicateReport as Report, EvaluationRow as Row,
    EvaluationTable as Table, FrequentWordList as WordList, GroupBuilder as Grouping,
    KeywordDetector as BookAlgorithm, KeywordRule as Rule, LayoutMatch as Layout, MatchExtent as Extent,
    PageAttributes as PageFacts, evaluate_all as table, min_hash_signature as signature,
};
