//! Bodies of the fuzz targets: each module has a function `run(bytes: &[u8])` that panics if a property is violated.
//!
//! `targets/` passes them to libFuzzer. `tests/fuzz_targets.rs` of the workspace runs them on the seeds, mutated seeds
//! and random bytes, so that they compile and pass at every change.

#[cfg(feature = "charset")]
pub mod charset;
#[cfg(feature = "clean")]
pub mod clean;
#[cfg(feature = "copies")]
pub mod copies;
#[cfg(feature = "feed")]
pub mod feed;
#[cfg(feature = "formats")]
pub mod formats;
#[cfg(feature = "html")]
pub mod html;
#[cfg(feature = "logs")]
pub mod logs;
#[cfg(feature = "query")]
pub mod query;
#[cfg(feature = "ranking")]
pub mod ranking;
#[cfg(feature = "robots")]
pub mod robots;
#[cfg(feature = "soif")]
pub mod soif;
#[cfg(feature = "suggest")]
pub mod suggest;
#[cfg(feature = "tianwang")]
pub mod tianwang;
#[cfg(feature = "warc")]
pub mod warc;
#[cfg(feature = "words")]
pub mod words;
