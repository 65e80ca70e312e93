//! The running engine: stages joined by bounded channels, started, watched and stopped as one.
//!
//! **In:** a data directory, a configuration, seeds. **Out:** a library, a catalog and an index that agree.
//!
//! ```text
//!   crawl ──records──▶ shelve ──stored──▶ read (all cores) ──pages──▶ absorb ──▶ catalog, latest
//!     ▲                (library, synced)  (html, text)                  │
//!     └───────────────── what was absorbed, which sites have news ◀─────┘
//! ```
//!
//! What others gathered comes in by [`import`](fn@import) and [`load`] and takes the same way from `shelve` on;
//! [`export`](fn@export) reads what is there for other programs.
//!
//! Starting is replaying: the same stages read the library from the position that catalog and latest have absorbed,
//! and only then does the crawl begin. Stopping at any moment, also by `kill -9`, loses nothing that was shelved.
//!
//! ```no_run
//! # async fn example() -> Result<(), pharos_engine::EngineError> {
//! use pharos_engine::{Engine, Run};
//! use pharos_store::DataDir;
//!
//! let engine = Engine::open(DataDir::at("data"), Default::default(), "up", true)?;
//! let (_stop, stopped) = tokio::sync::watch::channel(false);
//! let seeds = vec!["https://www.example.org/".parse().unwrap()];
//! engine.run(Run { seeds, keep_going: true, stop: stopped }).await?;
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Records are absorbed in the order of the library; a position is absorbed when everything before it is.
//! * A page that cannot be read is recorded as such and the stage goes on.
//! * Every channel is bounded; a slow stage slows those before it.

mod absorb;
mod backup;
mod books;
mod build;
mod build_plan;
mod builds;
mod carry;
mod control;
mod counts;
mod crawl_log;
mod doctor;
mod documents;
mod engine;
mod error;
mod export;
mod feed;
mod import;
mod inbox;
mod intake;
mod live;
mod machine;
mod pages;
mod readers;
mod reading;
mod rebuild;
mod relate;
mod retention;
mod rollback;
mod schedule;
mod shelve;
mod space;
mod stats;
mod status;
mod story;
mod survey;
mod versions;
mod warm;
mod words;

pub use backup::{BackupSummary, RestoreSummary, backup, restore};
pub use build::{BuildSummary, Progress, build_history};
pub use builds::{BuildState, Builds};
pub use control::{Attended, check_settings};
pub use doctor::{Diagnosis, Examining, Finding, Grade, Store, doctor};
pub use engine::{Engine, Run};
pub use error::EngineError;
pub use export::{ExportSummary, Format, Selection, Target, Unreadable, export};
pub use feed::{BadLine, LoadSummary, load, parse_moment};
pub use import::{BadRecord, ImportSummary, Sources, import};
pub use inbox::{CrawlOrder, Left, Order, carry_out, leave, left_orders};
pub use intake::Intake;
pub use live::{Live, Phase, Telling, live};
pub use machine::{MachineReading, ThreadReading, thread_readings};
pub use pharos_crawl::robots::{is_robots_txt, product_token};
pub use pharos_crawl::{
    CrawlStatus, CrawlSummary, Ended, Explanation, Line, Ruling, SiteSettings, SiteTable, names_private_host,
    user_agent,
};
pub use rebuild::{Part, Rebuilding, Rebuilt, rebuild};
pub use relate::{GraphSummary, Measured, build_graph, locality, measure_copies, open_relations, rank_rules};
pub use retention::compact;
pub use rollback::{RollbackSummary, roll_back};
pub use schedule::{Extent, Schedule, due};
pub use stats::{Stats, stats};
pub use status::{GenerationStatus, IndexStatus, Unfinished, index_status};
pub use story::{Kept, StoredVersion, Story, WaitsFor, explain, recent_story, story, version};
pub use versions::{PageVersion, PageVersions};
pub use words::discover_words;
