//! Arguments of `pharos curate`.

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum CurateCommand {
    /// List pinned and hidden results, notices, boosts and blocks
    List,
    /// Show a page above the results of a query
    Pin(PinArgs),
    /// Remove a pinned result
    Unpin(UnpinArgs),
    /// Hide a page from the results of all queries, or of one query
    Hide(HideArgs),
    /// Show a hidden page again
    Unhide(UnhideArgs),
    /// Show a text above the results of a query, or remove it
    Notice(NoticeArgs),
    /// List the sets of synonyms, and report invalid lines (exit code 1)
    Synonyms,
    /// List synonyms that the last build has proposed from the logs, accept or reject them
    Proposals(ProposalsArgs),
}

#[derive(Args)]
#[command(after_help = "\
A build proposes two words if queries that differ in nothing else lead to the same pages: users replaced one word by the other, \
or the clicks agree almost entirely. Only queries of at least `log.k` visits are compared. A rejected pair is not proposed again; \
models/refused.tsv lists such pairs.")]
pub(crate) struct ProposalsArgs {
    /// Add two words to the synonyms
    #[arg(long, num_args = 2, value_names = ["WORD", "WORD"], conflicts_with = "reject")]
    pub(crate) accept: Option<Vec<String>>,
    /// Reject two words, so that they are not proposed again
    #[arg(long, num_args = 2, value_names = ["WORD", "WORD"])]
    pub(crate) reject: Option<Vec<String>>,
}

#[derive(Args)]
pub(crate) struct CuratorArgs {
    /// Time at which the entry ends: 2026-01-31, 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Name to record with the entry [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
The query is compared as a whole; case, width and spaces make no difference. A query has at most 10 pinned results. A page that \
is not in the index is shown once it is. Pins have no effect if results are filtered or sorted by date.")]
pub(crate) struct PinArgs {
    /// The query
    pub(crate) query: String,
    /// URL of the page
    pub(crate) url: String,
    /// Position among the pinned results, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) place: u8,
    #[command(flatten)]
    pub(crate) curator: CuratorArgs,
}

#[derive(Args)]
pub(crate) struct UnpinArgs {
    /// The query
    pub(crate) query: String,
    /// URL of the page
    pub(crate) url: String,
}

#[derive(Args)]
pub(crate) struct HideArgs {
    /// URL of the page; its exact copies are hidden as well
    pub(crate) url: String,
    /// Hide it from the results of this query only
    #[arg(long, value_name = "QUERY")]
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) curator: CuratorArgs,
}

#[derive(Args)]
pub(crate) struct UnhideArgs {
    /// URL of the page
    pub(crate) url: String,
    /// Show it in the results of this query
    #[arg(long, value_name = "QUERY")]
    pub(crate) query: Option<String>,
}

#[derive(Args)]
pub(crate) struct NoticeArgs {
    /// The query
    pub(crate) query: String,
    /// Plain text of at most 1,000 characters
    #[arg(required_unless_present = "remove", conflicts_with = "remove")]
    pub(crate) text: Option<String>,
    /// URL of a page with more information
    #[arg(long, value_name = "URL", conflicts_with = "remove")]
    pub(crate) link: Option<String>,
    /// Remove the notice
    #[arg(long)]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) curator: CuratorArgs,
}
