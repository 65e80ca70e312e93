//! What both benchmarks use: many clients that each count for themselves, figures over what they counted, and what a process
//! takes of the machine meanwhile.
//!
//! `wrk` and its like count all connections together. Whether a server treats them alike only shows where each counts for
//! itself, which [`client`] does.

pub mod client;
pub mod figures;
pub mod process;
pub mod response;

use std::error::Error;

pub type Outcome<T> = Result<T, Box<dyn Error>>;
