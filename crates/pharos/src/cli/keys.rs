//! Arguments of `pharos keys`.

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// List the keys with their scope and use
    List,
    /// Create a key and print it; it is not shown again
    Add(KeysAddArgs),
    /// Change scope, rate or end of a key; its secret stays the same
    Change(KeysChangeArgs),
    /// Replace the secret of a key and print it; the old one is refused at once
    Rotate(KeyNameArgs),
    /// Revoke a key; `rotate` makes it usable again
    Revoke(KeyNameArgs),
    /// Remove a key and its name
    Remove(KeyNameArgs),
}

#[derive(Args)]
#[command(after_help = "\
As soon as a key exists, clients without one are refused, except for suggestions, hot queries, clicks and the OpenAPI document. \
Revoking the last key does not open the API again; removing all keys does, if `web.api_keys` is empty. Only digests of keys are stored.")]
pub(crate) struct KeysAddArgs {
    /// Name of the key, such as the program that uses it
    pub(crate) name: String,
    /// Permit only this endpoint: search, page, similar, stats, queries, submit or metrics; can be repeated
    #[arg(long = "endpoint", value_name = "NAME")]
    pub(crate) endpoints: Vec<String>,
    /// Permit only pages of this site and its subdomains; can be repeated
    #[arg(long = "site", value_name = "SITE")]
    pub(crate) sites: Vec<String>,
    /// Requests per second [default: web.key_rate]
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// Time at which the key ends: 2026-01-31, 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Name to record with the key [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Options that are not given leave the key as it is.")]
pub(crate) struct KeysChangeArgs {
    /// Name of the key
    pub(crate) name: String,
    /// Permit only this endpoint: search, page, similar, stats, queries, submit or metrics; can be repeated; `all` permits all
    #[arg(long = "endpoint", value_name = "NAME")]
    pub(crate) endpoints: Vec<String>,
    /// Permit only pages of this site and its subdomains; can be repeated; `all` permits all
    #[arg(long = "site", value_name = "SITE")]
    pub(crate) sites: Vec<String>,
    /// Requests per second; 0: web.key_rate
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// Time at which the key ends: 2026-01-31, 2026-01-31T12:00:00Z; `never` removes the end
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

#[derive(Args)]
pub(crate) struct KeyNameArgs {
    /// Name of the key
    pub(crate) name: String,
}
