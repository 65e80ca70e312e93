//! The search index: page changes in, ranked candidates out, behind one trait.
//!
//! ```text
//! write:  IndexChange ─▶ Index::apply ─▶ Index::commit ─▶ latest generation      (searchable within seconds)
//!         all pages   ─▶ HistoryBuilder ─▶ verify ─▶ install ─▶ history generation (one rename)
//! read:   Index::view ─▶ IndexView ─▶ retrieve (stage 1) ─▶ evidence (stage 2) ─▶ result fields, texts
//! ```
//!
//! The index is a chain of *generations*: one *history*, built in one go from the library, and a short chain of *latest*
//! generations that follow the library record by record. The file `CURRENT` lists them and is replaced by one rename. The
//! newest generation that contains a page, or a tombstone for it, hides all older ones. All generations are scored with
//! common statistics, so a page has the same score in whichever generation it is stored.
//!
//! ```no_run
//! # fn main() -> Result<(), pharos_index::IndexError> {
//! use pharos_index::{EmbeddedIndex, Index, Query};
//!
//! let index = EmbeddedIndex::open_reader("data/index".as_ref())?;
//! let view = index.view()?;
//! let found = view.search(&Query::Word("灯塔".into()), 10)?;
//! for page in view.result_fields(&found.candidates)? {
//!     println!("{} {}", page.title, page.url);
//! }
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * A committed change stays visible until a later commit replaces it.
//! * A view never changes and contains each page at most once. A URL in a newer generation is never shown or counted
//!   from an older one.
//! * A finished history generation never changes, and its number is never reused.
//! * Directories that `CURRENT` does not list are garbage and may be removed.
//! * Readers never write. A builder may be killed at any time without affecting the generations in use.
//!
//! # Modules
//! `generations` chain, directory, manifest, verification · `read` views, queries, retrieval, facets · `write` documents,
//! tokens, history builds · `document` the schema and its columns · `statistics` measured figures and cost models.

pub mod document;
#[cfg(test)]
mod durability_tests;
mod embedded;
mod error;
mod generational;
pub mod generations;
mod index;
mod panic_guard;
pub mod phrase_index;
pub mod read;
pub mod statistics;
pub mod view;
pub mod write;

pub use document::link_figures::LinkFigures;
pub use document::link_maxima::LinkMaxima;
pub use document::result_fields::ResultFields;
pub use document::{Anchor, IndexChange, IndexDocument, PageCopy, StoredPage};
pub use embedded::EmbeddedIndex;
pub use error::IndexError;
pub use generational::{BuilderLock, GenerationStore, GenerationalIndex, ReplacedGenerations};
pub use generations::{BuilderRequest, Generations};
pub use index::Index;
pub use read::facets::Facet;
pub use read::query::{PageLabel, PagePart, Query};
pub use view::{Candidate, GenerationScope, IndexView, RetrievalRequest, RetrievalResult};
pub use write::history_builder::{BuildDirectory, BuildPlan, HistoryBuilder};
