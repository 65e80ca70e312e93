//! The commands, grouped as in `pharos --help`: each parses arguments, calls one crate and prints the result.

pub(crate) mod archive;
pub(crate) mod crawl;
pub(crate) mod insight;
pub(crate) mod learn;
pub(crate) mod maintenance;
pub(crate) mod rank;
pub(crate) mod search;
pub(crate) mod start;

/// Creates the runtime of commands that use the network.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
