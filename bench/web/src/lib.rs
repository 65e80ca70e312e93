//! Shared code of both benchmarks: clients with individual counters, statistics, and resource usage of a process.
//!
//! `wrk` and similar tools count all connections together. Fairness between connections is visible only with individual
//! counters, which [`client`] has.

pub mod client;
pub mod figures;
pub mod process;
pub mod response;

use std::error::Error;

pub type Outcome<T> = Result<T, Box<dyn Error>>;
