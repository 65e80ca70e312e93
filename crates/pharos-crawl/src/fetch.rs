//! Fetching: name resolution, address checks, connections, requests and fetch tasks.

pub mod address;
mod connector;
mod dns;
mod error;
pub(crate) mod fetch_task;
mod fetcher;
pub mod outgoing;
pub(crate) mod overrides;
#[cfg(test)]
mod rebinding_tests;
#[cfg(test)]
mod tls_tests;

pub use error::FetchError;
pub(crate) use fetcher::deadline_after;
pub use fetcher::{FetchRequest, Fetcher, user_agent};
