//! The index behind one trait: pages searchable seconds after they are fetched, never half-visible.
//!
//! **In:** [`Change`]s in the order of the library. **Out:** [`Snapshot`]s that answer [`Query`]s with candidates.
//!
//! The index is a chain of *members*: one *history* generation, built in one go from the library, and a short chain
//! of *latest* generations that follow the library record by record. `CURRENT` names them; it is replaced by one
//! rename, so that a reader sees the old chain or the new one. A page may stand in several members: the newest one
//! hides the older ones, also where it only says that the page is gone. All members are scored with the statistics
//! of all, so that a page has the same score whichever of them holds it.
//!
//! Exact copies are one [`Document`] with a list of addresses; history knows them, latest has every address by itself.
//! What is hidden is an address: a document stands at the first of its addresses that is not ([`Copy`](struct@Copy)). Near-duplicates
//! are documents of their own that know their group and their signature ([`Likeness`]); whoever asks may fold them. What
//! the web says of a page ([`WebFigures`]) stands in columns.
//!
//! ```no_run
//! # fn main() -> Result<(), pharos_index::IndexError> {
//! use pharos_index::{EmbeddedIndex, Index, Query};
//!
//! let index = EmbeddedIndex::open_reader("data/index".as_ref())?;
//! let snapshot = index.snapshot()?;
//! let found = snapshot.search(&Query::Word("灯塔".into()), 10)?;
//! for page in snapshot.stored(&found.candidates)? {
//!     println!("{} {}", page.title, page.url);
//! }
//! # Ok(()) }
//! ```
//!
//! # Figures
//! [`EmbeddedIndex::statistics`] counts N, M, α and T_N, frequencies by rank, and bytes by field and component, of all
//! generations together and of each; [`EmbeddedIndex::explain`] tells the story of one term. Both work on the fields that
//! the schema has, count what can be found, and read lists block by block: a vocabulary of any size takes the memory of
//! its different frequencies, at most √(2·T_N) of them. Beside what is measured stand the [`estimate`]s of the literature.
//!
//! ```no_run
//! # fn main() -> Result<(), pharos_index::IndexError> {
//! use pharos_index::{EmbeddedIndex, StatisticsRules};
//!
//! let index = EmbeddedIndex::open_reader("data/index".as_ref())?;
//! let figures = index.statistics(&StatisticsRules::default(), |_| true)?;
//! for field in &figures.chain.fields {
//!     println!("{}: {} terms, lists of {:.1}", field.field, field.terms, field.mean_list);
//! }
//! # Ok(()) }
//! ```
//!
//! # Files
//! [`generations`](Current) the chain and its file; `member` one generation; `embedded` the chain as an [`Index`];
//! `snapshot` a chain at rest, answering; `schema` fields and what each is for; `history` building a generation;
//! `address` under which address a document is shown; `figures` and `likeness` its columns;
//! [`forward`] the words of a document in their order, for people and other programs; `statistics` and `explain` figures,
//! `live` which documents they count, [`estimate`] what the literature expects of them.
//!
//! # Invariants
//! * What a commit made visible stays visible until a newer commit says otherwise.
//! * A member that `CURRENT` does not name is not there; a directory it does not name is rubbish and may be removed.
//! * A snapshot never changes. A page is in it at most once, at an address of its own or as a copy.
//! * An address that a newer member speaks of is never shown from an older one, nor counted.

mod address;
mod check;
mod collect;
mod document;
mod embedded;
mod error;
pub mod estimate;
mod explain;
mod figures;
pub mod forward;
mod generations;
mod history;
mod likeness;
mod live;
mod member;
mod query;
mod schema;
mod snapshot;
mod statistics;

use std::sync::Arc;

use pharos_core::{LibraryPosition, PageId};
use pharos_text::dictionary::Dictionary;
use pharos_text::vocabulary::{Kind, Vocabulary, Watched};

pub use check::{GenerationFlaw, GenerationProblem, check_generations};
pub use document::{Change, Copy, Document, Likeness, MAX_COPIES, MAX_SIGNATURE, StoredPage};
pub use embedded::EmbeddedIndex;
pub use error::IndexError;
pub use explain::{SeenToken, TermFigures, TermInField, TermInGeneration, TermOnPage, TermStory};
pub use figures::WebFigures;
pub use generations::{Current, Generations, History, Latest, Wish};
pub use history::HistoryBuilder;
pub use query::Query;
pub use statistics::{
    Counting, EstimateParameters, Estimates, FieldFigures, FieldSpace, Figures, FrequencyClass,
    GenerationFigures, IndexStatistics, ListEstimate, Rank, ReadingEstimate, SizeEstimate, Space,
    StatisticsRules, ThroughputEstimate, ZipfEstimate, ZipfFit,
};

/// What every index promises, the embedded one and a cluster alike:
///
/// * changes become visible and durable together, with the library position they came from, by `commit`; what was
///   applied and not committed is lost with the process and replayed from the library;
/// * applying a page twice leaves it once;
/// * a snapshot is isolated: later commits and switches of generation do not touch it.
pub trait Index: Send + Sync {
    /// The library position up to which pages are searchable or known to be gone.
    fn absorbed(&self) -> Result<LibraryPosition, IndexError>;

    /// Takes in changes, in order. They are seen after the next `commit`.
    fn apply(&self, changes: Vec<Change>) -> Result<(), IndexError>;

    /// Makes everything applied visible and durable, as of this position.
    fn commit(&self, absorbed: LibraryPosition) -> Result<(), IndexError>;

    /// Ends the latest generation and opens the next, so that a history can be built up to this point.
    /// Everything applied must be committed. Gives that point.
    fn seal(&self) -> Result<LibraryPosition, IndexError>;

    /// The words of the installation as they are now. A generation is cut with those it was begun with.
    fn vocabulary(&self) -> Arc<Vocabulary>;

    /// The index as it is now.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, IndexError>;
}

/// The index at one moment.
pub trait Snapshot: Send + Sync {
    /// Names the state: changes whenever an answer could.
    fn generation(&self) -> &str;

    /// How many pages can be found, each counted once with its copies.
    fn pages(&self) -> Result<u64, IndexError>;

    /// Was every page cut with this word of the installation? Only then does its term find all pages that have it.
    fn knows(&self, word: &str, kind: Kind) -> bool;

    /// The best `limit` pages for a query, best first, and how many there are in all.
    fn search(&self, query: &Query, limit: usize) -> Result<Found, IndexError>;

    /// The same with copies: every address is a candidate of its own, and counted.
    fn search_addresses(&self, query: &Query, limit: usize) -> Result<Found, IndexError>;

    /// What is stored of candidates of this very snapshot, in their order.
    fn stored(&self, candidates: &[Candidate]) -> Result<Vec<StoredPage>, IndexError>;

    /// What the web says of candidates of this very snapshot, in their order.
    fn figures(&self, candidates: &[Candidate]) -> Result<Vec<WebFigures>, IndexError>;

    /// By what near-duplicates of candidates of this very snapshot are known, in their order.
    fn likeness(&self, candidates: &[Candidate]) -> Result<Vec<Likeness>, IndexError>;

    /// What is stored of the page at one address; of a copy, as that copy.
    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError>;

    /// What the web says of the page at one address: for carrying it over when the page is fetched again.
    fn figures_of(&self, page: PageId) -> Result<Option<WebFigures>, IndexError>;
}

/// What a search gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// How many pages match.
    pub total: u64,
    /// The best of them, best first; equal scores in the order of their ids.
    pub candidates: Vec<Candidate>,
}

/// A page that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The page, at the address under which it is shown.
    pub page: PageId,
    /// BM25 over title, headings, emphasised words, anchors and body.
    pub score: f32,
    /// How many other addresses have the very same content and could be shown as well.
    pub copies: u32,
    /// Where it stands in this snapshot.
    place: Place,
}

/// A place in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    member: u32,
    segment: u32,
    doc: u32,
    /// Which of the document's addresses: 0 is its own.
    address: u32,
}

/// The file with the words of the installation.
fn words(generations: &Generations) -> Watched {
    Watched::open(generations.words_file(), Dictionary::base(), pharos_text::normalise)
}
