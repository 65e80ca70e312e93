//! The crawl against real servers on loopback.

#![allow(clippy::unwrap_used, reason = "tests")]

mod crawl;
mod fetch;
mod support;
