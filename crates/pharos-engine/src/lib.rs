//! The running engine: pipeline stages joined by bounded channels, and the operations on a data directory.
//!
//! **Input:** a data directory, a configuration, seeds. **Output:** a library, a catalog and an index that agree.
//!
//! ```text
//!   crawl ──records──▶ append ──stored──▶ analyse (all cores) ──pages──▶ apply ──▶ catalog, latest
//!     ▲                (library, synced)  (html, text)                     │
//!     └──────────────── applied records, sites with new pages ◀────────────┘
//! ```
//!
//! Imports and data feeds enter the same pipeline at `append`. Starting the engine means replaying: the stages read the
//! library from the position that catalog and index have applied, and only then does the crawl begin. Stopping at any
//! time, also by `kill -9`, loses no appended record.
//!
//! ```no_run
//! # async fn example() -> Result<(), pharos_engine::EngineError> {
//! use pharos_engine::{Engine, RunOptions};
//! use pharos_store::DataDir;
//!
//! let engine = Engine::open(DataDir::at("data"), Default::default(), "up", true)?;
//! let (_stop, stopped) = tokio::sync::watch::channel(false);
//! let seeds = vec!["https://www.example.org/".parse().unwrap()];
//! engine.run(RunOptions { seeds, keep_going: true, stop: stopped }).await?;
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Records are applied in library order; a position is applied when everything before it is.
//! * A page that cannot be analysed is reported and skipped.
//! * Every channel is bounded; a slow stage slows down those before it.
//!
//! # Modules
//! * [`stages`]: append, analyse, apply, and the ingest pipeline without a crawl.
//! * [`build`]: history generations, link analysis, phrase index, new words.
//! * [`maintenance`]: backup, doctor, rebuild, compaction, rollback.
//! * [`exchange`]: import, export, data feeds.
//! * [`evaluation`]: known-item queries made from stored pages.
//! * [`control`]: orders and reconfiguration.
//! * [`alerts`]: conditions, the book of alerts, webhook and mail.
//! * [`categories`]: categories of pages: training, assignment, explanation.
//! * [`behaviour`]: clicks of the logs joined with pages of the index.
//! * [`status`]: status and metrics of engine, threads, index and pages.

#[cfg(test)]
mod agreement;
pub mod alerts;
pub mod behaviour;
pub mod build;
pub mod categories;
pub mod control;
mod engine;
mod error;
pub mod evaluation;
pub mod exchange;
pub mod maintenance;
pub mod stages;
pub mod status;
mod stores;

pub use build::history::{BuildProgress, BuildSummary, build_history};
pub use control::orders::{CrawlOrder, Order, execute_order};
pub use engine::{Engine, RunOptions};
pub use error::EngineError;
pub use exchange::data_feed::load_feed;
pub use exchange::export::{ExportFormat, export};
pub use exchange::import::{ImportSources, import};
pub use maintenance::backup::{backup, restore};
pub use maintenance::doctor::doctor;
pub use maintenance::rebuild::rebuild;
pub use maintenance::retention::compact;
pub use maintenance::rollback::roll_back;
pub use status::index_status::index_status;
pub use stores::Stores;
