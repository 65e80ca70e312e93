//! Refresh of known pages (网页重访): estimates of change rates, and simulation of refresh policies.
//!
//! The policies themselves and the estimate that the catalog stores are in [`pharos_store::interpret::refresh`], because
//! the time of the next visit follows from the interpretation of a record.
//!
//! * [`estimate`]: estimators of the change rate from a list of visits, for reports and comparisons.
//! * [`relevance`]: weight of a page by popular query words.
//! * [`trace`]: files of pages and the times at which they changed, and synthetic ones.
//! * [`simulate`]: lag, freshness and useless visits of a policy on a trace.

pub mod estimate;
pub mod relevance;
pub mod simulate;
pub mod trace;
