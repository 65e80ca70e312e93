//! Generations of the index on disk: the chain, its directory, its files and their verification.

pub mod builder_request;
pub mod chain;
pub mod directory;
pub(crate) mod generation;
pub(crate) mod generation_directory;
pub mod inventory;
pub(crate) mod manifest;
pub mod verify;

pub use self::builder_request::BuilderRequest;
pub use self::chain::{GenerationChain, HistoryGeneration, LatestGeneration, PreviousChain};
pub use self::directory::Generations;
pub(crate) use self::directory::watch_vocabulary;
pub use self::inventory::GenerationInventory;
