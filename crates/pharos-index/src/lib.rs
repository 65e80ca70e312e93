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
//! History never changes, so whoever has asked it once need not again: [`Snapshot::renewed`] tells what newer members hide
//! of its pages since, and [`Members::Latest`] asks the newer members alone.
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
//! for card in snapshot.cards(&found.candidates)? {
//!     println!("{} {}", card.title, card.url);
//! }
//! # Ok(()) }
//! ```
//!
//! # Words, and where they stand
//! All words of a page are terms of one field, with positions ([`Zone`]): title, address, anchors, headings, emphasised
//! words and body each begin at a position of their own, so that a position tells what the word was marked with (索引词载体信息).
//! What counts for more is written several times at one position: the frequency of a term is its summed weight. A word
//! in capitals is a second term, `^who`. Beside the words the schema has: title and address once more (for who asks for
//! them alone), site, language, type, category and day (filters and [`Facet`]s), the [static rank](Maxima::static_rank),
//! [`WebFigures`], group and signature, all of them columns; and a [`Card`] with what a list of results says of a page.
//! Texts are stored apart and read for snippets only.
//!
//! # Two stages
//! [`Snapshot::retrieve`] gives candidates by BM25 over the one field plus a share of the static rank. Where a query is an
//! AND or OR of words, tantivy passes over blocks of postings that cannot reach the best so far; history stands in
//! descending order of static rank, so that less and less can be added to what the words score. Exact forms beside
//! stems, filters and words that must not be there do not stop that (`plan`). [`Snapshot::evidence`] then tells of each
//! candidate where it has which word, and how well each zone fits by itself.
//!
//! # What it costs
//! Beside tantivy alone with the same terms, 20,000 made-up pages of 6.4 KB, two cores (`cd bench && cargo run --release -p
//! bench-index -- --pages 20000`); times in µs for the best ten of two to four words, one thread:
//!
//! | | pages/s | KB a page | AND | OR | AND + rank | OR + rank | AND + addresses | OR + addresses |
//! |---|---|---|---|---|---|---|---|---|
//! | tantivy, title and body | 871 | 9.61 | 25 | 59 | | | | |
//! | tantivy, one field | 1,481 | 9.52 | 17 | 52 | 29 | 197 | 69 | 171 |
//! | ours | 1,187 | 9.96 | 19 | 59 | 16 | 34 | 24 | 72 |
//!
//! *+ rank* adds a share of the static rank, which tantivy alone must compute for every match; *+ addresses* reads those
//! of the ten. Zones cost a bit for each position; signature, card, title and address take about half a kilobyte a page, as
//! `pharos index stats` tells of any index. The pages of the table have no signatures.
//!
//! Orders of documents (`-- --orders`) differ by less than a hundredth in size on such pages and not in time for plain
//! BM25, so that history stands in the order that lets ranks prune. A small index of title and abstract, asked first
//! (`-- --tier`), has ten pages for one AND query in twenty-four, and they are never the ten that the whole index has;
//! so there is none.
//!
//! From the fetch of a page until it is found, while a web that changes is crawled and searched and builders are killed
//! (`cargo test -p pharos --test freshness -- --nocapture`, 234 pages, two cores): half within 0.53 s, 99 of 100 within 1 s.
//!
//! # The life of a generation
//! A history is built beside the one that serves ([`HistoryBuilder`]), saved now and then so that a build that is killed
//! goes on where it was ([`BuildPlan`]), verified, listed file by file, and put in place. The one before is kept until the
//! next build, with the latest generations that belonged to it ([`Previous`]): going back is one rename, and what was
//! removed or has changed since stays so. A history that is damaged is refused and the chain before it answers; processes
//! that stay read every byte of it first ([`EmbeddedIndex::serve`]), others open it in no time. [`verify_generations`]
//! checks everything that is named.
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
//! [`current`](Current) the chain and what may become of it; [`generations`](Generations) its directory; `manifest` the
//! files of a finished history; `check` are they as they were written; `guard` damage must not panic; `member` one
//! generation; `chain` the members, open; `embedded` the chain as an [`Index`]; `inventory` sizes;
//! `snapshot` a chain at rest, answering; `schema` fields and what each is for; `history` building a generation;
//! `address` under which address a document is shown; `card`, `figures` and `likeness` its columns; `zones` its words;
//! `plan` how a query is put to tantivy; `retrieve` the best pages; `count` how many there are; `evidence` what they have; `sayings` titles and words, `books` of them;
//! [`forward`] the words of a document in their order, for people and other programs; `statistics` and `explain` figures,
//! `live` which documents they count, [`estimate`] what the literature expects of them.
//!
//! # Invariants
//! * What a commit made visible stays visible until a newer commit says otherwise.
//! * A member that `CURRENT` does not name is not there; a directory it does not name is rubbish and may be removed.
//! * A snapshot never changes. A page is in it at most once, at an address of its own or as a copy.
//! * A history never changes once it is finished; its number is never given to another.
//! * Readers never write. Whatever moment a builder is killed at, what serves is untouched.
//! * An address that a newer member speaks of is never shown from an older one, nor counted.

mod address;
mod books;
mod card;
mod chain;
mod check;
mod count;
mod current;
pub mod day;
mod document;
mod embedded;
mod error;
pub mod estimate;
mod evidence;
mod explain;
mod figures;
pub mod forward;
mod generations;
mod guard;
mod history;
mod inventory;
mod likeness;
mod live;
mod manifest;
mod maxima;
mod member;
mod packed;
mod plan;
mod query;
mod retrieve;
mod sayings;
mod schema;
mod snapshot;
mod statistics;
mod zone_query;
mod zones;

use std::sync::Arc;
use std::time::Instant;

use pharos_core::{LibraryPosition, PageId};
use pharos_text::dictionary::Dictionary;
use pharos_text::vocabulary::{Kind, Vocabulary, Watched};

pub use books::Books;
pub use card::Card;
pub use check::{GenerationFlaw, GenerationProblem, GenerationReport, check_generations, verify_generations};
pub use count::{Facet, FacetCount};
pub use current::{Current, History, Latest, Previous, Wish};
pub use document::{
    Anchor, Change, Copy, Document, Likeness, MAX_COPIES, MAX_LINKS, MAX_SIGNATURE, StoredPage, Text,
};
pub use embedded::EmbeddedIndex;
pub use error::IndexError;
pub use evidence::{Evidence, Frequencies, MAX_PLACES, TermEvidence};
pub use explain::{SeenToken, TermFigures, TermInField, TermInGeneration, TermOnPage, TermStory};
pub use figures::WebFigures;
pub use generations::Generations;
pub use history::{BuildPlan, HistoryBuilder};
pub use inventory::Inventory;
pub use maxima::Maxima;
pub use query::{Label, Part, Query};
pub use sayings::{Sayings, Title};
pub use statistics::{
    Counting, EstimateParameters, Estimates, FieldFigures, FieldSpace, Figures, FrequencyClass,
    GenerationFigures, IndexStatistics, ListEstimate, Rank, ReadingEstimate, SizeEstimate, Space,
    StatisticsRules, ThroughputEstimate, ZipfEstimate, ZipfFit,
};
pub use zones::{CAPITALS, MAX_VOTES, Zone};

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

    /// The index as it was when somebody last looked, for who must not wait until it is read: half a second ago at most where
    /// it is in service.
    fn at_hand(&self) -> Result<Arc<dyn Snapshot>, IndexError> {
        self.snapshot()
    }
}

/// The index at one moment.
pub trait Snapshot: Send + Sync {
    /// Names the state: changes whenever an answer could.
    fn generation(&self) -> &str;

    /// Names the history: as long as this is the same, history holds the same pages, and what newer members hide of them
    /// can only grow. `None` where there is none.
    fn history(&self) -> Option<&str>;

    /// Does a candidate of this very snapshot stand in history?
    fn is_in_history(&self, candidate: &Candidate) -> bool;

    /// Candidates of history that an earlier snapshot with the same [`history`](Snapshot::history) gave for a question, as
    /// they are now, in their order: each at the address that it is shown at, `None` where newer members hide it. Scores
    /// stay as they were.
    fn renewed(
        &self,
        asked: &Retrieval<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError>;

    /// How many pages can be found, each counted once with its copies.
    fn pages(&self) -> Result<u64, IndexError>;

    /// Was every page cut with this word of the installation? Only then does its term find all pages that have it.
    fn knows(&self, word: &str, kind: Kind) -> bool;

    /// The best pages for a query, best first, and how many there are in all.
    fn retrieve(&self, asked: &Retrieval<'_>) -> Result<Found, IndexError>;

    /// The best `limit` pages for a query.
    fn search(&self, query: &Query, limit: usize) -> Result<Found, IndexError> {
        self.retrieve(&Retrieval::new(query, limit))
    }

    /// The same with copies: every address is a candidate of its own, and counted.
    fn search_addresses(&self, query: &Query, limit: usize) -> Result<Found, IndexError> {
        self.retrieve(&Retrieval { every_address: true, ..Retrieval::new(query, limit) })
    }

    /// How many pages match, each counted once with its copies; exact up to a number.
    fn count(&self, query: &Query, up_to: u64) -> Result<Count, IndexError>;

    /// The `most` frequent values of each facet among pages that match, of which so many are looked at.
    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        most: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError>;

    /// The same among candidates of this very snapshot, which are not looked for again.
    fn facets_of(
        &self,
        candidates: &[Candidate],
        facets: &[Facet],
        most: usize,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError>;

    /// In how many pages each term stands, and how long pages are.
    fn frequencies(&self, terms: &[String]) -> Result<Frequencies, IndexError>;

    /// What candidates of this very snapshot have of terms, in their order.
    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError>;

    /// What figures of pages are measured by.
    fn maxima(&self) -> Maxima;

    /// What a list of results says of candidates of this very snapshot, in their order; no text is read.
    fn cards(&self, candidates: &[Candidate]) -> Result<Vec<Card>, IndexError>;

    /// The texts of candidates of this very snapshot, in their order.
    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<Text>, IndexError>;

    /// Both.
    fn stored(&self, candidates: &[Candidate]) -> Result<Vec<StoredPage>, IndexError> {
        let pages = candidates.iter().zip(self.cards(candidates)?).zip(self.texts(candidates)?);
        Ok(pages.map(|((candidate, card), text)| StoredPage { page: candidate.page, card, text }).collect())
    }

    /// Pages as candidates of this very snapshot, in their order; `None` for those that cannot be found any more.
    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError>;

    /// What the web says of candidates of this very snapshot, in their order.
    fn figures(&self, candidates: &[Candidate]) -> Result<Vec<WebFigures>, IndexError>;

    /// By what near-duplicates of candidates of this very snapshot are known, in their order.
    fn likeness(&self, candidates: &[Candidate]) -> Result<Vec<Likeness>, IndexError>;

    /// What is stored of the page at one address; of a copy, as that copy.
    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError>;

    /// Tells the titles of pages that can be found, in no order.
    fn titles(&self, members: Members, each: &mut dyn FnMut(Title<'_>)) -> Result<(), IndexError>;

    /// Tells the words of pages as the analyser cuts them, in the order of their bytes, and in about how many documents
    /// each stands.
    fn words(&self, members: Members, each: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError>;

    /// What the web says of the page at one address: for carrying it over when the page is fetched again.
    fn figures_of(&self, page: PageId) -> Result<Option<WebFigures>, IndexError>;
}

/// What is wanted of a search.
#[derive(Clone, Copy, Debug)]
pub struct Retrieval<'a> {
    /// The question.
    pub query: &'a Query,
    /// How many candidates.
    pub limit: usize,
    /// What a static rank of 1 adds to a score.
    pub rank_weight: f32,
    /// Make every address a candidate of its own, instead of the first of each page.
    pub every_address: bool,
    /// Matches are counted up to here, and beyond it only about; 0: not at all.
    pub count_up_to: u64,
    /// The newest pages first instead of the best; those without a date come last.
    pub newest_first: bool,
    /// What is found until then must do.
    pub until: Option<Instant>,
    /// Which members are asked. Statistics are those of all, so that scores compare.
    pub members: Members,
}

/// Members of the chain that a question is put to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Members {
    /// All.
    #[default]
    All,
    /// Those that are newer than history (最新库), for who knows what history has.
    Latest,
}

impl<'a> Retrieval<'a> {
    /// The best pages by their words, counted up to 10,000.
    pub fn new(query: &'a Query, limit: usize) -> Self {
        Self {
            query,
            limit,
            rank_weight: 0.0,
            every_address: false,
            count_up_to: 10_000,
            newest_first: false,
            until: None,
            members: Members::All,
        }
    }
}

/// How many pages there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// So many.
    pub pages: u64,
    /// Or about so many.
    pub is_exact: bool,
}

/// What a search gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// How many pages match.
    pub total: u64,
    /// Whether that is exact.
    pub total_is_exact: bool,
    /// The best of them, best first; equal scores in the order of their ids.
    pub candidates: Vec<Candidate>,
    /// Did time run out before all were looked at?
    pub is_partial: bool,
}

/// A page that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The page, at the address under which it is shown.
    pub page: PageId,
    /// BM25 over its words, weighted by where they stand, and what its static rank adds.
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
