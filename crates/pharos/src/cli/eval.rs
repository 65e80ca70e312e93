//! Arguments of `pharos eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum EvalCommand {
    /// How well pages are cleaned
    Clean(EvalCleanArgs),
    /// How well texts are cut into words
    Segment(EvalSegmentArgs),
    /// How well pages are ranked, on a collection whose right answers are known
    Retrieval(EvalRetrievalArgs),
    /// What caches of every policy and size make of a log of queries
    Cache(EvalCacheArgs),
    /// How many mistyped queries are set right, against the index of the data directory
    Correct(EvalCorrectArgs),
    /// What tricks gain: stuffed words, link farms, bought clicks
    Spam,
}

#[derive(Args)]
pub(crate) struct EvalCacheArgs {
    /// Logs of queries: one a line, or objects with a `query` (JSON lines); also compressed by zstd; - is the standard input
    /// [default: logs/queries-*.jsonl of the data directory]
    #[arg(value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// How many answers the caches hold
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [100, 300, 500, 1000, 2000, 3000])]
    pub(crate) sizes: Vec<usize>,
    /// By what LFU multiplies its counts whenever an answer is replaced
    #[arg(long, value_name = "FACTOR", default_value_t = pharos_query::cache::policy::DECAY)]
    pub(crate) decay: f64,
}

#[derive(Args)]
pub(crate) struct EvalCorrectArgs {
    /// What was typed, a tab, what was meant, and perhaps a tab and the kind of slip; the same twice for what is right
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Print every query with what was offered for it
    #[arg(long)]
    pub(crate) cases: bool,
}

#[derive(Args)]
pub(crate) struct EvalRetrievalArgs {
    /// A folder with docs.jsonl, queries.tsv and qrels.txt (or TREC files), or with graded.tsv
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Compare with these settings instead of the configured ones: rank.model=tfidf; may be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) with: Vec<String>,
    /// The measure that the comparison is about
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    pub(crate) measure: String,
    /// Grades from here on are relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    pub(crate) relevant_from: u32,
    /// Write the rankings in the form of TREC runs
    #[arg(long, value_name = "FILE")]
    pub(crate) run: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct EvalSegmentArgs {
    /// A text cut by people: words separated by spaces, one sentence a line
    #[arg(value_name = "GOLD")]
    pub(crate) gold: PathBuf,
    /// Only this method [default: all that need no more than is given]
    #[arg(long, value_name = "METHOD")]
    pub(crate) mode: Option<String>,
    /// A model that `pharos segment train` made; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Vec<PathBuf>,
    /// The words that are known; all others count as unknown [default: the base dictionary]
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct EvalCleanArgs {
    /// Holds html/*.html.gz and gold.json: id → text, set, type
    pub(crate) dir: PathBuf,
    /// pharos, thesis (the two score tables of the literature), tables (its table algorithm), or a file of rules
    /// [default: `clean.rules` of the configuration]
    #[arg(long, value_name = "SET|FILE")]
    pub(crate) rules: Option<String>,
    /// How many of the worst pages are listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) worst: usize,
}
